"""What a Symbol can do beyond its structure, attached to the class.

Composition, inference, evaluation, files.
"""

from typing import Any

from gluonish.symbol.backend import get_backend_symbol, optimize_for
from gluonish.symbol.binding import bind, simple_bind
from gluonish.symbol.composition import compose, evaluate_symbol
from gluonish.symbol.creation import split_v2
from gluonish.symbol.debug import debug_str
from gluonish.symbol.files import save, symbol_from_state, to_json
from gluonish.symbol.shapes import infer_shape, infer_shape_partial, infer_type, infer_type_partial
from gluonish.symbol.symbol import Symbol

__all__ = ["attach"]


def attach() -> None:
    """Give `Symbol` its methods."""
    methods: dict[str, Any] = {
        "__call__": compose,
        "__setstate__": symbol_from_state,
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


attach()
