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
    gc.collect()
    cpu().empty_cache()
    blocks = idle_memory._blocks
    in_use = dict(blocks)  # by what other tests left: they would count
    blocks.clear()
    monkeypatch.setattr(idle_memory, "MAX_NBYTES", 1000)
    yield
    cpu().empty_cache()
    blocks.update({key: block for key, block in in_use.items() if block() is not None})


def _arenas(nbytes: int) -> Arenas:
    arenas = Arenas(device_of(cpu()), keep=False)
    arenas.join(nbytes)
    return arenas


def test_blocks_are_taken_up_again() -> None:
    arenas, states = _arenas(400), States(device_of(cpu()), 400, keep=False)
    arena, state = arenas.acquire(), states.acquire()
    arenas.release(arena)
    states.release(state)
    assert arenas.acquire() is arena
    assert states.acquire() is state


def test_the_longest_unused_is_dropped() -> None:
    plans = [_arenas(400) for _ in range(3)]
    first, second = plans[0].acquire(), plans[1].acquire()
    plans[1].release(second)
    plans[0].release(first)
    plans[0].release(plans[0].acquire())
    plans[2].release(plans[2].acquire())  # too much together
    assert plans[0].acquire() is first
    assert plans[1].acquire() is not second


def test_a_block_in_use_stays() -> None:
    states = [States(device_of(cpu()), 600, keep=False) for _ in range(2)]
    held = states[0].acquire()
    other = states[1].acquire()
    states[1].release(other)
    states[0].release(held)
    assert states[0].acquire() is held


def test_what_ends_with_its_owner_is_dropped_too() -> None:
    class Owner:
        pass

    states, arenas = States(device_of(cpu()), 600, keep=False), _arenas(600)
    owner = Owner()
    states.release_with(states.acquire(), owner)
    del owner
    assert states.idle_count == 1
    arenas.release(arenas.acquire())
    assert states.idle_count == 0


def test_blocks_go_with_their_plan_and_when_the_cache_is_emptied() -> None:
    arenas = _arenas(400)
    gone = weakref.ref(arenas.acquire())
    gc.collect()
    assert gone() is None
    arena = arenas.acquire()
    arenas.release(arena)
    cpu().empty_cache()
    assert arenas.acquire() is not arena


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
    (arena,) = plan.forward._arenas._idle
    (idle,) = plan.states._idle
    tails = dict(arena.static_views_on(idle.state))
    assert len(tails) == 2  # forward and backward
    with autograd.record():
        y = net(x)
    y.backward()
    assert all(arena.static_views_on(idle.state)[number] is tail for number, tail in tails.items())
