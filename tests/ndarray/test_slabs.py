"""Memory for arrays that live together: separate arrays, of no file, freed with the last."""

import gc
import platform
import threading
from itertools import pairwise

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.file_map import AnonymousMap, is_mapped
from gluonish.core.operating_system import LINUX
from gluonish.gluon import nn
from gluonish.ndarray import slabs as module
from gluonish.ndarray.slabs import LARGE_NBYTES, Slabs, commit_soon, small_pages

SHAPES = [
    (3,),
    (0, 5),
    (),
    (1000, 3),
    (257, 129),
    (64, 1024),
    (7, 1001, 11),
    (5 << 20,),
    (9 << 20,),
]


def test_arrays_are_separate_aligned_and_of_no_file() -> None:
    with Slabs(1 << 16) as slabs:  # less than is needed: the number is only an estimate
        arrays = [
            slabs.empty(shape, dtype) for shape in SHAPES for dtype in ("float32", "uint8", ">f8")
        ]
        for number, array in enumerate(arrays):
            array[...] = number
    for number, array in enumerate(arrays):
        assert array.flags.c_contiguous
        assert array.flags.aligned
        assert array.flags.writeable
        assert not is_mapped(array)
        assert (array == number % 256 if array.dtype == np.uint8 else array == number).all()
    large = [array for array in arrays if array.nbytes >= 4096]
    assert all(array.ctypes.data % 64 == 0 or not LINUX for array in large)
    spans = sorted((array.ctypes.data, array.nbytes) for array in arrays if array.nbytes)
    for (start, nbytes), (following, _) in pairwise(spans):
        assert start + nbytes <= following


