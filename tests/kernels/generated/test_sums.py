from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels import (
    openmp,
)
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import (
    sums,
)
from gluonish.kernels.generated.sums import add_rows
from gluonish.ops.kernel import RefusedError
from gluonish.ops.registry import find_operator
from tests.checking.values import run_kernel

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

FEW = 4 * float(np.finfo(np.float32).eps)

# Shapes and axes of every way: runs, columns side by side or as lines, and with batches.
WAYS = [
    ((64, 128), (0,)),
    ((3, 700, 131), (0, 1)),
    ((64, 10), (0,)),
    ((7, 3, 2), (0, 1)),
    ((1000, 9), (0,)),
    ((9, 5000), (0,)),
    ((2, 5000), (0,)),
    ((4097, 2), (0,)),
    ((4000, 2), (1,)),
    ((5, 1), (0,)),
    ((5000,), (0,)),
    ((50, 300), (1,)),
    ((70, 64, 8), (1,)),
    ((70, 3, 80), (1,)),
    ((7, 5, 600), (1,)),
    ((2, 6, 5000), (1,)),
    ((90, 40, 8), (0, 2)),
    ((20, 3, 100), (0, 2)),
    ((3, 50, 4, 60), (1, 3)),
    ((3, 20, 40, 80), (1, 3)),
    ((20, 30, 20, 3), (0, 2)),
    ((20, 3, 20, 300), (0, 2)),
    ((1, 30, 1, 200), (0, 1, 2)),
    ((30, 1, 200), (1, 2)),
]


def kernel_of(name: str) -> tuple[Any, Any]:
    operator = find_operator(name)
    (fast,) = [k for k in operator.fast_kernels if k.name == f"generated.exact_{name}"]
    return operator, fast


SUM, FAST = kernel_of("sum")


def values(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).random(shape).astype(np.float32)


def attributes(**given: Any) -> dict[str, Any]:
    return SUM.schema.parse("sum", given)


@pytest.mark.parametrize("rows", [0, 1, 77])
@pytest.mark.parametrize("columns", [1, 63, 1000])
def test_rows_are_added(rows: int, columns: int) -> None:
    x, out = values(rows, columns), np.full(columns, np.nan, np.float32)
    add_rows(out, x)
    np.testing.assert_allclose(out, x.astype(np.float64).sum(0), rtol=FEW)


def test_sums_may_lie_apart() -> None:
    x, out = values(5, 70), np.full((70, 2), np.nan, np.float32)
    add_rows(out[:, 1], x)
    np.testing.assert_allclose(out[:, 1], x.astype(np.float64).sum(0), rtol=FEW)
    assert np.isnan(out[:, 0]).all()


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize(("shape", "axes"), WAYS)
def test_plans_are_exact_and_what_the_kernel_gives(
    shape: tuple[int, ...], axes: tuple[int, ...], name: str
) -> None:
    operator, fast = kernel_of(name)
    attrs, x = attributes(axis=axes), values(*shape)
    wanted = getattr(x.astype(np.float64), name)(axis=axes)
    out = np.full(wanted.shape or (1,), np.nan, np.float32)
    bound = fast.plan((out,), (x,), attrs)
    bound.plan.attach((0, 1), (out, x), (0, 1)).run((out, x))
    np.testing.assert_allclose(out, wanted.reshape(out.shape), rtol=FEW)
    again = np.full_like(out, np.nan)
    bound.plan.run(again, x)
    np.testing.assert_array_equal(again, out)
    (called,) = run_kernel(operator, fast.kernel, [x], attrs, attrs)
    np.testing.assert_array_equal(called, out)


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("dtype", [BFLOAT16, FLOAT16], ids=str)
@pytest.mark.parametrize(("shape", "axes"), WAYS)
def test_sums_of_16_bits_are_those_of_float32_rounded(
    shape: tuple[int, ...], axes: tuple[int, ...], dtype: np.dtype[Any], name: str
) -> None:
    if not sums.supports_dtype(dtype):
        pytest.skip("this processor does not convert float16")
    operator, fast = kernel_of(name)
    attrs, x = attributes(axis=axes), (values(*shape) - np.float32(0.3)).astype(dtype)
    assert fast.supports(Spec(shape, dtype), **attrs) is fast.supports(
        Spec(shape, FLOAT32), **attrs
    )
    found = []
    for array in (x, x.astype(np.float32)):
        out = np.full(array.sum(axis=axes).shape or (1,), np.nan, array.dtype)
        fast.plan((out,), (array,), attrs).plan.run(out, array)
        found.append(out)
    np.testing.assert_array_equal(found[0], found[1].astype(dtype))
    (called,) = run_kernel(operator, fast.kernel, [x], attrs, attrs)
    np.testing.assert_array_equal(called, found[0])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_do_not_change_a_sum(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "_GRAIN", 1)
    sums.sums_plan.cache_clear()
    set_threads = openmp.team().set_threads
    before = openmp.team().threads()
    try:
        set_threads(threads)
        for shape, axes in (((300, 700), (0,)), ((90, 40, 8), (0, 2)), ((70, 64, 8), (1,))):
            x = values(*shape)
            out = np.empty([n for i, n in enumerate(shape) if i not in axes], np.float32)
            sums.sums_plan(shape, axes, 1.0).run(out, x)
            np.testing.assert_allclose(out, x.astype(np.float64).sum(axes), rtol=FEW)
    finally:
        set_threads(before)
        sums.sums_plan.cache_clear()


