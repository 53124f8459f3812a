"""What stands between a HybridBlock and its graph: tracing, and the parameters a graph reads."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gluonish.core.device import Device
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentTypeError, GraphError, ParameterError
from gluonish.core.spec import UNKNOWN, PartialSpec
from gluonish.graph import interpreter
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.dynamic import is_dynamic, run_imperatively
from gluonish.graph.inference import infer, specialize
from gluonish.graph.interpreter import Monitor
from gluonish.graph.ir import Node, Value
from gluonish.graph.numpy_value import NumpyValue
from gluonish.graph.repeated_call import RepeatedCall
from gluonish.graph.structure import Constant, Structure, flatten, regroup
from gluonish.graph.trace import trace_forward
from gluonish.ndarray import NDArray, recording
from gluonish.numpy.array import ndarray
from gluonish.parameter import Parameter
from gluonish.symbol import NameManager, Symbol, var
from gluonish.symbol.shapes import from_public

if TYPE_CHECKING:
    from gluonish.hybrid_block import HybridBlock

__all__ = [
    "HybridGraph",
    "HybridOptions",
    "ImperativeCall",
    "describe",
    "infer_parameters",
    "is_symbolic",
]


class HybridOptions(NamedTuple):
    """What `HybridBlock.hybridize` was told."""

    static_alloc: bool = False
    forward_bulk_size: int | None = None
    backward_bulk_size: int | None = None


class _Bound:
    """The parameters' arrays on one device.

    Attributes:
        moves: How often parameters had got other arrays by then; see `Parameter.moves`.
        arrays: The arrays.
        repeated: The last call on them, to be done again; None where that cannot be.
    """

    __slots__ = ("arrays", "moves", "repeated")

    def __init__(self, moves: int, arrays: list[NDArray]) -> None:
        self.moves = moves
        self.arrays = arrays
        self.repeated: RepeatedCall | None = None


class _Traced(NamedTuple):
    """A traced call: variables for its arrays, its outputs, and how they were nested."""

    data: Sequence[Node]
    outputs: Sequence[Value]
    structure: Structure


def data_names(count: int) -> list[str]:
    """Return the names of data variables: ``data``, or ``data0``, ``data1`` .. for several."""
    return ["data"] if count == 1 else [f"data{i}" for i in range(count)]


def is_symbolic(block: Any) -> bool:
    """Whether a block and all blocks in it compute by ``hybrid_forward``.

    Then they can be traced on Symbols, and one graph serves all shapes.
    """
    return bool(block.has_hybrid_forward) and all(map(is_symbolic, block._children.values()))


class HybridGraph:
    """The graph of one kind of call of a block.

    Args:
        block: The block.
        structure: How the call's arrays are nested.
        arrays: The arrays of the first such call.
        options: What `hybridize` was told.

    Raises:
        GraphError: if the block cannot be traced, or reads a variable that is no Parameter of it.
    """

    __slots__ = (
        "_arguments",
        "_auxiliary",
        "_bound",
        "_cached",
        "_data",
        "_dynamic",
        "_outputs",
        "_parameters",
        "_structure",
    )

    def __init__(
        self,
        block: "HybridBlock",
        structure: Structure,
        arrays: Sequence[NDArray],
        options: HybridOptions,
    ) -> None:
        if is_symbolic(block):
            traced = trace_symbols(block, structure, arrays)
        else:
            traced = _trace_values(block, structure, arrays)
        self._outputs = traced.outputs
        self._structure = traced.structure
        self._arguments = structure
        self._data = traced.data
        symbol = self.symbol()
        self._auxiliary = set(symbol.list_auxiliary_states())
        given = {id(node) for node in traced.data}
        variables = [node for node in symbol._variables() if id(node) not in given]
        self._parameters = _parameters_of(block, variables)
        self._bound: dict[Device, _Bound] = {}
        self._dynamic = is_dynamic(self._outputs)
        _finish_deferred(block, self._parameters, regroup(arrays, structure))
        self._cached = CachedGraph(
            [*traced.data, *variables],
            traced.outputs,
            static_alloc=options.static_alloc,
            forward_bulk_size=options.forward_bulk_size,
            backward_bulk_size=options.backward_bulk_size,
            data_count=len(traced.data),
            name=block.name,
        )

    def run(self, arrays: Sequence[NDArray], hook: tuple[Monitor, bool] | None = None) -> Any:
        """Run the graph on a call's arrays and the parameters on their device."""
        device = arrays[0]._device
        bound = self._bound.get(device)
        if bound is None or bound.moves != Parameter.moves:
            bound = self._bind(device)
        if self._dynamic:
            given = [*arrays, *bound.arrays]
            found = run_imperatively(self._cached.inputs, self._outputs, given)
            return found[0] if self._structure is None else regroup(found, self._structure)
        repeated = bound.repeated  # once: another thread may put another one there
        results = None
        if repeated is not None and hook is None:
            results = repeated.run(arrays)
        if results is None:
            inputs = [*arrays, *bound.arrays]
            if hook is not None:
                results = self._monitored(inputs, hook)
            else:
                results = self._cached(inputs)
                bound.repeated = self._cached.repeated(inputs)
        return results[0] if self._structure is None else regroup(results, self._structure)

    def _bind(self, device: Device) -> _Bound:
        """Gather the parameters' arrays on a device, which stay until a Parameter gets others."""
        moves = Parameter.moves
        arrays = [parameter.data(device.context) for parameter in self._parameters]
        bound = self._bound[device] = _Bound(moves, arrays)
        return bound

    def _monitored(self, inputs: Sequence[NDArray], hook: tuple[Monitor, bool]) -> list[NDArray]:
        train = bool(recording.mode.get() & recording.TRAINING)
        specs = [x._spec for x in inputs]
        graph = specialize(self._cached.inputs, self._outputs, specs, train=train)
        return interpreter.evaluate(graph, inputs, monitor=hook)

    def symbol(self) -> Symbol:
        """Return the traced computation as a Symbol."""
        return Symbol(self._outputs)

    def named_parameters(self) -> dict[str, NDArray]:
        """Return the parameters' values on the CPU as exported files hold them.

        Names begin with ``arg:`` or ``aux:``.
        """
        named = {}
        for parameter in self._parameters:
            kind = "aux" if parameter.name in self._auxiliary else "arg"
            named[f"{kind}:{parameter.name}"] = parameter._reduce()
        return named


