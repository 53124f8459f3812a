"""The ``nd`` namespace: a function for every registered operator, made when first asked for."""

import inspect
import sys
from collections.abc import Callable
from typing import Any

from gluonish.core.context import Context
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.face import (
    bind_arguments,
    docstring_of,
    make_function,
    require_inputs,
    signature_of,
)
from gluonish.ops.registry import Operator, all_names, apply

__all__ = ["make_operator_function", "names", "operator_function"]

_TAIL = (
    inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None),
    inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None),
)
_TAIL_DOC = {
    "out": "NDArray that receives the result, or a list of them.",
    "name": "Accepted; only Symbols have names.",
}
_made: dict[str, Callable[..., Any]] = {}


def operator_function(name: str) -> Callable[..., Any]:
    """Return the imperative function of an operator; this is the ``__getattr__`` of the namespace.

    Raises:
        AttributeError: if there is no operator of this name.
    """
    made = _made.get(name)
    return make_function(name, _made, make_operator_function, "ndarray") if made is None else made


def names() -> list[str]:
    """Return what the namespace holds, operators included; this is its ``__dir__``."""
    return sorted({*vars(sys.modules["gluonish.ndarray"]), *all_names()})


def make_operator_function(op: Operator, name: str) -> Callable[..., Any]:
    """Return the imperative function of an operator, under the name that it is asked by."""
    function = _source_function(op) if not op.inputs and op.variadic is None else _function(op)
    function.__name__ = function.__qualname__ = name
    function.__module__ = "gluonish.ndarray"
    function.__doc__ = docstring_of(op, _TAIL_DOC)
    function.__signature__ = signature_of(op, _TAIL)  # type: ignore[attr-defined]
    return function


def _function(op: Operator) -> Callable[..., Any]:
    def function(*args: Any, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
        inputs, attrs = bind_arguments(op, args, kwargs)
        require_inputs(op, inputs, attrs)
        if out is None and hasattr(inputs[0], "__apply__"):
            return apply(op, inputs, attrs)
        return invoke(op, inputs, attrs, out)

    return function


def _source_function(op: Operator) -> Callable[..., Any]:
    def function(
        *args: Any,
        ctx: Context | str | None = None,
        out: NDArray | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Any:
        _, attrs = bind_arguments(op, args, kwargs)
        return source(op, attrs, _parse_context(ctx), out)

    return function


def _parse_context(ctx: Context | str | None) -> Context | None:
    if not ctx or isinstance(ctx, Context):
        return ctx or None
    device_type, _, number = ctx.rstrip(")").partition("(")
    return Context(device_type, int(number or 0))
