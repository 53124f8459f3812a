"""Eager execution of operators: infer shapes, allocate, push to the engine, record on the tape.

Every operator call on NDArrays goes through `invoke`, so nothing in it may be slow (STYLE.md, "The
hot path").
"""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from operator import attrgetter
from typing import Any

from gluonish.core.context import Context, current_context, parse_context
from gluonish.core.device import Device, Lane, device_of
from gluonish.core.dtype import UINT8
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeviceError
from gluonish.core.habits import described_value
from gluonish.core.mode_reads import mode_reads
from gluonish.core.out_of_memory import allocate, empty_or_raise
from gluonish.core.random_state import next_key
from gluonish.core.spec import Spec
from gluonish.engine import current_engine, submit
from gluonish.ndarray import recording
from gluonish.ndarray.copying import copy_into, gather_on_cpu
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray, empty_like_spec
from gluonish.ndarray.numpy_operands import converted_inputs
from gluonish.ndarray.prepared_call import MIN_CHANNELS_LAST, PreparedCall, prepare
from gluonish.ndarray.recording import OBSERVED, RECORDING, TRAINING, OperatorNode
from gluonish.ops.kernel import Kernel
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.host import fill_at_once
from gluonish.ops.support.memory_layout import (
    array_of,
    follows_layout,
    has_channels,
    keeps_layout,
    starts_layout,
)
from gluonish_engine import Var

# LIGHT_INLINE_SIZE for operators that do much work per element, such as convolutions.
HEAVY_INLINE_SIZE = 1 << 15
# LIGHT_INLINE_SIZE for operators without a multi-threaded kernel: a hand-off costs as much as the
# operator, and small operators that depend on its result would go to the worker, too.
LONE_INLINE_SIZE = 1 << 18

# A result of at least this many bytes is large; at most _MAX_PENDING_LARGE operators with large
# results are pending per lane.
_LARGE_BYTES = 1 << 20
_MAX_PENDING_LARGE = 1
_pending_large: defaultdict[Lane, deque[Var]] = defaultdict(deque)  # variables of the large results

# The limit for small results: a loop that never waits holds less than 256 MiB of them.
_MAX_PENDING_SMALL = 256
_pending_small: defaultdict[Lane, deque[Var]] = defaultdict(deque)

# `map` over these costs less than a comprehension.
_device_of = attrgetter("_device")
_data_of, _link_of = attrgetter("_data"), attrgetter("_edge")
_spec_of, _var_of = attrgetter("_spec"), attrgetter("_var")
_new: Callable[[type[NDArray]], NDArray] = object.__new__


