import os
import subprocess
import sys

import numpy as np
import pytest

from gluonish.core.config import MXNET_EXEC_NUM_TEMP
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.operating_system import LINUX
from gluonish.graph.arenas import Arenas


def _arenas(*, keep: bool = True) -> Arenas:
    return Arenas(device_of(cpu()), keep=keep)


def test_memory_is_kept_between_calls() -> None:
    arenas = _arenas()
    first = arenas.acquire()
    arenas.release(first)
    assert arenas.acquire() is first


def test_two_calls_at_once_never_share() -> None:
    arenas = _arenas()
    arenas.join(100)
    assert not np.shares_memory(arenas.acquire().raw, arenas.acquire().raw)


def test_without_static_alloc_large_memory_is_given_back() -> None:
    arenas = _arenas(keep=False)
    arenas.join(33 << 20)
    first = arenas.acquire()
    arenas.release(first)
    assert arenas.acquire() is not first


def _kept_of(arenas: Arenas, count: int) -> int:
    """How many arenas are kept after so many calls at once."""
    made = [arenas.acquire() for _ in range(count)]
    for arena in made:
        arenas.release(arena)
    return sum(any(x is arena for arena in made) for x in [arenas.acquire() for _ in range(count)])


def test_eight_threads_on_one_small_plan_allocate_nothing() -> None:
    arenas = _arenas()
    arenas.join(1000)
    assert _kept_of(arenas, 8) == 8
    assert _kept_of(arenas, 50) == 8


@pytest.mark.parametrize("count", [1, 3])
def test_of_large_arenas_the_environment_says_how_many_are_kept(count: int) -> None:
    arenas = _arenas()
    with MXNET_EXEC_NUM_TEMP.override(count):
        arenas.join(100)
        arenas.join(1 << 26)  # never touched, so that it takes no memory
    assert _kept_of(arenas, 10) == count


def test_an_arena_is_as_large_as_its_largest_member_and_starts_at_a_cache_line() -> None:
    arenas = _arenas()
    assert [arenas.join(n) for n in (100, 300, 200)] == [0, 1, 2]
    raw = arenas.acquire().raw
    assert raw.nbytes == 300
    assert raw.ctypes.data % 64 == 0


def test_static_views_are_cached_by_state() -> None:
    class Held:
        pass

    one, other = Held(), Held()
    arena = _arenas().acquire()
    arena.static_views_on(one)[0] = [1]
    arena.static_views[0] = [2]
    assert arena.static_views_on(one) == {0: [1]}
    assert arena.static_views == {0: [2]}
    assert arena.static_views_on(other) == {}


FREED_BEFORE = """
import numpy as np
from gluonish.core.context import cpu
from gluonish.core.cpu_memory import cache_freed_memory
from gluonish.core.device import device_of
from gluonish.graph.arenas import aligned_empty


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


assert cache_freed_memory()
device = device_of(cpu())
weights = [np.ones(1 << 20, np.uint8) for _ in range(256)]
above = np.ones(1 << 10, np.uint8)
del weights
before = resident()
arenas = [aligned_empty(device, n << 20, "arena", lasting=True) for n in (8, 128)]
print((before - resident()) >> 20)
"""


@pytest.mark.skipif(not LINUX, reason="counts pages as Linux does")
def test_a_large_arena_takes_the_place_of_freed_memory() -> None:
    """Lasting memory is no part of the heap, which would keep what was freed before beside it."""
    done = subprocess.run(
        [sys.executable, "-c", FREED_BEFORE],
        env={k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200
