"""Source lines shared by pooling kernels: params, and the bounds and indices of windows.

An index outside the data is clamped to the nearest element inside, which belongs to the same
window. This changes neither a maximum nor the first of equal elements; for means and their
gradients these elements are masked to zero.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from gluonish.core.spec import Shape

CHUNK = 1024  # channels

AXES = "dhw"


class Form(NamedTuple):
    """The properties that a kernel's source depends on; everything else is a param.

    Params: addresses of the operands (at most 4), channels, channels of a block, blocks; then in
    depth, height and width the extents of the data, numbers of windows, kernel, stride, padding;
    1 if means count padding.

    Attributes:
        largest: Whether to compute the maximum rather than the mean.
        narrow: Whether elements are bfloat16 rather than float32.
        inside: Whether all windows are inside the data.
        kernel: Size of the window in depth, height and width, to unroll it; None to loop over it.
        overlap: For the gradient: overlap of consecutive windows along each axis. None clears the
            gradient first and accumulates. Without unrolling it is zeros, for windows that tile the
            data, or None.
        planar: For the gradient: whether the output's gradient is contiguous rather than channels
            last.
        whole: Whether there is one window, which is all of the data, and is not unrolled. LLVM
            takes a third of the time for such a kernel.
    """

    largest: bool
    narrow: bool
    inside: bool
    kernel: Shape | None
    overlap: Shape | None = None
    planar: bool = False
    whole: bool = False

    def load(self, view: str, index: str) -> str:
        """Return the expression that reads an element as float32."""
        return f"load_bf16({view}[{index}])" if self.narrow else f"{view}[{index}]"

    def store(self, view: str, index: str, value: str) -> str:
        """Return the statement that stores a float32 to an element."""
        return f"{view}[{index}] = " + (f"store_bf16({value})" if self.narrow else value)

    def view(self, operand: int) -> str:
        """Return the expression for a view of an operand."""
        return f"{'u16' if self.narrow else 'f32'}(params[{operand}])"

    def taps(self) -> list[Shape]:
        """Return the positions (d, h, w) in an unrolled window, in order."""
        return list(product(*map(range, self.kernel or ())))


SIZES = """\
    zero = float32(0)
    channels, step, blocks = params[4], params[5], params[6]
    size_d, size_h, size_w = params[7], params[8], params[9]
    count_d, count_h, count_w = params[10], params[11], params[12]
    kernel_d, kernel_h, kernel_w = params[13], params[14], params[15]
    stride_d, stride_h, stride_w = params[16], params[17], params[18]
    pad_d, pad_h, pad_w = params[19], params[20], params[21]
    with_pad = params[22]
"""

# The start of a window, and its range inside the data; {a} is an axis, {i} the window's index.
_BOUNDS = """\
start_{a} = {i} * stride_{a} - pad_{a}
first_{a} = max(start_{a}, 0)
last_{a} = min(start_{a} + kernel_{a}, size_{a})
"""

# Number of elements in a mean, along an axis.
_SPAN = """\
span_{a} = last_{a} - first_{a}
if with_pad:
    span_{a} = min(start_{a} + kernel_{a}, size_{a} + pad_{a}) - start_{a}
"""

DIVISOR = "divisor = float32(span_d * span_h * span_w)"


WHOLE_SIZES = """\
    zero = float32(0)
    channels, step, blocks = params[4], params[5], params[6]
    count = params[7] * params[8] * params[9]
    divisor = float32(count)
"""


def element_loops(form: Form, channel: str, body: Iterable[str]) -> list[str]:
    """Return nested loops over a window; ``t`` is the index of ``channel`` of an element."""
    if form.whole:
        return [
            "for element in range(count):",
            f"    t = (sample * count + element) * channels + {channel}",
            *indented(1, body),
        ]
    return [
        "for d in range(first_d, last_d):",
        "    for h in range(first_h, last_h):",
        "        for w in range(first_w, last_w):",
        "            t = (((sample * size_d + d) * size_h + h) * size_w + w) * channels + "
        + channel,
        *indented(3, body),
    ]


def bounds(form: Form, axis: str, number: str) -> list[str]:
    """Return lines for a window's bounds along an axis, and for the span that a mean divides by."""
    text = _BOUNDS if form.largest else _BOUNDS + _SPAN
    return text.format(a=axis, i=number).splitlines()