def test_plan_refuses_gaps() -> None:
    x, out = values(70, 256)[:, ::2], np.empty(128, np.float32)
    with pytest.raises(RefusedError, match="expected contiguous arrays"):
        FAST.plan((out,), (x,), attributes(axis=0))


def test_axes_may_lie_in_another_order() -> None:
    x = np.moveaxis(values(4, 30, 30, 5), -1, 1)
    out = np.empty((4, 5), np.float32)
    FAST.plan((out,), (x,), attributes(axis=(2, 3))).plan.run(out, x)
    np.testing.assert_allclose(out, x.astype(np.float64).sum((2, 3)), rtol=FEW)
    with pytest.raises(RefusedError, match="expected contiguous arrays"):
        FAST.plan((np.empty((5, 30, 30), np.float32),), (x,), attributes(axis=0))


@pytest.mark.parametrize("keepdims", [False, True])
def test_result_is_the_references(keepdims: bool) -> None:
    x, attrs = values(9, 60, 300), attributes(axis=(0, 1), keepdims=keepdims)
    (want,), (got,) = (run_kernel(SUM, k, [x], attrs, attrs) for k in (SUM.kernel, FAST.kernel))
    np.testing.assert_allclose(got, want, rtol=FEW)
    strided = np.repeat(x, 2, axis=1)[:, ::2]
    (of_strided,) = run_kernel(SUM, FAST.kernel, [strided], attrs, attrs)
    np.testing.assert_allclose(of_strided, want, rtol=FEW)


@pytest.mark.parametrize(
    ("shape", "given", "taken"),
    [
        ((500, 300), {"axis": 0}, True),
        ((500, 300), {"axis": -1, "exclude": True}, True),
        ((500, 300), {"axis": 1}, True),
        ((500, 300), {}, True),
        ((5, 100, 300), {"axis": 0}, True),
        ((640, 10), {"axis": 1}, True),
        ((64, 10), {"axis": 1}, False),  # few sums, which NumPy does as fast
        ((0, 10), {"axis": 0}, False),
        ((3, 1, 5), {"axis": 1}, False),
        ((3, 4, 5, 6, 7), {"axis": (0, 2, 4)}, False),
        ((100, 20, 20, 100), {"axis": (0, 2)}, False),  # where NumPy is faster
    ],
    ids=str,
)
def test_sums_are_taken_unless_their_axes_take_turns(
    shape: tuple[int, ...], given: dict[str, Any], taken: bool
) -> None:
    assert FAST.supports(Spec(shape, np.dtype(np.float32)), **attributes(**given)) is taken
