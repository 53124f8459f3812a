"""Legacy base classes of operators in Python, replaced by `CustomOp`."""

from collections.abc import Callable
from typing import Any

from gluonish.core.object_repr import default_repr
from gluonish.operator.custom_op import CustomOp, CustomOpProp, operator_symbol, ordered_inputs
from gluonish.ops.custom import NATIVE, NDARRAY_OP, CustomState, native_states
from gluonish.ops.registry import Operator
from gluonish.symbol import Symbol


class PythonOp:
    """Legacy base class of operators in Python; prefer `CustomOp`.

    Args:
        need_top_grad: Whether the backward pass needs the gradients of the outputs.
    """

    __repr__ = default_repr

    _operator: Operator = NATIVE
    _as_numpy = True

    def __init__(self, need_top_grad: bool = True) -> None:
        self.info_ = None
        self.need_top_grad_ = need_top_grad

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        """Apply the operator to Symbols; see `get_symbol` for the arguments."""
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Symbol:
        """Apply the operator to Symbols and return the resulting Symbol.

        Args:
            *args: Input Symbols, by position.
            **kwargs: Input Symbols by name; ``name`` is the name of the node, ``attr`` its
                attributes.
        """
        name = kwargs.pop("name", None)
        attr = kwargs.pop("attr", None)
        options = {"info": f"{id(self):x}"}
        if self._operator is NATIVE:
            options["need_top_grad"] = str(self.need_top_grad_)
        state = CustomState(type(self).__name__, options, _LegacyProp(self))
        native_states[options["info"]] = state
        inputs = ordered_inputs(state, args, kwargs)
        return operator_symbol(self._operator, inputs, {"state": state}, name, attr)

    def forward(self, in_data: list[Any], out_data: list[Any]) -> None:
        """Compute the outputs; by default copies the first input.

        Args:
            in_data: List of the inputs.
            out_data: List of the arrays to fill.
        """
        out_data[0][:] = in_data[0]

    def backward(
        self, out_grad: list[Any], in_data: list[Any], out_data: list[Any], in_grad: list[Any]
    ) -> None:
        """Compute the gradients of the inputs; by default fills the first with 1.

        Args:
            out_grad: List of the outputs' gradients.
            in_data: List of the inputs.
            out_data: List of the outputs.
            in_grad: List of the arrays to fill with gradients.
        """
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
        """Return the shapes of inputs and outputs; by default one output, like the first input.

        Args:
            in_shape: List of the inputs' shapes.
        """
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs, by default ``["output"]``."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """Return the names of the inputs, by default ``["data"]``."""
        return ["data"]

    def need_top_grad(self) -> bool:
        """Whether the backward pass needs the gradients of the outputs."""
        return self.need_top_grad_


class NumpyOp(PythonOp):
    """An operator whose `forward` and `backward` get NumPy arrays; see `PythonOp`."""


class NDArrayOp(PythonOp):
    """An operator whose `forward` and `backward` get NDArrays; see `PythonOp`."""

    _operator = NDARRAY_OP
    _as_numpy = False

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Return the ids of the arrays that the backward pass reads, by default all of them.

        Args:
            out_grad: Ids of the outputs' gradients.
            in_data: Ids of the inputs.
            out_data: Ids of the outputs.
        """
        return [*(out_grad if self.need_top_grad() else ()), *in_data, *out_data]


class _LegacyProp(CustomOpProp):
    """Adapts a `PythonOp` to the interface of `CustomOpProp`."""

    def __init__(self, op: PythonOp) -> None:
        super().__init__(op.need_top_grad())
        self._op = op

    def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
        return (*self._op.infer_shape(in_shape), [])

    def list_outputs(self) -> list[str]:
        return self._op.list_outputs()

    def list_arguments(self) -> list[str]:
        return self._op.list_arguments()

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
        return _LegacyOp(self._op)


class _LegacyOp(CustomOp):
    def __init__(self, op: PythonOp) -> None:
        self._op = op

    def _call(self, function: Callable[..., None], inputs: list[Any], outputs: list[Any]) -> None:
        """Call ``function`` with the arrays, or with NumPy copies; copy the results back."""
        if not self._op._as_numpy:
            function(*inputs, outputs)
            return
        copies = [x.asnumpy() for x in outputs]
        function(*[[x.asnumpy() for x in group] for group in inputs], copies)
        for x, values in zip(outputs, copies, strict=True):
            x[:] = values

    def forward(
        self, is_train: bool, req: list[str], in_data: Any, out_data: Any, aux: Any
    ) -> None:
        self._call(self._op.forward, [in_data], out_data)

    def backward(
        self, req: list[str], out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        self._call(self._op.backward, [out_grad, in_data, out_data], in_grad)
