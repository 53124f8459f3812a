import functools
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.object_repr import arguments_repr, brief, object_repr


class Base:
    __repr__ = arguments_repr

    def __init__(self, rate: float = 0.1, name: Any = None) -> None:
        self.rate = rate
        self._name = name


class Derived(Base):
    def __init__(self, units: int, factor: float = 2.0, flag: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units, self.factor, self.flag = units, factor, flag


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Base(), "Base(rate=0.1)"),
        (Base(0.5, "x"), "Base(rate=0.5, name='x')"),
        (Derived(3), "Derived(units=3, factor=2.0)"),
        (Derived(3, 1.5, True, rate=0.2), "Derived(units=3, factor=1.5, flag=True, rate=0.2)"),
        (Derived(3, name=Base()), "Derived(units=3, factor=2.0, name=Base(rate=0.1))"),
    ],
)
def test_a_text_has_the_arguments_that_tell_something(value: Base, text: str) -> None:
    assert repr(value) == text


def test_a_text_follows_the_attributes() -> None:
    value = Derived(3)
    value.units = 4
    assert repr(value) == "Derived(units=4, factor=2.0)"


def test_an_object_whose_constructor_failed_has_a_text() -> None:
    assert repr(Derived.__new__(Derived)) == "Derived()"


def test_a_property_that_raises_is_left_out() -> None:
    class Late:
        __repr__ = arguments_repr

        def __init__(self, size: int) -> None:
            pass

        @property
        def size(self) -> int:
            raise RuntimeError("not yet")

    assert repr(Late(3)) == "Late()"


def test_an_object_that_refers_to_itself_has_a_text() -> None:
    value = Base()
    value._name = [value]
    assert repr(value) == "Base(rate=0.1, name=[Base(...)])"
    assert repr(value) == "Base(rate=0.1, name=[Base(...)])"


class Raising:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Plain:
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((2, 3), np.int32), "ndarray (2, 3) int32"),
        (mx.nd.ones((2, 3)), "NDArray (2, 3) float32"),
        (mx.np.ones((2, 3)), "ndarray (2, 3) float32"),
        (np.float32(0.5), "0.5"),
        ([1, 2], "[1, 2]"),
        ((1,), "(1,)"),
        ({"a": [1]}, "{'a': [1]}"),
        (list(range(9)), "list of 9"),
        (["x" * 60, "y" * 60], "list of 2"),
        ("x" * 200, f"'{'x' * 95}...'"),
        (Base, "Base"),
        (functools.partial(print, 1), "print"),
        (np.linalg.norm, "norm"),
        (Raising(), "Raising(...)"),
        (Plain(), "Plain"),
        (mx.gluon.nn.HybridSequential(), "HybridSequential(...)"),
        (mx.cpu(), "cpu(0)"),
    ],
)
def test_a_value_has_a_short_text_in_one_line(value: object, text: str) -> None:
    assert brief(value) == text


def test_facts_come_first() -> None:
    assert object_repr(Plain(), "3 rows", size=2) == "Plain(3 rows, size=2)"
