"""The eager path: infer, allocate, push, and lay down a tape node while recording.

`invoke` is what every operator call on NDArrays comes to, so nothing on it may be slow (STYLE.md,
"The hot path").
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from operator import attrgetter
from typing import Any

from gluonish.core.context import Context, current_context
from gluonish.core.device import Device, Lane, device_of
from gluonish.core.dtype import UINT8
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeviceError
from gluonish.core.out_of_memory import allocate
from gluonish.core.random_state import next_key
from gluonish.core.spec import Spec
from gluonish.engine import current_engine, submit
from gluonish.ndarray import recording
from gluonish.ndarray.copying import copy_into, on_one_cpu
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, TRAINING, WATCHED, OperatorNode
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.at_once import fill_at_once
from gluonish.ops.support.memory_layout import (
    array_of,
    follows_layout,
    has_channels,
    keeps_layout,
    starts_layout,
)
from gluonish_engine import Var

# The same limit as LIGHT_INLINE_SIZE for operators that do much work on each element, such as
# convolutions.
HEAVY_INLINE_SIZE = 1 << 15
# And for those that no team has a kernel for. Handing them over costs as much as they do, and all
# small work that follows goes to the worker, too, since it waits for them.
LONE_INLINE_SIZE = 1 << 18

# Elements from which on it pays to lay channels out last.
_LAID_OUT = 1 << 12

# Bytes of an array that is worth a wait, and how many operators that make such run ahead.
_BULKY = 1 << 20
_AHEAD = 1
_under_way: defaultdict[Lane, deque[Var]] = defaultdict(deque)  # what the last of them write

# How many of the others may be, so that a loop that never waits holds less than 256 MiB of results.
_SMALL_AHEAD = 256
_small: defaultdict[Lane, deque[Var]] = defaultdict(deque)

# Mapped over the inputs, these cost less than a comprehension does.
_data_of, _link_of = attrgetter("_data"), attrgetter("_link")
_spec_of, _var_of = attrgetter("_spec"), attrgetter("_var")


def invoke(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
    """Run an operator eagerly: this is ``NDArray.__apply__``.

    Args:
        op: The operator.
        inputs: NDArrays on one device; other values that know operators take the call over.
        attrs: Parsed attributes.
        out: Receives the visible outputs instead of new arrays.

    Returns:
        The output as an NDArray, or a list of the visible outputs where there are several.

    Raises:
        DeviceError: The arrays lie on several devices.
        OutOfMemoryError: There is no memory for the result.
        ArgumentTypeError: An input is no array.
        ArgumentError: ``out`` has another shape or dtype than the result.
    """
    try:
        specs = list(map(_spec_of, inputs))
        device: Device = inputs[0]._device
        for x in inputs:
            if x._device is not device:
                return invoke(op, _gathered(op, inputs, attrs), attrs, out)
    except AttributeError:
        return _delegate(op, inputs, attrs, out)
    flags = recording.mode.get()
    out_specs = op.infer(*specs, **attrs)
    if not op.plain:
        divert = op.diverted
        if divert is not None and (taken := divert(inputs, attrs, out)) is not NotImplemented:
            return taken
        attrs = runtime_attrs(op, attrs, flags, device)
        out_specs = measured_specs(op, inputs, attrs, out_specs, device)
    if out is not None:
        results = _given_outputs(op, out, inputs, out_specs, device)
    else:
        try:
            if len(out_specs[0].shape) > 2 and device.is_host:
                results = _new_outputs(op, inputs, attrs, out_specs, device)
            else:
                kind = type(inputs[0])  # arrays of ``np`` give arrays of ``np``
                results = [
                    kind(device.empty(spec.shape, spec.dtype), spec, device, Var())
                    for spec in out_specs
                ]
        except (MemoryError, ValueError):
            make = partial(_new_outputs, op, inputs, attrs, out_specs, device)
            results = allocate(make, op.name, out_specs, device.context)
    run(op, inputs, attrs, results, device, given=out is not None)
    if flags & RECORDING and op.gradient is not None:
        record_call(op, inputs, attrs, results)
    if flags & WATCHED:
        recording.watcher.get()(op, attrs, inputs, results)
    if op.single and out is None:
        return results[0]
    return _handed_back(op, attrs, results, out)


def _handed_back(op: Operator, attrs: Attrs, results: Sequence[NDArray], out: Any) -> Any:
    """Return the visible outputs as a caller gets them: an NDArray, a list, or ``out`` itself."""
    shown = results[: op.num_visible(attrs)]
    if out is not None:
        return _deliver(out, shown)
    return shown[0] if len(shown) == 1 else shown


def _new_outputs(
    op: Operator, inputs: Sequence[NDArray], attrs: Attrs, specs: Sequence[Spec], device: Device
) -> list[NDArray]:
    """Return outputs that may have axes of channels, laid out for the operator."""
    rank = len(specs[0].shape)
    if not device.is_host:
        last = False
    elif starts_layout(op, attrs):
        large = specs[0].size > _LAID_OUT and not (
            inputs[0]._data.flags.c_contiguous and keeps_layout(attrs)
        )
        given = [x._spec for x in inputs]
        last = large and op.select_fast(device.platform, given, attrs) is not None
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
    given: bool = False,
) -> None:
    """Push the kernel of an operator that fills ``results``, which are allocated.

    Args:
        op: The operator.
        inputs: Its inputs.
        attrs: Its attributes.
        results: Its outputs.
        device: Where all of them are.
        given: Whether results may be arrays that the program has already, and may look at from a
            handler in the middle of the kernel.
    """
    kernel = op.kernel
    first = results[0]
    limit = HEAVY_INLINE_SIZE if op.heavy else LIGHT_INLINE_SIZE
    inline = first._data.size <= limit and (not inputs or inputs[0]._data.size <= limit)
    on_team = False
    if op.may_be_fast and not (inline and op.large_only):
        kernel, on_team, small = op.chosen_kernel(
            device.platform, list(map(_spec_of, inputs)), attrs
        )
        inline = inline or (on_team and (small or not inputs))
    if not inline and kernel is op.kernel and not op.heavy:
        inline = max([x._data.size for x in (*results, *inputs)]) <= LONE_INLINE_SIZE
    if given and inline and kernel is op.kernel and not op.at_once and device.is_host:
        kernel = partial(fill_at_once, kernel)
    if op.single:
        out, writes = first._data, [first._var]
    else:
        out, writes = tuple(map(_data_of, results)), list(map(_var_of, results))
    if op.mutates:
        writes += [inputs[i]._var for i in op.mutated_inputs(attrs)]
    inline = submit(
        partial(kernel, device.xp, out, *map(_data_of, inputs), **attrs),
        list(map(_var_of, inputs)),
        writes,
        device.lane,
        op.name,
        small=inline,
        on_team=on_team,
    )
    if not inline:
        keep_pace(device, first)


def keep_pace(device: Device, made: NDArray) -> None:
    """Wait until no more than two large operators of a CPU are under way.

    A worker that has one waiting loses no time. A caller that runs further ahead gains none, and
    each array it asks for is new memory that no cache holds, where one could be used again. Of
    those with smaller results, 256 may be under way.

    Args:
        device: Where the last operator runs.
        made: What it writes.
    """
    if not device.is_host:
        return
    if made._data.nbytes >= _BULKY:
        running, most = _under_way[device.lane], _AHEAD
    else:
        running, most = _small[device.lane], _SMALL_AHEAD
    running.append(made._var)
    if len(running) > most:
        current_engine().settle(running.popleft())


def runtime_attrs(op: Operator, attrs: Attrs, flags: int, device: Device) -> dict[str, Any]:
    """Return attributes with what only the moment of the call knows: training and random key."""
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
    """Return output specs that are known: where they follow from values, those are waited for.

    A device with streams computes them in an engine operation, in order with its other work.
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
    """Lay down a tape node for a call that was run, unless no gradient can flow to its inputs."""
    parents = list(map(_link_of, inputs))
    if not any(parents):
        return
    node = OperatorNode(op, attrs, inputs, parents, len(results))
    if op.gradient_uses_output:
        node.outputs = [y.detach() for y in results]
    for i, result in enumerate(results):
        result._link = (node, i)


