"""Concatenation of arrays along an axis, and copies between layouts and dtypes."""

import ctypes
from collections.abc import Sequence

from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.binding import bind, require, source
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import signature
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound
from gluonish.ops.registry import Attrs


def concat(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the concatenation of inputs along the axis ``dim``.

    Raises:
        RefusedError: The library does not support these arrays.
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


def supports_reorder(out: Array, data: Array) -> bool:
    """Whether `reorder` supports these arrays.

    The arrays need equal shapes of 1 to 12 axes, supported dtypes, which may differ, and layouts
    that can be described.
    """
    same_shape = out.shape == data.shape and 1 <= out.ndim <= 12
    return same_shape and supported(out) and supported(data)


def reorder(out: Array, data: Array) -> None:
    """Copy ``data`` into ``out``, element by element.

    Raises:
        OneDNNError: The library does not support the arrays.
    """
    plans = current().plans
    key = ("reorder", signature(out), signature(data))
    plans.get(key, _plan_reorder, out, data).run(out, data)


def _plan_reorder(engine: Engine, out: Array, data: Array) -> Plan:
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    builder.reorder(builder.operand(engine.describe(data)), target)
    return builder.build()
