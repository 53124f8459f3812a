"""HybridGraph: the graph of a HybridBlock, bound to the parameters that it reads."""

import operator
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gluonish.block.options import HybridOptions
from gluonish.block.tracing import trace_block
from gluonish.core.device import Device
from gluonish.core.errors import ArgumentTypeError, GraphError, OperatorError
from gluonish.graph import interpreter
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.dynamic import is_dynamic, run_imperatively
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import Monitor
from gluonish.graph.ir import Node, Value
from gluonish.graph.repeated_call import RepeatedCall
from gluonish.graph.structure import Constant, Structure, regroup
from gluonish.ndarray import NDArray, recording, save
from gluonish.parameter import Parameter
from gluonish.symbol import Symbol

if TYPE_CHECKING:
    from gluonish.hybrid_block import HybridBlock

__all__ = [
    "HybridGraph",
    "ImperativeCall",
    "describe",
    "export_graph",
    "values_by_name",
    "write_model",
]


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
        "_lines",
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
        traced = trace_block(block, structure, arrays)
        self._outputs = traced.outputs
        self._structure = traced.structure
        self._arguments = structure
        self._data = traced.data
        self._lines = traced.lines
        symbol = self.symbol()
        self._auxiliary = set(symbol.list_auxiliary_states())
        given = {id(node) for node in traced.data}
        variables = [node for node in symbol._variables() if id(node) not in given]
        self._parameters = _parameters_of(block, variables)
        self._bound: dict[Device, _Bound] = {}
        # Outside training, and in it.
        self._dynamic = [is_dynamic(self._outputs, train=train) for train in (False, True)]
        _finish_deferred(block, self._parameters, regroup(arrays, structure))
        self._cached = CachedGraph(
            [*traced.data, *variables],
            traced.outputs,
            static_alloc=options.static_alloc,
            forward_bulk_size=options.forward_bulk_size,
            backward_bulk_size=options.backward_bulk_size,
            data_count=len(traced.data),
            name=block.name,
            lines=traced.lines,
        )

    def run(self, arrays: Sequence[NDArray], hook: tuple[Monitor, bool] | None = None) -> Any:
        """Run the graph on a call's arrays and the parameters on their device."""
        device = arrays[0]._device
        bound = self._bound.get(device)
        if bound is None or bound.moves != Parameter.moves:
            bound = self._bind(device)
        if self._dynamic[bool(recording.mode.get() & recording.TRAINING)]:
            given = [*arrays, *bound.arrays]
            found = run_imperatively(self._cached.inputs, self._outputs, given)
            return found[0] if self._structure is None else regroup(found, self._structure)
        repeated = bound.repeated  # once: another thread may put another one there
        results = None
        if repeated is not None and hook is None:
            results = repeated.run(arrays)
        if results is None:
            try:
                results = self._compute([*arrays, *bound.arrays], bound, hook)
            except OperatorError as error:
                self._lines.complete(error)
                raise
        return results[0] if self._structure is None else regroup(results, self._structure)

    def _compute(
        self, inputs: list[NDArray], bound: _Bound, hook: tuple[Monitor, bool] | None
    ) -> list[NDArray]:
        if hook is not None:
            return self._monitored(inputs, hook)
        results = self._cached(inputs)
        bound.repeated = self._cached.repeated(inputs)
        return results

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
        return values_by_name({p.name: p for p in self._parameters}, self._auxiliary)


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


def values_by_name(
    parameters: Mapping[str, Parameter], auxiliary: Collection[str]
) -> dict[str, NDArray]:
    """Return parameters' values on the CPU, with ``arg:`` or ``aux:`` before their names."""
    return {
        f"{'aux' if name in auxiliary else 'arg'}:{name}": parameter._reduce()
        for name, parameter in parameters.items()
    }


def export_graph(
    what: str,
    graph: HybridGraph | ImperativeCall | None,
    path: str | os.PathLike[str],
    epoch: int,
    remove_amp_cast: bool,
) -> tuple[str, str]:
    """Write a graph and its parameters, and return the names of the files.

    Args:
        what: Who was called, for messages.
        graph: The graph; None if there is none.
        path: What the names begin with.
        epoch: Number in the second name.
        remove_amp_cast: Whether casts of mixed precision are left out.
    """
    if graph is None:
        raise GraphError(
            f"{what}: expected a block that was hybridized and run once, got one without a graph; "
            "call hybridize() and then the block on an input"
        )
    return write_model(what, graph.symbol(), graph.named_parameters(), path, epoch, remove_amp_cast)


def write_model(
    what: str,
    symbol: Symbol,
    parameters: dict[str, NDArray],
    path: str | os.PathLike[str],
    epoch: int,
    remove_amp_cast: bool,
) -> tuple[str, str]:
    """Write a Symbol and parameters under the names of an exported model, and return these."""
    try:
        stem = os.fspath(path)
        number = operator.index(int(epoch) if isinstance(epoch, float) else epoch)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{what}: expected a path and a whole number, got {path!r} and {epoch!r}"
        ) from error
    symbol_file, params_file = f"{stem}-symbol.json", f"{stem}-{number:04d}.params"
    symbol.save(symbol_file, remove_amp_cast)
    save(params_file, parameters)
    return symbol_file, params_file


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
