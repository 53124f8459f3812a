"""Signatures of ``mx.np`` operators, which are set when the operators are created."""

from typing import Any

import gluonish.numpy as _np
import gluonish.numpy_extension as _npx

__all__: list[str] = []


def _get_builtin_op(op_name: str) -> Any:
    """Look up the function of an operator of ``mx.np`` or ``mx.npx``; None if there is none.

    Args:
        op_name: Name of the operator: ``_np_sum``, ``_npx_relu``.
    """
    for prefix, module in (("_npx_", _npx), ("_np_", _np)):
        if op_name.startswith(prefix):
            return getattr(module, op_name[len(prefix) :], None)
    return None


def _register_op_signatures() -> None:
    """Do nothing: operators are created with signature and docstring."""
