"""Products of float32 by AMX: as near to those of float64 as sums of float32 are."""

import math
from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.compiler.amx_code import has_amx
from gluonish.kernels.generated import split_products
from gluonish.kernels.onednn import sgemm
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import RefusedError
from gluonish.ops.linalg.matmul import DOT
from gluonish.ops.nn.dense import FULLY_CONNECTED
from tests.checking.values import spec_of

pytestmark = pytest.mark.skipif(
    not available() or not has_amx(), reason="llvmlite or AMX is not there"
)

# Rows, columns and terms: whole blocks, parts of blocks, less than a block, many terms, and
# operands that are packed in pieces.
SIZES = [
    (64, 96, 64),
    (67, 101, 333),
    (5, 3, 2),
    (33, 31, 32),
    (40, 50, 1200),
    (20, 1500, 1120),
    (1500, 20, 1120),
]


def _random(*shape: int) -> Any:
    random = np.random.default_rng(math.prod(shape))
    return random.standard_normal(shape).astype(np.float32)


def _bound(a: Any, b: Any, more: Any = 0.0) -> Any:
    """Return a bound of the error: six roundings to float32, far fewer than a sum of its terms."""
    sizes = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + np.abs(more)
    return sizes * 6 * 2.0**-24


def _check(found: Any, a: Any, b: Any, more: Any = 0.0) -> None:
    exact = a.astype(np.float64) @ b.astype(np.float64) + more
    assert np.all(np.abs(found - exact) <= _bound(a, b, more))


@pytest.mark.parametrize("left", ["C", "F"])
@pytest.mark.parametrize("right", ["C", "F"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_products_are_those_of_float64(sizes: tuple[int, ...], left: Any, right: Any) -> None:
    rows, columns, terms = sizes
    a = np.asarray(_random(rows, terms), order=left)
    b = np.asarray(_random(terms, columns), order=right)
    wide = np.full((rows, columns + 7), 5, np.float32)
    out = wide[:, :columns]
    split_products.product(out, a, b)
    _check(out, a, b)
    bias = _random(columns)
    split_products.product(out, a, b, bias)
    _check(out, a, b, bias)
    split_products.product(out, a, b, add=True)
    _check(out, 2 * a, b, bias)
    np.testing.assert_array_equal(wide[:, columns:], 5)


def test_the_error_is_below_that_of_products_of_float32() -> None:
    a, b = _random(300, 1000), _random(1000, 300)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    out = np.empty((300, 300), np.float32)
    split_products.product(out, a, b)
    in_order = np.zeros((300, 300), np.float32)
    for k in range(1000):
        in_order += a[:, k, None] * b[k]
    assert np.square(out - exact).mean() < np.square(in_order - exact).mean()


def test_numbers_of_24_bits_are_multiplied_exactly() -> None:
    a = np.array([[2**24 - 1, 2**23 + 1, 3 * 2**20 + 5, -7]] * 40, np.float32)
    b = np.eye(4, 40, dtype=np.float32)
    out = np.empty((40, 40), np.float32)
    split_products.product(out, a, b)
    np.testing.assert_array_equal(out[:, :4], a)


@pytest.mark.parametrize("power", [-140, -100, -60, 0, 60, 64])
def test_any_magnitude(power: int) -> None:
    a, b = _random(64, 64) * np.float32(2.0**power), _random(64, 64)
    out = np.empty((64, 64), np.float32)
    split_products.product(out, a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.all(np.abs(out - exact) <= _bound(a, b) + 64 * 2.0**-149)


@pytest.mark.parametrize("add", [False, True])
def test_what_is_no_number_stays_in_its_row_and_column(add: bool) -> None:
    a, b = _random(70, 100), _random(100, 70)
    a[3, 7], b[99, 65] = np.nan, np.inf
    out, bias = np.ones((70, 70), np.float32), _random(70)
    split_products.product(out, a, b, None if add else bias, add=add)
    assert np.isnan(out[3]).all()
    assert not np.isfinite(out[:, 65]).any()
    rest = [np.delete(x, 65, -1) for x in (np.delete(out, 3, 0), b, bias)]
    _check(rest[0], np.delete(a, 3, 0), rest[1], 1.0 if add else rest[2])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_threads_change_no_bit(sizes: tuple[int, ...]) -> None:
    rows, columns, terms = sizes
    a, b = _random(rows, terms), _random(terms, columns)
    found = []
    for alone in (False, True):
        out = np.empty((rows, columns), np.float32)
        if alone:
            openmp.disable_team()
        try:
            split_products.product(out, a, b)
        finally:
            openmp.enable_teams()
        found.append(out)
    np.testing.assert_array_equal(*found)


def test_matrices_with_gaps_are_refused() -> None:
    out, a = np.empty((64, 64), np.float32), _random(64, 64)
    with pytest.raises(RefusedError, match="expected a with contiguous rows"):
        split_products.product(out, _random(128, 128)[::2, ::2], a)
    with pytest.raises(RefusedError, match="expected out with contiguous rows"):
        split_products.product(out.T, a, a)


def _run(op: Any, shape: tuple[int, ...], inputs: list[Any], name: str, **attrs: Any) -> Any:
    """Return what the kernel computes; it must be the one that is chosen."""
    every = {**op.schema.defaults, **attrs}
    chosen = op.select_fast("cpu", [spec_of(x) for x in inputs], every)
    assert chosen is not None
    assert chosen.name == f"generated.{name}"
    out = np.full(shape, np.nan, np.float32)
    chosen.run(np, out, *inputs, **every)
    return out


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True)], ids=str)
def test_dot(transposed: tuple[bool, bool]) -> None:
    a, b = _random(643, 360), _random(360, 617)
    inputs = [
        np.ascontiguousarray(x.T) if flips else x
        for x, flips in zip((a, b), transposed, strict=True)
    ]
    flags = dict(zip(("transpose_a", "transpose_b"), transposed, strict=True))
    _check(_run(DOT, (643, 617), inputs, "split_dot", **flags), a, b)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("addend", [False, True])
