"""AdamW updates of ``sym.contrib``; the gradient's scale is a number or a Symbol."""

from typing import Any

from gluonish.ops.support.adam_functions import AdamFunctions
from gluonish.symbol.creation import full
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.symbol import Symbol


def _operator(name: str) -> Any:
    compose = operator_function(name)
    return lambda *inputs, out, **attrs: compose(*inputs, **attrs)  # only arrays can be filled


def _scale(rescale_grad: Symbol | float, weight: Symbol) -> Symbol:
    """Return the gradient's factor as a Symbol."""
    del weight
    return rescale_grad if isinstance(rescale_grad, Symbol) else full((1,), rescale_grad)


_FUNCTIONS = AdamFunctions(_operator, _scale)
adamw_update = _FUNCTIONS.adamw_update
mp_adamw_update = _FUNCTIONS.mp_adamw_update
