from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available
from gluonish.kernels.generated import plain_convolution as plain
from gluonish.ops.nn import convolution as reference

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

# Data, window, stride, dilation, padding, groups, filters.
CASES: dict[str, tuple[Any, ...]] = {
    "window": ((1, 3, 30, 31), (3, 3), (1, 1), (1, 1), (1, 1), 1, 7),
    "joined samples": ((3, 4, 13, 12), (3, 3), (1, 1), (1, 1), (1, 1), 1, 5),
    "uneven": ((2, 6, 9, 11), (4, 3), (2, 1), (1, 1), (1, 2), 2, 8),
    "large stride": ((2, 3, 40, 41), (3, 3), (2, 2), (1, 1), (1, 1), 1, 7),
    "one element": ((1, 5, 30, 30), (1, 1), (1, 1), (1, 1), (0, 0), 1, 6),
    "one element, joined": ((2, 5, 7, 7), (1, 1), (1, 1), (1, 1), (0, 0), 1, 6),
    "one element, groups": ((2, 4, 30, 30), (1, 1), (1, 1), (1, 1), (0, 0), 2, 6),
    "one element, stride": ((1, 5, 30, 30), (1, 1), (2, 2), (1, 1), (0, 0), 1, 6),
    "sequence": ((2, 6, 50), (3,), (2,), (1,), (1,), 3, 6),
    "depthwise": ((2, 4, 13, 35), (3, 3), (1, 1), (1, 1), (1, 1), 4, 4),
    "depthwise, uneven": ((2, 4, 13, 12), (3, 5), (2, 2), (1, 2), (3, 2), 4, 4),
    "depthwise, unpadded": ((2, 4, 33, 35), (3, 3), (1, 1), (2, 2), (0, 0), 4, 4),
    "depthwise, smaller than its window": ((2, 2, 3, 3), (7, 7), (1, 1), (1, 1), (3, 3), 2, 2),
    "depthwise sequence": ((2, 6, 50), (5,), (1,), (2,), (4,), 6, 6),
    "several chunks": ((3, 64, 90, 90), (3, 3), (1, 1), (1, 1), (1, 1), 1, 4),
}


def made(case: str) -> tuple[dict[str, Any], Any, Any, Any, Any]:
    """Return attributes, data, weight, bias and a gradient of the output."""
    shape, kernel, stride, dilate, pad, groups, filters = CASES[case]
    names = ("kernel", "stride", "dilate", "pad", "num_group", "num_filter")
    attrs = dict(zip(names, (kernel, stride, dilate, pad, groups, filters), strict=True))
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, d, p in zip(shape[2:], kernel, stride, dilate, pad, strict=True)
    ]
    rng = np.random.default_rng(len(case))
    weight = (filters, shape[1] // groups, *kernel)
    arrays = [
        rng.standard_normal(one).astype(np.float32)
        for one in (shape, weight, (filters,), (shape[0], filters, *counts))
    ]
    x, w, bias, grad = arrays
    return {**attrs, "layout": None, "no_bias": False}, x, w, bias, grad


def close(got: Any, compute: Any, *inputs: Any, **attrs: Any) -> bool:
    """Whether an array has the values of the reference kernel in float64."""
    wanted = np.empty(got.shape, np.float64)
    compute(np, wanted, *(x.astype(np.float64) for x in inputs), **attrs)
    return bool(np.abs(got - wanted).max() <= 3e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_those_of_the_reference(case: str) -> None:
    attrs, data, weight, bias, grad = made(case)
    out = np.full_like(grad, np.nan)
    plain._forward(np, out, data, weight, bias, **attrs)
    assert close(out, reference._kernel, data, weight, bias, **attrs)


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_data_are_those_of_the_reference(case: str) -> None:
    attrs, data, weight, _, grad = made(case)
    attrs["data_shape"] = data.shape
    out = np.full_like(data, np.nan)
    plain._backward_data(np, out, grad, weight, **attrs)
    assert close(out, reference._backward_data_kernel, grad, weight, **attrs)


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_weights_are_those_of_the_reference(case: str) -> None:
    attrs, data, weight, bias, grad = made(case)
    attrs["weight_shape"] = weight.shape
    outs = np.full_like(weight, np.nan), np.full_like(bias, np.nan)
    plain._backward_weight_bias(np, outs, grad, data, **attrs)
    assert close(outs[0], reference._backward_weight_kernel, grad, data, **attrs)
    sums = grad.astype(np.float64).sum(axis=(0, *range(2, grad.ndim)))
    np.testing.assert_allclose(outs[1], sums, rtol=1e-5, atol=1e-3)


def test_infinity_stays_in_its_windows() -> None:
    attrs, data, weight, _, grad = made("depthwise")
    data[0, 1, 0, 0] = np.inf
    out = np.empty_like(grad)
    plain._forward(np, out, data, weight, **attrs)
    infinite = ~np.isfinite(out)
    assert infinite[0, 1, :2, :2].all()
    assert infinite.sum() == 4


def test_views_give_what_copies_give() -> None:
    attrs, data, weight, _, grad = made("window")
    plain._forward(np, out := np.empty_like(grad), data, weight, **attrs)
    turned = np.asfortranarray(data)
    plain._forward(np, again := np.empty_like(grad), turned, weight, **attrs)
    assert np.array_equal(out, again)