def is_inside() -> str:
    """Return the condition that a window is inside the data."""
    return " and ".join(f"last_{a} - first_{a} == kernel_{a}" for a in AXES)


def direct_indices(form: Form) -> Iterator[str]:
    """Yield lines for the indices of a window's elements if all are inside the data."""
    yield (
        "origin = (((sample * size_d + start_d) * size_h + start_h) * size_w + start_w) * channels"
    )
    for d, h, w in form.taps():
        yield f"{at_tap((d, h, w))} = origin + (({d} * size_h + {h}) * size_w + {w}) * channels"


def clamped_indices(form: Form) -> Iterator[str]:
    """Yield lines for the indices of a window's elements, clamped to the data."""
    lengths = form.kernel or ()
    for axis, length in zip(AXES, lengths, strict=True):
        for i in range(length):
            yield f"{axis}{i} = min(max(start_{axis} + {i}, 0), size_{axis} - 1)"
    for d, h in product(*map(range, lengths[:2])):
        yield f"row{d}_{h} = ((sample * size_d + d{d}) * size_h + h{h}) * size_w"
    for d, h, w in form.taps():
        yield f"{at_tap((d, h, w))} = (row{d}_{h} + w{w}) * channels"


def valid_masks(form: Form) -> Iterator[str]:
    """Yield lines for the masks of elements inside the data."""
    yield from _masks(form, "valid", "&", "start_{a} + {i} == {a}{i}")


def written_masks(form: Form) -> Iterator[str]:
    """Yield lines for the masks of elements that earlier windows or elements have written."""
    # Indices clamped from below equal the index of the first element inside; indices clamped from
    # above equal the index of the last.
    first = "{a}{i} < end_{a}"
    later = first + " or start_{a} + {i} <= 0 or start_{a} + {i} >= size_{a}"
    yield from _masks(form, "written", "|", first, later)


def _masks(form: Form, name: str, join: str, *conditions: str) -> Iterator[str]:
    """Yield lines that compute a mask for each element of a window, from conditions along the axes.

    Axes along which windows have a single element are omitted: there, windows neither overlap nor
    extend beyond the data.

    Args:
        name: Prefix of the masks' names.
        join: Operator that combines the axes.
        *conditions: Condition for the first element along an axis, and optionally for the others.
    """
    lengths = form.kernel or ()
    for axis, length in zip(AXES, lengths, strict=True):
        for i in range(length if length > 1 else 0):
            condition = conditions[min(i, len(conditions) - 1)].format(a=axis, i=i)
            tests = [f"({test})" for test in condition.split(" or ")]
            yield f"{name}_{axis}{i} = uint32(-flag_int64({' | '.join(tests)}))"
    for tap in form.taps():
        axes = zip(AXES, tap, lengths, strict=True)
        masks = [f"{name}_{axis}{i}" for axis, i, length in axes if length > 1]
        yield f"{name}{at_tap(tap)} = {f' {join} '.join(masks)}"


def at_tap(tap: Shape) -> str:
    """Return the name of the variable that has the index of a window's element."""
    return "t" + "_".join(map(str, tap))


def masked(value: str, mask: str) -> str:
    """Return the expression of a float32 that is 0 where its mask is 0."""
    return f"float_of_bits(bits_of_float({value}) & {mask})"


def indented(levels: int, lines: Iterable[str]) -> list[str]:
    """Indent lines by a number of levels."""
    return ["    " * levels + line for line in lines]


def joined(lines: Iterable[str]) -> str:
    """Join lines, omitting empty lines."""
    return "\n".join(line for line in lines if line.strip()) + "\n"
