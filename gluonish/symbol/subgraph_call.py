"""A user's function as an operator, by which a back end replaces a subgraph.

The outputs have the shapes and dtypes that are inferred for the subgraph. The gradient runs the
function again, on copies of the inputs, while autograd records.

Calls of a user's operator object on raw arrays, inside an engine operation.

The object receives new NDArrays on the raw memory, without pending operations. Engine
operations that it pushes run inline or in another worker; the call waits for them at the end.
"""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.autograd import backward, is_training, record
from gluonish.core.context import Context, cpu
from gluonish.core.device import Device, device_of, device_of_library
from gluonish.core.dtype import DTYPE_FLAGS
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.graph.inference import Inference, specialize
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.custom import CUSTOM, CustomState
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol.subgraph import Subgraph
from gluonish_engine import Var


def run_custom(
    state: CustomState,
    xp: Any,
    phase: str,
    train: bool,
    outputs: Sequence[Any],
    inputs: Sequence[Any],
) -> None:
    """Call `forward` or `backward` of a node's `CustomOp`.

    Args:
        state: State of the node.
        xp: NumPy or CuPy.
        phase: ``"forward"`` or ``"backward"``.
        train: Whether the call is in training mode.
        outputs: Raw arrays to fill.
        inputs: Raw arrays; for backward the outputs' gradients come first, and the outputs last.

    Raises:
        OperatorError: The user's code raises; its exception is the cause.
    """
    device = _device(xp, state.context)
    filled = [_handle(x, device) for x in outputs]
    given = [_handle(x, device) for x in inputs]
    before = recording.mode.get()
    try:
        recording.mode.set(recording.TRAINING * train)
        with device.context:
            _call(state, phase, train, filled, given)
            for x in (*filled, *given):
                x.wait_to_read()
    except Exception as error:
        raise OperatorError(f"{state.name}: {phase} failed: {error!r}") from error
    finally:
        recording.mode.set(before)


def _call(
    state: CustomState, phase: str, train: bool, filled: list[NDArray], given: list[NDArray]
) -> None:
    heads = len(state.outputs) if phase == "backward" else 0
    first = heads + len(state.arguments)
    last = first + len(state.auxiliary)
    out_grad, in_data, aux = given[:heads], given[heads:first], given[first:last]
    operator = _operator(state, [*in_data, *aux])
    if phase == "forward":
        operator.forward(
            is_train=train,
            req=["write"] * len(filled),
            in_data=in_data,
            out_data=filled,
            aux=aux,
        )
        return
    for x in filled:  # a rule may skip inputs without gradient, such as labels
        x._data[...] = 0
    operator.backward(
        req=["write"] * len(filled),
        out_grad=out_grad,
        in_data=in_data,
        out_data=given[last:],
        in_grad=filled,
        aux=aux,
    )


def _operator(state: CustomState, arrays: Sequence[NDArray]) -> Any:
    """Return the node's operator object for arrays of these specs, created by the first call."""
    key = (arrays[0].context if arrays else None, tuple(x._spec for x in arrays))
    found = state.operators.get(key)
    if found is None:
        context: Context = arrays[0].context if arrays else cpu()
        shapes = [list(x.shape) for x in arrays]
        dtypes = [DTYPE_FLAGS[x._spec.dtype] for x in arrays]
        made = state.prop.create_operator(context, shapes, dtypes)
        found = state.operators.setdefault(key, made)
    return found


def _handle(raw: Any, device: Device) -> NDArray:
    return NDArray(raw, Spec(raw.shape, raw.dtype), device, Var())


def _device(xp: Any, context: Context | None) -> Device:
    return device_of_library(xp) if context is None else device_of(context)


def attach_runner() -> None:
    """Set this module as the runner of `CustomState`."""
    CustomState.run = staticmethod(run_custom)


