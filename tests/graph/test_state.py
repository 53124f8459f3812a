import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.spec import Spec
from gluonish.graph.arenas import Arena
from gluonish.graph.state import States, state_offsets
from tests.graph.builders import spec


@pytest.fixture(autouse=True)
def _nothing_idle() -> Iterator[None]:
    cpu().empty_cache()
    yield
    cpu().empty_cache()


def _states(nbytes: int = 1000, *, keep: bool = True) -> States:
    return States(device_of(cpu()), nbytes, keep=keep)


def test_places_are_aligned_and_apart() -> None:
    specs: list[Spec] = [spec(1), spec(20), spec(0), spec(16)]
    assert state_offsets(specs) == ([0, 64, 192, 192], 256)
    assert state_offsets([]) == ([], 0)


def test_a_state_starts_at_a_cache_line_and_has_a_variable_of_its_own() -> None:
    states = _states()
    one, other = states.acquire(), states.acquire()
    assert one.raw.nbytes == 1000
    assert one.raw.ctypes.data % 64 == 0
    assert not np.shares_memory(one.raw, other.raw)
    assert one.var is not other.var


def test_a_state_is_taken_up_again() -> None:
    states = _states()
    state = states.acquire()
    states.release(state)
    assert states.idle_count == 1
    assert states.acquire() is state


@pytest.mark.parametrize(("nbytes", "most"), [(100, 64), (8 << 20, 4), (100 << 20, 2)])
def test_idle_states_are_bounded_by_their_bytes(nbytes: int, most: int) -> None:
    states = _states(nbytes)
    for state in [states.acquire() for _ in range(70)]:
        states.release(state)
    assert states.idle_count == most


def test_without_static_alloc_large_states_are_given_back() -> None:
    states = _states(33 << 20, keep=False)
    state = states.acquire()
    states.release(state)
    assert states.acquire() is not state


def test_an_arena_holds_the_bytes_of_a_state_only_as_long_as_the_state_lives() -> None:
    arena = Arena(np.empty(0, np.uint8))
    state = _states().acquire()
    arena.static_views_on(state)[0] = [state.raw]
    assert arena.static_views == {}
    assert arena.static_views_on(_states().acquire()) == {}
    raw = weakref.ref(state.raw)
    del state
    gc.collect()
    assert raw() is None


class _Node:
    """What has a state."""


@pytest.mark.parametrize("count", [1, 3, 100])
def test_state_comes_back_when_its_owner_ends(count: int) -> None:
    states = _states(1 << 20, keep=True)
    nodes = [_Node() for _ in range(count)]
    for node in nodes:
        states.release_with(states.acquire(), node)
    assert states.idle_count == 0
    del nodes, node
    assert states.idle_count == min(count, 32)  # 32 MB of small ones


def test_recalled_state_comes_back_once() -> None:
    states, node = _states(keep=True), _Node()
    state = states.acquire()
    release = states.release_with(state, node)
    assert states.cancel_release(release)
    assert not states.cancel_release(release)
    states.release(state)
    del node
    assert states.idle_count == 1


def test_states_end_while_an_arena_has_views_on_them() -> None:
    arena, states = Arena(np.empty(0, np.uint8)), _states()
    state = states.acquire()
    views = arena.static_views_on(state)
    states.release(state)
    del state, states  # by the reference count alone
    assert views == {}
