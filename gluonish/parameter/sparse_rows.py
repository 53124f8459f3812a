"""Rows of a sparse parameter, which a Trainer's store has all of."""

from typing import TYPE_CHECKING, Any, Protocol

from gluonish.autograd import pause
from gluonish.core.context import cpu
from gluonish.core.errors import ParameterError
from gluonish.ndarray import NDArray, arange, zeros

if TYPE_CHECKING:
    from gluonish.parameter.parameter import Parameter

__all__ = ["TrainerLink", "check_dense", "pull_rows", "whole_rows"]


class TrainerLink(Protocol):
    """What a Parameter needs of its Trainer."""

    def _parameter_was_set(self, parameter: "Parameter") -> None:
        """Take note that values were put into the parameter by hand."""

    def _row_sparse_pull(self, parameter: "Parameter", out: Any, row_ids: Any) -> None:
        """Bring rows of a sparse parameter from where all of them are."""


def check_dense(parameter: "Parameter", what: str) -> None:
    """Refuse a method that does not serve sparse parameters.

    Raises:
        ParameterError: if the parameter is sparse.
    """
    if parameter._stype != "default":
        raise ParameterError(
            f"Parameter {parameter.name}: {what} expected stype 'default', got "
            f"{parameter._stype!r}; use row_sparse_data, which takes the rows that you need"
        )


def pull_rows(parameter: "Parameter", what: str, out: Any, row_id: NDArray) -> None:
    """Bring rows from the Trainer's store.

    Args:
        parameter: Whose rows.
        what: The method, for messages.
        out: Row-sparse array that receives them, or a list of such arrays.
        row_id: Numbers of rows.

    Raises:
        ParameterError: if the parameter is not row-sparse, or in no Trainer.
    """
    if parameter._stype != "row_sparse":
        raise ParameterError(
            f"Parameter {parameter.name}: {what} expected stype 'row_sparse', got "
            f"{parameter._stype!r}; use data() or list_data()"
        )
    if parameter._trainer is None:
        raise ParameterError(
            f"Parameter {parameter.name}: {what} expected a Parameter in a Trainer, got one in "
            "none; the Trainer's store has the rows"
        )
    with pause():  # a pull is no part of the graph, though its array may be
        parameter._trainer._row_sparse_pull(parameter, out, row_id)


def whole_rows(parameter: "Parameter") -> NDArray:
    """Return a sparse copy of all values on the CPU, as the Trainer's store has them."""
    first = parameter._held()[0]
    if parameter._trainer is None or parameter._stype != "row_sparse":
        copied: NDArray = first.copyto(cpu())
        return copied
    whole: NDArray = zeros(first.shape, cpu(), first.dtype, parameter._stype)
    parameter._trainer._row_sparse_pull(parameter, whole, arange(0, first.shape[0], dtype="int64"))
    return whole
