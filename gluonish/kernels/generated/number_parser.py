"""Parse numbers in lines of text by a generated kernel, in one pass over the bytes.

The kernels are 12 to 30 times as fast as `np.fromstring` (figures in `gluonish.io.text_lines`).
They parse ordinary lines only. For any other text, valid or not, they fail without a diagnosis, and
the caller uses another parser.

Source of a function that parses a decimal number into the nearest float64.

``read_number(text, at, tables, out, index)`` parses ``[sign] digits [. digits] [e [sign] digits]``
at an offset, writes it to ``out[index]`` and returns the offset after it. It returns -1, and the
caller must parse the number otherwise, if the text is not such a number or the nearest float64 is
not found: more than 19 digits, infinite or subnormal values, and a few values halfway between two
float64s. The text must end with a byte that belongs to no number.

Up to 15 digits and powers of ten up to 22 are exact float64s, so their product or quotient is
rounded once. Otherwise 64 bits of the digits times the upper 128 bits of the power of ten give 192
bits of the value, with an error below one unit of the 128th bit. This is enough to round correctly
unless the bits after the first 53 are just below a half (the idea of such a product is from D.
Lemire, "Number Parsing at a Gigabyte per Second", 2021).
"""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, INT64
from gluonish.kernels.compiler import (
    CompiledKernel,
    KernelError,
    available,
    compile_kernel,
    is_compiled,
)
from gluonish.ops.kernel import Array, address
from gluonish.ops.support.refusals import note_refusal

_EXACT_POWERS = 23  # 10 ** 22 is the largest exact float64
_LEAST_POWER, _LARGEST_POWER = -342, 308  # of 19 digits, neither zero nor infinity
_EXACT_LARGEST = 55  # 5 ** 55 is the largest with 128 bits

# Tables: powers of ten as bits of float64s from entry 0; from entry 32, for each power of ten, the
# upper 64 bits, the next 64, and the exponent of two of the lowest bit.
_WIDE = 32

READ_NUMBER = f"""
def read_number(text, at, tables, out, index):
    negative = text[at] == 45
    if negative or text[at] == 43:
        at += 1
    first = at
    digits = uint64(0)
    digit = int64(text[at]) - 48
    while digit >= 0 and digit <= 9:
        digits = digits * uint64(10) + uint64(digit)
        at += 1
        digit = int64(text[at]) - 48
    count = at - first
    power = 0
    if digit == -2:
        at += 1
        point = at
        digit = int64(text[at]) - 48
        while digit >= 0 and digit <= 9:
            digits = digits * uint64(10) + uint64(digit)
            at += 1
            digit = int64(text[at]) - 48
        power = point - at
        count -= power
    if count == 0:
        return -1
    if count > 19:
        while count > 19 and (text[first] == 48 or text[first] == 46):
            if text[first] == 48:
                count -= 1
            first += 1
        if count > 19:
            return -1
    if digit == 21 or digit == 53:
        at += 1
        below = text[at] == 45
        if below or text[at] == 43:
            at += 1
        first = at
        exponent = 0
        digit = int64(text[at]) - 48
        while digit >= 0 and digit <= 9:
            exponent = min(exponent * 10 + digit, 100000)
            at += 1
            digit = int64(text[at]) - 48
        if at == first:
            return -1
        power += -exponent if below else exponent
    value = 0.0
    if digits <= uint64(0x20000000000000) and power >= -22 and power <= 22:
        value = float64(int64(digits))
        if power < 0:
            value = value / as_float(tables[-power])
        elif power > 0:
            value = value * as_float(tables[power])
    elif digits != uint64(0):
        bits = rounded_product(digits, power, tables)
        if bits == 0:
            return -1
        value = as_float(bits)
    out[index] = -value if negative else value
    return at


def rounded_product(digits, power, tables):
    if power < {_LEAST_POWER} or power > {_LARGEST_POWER}:
        return 0
    row = {_WIDE} + 3 * (power - ({_LEAST_POWER}))
    exponent = tables[row + 2]
    while digits < uint64(0x8000000000000000):
        digits = digits << uint64(1)
        exponent -= 1
    upper, middle = wide_product(digits, uint64(tables[row]))
    carried, lower = wide_product(digits, uint64(tables[row + 1]))
    middle += carried
    if middle < carried:
        upper += uint64(1)
    cut = uint64(10)
    if upper >= uint64(0x8000000000000000):
        cut = uint64(11)
    half = uint64(1) << (cut - uint64(1))
    remainder = upper & (half + half - uint64(1))
    mantissa = int64(upper >> cut)
    exponent += int64(cut) + 128 + 1075
    exact = power >= 0 and power <= {_EXACT_LARGEST}
    if remainder >= half:
        tie = exact and remainder == half and middle == uint64(0) and lower == uint64(0)
        if not tie or mantissa & 1 == 1:
            mantissa += 1
    elif not exact and remainder + uint64(1) == half and middle == uint64(0xFFFFFFFFFFFFFFFF):
        return 0
    if exponent < 1 or exponent > 2046:
        return 0
    bits = (exponent << 52) + (mantissa - 0x10000000000000)
    return bits if bits < 0x7FF0000000000000 else 0


def wide_product(x, y):
    mask, shift = uint64(0xFFFFFFFF), uint64(32)
    x_low, x_high = x & mask, x >> shift
    y_low, y_high = y & mask, y >> shift
    low = x_low * y_low
    cross = x_high * y_low + (low >> shift)
    other = x_low * y_high + (cross & mask)
    high = x_high * y_high + (cross >> shift) + (other >> shift)
    return high, (other << shift) | (low & mask)
"""


