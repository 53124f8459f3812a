"""Arguments checked where they are given, and those that only calls refuse, as in MXNet.

A program may make layers that it never calls, or change them before it does.
"""

from collections.abc import Mapping
from numbers import Real
from types import TracebackType
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError


def check_numbers(owner: str, /, **given: object) -> None:
    """Refuse arguments that are no real numbers: Python's, NumPy's, or arrays of one element.

    Args:
        **given: The arguments by name.

    Raises:
        ArgumentTypeError: One is none.
    """
    _check(owner, given, texts=False)


def check_optional(owner: str, /, **given: object) -> None:
    """Refuse arguments that are neither None nor real numbers, as `check_numbers` does."""
    check_numbers(owner, **{name: value for name, value in given.items() if value is not None})


def check_attributes(owner: str, /, **given: object) -> None:
    """Refuse what is neither a number nor the text of one, as attributes of operators may be.

    Args:
        **given: The arguments by name.

    Raises:
        ArgumentTypeError: One is neither.
    """
    _check(owner, given, texts=True)


def _check(owner: str, given: Mapping[str, object], *, texts: bool) -> None:
    for name, value in given.items():
        if not isinstance(value, Real) and _number(value, texts=texts) is None:
            raise _refusal(owner, name, "a number", value)


def as_float(owner: str, name: str, value: object) -> float:
    """Return an argument that is a number, or an array of one, as a float.

    Args:
        name: The argument's name.

    Raises:
        ArgumentTypeError: It is none.
    """
    number = _number(value, texts=False)
    if number is None:
        raise _refusal(owner, name, "a number", value)
    return number


def whole_number(owner: str, name: str, value: object, low: int | None = None) -> int:
    """Return an argument that counts something as an int.

    Args:
        name: The argument's name.
        value: An int, or a number without a fraction.
        low: Its least value; None for any.

    Raises:
        ArgumentTypeError: It is no whole number.
        ArgumentError: It is below ``low``.
    """
    number = value if isinstance(value, int) else _number(value, texts=False)
    if number is None or not (isinstance(number, int) or number.is_integer()):
        raise _refusal(owner, name, "an int", value)
    if low is not None and number < low:
        raise ArgumentError(f"{owner}: expected {name} of {low} or more, got {value}")
    return int(number)


def _number(value: Any, *, texts: bool) -> float | None:
    """Return what a number is, or None where `float` takes a value that is no number here."""
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
    return ArgumentTypeError(f"{owner}: expected {name} to be {expected}, got {text}{advice}")


# What calls of a Block, a direct transform, a cell and an augmenter come to.
_COMPUTATIONS = ("forward", "transform_flow", "unroll", "_change")


class _Refusal:
    """What a block that cannot compute has in place of its computation; it can be pickled."""

    __slots__ = ("_error",)

    def __init__(self, error: ArgumentError) -> None:
        self._error = type(error), error.args

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kind, arguments = self._error
        raise kind(*arguments)


class RefusedAtCall:
    """Scope whose ArgumentError the calls of a block or an augmenter raise, not its constructor.

    Args:
        block: The block; ``super().__init__()`` was called.
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
