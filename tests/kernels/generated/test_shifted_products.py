from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available
from gluonish.kernels.generated import shifted_products as shifted
from gluonish.kernels.generated.shifted_planes import data_sums, forward_sums
from gluonish.kernels.generated.window_columns import Windows
from gluonish.ops.nn import convolution as reference

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

Made = tuple[dict[str, Any], Windows, Any, Any, Any]

# Data, window, stride, dilation, padding, groups, filters.
CASES: dict[str, tuple[Any, ...]] = {
    "window": ((2, 5, 12, 13), (3, 3), (1, 1), (1, 1), (1, 1), 1, 9),
    "stride of two": ((2, 3, 15, 14), (3, 3), (2, 2), (1, 1), (1, 1), 1, 4),
    "unequal strides": ((1, 4, 11, 17), (4, 3), (3, 2), (1, 1), (2, 0), 1, 17),
    "stride without overlap": ((1, 3, 13, 12), (2, 2), (3, 3), (1, 1), (0, 0), 1, 8),
    "dilation": ((2, 3, 16, 15), (3, 2), (1, 1), (2, 3), (2, 1), 1, 5),
    "dilation and stride": ((1, 3, 17, 16), (3, 3), (2, 2), (2, 3), (3, 1), 1, 6),
    "more padding than window": ((1, 2, 5, 6), (2, 3), (1, 2), (1, 1), (4, 5), 1, 3),
    "smaller than its window": ((2, 2, 3, 2), (5, 7), (1, 1), (1, 1), (2, 3), 1, 3),
    "one element": ((2, 6, 9, 8), (1, 1), (2, 3), (1, 1), (0, 0), 1, 20),
    "groups": ((3, 12, 10, 9), (3, 3), (1, 1), (1, 1), (1, 1), 3, 15),
    "many filters": ((1, 3, 9, 9), (3, 3), (1, 1), (1, 1), (0, 0), 1, 130),
    "sequence": ((2, 6, 1, 150), (1, 5), (1, 2), (1, 1), (0, 2), 2, 8),
}


@pytest.fixture(params=["once", "by sample"], autouse=True)
def scratch(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute all samples at once, or one at a time."""
    if request.param == "by sample":
        monkeypatch.setattr(shifted, "_SCRATCH", 1)


@pytest.fixture(params=["one panel", "panels"])
def cached(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the weights stay in a cache, or use them for several panels at a time."""
    if request.param == "panels":
        monkeypatch.setattr(shifted, "_CACHED", 1 << 12)
        monkeypatch.setattr(shifted, "_BLOCKS", 1)


def made(case: str) -> Made:
    """Return attributes, windows, data, weight and a gradient of the output."""
    shape, kernel, stride, dilate, pad, groups, filters = CASES[case]
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, d, p in zip(shape[2:], kernel, stride, dilate, pad, strict=True)
    ]
    rng = np.random.default_rng(len(case))
    shapes = shape, (filters, shape[1] // groups, *kernel), (shape[0], filters, *counts)
    data, weight, grad = (rng.standard_normal(one).astype(np.float32) for one in shapes)
    names = ("kernel", "stride", "dilate", "pad", "num_group", "num_filter")
    values: Any = (kernel, stride, dilate, pad, groups, filters)
    attrs = {**dict(zip(names, values, strict=True)), "layout": None, "no_bias": True}
    windows = Windows(shape[2:], (counts[0], counts[1]), kernel, stride, dilate, pad)
    return attrs, windows, data, weight, grad


def wanted(compute: Callable[..., None], shape: Any, *inputs: Any, **attrs: Any) -> Any:
    """Return what the reference kernel computes in float64."""
    out = np.empty(shape, np.float64)
    compute(np, out, *(x.astype(np.float64) for x in inputs), **attrs)
    return out


def close(got: Any, values: Any) -> bool:
    """Whether an array has these values."""
    return bool(np.abs(got - values).max() <= 3e-6 * max(1e-3, np.abs(values).max()))


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize("case", CASES)
def test_outputs_are_those_of_the_reference(case: str) -> None:
    attrs, windows, data, weight, grad = made(case)
    bias = np.arange(len(weight), dtype=np.float32)
    out = np.full_like(grad, np.nan)
    filters = shifted.filters_forward(weight, attrs["num_group"])
    shifted.products(data, filters, out, [forward_sums(windows, weight.shape[1])], bias)
    values = wanted(reference._kernel, grad.shape, data, weight, **attrs)
    assert close(out, values + bias[:, None, None])


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize("case", CASES)
def test_gradients_of_data_are_those_of_the_reference(case: str) -> None:
    attrs, windows, data, weight, grad = made(case)
    out = np.full_like(data, np.nan)
    filters = shifted.filters_backward(weight, attrs["num_group"])
    shifted.products(grad, filters, out, data_sums(windows, filters.channels))
    attrs["data_shape"] = data.shape
    values = wanted(reference._backward_data_kernel, data.shape, grad, weight, **attrs)
    assert close(out, values)


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_weights_are_those_of_the_reference(case: str) -> None:
    attrs, windows, data, weight, grad = made(case)
    out = np.full_like(weight, np.nan)
    sums = forward_sums(windows, weight.shape[1])
    shifted.term_sums(data, grad, out, sums, attrs["num_group"])
    attrs["weight_shape"] = weight.shape
    values = wanted(reference._backward_weight_kernel, weight.shape, grad, data, **attrs)
    assert close(out, values)


def test_long_sums_are_as_exact_as_those_of_blocks() -> None:
    data = np.ones((1, 1, 300, 400), np.float32)
    grad = np.full((1, 1, 300, 400), 0.1, np.float32)
    windows = Windows((300, 400), (300, 400), (1, 1), (1, 1), (1, 1), (0, 0))
    out = np.empty((1, 1, 1, 1), np.float32)
    shifted.term_sums(data, grad, out, forward_sums(windows, 1), 1)
    assert abs(out.item() / (grad.astype(np.float64).sum()) - 1) < 1e-5


def test_infinity_stays_in_its_windows() -> None:
    _, windows, data, weight, grad = made("window")
    data[0, 1, 0, 12] = np.inf
    out = np.empty_like(grad)
    filters = shifted.filters_forward(weight, 1)
    shifted.products(data, filters, out, [forward_sums(windows, weight.shape[1])])
    infinite = ~np.isfinite(out)
    assert infinite[0, :, :2, 11:].all()
    assert infinite.sum() == 9 * 4
    grad[1, 2, 11, 12] = np.inf
    total = np.empty_like(weight)
    data[0, 1, 0, 12] = 0
    shifted.term_sums(data, grad, total, forward_sums(windows, weight.shape[1]), 1)
    assert (~np.isfinite(total)).any(axis=(1, 2, 3)).tolist() == [i == 2 for i in range(9)]


@pytest.mark.parametrize(("rows", "share"), [(64, 0.8), (3, 0.5)])
def test_few_rows_and_narrow_outputs_use_a_small_share(rows: int, share: float) -> None:
    windows = Windows((56, 56), (56, 56), (3, 3), (1, 1), (1, 1), (1, 1))
    found = shifted.products_share(rows, [forward_sums(windows, 64)])
    assert found > share
    narrow = windows._replace(size=(56, 5), counts=(56, 5))
    assert shifted.products_share(rows, [forward_sums(narrow, 64)]) < found
