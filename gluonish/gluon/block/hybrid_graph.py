"""HybridGraph: a HybridBlock's traced graph, partitioned by back ends and bound to parameters."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from gluonish.core.device import Device
from gluonish.core.errors import GraphError, NoValuesError, OperatorError, UntraceableError
from gluonish.core.hooks import check_call
from gluonish.core.loading import load
from gluonish.core.program import Program
from gluonish.core.program_lines import Line, with_line
from gluonish.core.spec import PartialSpec
from gluonish.core.value_scope import ValueScope
from gluonish.core.versions import Basis, Version
from gluonish.gluon.block.arguments import call_packed
from gluonish.gluon.block.block_errors import locate_node, located_message
from gluonish.gluon.block.files import values_by_name
from gluonish.gluon.block.options import HybridOptions
from gluonish.gluon.block.protocols import Traceable
from gluonish.gluon.block.tracing import (
    Traced,
    defines_infer_shape,
    infer_from_graph,
    is_symbolic,
    set_deferred_shapes,
    trace_block,
)
from gluonish.gluon.parameter import Parameter
from gluonish.graph import interpreter
from gluonish.graph.dynamic import is_dynamic, run_imperatively
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import Monitor, input_suffixes, output_suffix
from gluonish.graph.ir import Node, Value, base_name
from gluonish.graph.pytree import Structure, regroup
from gluonish.graph.source_lines import innermost
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.recording import CHECKED, HOOKED
from gluonish.ndarray.slabs import commit_soon
from gluonish.numpy.array import as_nd_ndarray, as_np_ndarray, ndarray
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol import NameManager, Symbol
from gluonish.symbol.subgraph import backend_of_environment

if TYPE_CHECKING:
    from gluonish.graph.cached_graph import CachedGraph


class OpHookScope(ValueScope):
    """Scope that reports every imperative operator of this thread to a hook.

    Operators are named like the nodes of a trace. Operators called by the hook itself, or run by a
    graph (which has its own hook), are not reported.

    Args:
        hook: A callback of name, operator name and array, called for every output; and whether to
            call it for every input, too.
    """

    __slots__ = ("_callback", "_monitor_all")

    def __init__(self, hook: tuple[Monitor, bool]) -> None:
        super().__init__()
        self._callback, self._monitor_all = hook

    def __enter__(self) -> None:
        self._change(recording.observer, self._report)
        self._change(recording.mode, recording.mode.get() | HOOKED)

    def __exit__(self, *exc_info: object) -> None:
        self._restore()
        self._restore()

    def _report(
        self, op: Operator, attrs: Attrs, inputs: Sequence[NDArray], outputs: Sequence[NDArray]
    ) -> None:
        name = NameManager.current.get(None, base_name(op))
        before = recording.mode.get()
        if before & CHECKED:
            check_call(op, attrs, inputs, outputs)
        try:
            recording.mode.set(before & ~recording.OBSERVED)
            if self._monitor_all:
                for word, x in zip(input_suffixes(op, attrs), inputs, strict=False):
                    self._callback(f"{name}_{word}", op.name, x)
            for i in range(op.num_visible(attrs)):
                self._callback(f"{name}_{output_suffix(op, attrs, i)}", op.name, outputs[i])
        finally:
            recording.mode.set(before)


# For each parameter added by a back end: the array that the back end set, and its version.
_backend_values: WeakKeyDictionary[Parameter, tuple[NDArray, int]] = WeakKeyDictionary()


def _versioned_value(parameter: Parameter) -> tuple[NDArray, int]:
    """Return a parameter's array on its first device, and the version of that array."""
    array = parameter.list_data()[0]
    return array, array._var.version


def _is_unmodified(parameter: Parameter) -> bool:
    array, version = _versioned_value(parameter)
    initial, initial_version = _backend_values[parameter]
    return array is initial and version == initial_version


