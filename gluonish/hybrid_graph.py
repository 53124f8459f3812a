"""What stands between a HybridBlock and its graph: tracing in both styles, the parameters a graph
reads, shape inference."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import GraphError, ParameterError
from gluonish.core.spec import UNKNOWN, PartialSpec
from gluonish.graph import interpreter
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.inference import infer, specialize
from gluonish.graph.ir import Node, Value
from gluonish.graph.structure import Structure, flatten, regroup
from gluonish.graph.trace import trace_forward
from gluonish.ndarray import NDArray, recording
from gluonish.parameter import Parameter
from gluonish.symbol import Symbol, var

if TYPE_CHECKING:
    from gluonish.hybrid_block import HybridBlock

__all__ = ["HybridGraph", "HybridOptions", "data_names", "infer_parameters"]

OpHook = tuple[Callable[..., Any], bool]


class HybridOptions(NamedTuple):
    """What `HybridBlock.hybridize` was told."""

    static_alloc: bool = False
    static_shape: bool = False
    forward_bulk_size: int | None = None
    backward_bulk_size: int | None = None


def data_names(count: int) -> list[str]:
    """Return the names of data variables: ``data`` for one, ``data0``, ``data1`` .. for several."""
    return ["data"] if count == 1 else [f"data{i}" for i in range(count)]


class HybridGraph:
    """The graph of one kind of call of a block.

    Args:
        block: The block.
        structure: How the call's arrays are nested.
        arrays: The arrays of the first such call.
        options: What `hybridize` was told.
    """

    __slots__ = ("_auxiliary", "_cached", "_data", "_name", "_outputs", "_parameters", "_structure")

    def __init__(
        self,
        block: "HybridBlock",
        structure: Structure,
        arrays: Sequence[NDArray],
        options: HybridOptions,
    ) -> None:
        self._name = block.name
        if block.has_hybrid_forward:
            data, outputs, self._structure = trace_symbols(block, structure, len(arrays))
        else:
            trace = trace_forward(
                block.forward,
                data_names(len(arrays)),
                [x._spec for x in arrays],
                lambda values: regroup(values, structure),
            )
            data, outputs, self._structure = trace.data, trace.outputs, trace.structure
        self._data = data
        self._outputs = outputs
        symbol = Symbol(outputs)
        self._auxiliary = set(symbol.list_auxiliary_states())
        given = {id(node) for node in data}
        variables = [node for node in symbol._variables() if id(node) not in given]
        variables = [node for node in variables if node.array is None]
        self._parameters = _parameters_of(block, variables)
        self._finish_deferred(block, regroup(arrays, structure))
        self._cached = CachedGraph(
            [*data, *variables],
            outputs,
            static_alloc=options.static_alloc,
            static_shape=options.static_shape,
            forward_bulk_size=options.forward_bulk_size,
            backward_bulk_size=options.backward_bulk_size,
            name=block.name,
        )

    @staticmethod
    def key(block: "HybridBlock", structure: Structure, arrays: Sequence[NDArray]) -> Any:
        """Return what a call shares with those of the same graph.

        A ``hybrid_forward`` has one graph for all shapes; a ``forward`` may compute with shapes and
        ask for the mode.
        """
        if block.has_hybrid_forward:
            return structure
        return structure, tuple([x._spec for x in arrays]), recording.mode.get()

    def _finish_deferred(self, block: "HybridBlock", args: Any) -> None:
        waiting = [p for p in self._parameters if p._data is None and p._deferred_init is not None]
        if waiting:
            block.infer_shape(*args)
            for parameter in self._parameters:
                parameter._finish_deferred_init()

    def __call__(self, arrays: Sequence[NDArray], hook: OpHook | None = None) -> Any:
        """Run the graph on a call's arrays and the parameters on their device."""
        context = arrays[0].context
        inputs = [*arrays, *[parameter.data(context) for parameter in self._parameters]]
        if hook is not None:
            results = self._monitored(inputs, hook)
        else:
            results = self._cached(*inputs)
        return results[0] if self._structure is None else regroup(results, self._structure)

    def _monitored(self, inputs: Sequence[NDArray], hook: OpHook) -> list[NDArray]:
        train = bool(recording.mode.get() & recording.TRAINING)
        specs = [x._spec for x in inputs]
        graph = specialize(self._cached.inputs, self._outputs, specs, train=train)
        return interpreter.evaluate(graph, inputs, monitor=hook)

    def symbol(self) -> Symbol:
        """Return the traced computation as a Symbol."""
        return Symbol(self._outputs)

    def named_parameters(self) -> dict[str, NDArray]:
        """Return the parameters' values on the CPU under ``arg:`` and ``aux:`` names, as exported
        files hold them."""
        named = {}
        for parameter in self._parameters:
            kind = "aux" if parameter.name in self._auxiliary else "arg"
            named[f"{kind}:{parameter.name}"] = parameter._reduce()
        return named


