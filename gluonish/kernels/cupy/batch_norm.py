"""Batch normalization and its gradient: one launch for sums, one for elements.

Accesses have up to 16 bytes, of one channel, or, if channels are innermost in memory, of adjacent
channels. 16-bit elements are converted on load and rounded once. Sums have a fixed order, whose
chunks depend on shape and memory order only.
"""

import math
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous, copy
from gluonish.kernels.cupy.gemm import supports_floats
from gluonish.kernels.cupy.last_block import counters, partial_sums
from gluonish.kernels.cupy.limits import limits_before_rounding
from gluonish.kernels.cupy.memory_layout import (
    access_length,
    channels_last,
    is_channels_last,
    vector_length,
)
from gluonish.kernels.cupy.source import Macros, index, launch, launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.normalization.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD
from gluonish.ops.normalization.batch_norm_parts import (
    BATCH_NORM_DATA_GRADIENT,
    BATCH_NORM_RESIDUAL_SUMS,
    BATCH_NORM_STATISTICS,
    BATCH_NORM_SUMS,
    Bounds,
)
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import accumulator

_THREADS = 256  # as in batch_norm.cu
_ABREAST = 32  # columns per block at most, if channels are innermost
_ABREAST_NBYTES = 128  # of adjacent columns that a block reads: a line of the cache

_BLOCKS = 528  # of sums: a few for each multiprocessor of any device
_MAX_CHUNKS = 528
_MIN_PACKS = 8  # per thread of sums
_ELEMENTWISE_BLOCKS = 2048
_LIMIT_32 = 2**31
_NULL = np.uint64(0)


