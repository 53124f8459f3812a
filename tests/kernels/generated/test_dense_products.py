"""Small products of float32: near those of float64, with equal bits in any threads."""

import math
from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.compiler.vector_code import lanes
from gluonish.kernels.generated import dense_products
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import RefusedError
from gluonish.ops.linalg.matmul import DOT
from gluonish.ops.nn.dense import FULLY_CONNECTED
from tests.checking.values import spec_of

pytestmark = pytest.mark.skipif(
    not available() or lanes() != 16, reason="llvmlite or AVX-512 is not there"
)

# Rows, units and features of a layer: whole tiles, parts of tiles, and neither axis a whole vector.
SIZES = [(64, 128, 256), (64, 256, 250), (32, 96, 200), (67, 101, 333), (130, 70, 65)]
LAYERS = [(64, 10, 128), (200, 3, 400), (70, 16, 65), (129, 1, 300), (64, 12, 300)]


def _random(*shape: int) -> Any:
    random = np.random.default_rng(math.prod(shape))
    return random.standard_normal(shape).astype(np.float32)


def _run(op: Any, shape: tuple[int, ...], inputs: list[Any], **attrs: Any) -> Any:
    """Return what the kernel computes; it must be the one that is chosen."""
    every = {**op.schema.defaults, **attrs}
    chosen = op.select_fast("cpu", [spec_of(x) for x in inputs], every)
    assert chosen is not None
    assert chosen.name in ("generated.dense_products", "generated.dot_products")
    out = np.full(shape, np.nan, np.float32)
    bound = chosen.plan((out,), inputs, every)
    bound.plan.run(*bound.order([out, *inputs]))
    return out


def _dense(rows: int, units: int, features: int, **attrs: Any) -> tuple[Any, Any]:
    """Return the output of a layer, and what float64 gives."""
    data, weight, bias = _random(rows, features), _random(units, features), _random(units)
    inputs = [data, weight] if attrs.get("no_bias") else [data, weight, bias]
    op = FUSED_DENSE if "activation" in attrs else FULLY_CONNECTED
    found = _run(op, (rows, units), inputs, num_hidden=units, **attrs)
    exact = data.astype(np.float64) @ weight.T.astype(np.float64)
    exact += 0 if attrs.get("no_bias") else bias
    return found, np.maximum(exact, 0) if attrs.get("activation") else exact


def _check(found: Any, exact: Any, terms: int) -> None:
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=2.0**-20 * math.sqrt(terms))


@pytest.mark.parametrize("sizes", LAYERS, ids=str)
@pytest.mark.parametrize("attrs", [{}, {"no_bias": True}, {"activation": "relu"}], ids=str)
def test_dense_layers_are_those_of_float64(sizes: tuple[int, ...], attrs: Any) -> None:
    found, exact = _dense(*sizes, **attrs)
    _check(found, exact, sizes[2])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_gradients_are_those_of_float64(sizes: tuple[int, ...]) -> None:
    rows, units, features = sizes
    grad, data, weight = _random(rows, units), _random(rows, features), _random(units, features)
    found = _run(DOT, (rows, features), [grad, weight])
    _check(found, grad.astype(np.float64) @ weight.astype(np.float64), units)
    found = _run(DOT, (units, features), [grad, data], transpose_a=True)
    _check(found, grad.T.astype(np.float64) @ data.astype(np.float64), rows)


def _products(rows: int, units: int, features: int) -> list[Any]:
    grad, data, weight = _random(rows, units), _random(rows, features), _random(units, features)
    return [
        _run(DOT, (rows, features), [grad, weight]),
        _run(DOT, (units, features), [grad, data], transpose_a=True),
    ]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_threads_change_no_bit(sizes: tuple[int, ...]) -> None:
    found = _products(*sizes)
    openmp.disable_team()
    try:
        alone = _products(*sizes)
    finally:
        openmp.enable_teams()
    for x, y in zip(alone, found, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    data, weight = _random(190, 128), _random(10, 128)
    attrs = {"num_hidden": 10, "no_bias": True}
    whole = _run(FULLY_CONNECTED, (190, 10), [data, weight], **attrs)
    part = _run(FULLY_CONNECTED, (70, 10), [data[77:147], weight], **attrs)
    np.testing.assert_array_equal(part, whole[77:147])


def test_what_is_no_number_stays_in_its_row_and_column() -> None:
    lhs, rhs = _random(70, 100), _random(100, 70)
    lhs[3, 7], rhs[99, 65] = np.nan, np.inf
    found = _run(DOT, (70, 70), [lhs, rhs])
    assert np.isnan(found[3]).all()
    assert not np.isfinite(found[:, 65]).any()
    assert np.isfinite(np.delete(np.delete(found, 3, 0), 65, 1)).all()


@pytest.mark.parametrize("activation", [None, "relu"])
def test_a_layer_keeps_what_is_no_number(activation: str | None) -> None:
    data, weight, bias = _random(70, 100), _random(9, 100), _random(9)
    data[3, 7], bias[8] = np.nan, np.nan
    attrs = {"num_hidden": 9, "activation": activation}
    found = _run(FUSED_DENSE, (70, 9), [data, weight, bias], **attrs)
    assert np.isnan(found[3]).all()
    assert np.isnan(found[:, 8]).all()
    assert np.isfinite(np.delete(found, 3, 0)[:, :8]).all()


def test_other_calls_are_left_to_other_kernels() -> None:
    kernel = dense_products.KERNELS[0][1]
    attrs = {**FULLY_CONNECTED.schema.defaults, "num_hidden": 10, "no_bias": True}

    def fits(rows: int, units: int, features: int, dtype: Any = np.float32) -> bool:
        data, weight = Spec((rows, features), dtype), Spec((units, features), dtype)
        return kernel.supports(data, weight, **attrs)

    assert fits(64, 10, 128)
    assert not fits(8, 10, 784)  # few rows
    assert not fits(64, 10, 8)  # as fast with NumPy
    assert not fits(64, 17, 128)  # many units
    assert not fits(64, 10, 128, np.dtype(np.float64))
    data, weight = _random(64, 128), _random(10, 128)
    out = np.empty((64, 10), np.float32)
    with pytest.raises(RefusedError, match="dense_products: expected contiguous arrays"):
        kernel.plan((out,), (data, np.asfortranarray(weight)), attrs)


def test_other_products_are_left_to_other_kernels() -> None:
    kernel = dense_products.KERNELS[-1][1]

    def fits(lhs: tuple[int, ...], rhs: tuple[int, ...], **attrs: Any) -> bool:
        specs = [Spec(shape, np.dtype(np.float32)) for shape in (lhs, rhs)]
        return kernel.supports(*specs, **{**DOT.schema.defaults, **attrs})

    assert fits((64, 128), (128, 256))
    assert fits((64, 128), (64, 256), transpose_a=True)
    assert not fits((64, 128), (256, 128), transpose_b=True)
    assert not fits((64, 256), (256, 784))  # the library is faster
    assert not fits((64, 10), (10, 784))  # tiles would be mostly empty
    assert not fits((64, 64), (64, 64))  # as fast with NumPy
    assert not fits((2, 64, 256), (256, 784))
