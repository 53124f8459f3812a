"""What plans without static_alloc keep: blocks of arenas and states, bounded together."""

import gc
import weakref
from collections.abc import Iterator

import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.graph import idle_memory
from gluonish.graph.arenas import Arenas
from gluonish.graph.state import States


@pytest.fixture(autouse=True)
def _nothing_idle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    cpu().empty_cache()
    monkeypatch.setattr(idle_memory, "MAX_NBYTES", 1000)
    yield
    cpu().empty_cache()


def _arenas(nbytes: int) -> Arenas:
    arenas = Arenas(device_of(cpu()), keep=False)
    arenas.join(nbytes)
    return arenas


def test_blocks_are_taken_up_again() -> None:
    arenas, states = _arenas(400), States(device_of(cpu()), 400, keep=False)
    arena, state = arenas.take(), states.take()
    arenas.give(arena)
    states.give(state)
    assert arenas.take() is arena
    assert states.take() is state


def test_the_longest_unused_is_dropped() -> None:
    plans = [_arenas(400) for _ in range(3)]
    first, second = plans[0].take(), plans[1].take()
    plans[1].give(second)
    plans[0].give(first)
    plans[0].give(plans[0].take())
    plans[2].give(plans[2].take())  # too much together
    assert plans[0].take() is first
    assert plans[1].take() is not second


def test_a_block_in_use_stays() -> None:
    states = [States(device_of(cpu()), 600, keep=False) for _ in range(2)]
    held = states[0].take()
    other = states[1].take()
    states[1].give(other)
    states[0].give(held)
    assert states[0].take() is held


def test_what_ends_with_its_owner_is_dropped_too() -> None:
    class Owner:
        pass

    states, arenas = States(device_of(cpu()), 600, keep=False), _arenas(600)
    owner = Owner()
    states.lend(states.take(), owner)
    del owner
    assert states.idle_count == 1
    arenas.give(arenas.take())
    assert states.idle_count == 0


def test_blocks_go_with_their_plan_and_when_the_cache_is_emptied() -> None:
    arenas = _arenas(400)
    gone = weakref.ref(arenas.take())
    gc.collect()
    assert gone() is None
    arena = arenas.take()
    arenas.give(arena)
    cpu().empty_cache()
    assert arenas.take() is not arena


def test_a_network_without_static_alloc_keeps_what_is_bound_to_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(idle_memory, "MAX_NBYTES", 64 << 20)
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
    net.initialize()
    net.hybridize()
    x = nd.ones((3, 5))
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward()
    (graph,) = net._graphs.values()
    (plan,) = graph._cached._plans.values()
    (arena,) = plan._arenas._idle
    (idle,) = plan.states._idle
    tails = dict(arena.tails_on(idle.state))
    assert len(tails) == 2  # forward and backward
    with autograd.record():
        y = net(x)
    y.backward()
    assert all(arena.tails_on(idle.state)[number] is tail for number, tail in tails.items())
