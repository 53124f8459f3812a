"""HybridGraph: the graph of a HybridBlock, partitioned by back ends, bound to its parameters."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gluonish.core.device import Device
from gluonish.core.errors import GraphError, NoValuesError, OperatorError, UntraceableError
from gluonish.core.loading import load
from gluonish.core.program import Program
from gluonish.core.spec import PartialSpec
from gluonish.core.value_scope import ValueScope
from gluonish.core.versions import Basis, Version
from gluonish.gluon.block.arguments import call
from gluonish.gluon.block.export_files import values_by_name
from gluonish.gluon.block.options import HybridOptions
from gluonish.gluon.block.protocols import Traceable
from gluonish.gluon.block.tracing import (
    Traced,
    is_symbolic,
    learn_parameters,
    says_shapes,
    set_deferred_shapes,
    trace_block,
)
from gluonish.gluon.parameter import Parameter
from gluonish.graph import interpreter
from gluonish.graph.dynamic import is_dynamic, run_imperatively
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import Monitor, input_words, output_word
from gluonish.graph.ir import Node, Value, operator_word
from gluonish.graph.pytree import Structure, regroup
from gluonish.graph.source_lines import Line, innermost, with_line
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.recording import WATCHED
from gluonish.numpy.array import as_nd_ndarray, as_np_ndarray, ndarray
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol import NameManager, Symbol
from gluonish.symbol.subgraph import backend_of_environment

if TYPE_CHECKING:
    from gluonish.graph.cached_graph import CachedGraph


class Watched(ValueScope):
    """Scope in which every operator that this thread calls on arrays is told to a hook.

    The names are those that the nodes of a trace would get. The hook's own calls are not told, nor
    is what a graph computes, which tells its own hook.

    Args:
        hook: Called with name, operator name and array for every output and, if the flag beside it
            is set, for every input.
    """

    __slots__ = ("_callback", "_monitor_all")

    def __init__(self, hook: tuple[Monitor, bool]) -> None:
        super().__init__()
        self._callback, self._monitor_all = hook

    def __enter__(self) -> None:
        self._change(recording.watcher, self._tell)
        self._change(recording.mode, recording.mode.get() | WATCHED)

    def __exit__(self, *exc_info: object) -> None:
        self._restore()
        self._restore()

    def _tell(
        self, op: Operator, attrs: Attrs, inputs: Sequence[NDArray], outputs: Sequence[NDArray]
    ) -> None:
        name = NameManager.current.get(None, operator_word(op))
        before = recording.mode.get()
        try:
            recording.mode.set(before & ~WATCHED)
            if self._monitor_all:
                for word, x in zip(input_words(op, attrs), inputs, strict=False):
                    self._callback(f"{name}_{word}", op.name, x)
            for i in range(op.num_visible(attrs)):
                self._callback(f"{name}_{output_word(op, attrs, i)}", op.name, outputs[i])
        finally:
            recording.mode.set(before)


# The value, an array and its version, that a back end gave each parameter it added.
_given: WeakKeyDictionary[Parameter, tuple[NDArray, int]] = WeakKeyDictionary()


def _value_of(parameter: Parameter) -> tuple[NDArray, int]:
    """Return the array on the first device, and how often it was written."""
    array = parameter.list_data()[0]
    return array, array._var.version


def _is_as_given(parameter: Parameter) -> bool:
    array, version = _value_of(parameter)
    given, given_version = _given[parameter]
    return array is given and version == given_version


def partitioned_outputs(
    block: Traceable,
    traced: Traced,
    arrays: Sequence[NDArray],
    backends: Sequence[tuple[str, Mapping[str, Any]]],
) -> Sequence[Value] | None:
    """Return the outputs of a traced call after all back ends; None if there are none.

    Args:
        block: The block; parameters that back ends add become its own, and can be trained. At
            every trace they get the back end's values, but those that were written since then,
            by a Trainer say, or when they were loaded.
        traced: The call.
        arrays: Its arrays; parameters have values where they do.
        backends: Registered names and options. Without any, ``MXNET_SUBGRAPH_BACKEND`` may name
            one.

    Raises:
        ConfigError: It names one that is not registered.
        GraphError: A back end fails, or gives what does not fit.
    """
    if not backends:
        name = backend_of_environment()
        if name is None:
            return None
        backends = ((name, {}),)
    what, context = f"{block.name}.optimize_for", arrays[0].context
    contexts = block.collect_params().list_ctx() or [context]
    outputs = traced.outputs
    data = {node.name: x for node, x in zip(traced.data, arrays, strict=True)}

    def add(name: str, array: NDArray) -> str:
        parameter = block.params.get(
            name, shape=array.shape, dtype=array.dtype, init="zeros", differentiable=True
        )
        if parameter._arrays is None:
            parameter.initialize(ctx=contexts)
        elif parameter not in _given or not _is_as_given(parameter):
            return parameter.name
        parameter.set_data(array)
        _given[parameter] = _value_of(parameter)
        return parameter.name

    partition = load("gluonish.symbol.partition").partition
    for name, options in backends:
        parameters = {p.name: p for p in block.collect_params().values()}
        wanted = [node.name for node in Symbol(outputs)._variables() if node.name in parameters]
        values = {key: parameters[key].data(context) for key in wanted}
        known = {
            key: PartialSpec(x._spec.shape, x._spec.dtype) for key, x in {**values, **data}.items()
        }
        outputs = partition(what, outputs, name, options, known, values, add)
    return outputs


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
        "_programs",
        "_structure",
        "_traced",
        "basis",
    )

    def __init__(
        self,
        block: Traceable,
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
        # By device: the parameters' arrays, and the last call on them as a function of the data.
        self._bound: dict[Device, Program[list[NDArray]]] = {}
        self._programs: dict[Device, Program[Callable[[Sequence[NDArray]], list[NDArray]]]] = {}
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
        version: list[object] = [Parameter.moves, recording.mode.get()]
        for x in arrays:
            version.append(x._spec)
            version.append(x._device)
        program = self._programs.get(device)
        if program is not None and program.version == version and hook is None:
            results = program.work(arrays)
        else:
            results = self._run_anew(arrays, version, hook)
        if self._faces is not None:
            results = [
                as_np_ndarray(x) if face is ndarray else as_nd_ndarray(x)
                for x, face in zip(results, self._faces, strict=True)
            ]
        return results[0] if self._structure is None else regroup(results, self._structure)

    def _run_anew(
        self, arrays: Sequence[NDArray], version: object, hook: tuple[Monitor, bool] | None
    ) -> list[NDArray]:
        device = arrays[0]._device
        inputs = [*arrays, *self._bind(device)]
        dynamic = self._dynamic[bool(recording.mode.get() & recording.TRAINING)]
        try:
            if dynamic or hook is not None:
                return self._by_operator(inputs, hook, dynamic=dynamic)
            results = self._cached(inputs)
        except OperatorError as error:
            self._lines.complete(error)
            error.located = True
            raise
        repeated = None if self._asks_each_call else self._cached.repeated(inputs)
        if repeated is not None:
            self._programs[device] = Program((), version, repeated)
        return results

    def _bind(self, device: Device) -> list[NDArray]:
        """Return the parameters' arrays on a device, which stay until a Parameter gets others."""
        version, bound = Parameter.moves, self._bound.get(device)
        # A class of the program's may give other arrays at each call: weights with dropout.
        if bound is None or self._asks_each_call or not bound.holds((), version):
            self._programs.pop(device, None)
            arrays = [parameter.data(device.context) for parameter in self._parameters]
            bound = self._bound[device] = Program((), version, arrays)
        return bound.work

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

    def __init__(self, block: Traceable, structure: Structure, reason: str) -> None:
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
    block: Traceable, structure: Structure, arrays: Sequence[NDArray], options: HybridOptions
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


def _give_up(block: Traceable, error: NoValuesError) -> None:
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


def parameters_of(block: Traceable, variables: Sequence[Node]) -> list[Parameter]:
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
    block: Traceable, parameters: Sequence[Parameter], traced: Traced, arrays: Sequence[NDArray]
) -> None:
    if not any(p._arrays is None and p._deferred_init is not None for p in parameters):
        return
    if not is_symbolic(block) or says_shapes(type(block)):
        set_deferred_shapes(block, regroup(arrays, traced.arguments), parameters)
        return
    learn_parameters(block, traced, arrays, shapes=True)
    for parameter in parameters:
        parameter._finish_deferred_init()
