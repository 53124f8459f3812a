import gc
import weakref
from typing import Any

from gluonish.core import finalizer
from gluonish.core.finalizer import Finalizer, Registration, cancel, keep


class Thing:
    """What ends."""

    other: Any = None


class Named(Finalizer):
    __slots__ = ("name",)

    name: str


def watched(thing: Thing, ended: list[Any], name: str = "") -> Registration:
    found = Named(thing, ended.append)
    found.name = name
    return keep(found, thing)


def test_finalizer_is_called_once_with_itself_when_its_object_ends() -> None:
    ended: list[Any] = []
    thing = Thing()
    watched(thing, ended, "it")
    assert not ended
    del thing
    gc.collect()
    assert [one.name for one in ended] == ["it"]


def test_each_finalizer_of_one_object_is_called() -> None:
    ended: list[Any] = []
    thing = Thing()
    for name in "abc":
        watched(thing, ended, name)
    del thing
    assert sorted(one.name for one in ended) == ["a", "b", "c"]


def test_finalizer_of_an_object_in_a_cycle_is_called() -> None:
    ended: list[Any] = []
    thing, other = Thing(), Thing()
    thing.other, other.other = other, thing
    watched(thing, ended, "it")
    del thing, other
    assert not ended
    gc.collect()
    assert [one.name for one in ended] == ["it"]


def test_nothing_is_left_of_a_finalizer_behind_its_call() -> None:
    before = len(finalizer._registered)
    things = [Thing() for _ in range(100)]
    ended: list[Any] = []
    gone = [weakref.ref(thing) for thing in things]
    kept = [watched(thing, ended) for thing in things]
    assert len(finalizer._registered) == before + 100
    del things, kept
    assert not any(ref() for ref in gone)
    assert len(finalizer._registered) == before


def test_cancelled_finalizer_is_not_called() -> None:
    ended: list[Any] = []
    thing = Thing()
    kept = watched(thing, ended, "it")
    assert cancel(kept)
    assert not cancel(kept)
    del thing
    assert not ended


def test_cancelling_what_was_called_does_nothing() -> None:
    ended: list[Any] = []
    kept = watched(Thing(), ended, "it")
    assert not cancel(kept)
    assert [one.name for one in ended] == ["it"]
