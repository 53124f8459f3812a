"""Sources of pooling kernels for channels-last arrays.

The outer loops are over windows, the innermost over channels. Small windows are unrolled; larger
ones are loops over elements, with partial results of `CHUNK` channels on the stack.

The gradient of overlapping windows is added to elements that are already written, and stored to all
others: an element is written if its row was in an earlier row of windows, or its column in an
earlier window. Only elements outside all windows are cleared.
"""

from collections.abc import Iterator

from gluonish.kernels.generated.pooling_windows import (
    AXES,
    CHUNK,
    DIVISOR,
    SIZES,
    WHOLE_SIZES,
    Form,
    at_tap,
    bounds,
    clamped_indices,
    direct_indices,
    element_loops,
    indented,
    is_inside,
    joined,
    masked,
    valid_masks,
    written_masks,
)

MAX_UNROLLED = 16  # elements per window up to which it is unrolled; beyond, loops are as fast


def forward_source(form: Form) -> str:
    """Return the source that fills operand 0 from operand 1; a step is a row of windows."""
    if form.whole:
        return joined(
            [
                "def body(begin, end, params):",
                f"    out, x = {form.view(0)}, {form.view(1)}",
                WHOLE_SIZES.rstrip(),
                "    acc = scratch()",
                "    for sample in range(begin, end):",
                "        y = sample * channels",
                *indented(2, _forward_loops(form)),
            ]
        )
    lines = [
        "def body(begin, end, params):",
        f"    out, x = {form.view(0)}, {form.view(1)}",
        SIZES.rstrip(),
        "    acc = scratch()" if form.kernel is None else "",
        "    for row in range(begin, end):",
        "        plane = row // count_h",
        "        sample = plane // count_d",
        *indented(2, bounds(form, "h", "(row % count_h)")),
        *indented(2, bounds(form, "d", "(plane % count_d)")),
        "        for window in range(count_w):",
        *indented(3, bounds(form, "w", "window")),
        "            y = (row * count_w + window) * channels",
        "" if form.largest else f"            {DIVISOR}",
        *indented(3, _forward_loops(form) if form.kernel is None else _forward_taps(form)),
    ]
    return joined(lines)


def _forward_taps(form: Form) -> Iterator[str]:
    if form.inside:
        yield from (*direct_indices(form), *_forward_channels(form, clamped=False))
    elif form.largest:
        yield from (*clamped_indices(form), *_forward_channels(form, clamped=False))
    else:
        yield f"if {is_inside()}:"
        yield from indented(1, [*direct_indices(form), *_forward_channels(form, clamped=False)])
        yield "else:"
        yield from indented(
            1, [*clamped_indices(form), *valid_masks(form), *_forward_channels(form, clamped=True)]
        )


def _forward_channels(form: Form, clamped: bool) -> Iterator[str]:
    yield "for c in range(channels):"
    yield "    independent()"
    names = []
    for number, tap in enumerate(form.taps()):
        value = form.load("x", f"{at_tap(tap)} + c")
        yield f"    v{number} = " + (masked(value, f"valid{at_tap(tap)}") if clamped else value)
        names.append(f"v{number}")
    if not form.largest:
        yield "    " + form.store("out", "y + c", f"({' + '.join(names)}) / divisor")
        return
    # This select is one instruction, but loses a NaN in its first operand; LLVM checks for NaN in
    # two elements at a time.
    yield "    a = v0"
    for name in names[1:]:
        yield f"    a = select(a > {name}, a, {name})"
    yield f"    broken = {' | '.join(f'({name} != {name})' for name in names)}"
    yield "    " + form.store("out", "y + c", "select(broken, float32(np.nan), a)")


