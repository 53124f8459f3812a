"""Pooling in one launch, and its gradient in one launch, or in two for max pooling.

Arrays whose channels are innermost in memory are read as they are, in accesses of up to 16 bytes.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy import memory_layout
from gluonish.kernels.cupy.copies import contiguous, copy
from gluonish.kernels.cupy.gemm import supports_floats
from gluonish.kernels.cupy.memory_layout import access_length, vector_length
from gluonish.kernels.cupy.pointwise_source import divisor
from gluonish.kernels.cupy.source import Macros, index, launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.pooling import POOLING, POOLING_BACKWARD, pooling_plan
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.whole_window import covers
from gluonish.ops.support.windows import Geometry, channels_first_shape, is_channels_last

_POOLS = {"max": 0, "avg": 1, "sum": 2}
_MAX_WINDOW = 1024  # elements per window
_THREADS = 256  # as in pooling.cu
_ABREAST = 32  # packs per block of whole windows, if channels are innermost
_ROWS = 8  # rows per block of whole windows, if they are not
_LIMIT_32 = 2**31

_AXES = np.dtype(  # as in pooling.cu
    [
        *(("extent", np.int32, 3), ("count", np.int32, 3), ("columns", np.int32)),
        *(("factor", np.uint32, 4), ("shift", np.uint32, 4)),
    ]
)


def _three(along: Shape, fill: int) -> Shape:
    return (fill,) * (3 - len(along)) + tuple(along)


@lru_cache(maxsize=1024)
def _axes(extents: Shape, counts: Shape, columns: int, divisors: Shape) -> Any:
    """Return the geometry of one call; ``divisors`` are the extents of the kernel's threads."""
    found = np.zeros(1, _AXES)
    found["extent"], found["count"], found["columns"] = extents, counts, columns
    pairs = [divisor(number) for number in (*divisors, columns)]
    found["factor"], found["shift"] = zip(*pairs, strict=True)
    return found


@lru_cache(maxsize=1024)
def _macros(geometry: Geometry, whole: bool, kind: str, with_pad: bool) -> Macros:
    macros = [("POOL", _POOLS[kind]), ("WITH_PAD", int(with_pad)), ("WHOLE", int(whole))]
    macros.append(("SMALL", int(math.prod(geometry.kernel) < 256)))
    if not whole:
        for name, along, fill in (
            *(("KERNEL", geometry.kernel, 1), ("STRIDE", geometry.stride, 1)),
            ("PAD", geometry.pad, 0),
        ):
            macros += [(f"{name}{i}", number) for i, number in enumerate(_three(along, fill))]
    return tuple(macros)


