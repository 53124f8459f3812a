"""Dense layers on few rows: near the products of float64, with equal bits in any threads."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import few_rows
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.dense import FULLY_CONNECTED
from tests.checking.values import spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

DTYPES = [np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)]
erf = np.vectorize(math.erf)
FUNCTIONS: dict[str | None, Any] = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


def _inputs(
    dtype: Any, rows: int, units: int, features: int, *, bias: bool = True, addend: bool = False
) -> list[Any]:
    random = np.random.default_rng(rows * 1000 + features)
    shapes = [(rows, features), (units, features)]
    shapes += [(units,)] * bias + [(rows, units)] * addend
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def _attrs(op: Any, **attrs: Any) -> dict[str, Any]:
    return {**op.schema.defaults, **attrs}


def _run(inputs: list[Any], op: Any = FULLY_CONNECTED, **attrs: Any) -> Any:
    """Return what the kernel computes; it must be the one that is chosen."""
    units = len(inputs[1])
    every = _attrs(op, num_hidden=units, **attrs)
    chosen = op.select_fast("cpu", [spec_of(x) for x in inputs], every)
    assert chosen is not None
    assert chosen.name == "generated.few_rows"
    out = np.full((len(inputs[0]), units), np.nan, inputs[0].dtype)
    chosen.plan((out,), inputs, every).plan.run(out, *inputs)
    return out


def _exact(inputs: list[Any], activation: str | None = None) -> Any:
    data, weight, *rest = (x.astype(np.float64) for x in inputs)
    return FUNCTIONS[activation](data @ weight.T + sum(rest, start=np.zeros(1)))


def _check(found: Any, expected: Any, features: int) -> None:
    wide = found.astype(np.float64)
    step = 2.0**-8 if found.dtype.itemsize == 2 else 2.0**-23
    np.testing.assert_allclose(wide, expected, rtol=step, atol=16 * step * math.sqrt(features))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", range(1, 9))
@pytest.mark.parametrize("features", [512, 1000, 777, 2049])
def test_products_are_those_of_float64(dtype: Any, rows: int, features: int) -> None:
    inputs = _inputs(dtype, rows, 1201, features)
    _check(_run(inputs), _exact(inputs), features)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", FUNCTIONS)
@pytest.mark.parametrize("addend", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_sums_and_functions(dtype: Any, activation: str | None, addend: bool, bias: bool) -> None:
    inputs = _inputs(dtype, 3, 999, 600, bias=bias, addend=addend)
    attrs = {"no_bias": not bias, "with_sum": addend, "activation": activation}
    _check(_run(inputs, FUSED_DENSE, **attrs), _exact(inputs, activation), 600)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_threads_change_no_bit(dtype: Any) -> None:
    inputs = _inputs(dtype, 2, 1030, 515)
    found = _run(inputs)
    openmp.disable_team()
    try:
        np.testing.assert_array_equal(_run(inputs), found)
    finally:
        openmp.enable_teams()


def test_what_is_no_number_stays_so_in_its_feature() -> None:
    inputs = _inputs(DTYPES[0], 1, 1300, 700)
    inputs[1][7, 699] = np.nan
    inputs[1][299, 0] = np.inf
    found = _run(inputs)
    assert np.isnan(found[0, 7])
    assert np.isinf(found[0, 299])
    others = np.delete(np.arange(1300), [7, 299])
    _check(found[:, others], _exact(inputs)[:, others], 700)


def test_other_calls_are_left_to_other_kernels() -> None:
    kernel = few_rows.KERNELS[0][1]
    attrs = _attrs(FULLY_CONNECTED, num_hidden=300)
    for inputs in (
        _inputs(DTYPES[0], 9, 1300, 700),  # bound by multiplications
        _inputs(DTYPES[0], 1, 300, 700),  # not worth a compilation
        _inputs(np.float64, 1, 1300, 700),
        _inputs(DTYPES[0], 0, 1300, 700),
        _inputs(DTYPES[0], 1, 1300, 0),
    ):
        assert not kernel.supports(*(spec_of(x) for x in inputs), **attrs)
    fits = [spec_of(x) for x in _inputs(DTYPES[0], 1, 1300, 700)]
    assert kernel.supports(*fits, **attrs)
    mixed = [fits[0], Spec(fits[1].shape, DTYPES[1]), fits[2]]
    assert not kernel.supports(*mixed, **attrs)
    data, weight, bias = _inputs(DTYPES[0], 1, 300, 700)
    strided = np.asfortranarray(weight)
    with pytest.raises(RefusedError, match="few_rows: expected contiguous arrays"):
        kernel.plan((np.empty((1, 300), np.float32),), (data, strided, bias), attrs)