def _parameters_of(block: "HybridBlock", variables: Sequence[Node]) -> list[Parameter]:
    by_name = {parameter.name: parameter for parameter in block.collect_params().values()}
    unknown = [node.name for node in variables if node.name not in by_name]
    if unknown:
        raise GraphError(
            f"{block.name}: expected every variable of the graph to be an input or a Parameter of the block, got {unknown}; "
            "assign the block or Parameter that it belongs to as an attribute"
        )
    return [by_name[node.name] for node in variables]


def trace_symbols(
    block: "HybridBlock", structure: Structure, count: int
) -> tuple[list[Node], list[Value], Structure]:
    """Run ``hybrid_forward`` once on Symbols.

    Returns:
        The data variables, the output values, and how the outputs were nested.

    Raises:
        GraphError: if an output is not a single value.
    """
    symbols = [var(name) for name in data_names(count)]
    result = block.forward(*regroup(symbols, structure))
    leaves, out_structure = flatten(result, lambda x: isinstance(x, Symbol))
    if not leaves:
        raise GraphError(
            f"{block.name}: expected hybrid_forward to return Symbols, got {type(result).__name__}"
        )
    values = [value for symbol in leaves for value in symbol._values]
    if len(values) != len(leaves):  # a Symbol of several outputs counts as a list of them
        out_structure = _widened(out_structure, iter(leaves))
    return [symbol._values[0].node for symbol in symbols], values, out_structure


def _widened(structure: Structure, leaves: Any) -> Structure:
    if structure is None:
        count = len(next(leaves))
        return None if count == 1 else (list, (None,) * count)
    kind, inner = structure
    if kind == "constant":
        return structure
    return kind, tuple(_widened(part, leaves) for part in inner)


def infer_parameters(block: "HybridBlock", args: Sequence[Any], *, shapes: bool) -> None:
    """Find unknown shapes (or the dtypes) of a block's parameters from the arguments of a call.

    Raises:
        OperatorError: if an operator refuses the shapes.
    """
    arrays, structure = flatten(tuple(args), lambda x: isinstance(x, NDArray | Value))
    if not block.has_hybrid_forward:
        _infer_by_running(block, args)
        return
    data, outputs, _ = trace_symbols(block, structure, len(arrays))
    known = {
        node.name: PartialSpec(x.shape, normalize_dtype(x.dtype))
        for node, x in zip(data, arrays, strict=True)
    }
    parameters = {p.name: p for p in block.collect_params().values()}
    for name, parameter in parameters.items():
        shape = parameter.shape
        known[name] = PartialSpec(
            None if shape is None else tuple(n if n > 0 else UNKNOWN for n in shape),
            normalize_dtype(parameter.dtype) if shapes else None,
        )
    found = infer(outputs, known)
    for node in found.nodes:
        if node.op is None and node.name in parameters:
            _learn(parameters[node.name], found.spec(Value(node)), shapes=shapes)


def _learn(parameter: Parameter, spec: PartialSpec, *, shapes: bool) -> None:
    if not shapes:
        if spec.dtype is not None:
            parameter.cast(spec.dtype.type)
    elif spec.shape is not None:
        if UNKNOWN in spec.shape:
            raise ParameterError(
                f"Parameter {parameter.name}: expected a shape that follows from the inputs, got {spec.shape}; give in_units, "
                "in_channels and the like to the layer"
            )
        parameter.shape = spec.shape


def _infer_by_running(block: "HybridBlock", args: Sequence[Any]) -> None:
    """Settle the shapes below a block in the style of 2.0: its children settle their own when it
    runs."""
    with_arrays = [x for x in flatten(tuple(args), lambda x: isinstance(x, NDArray))[0]]
    if with_arrays:
        token = recording.mode.set(recording.NOTHING)
        try:
            block.forward(*args)
        finally:
            recording.mode.reset(token)
