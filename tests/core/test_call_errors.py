"""Calls of constructors with wrong arguments name the class and its arguments."""

from typing import Any

import pytest

import gluonish as mx
from gluonish.core.call_errors import accepted_arguments, explained
from gluonish.gluon import nn


class Base:
    @explained
    def __init__(self, rate: float, *, dtype: str = "float32") -> None:
        self.rate = rate
        self.dtype = dtype


class Derived(Base):
    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units


def test_arguments_of_bases_count_through_keywords() -> None:
    assert accepted_arguments(Derived) == ["units", "rate", "dtype"]
    assert accepted_arguments(Base) == ["rate", "dtype"]
    assert accepted_arguments(nn.Dense)[-2:] == ["prefix", "params"]


def test_right_calls_are_unchanged() -> None:
    assert Derived(3, rate=0.5).rate == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Derived(3, rte=0.5),
            r"^Derived: expected the name of .* got 'rte' \(nearest: 'rate'",
        ),
        (lambda: Derived(3), r"^Derived: expected a value for rate, got none"),
        (lambda: Base(1.0, "float64"), r"^Base: expected at most 1 arguments by position \(rate\)"),
        (lambda: Base(1.0, zzz=1), r"^Base: expected arguments among rate, dtype, got 'zzz'$"),  # type: ignore[call-arg]
        (lambda: nn.Dense(), r"^Dense: expected a value for units, got none, in the call Dense\("),  # type: ignore[call-arg]
    ],
)
def test_the_message_names_the_class_that_was_called(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_an_error_inside_the_constructor_is_unchanged() -> None:
    class Failing(Base):
        def __init__(self) -> None:
            super().__init__(rate=len(5))  # type: ignore[arg-type]  # the mistake

    with pytest.raises(TypeError, match="object of type 'int' has no len"):
        Failing()


def test_a_class_of_a_program_names_its_own_arguments() -> None:
    class Net(nn.HybridBlock):
        def __init__(self, units: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)

    with pytest.raises(
        TypeError, match=r"^Net: expected the name of .* 'unit' \(nearest: 'units'\)"
    ):
        Net(3, unit=4)


def test_a_trainer_says_where_the_rate_goes() -> None:
    net = nn.Dense(1, in_units=1)
    net.initialize()
    with pytest.raises(TypeError, match="'learning_rate'; pass it in optimizer_params, a dict"):
        mx.gluon.Trainer(net.collect_params(), "sgd", learning_rate=0.1)  # type: ignore[call-arg]
