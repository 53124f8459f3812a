"""Checks of numeric arguments, at once or, as in MXNet, when a layer is called.

A program may construct layers that it never calls, or change them before it does.
"""

from collections.abc import Mapping
from numbers import Real
from types import TracebackType
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError


def check_numbers(owner: str, /, **args: object) -> None:
    """Raise ArgumentTypeError for arguments that are not real numbers or arrays of one element."""
    _check(owner, args, texts=False)


def check_optional(owner: str, /, **args: object) -> None:
    """Raise ArgumentTypeError for arguments that are neither None nor real numbers."""
    check_numbers(owner, **{name: value for name, value in args.items() if value is not None})


def check_attributes(owner: str, /, **args: object) -> None:
    """Raise ArgumentTypeError for attributes that are neither numbers nor the text of one."""
    _check(owner, args, texts=True)


def _check(owner: str, args: Mapping[str, object], *, texts: bool) -> None:
    for name, value in args.items():
        if not isinstance(value, Real) and _number(value, texts=texts) is None:
            raise _refusal(owner, name, "a number", value)


def as_float(owner: str, name: str, value: object) -> float:
    """Return a number, or an array of one element, as a float.

    Args:
        owner: Name of the function or class, for the message.
        name: Name of the argument.

    Raises:
        ArgumentTypeError: The value is not a number.
    """
    number = _number(value, texts=False)
    if number is None:
        raise _refusal(owner, name, "a number", value)
    return number


def as_int(owner: str, name: str, value: object, low: int | None = None) -> int:
    """Return an integral number as an int.

    Args:
        owner: Name of the function or class, for the message.
        name: Name of the argument.
        value: An int, or a number without a fraction.
        low: Minimum; None for none.

    Raises:
        ArgumentTypeError: The value is not integral.
        ArgumentError: The value is below ``low``.
    """
    number = value if isinstance(value, int) else _number(value, texts=False)
    if number is None or not (isinstance(number, int) or number.is_integer()):
        raise _refusal(owner, name, "an int", value)
    if low is not None and number < low:
        raise ArgumentError(f"{owner}: expected {name} of {low} or more, got {value}")
    return int(number)


def _number(value: Any, *, texts: bool) -> float | None:
    """Convert a number, an array of one element or (``texts``) a text to a float, else None."""
    if getattr(value, "size", None) == 1:
        value = value.item()
    elif not isinstance(value, Real | str) or (isinstance(value, str) and not texts):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _refusal(owner: str, name: str, expected: str, value: object) -> ArgumentTypeError:
    text = repr(value)
    if len(text) > 80:
        text = f"{text[:77]}..."
    advice = ""
    if isinstance(value, str) and _number(value, texts=True) is not None:
        advice = f"; pass {value}"
    elif hasattr(value, "reset_ctx"):  # a Parameter, or a dict of them
        text = f"a {type(value).__name__}"
        advice = "; pass parameters to gluon.Trainer(net.collect_params(), optimizer)"
    return ArgumentTypeError(f"{owner}: expected {name} to be {expected}, got {text}{advice}")


# Methods of Blocks, transforms, cells and augmenters that compute.
_COMPUTATIONS = ("forward", "transform_flow", "unroll", "_change")


class _Refusal:
    """Picklable stand-in for the computation of a block with wrong arguments; raises the error."""

    __slots__ = ("_error",)

    def __init__(self, error: ArgumentError) -> None:
        self._error = type(error), error.args

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kind, arguments = self._error
        raise kind(*arguments)


class DeferErrorToCall:
    """Scope in a constructor that defers an ArgumentError to the calls of the block or augmenter.

    Args:
        block: The object; ``super().__init__()`` was called.
    """

    __slots__ = ("_block",)

    def __init__(self, block: object) -> None:
        self._block = block

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, ArgumentError):
            return False
        refusal = _Refusal(error.with_traceback(None))
        for name in _COMPUTATIONS:
            if hasattr(type(self._block), name):
                self._block.__dict__[name] = refusal
        return True