@pytest.mark.parametrize("activation", [None, "relu", "gelu_tanh"])
def test_dense_layers(bias: bool, addend: bool, activation: str | None) -> None:
    data, weight = _random(2, 320, 360), _random(617, 360)
    rest = [_random(617)] * bias + [_random(2, 320, 617)] * addend
    op = FULLY_CONNECTED if activation is None and not addend else FUSED_DENSE
    attrs: dict[str, Any] = {"num_hidden": 617, "no_bias": not bias, "flatten": False}
    if op is FUSED_DENSE:
        attrs.update(activation=activation, with_sum=addend)
    inputs = [data, weight, *rest]
    found = _run(op, (2, 320, 617), inputs, "split_dense", **attrs)
    exact = data.astype(np.float64) @ weight.T.astype(np.float64)
    for x in rest:
        exact = exact + x
    if activation == "relu":
        exact = np.maximum(exact, 0)
    elif activation is not None:
        exact *= 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (exact + 0.044715 * exact**3)))
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=2e-4)


def test_the_output_may_be_the_addend() -> None:
    data, weight, addend = _random(640, 360), _random(640, 360), _random(640, 640)
    attrs = {"num_hidden": 640, "no_bias": True, "with_sum": True}
    want = _run(FUSED_DENSE, (640, 640), [data, weight, addend], "split_dense", **attrs)
    every = {**FUSED_DENSE.schema.defaults, **attrs}
    chosen = FUSED_DENSE.select_fast("cpu", [spec_of(x) for x in (data, weight, addend)], every)
    assert chosen is not None
    chosen.run(np, addend, data, weight, addend, **every)
    np.testing.assert_array_equal(addend, want)


def test_other_products_are_left_to_other_kernels() -> None:
    kernel = split_products.KERNELS[0][1]

    def fits(lhs: tuple[int, ...], rhs: tuple[int, ...], dtype: Any = np.float32) -> bool:
        specs = [Spec(shape, np.dtype(dtype)) for shape in (lhs, rhs)]
        return kernel.supports(*specs, **DOT.schema.defaults)

    assert fits((512, 512), (512, 1024))
    assert not fits((512, 256), (256, 512))  # the library is as fast
    assert not fits((256, 4096), (4096, 4096))  # packing would take as long as the products
    assert not fits((512, 512), (512, 1024), np.float64)
    assert not fits((2, 512, 512), (512, 1024))


@pytest.mark.parametrize("left", ["C", "F"])
@pytest.mark.parametrize("is_left", [False, True])
def test_only_pieces_whose_parts_are_not_exact_are_left_to_the_library(
    is_left: bool, left: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The larger operand has tiny numbers in its second half; the other pieces have NaN nowhere."""
    large, small = _random(700, 90), _random(90, 40)
    large[400:] *= np.float32(2.0**-100)
    large[690, 3] = np.nan
    a, b = (large, small) if is_left else (small.T, large.T)
    a = np.asarray(a, order=left)
    sizes = []
    library = sgemm.product

    def noted(out: Any, *operands: Any, add: bool) -> None:
        sizes.append(out.shape[0 if is_left else 1])
        library(out, *operands, add=add)

    monkeypatch.setattr(sgemm, "product", noted)
    bias = _random(b.shape[1]) * np.float32(2.0**-100) if is_left else _random(b.shape[1])
    out = np.full((len(a), b.shape[1]), np.nan, np.float32)
    split_products.product(out, a, b, bias)
    assert 0 < sum(sizes) < 400  # some of the tiny rows, none of the others
    axis = 0 if is_left else 1
    exact = a.astype(np.float64) @ b.astype(np.float64) + bias
    assert np.isnan(np.take(out, 690, axis)).all()
    out, exact = np.delete(out, 690, axis), np.delete(exact, 690, axis)
    np.testing.assert_allclose(out, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 600, 64), (600, 1, 64), (33, 1, 33)])
def test_products_with_one_row_or_column(sizes: tuple[int, int, int]) -> None:
    rows, columns, terms = sizes
    a, b = _random(rows, terms), _random(terms, columns)
    out = np.full((rows, columns), np.nan, np.float32)
    split_products.product(out, a, b)
    _check(out, a, b)


@pytest.mark.parametrize("left", ["C", "F"])
@pytest.mark.parametrize("right", ["C", "F"])
def test_tiny_numbers_do_not_change_those_beside_them(left: Any, right: Any) -> None:
    """The last parts of numbers near 2 ** -115 are subnormal, and have more bits than bfloat16."""
    a, b = _random(64, 64), _random(64, 64)
    for x in (a, b):
        x[16:32] *= np.float32(2.0**-115)
        x[:, 48:] *= np.float32(2.0**-112)
    out = np.empty((64, 64), np.float32)
    split_products.product(out, np.asarray(a, order=left), np.asarray(b, order=right))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.all(np.abs(out - exact) <= _bound(a, b) + 64 * 2.0**-120)
