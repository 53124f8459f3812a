"""DenseCell: the base class of cells with an input and a hidden matrix product."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import DeferErrorToCall
from gluonish.core.spec import Spec
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.recurrent_cell import HybridRecurrentCell
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.recording import HOOKED
from gluonish.ops.registry import Operator, apply


class DenseCell(HybridRecurrentCell):
    """Base class of the cells that compute ``W_i x + b_i`` and ``W_h h + b_h`` for all their gates.

    The parameters are ``i2h_weight``, ``h2h_weight``, ``i2h_bias`` and ``h2h_bias``, with
    ``h2r_weight`` before the biases in a cell with a projection.

    Args:
        hidden_size: Number H of features of a state.
        gates: Number of gates, each with H rows of the weights.
        input_size: Number C of input features; 0 infers it from the first step.
        initializers: Initializers of the weights and biases, in the order of the parameters.
        projection_size: Number R of features of the projected output; None for no projection.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Raises:
        ArgumentError: In the call, if a size is below 1.
    """

    def __init__(
        self,
        hidden_size: int,
        gates: int,
        input_size: int,
        initializers: tuple[Init | None, ...],
        projection_size: int | None = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        width = hidden_size if projection_size is None else projection_size
        with DeferErrorToCall(self):
            if hidden_size < 1 or width < 1 or input_size < 0:
                raise ArgumentError(
                    f"{type(self).__name__}: expected sizes of 1 or more, got hidden_size "
                    f"{hidden_size}, projection_size {projection_size}, input_size {input_size}"
                )
        self._hidden_size = hidden_size
        self._input_size = input_size
        self._rows = gates * hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "i2h_weight": (self._rows, input_size),
            "h2h_weight": (self._rows, width),
        }
        if projection_size is not None:
            shapes["h2r_weight"] = (width, hidden_size)
        shapes |= {"i2h_bias": (self._rows,), "h2h_bias": (self._rows,)}
        for (name, shape), init in zip(shapes.items(), initializers, strict=True):
            setattr(self, name, self.params._declare(name, shape, init))

    def _width_info(self, batch_size: int, *widths: int) -> list[dict[str, Any]]:
        return [{"shape": (batch_size, width), "__layout__": "NC"} for width in widths]

    def _products(
        self,
        F: ModuleType,
        inputs: Tensor,
        hidden: Tensor,
        weights: tuple[Tensor, Tensor],
        biases: tuple[Tensor, Tensor],
    ) -> tuple[Any, Any]:
        """Return both products, (N, gates * H) each."""
        found = [
            F.FullyConnected(
                x, weight, bias, num_hidden=self._rows, name=f"t{self._counter}_{product}"
            )
            for product, x, weight, bias in zip(
                ("i2h", "h2h"), (inputs, hidden), weights, biases, strict=True
            )
        ]
        return found[0], found[1]

    def _step(self, op: Operator, i2h: Any, h2h: Any, state: Any) -> Any:
        """Apply a fused operator of `gluonish.ops.recurrent.cell_steps`.

        Return None if separate operators must run: in a graph, on a GPU, for unsupported arrays,
        and while an operator hook is registered.
        """
        if not isinstance(state, NDArray) or state.is_traced or state.stype != "default":
            return None
        spec = state._spec
        product_spec = Spec((len(i2h), self._rows), spec.dtype)
        if (
            spec.shape != (len(i2h), self._hidden_size)
            or not (i2h._spec == h2h._spec == product_spec)
            or not state._device.is_host
            or not is_floating(spec.dtype)
            or recording.mode.get() & HOOKED
        ):
            return None
        return apply(op, (i2h, h2h, state), {})

    def _sizes(self) -> str:
        """Return the sizes that `__repr__` shows: input features and rows of the weights."""
        shape = self._reg_params["i2h_weight"].shape or (0, 0)
        return f"{shape[1] or None} -> {shape[0]}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes()})"
