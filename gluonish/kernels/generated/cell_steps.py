"""One step of a recurrent cell that runs imperatively, with the kernels of the RNN operator."""

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


def _run(kernel: CompiledKernel, shape: tuple[int, int], *words: Any) -> None:
    """Run a kernel on a state of some shape.

    Args:
        shape: (N, H).
        *words: Arrays and strides; the kernel gets H behind them.

    Raises:
        RefusedError: An array lies in another order than that of its shape.
    """
    found = []
    for word in words:
        if isinstance(word, int):
            found.append(word)
        elif word.flags.c_contiguous:
            found.append(address(word))
        else:
            raise RefusedError(f"cell step: expected arrays in order, got strides {word.strides}")
    n, units = shape
    own = (c_int64 * (len(found) + 1))(*found, units)
    kernel.run_at(n, addressof(own), max(1, ROW_ELEMENTS // units))


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
    # The kernel has a gradient from above, and one from the step behind.
    behind, stride = np.zeros(before.shape, np.float32), before.shape[1]
    words = (gates, cells, after, d_hidden, stride, behind, before, both)
    _run(step_backward("lstm"), before.shape, *words)


def _gru(xp: ModuleType, out: Any, i2h: Any, h2h: Any, hidden: Any) -> None:
    after, gates = out
    _run(step_forward("gru"), hidden.shape, i2h, h2h, gates, hidden, after)


def _gru_backward(
    xp: ModuleType, out: Any, d_after: Any, i2h: Any, h2h: Any, hidden: Any, gates: Any
) -> None:
    d_i2h, d_h2h, before = out
    before[...] = 0
    words = (gates, hidden, d_after, before.shape[1], before, d_i2h, d_h2h)
    _run(step_backward("gru"), before.shape, *words)


def _takes(*specs: Spec) -> bool:
    return specs[0].dtype == FLOAT32 and specs[0].size > 0


KERNELS = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED,
            op.name.lstrip("_"),
            _takes,
            run=run,
            enabled=available,
            alone=3 * ROW_ELEMENTS,
        ),
    )
    for op, run in (
        (LSTM_STEP, _lstm),
        (LSTM_STEP_BACKWARD, _lstm_backward),
        (GRU_STEP, _gru),
        (GRU_STEP_BACKWARD, _gru_backward),
    )
)
