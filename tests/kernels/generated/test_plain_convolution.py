from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.config import MXNET_MKLDNN_ENABLED
from gluonish.gluon import nn
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import plain_convolution as plain
from gluonish.kernels.generated import shifted_products
from gluonish.ops.nn import convolution as reference
from gluonish.ops.nn import deconvolution

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
    "shifted planes": ((2, 16, 33, 40), (3, 3), (1, 1), (1, 1), (1, 1), 1, 16),
    "shifted planes, stride": ((1, 24, 80, 80), (4, 4), (2, 2), (1, 1), (1, 1), 1, 32),
    "shifted sequence": ((8, 32, 520), (5,), (2,), (1,), (2,), 1, 32),
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


@pytest.mark.parametrize("case", ["shifted planes", "shifted planes, stride"])
def test_these_cases_use_shifted_planes(case: str) -> None:
    attrs, data, weight, _, grad = made(case)
    call = plain._call_of(data.shape, weight.shape, grad.shape, attrs)
    assert call.forward_sums()
    assert call.data_sums()
    assert call.weight_sums() is not None


# Few terms, few positions, few products, windows that hardly overlap, few filters, many weights.
@pytest.mark.parametrize(
    ("data", "weight", "stride"),
    [
        ((32, 3, 32, 32), (32, 3, 3, 3), 1),
        ((32, 64, 14, 14), (64, 64, 3, 3), 1),
        ((1, 8, 32, 32), (8, 8, 3, 3), 1),
        ((8, 16, 128, 128), (64, 16, 4, 4), 4),
        ((8, 64, 64, 64), (2, 64, 3, 3), 1),
        ((1, 256, 28, 28), (256, 256, 3, 3), 1),
    ],
)
def test_convolutions_that_blas_computes_faster(data: Any, weight: Any, stride: int) -> None:
    kernel = weight[2:]
    attrs = {"kernel": kernel, "stride": (stride,) * 2, "dilate": (1, 1), "num_group": 1}
    pad = 1 if kernel == (3, 3) else 0
    counts = [(n + 2 * pad - kernel[0]) // stride + 1 for n in data[2:]]
    call = plain._call_of(data, weight, (data[0], weight[0], *counts), {**attrs, "pad": (pad, pad)})
    assert not call.forward_sums()
    assert call.weight_sums() is None


@pytest.mark.parametrize(
    ("data", "weight", "groups", "adj"),
    [
        ((2, 32, 30, 28), (32, 24, 4, 4), 1, (0, 0)),  # shifted planes
        ((2, 6, 5, 7), (6, 2, 3, 3), 2, (1, 0)),
        ((2, 4, 9, 8), (4, 1, 3, 3), 4, (0, 1)),  # depthwise
    ],
)
@pytest.mark.parametrize("with_bias", [False, True])
def test_transposed_convolutions_are_those_of_the_reference(
    data: Any, weight: Any, groups: int, adj: Any, with_bias: bool
) -> None:
    filters = weight[1] * groups
    attrs = {
        **dict.fromkeys(("workspace", "cudnn_tune", "cudnn_off", "layout", "target_shape")),
        "kernel": weight[2:],
        "stride": (2, 2),
        "dilate": (1, 1),
        "pad": (1, 1),
        "adj": adj,
        "num_filter": filters,
        "num_group": groups,
        "no_bias": not with_bias,
    }
    rng = np.random.default_rng(len(data))
    shapes = [data, weight, *([(filters,)] if with_bias else [])]
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    counts = [(n - 1) * 2 + k - 2 + a for n, k, a in zip(data[2:], weight[2:], adj, strict=True)]
    out = np.full((data[0], filters, *counts), np.nan, np.float32)
    plain._transposed(np, out, *arrays, **attrs)
    assert close(out, deconvolution._kernel, *arrays, **attrs)


def _convolution_without_onednn(data: Any, weight: Any, *, hybrid: bool) -> Any:
    layer = nn.Conv2D(len(weight), 3, padding=1, use_bias=False, in_channels=weight.shape[1])
    layer.initialize(ctx=mx.cpu())
    layer.weight.set_data(mx.nd.array(weight, ctx=mx.cpu()))
    if hybrid:
        layer.hybridize()
    return layer(mx.nd.array(data, ctx=mx.cpu()))


@pytest.mark.parametrize("hybrid", [False, True])
def test_layers_without_onednn_run_these_kernels(
    hybrid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    attrs, data, weight, _, grad = made("shifted planes")
    calls = []

    def noted(*args: Any, **options: Any) -> None:
        calls.append(args[0].shape)
        shifted_products.products(*args, **options)

    monkeypatch.setattr(plain, "products", noted)
    with MXNET_MKLDNN_ENABLED.override(False):
        out = _convolution_without_onednn(data, weight, hybrid=hybrid).asnumpy()
    assert calls == [data.shape]
    wanted = np.empty(grad.shape, np.float64)
    reference._kernel(np, wanted, data.astype(float), weight.astype(float), **attrs)
    np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-4)


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
