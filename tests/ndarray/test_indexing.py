import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.extra import numpy as hnp

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish import numpy as mnp
from gluonish.core.context import cpu
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutogradError,
    GluonishError,
    OutOfBoundsError,
)
from gluonish.gluon.block.hybrid_block import HybridBlock

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def numbered(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def as_mxnet(selected: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One element has shape (1,), not ()."""
    return np.asarray(selected).reshape(np.shape(selected) or (1,))


@st.composite
def basic_keys(draw: st.DrawFn) -> tuple[tuple[int, ...], Any]:
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True))


@st.composite
def mixed_keys(draw: st.DrawFn) -> tuple[tuple[int, ...], Any]:
    """Keys of integers, slices, None, and integer arrays or one boolean array."""
    shape = draw(SHAPES)
    if draw(st.booleans()):
        axes = draw(st.integers(1, len(shape)))
        mask = draw(hnp.arrays(np.bool_, shape[:axes]))
        return shape, mask
    length = draw(st.integers(0, 3))
    key: list[Any] = []
    for extent in shape[: draw(st.integers(1, len(shape)))]:
        index = st.integers(-extent, extent - 1)
        key.append(
            draw(
                st.one_of(
                    index,
                    st.slices(extent),
                    st.lists(index, min_size=length, max_size=length).map(
                        lambda found: np.array(found, dtype=np.int64)
                    ),
                )
            )
        )
    return shape, tuple(key)


@given(st.one_of(basic_keys(), mixed_keys()))
def test_selection_equals_numpys(case: tuple[tuple[int, ...], Any]) -> None:
    shape, key = case
    values = numbered(shape)
    np.testing.assert_array_equal(nd.array(values)[key].asnumpy(), as_mxnet(values[key]))


@given(st.one_of(basic_keys(), mixed_keys()), st.sampled_from(["number", "array", "row"]))
def test_assignment_equals_numpys(case: tuple[tuple[int, ...], Any], kind: str) -> None:
    shape, key = case
    expected = numbered(shape)
    selected = expected[key].shape
    assume(kind == "number" or selected)
    value = {
        "number": -7.0,
        "array": -numbered(selected),
        "row": -numbered(selected[-1:]),
    }[kind]
    x = nd.array(expected)
    x[key] = value if kind == "number" else nd.array(value)
    expected[key] = value
    np.testing.assert_array_equal(x.asnumpy(), expected)


@given(st.one_of(basic_keys(), mixed_keys()))
def test_recorded_selection_has_numpys_values_and_the_right_gradient(
    case: tuple[tuple[int, ...], Any],
) -> None:
    shape, key = case
    values = numbered(shape)
    x = nd.array(values)
    x.attach_grad()
    weight = numbered(as_mxnet(values[key]).shape)
    with autograd.record():
        y = x[key]
        z = y * nd.array(weight)
    np.testing.assert_array_equal(y.asnumpy(), as_mxnet(values[key]))
    z.backward()
    expected = np.zeros_like(values)
    np.add.at(expected, key, weight.reshape(values[key].shape))
    np.testing.assert_allclose(x.grad.asnumpy(), expected)


ENDS = (None, -9, -4, -3, -1, 0, 2, 3, 9)
EMPTY = [
    key
    for key in itertools.starmap(slice, itertools.product(ENDS, ENDS, (1, -1, -2)))
    if not len(range(*key.indices(3)))
]


class Part(HybridBlock):
    def __init__(self, key: Any) -> None:
        super().__init__()
        self.selection = key

    def forward(self, x: Any) -> Any:
        return x[self.selection]


@pytest.mark.parametrize("front", [nd, mnp], ids=["nd", "np"])
@pytest.mark.parametrize("way", ["imperative", "hybridized"])
def test_slice_without_elements_is_recorded_as_numpy_has_it(front: Any, way: str) -> None:
    values = numbered((3, 2))
    for key in EMPTY:
        for keys in (key, (key, 1), (slice(None, None, -1), None, slice(2, 1, key.step))):
            x = front.array(values)
            x.attach_grad()
            block = Part(keys)
            if way == "hybridized":
                block.hybridize()
            with autograd.record():
                y = block(x)
                z = y.sum() + (x * 2).sum()
            z.backward()
            assert y.shape == values[keys].shape, keys
            np.testing.assert_array_equal(x.grad.asnumpy(), np.full((3, 2), 2))


@pytest.mark.parametrize("front", [nd, mnp], ids=["nd", "np"])
def test_assignment_to_a_slice_without_elements_changes_nothing(front: Any) -> None:
    values = numbered((3, 2))
    x = front.array(values)
    for key in EMPTY:
        x[key] = 7
        x[key] = front.zeros((0, 2))
        np.testing.assert_array_equal(x.asnumpy(), values)


@pytest.mark.parametrize(
    "key", [0, -1, slice(1, 3), slice(None), Ellipsis, (1, 2), (1, slice(0, 2)), (None, 1), ()]
)
def test_contiguous_basic_selection_is_a_view(key: Any) -> None:
    x = nd.zeros((3, 4))
    x[key][:] = 5
    expected = np.zeros((3, 4), np.float32)
    expected[key] = 5
    np.testing.assert_array_equal(x.asnumpy(), expected)


@pytest.mark.parametrize("key", [(slice(None), 0), slice(None, None, 2), slice(None, None, -1)])
def test_other_basic_selection_is_a_copy(key: Any) -> None:
    x = nd.zeros((3, 4))
    x[key][:] = 5
    assert x.asnumpy().sum() == 0


def test_float_indices_are_cut() -> None:
    x = nd.array([10, 20, 30])
    assert x[nd.array([2, 0.7])].tolist() == [30, 10]


def test_boolean_array_selects_by_mask() -> None:
    x = nd.array([10, 20, 30])
    assert x[(x > 15).astype("bool")].tolist() == [20, 30]
    assert x[[True, False, True]].tolist() == [10, 30]


@pytest.mark.parametrize("key", [3, -4, (0, 0), [5], (slice(None), 1)])
def test_index_out_of_bounds_is_refused(key: Any) -> None:
    x = nd.zeros((3,))
    for recorded in (False, True):
        x.attach_grad()
        for kind in (IndexError, GluonishError):
            with pytest.raises(kind), autograd.record() if recorded else autograd.pause():
                x[key]
    with pytest.raises(OutOfBoundsError):
        x[key] = 1


@pytest.mark.parametrize("recorded", [False, True])
def test_index_out_of_bounds_is_refused_with_axis_and_size(recorded: bool) -> None:
    x = nd.zeros((2, 3))
    x.attach_grad()
    with (
        pytest.raises(OutOfBoundsError, match=r"\(2, 3\).*index 5 .* axis 1 with size 3"),
        autograd.record() if recorded else autograd.pause(),
    ):
        x[0, 5]


@pytest.mark.parametrize(
    "value", [nd.array([8]), nd.array([[8]]), np.array([8]), [8], nd.array(8), 8]
)
def test_one_element_can_be_assigned_to_a_position(value: Any) -> None:
    x = nd.zeros((2, 3, 4))
    x[0, 1, 2] = value
    assert x[0, 1, 2].asscalar() == 8
    assert x.sum().asscalar() == 8


def test_leading_axes_of_extent_one_are_left_out_of_what_is_assigned() -> None:
    x = nd.zeros((2, 3))
    x[1] = nd.array([[[1, 2, 3]]])
    assert x.tolist() == [[0, 0, 0], [1, 2, 3]]


@pytest.mark.parametrize("key", ["a", 1.5, {}])
def test_key_of_another_kind_is_refused(key: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="index: expected integers, slices"):
        nd.zeros(3)[key]


def test_value_of_a_wrong_shape_is_refused_at_once() -> None:
    with pytest.raises(ArgumentError, match=r"broadcasts to \(3,\), got shape \(2,\)"):
        nd.zeros((2, 3))[0] = nd.ones(2)


@pytest.mark.parametrize("value", ["a", [[1], [1, 2]], None])
def test_value_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="item assignment: expected an array"):
        nd.zeros(3)[:] = value


def test_leading_axes_of_extent_one_are_dropped() -> None:
    x = nd.zeros((2, 3))
    x[0] = nd.array([[[1, 2, 3]]])
    assert x.tolist() == [[1, 2, 3], [0, 0, 0]]


def test_assignment_converts_dtype_and_device() -> None:
    x = nd.zeros(3)
    x[:] = nd.array([1, 2, 3], dtype="int32", ctx=cpu(1))
    assert x.tolist() == [1, 2, 3]


def test_assignment_from_an_overlapping_part() -> None:
    x = nd.array([1, 2, 3, 4])
    x[1:] = x[:-1]
    assert x.tolist() == [1, 1, 2, 3]


def test_assignment_to_a_recorded_array_is_refused() -> None:
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for array in (x, y):
            with pytest.raises(AutogradError, match="item assignment: expected an array outside"):
                array[0] = 5
        with autograd.pause():
            y[0] = 5
    assert y.tolist() == [5, 2, 2]


def test_constant_may_be_assigned_while_recording() -> None:
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        y = nd.zeros(3)
        y[0:1] = 5
        z = x * y
    z.backward()
    assert x.grad.tolist() == [5, 0, 0]


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 3)])
@pytest.mark.parametrize("key", [slice(None), Ellipsis])
def test_recorded_value_for_a_whole_array_carries_its_gradient(
    shape: tuple[int, ...], key: Any
) -> None:
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = nd.zeros(shape)
        y[key] = x
        z = y * y
    z.backward()
    assert x.grad.tolist() == [2 * v * shape[0] if len(shape) > 1 else 2 * v for v in (1, 2, 3)]


def test_recorded_value_for_a_part_is_refused() -> None:
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        y = nd.zeros(3)
        with pytest.raises(AutogradError, match="for a part of the array; join the parts"):
            y[0:1] = x[0:1]


def test_second_derivative_through_a_selection() -> None:
    x = nd.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = x[nd.array([2, 2])] ** 3 + x[1:] ** 3
        (first,) = autograd.grad(y, x, create_graph=True)
        first = (first * first)[1:2]
    first.backward()
    # y has x1 once and x2 three times; d(3 x1^2)^2 / dx1 = 36 x1^3.
    np.testing.assert_allclose(x.grad.asnumpy(), [0, 36 * 8, 0])


def test_number_beyond_the_range_of_bytes_wraps_around() -> None:
    x = nd.zeros((3,), dtype="uint8")
    x[0] = 300
    x[1:] = -1
    assert x.tolist() == [44, 255, 255]


def test_large_whole_number_is_assigned_exactly() -> None:
    x = nd.zeros((1,), dtype="int64")
    x[0] = 2**53 + 1
    assert x.tolist() == [2**53 + 1]