def resident() -> int:
    """Return the committed memory of this process, in bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def finish_threads() -> None:
    """Wait for the threads that commit memory or join pages."""
    for thread in threading.enumerate():
        if thread.name == "gluonish pages":
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.skipif(not LINUX, reason="memory is mapped on Linux only")
def test_memory_is_freed_with_the_last_array() -> None:
    with Slabs(64 << 20) as slabs:
        arrays = [slabs.empty((1 << 20,), "float32") for _ in range(16)]
        for array in arrays:
            array[...] = 1
    before = resident()
    last = arrays[-1]
    del arrays, array
    assert before - resident() > 20 << 20  # one of two slabs at least
    assert last.sum() == 1 << 20


def test_shape_that_no_memory_has_is_refused() -> None:
    with Slabs(0) as slabs, pytest.raises((MemoryError, ValueError)):
        slabs.empty((1 << 61,), "uint8")


@pytest.mark.skipif(not LINUX, reason="pages are joined on Linux only")
def test_joined_pages_keep_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DELAY", 0.0)
    with Slabs(64 << 20) as slabs:
        arrays = [slabs.empty((3 << 20,), "int32") for _ in range(8)]
        for number, array in enumerate(arrays):
            array[...] = np.arange(number, number + len(array))
        del arrays[4], array  # the thread meets memory that is gone
    finish_threads()
    for number, array in zip((0, 1, 2, 3, 5, 6, 7), arrays, strict=True):
        assert (array == np.arange(number, number + len(array))).all()


@pytest.mark.parametrize("nbytes", [0, 12, LARGE_NBYTES - 4, LARGE_NBYTES, 3 * LARGE_NBYTES + 4])
@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("commit", [False, True])
def test_small_pages_are_zeros_of_no_file(
    nbytes: int, join: bool, commit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONGER_DELAY", 0.0)
    array = small_pages((nbytes // 4,), "float32", join=join, commit=commit)
    assert array.shape == (nbytes // 4,)
    assert array.dtype == np.float32
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert not is_mapped(array)
    assert not array.any()
    array[...] = 3
    assert (array == 3).all()


def test_small_pages_that_no_memory_has_are_refused() -> None:
    for size in (1 << 59, 1 << 61, 1 << 80):
        with pytest.raises((MemoryError, ValueError)):
            small_pages((size,), "float32")


@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_memory_of_small_pages_comes_at_first_use_and_goes_with_the_array() -> None:
    before = resident()
    array = small_pages((64 << 20,), "uint8")
    assert resident() - before < 16 << 20
    array[...] = 1
    assert resident() - before > 48 << 20
    del array
    assert resident() - before < 16 << 20


def test_a_system_without_new_threads_leaves_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert not small_pages((LARGE_NBYTES,), "uint8", join=True).any()


@pytest.mark.skipif(not LINUX, reason="memory is committed on Linux only")
def test_memory_is_committed_at_once_on_request() -> None:
    before = resident()
    array = small_pages((64 << 20,), "uint8", commit=True)
    assert resident() - before > 48 << 20
    assert not array.any()


@pytest.mark.skipif(not LINUX, reason="memory is committed on Linux only")
def test_memory_is_committed_by_a_thread_and_keeps_its_values() -> None:
    arrays = [small_pages((16 << 20,), "uint8") for _ in range(4)]
    arrays[1][...] = 5
    ordinary = np.zeros(64 << 20, np.uint8)
    before = resident()
    commit_soon([arrays[0], ordinary, arrays[1][3:], None, arrays[3]])
    finish_threads()
    assert 28 << 20 < resident() - before < 44 << 20  # of two arrays
    assert [array[-1] for array in arrays] == [0, 5, 0, 0]


def test_one_thread_joins_the_pages_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    finish_threads()
    monkeypatch.setattr(module, "_LONGER_DELAY", 0.2)
    arrays = [small_pages((LARGE_NBYTES // 4,), "int32", join=True) for _ in range(5)]
    for number, array in enumerate(arrays):
        array[...] = number
    assert sum(thread.name == "gluonish pages" for thread in threading.enumerate()) <= 1
    finish_threads()
    assert all((array == number).all() for number, array in enumerate(arrays))


@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_joined_pages_take_no_memory_behind_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    finish_threads()
    monkeypatch.setattr(module, "_LONGER_DELAY", 0.0)
    nbytes = LARGE_NBYTES + 4096
    before = resident()
    arrays = [small_pages((nbytes,), "uint8", join=True, commit=True) for _ in range(16)]
    finish_threads()
    assert resident() - before < 16 * nbytes + (8 << 20)  # 30 MiB more with all pages of the maps
    assert not any(array.any() for array in arrays)


@pytest.mark.skipif(not LINUX, reason="pages are joined on Linux only")
def test_joined_pages_are_whole_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    finish_threads()
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(module, "_advise", lambda start, nbytes, *_: asked.append((start, nbytes)))
    monkeypatch.setattr(module, "_DELAY", 0.0)
    monkeypatch.setattr(module, "_mapped", AnonymousMap)  # at an address of any small page
    sizes = [(17 << 20) + 4096 * number for number in range(8)]
    with Slabs(1 << 28) as slabs:
        arrays = [slabs.empty((size,), "uint8") for size in sizes]
    finish_threads()
    large = 2 << 20
    assert len(asked) == len(arrays)
    assert all(start % large == 0 for start, _ in asked)
    for array in arrays:
        begin, end = array.ctypes.data, array.ctypes.data + array.nbytes
        found = [pair for pair in asked if begin <= pair[0] < end]
        assert len(found) == 1
        assert found[0][0] + found[0][1] == end  # Linux takes the large pages that fit
        assert found[0][0] - begin < large


@pytest.mark.skipif(not LINUX, reason="memory is mapped on Linux only")
def test_slabs_begin_where_large_pages_do_on_new_linux() -> None:
    major, minor = map(int, platform.release().split(".")[:2])
    if (major, minor) < (6, 7):
        pytest.skip("Linux before 6.7 aligns no memory")
    with Slabs(1 << 28) as slabs:
        for number in range(4):
            array = slabs.empty(((17 << 20) + 4096 * number,), "uint8")
            assert array.ctypes.data % (2 << 20) == 0


@pytest.mark.parametrize("shape", [(32, 33), (1 << 12, 65), (1 << 20,), (4096,)])
def test_arrays_for_long_use_begin_at_a_cache_line(shape: tuple[int, ...]) -> None:
    for _ in range(3):
        found = small_pages(shape, np.float32)
        assert found.ctypes.data % 64 == 0
        assert found.shape == shape
        assert found.flags.c_contiguous
        assert found.flags.writeable
        assert not found.any()


def test_parameters_gradients_and_states_begin_at_a_cache_line() -> None:
    dense = nn.Dense(33, in_units=65)
    dense.initialize(ctx=mx.cpu())
    weight = dense.weight.data()
    state = mx.optimizer.create("sgd", momentum=0.9).create_state(0, weight)
    for array in (weight, dense.weight.grad(), state):
        assert array._data.ctypes.data % 64 == 0
