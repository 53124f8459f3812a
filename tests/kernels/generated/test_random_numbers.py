"""Random numbers by generated kernels against those of NumPy's arithmetic."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated import random_numbers
from gluonish.ops.nn.dropout import DROPOUT
from gluonish.ops.registry import find_operator

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

_KEY = (2**63 + 12345678901, (7 << 33) + 5)


def _both(word: str, shape: tuple[int, ...], **given: float) -> tuple[Any, Any]:
    op = find_operator(f"_random_{word}")
    attrs = op.schema.parse(word, {"shape": shape, **given})
    kernel = random_numbers.SamplerKernel(op, word)
    compile_kernel(kernel._generator._source, ())  # or the reference would run
    want, got = np.empty(shape, np.float32), np.empty(shape, np.float32)
    op.kernel(np, want, key=_KEY, **attrs)
    kernel(np, got, key=_KEY, **attrs)
    return got, want


@pytest.mark.parametrize("shape", [(1,), (1023,), (5, 2047), (300, 301)])
def test_uniform_numbers_are_the_same(shape: tuple[int, ...]) -> None:
    for low, high in ((0, 1), (-1.5, 3.25), (2, 2)):
        got, want = _both("uniform", shape, low=low, high=high)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(1,), (1023,), (5, 2047), (300, 301)])
def test_normal_numbers_differ_by_round_off(shape: tuple[int, ...]) -> None:
    got, want = _both("normal", shape, loc=0.5, scale=2)
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=4e-6)


def test_small_draws_stay_in_the_calling_thread() -> None:
    op = find_operator("_random_normal")
    few = op.schema.parse("normal", {"shape": (100, 100)})
    many = op.schema.parse("normal", {"shape": (1000, 1000)})
    assert op.chosen_kernel("cpu", [], {**few, "key": _KEY})[1] is False
    assert op.chosen_kernel("cpu", [], {**many, "key": _KEY})[1] is True
    assert op.select_fast("cpu", [], {**few, "dtype": np.dtype("float64")}) is None


def test_dropout_of_a_small_array() -> None:
    compile_kernel(random_numbers._STEPS, ())
    data = np.random.default_rng(3).standard_normal((40, 50)).astype(np.float32)
    attrs = DROPOUT.schema.parse("Dropout", {"p": 0.3})
    fast = next(f for f in DROPOUT.fast_kernels if f.name == "numpy.Dropout")
    for train in (True, False):
        results = []
        for kernel in (DROPOUT.kernel, fast.kernel):
            outputs = np.empty_like(data), np.empty_like(data)
            kernel(np, outputs, data, key=_KEY, train=train, **attrs)
            results.append(outputs)
        for want, got in zip(*results, strict=True):
            np.testing.assert_array_equal(got, want)
        assert (results[0][0] == 0).any() == train
