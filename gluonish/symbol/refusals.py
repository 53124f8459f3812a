"""What a Symbol refuses: everything that needs values, a shape, or elements.

`hybrid_forward` of a hybridized block runs once on Symbols. There ``x[0]``, ``len(x)`` and
iteration mean the outputs of a Symbol, and rows of an array: with a single output they would give
another result than imperatively, so they are refused, except under the name ``mxnet``. Elsewhere
they have MXNet's meaning.
"""

import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NoReturn

from gluonish.core.errors import ArgumentTypeError, NotImplementedForSymbol
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.tracebacks import is_ours
from gluonish.core.value_scope import ValueScope

__all__ = [
    "HybridForward",
    "MissingAttribute",
    "MissingValue",
    "NoAttribute",
    "check_key",
    "means_outputs",
    "refuse",
    "refuse_number",
]

_in_hybrid_forward: ContextVar[bool] = ContextVar("gluonish_in_hybrid_forward", default=False)

_TRACED = "hybrid_forward runs on Symbols here, which have no values and no shape"
_BY_FORWARD = "or define forward(self, x) instead: it runs on arrays of known shape"
_SHAPES = ("dtype", "ndim", "shape", "size")  # which traced arrays have
_VALUES = "compute with functions of F, or do not hybridize this block"

# What to do without an attribute, in hybrid_forward.
_ATTRIBUTES: Mapping[str, str] = {
    "context": "leave ctx= out: F.zeros_like(x) is on the device of x",
    "ctx": "leave ctx= out: F.zeros_like(x) is on the device of x",
    "dtype": "F.zeros_like(x) and F.ones_like(x) have the dtype of x",
    "grad": "take gradients outside, after backward()",
    "ndim": "pass the number of axes to the constructor",
    "shape": "F.reshape(x, (0, -1)) copies an axis by 0 and infers one by -1, F.shape_array(x) is "
    "the shape as a Symbol",
    "size": "F.size_array(x) is the size as a Symbol",
}
_ELEMENTS = "F.split(x, num_outputs=n) returns n Symbols, F.contrib.foreach loops over an axis"


class MissingAttribute(NotImplementedForSymbol, AttributeError):
    """A Symbol lacks an attribute of arrays; an AttributeError, so that ``hasattr`` is False."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.name, self.obj = "", None  # else Python appends a guess of its own


class MissingValue(NotImplementedForSymbol, TypeError):
    """A Symbol cannot be converted to a number, or changed."""


class HybridForward(ValueScope):
    """Scope in which a block's ``hybrid_forward`` runs on Symbols."""

    __slots__ = ()

    def __enter__(self) -> None:
        self._change(_in_hybrid_forward, True)


def refusal(what: str, symbol: Any, advice: str, *, by_forward: bool = True) -> str:
    """Return the message that refuses an operation.

    Args:
        what: The operation as a program writes it: ``x.shape``.
        symbol: The Symbol.
        advice: What to write instead in ``hybrid_forward``.
        by_forward: Whether a ``forward`` without F could do it.
    """
    start = f"{what}: expected an array, got {symbol!r}"
    if not _in_hybrid_forward.get():
        return f"{start}, which has no values, and whose shape is unknown until it is bound"
    return f"{start}: {_TRACED}; {advice}{f', {_BY_FORWARD}' if by_forward else ''}"


def refuse(symbol: Any, what: str) -> NoReturn:
    """Raise the error for an operation that needs values.

    Raises:
        NotImplementedForSymbol: Always.
    """
    raise NotImplementedForSymbol(refusal(what, symbol, _VALUES, by_forward=False))


def refuse_number(symbol: Any, what: str) -> NoReturn:
    """Raise the error for a conversion to a number, or an assignment to elements.

    Raises:
        MissingValue: Always.
    """
    raise MissingValue(refusal(what, symbol, _VALUES, by_forward=False))


class NoAttribute:
    """Class attribute that raises an AttributeError, as a missing one does.

    Args:
        error: The class of the error.
    """

    __slots__ = ("_error", "_name")

    def __init__(self, error: type[MissingAttribute] = MissingAttribute) -> None:
        self._error = error

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            if self._error is not MissingAttribute:
                return self  # a class with shapes, which its instances do not know
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {self._name!r}")
        name = self._name
        raise self._error(
            refusal(f"x.{name}", instance, _ATTRIBUTES[name], by_forward=name in _SHAPES)
        )


def means_outputs(symbol: Any, what: str) -> None:
    """Check that indexing, ``len`` or iteration means the outputs of a Symbol.

    Raises:
        NotImplementedForSymbol: ``hybrid_forward`` of a user's block does it with one output.
    """
    if len(symbol._values) != 1 or not _in_hybrid_forward.get() or follows_mxnet():
        return
    if not is_ours(sys._getframe(2).f_code):
        raise NotImplementedForSymbol(refusal(what, symbol, _ELEMENTS))


def check_key(symbol: Any, key: Any) -> None:
    """Check that a key selects outputs; see `means_outputs`.

    Raises:
        NotImplementedForSymbol: The key, an int or a slice, would select elements of an array.
        ArgumentTypeError: The key is of another type, and no name.
    """
    if isinstance(key, str) or len(symbol._values) != 1 or not _in_hybrid_forward.get():
        return
    is_index = isinstance(key, int | slice)
    if is_index and (follows_mxnet() or is_ours(sys._getframe(2).f_code)):
        return
    message = refusal(f"x[{_written(key)}]", symbol, _selection(key))
    raise (NotImplementedForSymbol if is_index else ArgumentTypeError)(message)


def _written(key: Any) -> str:
    """Return a key as a program writes it."""
    if isinstance(key, tuple):
        return ", ".join(map(_written, key))
    if isinstance(key, slice):
        ends = ["" if part is None else str(part) for part in (key.start, key.stop, key.step)]
        return ":".join(ends if key.step is not None else ends[:2])
    return "..." if key is Ellipsis else f"{key!r:.60}"


def _selection(key: Any) -> str:
    """Return the call that selects what a key selects."""
    if isinstance(key, int):
        ends = f"begin={key}, end={key + 1 or None}"
        return f"F.slice_axis(x, axis=0, {ends}).squeeze(axis=0) selects it"
    if isinstance(key, slice) and key.step in (None, 1):
        return f"F.slice_axis(x, axis=0, begin={key.start or 0}, end={key.stop}) selects it"
    keys = key if isinstance(key, tuple) else (key,)
    if all(isinstance(k, int | slice) for k in keys):
        parts = [k if isinstance(k, slice) else slice(k, k + 1 or None) for k in keys]
        begin, end = tuple(k.start for k in parts), tuple(k.stop for k in parts)
        step = f", step={tuple(k.step for k in parts)}" if any(k.step for k in parts) else ""
        gone = tuple(i for i, k in enumerate(keys) if isinstance(k, int))
        squeezed = f".squeeze(axis={gone})" if gone else ""
        return f"F.slice(x, begin={begin}, end={end}{step}){squeezed} selects it"
    return (
        "F.slice_axis, F.take(x, index), F.where(mask, x, y) and F.contrib.boolean_mask(x, mask) "
        "select elements"
    )
