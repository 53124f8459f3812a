"""Several arrays beside each other along an axis."""

import ctypes
from collections.abc import Sequence

from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.binding import bind, require, source
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound
from gluonish.ops.registry import Attrs

__all__ = ["concat"]


def concat(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan for the arrays beside each other.

    Args:
        outputs: The result, to be filled.
        inputs: The arrays.
        attrs: ``dim``, the axis.

    Returns:
        The plan, for (out, *inputs).

    Raises:
        RefusedError: The library does not take these arrays.
    """
    arrays = (*outputs, *inputs)
    require("concat", *arrays)
    return bind("concat", _plan, arrays, attrs["dim"] % arrays[0].ndim)


def _plan(engine: Engine, arrays: tuple[Array, ...], axis: int) -> Plan:
    layouts = [engine.describe(array) for array in arrays]
    count = len(arrays) - 1
    handles = (ctypes.c_void_p * count)(*(layout.handle for layout in layouts[1:]))
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_concat_primitive_desc_create",
        *(engine.handle, layouts[0].handle, count, axis, handles, engine.attributes),
    )
    builder = Builder(engine)
    out, *slots = map(builder.operand, layouts)
    reads = {source(i): slot for i, slot in enumerate(slots)}
    builder.step(descriptor, reads, {Argument.DST: out})
    return builder.build()
