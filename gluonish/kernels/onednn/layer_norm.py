"""Layer normalization over the last axis: forward and backward.

The library normalizes rows of float32 or bfloat16 with statistics, gamma and beta in float32; the
plan converts the operator's if they are bfloat16. The library computes the variance, and the
operator the standard deviation; additional steps of the plan convert between them.
"""

from collections.abc import Sequence

from gluonish.kernels.onednn.api import (
    AlgorithmKind,
    Argument,
    DataType,
    NormalizationFlag,
    PropagationKind,
)
from gluonish.kernels.onednn.binding import bind, contiguous_layout, require, single_thread
from gluonish.kernels.onednn.eltwise import chain_step
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.primitive import Eltwise, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError
from gluonish.ops.registry import Attrs

_ROOT = Eltwise(AlgorithmKind.ELTWISE_SQRT)
_SQUARE = Eltwise(AlgorithmKind.ELTWISE_SQUARE)
_AFFINE = NormalizationFlag.USE_SCALE | NormalizationFlag.USE_SHIFT


def layer_norm(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward pass.

    Args:
        outputs: out (*, C), mean and standard deviation (*, 1).
        inputs: data (*, C), gamma and beta (C,).

    Raises:
        RefusedError: The axis is not the last one, or an array is not contiguous.
    """
    arrays = (*outputs, *inputs)
    _require("layer_norm", inputs[0], attrs["axis"], (outputs[0], inputs[0]), arrays)
    return bind("layer_norm", _plan_forward, arrays, attrs["eps"])


def layer_norm_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradients of data, gamma and beta.

    Args:
        inputs: Gradient of the output and data (*, C), gamma (C,), mean and standard deviation
            (*, 1).

    Raises:
        RefusedError: The axis is not the last one, or an array is not contiguous.
    """
    arrays = (*outputs, *inputs)
    rows = (outputs[0], *inputs[:2])
    _require("layer_norm_backward", inputs[1], attrs["axis"], rows, arrays)
    return bind("layer_norm_backward", _plan_backward, arrays)


def _require(
    name: str, data: Array, axis: int, rows: Sequence[Array], arrays: Sequence[Array]
) -> None:
    """Check that the arrays of rows share a dtype, and all other arrays share a dtype."""
    require(name, *rows)
    require(name, *(array for array in arrays if not any(array is row for row in rows)))
    if axis % data.ndim != data.ndim - 1 or not all(a.flags.c_contiguous for a in arrays):
        raise RefusedError(
            f"{name}: expected contiguous arrays and the last axis, got axis {axis} of "
            f"{data.shape} and strides {[array.strides for array in arrays]}"
        )


def _statistics(engine: Engine, rows: int) -> Descriptor:
    return Descriptor.strided(engine.api, (rows,), (1,), DataType.F32)


def _forward(engine: Engine, out: Slot, data: Slot, rows: int, eps: float) -> PrimitiveDescriptor:
    statistics = _statistics(engine, rows)
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_layer_normalization_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING),
        *(data.layout.handle, out.layout.handle, statistics.handle),
        *(eps, _AFFINE, engine.attributes),
    )


def _slots(
    engine: Engine, builder: Builder, arrays: Sequence[Array], rows: int, matrices: Sequence[int]
) -> list[Slot]:
    """Add an operand for each array: a matrix if its index is in ``matrices``, else a vector."""
    shapes = [(rows, a.size // rows) if i in matrices else (a.size,) for i, a in enumerate(arrays)]
    layouts = (contiguous_layout(engine, *pair) for pair in zip(arrays, shapes, strict=True))
    return [builder.operand(layout) for layout in layouts]


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], eps: float) -> Plan:
    units = arrays[4].size
    rows = arrays[0].size // units
    builder = Builder(engine)
    out, mean, std, data, gamma, beta = _slots(engine, builder, arrays, rows, (0, 3))
    variance = builder.temporary()
    builder.step(
        _forward(engine, out, data, rows, eps),
        {Argument.SRC: data, Argument.SCALE: gamma, Argument.SHIFT: beta},
        {Argument.DST: out, Argument.MEAN: mean, Argument.VARIANCE: variance},
    )
    with single_thread(engine):
        root = (Eltwise(AlgorithmKind.ELTWISE_LINEAR, 1.0, eps), _ROOT)
        chain_step(engine, builder, variance, std, root)
    return builder.build()


def _plan_backward(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    units = arrays[1].size
    rows = arrays[0].size // units
    builder = Builder(engine)
    slots = _slots(engine, builder, arrays, rows, (0, 3, 4))
    target, dgamma, dbeta, grad, data, gamma, mean, std = slots
    variance = builder.temporary()
    variance.descriptor = _statistics(engine, rows)
    with single_thread(engine):
        # The library computes the standard deviation from this variance and eps 0.
        chain_step(engine, builder, std, variance, (_SQUARE,))
    hint = _forward(engine, target, data, rows, 0.0)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_layer_normalization_backward_primitive_desc_create",
        *(engine.handle, PropagationKind.BACKWARD),
        *(slot.layout.handle for slot in (target, grad, data)),
        *(variance.layout.handle, 0.0, _AFFINE, hint.handle, engine.attributes),
    )
    builder.step(
        descriptor,
        {
            Argument.DIFF_DST: grad,
            Argument.SRC: data,
            Argument.SCALE: gamma,
            Argument.SHIFT: gamma,  # required by the library, but not read
            Argument.MEAN: mean,
            Argument.VARIANCE: variance,
        },
        {
            Argument.DIFF_SRC: target,
            Argument.DIFF_SCALE: dgamma,
            Argument.DIFF_SHIFT: dbeta,
        },
    )
    return builder.build()
