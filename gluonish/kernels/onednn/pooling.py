"""Max and average pooling in 1 to 3 dimensions, forward and backward.

The backward of max pooling needs to know which element won: its plan runs the forward again into
scratch, which costs less than keeping indices that the operator's interface has no place for.

What MXNet computes and the library does not is left to the reference kernel: sums and other norms;
windows without a single element of data; and with the convention "full", averages that count
padding in windows that reach beyond the padding, where MXNet divides by the part inside.
"""

from typing import Any, NamedTuple

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind, dims
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Array, signature
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor

__all__ = ["pooling", "pooling_backward", "supports_pooling"]

Ints = tuple[int, ...]

_ALGORITHMS = {
    ("max", False): AlgorithmKind.POOLING_MAX,
    ("max", True): AlgorithmKind.POOLING_MAX,
    ("avg", False): AlgorithmKind.POOLING_AVG_EXCLUDE_PADDING,
    ("avg", True): AlgorithmKind.POOLING_AVG_INCLUDE_PADDING,
}


class _Window(NamedTuple):
    """The attributes, completed; ``pad_after`` is what makes the last window fit."""

    algorithm: AlgorithmKind
    kernel: Ints
    stride: Ints
    pad: Ints
    pad_after: Ints

    def arguments(self) -> tuple[Any, ...]:
        """Strides, kernel, dilations, padding before and after."""
        dense = (0,) * len(self.kernel)
        return tuple(map(dims, (self.stride, self.kernel, dense, self.pad, self.pad_after)))


def supports_pooling(
    out: Array,
    data: Array,
    *,
    kernel: Ints = (),
    stride: Ints = (),
    pad: Ints = (),
    pool_type: str = "max",
    pooling_convention: str = "valid",
    count_include_pad: bool | None = True,
    global_pool: bool = False,
) -> bool:
    """Whether `pooling` and `pooling_backward` take these arrays.

    Args:
        out: (N, C, *pooled), or its gradient.
        data: (N, C, *spatial), or its gradient.
        kernel: Window, one number an axis; 1 to 3 axes. Not used with ``global_pool``.
        stride: Steps of the window; () for 1.
        pad: Padding before and after each axis; () for 0.
        pool_type: "max" or "avg".
        pooling_convention: "valid" rounds the output's size down, "full" up.
        count_include_pad: Whether averages count the padding; None for True.
        global_pool: One window over all of the data.

    Returns:
        True where the library computes what MXNet does, on one supported dtype and layouts that can
        be described.
    """
    if pool_type not in ("max", "avg") or pooling_convention not in ("valid", "full"):
        return False
    if not 3 <= data.ndim <= 5 or out.ndim != data.ndim or not supported(out, data):
        return False
    if global_pool:
        return True
    axes = len(kernel)
    if axes != data.ndim - 2:
        return False
    partial_windows = pool_type == "max" or count_include_pad is False
    lengths = zip(
        *(out.shape[2:], data.shape[2:], kernel, stride or (1,) * axes, pad or (0,) * axes),
        strict=True,
    )
    return all(_windows_fit(*length, partial=partial_windows) for length in lengths)


def _windows_fit(
    pooled: int, length: int, kernel: int, stride: int, pad: int, *, partial: bool
) -> bool:
    """Whether along one axis each window holds data.

    Without ``partial``, none may end beyond the padding either.
    """
    last = (pooled - 1) * stride - pad
    if not 0 <= pad < kernel or last >= length:
        return False
    return partial or last + kernel <= length + pad


