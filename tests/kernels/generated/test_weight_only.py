"""Weights of 8 and 4 bits: near the products of float64, with equal bits in any threads."""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available, machine_code, vector_code
from gluonish.kernels.generated import weight_only, weight_only_code, wide_products
from gluonish.kernels.onednn import register as onednn
from gluonish.ops.kernel import RefusedError
from gluonish.ops.quantization.weight_only import WEIGHT_ONLY_DENSE
from tests.checking.values import spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

FLOAT32, BFLOAT16 = (np.dtype(x) for x in (np.float32, ml_dtypes.bfloat16))
DTYPES = [FLOAT32, BFLOAT16]
UNITS = 701


def _inputs(
    dtype: Any,
    rows: int,
    features: int,
    group_size: int | None,
    *,
    bias: bool = True,
    bits: int = 8,
) -> list[Any]:
    random = np.random.default_rng(rows * 1000 + features)
    groups = (UNITS,) if group_size is None else (UNITS, features // group_size)
    made = [
        random.standard_normal((rows, features)).astype(dtype),
        random.integers(-(1 << bits - 1), 1 << bits - 1, (UNITS, features)).astype(np.int8),
        (random.uniform(0.5, 1.5, groups) / 64).astype(np.float32),
    ]
    if bits == 4:
        made[1] = _bytes(made[1])
    return [*made, random.standard_normal(UNITS).astype(dtype)] if bias else made


def _bytes(integers: Any) -> Any:
    """Return pairs of integers as bytes, the first one in the low bits."""
    unsigned = integers.astype(np.int64) % 16
    return (unsigned[:, ::2] + 16 * unsigned[:, 1::2]).astype(np.uint8)


def _integers(weight: Any) -> Any:
    """Return the integers of a weight, those of bytes an element at a time."""
    if weight.dtype == np.int8:
        return weight
    pairs = [[(x % 16, x // 16) for x in row] for row in weight.tolist()]
    made = np.array(pairs).reshape(len(weight), -1)
    return np.where(made < 8, made, made - 16)


def _attrs(inputs: list[Any]) -> dict[str, Any]:
    weight, scale = inputs[1:3]
    bits = 8 if weight.dtype == np.int8 else 4
    group_size = None if scale.ndim == 1 else weight.shape[1] * 8 // bits // scale.shape[1]
    attrs = {"num_hidden": len(weight), "no_bias": len(inputs) == 3, "group_size": group_size}
    attrs["bits"] = bits
    return {**WEIGHT_ONLY_DENSE.schema.defaults, **attrs}


def _run(inputs: list[Any], name: str = "weight_only") -> Any:
    """Return what the kernel computes; it must be the one that is chosen."""
    attrs = _attrs(inputs)
    chosen: Any = WEIGHT_ONLY_DENSE.select_fast("cpu", [spec_of(x) for x in inputs], attrs)
    assert chosen is not None
    assert chosen.name == f"generated.{name}"
    out = np.full((len(inputs[0]), len(inputs[1])), np.nan, inputs[0].dtype)
    if name == "weight_only_blocks":
        chosen.run(np, out, *inputs, **attrs)
    else:
        chosen.plan((out,), inputs, attrs).plan.run(out, *inputs)
    return out


def _exact(inputs: list[Any]) -> Any:
    inputs = [inputs[0], _integers(inputs[1]), *inputs[2:]]
    data, weight, scale, *bias = (x.astype(np.float64) for x in inputs)
    grouped = weight.reshape(*scale.shape, -1) * scale[..., None]
    return data @ grouped.reshape(weight.shape).T + sum(bias, start=np.zeros(1))


def _check(found: Any, inputs: list[Any]) -> None:
    exact = _exact(inputs)
    narrow = found.dtype.itemsize == 2
    np.testing.assert_allclose(
        *(found.astype(np.float64), exact),
        rtol=2.0**-8 if narrow else 2.0**-23,
        atol=(2.0**-14 if narrow else 2.0**-19) * np.abs(exact).max(),
    )


@pytest.fixture
def sixteen_lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write the code for AVX-512, which LLVM compiles for the processor that is there."""
    name, features = machine_code.host()
    monkeypatch.setattr(vector_code, "host", lambda: (name, f"{features},+avx512f"))
    caches = (weight_only_code.width, weight_only_code.kernel, weight_only._plan_of)
    for cached in caches:
        cached.cache_clear()
    assert vector_code.lanes() == 16
    yield
    for cached in caches:
        cached.cache_clear()


SIZES = [(512, None), (1000, None), (777, None), (96, 32), (768, 64), (384, 192), (2048, 1024)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 3, 8])
@pytest.mark.parametrize(("features", "group_size"), SIZES)
def test_products_are_those_of_float64(
    dtype: Any, rows: int, features: int, group_size: int | None
) -> None:
    inputs = _inputs(dtype, rows, features, group_size, bias=rows != 2)
    _check(_run(inputs), inputs)


NIBBLE_SIZES = [(512, None), (544, None), (384, 32), (768, 192)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 8])
@pytest.mark.parametrize(("features", "group_size"), NIBBLE_SIZES)
def test_products_of_4_bits_are_those_of_float64(
    dtype: Any, rows: int, features: int, group_size: int | None
) -> None:
    inputs = _inputs(dtype, rows, features, group_size, bias=rows != 2, bits=4)
    _check(_run(inputs), inputs)


@pytest.mark.usefixtures("sixteen_lanes")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("features", "group_size"), NIBBLE_SIZES)
def test_products_of_4_bits_in_vectors_of_sixteen(
    dtype: Any, features: int, group_size: int | None
) -> None:
    inputs = _inputs(dtype, 3, features, group_size, bits=4)
    _check(_run(inputs), inputs)


@pytest.mark.skipif(not onednn.enabled(), reason="oneDNN is not there")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("features", "group_size"), [(778, None), (384, 3), (768, 64)])
def test_many_rows_of_4_bits_are_multiplied_in_blocks(
    dtype: Any, features: int, group_size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wide_products, "_BLOCK", 1 << 16)
    inputs = _inputs(dtype, 50, features, group_size, bits=4)
    _check(_run(inputs, "weight_only_blocks"), inputs)


@pytest.mark.usefixtures("sixteen_lanes")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("features", "group_size"), SIZES)
def test_products_in_vectors_of_sixteen(
    dtype: Any, rows: int, features: int, group_size: int | None
) -> None:
    inputs = _inputs(dtype, rows, features, group_size)
    _check(_run(inputs), inputs)


@pytest.mark.skipif(not onednn.enabled(), reason="oneDNN is not there")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("features", "group_size"), [(777, None), (384, 3), (768, 64)])
def test_many_rows_are_multiplied_in_blocks(
    dtype: Any, features: int, group_size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wide_products, "_BLOCK", 1 << 16)
    inputs = _inputs(dtype, 50, features, group_size)
    _check(_run(inputs, "weight_only_blocks"), inputs)
    # Also few rows, if groups are no multiple of vectors.
    if group_size == 3:
        few = [inputs[0][:1], *inputs[1:]]
        _check(_run(few, "weight_only_blocks"), few)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("group_size", [None, 64])
@pytest.mark.parametrize("bits", [8, 4])
def test_threads_change_no_bit(dtype: Any, group_size: int | None, bits: int) -> None:
    inputs = _inputs(dtype, 2, 512, group_size, bits=bits)
    found = _run(inputs)
    np.testing.assert_array_equal(_run(inputs), found)
    openmp.disable_team()
    try:
        np.testing.assert_array_equal(_run(inputs), found)
    finally:
        openmp.enable_teams()


def test_large_elements_of_bfloat16_leave_digits_to_small_ones() -> None:
    inputs = _inputs(BFLOAT16, 1, 768, None, bias=False)
    inputs[0][0, 5] = 1000
    inputs[1][:, 5] = 0  # only the others count, 127 of which are rounded to 1024 / 2 ** 15
    found, exact = _run(inputs).astype(np.float64), _exact(inputs)
    error = np.abs(found - exact) - np.abs(exact) * 2.0**-8
    rounded = inputs[1][:, :128].astype(np.float64) * inputs[2][:, None]
    assert (error <= np.abs(rounded).sum(1) * 2.0**-6).all()
    assert error.max() > 0  # so the bound is not idle


def test_elements_of_one_magnitude_are_exact() -> None:
    """Integers up to 64 times the smallest element have no error, nor do their sums."""
    random = np.random.default_rng(4)
    inputs = _inputs(BFLOAT16, 2, 384, 32, bias=False)
    inputs[0] = random.integers(-64, 65, inputs[0].shape).astype(BFLOAT16) * 2.0**40
    inputs[0] = inputs[0].astype(BFLOAT16)
    inputs[2] = np.full_like(inputs[2], 0.25)
    np.testing.assert_array_equal(_run(inputs), _exact(inputs).astype(BFLOAT16))


@pytest.mark.parametrize("value", [0.0, 1e-30, 1e30])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_extreme_elements(dtype: Any, value: float) -> None:
    inputs = _inputs(dtype, 1, 512, None, bias=False)
    inputs[0][...] = value
    inputs[2][...] = 1e-4
    inputs[1] = np.ascontiguousarray(np.sign(inputs[1]))
    inputs[1][:, 256:] = -inputs[1][:, :256]  # sums are 0 ...
    inputs[1][:, 3] = 1  # ... or 1, nearly
    found, exact = _run(inputs).astype(np.float64), _exact(inputs)
    np.testing.assert_allclose(found, exact, rtol=2e-2, atol=abs(value) * 1e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_stays_so_in_its_row(dtype: Any, value: float) -> None:
    inputs = _inputs(dtype, 2, 512, None)
    inputs[0][1, 300] = value
    found = _run(inputs)
    assert not np.isfinite(found[1].astype(np.float32)).any()
    first = [inputs[0][:1], *inputs[1:]]
    _check(found[:1], first)


def test_other_calls_are_left_to_other_kernels() -> None:
    kernel: Any = weight_only.KERNELS[0][1]
    for dtype, rows, features, group_size in (
        (FLOAT32, 9, 512, None),  # bound by multiplications
        (np.float64, 1, 512, None),
        (FLOAT32, 0, 512, None),
        (FLOAT32, 1, 0, None),
        (FLOAT32, 1, 64, None),  # not worth a compilation
        (FLOAT32, 1, 480, 24),
    ):
        inputs = _inputs(dtype, rows, features, group_size)
        specs = [spec_of(x) for x in inputs]
        assert not kernel.supports(*specs, **_attrs(inputs)), (dtype, rows, features, group_size)
    for features, group_size in ((776, None), (480, 48)):
        inputs = _inputs(FLOAT32, 1, features, group_size, bits=4)
        specs = [spec_of(x) for x in inputs]
        assert not kernel.supports(*specs, **_attrs(inputs))
    inputs = _inputs(FLOAT32, 1, 512, None)
    specs = [spec_of(x) for x in inputs]
    assert kernel.supports(*specs, **_attrs(inputs))
    specs[2] = Spec(specs[2].shape, np.dtype(np.float64))
    assert not kernel.supports(*specs, **_attrs(inputs))
    inputs[1] = np.asfortranarray(inputs[1])
    out = np.empty((1, UNITS), np.float32)
    with pytest.raises(RefusedError, match="weight_only: expected contiguous arrays"):
        kernel.plan((out,), inputs, _attrs(inputs))