class _Prop:
    """Describes a function in place of a subgraph, as a `CustomOpProp` describes an operator.

    Args:
        subgraph: The subgraph that is replaced.
        function: The function that replaces it.
    """

    need_top_grad_ = True

    def __init__(self, subgraph: Subgraph, function: Callable[..., Any]) -> None:
        self._subgraph = subgraph
        self._function = function
        by_name = {node.name: node for node in subgraph.symbol._variables()}
        self.variables = [by_name[name] for name in subgraph.inputs]
        self.values = subgraph.symbol._values

    def list_arguments(self) -> list[str]:
        names = self._subgraph.inputs
        return names[: len(names) - len(self._subgraph.auxiliary)]

    def list_auxiliary_states(self) -> list[str]:
        return self._subgraph.auxiliary

    def list_outputs(self) -> list[str]:
        return [f"output{i}" for i in range(len(self.values))]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> "_Call":
        return _Call(self._function)


class _Call:
    """Runs a function in place of a subgraph, with the interface of a `CustomOp`.

    Args:
        function: Function of arrays that returns an array or a list of arrays.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def forward(
        self, is_train: bool, req: list[str], in_data: Any, out_data: Any, aux: Any
    ) -> None:
        for out, result in zip(out_data, self._results(in_data, aux, out_data), strict=True):
            out[:] = result

    def backward(
        self, req: list[str], out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        inputs = [x.copy() for x in in_data]
        for x in inputs:
            x.attach_grad()
        train = is_training()
        with record(train_mode=train):
            results = self._results(inputs, [x.copy() for x in aux], out_data)
        backward(results, list(out_grad), train_mode=train)
        for gradient, x in zip(in_grad, inputs, strict=True):
            gradient[:] = x.grad

    def _results(self, inputs: Any, aux: Any, expected: Sequence[NDArray]) -> list[NDArray]:
        made = self._function(*inputs, *aux)
        results = list(made) if isinstance(made, list | tuple) else [made]
        shapes = [getattr(x, "shape", type(x).__name__) for x in results]
        if shapes != [x.shape for x in expected]:
            raise OperatorError(
                f"subgraph: expected arrays of shapes {[x.shape for x in expected]}, got {shapes}"
            )
        return results


def _infer(*specs: Spec, state: CustomState, **attrs: Any) -> tuple[Spec, ...]:
    prop: _Prop = state.prop
    graph = specialize(prop.variables, prop.values, specs, train=False)
    return tuple(value.spec for value in graph.outputs)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    prop: _Prop = attrs["state"].prop
    known = {node.name: spec for node, spec in zip(prop.variables, inputs, strict=True)}
    found = Inference(topological_order(prop.values), known)
    for value, spec in zip(prop.values, outputs, strict=True):
        found.add(value, spec)
    found.run()
    inputs[:] = [found.spec(Value(node)) for node in prop.variables]
    outputs[:] = [found.spec(value) for value in prop.values]


# Not registered, because a file cannot contain a Python function.
SUBGRAPH_CALL = Operator(
    "_subgraph_call",
    _infer,
    CUSTOM.kernel,
    Gradient(CUSTOM.gradient, uses_output=True),
    doc="A function with which a user's back end replaced a subgraph.",
    active_inputs=CUSTOM.active_inputs,
    outputs=CUSTOM.outputs,
    execution=Execution(mutates=CUSTOM.mutates, train_dependent=True, heavy=True),
    shapes=ShapeFacts(complete=_complete),
)


def function_node(
    subgraph: Subgraph, backend: str, function: Callable[..., Any], inputs: Sequence[Value]
) -> Node:
    """Return a node that calls a Python function in place of a subgraph.

    Args:
        subgraph: The subgraph that is replaced.
        backend: Name of the back end, for error messages.
        function: Function that takes an NDArray for each of `Subgraph.inputs`.
        inputs: Values of these inputs, in order.
    """
    state = CustomState(f"{subgraph.name} of {backend}", {}, _Prop(subgraph, function))
    given = {"backend": backend}
    return Node(SUBGRAPH_CALL, subgraph.name, inputs, {"state": state}, given=given)


attach_runner()
