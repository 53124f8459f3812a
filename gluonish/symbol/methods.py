"""Methods of Symbol defined in other modules: composition, inference, evaluation, files, operators.

Methods for operators name their nodes and accept ``name`` and ``attr`` as the functions do.
"""

import functools
from collections.abc import Callable
from typing import Any

from gluonish.core.habit_tables import ARRAY
from gluonish.core.habits import add_habits
from gluonish.core.lazy import attach_methods
from gluonish.core.loading import load
from gluonish.ops.fluent import Fluent, method_names, without_unset
from gluonish.ops.registry import find_operator
from gluonish.symbol.backend import get_backend_symbol, optimize_for
from gluonish.symbol.binding import bind, simple_bind
from gluonish.symbol.composition import compose, debug_str, evaluate_symbol
from gluonish.symbol.creation import split_v2
from gluonish.symbol.files import save, symbol_from_state, to_json
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.shapes import infer_shape, infer_shape_partial, infer_type, infer_type_partial
from gluonish.symbol.symbol import Symbol


def symbol_html(symbol: Symbol) -> str:
    """Return what a notebook shows of a Symbol, as HTML."""
    text: str = load("gluonish.symbol.symbol_html").symbol_html(symbol)
    return text


def attach() -> None:
    """Add the methods of `Symbol` that are defined in other modules."""
    methods: dict[str, Any] = {
        "__call__": compose,
        "__setstate__": symbol_from_state,
        "_bind": bind,  # MXNet 2.0's names
        "_repr_html_": symbol_html,
        "_simple_bind": simple_bind,
        "bind": bind,
        "debug_str": debug_str,
        "eval": evaluate_symbol,
        "get_backend_symbol": get_backend_symbol,
        "infer_shape": infer_shape,
        "infer_shape_partial": infer_shape_partial,
        "infer_type": infer_type,
        "infer_type_partial": infer_type_partial,
        "optimize_for": optimize_for,
        "save": save,
        "simple_bind": simple_bind,
        "split_v2": split_v2,
        "tojson": to_json,
    }
    for name, method in methods.items():
        setattr(Symbol, name, method)
    attach_methods(Symbol, method_names(), _operator_method)
    add_habits(Symbol, ARRAY)


def _operator_method(name: str) -> Callable[..., Any]:
    fluent, op = getattr(Fluent, name), find_operator(name)

    @functools.wraps(fluent)
    def method(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        if type(self) is not Symbol:  # with NumPy semantics
            return fluent(self, *args, **kwargs)
        return operator_function(name)(self, *args, **without_unset(op, kwargs))

    return method


attach()