def invoke(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
    """Run an operator eagerly and return its visible outputs; implements ``NDArray.__apply__``.

    A call like an earlier one is prepared; see `gluonish.ndarray.prepared_call`.

    Args:
        op: The operator.
        inputs: NDArrays on one device. Inputs of other classes handle the call in ``__apply__``.
        attrs: Parsed attributes.
        out: Array, or list of arrays, to store the visible outputs in.

    Raises:
        DeviceError: The arrays are on different devices.
        OutOfMemoryError: There is no memory for the result.
        ArgumentTypeError: An input is not an array.
        ArgumentError: ``out`` differs from the result in shape or dtype.
    """
    key: tuple[Any, ...]
    try:
        first = inputs[0]
        device: Device = first._device
        if len(inputs) == 2:
            second = inputs[1]
            key = (type(first), first._spec, second._spec)
            together = second._device is device
        else:
            key = (type(first), *map(_spec_of, inputs))
            together = list(map(_device_of, inputs)).count(device) == len(inputs)
    except AttributeError:
        return _delegate(op, inputs, attrs, out)
    if not together:
        return invoke(op, _gathered(op, inputs, attrs), attrs, out)
    if out is not None:
        return _invoke_anew(op, inputs, attrs, out, device, ())
    if not device.is_host:
        launched = _launched(op, inputs, attrs, device)
        return _invoke_anew(op, inputs, attrs, None, device, ()) if launched is None else launched
    if attrs:
        signature = op.signature
        key = (*key, *attrs.items()) if signature is None else (*key, signature(attrs))
    try:
        call: PreparedCall | None = op.prepared.get(key)
    except TypeError:  # an attribute cannot be hashed
        return _invoke_anew(op, inputs, attrs, out, device, ())
    if call is None or (call.checks and not call.holds(inputs)):
        known = call is not None and call.is_current()
        return _invoke_anew(op, inputs, attrs, out, device, () if known else key)
    return _run_prepared(call, op, inputs, attrs, device)


def _run_prepared(
    call: PreparedCall, op: Operator, inputs: Sequence[NDArray], attrs: Attrs, device: Device
) -> NDArray:
    """Return the result of a prepared call."""
    try:
        raw = device.empty(call.shape, call.dtype)
    except (MemoryError, ValueError):
        raw = empty_or_raise(device, call.shape, call.dtype, op.name)
    # As `NDArray.__init__` does, which would be a Python call more.
    result: NDArray = _new(call.kind)
    result._data = raw
    result._spec = call.spec
    result._device = device
    result._var = var = Var()
    result._edge = None
    result._truth = False
    reads: tuple[Var, ...]
    arguments: tuple[Any, ...]
    count = call.count
    if count == 2:
        first, second = inputs
        reads = (first._var, second._var)
        arguments = (device.xp, raw, first._data, second._data)
    elif count == 1:
        (first,) = inputs
        reads = (first._var,)
        arguments = (device.xp, raw, first._data)
    else:
        reads = tuple(map(_var_of, inputs))
        arguments = (device.xp, raw, *map(_data_of, inputs))
    kernel = partial(call.kernel, **attrs) if attrs else call.kernel
    if not call.small or not current_engine().run_inline(
        kernel, reads, (var,), op.name, arguments, True
    ):
        _push_prepared(call, op, partial(kernel, *arguments), reads, result)
    flags = recording.mode.get()
    if flags:
        if flags & RECORDING and op.gradient is not None:
            record_call(op, inputs, attrs, (result,))
        if flags & OBSERVED:
            recording.observer.get()(op, attrs, inputs, [result])
    return result


def _push_prepared(
    call: PreparedCall, op: Operator, launch: Any, reads: Sequence[Var], result: NDArray
) -> None:
    """Push the kernel of a prepared call that cannot run at once."""
    lane, writes = result._device.lane, (result._var,)
    if not submit(launch, reads, writes, lane, op.name, small=call.inline, on_team=call.on_team):
        limit_pending(result._device, result)


def _invoke_anew(
    op: Operator,
    inputs: Sequence[Any],
    attrs: Attrs,
    out: Any,
    device: Device,
    key: tuple[Any, ...],
) -> Any:
    """Run an operator whose call is not prepared, and prepare it under ``key`` if possible."""
    specs = list(map(_spec_of, inputs))
    flags = recording.mode.get()
    prepared = op.prepared  # read first: the operator may change during the call
    if key and op.stateless and op.single and not (op.mutates or op.live):
        before = mode_reads()
        out_specs = op.infer(*specs, **attrs)
        if mode_reads() != before + 1:  # the result depends on a mode, which `key` lacks
            key = ()
    else:
        key = ()
        out_specs = op.infer(*specs, **attrs)
    if not op.stateless:
        divert = op.overridden
        if divert is not None and (result := divert(inputs, attrs, out)) is not NotImplemented:
            return result
        attrs = runtime_attrs(op, attrs, flags, device)
        out_specs = measured_specs(op, inputs, attrs, out_specs, device)
    if out is not None:
        results = _out_arrays(op, out, inputs, out_specs, device)
    else:
        try:
            if len(out_specs[0].shape) > 2 and device.is_host:
                results = _new_outputs(op, inputs, attrs, out_specs, device)
            else:
                kind = type(inputs[0])  # ``np`` arrays yield ``np`` arrays
                results = [
                    kind(device.empty(spec.shape, spec.dtype), spec, device, Var())
                    for spec in out_specs
                ]
        except (MemoryError, ValueError):
            make = partial(_new_outputs, op, inputs, attrs, out_specs, device)
            results = allocate(make, op.name, out_specs, device.context)
    run(op, inputs, attrs, results, device, into_out=out is not None)
    if key:  # behind the first use of the kernels
        choice = _choice(op, inputs, attrs, results, device)
        prepare(op, prepared, key, attrs, specs, results[0], choice)
    if flags & RECORDING and op.gradient is not None and any(map(_link_of, inputs)):
        record_call(op, inputs, attrs, results)
    if flags & OBSERVED:
        recording.observer.get()(op, attrs, inputs, results)
    return results[0] if op.single and out is None else _visible(op, attrs, results, out)


def _launched(
    op: Operator, inputs: Sequence[NDArray], attrs: Attrs, device: Device
) -> NDArray | None:
    """Return the result of a prepared launch of an operator; None if there is none."""
    ready = None if device.launches is None or not op.stateless else device.launches[op]
    if ready is None:
        return None
    engine = current_engine()
    if not engine.launches_at_once or engine.on_push is not None:
        return None
    launch = ready[(*map(_spec_of, inputs), *attrs.items())]
    bound = None if launch is None else launch.bind(*map(_data_of, inputs))
    if launch is None or bound is None:
        return None
    raw, arguments = bound
    result = type(inputs[0])(raw, launch.spec, device, Var())
    reads, writes = list(map(_var_of, inputs)), [result._var]
    started = engine.launch(arguments[0], reads, writes, device.lane, op.name)
    launch.restore(arguments)
    if not started:
        return None
    flags = recording.mode.get()
    if flags & RECORDING and op.gradient is not None and any(map(_link_of, inputs)):
        record_call(op, inputs, attrs, [result])
    if flags & OBSERVED:
        recording.observer.get()(op, attrs, inputs, [result])
    return result


def _visible(op: Operator, attrs: Attrs, results: Sequence[NDArray], out: Any) -> Any:
    """Return the visible outputs: an NDArray, a list of several, or ``out`` itself."""
    visible = results[: op.num_visible(attrs)]
    if out is not None:
        return _store_in_out(out, visible)
    return visible[0] if len(visible) == 1 else visible


def _new_outputs(
    op: Operator, inputs: Sequence[NDArray], attrs: Attrs, specs: Sequence[Spec], device: Device
) -> list[NDArray]:
    """Allocate the outputs, with channels last in memory where that is fast for the operator."""
    rank = len(specs[0].shape)
    if not device.is_host:
        last = False
    elif starts_layout(op, attrs):
        large = specs[0].size > MIN_CHANNELS_LAST and not (
            inputs[0]._data.flags.c_contiguous and keeps_layout(attrs)
        )
        in_specs = [x._spec for x in inputs]
        fast = op.select_fast(device.platform, in_specs, attrs) if large else None
        last = fast is not None and not fast.contiguous
    else:
        last = follows_layout(op) and any(
            not x._data.flags.c_contiguous for x in inputs if x._data.ndim == rank
        )
    kind = type(inputs[0])
    results = []
    for spec in specs:
        if last and has_channels(spec):
            memory = device.empty((spec.nbytes,), UINT8)
            raw = array_of(memory, spec, channels_last=True)
        else:
            raw = device.empty(*spec)
        results.append(kind(raw, spec, device, Var()))
    return results


def run(
    op: Operator,
    inputs: Sequence[NDArray],
    attrs: Attrs,
    results: Sequence[NDArray],
    device: Device,
    *,
    into_out: bool = False,
) -> None:
    """Push the kernel of an operator to fill ``results``.

    Args:
        op: The operator.
        inputs: Input arrays.
        attrs: Attributes.
        results: Allocated output arrays.
        device: Device of all arrays.
        into_out: Whether results may be the caller's ``out`` arrays, which a signal handler may
            read while the kernel runs.
    """
    first = results[0]
    kernel, inline, on_team, _ = _choice(op, inputs, attrs, results, device)
    if into_out and inline and kernel is op.kernel and not op.at_once and device.is_host:
        kernel = partial(fill_at_once, kernel)
    if op.single:
        out, writes = first._data, [first._var]
    else:
        out, writes = tuple(map(_data_of, results)), list(map(_var_of, results))
    if op.mutates:
        writes += [inputs[i]._var for i in op.mutated_inputs(attrs)]
    launch = partial(kernel, device.xp, out, *map(_data_of, inputs), **attrs)
    reads = list(map(_var_of, inputs))
    if device.is_host:
        if not submit(launch, reads, writes, device.lane, op.name, small=inline, on_team=on_team):
            limit_pending(device, first)
    else:
        current_engine().push(launch, reads, writes, device.lane, 0, op.name)


def _choice(
    op: Operator,
    inputs: Sequence[NDArray],
    attrs: Attrs,
    results: Sequence[NDArray],
    device: Device,
) -> tuple[Kernel, bool, bool, bool]:
    """Return how a call runs.

    Returns:
        The kernel, whether it is worth no worker, whether it runs on a team of threads, and whether
        that was chosen among several kernels.
    """
    kernel = op.kernel
    limit = HEAVY_INLINE_SIZE if op.heavy else LIGHT_INLINE_SIZE
    inline = results[0]._data.size <= limit and (not inputs or inputs[0]._data.size <= limit)
    on_team = False
    chosen = op.may_be_fast and not (inline and op.large_only)
    if chosen:
        kernel, on_team, small = op.chosen_kernel(
            device.platform, list(map(_spec_of, inputs)), attrs
        )
        inline = inline or (on_team and (small or not inputs))
    if not inline and kernel is op.kernel and not op.heavy:
        inline = max([x._data.size for x in (*results, *inputs)]) <= LONE_INLINE_SIZE
    return kernel, inline, on_team, chosen


def limit_pending(device: Device, made: NDArray) -> None:
    """Wait until few enough CPU operators are pending: two with large results, 256 with small.

    One queued operator keeps a worker busy. A caller that runs further ahead gains nothing, and
    each of its results is allocated in memory that is not in a cache, where freed memory could be
    reused.

    Args:
        device: Device of the last operator.
        made: The last operator's result.
    """
    if not device.is_host:
        return
    if made._data.nbytes >= _LARGE_BYTES:
        pending, limit = _pending_large[device.lane], _MAX_PENDING_LARGE
    else:
        pending, limit = _pending_small[device.lane], _MAX_PENDING_SMALL
    pending.append(made._var)
    if len(pending) > limit:
        current_engine().wait_written(pending.popleft())


def runtime_attrs(op: Operator, attrs: Attrs, flags: int, device: Device) -> dict[str, Any]:
    """Return the attributes of a call, with the training mode and a random key where used."""
    extended = dict(attrs)
    if op.train_dependent:
        extended["train"] = bool(flags & TRAINING)
    if op.draws(attrs):
        extended["key"] = next_key(device.context)
    return extended


def measured_specs(
    op: Operator,
    inputs: Sequence[NDArray],
    attrs: Attrs,
    specs: tuple[Spec, ...],
    device: Device,
) -> tuple[Spec, ...]:
    """Return the output specs, after waiting for the input values where shapes depend on them.

    A device with streams measures in an engine operation, in order with its other work.
    """
    if op.measure is None:
        return specs
    measure = partial(op.measure, device.xp, *map(_data_of, inputs), **attrs)
    found: list[Any] = []
    if device.streams:
        known = Var()
        engine = current_engine()
        reads = list(map(_var_of, inputs))
        engine.push(lambda: found.extend(measure()), reads, [known], device.lane, 0, op.name)
        engine.wait(known)
    else:
        for x in inputs:
            x.wait_to_read()
        found = list(measure())
    return tuple(
        spec._replace(shape=tuple(shape)) for spec, shape in zip(specs, found, strict=True)
    )


def record_call(
    op: Operator, inputs: Sequence[NDArray], attrs: Attrs, results: Sequence[NDArray]
) -> None:
    """Record a call on the tape, unless no input requires a gradient."""
    parents = list(map(_link_of, inputs))
    if not any(parents):
        return
    node = OperatorNode(op, attrs, inputs, parents, len(results))
    if op.gradient_uses_output:
        node.outputs = [y.detach() for y in results]
    for i, result in enumerate(results):
        result._edge = (node, i)


def _out_arrays(
    op: Operator, out: Any, inputs: Sequence[NDArray], specs: Sequence[Spec], device: Device
) -> list[NDArray]:
    """Return the arrays for the kernel to fill: ``out``, or temporaries where that is not safe."""
    results = []
    for spec, target in zip_longest(specs, _as_list(out)[: len(specs)]):
        if target is None:
            results.append(empty_like_spec(spec, device, owner=op.name))
            continue
        _check_out(op, target, spec)
        if target.stype != "default":
            results.append(empty_like_spec(spec, device, owner=op.name))
            continue
        # An output may alias an input only if the kernel is elementwise and both are the same
        # array: else the kernel may overwrite elements before it reads them.
        safe = target._device is device and all(
            target._var is not x._var or (op.elementwise and target._data is x._data)
            for x in inputs
        )
        # Kernels that ignore layouts fill contiguous arrays.
        safe = safe and (target._data.flags.c_contiguous or follows_layout(op))
        results.append(
            target.detach() if safe else empty_like_spec(spec, device, type(target), op.name)
        )
    return results


def _check_out(op: Operator, target: Any, spec: Spec) -> None:
    if not isinstance(target, NDArray):
        raise ArgumentTypeError(
            f"{op.name}: expected out to be an NDArray, got {type(target).__name__}"
        )
    target._check_writable(f"{op.name} with out")
    if target._spec != spec:
        kind = ArgumentError if target.dtype == spec.dtype else ArgumentTypeError
        raise kind(f"{op.name}: expected out to be {spec}, got {target._spec}")


def _store_in_out(out: Any, results: Sequence[NDArray]) -> Any:
    """Return ``out`` with the results: copy those computed in temporaries, set the producers."""
    for target, result in zip(_as_list(out), results, strict=False):
        if target.stype != "default":
            result.detach().copyto(target)
        elif target._var is not result._var:
            copy_into(result, target)
        if result._edge is not None:
            target._edge = result._edge
    return out


def _as_list(out: Any) -> Sequence[Any]:
    return out if isinstance(out, list | tuple) else [out]


def _delegate(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any) -> Any:
    """Dispatch a call with inputs that are not dense arrays to ``__apply__`` of their class.

    NumPy arrays among the inputs are copied to NDArrays.
    """
    converted = converted_inputs(op, inputs)
    if converted is not None:
        return invoke(op, converted, attrs, out)
    for x in (*inputs, out):
        if isinstance(x, NDArray) and x.is_traced:
            apply: Any = x.__apply__
            return apply(op, inputs, attrs, out)
    names = op.input_names(attrs)
    for name, x in zip(names, inputs, strict=False):
        if not isinstance(x, NDArray):
            if hasattr(x, "__apply__"):
                return type(x).__apply__(op, inputs, attrs)
            raise ArgumentTypeError(
                f"{op.name}: expected {name} to be an NDArray, got {described_value(x)}"
            ) from None
    for x in inputs:
        if isinstance(x, NDArray) and x.stype != "default":
            apply = x.__apply__
            return apply(op, inputs, attrs, out)
    raise ArgumentTypeError(f"{op.name}: expected NDArrays, got {inputs!r}") from None


def _gathered(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> list[NDArray]:
    """Return the inputs on one device: arrays in pinned or shared memory are copied to the CPU.

    Raises:
        DeviceError: The devices cannot be mixed, or the operator would write to a copy.
    """
    gathered = gather_on_cpu(inputs)
    if gathered is None or any(gathered[i] is not inputs[i] for i in op.mutated_inputs(attrs)):
        devices = ", ".join(str(x.context) for x in inputs)
        raise DeviceError(
            f"{op.name}: expected arrays on one device, got {devices}; move them with as_in_context"
        )
    return gathered


def source(op: Operator, attrs: Attrs, ctx: Context | str | None, out: Any = None) -> Any:
    """Run an operator without inputs, such as a creation or sampling operator, on a device.

    While a `forward` is traced, random and live operators become nodes of the graph, so that every
    call of the graph runs them again.
    """
    tracer = recording.tracer.get()
    if tracer is not None and (op.random or op.live) and out is None:
        return tracer.source(op, attrs)
    context = parse_context(ctx) if out is None else _as_list(out)[0].context
    device = device_of(context or current_context())
    specs = op.infer(**attrs)
    flags = recording.mode.get()
    attrs = runtime_attrs(op, attrs, flags, device)
    if out is None:
        results = [empty_like_spec(spec, device, owner=op.name) for spec in specs]
    else:
        results = _out_arrays(op, out, (), specs, device)
    run(op, (), attrs, results, device)
    if flags & OBSERVED and op.random:
        recording.observer.get()(op, attrs, (), results)
    return _visible(op, attrs, results, out)
