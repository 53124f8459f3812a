from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.generated import concat_and_slice
from gluonish.ops.indexing.slice import SLICE_AXIS
from gluonish.ops.kernel import RefusedError
from gluonish.ops.shape.concat import CONCAT


def _values(*shape: int, dtype: Any = np.float32) -> Any:
    return (np.random.default_rng(3).standard_normal(shape) * 50).astype(dtype)


def _last(x: Any) -> Any:
    return np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.float64, np.int64])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("dim", [1, 0, -1])
def test_concat_puts_columns_beside_each_other(dtype: Any, last: bool, dim: int) -> None:
    shapes = {1: [(2, 3, 5, 7), (2, 8, 5, 7), (2, 1, 5, 7)]}.get(dim, [(2, 3, 5, 7)] * 3)
    if last and dim != 1:
        return
    arrays = [_values(*shape, dtype=dtype) for shape in shapes]
    wanted = np.concatenate(arrays, axis=dim)
    out = np.zeros_like(wanted)
    if last:
        arrays, out = [_last(x) for x in arrays], _last(out)
    bound = concat_and_slice._plan_concat((out,), arrays, {"dim": dim, "num_args": 3})
    bound.plan.run(out, *arrays)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(("axis", "begin", "end"), [(1, 2, 5), (1, -3, None), (0, 1, 2), (3, 0, 4)])
def test_slice_axis_takes_columns(last: bool, axis: int, begin: int, end: int | None) -> None:
    if last and axis != 1:
        return
    data = _values(2, 6, 5, 7)
    wanted = np.take(data, range(6)[begin:end] if axis == 1 else range(begin, end or 0), axis)
    out = np.zeros_like(wanted)
    if last:
        data, out = _last(data), _last(out)
    attrs = {"axis": axis, "begin": begin, "end": end}
    concat_and_slice._plan_slice((out,), (data,), attrs).plan.run(out, data)
    np.testing.assert_array_equal(out, wanted)


def test_arrays_that_lie_differently_go_to_the_reference_kernel() -> None:
    a, b = _values(2, 64, 32, 32), _last(_values(2, 64, 32, 32))
    out = np.empty((2, 128, 32, 32), np.float32)
    with pytest.raises(RefusedError, match="arrays of one layout"):
        concat_and_slice._plan_concat((out,), (a, b), {"dim": 1, "num_args": 2})
    fast = next(f for f in CONCAT.fast_kernels if f.name == "generated.concat")
    fast.kernel(np, out, a, b, num_args=2, dim=1)
    np.testing.assert_array_equal(out, np.concatenate([a, b], axis=1))


def test_small_and_empty_arrays_are_left_alone() -> None:
    kind = np.dtype(np.float32)
    assert not concat_and_slice._supports_concat(*[Spec((2, 3), kind)] * 2, num_args=2, dim=1)
    large = Spec((2, 1 << 14), kind)
    assert not concat_and_slice._supports_concat(large, Spec((2, 0), kind), num_args=2, dim=1)
    assert concat_and_slice._supports_concat(large, large, num_args=2, dim=1)
    assert not concat_and_slice._supports_slice(large, axis=1, begin=5, end=5)
    assert SLICE_AXIS.select_fast("cpu", [large], {"axis": 1, "begin": 0, "end": None})
