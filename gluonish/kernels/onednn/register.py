"""oneDNN's kernels, each with the operator that it serves.

The library is loaded when a call or a plan first asks for a kernel, as ``MXNET_MKLDNN_ENABLED``,
``MXNET_LIBRARY_PATH``, ``MXNET_MKLDNN_CACHE_NUM`` and ``MXNET_CPU_TEMP_COPY`` then say. Predicates
see specs only; what the library refuses in spite of them, or arrays laid out in a way it does not
know, go to the next kernel.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gluonish.core.config import (
    MXNET_CPU_TEMP_COPY,
    MXNET_LIBRARY_PATH,
    MXNET_MKLDNN_CACHE_NUM,
    MXNET_MKLDNN_ENABLED,
    MXNET_USE_MKLDNN_RNN,
    LoadEnvironment,
)
from gluonish.core.dtype import FLOAT32, UINT8
from gluonish.core.turn import Turn
from gluonish.kernels import onednn
from gluonish.kernels.onednn import (
    register_arithmetic,
    register_direct,
    register_normalization,
    register_products,
    register_windows,
)
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.normalization.batch_norm_relu import BATCH_NORM_RELU
from gluonish.ops.recurrent.fused_rnn import FUSED_RNN
from gluonish.ops.recurrent.rnn import RNN
from gluonish.ops.registry import Operator

__all__ = ["HIDDEN", "KERNELS", "enabled"]

# How often a thread of libgomp looks for work before it sleeps. Its default is ten times as much,
# with which threads spin against each other on a busy machine: three processes beside it on two
# cores, the demo's small steps took 1.5 times as long (medians of three runs each).
_SPIN_COUNT = "30000"


# Who asks in the middle of loading, as a handler may, loads as well: what is in use is replaced as
# a whole, and plans keep the library that they were made with.
_turn = Turn()
_loaded: list[bool] = []


def enabled() -> bool:
    """Whether oneDNN is switched on and there; loads it at the first call."""
    if not MXNET_MKLDNN_ENABLED.value:
        return False
    if not _loaded:
        with _turn, LoadEnvironment("OMP_WAIT_POLICY", GOMP_SPINCOUNT=_SPIN_COUNT):
            if not _loaded:
                found = onednn.load(
                    MXNET_LIBRARY_PATH.value or None,
                    cache_capacity=MXNET_MKLDNN_CACHE_NUM.value,
                    workspaces=MXNET_CPU_TEMP_COPY.value,
                )
                _loaded.append(found.backend is not None)
    return _loaded[0]


def _recurrent() -> bool:
    return MXNET_USE_MKLDNN_RNN.value and enabled()


# Dtypes of what operators keep for their gradients, beside results in the dtype of the data.
HIDDEN: Mapping[Operator, tuple[np.dtype[Any], ...]] = {
    BATCH_NORM_RELU: (UINT8,),
    FUSED_RNN: (FLOAT32,),
    RNN: (FLOAT32,),
}


def _planned() -> Iterator[tuple[Operator, FastKernel]]:
    """Yield the kernels that are one plan each; a table a family says what they take."""
    for op, name, takes, plan in (
        *register_arithmetic.KERNELS,
        *register_normalization.KERNELS,
        *register_products.KERNELS,
        *register_windows.KERNELS,
    ):
        makes = HIDDEN.get(op, ())
        yield op, FastKernel(BackEnd.ONEDNN, name, takes, plan=plan, enabled=enabled, makes=makes)


def _direct() -> Iterator[tuple[Operator, FastKernel]]:
    """Yield the kernels that are no single plan."""
    for op, name, takes, run in register_direct.KERNELS:
        is_on = _recurrent if op in register_direct.RECURRENT else enabled
        makes = HIDDEN.get(op, ())
        yield op, FastKernel(BackEnd.ONEDNN, name, takes, run=run, enabled=is_on, makes=makes)


# The direct ones are preferred.
KERNELS = (*_direct(), *_planned())
