from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.kernels.compiler import compile_kernel
from gluonish.kernels.compiler.machine_code import has_float16
from gluonish.ops.support.philox import random_bits

HALVES = """
def body(begin, end, words):
    x = u16(words[0])
    y = f32(words[1])
    z = u16(words[2])
    for i in range(begin, end):
        independent()
        y[i] = load_{kind}(x[i])
        z[i] = store_{kind}(y[i])
"""
ROUND = """
def body(begin, end, words):
    x = f32(words[0])
    z = u16(words[1])
    for i in range(begin, end):
        independent()
        z[i] = store_{kind}(x[i])
"""
TYPES = """
def body(begin, end, words):
    a, b, c, n = u8(words[0]), i32(words[1]), f32(words[2]), words[3]
    y, z, w = f64(words[4]), i64(words[5]), u64(words[6])
    for i in range(begin, end):
{lines}
"""
# By statements: the same values in NumPy, where the types are those named.
WIDE = {
    "z[i] = a[i] - b[i]": "a.astype('i8') - b",
    "z[i] = a[i] + 1": "a.astype('i8') + 1",
    "z[i] = b[i] * b[i]": "b.astype('i8') * b",
    "z[i] = (b[i] >> 1) // 3 % 5": "(b.astype('i8') >> 1) // 3 % 5",
    "z[i] = -b[i]": "-b.astype('i8')",
    "w[i] = a[i] - a[n - 1 - i]": "a.astype('u8') - a[::-1]",
    "w[i] = a[i] << 40": "a.astype('u8') << 40",
    "w[i] = uint64(b[i]) >> 60": "b.astype('u8') >> 60",
    "w[i] = uint64(b[i]) // uint64(3) % 7": "b.astype('u8') // 3 % 7",
    "w[i] = uint64(b[i]) | 1": "b.astype('u8') | 1",
    "z[i] = a[i] & a[n - 1 - i] ^ 3": "(a & a[::-1] ^ 3).astype('i8')",
    "y[i] = c[i] + 1": "c.astype('f8') + 1",
    "y[i] = c[i] * 0.1": "c.astype('f8') * 0.1",
    "y[i] = c[i] * a[i]": "c.astype('f8') * a",
    "y[i] = c[i] / float64(3)": "c / np.float64(3)",
    "y[i] = c[i] * c[i]": "c * c",
    "y[i] = c[i] if a[i] > 99 else 0.1": "np.where(a > 99, c.astype('f8'), 0.1)",
    "y[i] = c[i] if a[i] > 99 else b[i]": "np.where(a > 99, c.astype('f8'), b)",
    "y[i] = select(a[i], c[i], 2)": "np.where(a != 0, c.astype('f8'), 2)",
    "z[i] = select(c[i] < 0.1, a[i], b[i])": "np.where(c.astype('f8') < 0.1, a, b)",
    "z[i] = min(a[i], b[i])": "np.minimum(a, b)",
    "z[i] = int64(c[i] > 0) + flag_int64(a[i])": "(c > 0).astype('i8') + (a != 0)",
    "y[i] = float32(b[i]) + float32(c[i] > 0)": "b.astype('f4') + (c > 0)",
    "z[i] = int8(b[i])": "b.astype('i1')",
    "z[i] = uint16(int32(c[i]))": "c.astype('i4').astype('u2')",
    "w[i] = uint8(fabs(c[i]))": "abs(c).astype('u1')",
    "z[i] = int64(uint64(b[i]) < uint64(a[i]))": "b.astype('u8') < a",
    "z[i] = int64(a[i] >= a[n - 1 - i])": "a >= a[::-1]",
    "z[i] = int64(b[i] >= b[n - 1 - i])": "b >= b[::-1]",
    "z[i] = int64(a[i] < b[i])": "a < b",
    "z[i] = int64(c[i] == 0.1) + 2 * int64(c[i] > 0.5)": "(c.astype('f8') == 0.1) + 2 * (c > 0.5)",
    "z[i] = int64(not c[i])": "c == 0",
    "y[i] = maximum(c[i], 0.1)": "np.maximum(c.astype('f8'), 0.1)",
    "z[i] = c[i]": "c.astype('i8')",
    "y[i] = b[i]": "b",
    "y[i] = 2": "np.full(len(a), 2)",
    "y[i] = float32(np.inf) - c[i]": "np.float32(np.inf) - c",
}
KINDS = {"bf16": np.dtype(ml_dtypes.bfloat16), "f16": np.dtype(np.float16)}


def run(source: str, *arrays: Any) -> None:
    places = np.array([array.ctypes.data for array in arrays], np.int64)
    compile_kernel(source)(arrays[0].size, places)


