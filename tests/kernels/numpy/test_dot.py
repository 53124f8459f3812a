from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.ops.kernel import RefusedError
from gluonish.ops.registry import find_operator
from tests.checking.values import run_kernel

DOT = find_operator("dot")
(FAST,) = [fast for fast in DOT.fast_kernels if fast.name == "numpy.dot"]


def attributes(**given: Any) -> dict[str, Any]:
    return DOT.schema.parse("dot", given)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inner", [0, 1, 6])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_plan_gives_what_the_reference_gives(
    dtype: str, inner: int, transpose_a: bool, transpose_b: bool
) -> None:
    rng = np.random.default_rng(inner)
    lhs = rng.standard_normal((inner, 5) if transpose_a else (5, inner)).astype(dtype)
    rhs = rng.standard_normal((7, inner) if transpose_b else (inner, 7)).astype(dtype)
    attrs = attributes(transpose_a=transpose_a, transpose_b=transpose_b)
    (want,) = run_kernel(DOT, DOT.kernel, [lhs, rhs], attrs, attrs)
    (single,) = run_kernel(DOT, FAST.kernel, [lhs, rhs], attrs, attrs)
    np.testing.assert_array_equal(single, want)
    arrays = [np.full_like(want, np.nan), lhs, rhs]
    assert FAST.plan is not None
    bound = FAST.plan(arrays[:1], arrays[1:], attrs)
    bound.plan.attach(range(3), arrays, ()).run(arrays)
    np.testing.assert_allclose(arrays[0], want, rtol=1e-5)


def test_plan_refuses_a_result_with_gaps() -> None:
    assert FAST.plan is not None
    out, x = np.empty((5, 10))[:, ::2], np.ones((5, 5))
    with pytest.raises(RefusedError, match="expected a contiguous result"):
        FAST.plan((out,), (x, x), attributes())


@pytest.mark.parametrize(
    ("lhs", "rhs", "dtype", "given", "taken"),
    [
        ((64, 10), (10, 128), "float32", {}, True),
        ((64, 10), (128, 10), "float64", {"transpose_b": True}, True),
        ((64, 10), (10, 128), "float16", {}, False),
        ((256, 64), (64, 256), "float32", {}, False),
        ((64, 10), (10, 4, 32), "float32", {}, False),
        ((10,), (10, 100), "float32", {}, False),
    ],
    ids=str,
)
def test_small_products_of_matrices_are_taken(
    lhs: tuple[int, ...], rhs: tuple[int, ...], dtype: str, given: dict[str, Any], taken: bool
) -> None:
    specs = (Spec(shape, np.dtype(dtype)) for shape in (lhs, rhs))
    assert FAST.supports(*specs, **attributes(**given)) is taken
