from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16
from gluonish.ops.support import philox


def _block(counter: tuple[int, ...], key: tuple[int, int]) -> list[int]:
    words = [np.array([word], np.uint64) for word in counter]
    return [int(word[0]) for word in philox.philox4x32(np, words, key)]


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0,) * 4, (0, 0), [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_the_published_vectors_are_reproduced(
    counter: tuple[int, ...], key: tuple[int, int], expected: list[int]
) -> None:
    assert _block(counter, key) == expected


def test_words_are_those_of_successive_counters() -> None:
    words = philox.random_bits(np, (5 << 32 | 7, 9), 11)
    expected = [w for i in range(3) for w in _block((i, 0, 9, 0), (7, 5))]
    assert words.tolist() == expected[:11]
    assert words.dtype == np.uint32


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = [f(np, (1, 2), (103,)) for f in (philox.uniform, philox.normal)]
    double = philox.uniform(np, (1, 2), (103,), np.dtype(np.float64))
    monkeypatch.setattr(philox, "_CHUNK", 4)
    for whole, f in zip(at_once, (philox.uniform, philox.normal), strict=True):
        np.testing.assert_array_equal(whole, f(np, (1, 2), (103,)))
    np.testing.assert_array_equal(double, philox.uniform(np, (1, 2), (103,), np.dtype(np.float64)))


def test_another_offset_or_seed_gives_other_words() -> None:
    draws = [philox.random_bits(np, key, 64).tobytes() for key in ((0, 0), (0, 1), (1, 0))]
    assert len(set(draws)) == 3


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16, np.float32, np.float64])
def test_uniform_numbers_fill_the_half_open_unit_interval(dtype: Any) -> None:
    x = philox.uniform(np, (3, 0), (40, 500), np.dtype(dtype)).astype(np.float64)
    assert x.shape == (40, 500)
    assert x.min() >= 0
    assert x.max() < 1
    assert abs(x.mean() - 0.5) < 0.01
    assert abs(x.var() - 1 / 12) < 0.003


def test_normal_numbers_have_the_moments_of_the_normal_distribution() -> None:
    x = philox.normal(np, (4, 0), (20001,))
    assert x.dtype == np.float32
    assert abs(x.mean()) < 0.03
    assert abs(x.std() - 1) < 0.02
    assert abs((x**3).mean()) < 0.1
    assert abs((x**4).mean() - 3) < 0.2
    assert abs(np.corrcoef(x[:-1:2], x[1::2])[0, 1]) < 0.03


def test_zero_size_draws_are_empty() -> None:
    assert philox.uniform(np, (0, 0), (0, 3)).shape == (0, 3)
    assert philox.normal(np, (0, 0), (0,)).shape == (0,)


@pytest.mark.gpu
def test_a_gpu_draws_the_same_bits() -> None:
    import cupy

    np.testing.assert_array_equal(
        cupy.asnumpy(philox.random_bits(cupy, (11, 12), 1003)),
        philox.random_bits(np, (11, 12), 1003),
    )


@pytest.mark.parametrize("key", [(5, 6), (2**64 - 1, 2**63 + 5), (123456789012345678, 2**40)])
def test_short_draws_begin_like_long_ones(key: tuple[int, int]) -> None:
    long = philox.random_bits(np, key, 100)  # by arrays, where short ones are by Python's numbers
    for count in (1, 2, 5, 32):
        short = philox.random_bits(np, key, count)
        assert short.dtype == long.dtype
        assert (short == long[:count]).all()


@pytest.mark.parametrize("key", [(0, 0), (7, 3), (2**64 - 1, 2**63 + 5)])
def test_a_single_number_is_that_of_an_array(key: tuple[int, int]) -> None:
    assert philox.uniform_number(key) == philox.uniform(np, key, (100,), np.dtype("f8"))[0]


@pytest.mark.parametrize("kind", ["normal", "uniform"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_numbers_are_the_first_of_many(kind: str, dtype: str) -> None:
    draw = getattr(philox, kind)
    few = draw(np, (5, 6), (3,), np.dtype(dtype))
    np.testing.assert_array_equal(few, draw(np, (5, 6), (100,), np.dtype(dtype))[:3])


def test_uniform_numbers_are_hardly_ever_zero_or_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs take their logarithms; 24 bits give 0 once in 17 million draws."""
    words = np.array([0, 1, 2, 255, 256, 2**31, 2**32 - 129, 2**32 - 1], np.uint32)
    monkeypatch.setattr(philox, "_chunks", lambda xp, key, n: [(0, words)])
    x = philox.uniform(np, (0, 0), (words.size,)).astype(np.float64)
    below = 1 - 2.0**-24
    assert x.tolist() == [*(words[:6] * 2.0**-32).tolist(), below, below]
    steps = philox.uniform_steps(np, (0, 0), (words.size,)).astype(np.float64)
    assert steps.tolist() == ((words >> 8) * 2.0**-24).tolist()