class _Memory(NamedTuple):
    """Arrays of equal shape, contiguous in the same memory layout.

    Attributes:
        channels: Number of channels.
        inner: Contiguous elements of a channel.
        order: Axes of the original shape, in memory order.
    """

    arrays: tuple[Any, ...]
    channels: int
    inner: int
    order: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements of each array."""
        return int(self.arrays[0].size)

    @property
    def per_channel(self) -> int:
        """Number of elements per channel."""
        return self.size // self.channels

    @property
    def is_wide(self) -> bool:
        """Whether element indices need 64 bits."""
        return self.size >= _LIMIT_32

    def packs(self, *outputs: Any) -> "_Packs":
        """Return how kernels access the arrays and ``outputs`` of the same layout."""
        last, itemsize = self.inner == 1, self.arrays[0].dtype.itemsize
        adjacent = self.channels if last else self.inner
        vector = vector_length(adjacent, itemsize)
        columns = self.channels // (vector if last else 1)
        access = access_length(vector, *self.arrays, *outputs)
        return _Packs(self.size // vector, columns, vector, access, vector * itemsize, last)


class _Packs(NamedTuple):
    """Adjacent elements that kernels access at once; see ``batch_norm.cu``.

    Attributes:
        total: Number of packs.
        columns: Number of columns: channels, or packs of adjacent channels.
        vector: Number of elements per pack.
        access: Number of elements per access.
        nbytes: Size of a pack in bytes.
        last: Whether channels are innermost.
    """

    total: int
    columns: int
    vector: int
    access: int
    nbytes: int
    last: bool

    def macros(self, bounds: Bounds = ()) -> Macros:
        """Return the macros to compile ``batch_norm.cu`` with."""
        macros = (("LAST", int(self.last)), ("BOUNDS", len(bounds)), ("VECTOR", self.vector))
        return (*macros, ("ACCESS", self.access))

    @property
    def loads(self) -> int:
        """Number of packs of an array that a thread loads at once."""
        return max(4, 16 // self.vector)

    @property
    def chunks(self) -> tuple[int, int, int, int]:
        """Columns per block, blocks of columns, chunks per column, and packs per chunk."""
        most = min(_ABREAST, _ABREAST_NBYTES // self.nbytes) if self.last else 1
        blocks = -(-self.columns // most)
        abreast = -(-self.columns // blocks)
        blocks = -(-self.columns // abreast)
        per_column = self.total // self.columns
        lanes = _THREADS // abreast
        limit = min(_MAX_CHUNKS, max(1, _BLOCKS // blocks))
        step = lanes * self.loads
        chunk = -(-max(-(-per_column // limit), lanes * _MIN_PACKS) // step) * step
        return abreast, blocks, -(-per_column // chunk), chunk

    @property
    def threads(self) -> tuple[int, int]:
        """Number of threads of an elementwise kernel, and how many of them work."""
        blocks = min(_ELEMENTWISE_BLOCKS, -(-self.total // (_THREADS * self.loads)))
        if not self.last:
            return blocks, blocks * _THREADS
        blocks = max(blocks, -(-self.columns // _THREADS))
        return blocks, blocks * _THREADS // self.columns * self.columns


def _memory(xp: Any, axis: int, *arrays: Any) -> _Memory:
    """Wrap arrays of equal shape in the layout of the first, copying those that differ."""
    shape = arrays[0].shape
    axis %= len(shape)
    if is_channels_last(arrays[0], axis):
        order = channels_last(len(shape), axis)
        arrays = tuple(x.transpose(order) for x in arrays)
        return _Memory(tuple([contiguous(xp, x) for x in arrays]), shape[axis], 1, order)
    arrays = tuple([contiguous(xp, x) for x in arrays])
    return _Memory(arrays, shape[axis], math.prod(shape[axis + 1 :]), tuple(range(len(shape))))


def _elements(
    xp: Any, memory: _Memory, function: str, arrays: tuple[Any, ...], out: Any, bounds: Any = None
) -> None:
    """Run an elementwise kernel that fills ``out``."""
    out = out.transpose(memory.order)
    target = out if out.flags.c_contiguous else xp.empty(out.shape, out.dtype)
    packs, wide = memory.packs(target), memory.is_wide
    blocks, stride = packs.threads
    steps = divmod(stride, memory.inner // packs.vector) if not packs.last else (0, 0)
    numbers = map(np.int32, (memory.channels, memory.inner, steps[0] % memory.channels, steps[1]))
    limits = () if bounds is None else limits_before_rounding(bounds, out.dtype)
    args = (*arrays, target, index(packs.total, wide), index(stride, wide), *numbers, *limits)
    macros = packs.macros(bounds or ())
    launch_blocks(
        xp, "batch_norm", function, out.dtype, args, (blocks,), _THREADS, macros, wide=wide
    )
    if target is not out:
        copy(xp, out, target)


def _sum(
    xp: Any, memory: _Memory, function: str, bounds: Bounds, lead: tuple[Any, ...], ends: Any
) -> None:
    """Run a kernel that sums over channels.

    Args:
        function: The kernel.
        bounds: Limits of a clip that follows the normalization.
        lead: Its arguments behind those that say what a block sums.
        ends: Its last arguments.
    """
    packs, channels, wide = memory.packs(), memory.channels, memory.is_wide
    abreast, columns, chunks, chunk = packs.chunks
    shared: tuple[Any, Any] = (_NULL, _NULL)
    if chunks > 1:
        shared = xp.empty((partial_sums(chunks), 2, channels), np.float64), counters(xp)
    args = (*shared, index(chunk, wide), np.int32(abreast), *lead, *ends)
    launch_blocks(
        *(xp, "batch_norm", function, memory.arrays[0].dtype, args, (columns, chunks), _THREADS),
        *(packs.macros(bounds),),
        wide=wide,
    )


def _find_statistics(
    xp: Any,
    memory: _Memory,
    parameters: tuple[Any, Any, Any],
    filled: tuple[Any, Any, Any],
    bias: Any = None,
    *,
    eps: float,
    momentum: float,
    fix_gamma: bool,
    use_global_stats: bool,
    train: bool,
    **_: Any,
) -> None:
    """Fill mean, inverse deviation and scale; in training, update the moving statistics."""
    number = parameters[0].dtype.type
    gamma, *moving = [contiguous(xp, x) for x in parameters]
    targets = tuple(x if x.flags.c_contiguous else xp.empty(x.shape, x.dtype) for x in filled)
    if not train or use_global_stats:
        arrays = (gamma, *moving, *targets)
        numbers = (number(eps), np.int32(fix_gamma))
        dtype = memory.arrays[0].dtype
        launch(xp, "batch_norm", "moving_statistics", dtype, arrays, memory.channels, numbers)
    else:
        ends = (
            *(memory.arrays[0], _NULL if bias is None else contiguous(xp, bias)),
            *(gamma, *moving, *targets),
            *(index(memory.per_channel, memory.is_wide), np.int32(memory.channels)),
            *(np.int32(memory.inner), number(eps), number(momentum), number(1 - momentum)),
            np.int32(fix_gamma),
        )
        _sum(xp, memory, "statistics", (), (), ends)
        _copy_back(xp, parameters[1:], moving)
    _copy_back(xp, filled, targets)


def _copy_back(xp: Any, arrays: Any, made: Any) -> None:
    for array, target in zip(arrays, made, strict=True):
        if target is not array:
            copy(xp, array, target)


def _statistics(
    xp: ModuleType,
    outputs: Any,
    data: Any,
    gamma: Any,
    moving_mean: Any,
    moving_var: Any,
    bias: Any = None,
    **attrs: Any,
) -> None:
    parameters = (gamma, moving_mean, moving_var)
    _find_statistics(xp, _memory(xp, 1, data), parameters, outputs, bias, **attrs)


def _forward(
    xp: Any,
    outputs: Any,
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    *,
    axis: int,
    **attrs: Any,
) -> None:
    out, mean, inverse = outputs
    memory = _memory(xp, axis, data)
    scale = xp.empty(mean.shape, mean.dtype)
    parameters, found = (gamma, moving_mean, moving_var), (mean, inverse, scale)
    _find_statistics(xp, memory, parameters, found, **attrs)
    channels = tuple([contiguous(xp, x) for x in (mean, scale, beta)])
    _elements(xp, memory, "normalize", (*memory.arrays, *channels), out)


def _find_sums(
    xp: Any,
    memory: _Memory,
    function: str,
    lead: tuple[Any, ...],
    channels: tuple[Any, Any, Any],
    filled: tuple[Any, ...],
    bounds: Bounds = (),
    *,
    is_gamma: int = 0,
    fix_gamma: bool,
    use_global_stats: bool,
) -> None:
    """Fill the gradients of gamma and beta, and slope, offset and scale of the data gradient.

    Args:
        memory: Layout of the arrays that have a number for each element.
        function: The kernel.
        lead: Its arguments for the gradient, and the data.
        channels: mean, inverse deviation, and scale (or gamma).
        filled: The five arrays to fill, with one number per channel.
        bounds: Limits of a clip that follows the normalization.
        is_gamma: As in ``batch_norm.cu``.
        use_global_stats: As in ``batch_norm.cu``.
    """
    targets = tuple(x if x.flags.c_contiguous else xp.empty(x.shape, x.dtype) for x in filled)
    ends = (
        *(
            *[contiguous(xp, x) for x in channels],
            *targets,
            index(memory.per_channel, memory.is_wide),
        ),
        *map(np.int32, (memory.channels, memory.inner, is_gamma, fix_gamma, use_global_stats)),
    )
    _sum(xp, memory, function, bounds, lead, ends)
    _copy_back(xp, filled, targets)


def _sums(
    xp: Any,
    outputs: Any,
    grad: Any,
    data: Any,
    *channels: Any,
    bounds: Bounds,
    **flags: Any,
) -> None:
    memory = _memory(xp, 1, data, grad)
    beta = contiguous(xp, channels[3])
    lead = (*memory.arrays[::-1], beta, *limits_before_rounding(bounds, data.dtype))
    filled = (*outputs, xp.empty(outputs[0].shape, outputs[0].dtype))
    _find_sums(xp, memory, "gradient_sums", lead, channels[:3], filled, bounds, **flags)


def _residual_sums(
    xp: Any,
    outputs: Any,
    one: Any,
    other: Any,
    relu: Any,
    data: Any,
    *channels: Any,
    **flags: Any,
) -> None:
    grad, *rest = outputs
    memory = _memory(xp, 1, data, one, other, relu)
    out = grad.transpose(memory.order)
    target = out if out.flags.c_contiguous else xp.empty(out.shape, out.dtype)
    memory = memory._replace(arrays=(*memory.arrays, target))
    data, *terms = memory.arrays
    filled = (*rest, xp.empty(rest[0].shape, rest[0].dtype))
    _find_sums(xp, memory, "residual_sums", (*terms, data), channels, filled, **flags)
    if target is not out:
        copy(xp, out, target)


def _data_gradient(xp: Any, out: Any, grad: Any, data: Any, *channels: Any, bounds: Bounds) -> None:
    memory = _memory(xp, 1, data, grad)
    arrays = (*memory.arrays[::-1], *[contiguous(xp, x) for x in channels])
    _elements(xp, memory, "data_gradient", arrays, out, bounds)


def _backward(
    xp: Any,
    outputs: Any,
    grad: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    inverse: Any,
    *,
    axis: int,
    fix_gamma: bool,
    use_global_stats: bool,
    **_: Any,
) -> None:
    out, *of_parameters = outputs
    memory = _memory(xp, axis, data, grad)
    memory = memory._replace(arrays=memory.arrays[::-1])
    slope, offset, scale = made = tuple(xp.empty((3, *mean.shape), mean.dtype))
    _find_sums(
        xp,
        memory,
        "gradient_sums",
        (*memory.arrays, contiguous(xp, mean), *limits_before_rounding((), data.dtype)),
        (mean, inverse, gamma),
        (*of_parameters, *made),
        is_gamma=2 if fix_gamma else 1,
        fix_gamma=fix_gamma,
        use_global_stats=use_global_stats,
    )
    channels = (contiguous(xp, mean), scale, scale, slope, offset)
    _elements(xp, memory, "data_gradient", (*memory.arrays, *channels), out, ())


def _supports(count: int, *specs: Spec, has_bias: bool = False, **_: Any) -> bool:
    """Whether the kernels support ``count`` data arrays and parameters of the sums' dtype.

    The last parameter may be a bias of the data's dtype.
    """
    end = len(specs) - has_bias
    elements, parameters = (*specs[:count], *specs[end:]), specs[count:end]
    dtype = elements[0].dtype
    return (
        supports_floats(*specs)
        and all(spec.size for spec in specs)
        and all(spec.dtype == dtype for spec in elements)
        and all(spec.dtype == accumulator(dtype) for spec in parameters)
    )


KERNELS: tuple[tuple[Operator, FastKernel], ...] = tuple(
    (op, FastKernel(BackEnd.CUPY, name, partial(_supports, count), run=run))
    for op, name, count, run in (
        (BATCH_NORM, "batch_norm", 1, _forward),
        (BATCH_NORM_BACKWARD, "batch_norm_backward", 2, _backward),
        (BATCH_NORM_STATISTICS, "batch_norm_statistics", 1, _statistics),
        (BATCH_NORM_SUMS, "batch_norm_sums", 2, _sums),
        (BATCH_NORM_RESIDUAL_SUMS, "batch_norm_residual_sums", 4, _residual_sums),
        (BATCH_NORM_DATA_GRADIENT, "batch_norm_data_gradient", 2, _data_gradient),
    )
)
