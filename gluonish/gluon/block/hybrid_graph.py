"""HybridGraph: the graph of a HybridBlock, bound to the parameters that it reads."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gluonish.core.device import Device
from gluonish.core.errors import (
    GraphError,
    NoValuesError,
    OperatorError,
    UntraceableError,
)
from gluonish.core.loading import load
from gluonish.core.versions import Basis, Version
from gluonish.gluon.block.arguments import call
from gluonish.gluon.block.export_files import values_by_name
from gluonish.gluon.block.options import HybridOptions
from gluonish.gluon.block.partitioning import partitioned_outputs
from gluonish.gluon.block.tracing import (
    Traced,
    is_symbolic,
    learn_parameters,
    says_shapes,
    set_deferred_shapes,
    trace_block,
)
from gluonish.gluon.block.watching import Watched
from gluonish.gluon.parameter import Parameter
from gluonish.graph import interpreter
from gluonish.graph.dynamic import is_dynamic, run_imperatively
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import Monitor
from gluonish.graph.ir import Node
from gluonish.graph.source_lines import Line, innermost, with_line
from gluonish.graph.structure import Structure, regroup
from gluonish.ndarray import NDArray, recording
from gluonish.numpy.array import as_nd_ndarray, as_np_ndarray, ndarray
from gluonish.symbol import Symbol

if TYPE_CHECKING:
    from gluonish.gluon.block.hybrid_block import HybridBlock
    from gluonish.graph.cached_graph import CachedGraph
    from gluonish.graph.repeated_call import RepeatedCall

__all__ = ["Graph", "HybridGraph", "ImperativeCall", "graph_of_call", "parameters_of"]


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
        GraphError: The block cannot be traced, or reads a variable that is no Parameter of it.

    Attributes:
        basis: The versions of the blocks that it was traced from; whoever traces sets it.
    """

    __slots__ = (
        "_asks_each_call",
        "_auxiliary",
        "_bound",
        "_cached",
        "_dynamic",
        "_faces",
        "_lines",
        "_outputs",
        "_parameters",
        "_structure",
        "_traced",
        "basis",
    )

    def __init__(
        self,
        block: "HybridBlock",
        structure: Structure,
        arrays: Sequence[NDArray],
        options: HybridOptions,
    ) -> None:
        self.basis = Basis({}, Version.newest)
        self._traced = traced = trace_block(block, structure, arrays)
        self._outputs = traced.outputs
        self._structure = traced.structure
        self._faces = traced.faces
        self._lines = traced.lines
        self._auxiliary = set(self.symbol().list_auxiliary_states())
        variables = traced.variables()
        self._parameters = parameters_of(block, variables)
        self._asks_each_call = any(type(one).data is not Parameter.data for one in self._parameters)
        self._bound: dict[Device, _Bound] = {}
        # Outside training, and in it.
        self._dynamic = [is_dynamic(self._outputs, train=train) for train in (False, True)]
        _finish_deferred(block, self._parameters, traced, arrays)
        if options.partition_if_dynamic or not any(self._dynamic):
            partitioned = partitioned_outputs(block, traced, arrays, options.backends)
            if partitioned is not None:
                self._outputs = partitioned
                variables = traced._replace(outputs=partitioned).variables()
                self._parameters = parameters_of(block, variables)
                self._dynamic = [is_dynamic(partitioned, train=train) for train in (False, True)]
        self._cached: CachedGraph = load("gluonish.graph.cached_graph").CachedGraph(
            [*traced.data, *variables],
            self._outputs,
            static_alloc=options.static_alloc,
            static_shape=options.static_shape,
            forward_bulk_size=options.forward_bulk_size,
            backward_bulk_size=options.backward_bulk_size,
            data_count=len(traced.data),
            name=block.name,
            lines=traced.lines,
            inline_limit=options.inline_limit,
        )

    def run(self, arrays: Sequence[NDArray], hook: tuple[Monitor, bool] | None = None) -> Any:
        """Run the graph on a call's arrays and the parameters on their device."""
        device = arrays[0]._device
        bound = self._bound.get(device)
        if bound is None or bound.moves != Parameter.moves:
            bound = self._bind(device)
        dynamic = self._dynamic[bool(recording.mode.get() & recording.TRAINING)]
        planned = not dynamic and hook is None
        repeated = bound.repeated  # once: another thread may put another one there
        results = None
        if repeated is not None and planned:
            results = repeated.run(arrays)
        if results is None:
            inputs = [*arrays, *bound.arrays]
            try:
                if planned:
                    results = self._compute(inputs, bound)
                else:
                    results = self._by_operator(inputs, hook, dynamic=dynamic)
            except OperatorError as error:
                self._lines.complete(error)
                error.located = True
                raise
        if self._faces is not None:
            results = [
                as_np_ndarray(x) if face is ndarray else as_nd_ndarray(x)
                for x, face in zip(results, self._faces, strict=True)
            ]
        return results[0] if self._structure is None else regroup(results, self._structure)

    def _compute(self, inputs: list[NDArray], bound: _Bound) -> list[NDArray]:
        results = self._cached(inputs)
        bound.repeated = self._cached.repeated(inputs)
        return results

    def _bind(self, device: Device) -> _Bound:
        """Gather the parameters' arrays on a device, which stay until a Parameter gets others."""
        # A class of the program's may give other arrays at each call: weights with dropout.
        moves = -1 if self._asks_each_call else Parameter.moves
        arrays = [parameter.data(device.context) for parameter in self._parameters]
        bound = self._bound[device] = _Bound(moves, arrays)
        return bound

    def _by_operator(
        self, inputs: Sequence[NDArray], hook: tuple[Monitor, bool] | None, *, dynamic: bool
    ) -> list[NDArray]:
        """Run operator by operator; only this graph's hook is told, not that of a block around."""
        flags = recording.mode.get() & ~recording.WATCHED
        before = recording.mode.get()
        try:
            recording.mode.set(flags)
            if dynamic:
                return run_imperatively(self._cached.inputs, self._outputs, inputs, hook)
            train = bool(flags & recording.TRAINING)
            specs = [x._spec for x in inputs]
            graph = specialize(self._cached.inputs, self._outputs, specs, train=train)
            return interpreter.evaluate(graph, inputs, monitor=hook)
        finally:
            recording.mode.set(before)

    @property
    def parameters(self) -> list[Parameter]:
        """What it reads beside the call's arrays."""
        return self._parameters

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
        reason: Why there is no graph, for messages.
    """

    __slots__ = ("_arguments", "_block", "_reason", "basis")

    parameters: tuple[Parameter, ...] = ()  # it reads them anew at each call

    def __init__(self, block: "HybridBlock", structure: Structure, reason: str) -> None:
        self._block = block
        self._arguments = structure
        self._reason = reason
        self.basis = Basis({}, Version.newest)  # as of `HybridGraph`

    def run(self, arrays: Sequence[NDArray], hook: tuple[Monitor, bool] | None = None) -> Any:
        """Run ``forward`` on a call's arrays."""
        arguments = regroup(arrays, self._arguments)
        if hook is None:
            return call(self._block._call_forward, arguments)
        with self._block.name_scope(), Watched(hook):
            return call(self._block._call_forward, arguments)

    def symbol(self) -> Symbol:
        """Refuse: there is no graph.

        Raises:
            GraphError: always.
        """
        raise GraphError(
            f"{self._block.name}: expected a block with a graph, got one that cannot be traced: "
            f"{self._reason}"
        )

    def named_parameters(self) -> dict[str, NDArray]:
        """Refuse, as `symbol` does."""
        self.symbol()
        return {}


