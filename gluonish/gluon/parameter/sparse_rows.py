"""Rows of a sparse parameter, which a Trainer's store has all of."""

from typing import TYPE_CHECKING, Any, Protocol

from gluonish.autograd import pause
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentTypeError, ParameterError
from gluonish.gluon.parameter.places import described
from gluonish.gluon.parameter.refusals import refuse_uninitialized
from gluonish.ndarray import NDArray, arange, zeros

if TYPE_CHECKING:
    from gluonish.gluon.parameter.arrays import ParameterArrays
    from gluonish.gluon.parameter.parameter import Parameter

__all__ = [
    "TrainerLink",
    "check_dense",
    "check_only_trainer",
    "check_rows",
    "pull_rows",
    "whole_rows",
]


class TrainerLink(Protocol):
    """What a Parameter needs of its Trainer."""

    def _parameter_was_set(self, parameter: "Parameter", moves: bool = False) -> None:
        """Take note that values were put into the parameter by hand, perhaps with new memory."""

    def _row_sparse_pull(self, parameter: "ParameterArrays", out: Any, row_ids: Any) -> None:
        """Bring rows of a sparse parameter from where all of them are."""


def check_dense(parameter: "ParameterArrays", what: str) -> None:
    """Refuse a method that does not serve sparse parameters.

    Raises:
        ParameterError: The parameter is sparse.
    """
    if parameter._stype == "default":
        return
    remedy = (
        "use row_sparse_data, which takes the rows that you need"
        if parameter._stype == "row_sparse"
        else "make the parameter dense, or a Constant"
    )
    raise ParameterError(
        f"{described(parameter)}: {what} expected stype 'default', got {parameter._stype!r}; "
        f"{remedy}"
    )


def check_rows(parameter: "ParameterArrays", what: str, row_id: object) -> None:
    """Refuse to bring rows where there are none, or of no array of their numbers.

    Args:
        parameter: Whose rows.
        what: The method, for messages.
        row_id: Numbers of rows.

    Raises:
        ParameterError: The parameter is not row-sparse, not initialized, or in no Trainer.
        ArgumentTypeError: ``row_id`` is not an NDArray.
    """
    if parameter._stype != "row_sparse":
        raise ParameterError(
            f"{described(parameter)}: {what} expected stype 'row_sparse', got "
            f"{parameter._stype!r}; use data() or list_data()"
        )
    if parameter._arrays is None:
        refuse_uninitialized(parameter)
    if parameter._trainer is None:
        raise ParameterError(
            f"{described(parameter)}: {what} expected a Parameter in a Trainer, got one in "
            "none; the Trainer's store has the rows"
        )
    if not isinstance(row_id, NDArray):
        raise ArgumentTypeError(
            f"{described(parameter)}: {what} expected row_id as an NDArray on the device, got "
            f"{type(row_id).__name__}"
        )


def check_only_trainer(parameter: "ParameterArrays", trainer: TrainerLink) -> None:
    """Refuse a second trainer for a sparse parameter.

    Raises:
        ParameterError: It belongs to another one.
    """
    if parameter._trainer is not None and parameter._trainer is not trainer:
        raise ParameterError(
            f"{described(parameter)}: expected one Trainer for a {parameter._stype} parameter, got "
            "a second; the first one's store has its rows"
        )


def pull_rows(parameter: "ParameterArrays", out: Any, row_id: NDArray) -> None:
    """Bring rows from the Trainer's store into a row-sparse array, or a list of such arrays."""
    if parameter._trainer is not None:
        with pause():  # a pull is no part of the graph, though its array may be
            parameter._trainer._row_sparse_pull(parameter, out, row_id)


def whole_rows(parameter: "ParameterArrays") -> NDArray:
    """Return a sparse copy of all values on the CPU, as the Trainer's store has them."""
    first = parameter._held()[0]
    if parameter._trainer is None or parameter._stype != "row_sparse":
        copied: NDArray = first.copyto(cpu())
        return copied
    whole: NDArray = zeros(first.shape, cpu(), first.dtype, parameter._stype)
    parameter._trainer._row_sparse_pull(parameter, whole, arange(0, first.shape[0], dtype="int64"))
    return whole