class ImperativeCall:
    """What stands in for the graph of a call that cannot have one: the block runs imperatively.

    Args:
        block: The block.
        structure: How the call's arrays are nested.
    """

    __slots__ = ("_arguments", "_block")

    def __init__(self, block: "HybridBlock", structure: Structure) -> None:
        self._block = block
        self._arguments = structure

    def run(self, arrays: Sequence[NDArray], hook: tuple[Monitor, bool] | None = None) -> Any:
        """Run ``forward`` on a call's arrays; without a graph there is nothing to monitor."""
        del hook
        return self._block._call_forward(*regroup(arrays, self._arguments))

    def symbol(self) -> Symbol:
        """Refuse: there is no graph.

        Raises:
            GraphError: always.
        """
        raise GraphError(
            f"{self._block.name}: expected a block with a graph, got one in which a shape depends "
            "on values; write it with hybrid_forward, which composes Symbols"
        )

    def named_parameters(self) -> dict[str, NDArray]:
        """Refuse, as `symbol` does."""
        self.symbol()
        return {}


def describe(graph: HybridGraph | ImperativeCall | None) -> dict[str, Any]:
    """Return what files of `Block.save` hold of a block's graph.

    An array is 0 in a format, None is -1, and a list or tuple a list. A graph that they have no
    words for is left out, as if there were none.
    """
    if graph is None:
        return {"hybridized": False}
    try:
        symbol = graph.symbol()
        if isinstance(graph, ImperativeCall):
            return {"hybridized": False}
        return {
            "in_format": _format(graph._arguments),
            "out_format": _format(graph._structure),
            "inputs": [Symbol([Value(node)]).tojson() for node in graph._data],
            "symbol": symbol.tojson(),
            "hybridized": True,
        }
    except (ArgumentTypeError, GraphError):
        return {"hybridized": False}


def _format(structure: Structure) -> Any:
    if structure is None:
        return 0
    if isinstance(structure, Constant):
        if structure.value is not None:
            raise GraphError(f"format: expected arrays and None, got {structure.value!r}")
        return -1
    return [_format(part) for part in structure[1]]