def _forward_loops(form: Form) -> Iterator[str]:
    start = "float32(-np.inf)" if form.largest else "zero"
    value = form.load("x", "t + c")
    held = "float_of_bits(acc[c])"
    both = f"maximum({held}, {value})" if form.largest else f"{held} + {value}"
    result = held if form.largest else f"{held} / divisor"
    yield from [
        f"for chunk in range(0, channels, {CHUNK}):",
        f"    size = min({CHUNK}, channels- chunk)",
        "    for c in range(size):",
        "        independent()",
        f"        acc[c] = bits_of_float({start})",
        *indented(
            1,
            element_loops(
                form,
                "chunk",
                [
                    "for c in range(size):",
                    "    independent()",
                    f"    acc[c] = bits_of_float({both})",
                ],
            ),
        ),
        "    for c in range(size):",
        "        independent()",
        "        " + form.store("out", "y + chunk + c", result),
    ]


# NaN compares unequal to everything. A maximum of -inf in a window that begins in the padding is
# attributed to the padding.
_LOST = """\
lost = float32(np.nan)
if start_d < 0 or start_h < 0 or start_w < 0:
    lost = float32(-np.inf)
"""

# Clears `count` runs of `length` elements, `pitch` apart.
_CLEAR = """\
def clear(x, start, count, pitch, length):
    if length == pitch:
        length *= count
        count = 1
    for i in range(count):
        for j in range(length):
            x[start + i * pitch + j] = {zero}

"""


def backward_source(form: Form) -> str:
    """Return the source that fills operand 0, the gradient of the data.

    Operands: gradient of the data, gradient of the output; for a maximum also data and output. A
    step is a sample, or a block of its channels.
    """
    extra = f"    x, out = {form.view(2)}, {form.view(3)}" if form.largest else ""
    if form.whole:
        return joined(
            [
                "def body(begin, end, params):",
                f"    dx, grad = {form.view(0)}, {form.view(1)}",
                extra,
                WHOLE_SIZES.rstrip(),
                "    held = scratch()",
                "    pitch = 1",
                "    lost = float32(np.nan)",
                *indented(1, _items()),
                "        y = sample * channels",
                "        g = y",
                *indented(2, _backward_loops(form)),
            ]
        )
    lines = [
        _CLEAR.format(zero="uint16(0)" if form.narrow else "float32(0)"),
        "def body(begin, end, params):",
        f"    dx, grad = {form.view(0)}, {form.view(1)}",
        extra,
        SIZES.rstrip(),
        "    held = scratch()" if form.kernel is None else "",
        "    pitch = count_d * count_h * count_w" if form.planar else "",
        *indented(1, _items()),
        "        top = sample * size_d * size_h * size_w * channels + first_c",
        *indented(2, _backward_windows(form)),
    ]
    return joined(lines)


def _items() -> list[str]:
    """Return the loop over the steps of the gradient, and its first lines."""
    return [
        "for item in range(begin, end):",
        "    sample = item // blocks",
        "    first_c = item % blocks * step",
        "    last_c = min(first_c + step, channels)",
    ]


def _backward_windows(form: Form) -> Iterator[str]:
    tracks = form.kernel is not None and form.overlap is not None
    if form.overlap is None:
        yield "clear(dx, top, size_d * size_h * size_w, channels, last_c - first_c)"
    yield "end_d = 0"
    yield "for pd in range(count_d):"
    yield from indented(1, bounds(form, "d", "pd"))
    yield "    end_h = 0"
    yield "    for ph in range(count_h):"
    yield from indented(2, bounds(form, "h", "ph"))
    yield "        end_w = 0"
    yield "        for pw in range(count_w):"
    yield from indented(3, bounds(form, "w", "pw"))
    yield "            y = (((sample * count_d + pd) * count_h + ph) * count_w + pw) * channels"
    if form.planar:
        yield "            row = (sample * channels * count_d + pd) * count_h + ph"
        yield "            g = row * count_w + pw"
    yield "" if form.largest else f"            {DIVISOR}"
    yield from indented(3, _backward_loops(form) if form.kernel is None else _backward_taps(form))
    yield "            end_w = last_w"
    if tracks:
        yield from indented(2, _clear_lines("end_h, last_h", "end_w"))
    yield "        end_h = last_h"
    if tracks:
        yield from indented(1, _clear_lines("end_h, size_h", "0"))
    yield "    end_d = last_d"
    if tracks:
        yield "for d in range(end_d, size_d):"
        yield "    index = top + d * size_h * size_w * channels"
        yield "    clear(dx, index, size_h * size_w, channels, last_c - first_c)"


