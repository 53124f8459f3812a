"""Sums of 16-bit floats in their own type, against what MXNet 1.9.1 gives.

The expected numbers were printed by MXNet with MXNET_SAFE_ACCUMULATION=0, and with 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.config import MXNET_SAFE_ACCUMULATION

_NUMBERS = np.random.RandomState(0).uniform(0, 1, (1, 5000)).astype(np.float16)
X = nd.array(_NUMBERS, dtype="float16")


def _gradient(x: Any) -> Any:
    other = nd.array(np.random.RandomState(1).uniform(-1, 1, (1, 5000)), dtype="float16")
    other.attach_grad()
    with autograd.record():
        y = nd.softmax(other, axis=1)
    y.backward(x)
    return other.grad


# What to compute, and the first numbers with 0 and with 1.
CASES: dict[str, tuple[Callable[[Any], Any], list[float], list[float]]] = {
    "norm": (lambda x: nd.norm(x, axis=1), [39.12], [40.66]),
    "norm of all": (nd.norm, [39.12], [40.66]),
    "large": (lambda x: nd.norm(x * 100, axis=1), [3912.0], [4066.0]),
    "first norm": (lambda x: nd.norm(x, ord=1, axis=1), [2484.0], [2484.0]),
    "softmax": (nd.softmax, [0.000311, 0.0003674], [0.0002021, 0.0002387]),
    "softmin": (nd.softmin, [0.000282, 0.0002388], [0.0001822, 0.0001543]),
    "log_softmax": (lambda x: nd.log_softmax(x * 0), [-7.625], [-8.516]),
    "gradient": (_gradient, [9.54e-6, 6.68e-5, 7.93e-6], [7.57e-6, 5.794e-5, 6.616e-6]),
    "sum": (lambda x: nd.sum(x, axis=1), [2484.0], [2484.0]),
    "mean": (lambda x: nd.mean(x, axis=1), [0.4968], [0.4968]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("safe", [False, True])
def test_sums_are_those_of_mxnet(name: str, safe: bool) -> None:
    compute, *expected = CASES[name]
    with MXNET_SAFE_ACCUMULATION.override(safe):
        got = compute(X)
    assert got.dtype == np.float16
    numbers = got.asnumpy().ravel()[: len(expected[safe])].astype(np.float64)
    np.testing.assert_allclose(numbers, expected[safe], rtol=2e-3, atol=2e-7)


def test_bfloat16_stands_still_sooner() -> None:
    x = nd.zeros((1, 1024), dtype="bfloat16")
    with MXNET_SAFE_ACCUMULATION.override(False):
        assert nd.softmax(x).max().asscalar() == 1 / 256
    assert nd.softmax(x).max().asscalar() == 1 / 1024


def test_other_types_and_results_are_left_alone() -> None:
    x = nd.array(_NUMBERS)
    calls: list[Callable[[], Any]] = [
        lambda: nd.softmax(x),
        lambda: nd.softmax(X, dtype="float32"),
        lambda: nd.norm(X, axis=1, out_dtype="float32"),
        lambda: nd.softmax(X, nd.array([4000], dtype="int32"), use_length=True, dtype=None),
        lambda: nd.norm(nd.zeros((0,), dtype="float16")),
    ]
    for call in calls:
        safe = call().asnumpy()
        with MXNET_SAFE_ACCUMULATION.override(False):
            np.testing.assert_array_equal(call().asnumpy(), safe)


@pytest.mark.parametrize(("values", "expected"), [([0, 0], 0), ([np.inf, 1], np.inf)])
def test_norms_without_a_largest_number(values: list[float], expected: float) -> None:
    with MXNET_SAFE_ACCUMULATION.override(False):
        assert nd.norm(nd.array(values, dtype="float16")).asscalar() == expected


def test_axes_in_the_middle() -> None:
    x = nd.array(np.random.RandomState(2).uniform(-2, 2, (3, 4, 5)), dtype="float16")
    expected = np.sqrt((x.asnumpy().astype(np.float64) ** 2).sum(axis=(0, 2)))
    with MXNET_SAFE_ACCUMULATION.override(False):
        np.testing.assert_allclose(nd.norm(x, axis=(0, 2)).asnumpy(), expected, rtol=4e-3)
        y = nd.softmax(x, axis=1, temperature=2.0).asnumpy().astype(np.float64)
    powers = np.exp(x.asnumpy().astype(np.float64) / 2)
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=4e-3)