class _Call(NamedTuple):
    """The arrays of one call in memory order, and how kernels access them.

    Attributes:
        inputs: Contiguous inputs, (N, C, *spatial) or (N, *spatial, C).
        out: The output, in the same order of axes.
        target: The contiguous array to fill: the output, where possible.
        extents: Extents of the data.
        counts: Number of windows along each axis.
        columns: Packs of adjacent channels; 1 if channels are not innermost.
        rows: Samples, or channels of all samples.
        whole: Whether a window is all elements of a channel.
        wide: Whether element indices need 64 bits.
    """

    inputs: tuple[Any, ...]
    out: Any
    target: Any
    extents: Shape
    counts: Shape
    columns: int
    rows: int
    whole: bool
    wide: bool
    macros: Macros

    def run(self, xp: Any, function: str, arrays: tuple[Any, ...], along: Shape) -> None:
        """Run a kernel in a thread for each pack of an array whose extents are ``along``."""
        total = self.rows * math.prod(along) * self.columns
        axes = _axes(self.extents, self.counts, self.columns, along)
        args = (*arrays, index(total, self.wide), axes)
        self._launch(xp, function, args, -(-total // _THREADS))

    def run_whole(self, xp: Any) -> None:
        """Pool windows that are all elements of a channel."""
        last = dict(self.macros)["LAST"]
        total, size = self.rows * self.columns, math.prod(self.extents)
        abreast = _ABREAST if last else _ROWS
        numbers = map(np.int32, (size, self.columns, abreast))
        args = (*self.inputs, self.target, index(total, self.wide), *numbers)
        self._launch(xp, "pool_whole", args, -(-total // abreast))

    def _launch(self, xp: Any, function: str, args: tuple[Any, ...], blocks: int) -> None:
        dtype = self.target.dtype
        launch_blocks(
            *(xp, "pooling", function, dtype, args, (blocks,), _THREADS, self.macros),
            wide=self.wide,
        )

    def finish(self, xp: Any) -> None:
        """Copy to the output if it is not contiguous."""
        if self.target is not self.out:
            copy(xp, self.out, self.target)


def _call(xp: Any, out: Any, inputs: tuple[Any, ...], like: Any, data: Any, attrs: Attrs) -> _Call:
    """Prepare a call.

    Args:
        like: The array whose memory order the kernels follow.
        data: The operator's data.
    """
    layout, rank = attrs["layout"], data.ndim
    samples, channels, *along = channels_first_shape(data.shape, layout)
    spatial = tuple(along)
    if is_channels_last(layout):
        axes = (0, rank - 1, *range(1, rank - 1))
        like, out, *views = (x.transpose(axes) for x in (like, out, *inputs))
        inputs = tuple(views)
    last = memory_layout.is_channels_last(like)
    if last:
        axes = memory_layout.channels_last(rank)
        out, *views = (x.transpose(axes) for x in (out, *inputs))
        inputs = tuple(views)
    inputs = tuple([contiguous(xp, x) for x in inputs])
    target = out if out.flags.c_contiguous else xp.empty(out.shape, out.dtype)
    geometry, counts = pooling_plan(spatial, **attrs)
    whole = covers(spatial, counts, geometry)
    vector = 1
    if last:
        vector = access_length(vector_length(channels, data.dtype.itemsize), *inputs, target)
    macros = _macros(geometry, whole, attrs["pool_type"], attrs["count_include_pad"] is not False)
    return _Call(
        *(inputs, out, target, _three(spatial, 1), _three(counts, 1)),
        columns=channels // vector if last else 1,
        rows=samples if last else samples * channels,
        whole=whole,
        wide=data.size >= _LIMIT_32,
        macros=(*macros, ("LAST", int(last)), ("VECTOR", vector)),
    )


def _forward(xp: Any, out: Any, data: Any, **attrs: Any) -> None:
    call = _call(xp, out, (data,), data, data, attrs)
    if call.whole:
        call.run_whole(xp)
    else:
        call.run(xp, "pool", (*call.inputs, call.target), call.counts)
    call.finish(xp)


def _backward(xp: Any, result: Any, grad: Any, data: Any, out: Any, **attrs: Any) -> None:
    if attrs["pool_type"] == "max":
        call = _call(xp, result, (grad, data), data, data, attrs)
        grad, data = call.inputs
        small = dict(call.macros)["SMALL"]
        first = xp.empty(grad.shape, np.uint8 if small else np.uint16)
        call.run(xp, "first_maximum", (data, first), call.counts)
    else:
        call = _call(xp, result, (grad,), result, data, attrs)
        grad = first = call.inputs[0]  # it does not read the latter
    call.run(xp, "pool_backward", (grad, first, call.target), call.extents)
    call.finish(xp)


def _window(data: Spec, attrs: Attrs) -> int:
    """Return the number of elements per window; 0 if the kernels do not support the call."""
    if attrs["pool_type"] not in _POOLS or not data.size:
        return 0
    spatial = channels_first_shape(data.shape, attrs["layout"])[2:]
    return math.prod(pooling_plan(spatial, **attrs)[0].kernel)


def _supports(data: Spec, **attrs: Any) -> bool:
    return supports_floats(data) and 0 < _window(data, attrs) <= _MAX_WINDOW


def _supports_backward(grad: Spec, data: Spec, out: Spec, **attrs: Any) -> bool:
    return supports_floats(grad, data, out) and 0 < _window(data, attrs) <= _MAX_WINDOW


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (POOLING, FastKernel(BackEnd.CUPY, "pooling", _supports, run=_forward)),
    (
        POOLING_BACKWARD,
        FastKernel(BackEnd.CUPY, "pooling_backward", _supports_backward, run=_backward),
    ),
)
