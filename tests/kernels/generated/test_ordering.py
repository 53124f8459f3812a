from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.generated import ordering  # noqa: F401  # hangs the kernels on
from gluonish.ops.registry import find_operator

SHAPES = [(600,), (4, 256), (2, 3, 300)]


def numbers(shape: tuple[int, ...]) -> Any:
    """Many equal ones, zeros of both signs, infinities, and NaN of both signs."""
    random = np.random.default_rng(0)
    x = random.integers(-20, 20, shape).astype(np.float32)
    x[random.random(shape) < 0.05] = -0.0
    for value in (np.inf, -np.inf, np.nan, -np.nan, 1e-40):
        x[random.random(shape) < 0.02] = value
    return x


def check(name: str, data: Any, **attrs: Any) -> None:
    op = find_operator(name)
    (fast,) = [kernel for kernel in op.fast_kernels if kernel.name == f"generated.{name}"]
    attrs = dict(op.schema.parse(name, attrs))
    assert fast.supports(Spec(data.shape, data.dtype), **attrs)
    results = []
    for kernel in (fast.kernel, op.kernel):
        specs = op.infer(Spec(data.shape, data.dtype), **attrs)
        outputs = [np.empty(spec.shape, spec.dtype) for spec in specs]
        kernel(np, outputs[0] if op.single else tuple(outputs), data, **attrs)
        results.append(outputs)
    for got, wanted in zip(*results, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_sorting(shape: tuple[int, ...], ascending: bool) -> None:
    check("sort", numbers(shape), is_ascend=ascending)
    check("argsort", numbers(shape), is_ascend=ascending)


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("k", [0, 1, 5, 64, 65])
@pytest.mark.parametrize("kind", ["both", "mask", "indices", "value"])
def test_topk(kind: str, k: int, ascending: bool) -> None:
    x = numbers((7, 300))
    check("topk", x, k=k, ret_typ=kind, is_ascend=ascending)
    check("topk", np.sort(x)[:, ::-1], k=k, ret_typ=kind, is_ascend=ascending, axis=1)
    check("topk", x, k=k, ret_typ=kind, is_ascend=ascending, axis=None)


@pytest.mark.parametrize(
    ("shape", "dtype", "axis"),
    [((300, 300), "float32", 0), ((100, 100), "float32", 1), ((8, 300), "float64", 1)],
)
def test_other_axes_short_rows_and_other_dtypes_are_not_taken(
    shape: tuple[int, ...], dtype: str, axis: int
) -> None:
    (fast,) = [k for k in find_operator("sort").fast_kernels if k.name == "generated.sort"]
    assert not fast.supports(Spec(shape, np.dtype(dtype)), axis=axis, is_ascend=True)


def test_few_of_a_row_are_taken_of_shorter_ones() -> None:
    check("topk", numbers((20, 50)), k=3)