def _given_outputs(
    op: Operator, out: Any, inputs: Sequence[NDArray], specs: Sequence[Spec], device: Device
) -> list[NDArray]:
    """Return arrays for the kernel to fill: those of ``out``, new ones where that is not safe."""
    wanted = _listed(out)
    results = []
    for spec, given in zip_longest(specs, wanted[: len(specs)]):
        if given is None:
            results.append(empty_like_spec(spec, device, owner=op.name))
            continue
        _check_output(op, given, spec)
        if given.stype != "default":
            results.append(empty_like_spec(spec, device, owner=op.name))
            continue
        # The kernel may overwrite what it has yet to read, unless it works element by element and
        # both are the same array.
        safe = given._device is device and all(
            given._var is not x._var or (op.elementwise and given._data is x._data) for x in inputs
        )
        # Kernels that do not know of layouts fill contiguous arrays.
        safe = safe and (given._data.flags.c_contiguous or follows_layout(op))
        results.append(
            given.detach() if safe else empty_like_spec(spec, device, type(given), op.name)
        )
    return results


def _check_output(op: Operator, given: Any, spec: Spec) -> None:
    if not isinstance(given, NDArray):
        raise ArgumentTypeError(
            f"{op.name}: expected out to be an NDArray, got {type(given).__name__}"
        )
    given._check_writable(f"{op.name} with out")
    if given._spec != spec:
        kind = ArgumentError if given.dtype == spec.dtype else ArgumentTypeError
        raise kind(f"{op.name}: expected out to be {spec}, got {given._spec}")


