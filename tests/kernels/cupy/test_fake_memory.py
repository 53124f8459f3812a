"""CuPy's own arrays over memory that is not there: views need no device, only CuPy."""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.ops.support.windows import Geometry, sliding_windows

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")

ADDRESS = 0x7F0000000000


@pytest.fixture
def memory() -> Iterator[None]:
    """Give arrays an address that nobody may touch."""

    def allocate(nbytes: int) -> Any:
        owner = object()
        fake = cupy.cuda.UnownedMemory(ADDRESS, max(nbytes, 1), owner, 0)
        return cupy.cuda.MemoryPointer(fake, 0)

    with cupy.cuda.using_allocator(allocate):
        yield


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "float16", "float32", "float64", ml_dtypes.bfloat16]
)
def test_arena_is_cut_into_arrays_of_any_dtype(memory: None, dtype: Any) -> None:
    dtype = np.dtype(dtype)
    arena = cupy.empty((4096,), np.uint8)
    nbytes = 6 * dtype.itemsize
    value = arena[192 : 192 + nbytes].view(dtype).reshape((2, 3))
    assert value.dtype == dtype
    assert value.flags.c_contiguous
    assert value.data.ptr == ADDRESS + 192
    assert value.base is not None


def test_value_of_no_elements_is_cut_from_an_empty_arena(memory: None) -> None:
    assert cupy.empty((0,), np.uint8)[0:0].view(np.float32).reshape((0, 3)).shape == (0, 3)


def test_windows_are_views(memory: None) -> None:
    x = cupy.empty((2, 3, 6, 5), np.float32)
    windows = sliding_windows(cupy, x, Geometry((2, 2), (2, 1), (1, 1), (0, 0)), (3, 4))
    assert windows.shape == (2, 3, 2, 2, 3, 4)
    assert windows.data.ptr == ADDRESS


@pytest.mark.parametrize(
    "change",
    [
        lambda xp, x: xp.moveaxis(x, range(1, 3), range(2)),
        lambda xp, x: xp.flip(x, (0, 2)),
        lambda xp, x: xp.expand_dims(x, 1),
        lambda xp, x: x.transpose((2, 0, 1)).swapaxes(0, 1),
        lambda xp, x: x.reshape(-1, *(1,) * 2)[::-2],
        lambda xp, x: x[None, ..., 1:, ::-1],
        lambda xp, x: xp.broadcast_to(x[:1], (5, 3, 4)),
        lambda xp, x: x.view(xp.uint64),
    ],
)
def test_views_have_numpys_shape_and_strides(memory: None, change: Any) -> None:
    got = change(cupy, cupy.empty((2, 3, 4), np.int64))
    want = change(np, np.empty((2, 3, 4), np.int64))
    assert (got.shape, got.strides) == (want.shape, want.strides)


def test_surface_of_the_double_is_that_of_this_cupy() -> None:
    from tests.kernels.cupy.arrays import SURFACE  # type: ignore[attr-defined]
    from tests.kernels.cupy.make_cuda_surface import LIBRARIES
    from tests.kernels.cupy.make_surface import surface

    if cupy.__version__ != SURFACE["cupy"]:
        pytest.skip(f"surface.json is of CuPy {SURFACE['cupy']}, this is {cupy.__version__}")
    now = surface()
    unseen = SURFACE["cuda"].keys() - now["cuda"].keys()
    assert unseen <= {*LIBRARIES, "NcclCommunicator"}  # where their libraries are not installed
    assert {**SURFACE["cuda"], **now["cuda"]} == SURFACE["cuda"]
    assert {**now, "cuda": None} == {**SURFACE, "cuda": None}
