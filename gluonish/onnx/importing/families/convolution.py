"""Convolutions, including transposed and deformable ones, and automatic padding."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32
from gluonish.onnx.importing.arrays import array_of, check_table, integers, op
from gluonish.onnx.importing.families.shapes import padded
from gluonish.onnx.importing.nodes import Call, Rule


class Window:
    """The windows of a convolution or pooling, from the node's attributes.

    Args:
        call: The node.
        extents: Sizes of the input's spatial axes.
        kernel: Sizes of the window; the attribute ``kernel_shape`` by default.

    Attributes:
        kernel: Sizes of the window.
        strides: Steps between windows.
        dilations: Steps inside a window.
        before: Padding at the start of each axis.
        after: Padding at the end of each axis.
    """

    __slots__ = ("after", "before", "dilations", "kernel", "strides")

    def __init__(
        self, call: Call, extents: Sequence[int], kernel: Sequence[int] | None = None
    ) -> None:
        rank = len(extents)
        said = call.attr("kernel_shape")
        if kernel is not None and said is not None and [*said] != [*kernel]:
            call.wrong(f"expected the weight's kernel {tuple(kernel)}, got kernel_shape {said}")
        self.kernel = tuple(kernel if kernel is not None else call.attr("kernel_shape"))
        self.strides = tuple(call.attr("strides") or (1,) * rank)
        self.dilations = tuple(call.attr("dilations") or (1,) * rank)
        pads = call.attr("pads") or [0] * 2 * rank
        kind = call.attr("auto_pad", "NOTSET")
        if kind == "VALID":
            pads = [0] * 2 * rank
        elif kind in ("SAME_UPPER", "SAME_LOWER"):
            pads = self._same(extents, lower=kind == "SAME_LOWER")
        if len({rank, len(self.kernel), len(self.strides), len(self.dilations)}) > 1 or (
            len(pads) != 2 * rank or min((*self.strides, *self.dilations, *self.kernel)) < 1
        ):
            call.wrong(f"expected strides, pads and dilations for {rank} spatial axes, got others")
        self.before, self.after = tuple(pads[:rank]), tuple(pads[rank:])

    def _same(self, extents: Sequence[int], *, lower: bool) -> list[int]:
        """Return the padding of SAME_UPPER or SAME_LOWER: the output's size is ceil(n / stride)."""
        before, after = [], []
        for n, k, s, d in zip(extents, self.kernel, self.strides, self.dilations, strict=True):
            total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
            small = total // 2
            before.append(total - small if lower else small)
            after.append(small if lower else total - small)
        return before + after

    @property
    def is_even(self) -> bool:
        """Whether each axis has equal padding at both ends."""
        return self.before == self.after


def convolve(call: Call, x: Any, weight: Any, bias: Any, fill: Any = 0) -> Any:
    """Return a convolution by the node's attributes.

    Args:
        call: The node.
        x: Input (N, C, spatial axes).
        weight: Weight (channels, C / group, kernel).
        bias: Bias, or None.
        fill: Value of the padding.
    """
    x, options = convolution_options(call, x, weight, fill)
    given = () if bias is None else (bias,)
    return op("Convolution")(x, weight, *given, **options, no_bias=bias is None)


def convolution_options(
    call: Call, x: Any, weight: Any, fill: Any = 0
) -> tuple[Any, dict[str, Any]]:
    """Return attributes of Convolution, and the input, padded if the operator cannot do so.

    Args:
        call: The node.
        x: See `convolve`.
        weight: See `convolve`.
        fill: See `convolve`.
    """
    window = Window(call, x.shape[2:], weight.shape[2:])
    pad = window.before
    if not window.is_even or fill or any(width < 0 for width in pad):
        around = [(0, 0), (0, 0), *zip(window.before, window.after, strict=True)]
        x, pad = padded(x, around, "constant", fill), (0,) * len(pad)
    options = {
        "kernel": window.kernel,
        "stride": window.strides,
        "dilate": window.dilations,
        "pad": pad,
        "num_filter": weight.shape[0],
        "num_group": call.attr("group", 1),
    }
    if len(window.kernel) > 3:
        call.refuse(f"expected at most 3 spatial axes, got {len(window.kernel)}")
    return x, options


def _conv(call: Call, x: Any, weight: Any, bias: Any = None) -> Any:
    return convolve(call, x, weight, bias)


def _transposed_margin(call: Call, x: Any, window: Window, extra: Sequence[int]) -> list[int]:
    """Return how much to crop the full result of a transposed convolution at both ends."""
    given = call.attr("output_shape")
    kind = call.attr("auto_pad", "NOTSET")
    if given is None and kind in ("SAME_UPPER", "SAME_LOWER"):
        given = [n * s for n, s in zip(x.shape[2:], window.strides, strict=True)]
    if given is None:
        return [*window.before, *window.after]
    before, after = [], []
    sizes = zip(given[-len(extra) :], x.shape[2:], window.strides, strict=True)
    for i, (out, n, s) in enumerate(sizes):
        whole = s * (n - 1) + extra[i] + (window.kernel[i] - 1) * window.dilations[i] + 1
        total = whole - out
        small = total // 2
        before.append(small if kind == "SAME_UPPER" else total - small)
        after.append(total - before[-1])
    return before + after