Graph = HybridGraph | ImperativeCall


def graph_of_call(
    block: "HybridBlock", structure: Structure, arrays: Sequence[NDArray], options: HybridOptions
) -> Graph:
    """Return the graph of one kind of call of a block, or what stands in for it.

    Args:
        block: The block.
        structure: How the call's arrays are nested.
        arrays: The arrays of the first such call.
        options: What `hybridize` was told.
    """
    if block._untraceable is not None:
        return ImperativeCall(block, structure, block._untraceable)
    try:
        return HybridGraph(block, structure, arrays, options)
    except NoValuesError as error:
        _give_up(block, error)
        return ImperativeCall(block, structure, str(error))
    except UntraceableError as error:
        return ImperativeCall(block, structure, str(error))


def _give_up(block: "HybridBlock", error: NoValuesError) -> None:
    """Have a block run without graphs, and those in it that led to the error; warn of it once."""
    reason, traceback = str(error), error.__traceback__
    line = innermost(traceback)
    block._untraceable = reason
    while traceback is not None:
        inner: Any = traceback.tb_frame.f_locals.get("self")
        if hasattr(inner, "_untraceable"):
            inner._untraceable = reason
        traceback = traceback.tb_next
    if line is None:  # it is the result that is at fault
        code = type(block).forward.__code__
        line = Line(code.co_filename, code.co_firstlineno, code.co_name)
    message = f"{block.name}: hybridized, but it runs without a graph; {with_line(reason, line)}"
    warnings.warn_explicit(message, UserWarning, line.file, line.number)


def parameters_of(block: "HybridBlock", variables: Sequence[Node]) -> list[Parameter]:
    """Return the parameters that variables of a block's graph stand for.

    Raises:
        GraphError: One is no parameter of the block.
    """
    by_name = {parameter.name: parameter for parameter in block.collect_params().values()}
    unknown = [node.name for node in variables if node.name not in by_name]
    if unknown:
        raise GraphError(
            f"{block.name}: expected every variable of the graph to be an input or a Parameter of "
            f"the block, got {unknown}; assign the block or Parameter that it belongs to as an "
            "attribute"
        )
    return [by_name[node.name] for node in variables]


def _finish_deferred(
    block: "HybridBlock", parameters: Sequence[Parameter], traced: Traced, arrays: Sequence[NDArray]
) -> None:
    if not any(p._arrays is None and p._deferred_init is not None for p in parameters):
        return
    if not is_symbolic(block) or says_shapes(type(block)):
        set_deferred_shapes(block, regroup(arrays, traced.arguments), parameters)
        return
    learn_parameters(block, traced, arrays, shapes=True)
    for parameter in parameters:
        parameter._finish_deferred_init()
