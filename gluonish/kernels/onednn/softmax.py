"""softmax and log_softmax along one axis, and their gradients.

Also reductions: sum, mean, maximum and minimum along axes.
"""

import math
from collections.abc import Sequence

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind
from gluonish.kernels.onednn.binding import (
    bind,
    channels_last,
    contiguous_layout,
    require,
    require_fast,
)
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound
from gluonish.ops.registry import Attrs

_ALGORITHMS = {False: AlgorithmKind.SOFTMAX_ACCURATE, True: AlgorithmKind.SOFTMAX_LOG}


def softmax(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan softmax along ``axis``.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("softmax", *outputs, *inputs)
    arrays = (*outputs, *inputs)
    return bind("softmax", _plan_forward, arrays, (attrs["axis"] % arrays[0].ndim, False))


def log_softmax(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the logarithm of softmax; see `softmax`."""
    require("log_softmax", *outputs, *inputs)
    arrays = (*outputs, *inputs)
    return bind("log_softmax", _plan_forward, arrays, (attrs["axis"] % arrays[0].ndim, True))


def softmax_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradient of the data of softmax, or with ``log`` of log_softmax.

    Args:
        inputs: The gradient of the result, and the result.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("softmax_backward", *outputs, *inputs)
    arrays = (*outputs, *inputs)
    kind = (attrs["axis"] % arrays[0].ndim, attrs["log"])
    return bind("softmax_backward", _plan_backward, arrays, kind)


def _layouts(engine: Engine, arrays: Sequence[Array], axis: int) -> tuple[list[Descriptor], int]:
    """Merge as many axes as possible; return the layouts, and the new index of ``axis``."""
    shape = arrays[0].shape
    length = shape[axis]
    if all(array.flags.c_contiguous for array in arrays):
        before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        merged: tuple[int, ...] = (before, length) if after == 1 else (before, length, after)
    elif axis == 1 and all(map(channels_last, arrays)):
        merged = (arrays[0].size // length, length)
    else:
        return [engine.describe(array) for array in arrays], axis
    return [contiguous_layout(engine, array, merged) for array in arrays], 1


def _forward(
    engine: Engine, out: Descriptor, data: Descriptor, axis: int, log: bool
) -> PrimitiveDescriptor:
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_softmax_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, _ALGORITHMS[log]),
        *(data.handle, out.handle, axis, engine.attributes),
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], kind: tuple[int, bool]) -> Plan:
    layouts, axis = _layouts(engine, arrays, kind[0])
    builder = Builder(engine)
    out, data = map(builder.operand, layouts)
    descriptor = _forward(engine, layouts[0], layouts[1], axis, kind[1])
    require_fast(descriptor)
    builder.step(descriptor, {Argument.SRC: data}, {Argument.DST: out})
    return builder.build()


def _plan_backward(engine: Engine, arrays: tuple[Array, ...], kind: tuple[int, bool]) -> Plan:
    layouts, axis = _layouts(engine, arrays, kind[0])
    hint = _forward(engine, layouts[2], layouts[2], axis, kind[1])
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_softmax_backward_primitive_desc_create",
        *(engine.handle, _ALGORITHMS[kind[1]], *(layout.handle for layout in layouts)),
        *(axis, hint.handle, engine.attributes),
    )
    require_fast(descriptor)
    builder = Builder(engine)
    target, grad, out = map(builder.operand, layouts)
    reads = {Argument.DIFF_DST: grad, Argument.DST: out}
    builder.step(descriptor, reads, {Argument.DIFF_SRC: target})
    return builder.build()


def reduction(out: Array, data: Array, axes: tuple[int, ...], algorithm: AlgorithmKind) -> Bound:
    """Plan a reduction of ``data`` along ``axes``; the operands are (out, data).

    Args:
        out: The result, contiguous.
        axes: The reduced axes, not negative.
        algorithm: The kind of reduction: one of ``REDUCTION_*``.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("reduction", out, data)
    return bind("reduction", _plan, (out, data), (axes, algorithm))


def _plan(
    engine: Engine, arrays: tuple[Array, ...], attributes: tuple[tuple[int, ...], AlgorithmKind]
) -> Plan:
    (out, data), (axes, algorithm) = arrays, attributes
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(data.shape))
    layouts = (engine.describe(data), contiguous_layout(engine, out, shape))
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_reduction_primitive_desc_create",
        *(engine.handle, algorithm, *(layout.handle for layout in layouts)),
        *(0.0, 0.0, engine.attributes),
    )
    require_fast(descriptor)
    builder = Builder(engine)
    target = builder.operand(layouts[1])
    source = builder.operand(layouts[0])
    builder.step(descriptor, {Argument.SRC: source}, {Argument.DST: target})
    return builder.build()