@cache
def power_tables() -> Array:
    """Return the int64 tables that ``read_number`` uses."""
    entries = [0] * _WIDE
    exact = np.array([float(10**power) for power in range(_EXACT_POWERS)])
    entries[:_EXACT_POWERS] = exact.view(np.int64).tolist()
    for power in range(_LEAST_POWER, _LARGEST_POWER + 1):
        entries += _upper_bits(power)
    return np.array(entries, np.uint64).view(np.int64)


def _upper_bits(power: int) -> tuple[int, int, int]:
    """Return the upper 128 bits of a power of ten, as two integers, and their exponent of two."""
    ten = 10 ** abs(power)
    if power >= 0:
        exponent = ten.bit_length() - 128
        bits = ten >> exponent if exponent > 0 else ten << -exponent
    else:
        exponent = -127 - ten.bit_length()
        bits = (1 << -exponent) // ten
    return bits >> 64, bits % (1 << 64), exponent % (1 << 64)


# Bytes of text in this process for which compiling pays, which takes seconds, once. A kernel that
# is already compiled is always used.
_WORTH_NBYTES = 1 << 24
_MAX_COLUMNS = 1 << 56  # so that ten times a column is an int64
_FASTMATH = ()  # every operation is rounded

# Skip white space within a line: blank, tab, vertical tab, form feed, carriage return.
_SKIPS = """
def skip_blanks(text, at):
    while text[at] == 32 or text[at] == 9 or (text[at] >= 11 and text[at] <= 13):
        at += 1
    return at


def skip_line(text, at, length):
    while at < length and text[at] != 10:
        at += 1
    return at
"""

# Params: text, its length, tables, numbers, the count of lines (an output), width. The count is -1
# if a line is not ordinary. A comma may end a line.
_DENSE = """
def body(begin, end, params):
    text, length, tables = u8(params[0]), params[1], i64(params[2])
    out, result, width = f64(params[3]), i64(params[4]), params[5]
    at, index, lines = 0, 0, 0
    result[0] = -1
    while at < length:
        at = skip_blanks(text, at)
        if text[at] == 35:
            at = skip_line(text, at, length)
        elif at < length and text[at] != 10:
            left = width
            while left > 0:
                at = read_number(text, at, tables, out, index)
                if at < 0:
                    return
                left -= 1
                index += 1
                if text[at] == 44:
                    at = skip_blanks(text, at + 1)
                elif left > 0:
                    return
            at = skip_blanks(text, at)
            lines += 1
        if at < length and text[at] != 10:
            return
        at += 1
    result[0] = lines
"""

