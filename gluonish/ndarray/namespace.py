"""The ``nd`` namespace: a function for every registered operator, created on first access."""

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
_MAX_CACHED_CALLS = 64  # per function: calls whose parsed attributes are cached
_made: dict[str, Callable[..., Any]] = {}


def operator_function(name: str) -> Any:
    """Return the imperative function of an operator, or a package such as ``np``.

    Implements ``__getattr__`` of the namespace.

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
    """Return all names of the namespace, operators included; implements ``__dir__``."""
    return sorted({*vars(sys.modules["gluonish.ndarray"]), *all_names()})


def make_operator_function(op: Operator, name: str) -> Callable[..., Any]:
    """Return the imperative function of an operator, called ``name``."""
    function = _source_function(op) if not op.inputs and op.variadic is None else _function(op)
    if op.name in COMPARISONS:
        function = marking(function)
    function.__name__ = function.__qualname__ = name
    function.__module__ = "gluonish.ndarray"
    function.__doc__ = docstring_of(op, _TAIL_DOC)
    function.__signature__ = signature_of(op, _TAIL)  # type: ignore[attr-defined]
    return function


def _function(op: Operator) -> Callable[..., Any]:
    cache: dict[tuple[Any, ...], Attrs] = {}  # attributes of calls whose arrays are all positional
    apply = applying(op)
    optional = bool(op.optional)  # whether None may stand for an array

    def function(*args: Any, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
        call: tuple[Any, ...] = (len(args),)
        if kwargs:
            call = (len(args), *kwargs.items(), *map(type, kwargs.values()))
        if optional:
            call = (*call, *[x is None for x in args])
        if out is None and args and hasattr(args[0], "__apply__"):
            try:
                attrs = cache.get(call)
            except TypeError:  # an unhashable argument
                attrs = None
            if attrs is not None:
                return apply(op, args, attrs)
        inputs, attrs = bind_arguments(op, args, kwargs)
        if not inputs and op.variadic is None:
            return source(op, attrs, attrs.get("ctx"), out)
        require_inputs(op, inputs, attrs)
        if out is None and hasattr(inputs[0], "__apply__"):
            if len(inputs) == len(args) and all(map(is_, inputs, args)):
                _cache_attrs(cache, call, attrs)
            return apply(op, inputs, attrs)
        return invoke(op, inputs, attrs, out)

    return function


def _cache_attrs(cache: dict[tuple[Any, ...], Attrs], call: tuple[Any, ...], attrs: Attrs) -> None:
    """Cache the parsed attributes of a call, unless an argument is unhashable."""
    if len(cache) >= _MAX_CACHED_CALLS:
        cache.clear()
    with contextlib.suppress(TypeError):
        cache[call] = attrs


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
