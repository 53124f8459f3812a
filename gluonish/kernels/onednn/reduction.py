"""Sum, mean, maximum and minimum along axes."""

from gluonish.kernels.onednn.api import AlgorithmKind, Argument
from gluonish.kernels.onednn.binding import bind, contiguous_layout, require, require_fast
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound


def reduction(out: Array, data: Array, axes: tuple[int, ...], algorithm: AlgorithmKind) -> Bound:
    """Plan a reduction of ``data`` along ``axes``, on operands (out, data).

    Args:
        out: Contiguous.
        axes: Not negative.
        algorithm: One of ``REDUCTION_*``.

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
