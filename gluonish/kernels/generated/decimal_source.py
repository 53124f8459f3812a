"""Source of a function that parses a decimal number into the nearest float64.

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

from functools import cache

import numpy as np

from gluonish.ops.kernel import Array

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
    """Return the int64 tables of ``read_number``."""
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
