import numpy as np
import pytest

from gluonish.kernels.generated.loops import Loops, broadcast_strides, find_loops, row_major


def strides_of(shape: tuple[int, ...], *arrays: np.ndarray) -> list[tuple[int, ...]]:
    found = [broadcast_strides(array, array.shape, shape) for array in arrays]
    assert None not in found
    return found  # type: ignore[return-value]  # no None in it


def test_arrays_that_lie_alike_give_one_loop() -> None:
    a = np.zeros((2, 3, 4))
    assert find_loops(a.shape, strides_of(a.shape, a, a)) == Loops((24,), ((1,), (1,)))


def test_channels_last_gives_one_loop_too() -> None:
    a = np.zeros((2, 4, 5, 3)).transpose(0, 3, 1, 2)
    assert find_loops(a.shape, strides_of(a.shape, a, a)) == Loops((120,), ((1,), (1,)))


def test_a_vector_of_channels_splits_the_loop_around_its_axis() -> None:
    a, b = np.zeros((2, 3, 4, 5)), np.zeros((1, 3, 1, 1))
    loops = find_loops(a.shape, strides_of(a.shape, a, b))
    assert loops == Loops((2, 3, 20), ((60, 20, 1), (0, 1, 0)))


def test_channels_last_runs_along_the_vector() -> None:
    a, b = np.zeros((2, 4, 5, 3)).transpose(0, 3, 1, 2), np.zeros((1, 3, 1, 1))
    loops = find_loops(a.shape, strides_of(a.shape, a, b))
    assert loops == Loops((40, 3), ((3, 1), (0, 1)))


def test_the_first_array_decides_the_order() -> None:
    a, b = np.zeros((4, 3)).T, np.zeros((3, 4))
    loops = find_loops(a.shape, strides_of(a.shape, a, b))
    assert loops == Loops((4, 3), ((3, 1), (1, 4)))


def test_one_element_is_one_step() -> None:
    a = np.zeros((1, 1))
    assert find_loops(a.shape, strides_of(a.shape, a)) == Loops((1,), ((1,),))


def test_a_scalar_stays_where_it_is() -> None:
    a, b = np.zeros((2, 3)), np.zeros(())
    assert find_loops(a.shape, strides_of(a.shape, a, b)) == Loops((6,), ((1,), (0,)))


def test_axes_may_be_added_behind() -> None:
    assert broadcast_strides(np.zeros(3), (3, 1, 1), (2, 3, 4, 5)) == (0, 1, 0, 0)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3, 4)])
def test_row_major_strides_are_numpys(shape: tuple[int, ...]) -> None:
    assert row_major(shape) == tuple(step // 8 for step in np.zeros(shape).strides)


def test_elements_off_their_alignment_are_not_taken() -> None:
    raw = np.zeros(41, np.uint8)
    assert broadcast_strides(raw[1:].view(np.float64), (5,), (5,)) is None