def _clear_lines(rows: str, column: str) -> list[str]:
    """Return lines that clear elements of rows, from a column on, which no window has written."""
    return [
        "for d in range(end_d, last_d):",
        f"    for h in range({rows}):",
        f"        index = top + ((d * size_h + h) * size_w + {column}) * channels",
        f"        clear(dx, index, size_w - {column}, channels, last_c - first_c)",
    ]


def _backward_taps(form: Form) -> Iterator[str]:
    overlap = form.overlap or (0, 0, 0)
    conditions = [f"p{a} > 0" for a, reach in zip(AXES, overlap, strict=True) if reach]
    if not form.inside:
        conditions.append(is_inside())
    if not conditions:
        yield from (*direct_indices(form), *_backward_channels(form, clamped=False))
        return
    yield from clamped_indices(form)
    yield from _LOST.splitlines() if form.largest else valid_masks(form)
    if form.overlap is not None:
        yield from written_masks(form)
    yield from _backward_channels(form, clamped=True)


def _backward_channels(form: Form, clamped: bool) -> Iterator[str]:
    """Yield the loop over channels; ``left`` is the gradient not yet assigned to an element."""
    gradient = form.load("grad", "g + c * pitch" if form.planar else "y + c")
    yield "for c in range(first_c, last_c):"
    yield "    independent()"
    if form.largest:
        yield f"    m = {form.load('out', 'y + c')}"
        yield f"    left = {f'select(m == lost, zero, {gradient})' if clamped else gradient}"
    else:
        yield f"    left = {gradient} / divisor"
    for tap in form.taps():
        index = f"{at_tap(tap)} + c"
        share = "left"
        if form.largest:
            yield f"    hit = {form.load('x', index)} == m"
            share = "select(hit, left, zero)"
        elif clamped:
            share = masked("left", f"valid{at_tap(tap)}")
        written = form.load("dx", index)
        if form.overlap is None:
            share = f"{written} + {share}"
        elif clamped:
            share = f"{masked(written, f'written{at_tap(tap)}')} + {share}"
        elif any(i < reach for i, reach in zip(tap, form.overlap, strict=True)):
            share = f"{written} + {share}"
        yield "    " + form.store("dx", index, share)
        if form.largest:
            yield "    left = select(hit, zero, left)"


def _backward_loops(form: Form) -> Iterator[str]:
    gradient = form.load("grad", "g + (chunk + c) * pitch" if form.planar else "y + chunk + c")
    if form.largest:
        yield from () if form.whole else _LOST.splitlines()
        gradient = f"select({form.load('out', 'y + chunk + c')} == lost, zero, {gradient})"
    else:
        gradient += " / divisor"
    yield f"for chunk in range(first_c, last_c, {CHUNK}):"
    yield f"    size = min({CHUNK}, last_c- chunk)"
    yield "    for c in range(size):"
    yield "        independent()"
    yield f"        held[c] = bits_of_float({gradient})"
    body = ["for c in range(size):", "    independent()", "    left = float_of_bits(held[c])"]
    share = "left"
    if form.largest:
        equal = f"{form.load('x', 't + c')} == {form.load('out', 'y + chunk + c')}"
        body += [
            f"    hit = {equal}",
            "    held[c] = bits_of_float(select(hit, zero, left))",
        ]
        share = "select(hit, left, zero)"
    if form.overlap is None:
        share = f"{form.load('dx', 't + c')} + {share}"
    body.append("    " + form.store("dx", "t + c", share))
    yield from indented(1, element_loops(form, "chunk", body))