def _conv_transpose(call: Call, x: Any, weight: Any, bias: Any = None) -> Any:
    window = Window(call, x.shape[2:], weight.shape[2:])
    rank = len(window.kernel)
    extra = list(call.attr("output_padding") or (0,) * rank)
    margin = _transposed_margin(call, x, window, extra)
    before, after = margin[:rank], margin[rank:]
    if rank > 3:
        call.refuse(f"expected at most 3 spatial axes, got {rank}")
    fits = before == after and all(e < s for e, s in zip(extra, window.strides, strict=True))
    direct = fits and min(before) >= 0
    groups = call.attr("group", 1)
    options = {
        "kernel": window.kernel,
        "stride": window.strides,
        "dilate": window.dilations,
        "pad": tuple(before) if direct else (0,) * rank,
        "adj": tuple(extra) if direct else (0,) * rank,
        "num_filter": weight.shape[1] * groups,
        "num_group": groups,
        "no_bias": bias is None or not direct,
    }
    added = (bias,) if bias is not None and direct else ()
    found = op("Deconvolution")(x, weight, *added, **options)
    if direct:
        return found
    # Deconvolution has no attribute for this crop or zero padding.
    widths = [(-b, e - a) for b, a, e in zip(before, after, extra, strict=True)]
    grow = [(0, 0), (0, 0), *((max(0, b), max(0, a)) for b, a in widths)]
    cut = [
        slice(max(0, -b), n - max(0, -a)) for (b, a), n in zip(widths, found.shape[2:], strict=True)
    ]
    found = padded(found[(slice(None), slice(None), *cut)], grow)
    return found if bias is None else found + mnp.reshape(bias, (-1, *(1,) * rank))


def _deform_conv(
    call: Call, x: Any, weight: Any, offset: Any, bias: Any = None, mask: Any = None
) -> Any:
    window = Window(call, x.shape[2:], weight.shape[2:])
    groups = call.attr("offset_group", 1)
    if len(window.kernel) != 2 or not window.is_even:
        call.refuse("expected 2 spatial axes and equal margins on both sides")
    options = {
        "kernel": window.kernel,
        "stride": window.strides,
        "dilate": window.dilations,
        "pad": window.before,
        "num_filter": weight.shape[0],
        "num_group": call.attr("group", 1),
        "num_deformable_group": groups,
        "no_bias": bias is None,
    }
    if mask is None:
        shape = (x.shape[0], groups * prod(window.kernel), *offset.shape[2:])
        mask = mnp.ones(shape, dtype=x.dtype)
    added = () if bias is None else (bias,)
    return op("_contrib_ModulatedDeformableConvolution")(x, offset, mask, weight, *added, **options)


def _conv_integer(call: Call, x: Any, weight: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
    """Convolve integers exactly, in float64 if float32 could round."""
    products = prod(weight.shape[1:])
    wide = FLOAT32 if products * 255 * 255 < 1 << 24 else np.dtype(np.float64)
    x, weight = x.astype(wide), weight.astype(wide)
    if x_zero is not None:
        x = x - x_zero.astype(wide)
    if w_zero is not None:
        zeros = w_zero.astype(wide)
        shape = (-1, *(1,) * (len(weight.shape) - 1)) if zeros.shape else ()
        weight = weight - mnp.reshape(zeros, shape)
    return convolve(call, x, weight, None).astype(np.int32)


def _col2im(call: Call, columns: Any, image: Any, block: Any) -> Any:
    """Sum blocks, which may overlap, into an image."""
    extents, kernel = integers(image), integers(block)
    window = Window(call, extents, kernel)
    counts = [
        (n + b + a - d * (k - 1) - 1) // s + 1
        for n, k, s, d, b, a in zip(
            *(extents, kernel, window.strides, window.dilations, window.before, window.after),
            strict=True,
        )
    ]
    batch, channels = columns.shape[0], columns.shape[1] // prod(kernel)
    check_table(*counts, *kernel)
    whole = [n + b + a for n, b, a in zip(extents, window.before, window.after, strict=True)]
    starts = np.indices(counts).reshape(len(counts), -1) * np.array(window.strides)[:, None]
    steps = np.indices(kernel).reshape(len(kernel), -1) * np.array(window.dilations)[:, None]
    places = np.ravel_multi_index(tuple(steps[:, :, None] + starts[:, None, :]), whole)
    rows = mnp.reshape(columns, (batch * channels, -1))
    flat = array_of(np.broadcast_to(places.reshape(1, -1), (batch * channels, places.size)))
    target = (batch * channels, prod(whole))
    found = op("_add_along")(rows, flat, shape=target, axis=1)
    found = mnp.reshape(found, (batch, channels, *whole))
    cut = [slice(b, b + n) for b, n in zip(window.before, extents, strict=True)]
    return found[(slice(None), slice(None), *cut)]


RULES: dict[str, Rule] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "ConvInteger": _conv_integer,
    "DeformConv": _deform_conv,
    "Col2Im": _col2im,
}
