import pickle
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.gluon.data import dataset as dataset_module
from gluonish.gluon.data.by_value import dumps
from gluonish.gluon.data.dataset import SimpleDataset

SOURCE = """
import abc
import enum
import math
from gluonish.gluon.data import Dataset

scale = 3

def helper(x):
    return x * scale

def scaled(x, plus=1, *, minus=0):
    '''A docstring.'''
    return helper(x) + plus - minus + math.floor(0.5)

def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)

def counter():
    count = 0
    def step():
        nonlocal count
        count += 1
        return count
    return step

class Base(Dataset, abc.ABC):
    kind = "base"

    @abc.abstractmethod
    def __len__(self): ...

class Derived(Base):
    __slots__ = ("n",)

    def __init__(self, n):
        super().__init__()
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return scaled(i) + self.offset() + self.twice + self.made().n

    @staticmethod
    def offset():
        return 100

    @classmethod
    def made(cls):
        return cls(1000)

    @property
    def twice(self):
        return 2 * self.n

class Color(enum.Enum):
    RED = 1
"""


@pytest.fixture
def script() -> dict[str, Any]:
    """The globals of a program that nobody can import."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(SOURCE, namespace)
    return namespace


def sent(value: Any) -> Any:
    data, buffers = dumps(value)
    return pickle.loads(data, buffers=buffers)


def evaluated_elsewhere(value: Any, expression: str) -> Any:
    """Send a value to a new interpreter, and return what an expression of it gives there."""
    program = (
        "import pickle, sys\n"
        "from gluonish.gluon.data.by_value import dumps_reply\n"
        "data, buffers = pickle.load(sys.stdin.buffer)\n"
        "value = pickle.loads(data, buffers=buffers)\n"
        f"sys.stdout.buffer.write(dumps_reply({expression}))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, input=pickle.dumps(dumps(value)), stdout=subprocess.PIPE, timeout=60, check=True
    )
    return pickle.loads(done.stdout)


def test_function_of_the_main_program_takes_its_globals_along(script: dict[str, Any]) -> None:
    received = sent(script["scaled"])
    assert received is not script["scaled"]
    script["scale"] = 0
    assert received(2) == 7
    assert received(2, 5, minus=1) == 10
    assert received.__doc__ == "A docstring."
    assert "factorial" not in received.__globals__


def test_function_may_call_itself(script: dict[str, Any]) -> None:
    assert sent(script["factorial"])(5) == 120


def test_functions_of_one_program_share_globals(script: dict[str, Any]) -> None:
    first, second = sent((script["scaled"], script["helper"]))
    first.__globals__["scale"] = 10
    assert second(2) == 20


def test_lambda_and_closure_are_sent(script: dict[str, Any]) -> None:
    factor = 4
    assert sent(lambda x: x * factor)(2) == 8
    step = script["counter"]()
    assert step() == 1
    received = sent(step)
    assert (received(), received(), step()) == (2, 3, 2)


def test_closure_may_be_empty_or_hold_the_function() -> None:
    def outer() -> Callable[[int], int]:
        def inner(n: int) -> int:
            return 0 if n == 0 else 1 + inner(n - 1) + (0 if n else later)  # type: ignore[has-type]

        if not inner:  # type: ignore[truthy-function]
            later = 1
        return inner

    assert sent(outer())(3) == 3


def test_class_is_sent_with_all_kinds_of_members(script: dict[str, Any]) -> None:
    base = "type(value).__mro__[1].__abstractmethods__"
    values = f"(len(value), value[2], type(value).kind, {base})"
    assert evaluated_elsewhere(script["Derived"](5), values) == (
        *(5, 7 + 100 + 10 + 1000, "base"),
        frozenset({"__len__"}),
    )


def test_importable_things_are_sent_by_name() -> None:
    dataset = sent(SimpleDataset([np.mean, len, dict, type(None), np]))
    assert type(dataset) is SimpleDataset
    assert dataset[0] is np.mean
    assert dataset[3] is type(None)
    assert dataset[4] is np


def test_arrays_are_left_out_of_the_pickle() -> None:
    values = np.arange(10000.0)
    data, buffers = dumps(values)
    assert len(data) < 1000
    assert [buffer.raw().nbytes for buffer in buffers] == [80000]
    assert np.array_equal(pickle.loads(data, buffers=buffers), values)


def test_inner_function_keeps_the_globals_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = threading.Lock()  # cannot be pickled, and is itself on the other side
    monkeypatch.setattr(dataset_module, "LOCK", lock, raising=False)
    code = compile("def outer(n):\n    return lambda: (LOCK, n)", "", "exec")
    made: dict[str, Any] = {}
    exec(code, vars(dataset_module), made)
    inner = made["outer"](3)
    assert inner.__module__ == dataset_module.__name__
    received = sent(inner)
    assert received is not inner
    assert received() == (lock, 3)


def test_enum_of_the_main_program_is_sent(script: dict[str, Any]) -> None:
    color = script["Color"].RED
    assert evaluated_elsewhere(color, "(value.name, value.value)") == ("RED", 1)
    assert evaluated_elsewhere(color, "value") is color


def test_reply_names_the_class_that_was_sent(script: dict[str, Any]) -> None:
    derived = script["Derived"]
    got = evaluated_elsewhere(derived(5), "(setattr(type(value), 'kind', 'other'), value)")[1]
    assert type(got) is derived
    assert (len(got), derived.kind) == (
        5,
        "base",
    )  # what the other process did to its own stays there


def test_module_that_only_this_program_made_is_sent_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("made_here")
    exec("def three():\n    return 3\nclass Three:\n    n = 3", vars(module))
    monkeypatch.setitem(sys.modules, "made_here", module)
    data, buffers = dumps((module.three, module.Three()))
    monkeypatch.delitem(sys.modules, "made_here")
    three, made = pickle.loads(data, buffers=buffers)
    assert (three(), made.n) == (3, 3)


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(pickle.PicklingError, match="got __main__ itself"):
        dumps(sys.modules["__main__"])
    with pytest.raises(TypeError, match="cannot pickle"):
        dumps(threading.Lock())
