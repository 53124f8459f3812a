"""Products of bfloat16 by products of float32: sums of float32, rounded once."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.generated import wide_products
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import RefusedError
from gluonish.ops.linalg.matmul import DOT, WIDE_DOT
from gluonish.ops.nn.dense import FULLY_CONNECTED
from tests.checking.values import spec_of

pytestmark = pytest.mark.skipif(
    not wide_products.multiplies(), reason="llvmlite or oneDNN is not there"
)

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
erf = np.vectorize(math.erf)
FUNCTIONS: dict[str | None, Any] = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softrelu": lambda x: np.logaddexp(x, 0),
    "tanh": np.tanh,
    "gelu": lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


@pytest.fixture(autouse=True)
def _processor_without_bfloat16(monkeypatch: Any) -> None:
    monkeypatch.setattr(wide_products, "_least_rows", lambda: 0)


def _made(random: Any, *shape: int) -> Any:
    return random.standard_normal(shape).astype(BFLOAT16)


def _inputs(
    rows: int, units: int, features: int, *, bias: bool = True, addend: bool = False
) -> list[Any]:
    random = np.random.default_rng(rows * 1000 + features)
    shapes = [(rows, features), (units, features)]
    shapes += [(units,)] * bias + [(rows, units)] * addend
    return [_made(random, *shape) for shape in shapes]


def _run(inputs: list[Any], op: Any, out: Any, **attrs: Any) -> Any:
    """Return what the kernel computes; it must be the one that is chosen."""
    every = {**op.schema.defaults, **attrs}
    chosen = op.select_fast("cpu", [spec_of(x) for x in inputs], every)
    assert chosen is not None
    names = {DOT: "generated.wide_dot", WIDE_DOT: "generated.wide_dot_to_float32"}
    assert chosen.name == names.get(op, "generated.wide_dense")
    chosen.run(np, out, *inputs, **every)
    return out


def _dense(inputs: list[Any], op: Any = FULLY_CONNECTED, out: Any = None, **attrs: Any) -> Any:
    units = len(inputs[1])
    if out is None:
        out = np.full((*inputs[0].shape[:-1], units), np.nan, BFLOAT16)
    return _run(inputs, op, out, num_hidden=units, flatten=False, **attrs)


def _check(found: Any, expected: Any, terms: int) -> None:
    """Compare with a result that is rounded once, after sums of float32."""
    rtol = 2**-22 if found.dtype == np.float32 else 2**-8
    wide = found.astype(np.float64)
    np.testing.assert_allclose(wide, expected, rtol=rtol, atol=terms * 2.0**-22)


def _exact(inputs: list[Any], activation: str | None = None) -> Any:
    data, weight, *rest = (x.astype(np.float64) for x in inputs)
    return FUNCTIONS[activation](data @ weight.T + sum(rest, start=np.zeros(1)))


@pytest.mark.parametrize("rows", [9, 10, 16, 33, 64, 515])
@pytest.mark.parametrize(("units", "features"), [(320, 256), (333, 257), (1201, 777)])
def test_dense_layers_are_those_of_float64(rows: int, units: int, features: int) -> None:
    inputs = _inputs(rows, units, features)
    _check(_dense(inputs), _exact(inputs), features)


def test_many_features_take_several_blocks_of_the_weight() -> None:
    inputs = _inputs(9, 70, 12000)
    _check(_dense(inputs), _exact(inputs), 12000)


def test_many_elements_take_several_blocks_of_the_data(monkeypatch: Any) -> None:
    monkeypatch.setattr(wide_products, "_DATA", 16 * 300)
    inputs = _inputs(45, 200, 300, addend=True)
    _check(_dense(inputs, FUSED_DENSE, with_sum=True), _exact(inputs), 300)


@pytest.mark.parametrize(
    ("activation", "bias", "addend"),
    [(name, bool(i % 2), bool(i // 2 % 2)) for i, name in enumerate(FUNCTIONS)],
)
def test_sums_and_functions(activation: str | None, bias: bool, addend: bool) -> None:
    inputs = _inputs(21, 163, 200, bias=bias, addend=addend)
    inputs[0] *= BFLOAT16.type(0.125)
    attrs = {"no_bias": not bias, "with_sum": addend, "activation": activation}
    _check(_dense(inputs, FUSED_DENSE, **attrs), _exact(inputs, activation), 200)


def test_the_output_may_be_the_addend() -> None:
    inputs = _inputs(40, 500, 300, addend=True)
    expected = _exact(inputs)
    found = _dense(inputs, FUSED_DENSE, inputs[3], with_sum=True)
    _check(found, expected, 300)


def test_leading_axes_are_rows() -> None:
    inputs = _inputs(30, 300, 200)
    inputs[0] = inputs[0].reshape(2, 3, 5, 200)
    found = _dense(inputs)
    _check(found, _exact(inputs), 200)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("sizes", [(64, 96, 96), (77, 130, 1), (530, 2100, 70), (65, 33, 1203)])
@pytest.mark.parametrize("op", [DOT, WIDE_DOT])
def test_products_are_those_of_float64(
    op: Any, transpose_a: bool, transpose_b: bool, sizes: tuple[int, int, int]
) -> None:
    rows, columns, inner = sizes
    random = np.random.default_rng(rows)
    lhs = _made(random, *((inner, rows) if transpose_a else (rows, inner)))
    rhs = _made(random, *((columns, inner) if transpose_b else (inner, columns)))
    out = np.full((rows, columns), np.nan, BFLOAT16 if op is DOT else np.float32)
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    if rows * columns * inner < wide_products._WORTH:
        wide_products._dot(np, out, lhs, rhs, **attrs)
    else:
        _run([lhs, rhs], op, out, **attrs)
    left, right = lhs.astype(np.float64), rhs.astype(np.float64)
    _check(out, (left.T if transpose_a else left) @ (right.T if transpose_b else right), inner)


def test_threads_change_no_bit() -> None:
    inputs = _inputs(50, 800, 700)
    product = [inputs[0], np.ascontiguousarray(inputs[1].T)]

    def both() -> list[Any]:
        out = np.empty((50, 800), BFLOAT16)
        return [_dense(inputs), _run(product, DOT, out)]

    found = both()
    openmp.disable_team()
    try:
        for x, y in zip(both(), found, strict=True):
            np.testing.assert_array_equal(x, y)
    finally:
        openmp.enable_teams()


def test_what_is_no_number_stays_so_in_its_row() -> None:
    inputs = _inputs(11, 330, 400)
    inputs[0][10, 399] = np.nan
    inputs[0][9, 0] = np.inf
    found = _dense(inputs).astype(np.float64)
    assert np.isnan(found[10]).all()
    assert np.isinf(found[9]).all()
    _check(found[:9], _exact(inputs)[:9], 400)


def test_other_calls_are_left_to_other_kernels(monkeypatch: Any) -> None:
    fits = [spec_of(x) for x in _inputs(16, 300, 200)]
    attrs = {**FUSED_DENSE.schema.defaults, "num_hidden": 300}

    def supports(*specs: Spec, **extra: Any) -> bool:
        return wide_products._supports_dense(*specs, **{**attrs, **extra})

    assert supports(*fits)
    assert not supports(*(Spec(x.shape, np.dtype(np.float32)) for x in fits))
    assert not supports(fits[0], Spec(fits[1].shape, np.dtype(np.float32)), fits[2])
    assert not supports(*fits, activation="elu")
    assert not supports(Spec((0, 200), BFLOAT16), *fits[1:])
    assert not supports(Spec((2, 200), BFLOAT16), *fits[1:])  # not worth the loops
    assert not supports(*fits[:2], Spec((300, 1), BFLOAT16))
    assert not wide_products._supports_dot(
        Spec((2, 300, 200), BFLOAT16),
        Spec((200, 300), BFLOAT16),
        transpose_a=False,
        transpose_b=False,
    )
    with monkeypatch.context() as patch:
        patch.setattr(wide_products, "_least_rows", lambda: math.inf)
        assert not supports(*fits)
        patch.setattr(wide_products, "_least_rows", lambda: 128)
        assert not supports(*fits)
        long, wide = Spec((128, 200), BFLOAT16), Spec((200, 128), BFLOAT16)
        assert supports(long, *fits[1:])
        dot = {"transpose_a": False, "transpose_b": False}
        assert wide_products._supports_dot(long, wide, **dot)
        few = Spec((200, 100), BFLOAT16)  # transposed
        assert not wide_products._supports_dot(few, long, transpose_a=True, transpose_b=True)
    data, weight, bias = _inputs(16, 300, 200)
    with pytest.raises(RefusedError, match="wide_products: expected contiguous arrays"):
        wide_products._dense(
            *(np, np.empty((16, 300), BFLOAT16), data, np.asfortranarray(weight), bias), **attrs
        )


@pytest.mark.parametrize(
    ("features", "rows"),
    [
        *((f"+avx512f,{name},-sha", math.inf) for name in wide_products._FAST_FEATURES),
        ("+avx2,-avx512bf16", 0),
        ("+avx512f,+avx512bf16,+sse4a", math.inf),  # of AMD
        ("+avx512f,+avx512bf16,-amx-bf16,-sse4a", 128),  # of Intel, without AMX
    ],
)
def test_processors_with_bfloat16_are_known(monkeypatch: Any, features: str, rows: float) -> None:
    monkeypatch.undo()
    wide_products._least_rows.cache_clear()
    monkeypatch.setattr(wide_products, "host", lambda: ("", features))
    assert wide_products._least_rows() == rows
    wide_products._least_rows.cache_clear()
