"""Max and average pooling of channels-last arrays, and their gradients.

Other layouts use oneDNN's kernels. Threads split samples and, if there are few samples, blocks of
channels, so that no two write to one element of the gradient. Supports float32, and bfloat16 with a
single window or, for the gradient, windows that tile the data: otherwise, sums rounded in memory
would lose digits, and oneDNN's forward pass is faster.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import compile_kernel
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.pooling_source import MAX_UNROLLED, backward_source, forward_source
from gluonish.kernels.generated.pooling_windows import Form
from gluonish.kernels.generated.support import enabled
from gluonish.kernels.onednn.memory import signature
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.nn.pooling import POOLING, POOLING_BACKWARD, pooling_plan
from gluonish.ops.registry import Attrs
from gluonish.ops.support.windows import channels_first, is_channels_last

_SMALL = 1 << 14  # elements below which compiling does not pay; minimum elements for each thread
# Minimum channels for which these kernels are faster than oneDNN's. For data larger than the caches
# the forward pass is slower for some numbers of channels.
_CHANNELS, _CHANNELS_BACKWARD = 32, 17
_SLOW_CHANNELS, _SLOW_BYTES = range(129, 384), 1 << 24
_MAX_PLANS = 4096  # if exceeded, all are dropped, to bound memory if shapes never repeat

_ITEMS = 8  # minimum number of samples times blocks of channels
_BLOCK = 32  # minimum channels per block


class _Windows:
    """The pooling windows over data of shape (N, C, *spatial), as depth, height and width.

    Raises:
        RefusedError: A window contains no element of the data.
    """

    __slots__ = ("counts", "extents", "kernel", "largest", "pad", "stride", "with_pad")

    def __init__(self, data: Shape, attrs: Attrs) -> None:
        geometry, counts = pooling_plan(data[2:], **attrs)
        # A single axis counts as the height, two as height and width: a step is a row of windows.
        before = (1,) * min(1, 3 - len(counts))
        after = (1,) * (3 - len(before) - len(counts))
        self.extents = before + data[2:] + after
        self.counts = before + counts + after
        self.kernel = before + geometry.kernel + after
        self.stride = before + geometry.stride + after
        self.pad = (0,) * len(before) + geometry.pad + (0,) * len(after)
        self.largest = attrs["pool_type"] == "max"
        self.with_pad = not attrs["global_pool"] and attrs["count_include_pad"] is not False
        if any(last >= extent for last, extent in zip(self._last(), self.extents, strict=True)):
            raise RefusedError(f"Pooling: expected windows with elements of the data, got {attrs}")

    def _last(self) -> list[int]:
        """Return the start of the last window along each axis."""
        return [
            (count - 1) * stride - pad
            for count, stride, pad in zip(self.counts, self.stride, self.pad, strict=True)
        ]

    @property
    def inside(self) -> bool:
        """Whether all windows are inside the data."""
        ends = (last + width for last, width in zip(self._last(), self.kernel, strict=True))
        return not any(self.pad) and all(
            end <= extent for end, extent in zip(ends, self.extents, strict=True)
        )

    @property
    def overlap(self) -> Shape | None:
        """Overlap of consecutive windows along each axis; None if there are gaps."""
        reach = tuple(k - s for k, s in zip(self.kernel, self.stride, strict=True))
        single = (count == 1 for count in self.counts)
        reach = tuple(0 if one else r for one, r in zip(single, reach, strict=True))
        return None if min(reach) < 0 else reach

    @property
    def tiles(self) -> bool:
        """Whether the windows partition the data."""
        covered = (c * k for c, k in zip(self.counts, self.kernel, strict=True))
        return self.inside and self.overlap == (0, 0, 0) and tuple(covered) == self.extents

    @property
    def whole(self) -> bool:
        """Whether there is one window, all of the data, that is not unrolled."""
        return self.unrolled() is None and self.tiles and self.counts == (1, 1, 1)

    def unrolled(self) -> Shape | None:
        """Return the kernel size if it is small enough to unroll, else None."""
        return self.kernel if np.prod(self.kernel) <= MAX_UNROLLED else None

    def params(self, channels: int, step: int) -> list[int]:
        """Return the params of a kernel."""
        sizes = (*self.extents, *self.counts, *self.kernel, *self.stride, *self.pad)
        return [0, 0, 0, 0, channels, step, -(-channels // step), *sizes, int(self.with_pad)]


_plans: dict[tuple[Any, ...], KernelPlan] = {}


def pooling(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward pass.

    Args:
        outputs: out (N, C, *pooled).
        inputs: data (N, C, *spatial), of 1 to 3 spatial axes. In layouts that end in C, the
            channels of both come last.

    Raises:
        RefusedError: The channels are not last in memory, or a window contains no data.
    """
    return _find("Pooling", _plan_forward, (*outputs, *inputs), attrs)


