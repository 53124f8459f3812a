"""Running the loops of recurrent layers; see `rnn_loops`.

AMX multiplies where it is faster. If the parts of a state are not exact, which is rare, the time
steps that are left run with products of float32.
"""

from ctypes import addressof, c_int64
from typing import Any

import numpy as np

from gluonish.kernels import openmp
from gluonish.kernels.compiler.amx_code import has_amx
from gluonish.kernels.generated.attention_panels import FLOAT
from gluonish.kernels.generated.rnn_loops import BACKWARD, FLAGS, FORWARD, ROWS, Form, kernel
from gluonish.kernels.generated.rnn_products import Layout
from gluonish.kernels.generated.scratch import Scratch
from gluonish.kernels.generated.split_blocks import Packing, is_exact, packing
from gluonish.ops.kernel import address
from gluonish.ops.recurrent.layout import GATES

# Units and mean rows of a block from which AMX is faster.
_SPLIT_UNITS, _SPLIT_ROWS = 128, 24
_WORTH = 1 << 18  # multiplications of a time step for each thread


def run(
    mode: str,
    sizes: tuple[int, int, int],
    order: range,
    *,
    backward: bool,
    **operands: Any,
) -> None:
    """Run all time steps.

    Args:
        mode: The kind of the cells.
        sizes: Time steps, batch size and units.
        order: The time steps in the order of the forward pass.
        backward: Whether to compute gradients.
        **operands: The other params, by the names in this module.
    """
    if _is_split(mode, *sizes[1:]):
        done = _run_split(Form(mode, backward, split=True), sizes, order, operands)
        if done is None:
            return
        order, operands = _rest(mode, order, done, operands, backward=backward)
        sizes = (len(order), *sizes[1:])
    form = Form(mode, backward)
    with Scratch(form.packed_nbytes(sizes[2]) // FLOAT) as memory:
        _launch(form, sizes, order, {**operands, "packed": memory})


def _is_split(mode: str, batch: int, units: int) -> bool:
    """Whether AMX is faster, although it computes whole blocks of rows."""
    return (
        GATES[mode] > 1  # else the packed weight is small
        and units >= _SPLIT_UNITS
        and batch >= _SPLIT_ROWS * -(-batch // ROWS)
        and has_amx()
    )


def _run_split(
    form: Form, sizes: tuple[int, int, int], order: range, operands: dict[str, Any]
) -> int | None:
    """Run time steps while the parts of the states are exact; return how many if not all."""
    steps, batch, units = sizes
    layout, weight = Layout(form.gates, form.backward, batch, units), operands["weight"]
    assert isinstance(weight, np.ndarray)
    stages = steps + 1 + form.backward
    tops = np.zeros(stages + 1, np.int64)  # the last one is the stage that all threads stopped at
    with Scratch(layout.weight_size + layout.state_size) as memory:
        if not all(map(is_exact, layout.pack(memory, weight))):
            return 0
        pack = packing(Packing(left=True, by_terms=True)).address
        state = memory[layout.weight_size :]
        more = {"packed": memory, "state": state, "tops": tops, "pack": pack}
        _launch(form, sizes, order, {**operands, **more})
    stopped = int(tops[-1])
    return stopped - 1 if stopped else None


def _rest(
    mode: str, order: range, done: int, operands: dict[str, Any], *, backward: bool
) -> tuple[range, dict[str, Any]]:
    """Return the time steps that are left, and operands for these alone."""
    found = dict(operands)
    if done and backward:
        left = found["other" if mode == "gru" else "products"][order[-done]]
        product = left @ found["weight"]
        found["dh"][...] = found["dh"] + product if mode == "gru" else product
    elif done:
        for name in ("hidden", "cells"):
            if name in found:
                found[f"{name}_first"] = found[name][order[done - 1]]
    return (order[: len(order) - done] if backward else order[done:]), found


def _launch(
    form: Form,
    sizes: tuple[int, int, int],
    order: range,
    operands: dict[str, Any],
) -> None:
    """Call the kernel of a form."""
    _, batch, units = sizes
    blocks = form.blocks(batch, units)
    work = np.zeros(FLAGS + blocks + 1, np.int64)
    threads = min(_threads(form, batch, units), blocks)
    values: dict[str, Any] = {"work": work, "threads": threads, **operands}
    values.update(zip(("steps", "batch", "units"), sizes, strict=True))
    values.update(start=order.start, stride=order.step, yielding=openmp.yield_address())
    names = (BACKWARD if form.backward else FORWARD).split()
    found = [values.get(name, 0) for name in names]
    params = (c_int64 * len(names))(*(x if isinstance(x, int) else address(x) for x in found))
    kernel(form).run_threads(threads, addressof(params))


def _threads(form: Form, batch: int, units: int) -> int:
    """Return the number of threads, each with enough multiplications in a time step."""
    if openmp.is_disabled():
        return 1
    work = form.gates * units * units * batch
    return max(1, min(openmp.team().threads(), work // _WORTH))
