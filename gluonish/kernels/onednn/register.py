"""oneDNN's kernels on the operators that they serve: importing this module hangs them on.

The library is loaded when a call or a plan first asks for a kernel, as ``MXNET_MKLDNN_ENABLED``,
``MXNET_LIBRARY_PATH``, ``MXNET_MKLDNN_CACHE_NUM`` and ``MXNET_CPU_TEMP_COPY`` then say. Predicates
see specs only; what the library refuses in spite of them, or arrays laid out in a way it does not
know, go to the reference kernel, and `refusals` counts them.
"""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
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
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.onednn.plan import Bound
from gluonish.kernels.refusals import note_refusal, refusals
from gluonish.ops.batch_norm_relu import BATCH_NORM_RELU
from gluonish.ops.fused_rnn import FUSED_RNN
from gluonish.ops.registry import Attrs, FastKernel, Operator
from gluonish.ops.rnn import RNN

__all__ = ["enabled", "hang", "refusals", "serve"]

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


def _with_fallback(op: Operator, name: str, kernel: Callable[..., None]) -> Callable[..., None]:
    """Return a kernel that hands what the library refuses to the reference kernel, and counts it.

    What fails in the library is an error like any other.
    """
    reference = op.kernel

    def run(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        try:
            kernel(xp, out, *inputs, **attrs)
        except RefusedError as error:
            note_refusal(name, error)
            reference(xp, out, *inputs, **attrs)

    return run


def serve(
    op: Operator,
    name: str,
    takes: Callable[..., bool],
    plan: Callable[[Sequence[Any], Sequence[Any], Attrs], Bound],
) -> None:
    """Hang a kernel that is one plan on an operator, in front of those that are there.

    Args:
        op: The operator.
        name: The kernel's, without the library.
        takes: Called with the input specs and the attributes; True if the kernel can run them.
        plan: Called with the outputs, the inputs and the attributes; finds or builds the plan.
            It raises RefusedError for arrays that the library cannot take.
    """

    def kernel(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        outputs = (out,) if op.single else out
        arrays = (*outputs, *inputs)
        bound = plan(outputs, inputs, attrs)
        bound.plan.run(*[arrays[i] for i in bound.operands])

    run = _with_fallback(op, name, kernel)
    makes = HIDDEN.get(op, ())
    fast = FastKernel(f"onednn.{name}", takes, run, enabled, plan, makes=makes)
    op.hang(fast)


# A table a family: operator, name of the kernel, what it takes, and its plan.
PLANNED = (
    *register_arithmetic.KERNELS,
    *register_normalization.KERNELS,
    *register_products.KERNELS,
    *register_windows.KERNELS,
)


# Dtypes of what operators keep for their gradients, beside results in the dtype of the data.
HIDDEN: Mapping[Operator, tuple[np.dtype[Any], ...]] = {
    BATCH_NORM_RELU: (UINT8,),
    FUSED_RNN: (FLOAT32,),
    RNN: (FLOAT32,),
}


def hang() -> None:
    """Hang the kernels on their operators, in front of those that are there."""
    for row in PLANNED:
        serve(*row)
    for op, name, takes, kernel in register_direct.KERNELS:
        is_on = _recurrent if op in register_direct.RECURRENT else enabled
        run = _with_fallback(op, name, kernel)
        fast = FastKernel(name, takes, run, is_on, makes=HIDDEN.get(op, ()))
        op.hang(fast)


hang()
