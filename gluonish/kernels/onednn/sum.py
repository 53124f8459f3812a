"""Weighted sums of arrays of one shape."""

import ctypes
from collections.abc import Sequence

from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.binding import bind, require, source
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound

__all__ = ["sum_step", "weighted_sum"]


def weighted_sum(out: Array, arrays: Sequence[Array], scales: Sequence[float]) -> Bound:
    """Plan for the sum of ``arrays``, each times its scale, on operands (out, *arrays).

    Args:
        out: To be filled; it may be the first of ``arrays``.
        arrays: The shape and dtype of ``out``.
        scales: One for each array.

    Raises:
        RefusedError: The library does not take these arrays.
    """
    require("sum", out, *arrays)
    return bind("sum", _plan, (out, *arrays), tuple(scales))


def sum_step(
    engine: Engine, builder: Builder, slots: Sequence[Slot], out: Slot, scales: Sequence[float]
) -> None:
    """Add the sum to a plan; ``out`` may be the first of ``slots``."""
    count = len(slots)
    layouts = [slot.layout for slot in slots]
    handles = (ctypes.c_void_p * count)(*(layout.handle for layout in layouts))
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_sum_primitive_desc_create",
        *(engine.handle, out.layout.handle, count, (ctypes.c_float * count)(*scales), handles),
        engine.attributes,
    )
    reads = {source(i): slot for i, slot in enumerate(slots)}
    builder.step(descriptor, reads, {Argument.DST: out})


def _plan(engine: Engine, arrays: tuple[Array, ...], scales: tuple[float, ...]) -> Plan:
    builder = Builder(engine)
    out, *slots = (builder.operand(engine.describe(array)) for array in arrays)
    sum_step(engine, builder, slots, out, scales)
    return builder.build()
