"""Depthwise convolutions of images, and their gradients: one filter for each channel.

The sums over a window are written out, so that the inner loops run along rows of the image.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from gluonish.kernels.compiler import CompiledKernel, compile_kernel
from gluonish.kernels.generated.window_columns import Windows
from gluonish.ops.kernel import Array, address

_GRAIN = 1 << 14  # multiplications for each thread
_GROUP = 4  # rows of an output that are computed together

# Params: data, weight, output; channels, height, width, output height and width; stride and
# dilation along height; padding along both axes; number of samples. The window, and stride and
# dilation along width, are constants.
_HEAD = """
def body(begin, end, params):
    data, weight, out = f32(params[0]), f32(params[1]), f32(params[2])
    channels, height, width, high, wide = params[3], params[4], params[5], params[6], params[7]
    stride_h, dilate_h, pad_h, pad_w = params[8], params[9], params[10], params[11]
    samples = params[12]
    first = min((pad_w + {stride} - 1) // {stride}, wide)
    room = width - 1 + pad_w - {reach}
    last = select(room >= 0, room // {stride} + 1, int64(0))
    last = max(min(last, wide), first)
"""

# Rows of the output are computed in groups, which share the pixels that they read, and each row in
# blocks of equal size; the last group and the last block overlap those before them. Further
# parameters: a copy of the data with its padding, and that copy's height and width; without padding
# the data itself, and a height of 0.
_FORWARD = """
    padded, tall, broad = f32(params[13]), params[14], params[15]
    step = dilate_h * broad
    for plane in range(begin, end):
        at = plane % channels * {elements}
        {loads}
        start = plane * tall * broad
        if tall > 0:
            for p in range(start, start + tall * broad):
                independent()
                padded[p] = float32(0)
            for y in range(min(height, tall - pad_h)):
                line = start + (y + pad_h) * broad + pad_w
                pixels = (plane * height + y) * width
                for x in range(min(width, broad - pad_w)):
                    independent()
                    padded[line + x] = data[pixels + x]
        else:
            start = plane * height * width
        for group in range((high + {group} - 1) // {group}):
            y = min(group * {group}, high - {group})
            target = (plane * high + y) * wide
            source = start + y * stride_h * broad
            {blocks}
"""

# ``data`` is the gradient of the output, ``out`` that of the data.
_BACKWARD_DATA = """
    for plane in range(begin, end):
        channel = plane % channels
        for p in range(plane * height * width, (plane + 1) * height * width):
            independent()
            out[p] = float32(0)
        for y in range(high):
            source = (plane * high + y) * wide
            for i in range({rows}):
                line = y * stride_h + i * dilate_h - pad_h
                if line >= 0 and line < height:
                    target = (plane * height + line) * width - pad_w
                    for j in range({taps}):
                        factor = weight[(channel * {rows} + i) * {taps} + j]
                        for x in range(first, last):
                            independent()
                            out[target + x * {stride} + j * {dilate}] += factor * data[source + x]
                        for x in range(first):
                            pixel = x * {stride} + j * {dilate}
                            if pixel >= pad_w and pixel < pad_w + width:
                                out[target + pixel] += factor * data[source + x]
                        for x in range(last, wide):
                            pixel = x * {stride} + j * {dilate}
                            if pixel >= pad_w and pixel < pad_w + width:
                                out[target + pixel] += factor * data[source + x]
"""

# ``weight`` is the gradient of the output, ``out`` that of the weight. A step is a row of a filter.
_BACKWARD_WEIGHT = """
    for step in range(begin, end):
        channel, i = step // {rows}, step % {rows}
        {zero_totals}
        for n in range(samples):
            plane = n * channels + channel
            for y in range(high):
                line = y * stride_h + i * dilate_h - pad_h
                if line >= 0 and line < height:
                    source = (plane * height + line) * width - pad_w
                    at = (plane * high + y) * wide
                    {zero_sums}
                    for x in range(first, last):
                        g = weight[at + x]
                        {sums}
                    for x in range(first):
                        g = weight[at + x]
                        {border_sums}
                    for x in range(last, wide):
                        g = weight[at + x]
                        {border_sums}
                    {add_totals}
        {store}
"""


def _each(count: int, text: str, indent: int) -> str:
    return ("\n" + " " * indent).join(text.replace("@", str(j)) for j in range(count))


class _Form(NamedTuple):
    """What a source depends on.

    Attributes:
        rows: Rows of the window.
        taps: Columns of the window.
        stride: Stride along width.
        dilate: Dilation along width.
        group: Rows of the output that are computed together; more than one only where neither
            stride nor dilation along height is more than one.
    """

    rows: int
    taps: int
    stride: int
    dilate: int
    group: int


_BLOCK = """if wide >= {size}:
                for block in range((wide + {size} - 1) // {size}):
                    left = min(block * {size}, wide - {size})
                    for t in range({size}):
                        independent()
                        x = left + t
                        {sums}
            el"""
_REST = """se:
                for x in range(wide):
                    independent()
                    {sums}"""


def _sums(form: _Form) -> list[str]:
    """Return the statements that compute pixel x of a group of rows of the output."""
    lines = [f"s{y} = float32(0)" for y in range(form.group)]
    for j in range(form.taps):
        for row in range(form.rows + form.group - 1):
            lines.append(
                f"pixel = padded[source + {row} * step + x * {form.stride} + {j * form.dilate}]"
            )
            for y in range(max(0, row - form.rows + 1), min(form.group, row + 1)):
                lines.append(f"s{y} += w{row - y}_{j} * pixel")
    return lines + [f"out[target + {y} * wide + x] = s{y}" for y in range(form.group)]


def _blocks(form: _Form) -> str:
    lines = _sums(form)
    blocks = [_BLOCK.format(size=size, sums=("\n" + " " * 24).join(lines)) for size in (16, 8, 4)]
    return "".join((*blocks, _REST.format(sums=("\n" + " " * 20).join(lines))))


def _source(text: str, form: _Form) -> str:
    rows, taps, stride, dilate, group = form
    column = f"x * {stride} + @ * {dilate}"
    border = (
        f"if {column} >= pad_w and {column} < pad_w + width:\n"
        f"                            s@ += g * data[source + {column}]"
    )
    loads = [f"w{i}_{j} = weight[at + {i * taps + j}]" for i in range(rows) for j in range(taps)]
    return (_HEAD + text).format(
        rows=rows,
        taps=taps,
        stride=stride,
        dilate=dilate,
        elements=rows * taps,
        reach=(taps - 1) * dilate,
        loads="\n        ".join(loads),
        group=group,
        blocks=_blocks(form),
        zero_totals=_each(taps, "t@ = float64(0)", 8),
        zero_sums=_each(taps, "s@ = float32(0)", 20),
        sums=_each(taps, f"s@ += g * data[source + {column}]", 24),
        border_sums=_each(taps, border, 24),
        add_totals=_each(taps, "t@ += float64(s@)", 20),
        store=_each(taps, f"out[step * {taps} + @] = float32(t@)", 8),
    )


@cache
def _kernel(text: str, form: _Form) -> CompiledKernel:
    return compile_kernel(_source(text, form))


def forward(data: Array, weight: Array, out: Array, windows: Windows) -> None:
    """Convolve each channel with its filter.

    Args:
        data: Array (N, C, H, W), as all of these float32 and contiguous.
        weight: Array (C, 1, *kernel).
        out: Array (N, C, *counts).
        windows: The windows.
    """
    planes = len(data) * data.shape[1]
    tall, broad = (
        (count - 1) * stride + (taps - 1) * dilate + 1
        for count, taps, stride, dilate in zip(
            windows.counts, windows.kernel, windows.stride, windows.dilate, strict=True
        )
    )
    if windows.pad == (0, 0):
        _run(_FORWARD, planes, data, weight, out, windows, (address(data), 0, windows.size[1]))
    else:
        padded = np.empty((planes, tall, broad), np.float32)
        _run(_FORWARD, planes, data, weight, out, windows, (address(padded), tall, broad))


def backward_data(grad: Array, weight: Array, out: Array, windows: Windows) -> None:
    """Compute the gradient of the data, like `forward`, from that of the output."""
    above, left = (
        step * (taps - 1) - pad
        for step, taps, pad in zip(windows.dilate, windows.kernel, windows.pad, strict=True)
    )
    if windows.stride == (1, 1) and min(above, left) >= 0:
        turned = np.ascontiguousarray(weight[..., ::-1, ::-1])
        around = windows._replace(size=windows.counts, counts=windows.size, pad=(above, left))
        forward(grad, turned, out, around)
    else:
        _run(_BACKWARD_DATA, len(grad) * grad.shape[1], grad, weight, out, windows)


def backward_weight(grad: Array, data: Array, out: Array, windows: Windows) -> None:
    """Compute the gradient of the filters from that of the output."""
    _run(_BACKWARD_WEIGHT, data.shape[1] * windows.kernel[0], data, grad, out, windows)


def _run(
    text: str,
    steps: int,
    first: Array,
    second: Array,
    out: Array,
    windows: Windows,
    more: tuple[int, ...] = (),
) -> None:
    samples, channels = first.shape[:2]
    rest = (windows.stride[0], windows.dilate[0], *windows.pad, samples)
    sizes = (channels, *windows.size, *windows.counts, *rest)
    params = np.array((address(first), address(second), address(out), *sizes, *more), np.int64)
    work = windows.counts[0] * windows.counts[1] * windows.kernel[1]
    work *= samples if text is _BACKWARD_WEIGHT else windows.kernel[0]
    group = 1
    if text is _FORWARD and windows.stride[0] == windows.dilate[0] == 1:
        group = min(windows.counts[0], _GROUP)
    form = _Form(*windows.kernel, windows.stride[1], windows.dilate[1], group)
    _kernel(text, form)(steps, params, max(1, _GRAIN // max(1, work)))
