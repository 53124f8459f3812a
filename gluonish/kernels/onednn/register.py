"""Helpers that register oneDNN's kernels, and load the library on first use.

The library is loaded when a call or a plan first looks up a kernel, with the values that
``MXNET_MKLDNN_ENABLED``, ``MXNET_LIBRARY_PATH``, ``MXNET_MKLDNN_CACHE_NUM`` and
``MXNET_CPU_TEMP_COPY`` have then. Predicates check specs only; if the library does not support the
arrays, because of their layout or otherwise, the next kernel is tried.
"""

from typing import Any

from gluonish.core.config import (
    MXNET_CPU_TEMP_COPY,
    MXNET_LIBRARY_PATH,
    MXNET_MKLDNN_CACHE_NUM,
    MXNET_MKLDNN_ENABLED,
)
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels import onednn
from gluonish.kernels.openmp import load_settings
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Operator

# A signal handler that interrupts loading loads the library, too: the back end in use is replaced
# by one assignment, and plans hold the library that they were made with.
_turn = TimeoutLock()
_loaded: list[bool] = []


def enabled() -> bool:
    """Whether oneDNN is switched on and available; the first call loads it."""
    if not MXNET_MKLDNN_ENABLED.value:
        return False
    if not _loaded:
        with _turn, load_settings():
            if not _loaded:
                found = onednn.load(
                    MXNET_LIBRARY_PATH.value or None,
                    cache_capacity=MXNET_MKLDNN_CACHE_NUM.value,
                    workspaces=MXNET_CPU_TEMP_COPY.value,
                )
                _loaded.append(found.backend is not None)
    return _loaded[0]


def planned(*rows: tuple[Any, ...]) -> tuple[tuple[Operator, FastKernel], ...]:
    """Return operators with their kernels, for kernels that consist of a plan.

    Args:
        *rows: Operator, name of the kernel, predicate, function that plans and, if the operator
            has outputs with dtypes other than the inputs', a tuple of these dtypes.
    """
    return tuple(
        (
            op,
            FastKernel(
                *(BackEnd.ONEDNN, name, supports),
                plan=plan,
                enabled=enabled,
                makes=makes[0] if makes else (),
            ),
        )
        for op, name, supports, plan, *makes in rows
    )