def pooling(
    out: Array,
    data: Array,
    *,
    kernel: Ints = (),
    stride: Ints = (),
    pad: Ints = (),
    pool_type: str = "max",
    pooling_convention: str = "valid",
    count_include_pad: bool | None = True,
    global_pool: bool = False,
) -> None:
    """Fill ``out`` with the pooled ``data``; arguments as in `supports_pooling`.

    ``pooling_convention`` has no say here: the shape of ``out`` tells.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    attributes = (kernel, stride, pad, pool_type, count_include_pad, global_pool)
    key = ("pooling", signature(out), signature(data), attributes)
    plans.get(key, _plan_forward, out, data, attributes).run(out, data)


def pooling_backward(
    out: Array,
    grad: Array,
    data: Array,
    *,
    kernel: Ints = (),
    stride: Ints = (),
    pad: Ints = (),
    pool_type: str = "max",
    pooling_convention: str = "valid",
    count_include_pad: bool | None = True,
    global_pool: bool = False,
) -> None:
    """Fill ``out``, of the shape of the data, with the gradient for the data.

    With "max", the first of equal elements in a window gets the gradient.

    Args:
        out: (N, C, *spatial), to be filled.
        grad: Gradient of the pooling's output.
        data: The pooling's data.
        kernel: As for `pooling`.
        stride: As for `pooling`.
        pad: As for `pooling`.
        pool_type: As for `pooling`.
        pooling_convention: As for `pooling`.
        count_include_pad: As for `pooling`.
        global_pool: As for `pooling`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    attributes = (kernel, stride, pad, pool_type, count_include_pad, global_pool)
    layouts = (signature(out), signature(grad), signature(data))
    key = ("pooling_backward", *layouts, attributes)
    plan = plans.get(key, _plan_backward, out, grad, data, attributes)
    if pool_type == "max":
        plan.run(out, grad, data)
    else:
        plan.run(out, grad)


def _window(pooled: Array, data: Array, attributes: tuple[Any, ...]) -> _Window:
    kernel, stride, pad, pool_type, count_include_pad, global_pool = attributes
    algorithm = _ALGORITHMS[pool_type, count_include_pad is not False]
    spatial = data.shape[2:]
    zeros, ones = (0,) * len(spatial), (1,) * len(spatial)
    if global_pool:
        return _Window(algorithm, spatial, ones, zeros, zeros)
    stride, pad = stride or ones, pad or zeros
    sizes = zip(pooled.shape[2:], spatial, kernel, stride, pad, strict=True)
    after = tuple(
        max(before, (count - 1) * step + width - length - before)
        for count, length, width, step, before in sizes
    )
    return _Window(algorithm, kernel, stride, pad, after)


def _forward(engine: Engine, pooled: Array, data: Array, window: _Window) -> PrimitiveDescriptor:
    source, target = engine.agreed(data, pooled)
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_pooling_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, window.algorithm),
        *(source.handle, target.handle, *window.arguments(), engine.attributes),
    )


def _plan_forward(engine: Engine, out: Array, data: Array, attributes: tuple[Any, ...]) -> Plan:
    window = _window(out, data, attributes)
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    source = builder.operand(engine.describe(data))
    writes = {Argument.DST: target}
    if window.algorithm is AlgorithmKind.POOLING_MAX:
        writes[Argument.WORKSPACE] = builder.temporary()
    builder.step(_forward(engine, out, data, window), {Argument.SRC: source}, writes)
    return builder.build()


def _plan_backward(
    engine: Engine, out: Array, grad: Array, data: Array, attributes: tuple[Any, ...]
) -> Plan:
    window = _window(grad, out, attributes)
    forward = _forward(engine, grad, data, window)
    target, source = engine.agreed(out, grad)
    backward = PrimitiveDescriptor(
        engine.api,
        "dnnl_pooling_backward_primitive_desc_create",
        *(engine.handle, window.algorithm, target.handle, source.handle),
        *(*window.arguments(), forward.handle, engine.attributes),
    )
    builder = Builder(engine)
    writes = {Argument.DIFF_SRC: builder.operand(engine.describe(out))}
    reads = {Argument.DIFF_DST: builder.operand(engine.describe(grad))}
    if window.algorithm is AlgorithmKind.POOLING_MAX:
        reads[Argument.WORKSPACE] = _winners(engine, builder, forward, data)
    builder.step(backward, reads, writes)
    return builder.build()


def _winners(engine: Engine, builder: Builder, forward: PrimitiveDescriptor, data: Array) -> Slot:
    """Run the forward into temporaries, and return the one that holds each window's winner."""
    source = builder.operand(engine.describe(data))
    workspace = builder.temporary()
    writes = {Argument.DST: builder.temporary(), Argument.WORKSPACE: workspace}
    builder.step(forward, {Argument.SRC: source}, writes)
    return workspace
