import numpy as np
import pytest

from gluonish.kernels.onednn import Backend
from gluonish.kernels.onednn.memory import Descriptor, describable, element_strides, signature
from gluonish.ops.kernel import Array, address


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize(
    "array",
    [_zeros(2, 3), _zeros(2, 3).T, _zeros(4, 6)[1::2, 2:5], np.zeros((3, 4), np.float32, "F")],
    ids=["contiguous", "transposed", "sliced", "fortran"],
)
def test_strided_arrays_are_describable(array: Array) -> None:
    assert describable(array)


@pytest.mark.parametrize(
    "array",
    [
        _zeros(2, 0, 3),
        np.broadcast_to(_zeros(3), (2, 3)),
        _zeros(4)[::-1],
        np.lib.stride_tricks.sliding_window_view(_zeros(5), 3),
        np.frombuffer(bytes(17), np.uint8)[1:].view(np.float32),
    ],
    ids=["empty", "broadcast", "reversed", "overlapping", "unaligned"],
)
def test_what_the_library_cannot_address_is_refused(array: Array) -> None:
    assert not describable(array)


def test_address_is_that_of_the_first_element_of_a_view() -> None:
    array = _zeros(4, 5)
    for view in (array, array[2], array[:, 3:], array.T):
        assert address(view) == view.ctypes.data


def test_an_axis_of_length_one_gets_the_contiguous_stride() -> None:
    view = _zeros(1, 5, 6).transpose(1, 0, 2)
    assert view.strides == (24, 120, 4)
    assert element_strides(view) == (6, 6, 1)


def test_signatures_differ_by_dtype_shape_and_strides() -> None:
    square = _zeros(3, 3)
    variants = [square, square.T, _zeros(9), square.astype(np.int32)]
    assert len({signature(array) for array in variants}) == 4


def test_descriptors_compare_by_layout(backend: Backend) -> None:
    engine = backend.engine
    plain = engine.describe(_zeros(2, 3))
    assert plain.same_as(engine.describe(_zeros(2, 3)))
    assert not plain.same_as(engine.describe(_zeros(3, 2).T))
    assert plain.same_as(Descriptor.copied(engine.api, plain.handle))
    assert plain.nbytes == 24


def test_an_axis_of_length_1_has_the_stride_of_its_layout() -> None:
    last = np.zeros((1, 5, 6, 3), np.float32).transpose(0, 3, 1, 2)
    assert element_strides(last) == (90, 1, 18, 3)
    assert element_strides(np.zeros((1, 3, 5, 6), np.float32)) == (90, 30, 6, 1)
    assert element_strides(np.zeros((2, 3, 1, 1), np.float32)) == (3, 1, 1, 1)
    row = np.zeros((2, 1, 6, 3), np.float32).transpose(0, 3, 1, 2)
    assert element_strides(row) == (18, 1, 18, 3)
