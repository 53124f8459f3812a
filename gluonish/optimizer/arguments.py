"""Checks of an optimizer's arguments, and the base learning rate of its scheduler."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gluonish.core.call_errors import accepted_arguments, unknown_argument
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.mxnet_rules import follows_mxnet, follows_mxnet2
from gluonish.core.number_check import check_numbers, check_optional

_Constructor = TypeVar("_Constructor", bound=Callable[..., None])


def ordered2(*names: str) -> Callable[[_Constructor], _Constructor]:
    """Decorate ``__init__`` so that positional arguments follow MXNet 2.0 by its rules.

    Args:
        *names: Names of the arguments in the order of MXNet 2.0.
    """

    def decorate(constructor: _Constructor) -> _Constructor:
        @functools.wraps(constructor)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            if args and follows_mxnet2():
                if len(args) > len(names):
                    raise ArgumentTypeError(
                        f"{type(self).__name__}: expected at most {len(names)} positional "
                        f"arguments, got {len(args)}"
                    )
                named = dict(zip(names, args, strict=False))
                if again := next(iter(named.keys() & kwargs), None):
                    raise ArgumentTypeError(
                        f"{type(self).__name__}: expected one value for {again}, got two"
                    )
                args, kwargs = (), {**named, **kwargs}
            constructor(self, *args, **kwargs)

        return run  # type: ignore[return-value]  # the arguments of constructor

    return decorate


def given(value: Any, usual: Any, usual2: Any) -> Any:
    """Return an argument, or if it is None its default, ``usual2`` by the rules of MXNet 2.0."""
    if value is not None:
        return value
    return usual2 if follows_mxnet2() else usual


class UnknownArgumentError(ArgumentError, TypeError):
    """Raised if an optimizer does not have an argument; a TypeError, too, as in MXNet."""


def check_arguments(klass: type, kwargs: Mapping[str, Any]) -> None:
    """Reject keyword arguments that neither an optimizer nor its bases accept.

    Raises:
        UnknownArgumentError: An argument is unknown.
    """
    known = accepted_arguments(klass)
    for name in kwargs:
        if name not in known:
            raise UnknownArgumentError(unknown_argument(klass, name))


def check_aggregate_num(name: str, aggregate_num: int | None) -> None:
    """Check that ``aggregate_num`` is None or an int of at least 0; 0 stands for None.

    Raises:
        ArgumentTypeError: ``aggregate_num`` is not an int.
        ArgumentError: ``aggregate_num`` is below 0.
    """
    if aggregate_num is None:
        return
    if not isinstance(aggregate_num, int):
        raise ArgumentTypeError(f"{name}: expected an int aggregate_num, got {aggregate_num!r}")
    if aggregate_num < 0:
        raise ArgumentError(f"{name}: expected aggregate_num of 0 or more, got {aggregate_num}")


def check_settings(
    name: str, rescale: Any, wd: Any, begin: Any, clip: Any, learning_rate: Any
) -> None:
    """Reject values that are not numbers for arguments that all optimizers have.

    Raises:
        ArgumentTypeError: An argument is not a number.
    """
    check_numbers(name, rescale_grad=rescale, wd=wd, begin_num_update=begin)
    check_optional(name, clip_gradient=clip, learning_rate=learning_rate)
    if learning_rate is not None:
        check_learning_rate(name, learning_rate)


def check_learning_rate(name: str, rate: Any) -> None:
    """Reject a learning rate that is NaN, infinite or negative, unless `follows_mxnet`.

    Raises:
        ArgumentError: The rate is one of them.
    """
    if not (0 <= float(rate) < math.inf or follows_mxnet()):
        raise ArgumentError(
            f"{name}: expected a finite learning rate of 0 or more, got {rate}; to ascend a "
            "gradient, negate the loss"
        )


def check_scheduler(name: str, scheduler: Any) -> None:
    """Reject a scheduler that is not callable.

    Raises:
        ArgumentTypeError: ``scheduler`` is neither an LRScheduler nor a function.
    """
    if scheduler is not None and not callable(scheduler):
        raise ArgumentTypeError(
            f"{name}: expected lr_scheduler to be an LRScheduler or a function, got {scheduler!r};"
            " pass a fixed rate as learning_rate"
        )


def override_base_lr(scheduler: Any, learning_rate: float) -> None:
    """Set a scheduler's ``base_lr`` to its optimizer's learning rate, and report a difference.

    As in MXNet, a decay and a warm-up continue to use the scheduler's original rate.
    """
    if not hasattr(scheduler, "base_lr"):
        return
    base_lr = scheduler.base_lr
    if base_lr not in (None, learning_rate):
        # MXNet prints this, too; a warning would stop programs that turn warnings into errors.
        print(  # noqa: T201
            f"{type(scheduler).__name__}: expected one rate, got base_lr {base_lr} of lr_scheduler "
            f"and learning_rate {learning_rate} of the optimizer; "
            f"{_outcome(scheduler, learning_rate)}"
        )
    scheduler.base_lr = learning_rate


def _outcome(scheduler: Any, learning_rate: float) -> str:
    """Describe, for a message, which of the two rates is used."""
    decays_from = getattr(scheduler, "base_lr_orig", None)
    if decays_from is not None:
        return f"{decays_from} is used, learning_rate is not; set both to the same"
    final = getattr(scheduler, "warmup_final_lr", None)
    warms = final is not None and scheduler.warmup_steps and scheduler.warmup_mode == "linear"
    rise = f", but the warm-up rises to {final}" if warms else ""
    return f"{learning_rate} is used{rise}; set both to the same"