def _parameters_of(block: "HybridBlock", variables: Sequence[Node]) -> list[Parameter]:
    by_name = {parameter.name: parameter for parameter in block.collect_params().values()}
    unknown = [node.name for node in variables if node.name not in by_name]
    if unknown:
        raise GraphError(
            f"{block.name}: expected every variable of the graph to be an input or a Parameter of "
            f"the block, got {unknown}; assign the block or Parameter that it belongs to as an "
            "attribute"
        )
    return [by_name[node.name] for node in variables]


def _finish_deferred(block: "HybridBlock", parameters: Sequence[Parameter], args: Any) -> None:
    if any(p._data is None and p._deferred_init is not None for p in parameters):
        block.infer_shape(*args)
        for parameter in parameters:
            parameter._finish_deferred_init()


def trace_symbols(
    block: "HybridBlock", structure: Structure, arrays: Sequence[NDArray | Value]
) -> _Traced:
    """Run ``hybrid_forward`` once on Symbols.

    Args:
        block: The block.
        structure: How the call's arrays are nested.
        arrays: The arrays, or values of a trace; those of ``mx.np`` become such Symbols.

    Raises:
        GraphError: if no output is a Symbol.
    """
    symbols = [
        var(name).as_np_ndarray() if isinstance(x, ndarray | NumpyValue) else var(name)
        for name, x in zip(data_names(len(arrays)), arrays, strict=True)
    ]
    result = block.forward(*regroup(symbols, structure))
    leaves, nested = flatten(result, lambda x: isinstance(x, Symbol))
    if not leaves:
        raise GraphError(
            f"{block.name}: expected hybrid_forward to return Symbols, got {type(result).__name__}"
        )
    values = [value for symbol in leaves for value in symbol._values]
    if len(values) != len(leaves):  # a Symbol of several outputs counts as a list of them
        nested = _widened(nested, iter(leaves))
    return _Traced([symbol._values[0].node for symbol in symbols], values, nested)


def _widened(structure: Structure, leaves: Iterator[Symbol]) -> Structure:
    if structure is None:
        count = len(next(leaves))
        return None if count == 1 else (list, (None,) * count)
    if isinstance(structure, Constant):
        return structure
    kind, inner = structure
    return kind, tuple(_widened(part, leaves) for part in inner)


def _trace_values(block: "HybridBlock", structure: Structure, arrays: Sequence[NDArray]) -> _Traced:
    """Run ``forward`` once on values that have shapes."""
    with arrays[0].context:  # where parameters and what it makes should lie
        trace = trace_forward(
            block._call_forward,
            data_names(len(arrays)),
            arrays,
            lambda values: regroup(values, structure),
            lambda word: NameManager.current().get(None, word),
        )
    return _Traced(trace.data, trace.outputs, trace.structure)


def infer_parameters(block: "HybridBlock", args: Sequence[Any], *, shapes: bool) -> None:
    """Find unknown shapes (or the dtypes) of a block's parameters from the arguments of a call.

    Args:
        block: The block.
        args: The arguments: arrays, or values of a trace.
        shapes: Whether to find shapes; else dtypes.

    Raises:
        OperatorError: if an operator refuses the shapes.
        ParameterError: if a shape does not follow from the arguments.
    """
    if not block.has_hybrid_forward:
        with _Silence():  # its children settle their own when it runs
            block.forward(*args)
        return
    arrays, structure = flatten(tuple(args), lambda x: isinstance(x, NDArray | Value))
    traced = trace_symbols(block, structure, arrays)
    known = {
        node.name: PartialSpec(x.shape, normalize_dtype(x.dtype))
        for node, x in zip(traced.data, arrays, strict=True)
    }
    parameters = {p.name: p for p in block.collect_params().values()}
    for name, parameter in parameters.items():
        dtype = normalize_dtype(parameter.dtype) if shapes else None
        known[name] = PartialSpec(from_public(parameter.shape), dtype)
    found = infer(traced.outputs, known)
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
                f"Parameter {parameter.name}: expected a shape that follows from the inputs, got "
                f"{spec.shape}; give in_units, in_channels and the like to the layer"
            )
        parameter.shape = spec.shape


class _Silence:
    """Scope in which nothing is recorded and nothing trains."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = recording.mode.set(recording.NOTHING)

    def __exit__(self, *exc_info: object) -> None:
        recording.mode.reset(self._token)