def _deliver(out: Any, results: Sequence[NDArray]) -> Any:
    """Hand results to ``out`` and return it: copy where another was filled, link the tape."""
    for given, result in zip(_listed(out), results, strict=False):
        if given.stype != "default":
            result.detach().copyto(given)
        elif given._var is not result._var:
            copy_into(result, given)
        if result._link is not None:
            given._link = result._link
    return out


def _listed(out: Any) -> Sequence[Any]:
    return out if isinstance(out, list | tuple) else [out]


def _delegate(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any) -> Any:
    """Hand a call with other values than dense arrays to their kind, or say which one is wrong."""
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
                f"{op.name}: expected {name} to be an NDArray, got {type(x).__name__}"
            )
    for x in inputs:
        if isinstance(x, NDArray) and x.stype != "default":
            apply = x.__apply__
            return apply(op, inputs, attrs, out)
    raise ArgumentTypeError(f"{op.name}: expected NDArrays, got {inputs!r}")


def _gathered(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> list[NDArray]:
    """Return the inputs on one device, which host memory beside a CPU allows.

    Raises:
        DeviceError: The devices do not mix, or the operator would overwrite what was moved.
    """
    moved = on_one_cpu(inputs)
    if moved is None or any(moved[i] is not inputs[i] for i in op.mutated_inputs(attrs)):
        devices = ", ".join(str(x.context) for x in inputs)
        raise DeviceError(
            f"{op.name}: expected arrays on one device, got {devices}; move them with as_in_context"
        )
    return moved


def parse_context(ctx: Context | str | None) -> Context | None:
    """Return the device that a Context or its text, ``"cpu(0)"``, names; None for none."""
    if ctx is None or isinstance(ctx, Context):
        return ctx
    if not isinstance(ctx, str):
        raise ArgumentTypeError(f"ctx: expected a Context or its text, got {ctx!r}")
    if not ctx:
        return None
    device_type, _, number = ctx.rstrip(")").partition("(")
    return Context(device_type, int(number or 0))


def source(op: Operator, attrs: Attrs, ctx: Context | str | None, out: Any = None) -> Any:
    """Run an operator without inputs on a device: creation and random numbers.

    While a `forward` is traced, random numbers and what the program's own code makes become part of
    the graph, so that each call of it makes them anew.
    """
    tracer = recording.tracer.get()
    if tracer is not None and (op.random or op.live) and out is None:
        return tracer.source(op, attrs)
    context = parse_context(ctx) if out is None else _listed(out)[0].context
    device = device_of(context or current_context())
    specs = op.infer(**attrs)
    flags = recording.mode.get()
    attrs = runtime_attrs(op, attrs, flags, device)
    if out is None:
        results = [empty_like_spec(spec, device, owner=op.name) for spec in specs]
    else:
        results = _given_outputs(op, out, (), specs, device)
    run(op, (), attrs, results, device)
    if flags & WATCHED and op.random:
        recording.watcher.get()(op, attrs, (), results)
    results = results[: op.num_visible(attrs)]
    if out is not None:
        return _deliver(out, results)
    return results[0] if len(results) == 1 else results
