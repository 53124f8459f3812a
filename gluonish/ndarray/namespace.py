"""The ``nd`` namespace: a function for every registered operator, made when first asked for."""

import contextlib
import inspect
import sys
from collections.abc import Callable
from operator import is_
from typing import Any

from gluonish.core.context import Context
from gluonish.core.hooks import ndarray_names
from gluonish.core.lazy import resolve
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.truth import COMPARISONS, applying, marking
from gluonish.ops.frontend import (
    bind_arguments,
    docstring_of,
    make_function,
    require_inputs,
    signature_of,
)
from gluonish.ops.registry import Attrs, Operator, all_names

_TAIL = (
    inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None),
    inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None),
)
_TAIL_DOC = {
    "out": "NDArray that the result is written to, or a list of them.",
    "name": "Accepted; only Symbols have names.",
}
_MOST_CALLS = 64  # of a function, whose parsed attributes are kept
_made: dict[str, Callable[..., Any]] = {}


def operator_function(name: str) -> Any:
    """Return the imperative function of an operator, or the package ``np`` or ``npx``.

    This is the ``__getattr__`` of the namespace.

    Raises:
        AttributeError: There is no operator of this name.
    """
    made = _made.get(name)
    if made is not None:
        return made
    if name in ndarray_names:
        return resolve(ndarray_names[name])
    return make_function(name, _made, make_operator_function, "ndarray")


def names() -> list[str]:
    """Return what the namespace holds, operators included; this is its ``__dir__``."""
    return sorted({*vars(sys.modules["gluonish.ndarray"]), *all_names()})


def make_operator_function(op: Operator, name: str) -> Callable[..., Any]:
    """Return the imperative function of an operator, under the name that it is asked by."""
    function = _source_function(op) if not op.inputs and op.variadic is None else _function(op)
    if op.name in COMPARISONS:
        function = marking(function)
    function.__name__ = function.__qualname__ = name
    function.__module__ = "gluonish.ndarray"
    function.__doc__ = docstring_of(op, _TAIL_DOC)
    function.__signature__ = signature_of(op, _TAIL)  # type: ignore[attr-defined]
    return function


def _function(op: Operator) -> Callable[..., Any]:
    known: dict[tuple[Any, ...], Attrs] = {}  # attributes of calls whose arrays are all positional
    apply = applying(op)

    def function(*args: Any, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
        call: tuple[Any, ...] = (len(args),)
        if kwargs:
            call = (len(args), *kwargs.items(), *map(type, kwargs.values()))
        if out is None and args and hasattr(args[0], "__apply__"):
            try:
                attrs = known.get(call)
            except TypeError:  # a list, say
                attrs = None
            if attrs is not None:
                return apply(op, args, attrs)
        inputs, attrs = bind_arguments(op, args, kwargs)
        if not inputs and op.variadic is None:
            return source(op, attrs, attrs.get("ctx"), out)
        require_inputs(op, inputs, attrs)
        if out is None and hasattr(inputs[0], "__apply__"):
            if len(inputs) == len(args) and all(map(is_, inputs, args)):
                _remember(known, call, attrs)
            return apply(op, inputs, attrs)
        return invoke(op, inputs, attrs, out)

    return function


def _remember(known: dict[tuple[Any, ...], Attrs], call: tuple[Any, ...], attrs: Attrs) -> None:
    """Keep the parsed attributes of a call, unless it is of values that cannot be a key."""
    if len(known) >= _MOST_CALLS:
        known.clear()
    with contextlib.suppress(TypeError):
        known[call] = attrs


def _source_function(op: Operator) -> Callable[..., Any]:
    def function(
        *args: Any,
        ctx: Context | str | None = None,
        out: NDArray | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Any:
        _, attrs = bind_arguments(op, args, kwargs)
        return source(op, attrs, ctx, out)

    return function