def partitioned_outputs(
    block: Traceable,
    traced: Traced,
    arrays: Sequence[NDArray],
    backends: Sequence[tuple[str, Mapping[str, Any]]],
) -> Sequence[Value] | None:
    """Return the outputs of a traced call, partitioned by all back ends; None without any.

    Args:
        block: The block; parameters added by back ends become its trainable parameters. Each trace
            sets them to the back end's values, unless they were written since, such as by a
            Trainer or by loading.
        traced: The traced call.
        arrays: The arrays of the call, on a device where parameters have values.
        backends: Registered names and options; by default the back end of
            ``MXNET_SUBGRAPH_BACKEND``, if any.

    Raises:
        ConfigError: ``MXNET_SUBGRAPH_BACKEND`` is not registered.
        GraphError: A back end fails, or returns an invalid graph.
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
        elif parameter not in _backend_values or not _is_unmodified(parameter):
            return parameter._full_name
        parameter.set_data(array)
        _backend_values[parameter] = _versioned_value(parameter)
        return parameter._full_name

    partition = load("gluonish.symbol.partition").partition
    for name, options in backends:
        parameters = {p._full_name: p for p in block.collect_params().values()}
        used = [node.name for node in Symbol(outputs)._variables() if node.name in parameters]
        values = {key: parameters[key].data(context) for key in used}
        specs = {
            key: PartialSpec(x._spec.shape, x._spec.dtype) for key, x in {**values, **data}.items()
        }
        outputs = partition(what, outputs, name, options, specs, values, add)
    return outputs


class HybridGraph:
    """The graph of a block for calls whose arguments have the same pytree.

    Args:
        block: The block.
        pytree: The nesting of the call's arrays.
        arrays: The arrays of the first call.
        options: The options of `hybridize`.

    Raises:
        GraphError: The block cannot be traced, or reads a variable that is not its Parameter.

    Attributes:
        basis: The versions of the blocks that the graph was traced from; set by the caller.
    """

    __slots__ = (
        "_array_types",
        "_auxiliary",
        "_block",
        "_bound",
        "_cached",
        "_dynamic",
        "_lines",
        "_outputs",
        "_overrides_data",
        "_parameters",
        "_programs",
        "_pytree",
        "_traced",
        "basis",
    )

    def __init__(
        self,
        block: Traceable,
        pytree: Structure,
        arrays: Sequence[NDArray],
        options: HybridOptions,
    ) -> None:
        self.basis = Basis({}, Version.newest)
        self._block = ref(block)  # for messages
        self._traced = traced = trace_block(block, pytree, arrays)
        self._outputs = traced.outputs
        self._pytree = traced.pytree
        self._array_types = traced.array_types
        self._lines = traced.lines
        self._lines.locate = partial(located_message, self._block)
        self._auxiliary = set(self.symbol().list_auxiliary_states())
        variables = traced.variables()
        self._parameters = parameters_of(block, variables)
        self._overrides_data = any(type(p).data is not Parameter.data for p in self._parameters)
        # For each device: the parameters' arrays, and the last call bound to them.
        self._bound: dict[Device, Program[list[NDArray]]] = {}
        self._programs: dict[Device, Program[Callable[[Sequence[NDArray]], list[NDArray]]]] = {}
        # Whether shapes depend on values, in inference and in training.
        self._dynamic = [is_dynamic(self._outputs, train=train) for train in (False, True)]
        _finish_deferred(block, self._parameters, traced, arrays)
        if recording.mode.get() & recording.RECORDING:  # a backward pass will write gradients
            gradients = (x for p in self._parameters for x in (p._grads or {}).values())
            commit_soon(x._data for x in gradients if x.stype == "default")
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
            packs_weights=options.packs_weights,
        )

    def run(self, arrays: Sequence[NDArray], hook: tuple[Monitor, bool] | None = None) -> Any:
        """Run the graph on a call's arrays and the parameters on their device."""
        flags = recording.mode.get()
        if flags & recording.RECORDING or hook is not None:
            results = self._run_uncached(arrays, None, hook)
        else:
            version: list[object] = [Parameter.version, flags]
            for x in arrays:
                version.append(x._spec)
                version.append(x._device)
            program = self._programs.get(arrays[0]._device)
            if program is not None and program.version == version:
                results = program.work(arrays)
            else:
                results = self._run_uncached(arrays, version, None)
        if self._array_types is not None:
            results = [
                as_np_ndarray(x) if face is ndarray else as_nd_ndarray(x)
                for x, face in zip(results, self._array_types, strict=True)
            ]
        return results[0] if self._pytree is None else regroup(results, self._pytree)

    def _run_uncached(
        self, arrays: Sequence[NDArray], version: object | None, hook: tuple[Monitor, bool] | None
    ) -> list[NDArray]:
        """Run the graph, and cache the bound call under ``version`` unless it is None."""
        device = arrays[0]._device
        inputs = [*arrays, *self._bind(device)]
        flags = recording.mode.get()
        dynamic = self._dynamic[bool(flags & recording.TRAINING)]
        try:
            if dynamic or hook is not None:
                return self._by_operator(inputs, hook, dynamic=dynamic)
            if flags & CHECKED:
                return self._checked(inputs)
            results = self._cached(inputs)
        except OperatorError as error:
            self._lines.complete(error)
            block = self._block()
            if block is not None:
                locate_node(error, block)
            error.located = True
            raise
        if version is not None and not self._overrides_data:
            repeated = self._cached.repeated(inputs)
            if repeated is not None:
                self._programs[device] = Program((), version, repeated)
        return results

    def _checked(self, inputs: list[NDArray]) -> list[NDArray]:
        """Run the graph, and check its values."""
        origins = load("gluonish.gluon.block.graph_checks").origins_in
        found = origins(self._block(), self._lines, self._cached.name)
        checked: Callable[..., list[NDArray]] = load("gluonish.graph.value_checks").checked_run
        return checked(self._cached, inputs, partial(self._cached, inputs), found)

    def _bind(self, device: Device) -> list[NDArray]:
        """Return the parameters' arrays on a device, cached until any Parameter gets new arrays."""
        version, bound = Parameter.version, self._bound.get(device)
        # A user's Parameter class may return other arrays in each call: weights with dropout.
        if bound is None or self._overrides_data or bound.version != version:
            self._programs.pop(device, None)
            arrays = [parameter.data(device.context) for parameter in self._parameters]
            bound = self._bound[device] = Program((), version, arrays)
        return bound.work

    def _by_operator(
        self, inputs: Sequence[NDArray], hook: tuple[Monitor, bool] | None, *, dynamic: bool
    ) -> list[NDArray]:
        """Run the graph operator by operator, and report only to this graph's hook."""
        before = recording.mode.get()
        # Without a plan, operators run eagerly, and checks observe them.
        flags = before & ~(HOOKED if dynamic and hook is None else recording.OBSERVED)
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
        """The parameters that the graph reads."""
        return self._parameters

    def symbol(self) -> Symbol:
        """Return the traced computation as a Symbol."""
        return Symbol(self._outputs)

    def named_parameters(self) -> dict[str, NDArray]:
        """Return the parameters' values on the CPU under ``arg:`` and ``aux:`` names."""
        return values_by_name({p._full_name: p for p in self._parameters}, self._auxiliary)


