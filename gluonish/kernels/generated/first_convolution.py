"""Convolutions of images of few channels, such as the first one of a network, with ReLU or clip.

oneDNN first copies the image to channels last; its kernel runs where filters are not constant. Here
each step copies a few rows to the thread's stack, with their padding, and broadcasts pixels from
there: a vector holds output channels. Sums are float32, in the order of the filter's elements,
whatever the number of threads. On two cores of a Xeon with AMX, batch 1: ResNet-50's takes 0.7 of
oneDNN's time, MobileNet's half of it.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.packed_filters import (
    FLOAT,
    PackedPlan,
    activated,
    are_plain,
    image_size,
    least_steps,
    limits_of,
    when_packed,
)
from gluonish.kernels.generated.support import enabled
from gluonish.ops.fused.operator import FUSED_CONVOLUTION
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.nn.convolution import CONVOLUTION
from gluonish.ops.registry import Attrs

_LINE = 64  # bytes of a cache line
_CHANNELS = 4  # maximum channels of the image
_WINDOW = 11  # maximum height and width of a window
_WIDTH = 16  # minimum width of image and output
_PRODUCTS = 1 << 20  # multiplications below which oneDNN's kernel runs
_FILTERS = 16  # the number of filters must be a multiple of this
_ROWS = 8  # maximum rows of the output in a step
_STACK = 1 << 18  # maximum bytes of a step's copy
_CHUNKS = 8  # of steps, which threads share

Arrays = Sequence[Array]


class _Form(NamedTuple):
    """What the code depends on.

    Attributes:
        vectors: Vectors of filters whose sums are in registers.
        pixels: Pixels of a row whose sums are in registers.
        taps: Width of a window.
        stride: Stride along width.
        with_bias: Whether to add a bias.
        activation: None, ``"relu"`` or ``"clip"``.
    """

    vectors: int
    pixels: int
    taps: int
    stride: int
    with_bias: bool
    activation: str | None


_NAMES = (
    "data weights bias out channels height width high wide blocks rows pad_h pad_w stride_h "
    "kernel_h line taken panels groups low top"
)


@cache
def _kernel(form: _Form) -> CompiledKernel:
    def text() -> str:
        code = Assembler(_NAMES)
        _write(code, form)
        return code.finish()

    return compile_assembly(f"first convolution {form} {lanes()}", text, __name__)


def _write(code: Assembler, form: _Form) -> None:
    """Write the loop over steps: some rows of the output of a sample."""
    params = code.params
    plane = code.product(params["taken"], params["line"])  # bytes of a channel's rows
    # Zeros are stored up to a vector beyond the last row.
    copied = code.reserve(code.sum(code.product(plane, params["channels"]), lanes() * FLOAT))
    with code.loop(code.begin, code.end) as step:
        sample, block = code.divide(step, params["blocks"])
        first = code.product(block, params["rows"])
        last = code.least(code.sum(first, params["rows"]), params["high"])
        _copy_rows(code, sample, first, copied, plane)
        with code.loop(first, last) as y:
            down = code.product(code.difference(y, first), params["stride_h"], params["line"])
            row = code.sum(code.product(sample, params["high"]), y)
            with code.loop(0, params["groups"]) as group, code.loop(0, params["panels"]) as panel:
                x = code.least(
                    code.product(panel, form.pixels),
                    code.difference(params["wide"], form.pixels),
                )
                source = code.sum(copied, down, code.product(x, form.stride * FLOAT))
                pixel = code.sum(code.product(row, params["wide"]), x)
                _write_panel(code, form, group, source, plane, pixel)


def _copy_rows(code: Assembler, sample: Value, first: Value, copied: Value, plane: Value) -> None:
    """Copy the rows of a sample that a step reads, with zeros around."""
    params = code.params
    nbytes = lanes() * FLOAT
    width = code.product(params["width"], FLOAT)
    left = code.product(params["pad_w"], FLOAT)
    top = code.difference(code.product(first, params["stride_h"]), params["pad_h"])
    zeros = code.zeros()
    with code.loop(0, params["channels"]) as channel, code.loop(0, params["taken"]) as r:
        image = code.sum(code.product(sample, params["channels"]), channel)
        y = code.sum(top, r)
        source = code.sum(code.product(image, params["height"]), y)
        source = code.sum(params["data"], code.product(source, width))
        target = code.sum(copied, code.product(channel, plane), code.product(r, params["line"]))
        inside = code.within(y, params["height"])
        with code.when(inside):
            start = code.sum(target, left)
            with code.loop(0, left, nbytes) as at:
                code.store(zeros, code.sum(target, at))
            after = code.sum(start, width)
            with code.loop(after, code.sum(target, params["line"]), nbytes) as at:
                # What is behind the row is the next one, which is not copied yet.
                code.store(zeros, at)
            end = code.difference(width, nbytes)
            with code.loop(0, width, nbytes) as at:
                offset = code.least(at, end)
                code.store(code.load(code.sum(source, offset)), code.sum(start, offset))
        with code.when(code.unless(inside)), code.loop(0, params["line"], nbytes) as at:
            code.store(zeros, code.sum(target, at))


def _write_panel(
    code: Assembler, form: _Form, group: Value, source: Value, plane: Value, pixel: Value
) -> None:
    """Write the sums of some pixels and filters, and store them."""
    params = code.params
    nbytes = lanes() * FLOAT
    width = form.vectors * nbytes  # bytes of the filters of a group
    filters = code.product(params["groups"], width)
    terms = code.product(params["channels"], params["kernel_h"], form.taps)
    weights = code.sum(params["weights"], code.product(group, terms, width))
    across = code.product(group, width)
    sums = [code.zeros()] * form.vectors
    if form.with_bias:
        bias = code.sum(params["bias"], across)
        sums = [code.load(code.sum(bias, i * nbytes)) for i in range(form.vectors)]

    def add_channel(channel: Value, sums: list[Value]) -> list[Value]:
        pixels = code.sum(source, code.product(channel, plane))
        term = code.product(channel, params["kernel_h"])

        def add_row(i: Value, sums: list[Value]) -> list[Value]:
            line = code.sum(pixels, code.product(i, params["line"]))
            at = code.sum(weights, code.product(code.sum(term, i), form.taps * width))
            return _added(code, form, line, at, sums)

        return code.fold(0, params["kernel_h"], 1, sums, add_row)

    sums = code.fold(0, params["channels"], 1, sums * form.pixels, add_channel)
    out = code.sum(params["out"], code.product(pixel, filters), across)
    for p in range(form.pixels):
        target = code.sum(out, code.product(filters, p))
        for v in range(form.vectors):
            found = activated(code, form.activation, sums[p * form.vectors + v])
            code.store(found, code.sum(target, v * nbytes))


def _added(
    code: Assembler, form: _Form, line: Value, weights: Value, sums: list[Value]
) -> list[Value]:
    """Return the sums with the products of one row of the window."""
    nbytes = lanes() * FLOAT
    sums = list(sums)
    for tap in range(form.taps):
        at = code.sum(weights, tap * form.vectors * nbytes)
        factors = [code.load(code.sum(at, v * nbytes)) for v in range(form.vectors)]
        for p in range(form.pixels):
            x = code.load_element(code.sum(line, (p * form.stride + tap) * FLOAT))
            for v, factor in enumerate(factors):
                number = p * form.vectors + v
                sums[number] = code.fma(factor, x, sums[number])
    return sums


def _plan(arrays: Arrays, attrs: Attrs) -> PackedPlan:
    out, data, weight = arrays[:3]
    samples, filters, high, wide = out.shape
    _, channels, height, width = data.shape
    kernel_h, taps = weight.shape[2:]
    stride_h, stride = attrs["stride"] or (1, 1)
    pad_h, pad_w = attrs["pad"] or (0, 0)
    vectors = _vectors(filters)
    pixels = _pixels(vectors, wide)
    form = _Form(vectors, pixels, taps, stride, not attrs["no_bias"], attrs.get("activation"))
    rows = _rows(samples, high)
    blocks = -(-high // rows)
    taken = (rows - 1) * stride_h + kernel_h
    line = -(-FLOAT * (width + 2 * pad_w) // _LINE) * _LINE + _LINE
    if taken * line * channels > _STACK:
        raise RefusedError(f"first convolution: expected a smaller image, got {data.shape}")
    values = {
        "channels": channels,
        "height": height,
        "width": width,
        "high": high,
        "wide": wide,
        "blocks": blocks,
        "rows": rows,
        "pad_h": pad_h,
        "pad_w": pad_w,
        "stride_h": stride_h,
        "kernel_h": kernel_h,
        "line": line,
        "taken": taken,
        "panels": -(-wide // pixels),
        "groups": filters // (vectors * lanes()),
        **limits_of(attrs),
    }
    grain = least_steps(rows * wide * weight.size)
    steps = samples * blocks
    return PackedPlan(_kernel(form), _NAMES, values, steps, weight, vectors * lanes(), grain)


def _vectors(filters: int) -> int:
    """Return how many vectors of filters to sum at a time."""
    most = 4 if lanes() == 16 else 2
    return next(n for n in range(most, 0, -1) if filters % (n * lanes()) == 0)


def _pixels(vectors: int, wide: int) -> int:
    """Return how many pixels to sum at a time: those of which the last ones waste least."""
    registers = 28 if lanes() == 16 else 12
    most = min({1: 14, 2: 13, 3: 8, 4: 6}[vectors], (registers - 2) // vectors)
    return min(range(most, most // 2, -1), key=lambda n: -wide % n)


def _rows(samples: int, high: int) -> int:
    """Return how many rows to compute in a step: few, if threads would get different numbers."""

    def cost(rows: int) -> float:
        chunks = -(-samples * -(-high // rows) // _CHUNKS) * _CHUNKS
        return chunks * (rows + 0.25)  # a step copies rows that its neighbours copy, too

    return min(range(1, _ROWS + 1), key=cost)


def convolution(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan a convolution.

    Args:
        outputs: out (N, O, *spatial).
        inputs: data (N, C, *spatial), weight (O, C, *kernel), and bias (O,) unless ``no_bias``.
        attrs: The attributes of Convolution, or of ``_fused_convolution``.

    Raises:
        RefusedError: The data are not contiguous, the channels of the output are not last in
            memory, or the image is too wide.
    """
    out, data, weight = outputs[0], inputs[0], inputs[1]
    arrays = (*outputs, *inputs)
    if (
        not all(x.flags.c_contiguous for x in inputs)
        or not np.moveaxis(out, 1, -1).flags.c_contiguous
        or not all(x.flags.aligned for x in arrays)
    ):
        raise RefusedError(
            "first convolution: expected contiguous data and an output with channels last in "
            f"memory, got strides {data.strides}, {weight.strides} and {out.strides}"
        )
    return when_packed(_plan(arrays, attrs), outputs, inputs, attrs)


def _supports(data: Spec, weight: Spec, *rest: Spec, **attrs: Any) -> bool:
    if not are_plain((data, weight, *rest), attrs) or attrs["num_group"] != 1:
        return False
    pads = attrs["pad"] or (0, 0)
    high, wide = image_size(data, weight, attrs)
    return (
        data.shape[1] <= _CHANNELS
        and weight.shape[0] % _FILTERS == 0
        and max(weight.shape[2:]) <= _WINDOW
        and min(pads) >= 0
        and max(pads) < _WINDOW
        and min(data.shape[3], wide) >= _WIDTH
        and data.shape[0] * high * wide * math.prod(weight.shape) >= _PRODUCTS
    )


KERNELS = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED, "first_convolution", _supports, plan=convolution, enabled=enabled
        ),
    )
    for op in (CONVOLUTION, FUSED_CONVOLUTION)
)
