"""weight_only_dense: values, gradients of both orders, kernels, and refusals."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from gluonish.ops.quantization import weight_only
from gluonish.ops.quantization.weight_only import (
    BACKWARD_DATA,
    BACKWARD_SCALE,
    WEIGHT_ONLY_DENSE,
)
from tests.checking.check_operator import check_operator

_DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def _arrays(shape: tuple[int, ...], units: int, features: int, group_size: int | None) -> list[Any]:
    random = np.random.default_rng(units + features)
    groups = (units,) if group_size is None else (units, features // group_size)
    return [
        random.standard_normal(shape),
        random.integers(-128, 128, (units, features)).astype(np.int8),
        random.uniform(0.5, 1.5, groups) / 64,
        random.standard_normal(units),
    ]


def _floating(weight: Any, scale: Any) -> Any:
    grouped = weight.astype(np.float64).reshape(*scale.shape, -1) * scale[..., None]
    return grouped.reshape(weight.shape)


def _expected(data: Any, weight: Any, scale: Any, bias: Any = 0.0) -> Any:
    rows = data.reshape(-1, weight.shape[1])
    made = rows @ _floating(weight, scale).T + bias
    return made.reshape(*data.shape[:-1], -1)


@pytest.mark.parametrize("group_size", [None, 2, 6])
@pytest.mark.parametrize("no_bias", [False, True])
def test_products_and_gradients_of_both_orders(group_size: int | None, no_bias: bool) -> None:
    inputs = _arrays((2, 3, 6), 4, 6, group_size)[: 3 if no_bias else 4]
    attrs = {"num_hidden": 4, "no_bias": no_bias, "flatten": False, "group_size": group_size}
    check_operator(
        *(WEIGHT_ONLY_DENSE, inputs, attrs, _expected),
        wrt=(0, 2) if no_bias else (0, 2, 3),
        zero_size=[inputs[0][:0], *inputs[1:]],
        half_tolerance=5e-2,
    )


@pytest.mark.parametrize("group_size", [None, 3])
def test_gradients_are_operators_with_gradients(group_size: int | None) -> None:
    data, weight, scale, _ = _arrays((2, 6), 4, 6, group_size)
    grad = np.random.default_rng(1).standard_normal((2, 4))
    check_operator(
        *(BACKWARD_DATA, [grad, weight, scale], {}),
        lambda g, w, s: g @ _floating(w, s),
        wrt=(0, 2),
        half_tolerance=5e-2,
    )
    check_operator(
        *(BACKWARD_SCALE, [grad, data, weight, scale], {}),
        lambda g, x, w, s: ((g.T @ x) * w).reshape(*s.shape, -1).sum(-1),
        wrt=(0, 1),
        half_tolerance=5e-2,
    )


def _bytes(integers: Any) -> Any:
    """Return pairs of integers from -8 to 7 as bytes, the first one in the low bits."""
    unsigned = integers.astype(np.int64) % 16
    return (unsigned[..., ::2] + 16 * unsigned[..., 1::2]).astype(np.uint8)


def _expanded(weight: Any) -> Any:
    """Return the integers of bytes; `check_operator` may pass these as floats."""
    low, high = np.asarray(weight, np.int64) % 16, np.asarray(weight, np.int64) // 16
    made = np.stack([low, high], axis=-1).reshape(*weight.shape[:-1], -1)
    return np.where(made < 8, made, made - 16)


@pytest.mark.parametrize("group_size", [None, 2, 3])
@pytest.mark.parametrize("no_bias", [False, True])
def test_products_and_gradients_of_4_bits(group_size: int | None, no_bias: bool) -> None:
    data, _, scale, bias = _arrays((2, 3, 6), 4, 6, group_size)
    weight = _bytes(np.random.default_rng(9).integers(-8, 8, (4, 6)))
    inputs = [data, weight, scale] if no_bias else [data, weight, scale, bias]
    attrs = {"num_hidden": 4, "no_bias": no_bias, "flatten": False, "group_size": group_size}
    check_operator(
        *(WEIGHT_ONLY_DENSE, inputs, {**attrs, "bits": 4}),
        lambda x, w, s, b=0.0: _expected(x, _expanded(w), s, b),
        wrt=(0, 2) if no_bias else (0, 2, 3),
        zero_size=[inputs[0][:0], *inputs[1:]],
        half_tolerance=5e-2,
    )


def test_4_bits_of_symbols_and_of_numpy() -> None:
    data = mx.sym.var("data")
    made = mx.sym.weight_only_dense(data, num_hidden=5, group_size=4, bits=4, name="fc")
    shapes, outputs, _ = made.infer_shape(data=(2, 3, 4))
    assert shapes == [(2, 3, 4), (5, 6), (5, 3), (5,)]
    assert outputs == [(2, 5)]
    dtypes, _, _ = made.infer_type(data="float16")
    assert [np.dtype(x).name for x in dtypes] == ["float16", "uint8", "float32", "float16"]
    integers = np.random.default_rng(0).integers(-8, 8, (3, 4))
    x, _, scale, bias = _arrays((2, 4), 3, 4, None)
    arrays: list[Any] = [mx.np.array(v, dtype=v.dtype) for v in (x, _bytes(integers), scale, bias)]
    found = mx.npx.weight_only_dense(*arrays, num_hidden=3, bits=4)
    np.testing.assert_allclose(found.asnumpy(), _expected(x, integers, scale, bias), rtol=1e-12)


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
@pytest.mark.parametrize("group_size", [None, 32, 96])
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_every_dtype_is_near_float64(dtype: Any, group_size: int | None, rows: int) -> None:
    data, weight, scale, bias = _arrays((rows, 192), 500, 192, group_size)
    data, bias = data.astype(dtype), bias.astype(dtype)
    scale = scale.astype(np.float64 if dtype is np.float64 else np.float32)
    inputs: list[Any] = [mx.nd.array(x, dtype=x.dtype) for x in (data, weight, scale, bias)]
    found = mx.nd.weight_only_dense(*inputs, num_hidden=500, group_size=group_size)
    assert found.dtype == dtype
    wide = [x.astype(np.float64) for x in (data, weight, scale, bias)]
    exact = _expected(*wide)
    error = np.abs(found.asnumpy().astype(np.float64) - exact).max() / np.abs(exact).max()
    assert error < {2: 4e-3, 4: 1e-6, 8: 1e-14}[np.dtype(dtype).itemsize]


def test_a_weight_beyond_a_block_is_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_only, "_BLOCK", 20)
    test_products_and_gradients_of_both_orders(2, False)
    test_gradients_are_operators_with_gradients(3)


@pytest.mark.parametrize("group_size", [None, 4])
def test_data_without_features(group_size: int | None) -> None:
    shape = (5,) if group_size is None else (5, 0)
    data, scale, bias = (mx.nd.ones(x) for x in ((3, 0), shape, (5,)))
    for x in (data, scale, bias):
        x.attach_grad()
    weight = mx.nd.ones((5, 0), dtype="int8")
    with mx.autograd.record():
        out = mx.nd.weight_only_dense(
            data, weight, scale, bias, num_hidden=5, group_size=group_size
        )
    out.backward()
    assert (out.asnumpy() == 1).all()
    assert out.shape == (3, 5)
    assert data.grad.shape == (3, 0)
    assert (scale.grad.asnumpy() == 0).all()
    assert (bias.grad.asnumpy() == 3).all()


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
@pytest.mark.parametrize("group_size", [None, 96])
def test_gradients_of_long_rows(dtype: Any, group_size: int | None) -> None:
    arrays = _arrays((40, 1920), 300, 1920, group_size)
    arrays = [x if x.dtype == np.int8 else x.astype(dtype) for x in arrays]
    data, weight, scale, bias = arrays
    scale = scale.astype(np.float64 if dtype is np.float64 else np.float32)
    head = np.random.default_rng(2).standard_normal((40, 300)).astype(dtype)
    inputs: list[Any] = [mx.nd.array(x, dtype=x.dtype) for x in (data, weight, scale, bias)]
    for i in (0, 2, 3):
        inputs[i].attach_grad()
    with mx.autograd.record():
        out = mx.nd.weight_only_dense(*inputs, num_hidden=300, group_size=group_size)
    out.backward(mx.nd.array(head, dtype=head.dtype))
    data, weight, scale, head = (x.astype(np.float64) for x in (data, weight, scale, head))
    exact = {
        0: head @ _floating(weight, scale),
        2: ((head.T @ data) * weight).reshape(*scale.shape, -1).sum(axis=-1),
        3: head.sum(axis=0),
    }
    bound = {2: 4e-3, 4: 2e-6, 8: 1e-14}[np.dtype(dtype).itemsize]
    for i, value in exact.items():
        found = inputs[i].grad.asnumpy().astype(np.float64)
        assert np.abs(found - value).max() <= bound * np.abs(value).max(), i


def test_a_strided_array_gives_the_same() -> None:
    inputs: list[Any] = [mx.nd.array(x, dtype=x.dtype) for x in _arrays((3, 8), 5, 8, 4)]
    inputs = [x if x.dtype == np.int8 else x.astype("float32") for x in inputs]
    expected = mx.nd.weight_only_dense(*inputs, num_hidden=5, group_size=4)
    turned: list[Any] = [x.T.copy().T if x.ndim == 2 else x for x in inputs]
    found = mx.nd.weight_only_dense(*turned, num_hidden=5, group_size=4)
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-6)


def test_symbols_infer_shapes_and_dtypes() -> None:
    data = mx.sym.var("data")
    made = mx.sym.weight_only_dense(data, num_hidden=5, group_size=4, name="fc")
    shapes, outputs, _ = made.infer_shape(data=(2, 3, 4))
    assert shapes == [(2, 3, 4), (5, 12), (5, 3), (5,)]
    assert outputs == [(2, 5)]
    dtypes, outputs, _ = made.infer_type(data="float16")
    assert [np.dtype(x).name for x in dtypes] == ["float16", "int8", "float32", "float16"]
    assert np.dtype(outputs[0]).name == "float16"


def test_numpy_interface() -> None:
    data, weight, scale, bias = _arrays((2, 4), 3, 4, None)
    arrays: list[Any] = [mx.np.array(x, dtype=x.dtype) for x in (data, weight, scale, bias)]
    found = mx.npx.weight_only_dense(*arrays, num_hidden=3)
    np.testing.assert_allclose(found.asnumpy(), _expected(data, weight, scale, bias), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group_size": 3}, "expected group_size that divides 4 features, got 3"),
        ({"num_hidden": 2}, r"expected weight int8\(2, 4\) for data float32\(2, 4\)"),
        ({"weight": "float32"}, r"expected weight int8\(3, 4\)"),
        ({"group_size": 2}, r"expected scale float32\(3, 2\), got float32\(3,\)"),
        ({"scale": "float64"}, r"expected scale float32\(3,\)"),
        ({"bias": "float64"}, r"expected bias float32\(3,\), got float64"),
        ({"data": "int32"}, "expected floating data of at least 1 axis"),
        ({"bits": 4}, r"expected weight uint8\(3, 2\) for data float32\(2, 4\), got int8"),
        ({"bits": 3}, "expected bits to be 8 or 4, got 3"),
    ],
)
def test_bad_input_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    names = ("data", "weight", "scale", "bias")
    dtypes = {"data": "float32", "weight": "int8", "scale": "float32", "bias": "float32"}
    dtypes |= {name: dtype for name, dtype in change.items() if name in names}
    arrays: list[Any] = [
        mx.nd.array(x, dtype=dtypes[name])
        for x, name in zip(_arrays((2, 4), 3, 4, None), names, strict=True)
    ]
    attrs = {"num_hidden": 3} | {k: v for k, v in change.items() if k not in names}
    with pytest.raises(OperatorError, match=f"weight_only_dense: {message}"):
        mx.nd.weight_only_dense(*arrays, **attrs)