class ImperativeCall:
    """Replaces the graph of a call that cannot be traced: runs the block imperatively.

    Args:
        block: The block.
        pytree: The nesting of the call's arrays.
        reason: Why there is no graph, for messages.
    """

    __slots__ = ("_arguments", "_block", "_reason", "basis")

    parameters: tuple[Parameter, ...] = ()  # empty, as each call reads them from the block

    def __init__(self, block: Traceable, pytree: Structure, reason: str) -> None:
        self._block = block
        self._arguments = pytree
        self._reason = reason
        self.basis = Basis({}, Version.newest)  # as in `HybridGraph`

    def run(self, arrays: Sequence[NDArray], hook: tuple[Monitor, bool] | None = None) -> Any:
        """Run ``forward`` on a call's arrays."""
        arguments = regroup(arrays, self._arguments)
        if hook is None:
            return call_packed(self._block._call_forward, arguments)
        with self._block.name_scope(), OpHookScope(hook):
            return call_packed(self._block._call_forward, arguments)

    def symbol(self) -> Symbol:
        """Raise a GraphError, as there is no graph."""
        raise GraphError(
            f"{self._block.name}: expected a block with a graph, got one that cannot be traced: "
            f"{self._reason}"
        )

    def named_parameters(self) -> dict[str, NDArray]:
        """Raise a GraphError, as `symbol` does."""
        self.symbol()
        return {}


Graph = HybridGraph | ImperativeCall


def graph_of_call(
    block: Traceable, pytree: Structure, arrays: Sequence[NDArray], options: HybridOptions
) -> Graph:
    """Return the HybridGraph of a call, or an ImperativeCall if it cannot be traced.

    Args:
        block: The block.
        pytree: The nesting of the call's arrays.
        arrays: The arrays of the first call.
        options: The options of `hybridize`.
    """
    if block._untraceable is not None:
        return ImperativeCall(block, pytree, block._untraceable)
    try:
        return HybridGraph(block, pytree, arrays, options)
    except NoValuesError as error:
        _disable_graphs(block, error)
        return ImperativeCall(block, pytree, str(error))
    except UntraceableError as error:
        return ImperativeCall(block, pytree, str(error))


def _disable_graphs(block: Traceable, error: NoValuesError) -> None:
    """Disable the graphs of a block and the child blocks that raised the error; warn once."""
    reason, traceback = str(error), error.__traceback__
    line = innermost(traceback)
    block._untraceable = reason
    while traceback is not None:
        inner: Any = traceback.tb_frame.f_locals.get("self")
        if hasattr(inner, "_untraceable"):
            inner._untraceable = reason
        traceback = traceback.tb_next
    if line is None:  # the result is invalid
        code = type(block).forward.__code__
        line = Line(code.co_filename, code.co_firstlineno, code.co_name)
    message = f"{block.name}: hybridized, but runs without a graph; {with_line(reason, line)}"
    warnings.warn_explicit(message, UserWarning, line.file, line.number)


def parameters_of(block: Traceable, variables: Sequence[Node]) -> list[Parameter]:
    """Return the parameters that the variables of a block's graph stand for.

    Raises:
        GraphError: A variable is not a parameter of the block.
    """
    by_name = {parameter._full_name: parameter for parameter in block.collect_params().values()}
    unknown = [node.name for node in variables if node.name not in by_name]
    if unknown:
        raise GraphError(
            f"{block.name}: expected every variable of the graph to be an input or a Parameter of "
            f"the block, got {unknown}; assign the block or Parameter as an attribute"
        )
    return [by_name[node.name] for node in variables]


def _finish_deferred(
    block: Traceable, parameters: Sequence[Parameter], traced: Traced, arrays: Sequence[NDArray]
) -> None:
    if not any(p._arrays is None and p._deferred_init is not None for p in parameters):
        return
    if not is_symbolic(block) or defines_infer_shape(type(block)):
        set_deferred_shapes(block, regroup(arrays, traced.arguments), parameters)
        return
    infer_from_graph(block, traced, arrays, shapes=True)
    for parameter in parameters:
        parameter._finish_deferred_init()