# Params: text, its length, tables, values, columns, pointers (the start of each line's elements,
# and the end of the last line's), labels, the counts of lines and elements (an output), width. A
# weight right after a label is ignored, and so are query ids.
_SPARSE = """
def body(begin, end, params):
    text, length, tables = u8(params[0]), params[1], i64(params[2])
    values, columns, pointers = f64(params[3]), i64(params[4]), i64(params[5])
    labels, result, width = f64(params[6]), i64(params[7]), params[8]
    at, index, lines = 0, 0, 0
    result[0] = -1
    pointers[0] = 0
    while at < length:
        at = skip_blanks(text, at)
        if at < length and text[at] != 10 and text[at] != 35:
            at = read_number(text, at, tables, labels, lines)
            if at < 0:
                return
            if text[at] == 58:
                at = skip_field(text, at, length)
            after = at
            at = skip_blanks(text, at)
            while at < length and text[at] != 10 and text[at] != 35:
                if at == after:
                    return
                if text[at] == 113:
                    if text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
                        return
                    at = skip_field(text, at, length)
                else:
                    column, digits = 0, at
                    while text[at] >= 48 and text[at] <= 57 and column < width:
                        column = column * 10 + (int64(text[at]) - 48)
                        at += 1
                    if at == digits or text[at] != 58 or column >= width:
                        return
                    at = read_number(text, at + 1, tables, values, index)
                    if at < 0:
                        return
                    columns[index] = column
                    index += 1
                after = at
                at = skip_blanks(text, at)
            lines += 1
            pointers[lines] = index
        if text[at] == 35:
            at = skip_line(text, at, length)
        if at < length and text[at] != 10:
            return
        at += 1
    result[0], result[1] = lines, index


def skip_field(text, at, length):
    while at < length and text[at] > 32 and text[at] != 35:
        at += 1
    return at
"""


# Bytes parsed so far, for each kernel. Threads may lose a count, which only delays compiling.
_requested_nbytes: Counter[str] = Counter()


def dense_lines(text: bytes, width: int) -> Array | None:
    """Parse lines of ``width`` numbers separated by commas.

    Blank lines, lines that begin with ``#``, and a comma at the end of a line are ignored.

    Returns:
        float64 of shape (lines, width); None if a line is not ordinary, or without a kernel.
    """
    kernel = _kernel(_DENSE, text)
    if kernel is None or not 0 < width < _MAX_COLUMNS:
        return None
    # A number takes at least two bytes with its separator.
    out = np.empty(len(text) // 2 + 1, FLOAT64)
    (lines,) = _run(kernel, text, [out], 1, width)
    return None if lines < 0 else out[: lines * width].reshape(lines, width)


def sparse_lines(text: bytes, width: int) -> tuple[Array, Array, Array, Array] | None:
    """Parse lines of the form ``label column:value column:value ...``.

    Blank lines, text after ``#``, weights (``label:weight``) and query ids (``qid:number``) are
    ignored.

    Args:
        width: Number of columns.

    Returns:
        float64 values (elements,), int64 columns (elements,), int64 row pointers (lines + 1,) and
        float64 labels (lines,); None if a line is not ordinary, or without a kernel.
    """
    kernel = _kernel(_SPARSE, text)
    if kernel is None or not 0 < width < _MAX_COLUMNS:
        return None
    # An element takes at least four bytes with its separator, a line two with its end.
    most, most_lines = len(text) // 4 + 1, len(text) // 2 + 1
    values, columns = np.empty(most, FLOAT64), np.empty(most, INT64)
    pointers, labels = np.empty(most_lines + 1, INT64), np.empty(most_lines, FLOAT64)
    arrays = [values, columns, pointers, labels]
    lines, elements = _run(kernel, text, arrays, 2, width)
    if lines < 0:
        return None
    return values[:elements], columns[:elements], pointers[: lines + 1], labels[:lines]


def _kernel(body: str, text: bytes) -> CompiledKernel | None:
    if not available():
        return None
    source = READ_NUMBER + _SKIPS + body
    _requested_nbytes[body] += len(text)
    if _requested_nbytes[body] < _WORTH_NBYTES and not is_compiled(source, _FASTMATH):
        return None
    return _compiled(source)


@cache
def _compiled(source: str) -> CompiledKernel | None:
    try:
        return compile_kernel(source, _FASTMATH)
    except KernelError as error:
        note_refusal("number_lines", error)
        return None


def _run(
    kernel: CompiledKernel, text: bytes, arrays: list[Array], results: int, width: int
) -> list[Any]:
    found = np.empty(results, INT64)
    # Python's bytes have a terminating zero, which ends the last number.
    content = np.frombuffer(text, np.uint8)
    addresses = map(address, (power_tables(), *arrays, found))
    params = np.array([address(content), len(text), *addresses, width], INT64)
    kernel.run_alone(1, address(params))
    return found.tolist()
