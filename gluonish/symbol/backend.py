"""Symbol.optimize_for and get_backend_symbol.

A graph is partitioned for oneDNN when a plan is made, whoever asks: what these return computes
with the same kernels as the Symbol itself.
"""

import logging
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.symbol.symbol import Symbol

__all__ = ["get_backend_symbol", "optimize_for"]

_BACKENDS = ("MKLDNN", "MKLDNN_QUANTIZE", "ONEDNN", "ONEDNN_QUANTIZE", "default")

_LOG = logging.getLogger("gluonish")


def get_backend_symbol(self: Symbol, backend: str) -> Symbol:
    """Return the graph as a back end takes it.

    Args:
        self: The graph.
        backend: Name of the back end.

    Raises:
        ArgumentError: if there is no such back end.
    """
    if backend not in _BACKENDS:
        raise ArgumentError(
            f"get_backend_symbol: expected a backend among {_BACKENDS}, got {backend!r}"
        )
    return type(self)(self._values)


def optimize_for(
    self: Symbol,
    backend: str,
    args: Any = None,
    aux: Any = None,
    ctx: Any = None,
    shape_dict: Any = None,
    type_dict: Any = None,
    stype_dict: Any = None,
    skip_infer: bool = False,
    **kwargs: Any,
) -> Symbol:
    """Return the graph as a back end takes it; one that is not there leaves a line in the log.

    Args:
        self: The graph.
        backend: Name of the back end.
        args: Arrays by name; accepted.
        aux: Auxiliary states by name; accepted.
        ctx: Device; accepted.
        shape_dict: Shapes by name; accepted.
        type_dict: Dtypes by name; accepted.
        stype_dict: Storage types by name; accepted.
        skip_infer: Accepted.
        **kwargs: Options of the back end; accepted.
    """
    if backend not in _BACKENDS:
        _LOG.warning(
            "optimize_for: expected a backend among %s, got %r; the graph stays as it is",
            *(_BACKENDS, backend),
        )
    return type(self)(self._values)
