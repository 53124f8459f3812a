from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import test_utils
from gluonish.core.errors import ArgumentError, ArgumentTypeError


@pytest.fixture(autouse=True)
def _seeded() -> None:
    np.random.seed(0)  # noqa: NPY002  # the generator under test


def test_random_arrays_are_normal_float32() -> None:
    one = test_utils.random_arrays((300, 100))
    assert one.dtype == np.float32
    assert abs(one.mean()) < 0.02
    assert abs(one.std() - 1) < 0.02
    assert [x.shape for x in test_utils.random_arrays((2, 3), ())] == [(2, 3), ()]
    assert test_utils.random_arrays() == []


def test_seed_of_numpy_repeats_them() -> None:
    first = test_utils.random_arrays((3,))
    np.random.seed(0)  # noqa: NPY002
    np.testing.assert_array_equal(test_utils.random_arrays((3,)), first)
    np.testing.assert_array_equal(first, np.array([1.7640524, 0.4001572, 0.978738], "f4"))


def test_uniform_arrays_keep_bounds_and_dtype() -> None:
    (x,) = test_utils.random_uniform_arrays((100,), low=4, high=6, dtype="float64")
    assert x.dtype == np.float64
    assert 4 <= x.min() < 4.5 < 5.5 < x.max() < 6
    with pytest.raises(ArgumentTypeError, match=r"^random_uniform_arrays: .*\['scale'\]"):
        test_utils.random_uniform_arrays((2,), scale=1)


def test_sample_has_no_element_twice() -> None:
    population = list(range(10))
    sample = test_utils.random_sample(population, 10)
    assert sorted(sample) == population == list(range(10))
    assert len(test_utils.random_sample(population, 3)) == 3
    with pytest.raises(ArgumentError, match=r"k in \[0, 10\], got 11"):
        test_utils.random_sample(population, 11)


def test_assign_each_applies_a_function() -> None:
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(test_utils.assign_each(x, lambda v: v + 0.5), x + 0.5)
    np.testing.assert_array_equal(test_utils.assign_each2(x, x, lambda a, b: a * b), x * x)
    copy = test_utils.assign_each(x, None)
    copy[:] = 0
    assert x.sum() == 15
    with pytest.raises(ArgumentError, match=r"^assign_each2: .*\(2, 3\), got \(2,\)"):
        test_utils.assign_each2(x, x[:, 0], lambda a, b: a)


@pytest.mark.parametrize(
    ("draw", "largest"),
    [
        (lambda **k: test_utils.rand_shape_2d(2, 3, **k), (2, 3)),
        (lambda **k: test_utils.rand_shape_3d(2, 1, 3, **k), (2, 1, 3)),
        (lambda **k: test_utils.rand_shape_nd(2, 2, **k), (2, 2)),
    ],
)
def test_shapes_reach_all_extents(draw: Callable[..., Any], largest: tuple[int, ...]) -> None:
    for allow_zero_size in (False, True):
        seen = np.array([draw(allow_zero_size=allow_zero_size) for _ in range(200)])
        assert tuple(seen.max(axis=0)) == largest
        assert set(seen.min(axis=0)) == {0 if allow_zero_size else 1}


def test_coordinates_leave_out_the_bounds() -> None:
    seen = {test_utils.rand_coord_2d(1, 3, 5, 7) for _ in range(100)}
    assert seen == {(1, 5), (1, 6), (2, 5), (2, 6)}
    with pytest.raises(ArgumentError, match=r"low < high, got \[1, 1\)"):
        test_utils.rand_coord_2d(1, 1, 5, 7)


def test_counting_arrays_and_identities() -> None:
    assert test_utils.create_2d_tensor(2, 2).asnumpy().tolist() == [[0, 0], [1, 1]]
    assert test_utils.create_vector(3, "float32").asnumpy().tolist() == [0, 1, 2]
    assert test_utils.create_vector(3).dtype is np.int64
    np.testing.assert_array_equal(test_utils.get_identity_mat(2).asnumpy(), np.eye(2))
    assert test_utils.get_identity_mat_batch(3).shape == (2, 3, 3)
