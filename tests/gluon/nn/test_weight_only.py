"""WeightOnlyDense: shapes, dtypes, files, and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OperatorError
from gluonish.gluon import nn


def _layer(**options: Any) -> Any:
    layer = nn.WeightOnlyDense(5, **options)
    layer.initialize()
    layer(mx.nd.ones((2, 3, 4)))
    random = np.random.default_rng(0)
    layer.weight.set_data(random.integers(-127, 128, layer.weight.shape).astype(np.int8))
    layer.scale.set_data(random.uniform(0.01, 0.02, layer.scale.shape).astype(np.float32))
    return layer


def _expected(layer: Any, x: Any) -> Any:
    weight, scale = layer.weight.data().asnumpy(), layer.scale.data().asnumpy()
    grouped = weight.astype(np.float64).reshape(*scale.shape, -1) * scale[..., None]
    y = x.astype(np.float64) @ grouped.reshape(weight.shape).T
    return y if layer.bias is None else y + layer.bias.data().asnumpy()


@pytest.mark.parametrize("group_size", [None, 2])
@pytest.mark.parametrize("flatten", [False, True])
def test_products_with_deferred_shapes(group_size: int | None, flatten: bool) -> None:
    layer = _layer(group_size=group_size, flatten=flatten)
    x = mx.nd.random.normal(shape=(2, 3, 4))
    rows = x.asnumpy().reshape(2, 12) if flatten else x.asnumpy()
    np.testing.assert_allclose(layer(x).asnumpy(), _expected(layer, rows), rtol=1e-5, atol=1e-5)
    eager = layer(x).asnumpy()
    layer.hybridize()
    np.testing.assert_array_equal(layer(x).asnumpy(), eager)


def test_activation_without_bias() -> None:
    layer = _layer(activation="relu", use_bias=False, flatten=False)
    x = mx.nd.random.normal(shape=(2, 3, 4))
    expected = np.maximum(_expected(layer, x.asnumpy()), 0)
    np.testing.assert_allclose(layer(x).asnumpy(), expected, rtol=1e-5, atol=1e-5)


def test_integers_have_no_gradient_and_scales_do() -> None:
    layer = _layer(group_size=2, flatten=False)
    x = mx.nd.random.normal(shape=(2, 3, 4))
    x.attach_grad()
    with mx.autograd.record():
        y = layer(x)
    y.backward(mx.nd.ones(y.shape))
    assert layer.weight.grad_req == "null"
    rows = x.asnumpy().reshape(6, 4)
    weight = layer.weight.data().asnumpy()
    expected = (weight * rows.sum(0)).reshape(5, 2, 2).sum(-1)
    np.testing.assert_allclose(layer.scale.grad().asnumpy(), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(layer.bias.grad().asnumpy(), np.full(5, 6))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_cast_keeps_the_integers(dtype: str) -> None:
    layer = _layer(flatten=False)
    x = mx.nd.random.normal(shape=(2, 3, 4))
    expected = _expected(layer, x.asnumpy())
    layer.cast(dtype)
    assert np.dtype(layer.weight.dtype) == np.int8
    assert np.dtype(layer.scale.dtype).name == ("float64" if dtype == "float64" else "float32")
    y = layer(x.astype(dtype))
    assert np.dtype(y.dtype).name == dtype
    np.testing.assert_allclose(y.astype("float64").asnumpy(), expected, rtol=2e-2, atol=5e-2)


def test_save_load_and_export(tmp_path: Path) -> None:
    layer, x = _layer(group_size=4, flatten=False), mx.nd.random.normal(shape=(2, 3, 4))
    expected = layer(x).asnumpy()
    layer.save_parameters(str(tmp_path / "x.params"))
    other = nn.WeightOnlyDense(5, group_size=4, flatten=False)
    other.load_parameters(str(tmp_path / "x.params"))
    np.testing.assert_array_equal(other(x).asnumpy(), expected)
    layer.hybridize()
    layer(x)
    layer.export(str(tmp_path / "net"))
    files = [str(tmp_path / name) for name in ("net-symbol.json", "net-0000.params")]
    block = mx.gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_array_equal(block(x).asnumpy(), expected)


def test_integers_of_4_bits_share_bytes(tmp_path: Path) -> None:
    layer = nn.WeightOnlyDense(3, bits=4, group_size=2, use_bias=False)
    layer.initialize()
    layer(mx.nd.ones((1, 4)))
    assert (layer.weight.shape, layer.weight.dtype) == ((3, 2), np.uint8)
    assert layer.scale.shape == (3, 2)
    bytes_ = [[0x21, 0x43], [0x8F, 0x7E], [0x00, 0x10]]  # low bits first: 1, 2, 3, 4 ...
    layer.weight.set_data(np.array(bytes_, np.uint8))
    layer.scale.set_data(np.array([[1, 1], [0.5, 2], [1, 1]], np.float32))
    wanted = [[1, 2, 3, 4], [-0.5, -4, -4, 14], [0, 0, 0, 1]]
    np.testing.assert_array_equal(layer(mx.nd.eye(4)).asnumpy(), np.array(wanted).T)
    layer.hybridize()
    np.testing.assert_array_equal(layer(mx.nd.eye(4)).asnumpy(), np.array(wanted).T)
    layer.save_parameters(str(tmp_path / "x.params"))
    other = nn.WeightOnlyDense(3, bits=4, group_size=2, use_bias=False)
    other.load_parameters(str(tmp_path / "x.params"))
    np.testing.assert_array_equal(other(mx.nd.eye(4)).asnumpy(), np.array(wanted).T)
    assert repr(other) == "WeightOnlyDense(4 -> 3, linear, int4, group_size=2)"
    layer.export(str(tmp_path / "net"))
    files = [str(tmp_path / name) for name in ("net-symbol.json", "net-0000.params")]
    block = mx.gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_array_equal(block(mx.nd.eye(4)).asnumpy(), np.array(wanted).T)


def test_4_bits_have_gradients_of_data_and_scale() -> None:
    layer = nn.WeightOnlyDense(2, bits=4, use_bias=False, in_units=4)
    layer.initialize()
    layer.weight.set_data(np.array([[0x21, 0x43], [0x8F, 0x7E]], np.uint8))
    integers = np.array([[1, 2, 3, 4], [-1, -8, -2, 7]], np.float32)
    x = mx.nd.array([[1, 2, 3, 4]])
    x.attach_grad()
    with mx.autograd.record():
        y = layer(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), integers.sum(0)[None])
    np.testing.assert_array_equal(layer.scale.grad().asnumpy(), integers @ [1, 2, 3, 4])


def test_repr_tells_sizes() -> None:
    assert repr(nn.WeightOnlyDense(5)) == "WeightOnlyDense(None -> 5, linear, int8)"
    layer = nn.WeightOnlyDense(5, "relu", group_size=2, in_units=4)
    assert repr(layer) == "WeightOnlyDense(4 -> 5, Activation(relu), int8, group_size=2)"


def test_bad_sizes_are_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="WeightOnlyDense: expected group_size that divides"):
        nn.WeightOnlyDense(5, group_size=3, in_units=4)
    with pytest.raises(ArgumentError, match="WeightOnlyDense: expected group_size"):
        nn.WeightOnlyDense(5, group_size=0)
    with pytest.raises(ArgumentError, match="WeightOnlyDense: expected bits of 8 or 4, got 3"):
        nn.WeightOnlyDense(5, bits=3)
    with pytest.raises(ArgumentError, match="expected even in_units with 4 bits, got 7"):
        nn.WeightOnlyDense(5, bits=4, in_units=7)
    layer = nn.WeightOnlyDense(5, bits=4)
    layer.initialize()
    with pytest.raises(OperatorError, match="an even number of features of 4 bits, got 7"):
        layer(mx.nd.ones((2, 7)))
    with pytest.raises(ArgumentTypeError, match="WeightOnlyDense: expected group_size"):
        nn.WeightOnlyDense(5, group_size="all")  # type: ignore[arg-type]  # the test's point
