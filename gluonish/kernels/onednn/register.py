"""What oneDNN's kernels have in common where operators get them: the library is there, and is on.

The library is loaded when a call or a plan first asks for a kernel, as ``MXNET_MKLDNN_ENABLED``,
``MXNET_LIBRARY_PATH``, ``MXNET_MKLDNN_CACHE_NUM`` and ``MXNET_CPU_TEMP_COPY`` then say. Predicates
see specs only; what the library refuses in spite of them, or arrays laid out in a way it does not
know, go to the next kernel.
"""

from typing import Any

from gluonish.core.config import (
    MXNET_CPU_TEMP_COPY,
    MXNET_LIBRARY_PATH,
    MXNET_MKLDNN_CACHE_NUM,
    MXNET_MKLDNN_ENABLED,
    LoadEnvironment,
)
from gluonish.core.timeout_lock import Turn
from gluonish.kernels import onednn
from gluonish.kernels.openmp import SPIN_COUNT
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Operator

# Who asks in the middle of loading, as a handler may, loads as well: what is in use is replaced as
# a whole, and plans keep the library that they were made with.
_turn = Turn()
_loaded: list[bool] = []


def enabled() -> bool:
    """Whether oneDNN is switched on and there; loads it at the first call."""
    if not MXNET_MKLDNN_ENABLED.value:
        return False
    if not _loaded:
        with _turn, LoadEnvironment("OMP_WAIT_POLICY", GOMP_SPINCOUNT=SPIN_COUNT):
            if not _loaded:
                found = onednn.load(
                    MXNET_LIBRARY_PATH.value or None,
                    cache_capacity=MXNET_MKLDNN_CACHE_NUM.value,
                    workspaces=MXNET_CPU_TEMP_COPY.value,
                )
                _loaded.append(found.backend is not None)
    return _loaded[0]


def planned(*rows: tuple[Any, ...]) -> tuple[tuple[Operator, FastKernel], ...]:
    """Return kernels that are one plan each, with their operators.

    Args:
        *rows: Operator, name of the kernel, what it takes, the function that plans, and where the
            operator keeps something for its gradient in a dtype that is not the data's, a tuple of
            such dtypes.
    """
    return tuple(
        (
            op,
            FastKernel(
                *(BackEnd.ONEDNN, name, takes),
                plan=plan,
                enabled=enabled,
                makes=makes[0] if makes else (),
            ),
        )
        for op, name, takes, plan, *makes in rows
    )
