"""Tracing a ``forward(x)`` in the style of MXNet 2.0.

The function runs once on arrays with shapes but no values; see `gluonish.graph.traced_array`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.errors import NoValuesError
from gluonish.core.value_scope import ValueScope
from gluonish.graph import value_control_flow as _control_flow  # noqa: F401  # completes traced arrays
from gluonish.graph.ir import Namer, Node, Value, append, constant, namer, variable
from gluonish.graph.pytree import Structure, flatten
from gluonish.graph.traced_array import as_traced, value_of
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Attrs, Operator


class Trace:
    """The variables, parameters and outputs of a traced call.

    Attributes:
        data: Variables for the arrays of the call, in order.
        parameters: Traced arrays of the parameters that were read, by name, in order of first use.
        outputs: Values of the outputs, flattened.
        structure: Structure of the outputs, as returned by `pytree.flatten`.
    """

    __slots__ = ("data", "outputs", "parameters", "structure")

    def __init__(self) -> None:
        self.data: list[Node] = []
        self.parameters: dict[str, Any] = {}
        self.outputs: list[Value] = []
        self.structure: Structure = None

    def parameter(self, name: str, array: NDArray) -> Any:
        """Return the traced array of a parameter."""
        found = self.parameters.get(name)
        if found is None:
            value = variable(name, array._spec, kind=type(array))
            found = self.parameters[name] = as_traced(value, fixed=True)
        return found

    def source(self, op: Operator, attrs: Attrs) -> Any:
        """Return the result of an operator without inputs, with the shape of an eager call."""
        if attrs.get("shape", ()) is None:
            attrs = {**attrs, "shape": op.infer(**attrs)[0].shape}
        return as_traced(append(op, (), attrs))


class _Tracing(ValueScope):
    """Scope in which a trace records parameters, and operators without inputs."""

    __slots__ = ("_namer", "_trace")

    def __init__(self, trace: Trace, name_node: Namer) -> None:
        super().__init__()
        self._trace = trace
        self._namer = name_node

    def __enter__(self) -> None:
        self._change(recording.tracer, self._trace)
        self._change(namer, self._namer)

    def __exit__(self, *exc_info: object) -> None:
        self._restore()
        self._restore()


def trace_forward(
    forward: Callable[..., Any],
    names: Sequence[str],
    arrays: Sequence[NDArray],
    name_node: Namer,
    trace: Trace | None = None,
) -> Trace:
    """Run ``forward`` once on traced arrays.

    Args:
        forward: Function that is called with one traced array for each array.
        names: Names of the data variables.
        arrays: Arrays of a call; the variables have their specs and class.
        name_node: Function that returns the name of a new node, given its operator's base name.
        trace: A new trace of a subclass; None for one of `Trace`.

    Raises:
        NoValuesError: No output is an array, or the computation needs values.
        OperatorError: An operator rejects its inputs; the message names the node.
    """
    trace = Trace() if trace is None else trace
    values = [variable(name, x._spec, kind=type(x)) for name, x in zip(names, arrays, strict=True)]
    trace.data = [value.node for value in values]
    with _Tracing(trace, name_node):
        result = forward(*[as_traced(value, fixed=True) for value in values])
    leaves, trace.structure = flatten(result, lambda x: isinstance(x, Value | NDArray))
    found = map(value_of, leaves)
    trace.outputs = [constant(x) if isinstance(x, NDArray) else x for x in found]
    if not trace.outputs:
        raise NoValuesError(
            f"trace: expected forward to return arrays, got {type(result).__name__}"
        )
    return trace
