"""Depthwise convolutions of channels-last images, with ReLU or clip.

With other strides, for few rows or few channels, and for filters that are not constant (training),
oneDNN's kernels are as fast. On two cores of a Xeon with AMX, 3 x 3 windows take 0.75 to 0.9 of
oneDNN's time, 7 x 7 windows half of it.

A vector holds channels; the sums of some neighbouring pixels are in registers while the rows of
their windows pass. Columns beside the image are left out where the code is written. Sums are
float32, in the order of the filter's elements, whatever the number of threads.
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

_CHANNELS = 32  # the number of channels must be a multiple of this
_WINDOW = 7  # maximum height and width of a window
_PRODUCTS = 1 << 16  # multiplications below which oneDNN's kernel runs
_ROWS = 7  # of the output in a step; there must be two such steps for each group of channels

Arrays = Sequence[Array]


class _Form(NamedTuple):
    """What the code depends on.

    Attributes:
        vectors: Vectors of channels whose sums are in registers.
        pixels: Pixels of a row whose sums are in registers.
        taps: Width of a window.
        left: Columns before the image that the first pixel's window has.
        right: Columns after the image that the last pixel's window has.
        is_single: Whether a row has no other pixels.
        with_bias: Whether to add a bias.
        activation: None, ``"relu"`` or ``"clip"``.
    """

    vectors: int
    pixels: int
    taps: int
    left: int
    right: int
    is_single: bool
    with_bias: bool
    activation: str | None

    @property
    def columns(self) -> int:
        """Columns of the image that the windows of the pixels have."""
        return self.pixels + self.taps - 1


_NAMES = (
    "data weights bias out groups height width high wide blocks rows pad_h kernel_h middle low top"
)


@cache
def _kernel(form: _Form) -> CompiledKernel:
    def text() -> str:
        code = Assembler(_NAMES)
        _write(code, form)
        return code.finish()

    return compile_assembly(f"channel windows {form} {lanes()}", text, __name__)


def _write(code: Assembler, form: _Form) -> None:
    """Write the loop over steps: some rows of the output, and a group of channels."""
    params = code.params
    with code.loop(code.begin, code.end) as step:
        place, group = code.divide(step, params["groups"])
        sample, block = code.divide(place, params["blocks"])
        first = code.product(block, params["rows"])
        last = code.least(code.sum(first, params["rows"]), params["high"])
        with code.loop(first, last) as y:
            _write_row(code, form, sample, group, y)


def _write_row(code: Assembler, form: _Form, sample: Value, group: Value, y: Value) -> None:
    params = code.params
    nbytes = form.vectors * lanes() * FLOAT  # of a pixel of a group
    pixel = code.product(params["groups"], nbytes)
    across = code.product(group, nbytes)
    top = code.difference(y, params["pad_h"])
    start = code.greatest(code.difference(0, top), 0)
    stop = code.least(params["kernel_h"], code.difference(params["height"], top))
    line = code.sum(code.product(sample, params["height"]), top)
    data = code.sum(params["data"], across)
    weights = code.sum(
        params["weights"], code.product(group, params["kernel_h"], form.taps * nbytes)
    )
    sums = [code.zeros()] * form.vectors
    if form.with_bias:
        sums = _load(code, code.sum(params["bias"], across), form.vectors)
    target = code.sum(code.product(sample, params["high"]), y)
    target = code.sum(params["out"], across, code.product(target, params["wide"], pixel))

    def write_panel(x: Value, before: int, behind: int) -> None:
        column = code.difference(x, form.left)

        def add_row(i: Value, sums: list[Value]) -> list[Value]:
            at = code.sum(code.product(code.sum(line, i), params["width"]), column)
            source = code.sum(data, code.product(at, pixel))
            factors = code.sum(weights, code.product(i, form.taps * nbytes))
            used = range(before, form.columns - behind)
            return _added(code, form, source, pixel, factors, sums, used)

        found = code.fold(start, stop, 1, sums * form.pixels, add_row)
        for p in range(form.pixels):
            to = code.sum(target, code.product(code.sum(x, p), pixel))
            for v in range(form.vectors):
                vector = activated(code, form.activation, found[p * form.vectors + v])
                code.store(vector, code.sum(to, v * lanes() * FLOAT))

    if form.is_single:
        write_panel(code.number(0), form.left, form.right)
        return
    write_panel(code.number(0), form.left, 0)
    with code.loop(0, params["middle"]) as number:
        write_panel(code.product(code.sum(number, 1), form.pixels), 0, 0)
    write_panel(code.difference(params["wide"], form.pixels), 0, form.right)


def _load(code: Assembler, at: Value, count: int) -> list[Value]:
    return [code.load(code.sum(at, i * lanes() * FLOAT)) for i in range(count)]


def _added(
    code: Assembler,
    form: _Form,
    source: Value,
    pixel: Value,
    factors: Value,
    sums: list[Value],
    used: range,
) -> list[Value]:
    """Return the sums with the products of one row of the windows."""
    weights = _load(code, factors, form.taps * form.vectors)
    sums = list(sums)
    for column in used:
        vectors = _load(code, code.sum(source, code.product(pixel, column)), form.vectors)
        for p in range(form.pixels):
            tap = column - p
            if not 0 <= tap < form.taps:
                continue
            for v, x in enumerate(vectors):
                number = p * form.vectors + v
                sums[number] = code.fma(weights[tap * form.vectors + v], x, sums[number])
    return sums


def _plan(arrays: Arrays, attrs: Attrs) -> PackedPlan:
    out, data, weight = arrays[:3]
    samples, channels, high, wide = out.shape
    height, width = data.shape[2:]
    kernel_h, taps = weight.shape[2:]
    pad_h, pad_w = attrs["pad"] or (0, 0)
    right = wide - 1 - pad_w + taps - width
    vectors = _vectors(channels)
    pixels = _pixels(vectors, taps, wide, max(pad_w, right))
    form = _Form(
        *(vectors, pixels, taps, pad_w, max(right, 0)),
        *(wide == pixels, not attrs["no_bias"], attrs.get("activation")),
    )
    blocks = max(1, high // _ROWS)
    rows = -(-high // blocks)
    blocks = -(-high // rows)
    groups = channels // (vectors * lanes())
    values = {
        "groups": groups,
        "height": height,
        "width": width,
        "high": high,
        "wide": wide,
        "blocks": blocks,
        "rows": rows,
        "pad_h": pad_h,
        "kernel_h": kernel_h,
        "middle": max(0, -(-wide // pixels) - 2),
        **limits_of(attrs),
    }
    width = vectors * lanes()
    grain = least_steps(rows * wide * kernel_h * taps * width)
    steps = samples * blocks * groups
    return PackedPlan(_kernel(form), _NAMES, values, steps, weight, width, grain)


def _vectors(channels: int) -> int:
    """Return how many vectors of channels to sum at a time."""
    return 2 if channels % (2 * lanes()) == 0 else 1


def _pixels(vectors: int, taps: int, wide: int, beside: int) -> int:
    """Return how many pixels to sum at a time: those of which the last ones waste least.

    Only windows of the first and of the last pixels may have columns beside the image.

    Raises:
        RefusedError: There is no such number.
    """
    registers = 28 if lanes() == 16 else 13
    most = min(14, wide, registers // vectors - taps)
    fitting = [
        n for n in range(most, 0, -1) if beside <= n and (n == wide or beside <= (wide % n or n))
    ]
    if not fitting:
        raise RefusedError(f"channel windows: expected a wider image, got {wide} pixels")
    return min(fitting, key=lambda n: (-(-wide // n) * (n + 1), -n))


def convolution(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan a convolution of each channel.

    Args:
        outputs: out (N, C, *spatial).
        inputs: data (N, C, *spatial), weight (C, 1, *kernel), and bias (C,) unless ``no_bias``.
        attrs: The attributes of Convolution, or of ``_fused_convolution``.

    Raises:
        RefusedError: The channels of an image are not last in memory, or the image is too narrow.
    """
    out, (data, *rest) = outputs[0], inputs
    images = [np.moveaxis(x, 1, -1) for x in (out, data)]
    arrays = (out, *inputs)
    if not all(x.flags.c_contiguous for x in (*images, *rest)) or not all(
        x.flags.aligned for x in arrays
    ):
        raise RefusedError(
            "channel windows: expected channels last in memory, got strides "
            f"{data.strides} and {out.strides}"
        )
    return when_packed(_plan(arrays, attrs), outputs, inputs, attrs)


def _supports(data: Spec, weight: Spec, *rest: Spec, **attrs: Any) -> bool:
    if not are_plain((data, weight, *rest), attrs):
        return False
    channels = data.shape[1]
    if channels % _CHANNELS or not channels == attrs["num_group"] == weight.shape[0]:
        return False
    pads = attrs["pad"] or (0, 0)
    high, wide = image_size(data, weight, attrs)
    return (
        max(weight.shape[2:]) <= _WINDOW
        and all(0 <= pad < taps for pad, taps in zip(pads, weight.shape[2:], strict=True))
        and set(attrs["stride"] or ()) <= {1}
        and data.shape[0] * (high // _ROWS) > 1
        and data.shape[0] * high * wide * math.prod(weight.shape) >= _PRODUCTS
    )


KERNELS = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED, "channel_windows", _supports, plan=convolution, enabled=enabled
        ),
    )
    for op in (CONVOLUTION, FUSED_CONVOLUTION)
)