def pooling_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradient of the data.

    Args:
        inputs: Gradient of the output (N, C, *pooled), which may also be contiguous, as after a
            dense layer; data, and the output.

    Raises:
        RefusedError: As for `pooling`; or a bfloat16 gradient would accumulate in memory.
    """
    arrays = (*outputs, *inputs)
    used = arrays if attrs["pool_type"] == "max" else arrays[:2]
    return _find("_pooling_backward", _plan_backward, used, attrs, planar=1)


def _channels_last(array: Array) -> bool:
    return bool(np.moveaxis(array, 1, -1).flags.c_contiguous)


def _find(
    name: str,
    make: Callable[[Sequence[Array], Attrs], KernelPlan],
    arrays: Sequence[Array],
    attrs: Attrs,
    planar: int | None = None,
) -> Bound:
    """Return a plan, cached or new; ``planar`` is the index of the array that may be contiguous."""
    views = [channels_first(np, array, attrs["layout"]) for array in arrays]
    last = [x for i, x in enumerate(views) if i != planar or not x.flags.c_contiguous]
    if not all(map(_channels_last, last)) or not all(x.flags.aligned for x in views):
        raise RefusedError(f"{name}: expected arrays with channels last, got another layout")
    key = (make, *map(signature, views), *attrs.values())
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        plan = _plans[key] = make(views, attrs)
    return Bound(plan)


def _plan_forward(arrays: Sequence[Array], attrs: Attrs) -> KernelPlan:
    out, data = arrays
    windows = _Windows(data.shape, attrs)
    channels = data.shape[1]
    narrow = data.dtype == BFLOAT16
    slow = narrow or (channels in _SLOW_CHANNELS and data.nbytes > _SLOW_BYTES)
    if slow and windows.counts != (1, 1, 1):
        raise RefusedError(
            f"Pooling: expected data for which this kernel is faster, got {data.dtype}{data.shape}"
        )
    form = Form(windows.largest, narrow, windows.inside, windows.unrolled(), whole=windows.whole)
    kernel = compile_kernel(forward_source(form))
    extent = out.size // (channels * windows.counts[2])
    return KernelPlan(kernel, windows.params(channels, channels), extent, _grain(data, extent))


def _plan_backward(arrays: Sequence[Array], attrs: Attrs) -> KernelPlan:
    result, grad = arrays[:2]
    windows = _Windows(result.shape, attrs)
    narrow = result.dtype == BFLOAT16
    unrolled, overlap = windows.unrolled(), windows.overlap
    if unrolled is None:
        overlap = (0, 0, 0) if windows.tiles else None
    if narrow and overlap != (0, 0, 0):
        raise RefusedError(
            "_pooling_backward: expected float32 where windows overlap, got another dtype"
        )
    planar = not _channels_last(grad)
    form = Form(windows.largest, narrow, windows.inside, unrolled, overlap, planar, windows.whole)
    kernel = compile_kernel(backward_source(form))
    samples, channels = result.shape[:2]
    blocks = max(1, min(-(-_ITEMS // samples), channels // _BLOCK))
    step = -(-channels // blocks)
    params = windows.params(channels, step)
    extent = samples * params[6]
    return KernelPlan(kernel, params, extent, _grain(result, extent))


def _grain(data: Array, extent: int) -> int:
    """Return the minimum steps for each thread; with 0 even a single step releases the GIL."""
    return extent if data.size <= _SMALL else _SMALL * extent // data.size


def _supports_pooling(data: Spec, **attrs: Any) -> bool:
    return _supports(data, _CHANNELS, attrs)


def _supports_backward(grad: Spec, data: Spec, out: Spec, **attrs: Any) -> bool:
    return grad.dtype == data.dtype == out.dtype and _supports(data, _CHANNELS_BACKWARD, attrs)


def _supports(data: Spec, channels: int, attrs: Attrs) -> bool:
    last = is_channels_last(attrs["layout"])
    return (
        data.size >= _SMALL
        and data.shape[-1 if last else 1] >= channels
        and attrs["pool_type"] in ("max", "avg")
        and data.dtype in (FLOAT32, BFLOAT16)
    )


KERNELS = (
    (
        POOLING,
        FastKernel(BackEnd.GENERATED, "pooling", _supports_pooling, plan=pooling, enabled=enabled),
    ),
    (
        POOLING_BACKWARD,
        FastKernel(
            BackEnd.GENERATED,
            "pooling_backward",
            _supports_backward,
            plan=pooling_backward,
            enabled=enabled,
        ),
    ),
)
