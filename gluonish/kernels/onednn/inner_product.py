"""Fully connected layer: y = x W^T + b.

Its gradients are plain matrix products, so `gluonish.kernels.onednn.matmul` serves them: ``grad W``
for the data and ``grad^T x`` for the weight.
"""

from gluonish.kernels.onednn.api import Argument, PropagationKind
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.matmul import plan_product
from gluonish.kernels.onednn.memory import Array, Descriptor, element_strides, signature
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor

__all__ = ["fully_connected", "supports_fully_connected"]

# Measured on two Zen 4 cores: up to 8 rows the library's inner product is up to 6 times faster than
# its matrix product, from 16 rows on it is up to 2 times slower. Neither gains from a packed weight
# that has to be packed for each call.
_FEW_ROWS = 8


def supports_fully_connected(
    out: Array, data: Array, weight: Array, bias: Array | None = None
) -> bool:
    """Whether `fully_connected` takes these arrays.

    Args:
        out: (N, units).
        data: (N, in_units).
        weight: (units, in_units).
        bias: (units,) or None.

    Returns:
        True for one supported dtype and rows that are contiguous.
    """
    arrays = (out, data, weight) if bias is None else (out, data, weight, bias)
    if data.ndim != 2 or weight.ndim != 2 or not supported(*arrays):
        return False
    return all(array.flags.c_contiguous or element_strides(array)[-1] == 1 for array in arrays)


def fully_connected(out: Array, data: Array, weight: Array, bias: Array | None = None) -> None:
    """Fill ``out`` with ``data weight^T + bias``; arguments as in `supports_fully_connected`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    arrays = (out, data, weight) if bias is None else (out, data, weight, bias)
    key = ("fully_connected", *map(signature, arrays))
    plans.get(key, _plan, arrays).run(*arrays)


def _plan(engine: Engine, arrays: tuple[Array, ...]) -> Plan:
    out, data, weight, *rest = arrays
    target, source = engine.describe(out), engine.describe(data)
    if data.shape[0] <= _FEW_ROWS:
        bias = engine.describe(rest[0]) if rest else None
        return _plan_inner_product(engine, target, source, engine.describe(weight), bias)
    row = engine.describe(rest[0].reshape(1, -1)) if rest else None
    return plan_product(engine, target, source, engine.describe(weight.T), row)


def _plan_inner_product(
    engine: Engine, out: Descriptor, data: Descriptor, weight: Descriptor, bias: Descriptor | None
) -> Plan:
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_inner_product_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_INFERENCE),
        *(data.handle, weight.handle, bias and bias.handle, out.handle, engine.attributes),
    )
    builder = Builder(engine)
    target = builder.operand(out)
    reads = {Argument.SRC: builder.operand(data), Argument.WEIGHTS: builder.operand(weight)}
    if bias is not None:
        reads[Argument.BIAS] = builder.operand(bias)
    builder.step(descriptor, reads, {Argument.DST: target})
    return builder.build()
