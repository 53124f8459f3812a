"""Scopes of context variables, and what interrupts them."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any, cast

import pytest

import gluonish as mx
from gluonish import autograd
from gluonish.autograd.scopes import GradientMode
from gluonish.core import value_scope
from gluonish.core.value_scope import ValueScope
from gluonish.ndarray import recording
from tests.engine.places import interrupted_at

_number: ContextVar[int] = ContextVar("number", default=1)
_bare: ContextVar[Any] = ContextVar("bare")
MOST = 400


class Two(ValueScope):
    def __enter__(self) -> None:
        self._change(_number, 2)

    def value(self) -> int:
        return _number.get()


def test_value_is_as_before_behind_the_scope() -> None:
    scope = Two()
    for _ in range(2):
        with scope:
            with scope:
                assert _number.get() == 2
            assert _number.get() == 2
        assert _number.get() == 1


def test_variable_without_a_default_is_none_behind_the_scope() -> None:
    class Bare(ValueScope):
        def __enter__(self) -> None:
            self._change(_bare, "inside")

    with Bare():
        assert _bare.get() == "inside"
    assert _bare.get() is None


def test_scope_that_goes_away_in_another_thread_changes_nothing_there() -> None:
    scopes = [Two()]
    scopes[0].__enter__()
    seen: list[int] = []

    def drop() -> None:
        scopes.clear()
        seen.append(_number.get())

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join(30)
    assert seen == [1]
    assert _number.get() == 2
    _number.set(1)


def _record() -> None:
    with autograd.record():
        pass


def _nested() -> None:
    with autograd.record(), autograd.pause(), autograd.train_mode():
        pass


def _gradient() -> None:
    with GradientMode(create_graph=True, train_mode=True):
        pass


def _numpy() -> None:
    with mx.util.np_shape(True), mx.util.np_array(True):
        pass


@pytest.mark.parametrize("program", [_record, _nested, _gradient, _numpy])
def test_interrupt_anywhere_in_a_scope_leaves_the_mode_as_it_was(
    program: Callable[[], None],
) -> None:
    before = mx.util.is_np_shape(), mx.util.is_np_array()
    place = 0
    for place in range(MOST):
        reached = interrupted_at(place, program, ("gluonish",), destructors=False)
        assert recording.mode.get() == recording.NOTHING
        assert (mx.util.is_np_shape(), mx.util.is_np_array()) == before
        if not reached:
            break
    assert 2 < place < MOST - 1


def test_abandoned_scope_that_is_collected_inside_an_exit_leaves_the_outer_scopes_active() -> None:
    class Collects:
        """A variable whose `set` collects garbage, as that of a ContextVar may."""

        def __init__(self) -> None:
            self.abandoned: list[Two] = []

        def get(self) -> int:
            return 0

        def set(self, _value: int) -> None:
            self.abandoned.clear()

    class Inner(ValueScope):
        def __enter__(self) -> None:
            self._change(cast(Any, variable), 1)

    variable, before = Collects(), len(value_scope._thread.changes)
    for has_outer in (False, True):
        with Two() if has_outer else nullcontext():
            abandoned = [Two()]
            abandoned[0].__enter__()
            with Inner():
                variable.abandoned = abandoned
            assert not abandoned
            assert len(value_scope._thread.changes) == before + has_outer
            assert _number.get() == 1 + has_outer
        assert _number.get() == 1
