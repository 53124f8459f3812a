"""What the kernels that pool have in common: their words, the bounds and places of windows.

A place outside the data is moved to the nearest element inside, which belongs to the same window.
That leaves a maximum as it is, and the first of equal elements, too; what a mean or its gradient
takes there is masked to zero.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from gluonish.core.spec import Shape

PART = 1024  # channels

AXES = "dhw"


class Form(NamedTuple):
    """What a source depends on; all else it reads from its words.

    Words: addresses of the operands (at most 4), channels, channels of a block, blocks; then in
    depth, height and width the extents of the data, numbers of windows, kernel, stride, padding;
    1 if means count padding.

    Attributes:
        largest: Whether to take the maximum; else the mean.
        narrow: Whether elements are bfloat16, else float32.
        inside: Whether all windows lie in the data.
        kernel: Window in depth, height and width, to be unrolled; None for loops over it.
        overlap: For the gradient: how far a window reaches into the next along each axis. None: the
            gradient is cleared and all are added. Windows that are not unrolled overlap by zeros
            (and tile the data), or it is None.
        planar: For the gradient: whether that of the output lies channel by channel.
    """

    largest: bool
    narrow: bool
    inside: bool
    kernel: Shape | None
    overlap: Shape | None = None
    planar: bool = False

    def load(self, view: str, place: str) -> str:
        """Return an element as float32."""
        return f"load_bf16({view}[{place}])" if self.narrow else f"{view}[{place}]"

    def store(self, view: str, place: str, value: str) -> str:
        """Return the statement that stores a float32."""
        return f"{view}[{place}] = " + (f"store_bf16({value})" if self.narrow else value)

    def view(self, word: int) -> str:
        """Return the view of an operand."""
        return f"{'u16' if self.narrow else 'f32'}(words[{word}])"

    def taps(self) -> list[Shape]:
        """Return the positions in an unrolled window, in order."""
        return list(product(*map(range, self.kernel or ())))


SIZES = """\
    zero = float32(0)
    channels, step, blocks = words[4], words[5], words[6]
    size_d, size_h, size_w = words[7], words[8], words[9]
    count_d, count_h, count_w = words[10], words[11], words[12]
    kernel_d, kernel_h, kernel_w = words[13], words[14], words[15]
    stride_d, stride_h, stride_w = words[16], words[17], words[18]
    pad_d, pad_h, pad_w = words[19], words[20], words[21]
    with_pad = words[22]
"""

# Where a window begins, and its part that holds data; {a} is an axis, {i} the window's number.
_BOUNDS = """\
start_{a} = {i} * stride_{a} - pad_{a}
first_{a} = max(start_{a}, 0)
last_{a} = min(start_{a} + kernel_{a}, size_{a})
"""

# How many elements it counts in a mean.
_SPAN = """\
span_{a} = last_{a} - first_{a}
if with_pad:
    span_{a} = min(start_{a} + kernel_{a}, size_{a} + pad_{a}) - start_{a}
"""

DIVISOR = "divisor = float32(span_d * span_h * span_w)"


def element_loops(channel: str) -> list[str]:
    """Open loops over a window's elements; those at ``t`` belong to a channel."""
    return [
        "for d in range(first_d, last_d):",
        "    for h in range(first_h, last_h):",
        "        for w in range(first_w, last_w):",
        "            t = (((sample * size_d + d) * size_h + h) * size_w + w) * channels + "
        + channel,
    ]


def bounds(form: Form, axis: str, number: str) -> list[str]:
    """Name where a window begins and ends along an axis, and how much of it a mean counts."""
    text = _BOUNDS if form.largest else _BOUNDS + _SPAN
    return text.format(a=axis, i=number).splitlines()


def is_inside() -> str:
    """Return the condition that a window lies in the data."""
    return " and ".join(f"last_{a} - first_{a} == kernel_{a}" for a in AXES)


def direct_places(form: Form) -> Iterator[str]:
    """Name the places of a window's elements where all lie in the data."""
    yield (
        "origin = (((sample * size_d + start_d) * size_h + start_h) * size_w + start_w) * channels"
    )
    for d, h, w in form.taps():
        yield f"{at_tap((d, h, w))} = origin + (({d} * size_h + {h}) * size_w + {w}) * channels"


def moved_places(form: Form) -> Iterator[str]:
    """Name the places of a window's elements, moved into the data."""
    lengths = form.kernel or ()
    for axis, length in zip(AXES, lengths, strict=True):
        for i in range(length):
            yield f"{axis}{i} = min(max(start_{axis} + {i}, 0), size_{axis} - 1)"
    for d, h in product(*map(range, lengths[:2])):
        yield f"row{d}_{h} = ((sample * size_d + d{d}) * size_h + h{h}) * size_w"
    for d, h, w in form.taps():
        yield f"{at_tap((d, h, w))} = (row{d}_{h} + w{w}) * channels"


def valid_masks(form: Form) -> Iterator[str]:
    """Name masks that keep what lies in the data."""
    yield from _masks(form, "valid", "&", "start_{a} + {i} == {a}{i}")


def standing_masks(form: Form) -> Iterator[str]:
    """Name masks that keep what earlier windows or elements of this one left in the gradient."""
    # A place moved from below the data is the same for all elements up to the first inside; one
    # moved from above, for the last inside and all behind it.
    first = "{a}{i} < end_{a}"
    later = first + " or start_{a} + {i} <= 0 or start_{a} + {i} >= size_{a}"
    yield from _masks(form, "standing", "|", first, later)


def _masks(form: Form, name: str, join: str, *conditions: str) -> Iterator[str]:
    """Name a mask for each element of a window, from those of its positions along the axes.

    An axis along which windows have one element says nothing: its windows do not overlap, nor do
    they reach beyond the data.

    Args:
        form: The windows.
        name: Of the masks, before the place.
        join: How masks of axes become one.
        *conditions: That of an axis' first element, and that of the others if it is another.
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
    """Return the name of an element's place."""
    return "t" + "_".join(map(str, tap))


def masked(value: str, mask: str) -> str:
    """Return a float32 that is zero where its mask is."""
    return f"float_of_bits(bits_of_float({value}) & {mask})"


def indented(levels: int, lines: Iterable[str]) -> list[str]:
    """Return the lines, levels deeper."""
    return ["    " * levels + line for line in lines]


def joined(lines: Iterable[str]) -> str:
    """Return the text without empty lines."""
    return "\n".join(line for line in lines if line.strip()) + "\n"
