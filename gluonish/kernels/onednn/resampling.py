"""Nearest-neighbour scaling by integer factors: forward and backward.

The library's bilinear scaling has no operator: MXNet's UpSampling with sample_type='bilinear' is a
deconvolution, with other results at the borders.
"""

from collections.abc import Sequence

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind
from gluonish.kernels.onednn.binding import bind, require, require_fast
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound
from gluonish.ops.registry import Attrs


def nearest(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward of one input; the factors follow from the shapes.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    arrays = (*outputs, *inputs)
    require("nearest", *arrays)
    return bind("nearest", _plan_forward, arrays)


def nearest_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradient of the data, from the gradient of the output.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    arrays = (*outputs, *inputs)
    require("nearest_backward", *arrays)
    return bind("nearest_backward", _plan_backward, arrays)


def _forward(engine: Engine, out: Array, data: Array) -> PrimitiveDescriptor:
    layouts = engine.common_layouts(data, out)
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_resampling_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, AlgorithmKind.RESAMPLING_NEAREST),
        *(None, *(layout.handle for layout in layouts), engine.attributes),
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    builder = Builder(engine)
    out, data = (builder.operand(engine.describe(array)) for array in arrays)
    descriptor = _forward(engine, arrays[0], arrays[1])
    require_fast(descriptor)
    builder.step(descriptor, {Argument.SRC: data}, {Argument.DST: out})
    return builder.build()


def _plan_backward(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    out, grad = arrays
    hint = _forward(engine, grad, out)
    layouts = engine.common_layouts(out, grad)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_resampling_backward_primitive_desc_create",
        *(engine.handle, AlgorithmKind.RESAMPLING_NEAREST, None),
        *(*(layout.handle for layout in layouts), hint.handle, engine.attributes),
    )
    require_fast(descriptor)
    builder = Builder(engine)
    target, head = (builder.operand(engine.describe(array)) for array in arrays)
    builder.step(descriptor, {Argument.DIFF_DST: head}, {Argument.DIFF_SRC: target})
    return builder.build()
