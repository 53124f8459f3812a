"""Signatures of the operators of ``mx.np``, which they have from the start."""

from typing import Any

import gluonish.numpy as _np
import gluonish.numpy_extension as _npx

__all__: list[str] = []


def _get_builtin_op(op_name: str) -> Any:
    """Return the function of an operator of ``mx.np`` or ``mx.npx``, or None.

    Args:
        op_name: Its name: ``_np_sum``, ``_npx_relu``.
    """
    for prefix, module in (("_npx_", _npx), ("_np_", _np)):
        if op_name.startswith(prefix):
            return getattr(module, op_name[len(prefix) :], None)
    return None


def _register_op_signatures() -> None:
    """Do nothing: every operator has its signature and docstring when it is made."""
