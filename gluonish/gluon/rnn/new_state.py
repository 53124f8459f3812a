"""new_state: one initial state of a recurrent layer or cell, by a function of the caller."""

from collections.abc import Callable, Mapping
from typing import Any

from gluonish.core.context import current_context
from gluonish.core.mxnet_rules import follows_mxnet2

_LEGACY = ("gluonish.ndarray", "gluonish.symbol")


def new_state(func: Callable[..., Any], name: str, info: Mapping[str, Any]) -> Any:
    """Call a function that makes an initial state; see `RecurrentCell.begin_state`.

    Args:
        func: The function. By the rules of MXNet 2.0 it gets shape, dtype and device, if it is none
            of ``nd`` or ``sym``.
        name: Name of the state.
        info: Shape, layout, dtype and other arguments.
    """
    if not follows_mxnet2() or (getattr(func, "__module__", None) or "").startswith(_LEGACY):
        return func(name=name, **info)
    options = {"dtype": "float32", "device": current_context(), **info}
    options.pop("__layout__", None)
    return func(**options)
