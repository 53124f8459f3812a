"""Few channels of a convolution, such as an image's three, padded with zeros for tensor cores.

Tensor cores read channels in accesses of 16 bytes, 8 channels of 16-bit floats, and cuDNN's kernels
for fewer are several times slower; other floats are left alone. Data and weight are padded by one
launch into temporaries, with channels last, from either memory layout; a gradient is cut by another
launch. Only products with zeros are added, which change no sum. Small convolutions, where a launch
would cost more, are not padded, nor are one or two channels, whose data would grow too much.
"""

import math
from collections.abc import Sequence
from typing import Any

from gluonish.core.config import GLUONISH_PAD_CHANNELS
from gluonish.core.spec import Shape
from gluonish.kernels.cupy.copies import copy
from gluonish.kernels.cupy.memory_layout import empty_like, in_memory, is_dense
from gluonish.kernels.cupy.source import VECTOR_NBYTES, index, launch_blocks

_THREADS = 256
_MIN_FLOPS = 5e8  # of the padded convolution; 15 us without padding
_LIMIT_32 = 2**31


def padded_channels(data: Shape, weight: Shape, out: Shape, itemsize: int) -> int | None:
    """Return the number of channels to pad a convolution to; None to leave it as it is.

    Args:
        data: Shape (N, C, *spatial) of the data.
        weight: Shape (filters, C / groups, *kernel) of the weight.
        out: Shape (N, filters, *spatial) of the output.
        itemsize: Bytes of an element.
    """
    channels, width = data[1], VECTOR_NBYTES // itemsize
    if itemsize != 2 or not width < 4 * channels < 4 * width or weight[1] != channels:
        return None
    if 2 * math.prod(out) * math.prod(weight[2:]) * width < _MIN_FLOPS:
        return None
    if math.prod(data) // channels * width >= _LIMIT_32 or not GLUONISH_PAD_CHANNELS.value:
        return None
    return width


def empty_padded(xp: Any, array: Any, width: int) -> Any:
    """Return an uninitialized array with ``width`` channels on axis 1, last in memory."""
    n, _, *spatial = array.shape
    wide = xp.empty((n, *spatial, width), array.dtype)
    return wide.transpose(0, wide.ndim - 1, *range(1, wide.ndim - 1))


def _dense(xp: Any, array: Any) -> Any:
    """Return the array, or a copy if it is dense in neither memory layout."""
    if is_dense(array, last=False) or is_dense(array, last=True):
        return array
    made = empty_like(xp, array, last=False)
    copy(xp, made, array)
    return made


def _parameters(narrow: Any, wide: Any) -> tuple[Any, Any, int, int]:
    """Return a kernel's parameters: contiguous views, the number of pixels, and the window."""
    is_first = is_dense(narrow, last=False)
    window = math.prod(narrow.shape[2:]) if is_first else 1
    pixels = narrow.size // narrow.shape[1]
    return in_memory(narrow, not is_first), in_memory(wide, last=True), pixels, window


def _launch(xp: Any, function: str, channels: int, dtype: Any, args: Sequence[Any]) -> None:
    numbers = [index(x, False) if isinstance(x, int) else x for x in args]
    blocks = (-(-sum(args[2::4]) // _THREADS),)
    macros = (("CHANNELS", channels),)
    launch_blocks(xp, "channel_padding", function, dtype, tuple(numbers), blocks, _THREADS, macros)


def pad(xp: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
    """Fill arrays of `empty_padded` from narrow ones, one or two, in one launch."""
    args = [x for narrow, wide in pairs for x in _parameters(_dense(xp, narrow), wide)]
    function = "pad_both_channels" if len(pairs) == 2 else "pad_channels"
    narrow = pairs[0][0]
    _launch(xp, function, narrow.shape[1], narrow.dtype, args)


def cut(xp: Any, narrow: Any, wide: Any) -> None:
    """Set a narrow array to the first channels of an array of `empty_padded`."""
    dense = is_dense(narrow, last=False) or is_dense(narrow, last=True)
    target = narrow if dense else empty_like(xp, narrow, last=False)
    first, second, *numbers = _parameters(target, wide)
    _launch(xp, "cut_channels", narrow.shape[1], narrow.dtype, (second, first, *numbers))
    if target is not narrow:
        copy(xp, narrow, target)
