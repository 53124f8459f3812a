from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.numba.column_sums import add_rows
from gluonish.kernels.numba.compiler import available
from gluonish.kernels.onednn.api import RefusedError
from gluonish.ops.registry import find_operator
from gluonish.testing.values import run_kernel

pytestmark = pytest.mark.skipif(not available(), reason="Numba is not there")

SUM = find_operator("sum")
(FAST,) = [fast for fast in SUM.fast_kernels if fast.name == "numba.column_sums"]


def values(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def attributes(**given: Any) -> dict[str, Any]:
    return SUM.schema.parse("sum", given)


@pytest.mark.parametrize("rows", [0, 1, 77])
@pytest.mark.parametrize("columns", [1, 63, 1000])
def test_rows_are_added(rows: int, columns: int) -> None:
    x, out = values(rows, columns), np.full(columns, np.nan, np.float32)
    add_rows(out, x)
    np.testing.assert_allclose(out, x.astype(np.float64).sum(0), rtol=1e-5, atol=1e-5)


def test_sums_may_lie_apart() -> None:
    x, out = values(5, 70), np.full((70, 2), np.nan, np.float32)
    add_rows(out[:, 1], x)
    np.testing.assert_allclose(out[:, 1], x.astype(np.float64).sum(0), rtol=1e-5, atol=1e-5)
    assert np.isnan(out[:, 0]).all()


@pytest.mark.parametrize("shape", [(64, 128), (3, 700, 131), (64, 10), (5, 1), (7, 3, 2)])
def test_plan_gives_what_the_kernel_gives(shape: tuple[int, ...]) -> None:
    attrs = attributes(axis=tuple(range(len(shape) - 1)))
    x, out = values(*shape), np.full(shape[-1], np.nan, np.float32)
    assert FAST.plan is not None
    bound = FAST.plan((out,), (x,), attrs)
    (want,) = run_kernel(SUM, FAST.kernel, [x], attrs, attrs)
    bound.plan.attach((0, 1), (out, x), (0, 1)).run((out, x))
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-4)
    again = np.full_like(out, np.nan)
    bound.plan.run(again, x)
    np.testing.assert_array_equal(again, out)


def test_plan_refuses_gaps() -> None:
    x, out = values(70, 256)[:, ::2], np.empty(128, np.float32)
    assert FAST.plan is not None
    with pytest.raises(RefusedError, match="expected contiguous arrays"):
        FAST.plan((out,), (x,), attributes(axis=0))


@pytest.mark.parametrize("keepdims", [False, True])
def test_result_is_the_references(keepdims: bool) -> None:
    x, attrs = values(9, 60, 300), attributes(axis=(0, 1), keepdims=keepdims)
    (want,), (got,) = (run_kernel(SUM, k, [x], attrs, attrs) for k in (SUM.kernel, FAST.kernel))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
    strided = np.repeat(x, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(run_kernel(SUM, FAST.kernel, [strided], attrs, attrs)[0], got)


@pytest.mark.parametrize(
    ("shape", "given", "taken"),
    [
        ((500, 300), {"axis": 0}, True),
        ((500, 300), {"axis": -1, "exclude": True}, True),
        ((500, 300), {"axis": 1}, False),
        ((500, 300), {}, False),
        ((5, 100, 300), {"axis": 0}, False),
        ((9000, 30), {"axis": 0}, True),
        ((90000, 1), {"axis": 0}, False),
        ((5, 300), {"axis": 0}, True),
        ((64, 10), {"axis": 0}, True),
        ((64, 10), {"axis": 1}, False),
        ((0, 10), {"axis": 0}, False),
    ],
    ids=str,
)
def test_sums_over_all_axes_but_the_last_are_taken(
    shape: tuple[int, ...], given: dict[str, Any], taken: bool
) -> None:
    assert FAST.takes(Spec(shape, np.dtype(np.float32)), **attributes(**given)) is taken