def same(got: Any, wanted: Any) -> None:
    """Equal bits, but for those of NaN."""
    nan = np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), nan)
    np.testing.assert_array_equal(got[~nan].view(np.uint8), wanted[~nan].view(np.uint8))


@pytest.mark.parametrize("kind", KINDS)
def test_every_sixteen_bit_float_survives_loading_and_storing(kind: str) -> None:
    if kind == "f16" and not has_float16():
        pytest.skip("this CPU does not convert float16")
    x = np.arange(1 << 16).astype(np.uint16).view(KINDS[kind])
    y, z = np.empty(x.size, np.float32), np.empty_like(x)
    run(HALVES.format(kind=kind), x, y, z)
    same(y, x.astype(np.float32))
    same(z, x)


@pytest.mark.parametrize("kind", KINDS)
def test_storing_rounds_to_the_nearest_and_ties_to_even(kind: str) -> None:
    if kind == "f16" and not has_float16():
        pytest.skip("this CPU does not convert float16")
    random = np.random.default_rng(2)
    bits = random.integers(0, 1 << 32, 20000, np.uint32)
    ties = (bits & 0xFFFF0000) | 0x8000
    x = np.concatenate([bits, ties]).view(np.float32)
    z = np.empty(x.size, KINDS[kind])
    run(ROUND.format(kind=kind), x, z)
    with np.errstate(all="ignore"):
        same(z, x.astype(KINDS[kind]))


def test_random_words_are_those_of_the_operators() -> None:
    source = """
def body(begin, end, words):
    one = u32(words[0])
    four = u32(words[1])
    for i in range(begin, end):
        independent()
        one[i] = philox_word(i, words[2], words[3])
    for block in range(begin >> 2, (end + 3) >> 2):
        independent()
        philox_fill(four, 4 * block, block, words[2], words[3])
"""
    key = (0x123456789ABCDEF0, 0xFFFFFFFF12345678)
    one, four = np.zeros(1000, np.uint32), np.zeros(1000, np.uint32)
    places = np.array([one.ctypes.data, four.ctypes.data, *key], np.uint64).view(np.int64)
    compile_kernel(source)(1000, places)
    wanted = random_bits(np, key, 1000)
    np.testing.assert_array_equal(one, wanted)
    np.testing.assert_array_equal(four, wanted)


def test_maximum_and_minimum_keep_nan_on_either_side() -> None:
    source = """
def body(begin, end, words):
    x = f32(words[0])
    y = f32(words[1])
    low = f32(words[2])
    high = f32(words[3])
    for i in range(begin, end):
        independent()
        low[i] = minimum(x[i], y[i])
        high[i] = maximum(x[i], y[i])
"""
    values = np.array([np.nan, 1, -2, np.inf, -np.inf, 0], np.float32)
    x, y = (part.ravel().copy() for part in np.meshgrid(values, values))
    low, high = np.empty_like(x), np.empty_like(x)
    run(source, x, y, low, high)
    np.testing.assert_array_equal(low, np.minimum(x, y))
    np.testing.assert_array_equal(high, np.maximum(x, y))


def test_select_chooses_between_two_arrays() -> None:
    source = """
def body(begin, end, words):
    x = f32(words[0])
    y = f32(words[1])
    z = f64(words[2])
    for i in range(begin, end):
        independent()
        z[i] = select(x[i] > y[i], float64(x[i]), float64(1)) + flag_float64(x[i] == y[i])
"""
    x, y = np.array([3, 1, 2], np.float32), np.array([2, 1, 5], np.float32)
    z = np.empty(3)
    run(source, x, y, z)
    np.testing.assert_array_equal(z, [3, 2, 1])


@pytest.mark.parametrize("line", WIDE)
def test_operands_of_two_types_meet_in_a_third(line: str) -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 256, 60).astype(np.uint8)
    b = rng.integers(-(2**31), 2**31, 60).astype(np.int32)
    c = (rng.standard_normal(60) * 9).astype(np.float32)
    a[:3], b[:3], c[:4] = 0, (0, -1, 1), (0, 0.1, 0.5, -0.0)
    outs = {"y": np.zeros(60), "z": np.zeros(60, np.int64), "w": np.zeros(60, np.uint64)}
    arrays = (a, b, c, 60, *outs.values())
    places = [v.ctypes.data if isinstance(v, np.ndarray) else v for v in arrays]
    compile_kernel(TYPES.replace("{lines}", f"        {line}"))(60, np.array(places, np.int64))
    with np.errstate(all="ignore"):
        expected = eval(WIDE[line], {"np": np, "a": a, "b": b, "c": c})
    got = outs[line[0]]
    np.testing.assert_array_equal(got, expected.astype(got.dtype))
