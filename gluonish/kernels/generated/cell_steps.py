"""One time step of an imperative recurrent cell, with the kernels of the RNN operator."""

from ctypes import addressof, c_int64
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available
from gluonish.kernels.generated.rnn_steps import ROW_ELEMENTS, step_backward, step_forward
from gluonish.ops.kernel import BackEnd, FastKernel, RefusedError, address
from gluonish.ops.recurrent.cell_steps import (
    GRU_STEP,
    GRU_STEP_BACKWARD,
    LSTM_STEP,
    LSTM_STEP_BACKWARD,
)


def _run(kernel: CompiledKernel, shape: tuple[int, int], *args: Any) -> None:
    """Run a kernel on a state of shape (N, H); params are the arrays and strides, then H.

    Raises:
        RefusedError: An array is not contiguous.
    """
    params = []
    for arg in args:
        if isinstance(arg, int):
            params.append(arg)
        elif arg.flags.c_contiguous:
            params.append(address(arg))
        else:
            raise RefusedError(f"cell step: expected contiguous arrays, got strides {arg.strides}")
    n, units = shape
    buffer = (c_int64 * (len(params) + 1))(*params, units)
    kernel.run_at(n, addressof(buffer), max(1, ROW_ELEMENTS // units))


def _lstm(xp: ModuleType, out: Any, i2h: Any, h2h: Any, cells: Any) -> None:
    hidden, after, gates = out
    np.add(i2h, h2h, out=gates)
    _run(step_forward("lstm"), cells.shape, gates, cells, after, hidden)


def _lstm_backward(
    xp: ModuleType,
    out: Any,
    d_hidden: Any,
    d_after: Any,
    i2h: Any,
    h2h: Any,
    cells: Any,
    gates: Any,
    after: Any,
) -> None:
    both, before = out
    before[...] = d_after
    # The kernel adds gradients from the layer above and from the next time step.
    from_next, stride = np.zeros(before.shape, np.float32), before.shape[1]
    params = (gates, cells, after, d_hidden, stride, from_next, before, both)
    _run(step_backward("lstm"), before.shape, *params)


def _gru(xp: ModuleType, out: Any, i2h: Any, h2h: Any, hidden: Any) -> None:
    after, gates = out
    _run(step_forward("gru"), hidden.shape, i2h, h2h, gates, hidden, after)


def _gru_backward(
    xp: ModuleType, out: Any, d_after: Any, i2h: Any, h2h: Any, hidden: Any, gates: Any
) -> None:
    d_i2h, d_h2h, before = out
    before[...] = 0
    params = (gates, hidden, d_after, before.shape[1], before, d_i2h, d_h2h)
    _run(step_backward("gru"), before.shape, *params)


def _supports(*specs: Spec) -> bool:
    return specs[0].dtype == FLOAT32 and specs[0].size > 0


KERNELS = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED,
            op.name.lstrip("_"),
            _supports,
            run=run,
            enabled=available,
            serial_limit=3 * ROW_ELEMENTS,
        ),
    )
    for op, run in (
        (LSTM_STEP, _lstm),
        (LSTM_STEP_BACKWARD, _lstm_backward),
        (GRU_STEP, _gru),
        (GRU_STEP_BACKWARD, _gru_backward),
    )
)
