"""What an optimizer is given: checks, and what is made of it."""

import inspect
from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, nearest

__all__ = ["UnknownArgumentError", "check_aggregate_num", "check_arguments", "override_base_lr"]

_VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


class UnknownArgumentError(ArgumentError, TypeError):
    """An optimizer was given an argument that it does not take; MXNet raises a TypeError."""


def check_arguments(klass: type, kwargs: Mapping[str, Any]) -> None:
    """Refuse keyword arguments that neither an optimizer nor the bases it hands them to name.

    Raises:
        UnknownArgumentError: There is one.
    """
    known: list[str] = []
    for base in klass.__mro__:
        constructor = vars(base).get("__init__")
        if constructor is None:
            continue
        parameters = list(inspect.signature(constructor).parameters.values())[1:]
        named = [p.name for p in parameters if p.kind not in _VARIABLE]
        known += named
        if len(named) == len(parameters):
            break
    for name in kwargs:
        if name not in known:
            raise UnknownArgumentError(
                f"{klass.__name__}: expected arguments among {', '.join(sorted(set(known)))}, got "
                f"{name!r}{nearest(name, known)}"
            )


def check_aggregate_num(name: str, aggregate_num: int | None) -> None:
    """Refuse a largest number of weights that is none.

    Raises:
        ArgumentTypeError: It is not an int.
        ArgumentError: It is below 1.
    """
    if aggregate_num is None:
        return
    if not isinstance(aggregate_num, int):
        raise ArgumentTypeError(f"{name}: expected an int aggregate_num, got {aggregate_num!r}")
    if aggregate_num < 1:
        raise ArgumentError(f"{name}: expected aggregate_num of 1 or more, got {aggregate_num}")


def override_base_lr(scheduler: Any, learning_rate: float) -> None:
    """Give a scheduler the learning rate of its optimizer, and say so if it has another."""
    if not hasattr(scheduler, "base_lr"):
        return
    scheduler_lr = scheduler.base_lr
    if scheduler_lr not in (None, learning_rate):
        # MXNet prints this too; a warning would stop programs that run with warnings as errors.
        print(  # noqa: T201
            f"{type(scheduler).__name__}: base_lr {scheduler_lr} of lr_scheduler gives way to"
            f" learning_rate {learning_rate} of the optimizer"
        )
    scheduler.base_lr = learning_rate
