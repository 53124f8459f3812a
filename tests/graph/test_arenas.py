import numpy as np

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.graph.arenas import Arenas


def _arenas(*, keep: bool = True) -> Arenas:
    return Arenas(device_of(cpu()), keep=keep)


def test_memory_is_kept_between_calls() -> None:
    arenas = _arenas()
    first = arenas.take()
    arenas.give(first)
    assert arenas.take() is first


def test_two_calls_at_once_never_share() -> None:
    arenas = _arenas()
    arenas.join(100)
    assert not np.shares_memory(arenas.take().raw, arenas.take().raw)


def test_memory_is_not_kept_where_it_should_not_be() -> None:
    arenas = _arenas(keep=False)
    first = arenas.take()
    arenas.give(first)
    assert arenas.take() is not first


def test_idle_memory_is_bounded() -> None:
    arenas = _arenas()
    made = [arenas.take() for _ in range(50)]
    for arena in made:
        arenas.give(arena)
    taken = [arenas.take() for _ in range(50)]
    assert 1 <= sum(any(x is arena for arena in made) for x in taken) < 20


def test_an_arena_is_as_large_as_its_largest_member_and_starts_at_a_cache_line() -> None:
    arenas = _arenas()
    assert [arenas.join(n) for n in (100, 300, 200)] == [0, 1, 2]
    raw = arenas.take().raw
    assert raw.nbytes == 300
    assert raw.ctypes.data % 64 == 0


def test_tails_are_told_apart_by_state() -> None:
    class Held:
        pass

    one, other = Held(), Held()
    arena = _arenas().take()
    arena.tails_on(one)[0] = [1]
    arena.tails[0] = [2]
    assert arena.tails_on(one) == {0: [1]}
    assert arena.tails == {0: [2]}
    assert arena.tails_on(other) == {}
