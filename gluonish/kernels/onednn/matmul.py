"""Matrix products, single and batched."""

from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Array, Descriptor, element_strides, signature
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor

__all__ = ["matmul", "plan_product", "supports_matmul"]


def supports_matmul(
    out: Array, a: Array, b: Array, *, transpose_a: bool = False, transpose_b: bool = False
) -> bool:
    """Whether `matmul` takes these arrays.

    Args:
        out: (..., M, N).
        a: (..., M, K), or (..., K, M) with ``transpose_a``.
        b: (..., K, N), or (..., N, K) with ``transpose_b``.
        transpose_a: Swap the last two axes of ``a``.
        transpose_b: Swap the last two axes of ``b``.

    Returns:
        True for 2 to 5 axes, as many in each, one supported dtype, and one of the two matrix axes
        contiguous: in ``out`` the last one. Batch axes are equal or 1.
    """
    if not 2 <= out.ndim <= 5 or a.ndim != out.ndim or b.ndim != out.ndim:
        return False
    if not supported(out, a, b):
        return False
    return _row_major(out) and _has_unit_axis(a) and _has_unit_axis(b)


def matmul(
    out: Array, a: Array, b: Array, *, transpose_a: bool = False, transpose_b: bool = False
) -> None:
    """Fill ``out`` with the matrix product of ``a`` and ``b``; arguments as in `supports_matmul`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    layouts = (signature(out), signature(a), signature(b))
    key = ("matmul", *layouts, transpose_a, transpose_b)
    plan = plans.get(key, _plan, out, a, b, transpose_a, transpose_b)
    plan.run(out, a, b)


def plan_product(
    engine: Engine, out: Descriptor, a: Descriptor, b: Descriptor, bias: Descriptor | None
) -> Plan:
    """A plan for ``out = a b + bias``; operands: out, a, b, and the bias if there is one."""
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_matmul_primitive_desc_create",
        *(engine.handle, a.handle, b.handle, bias and bias.handle, out.handle),
        engine.attributes,
    )
    builder = Builder(engine)
    target = builder.operand(out)
    reads = {Argument.SRC: builder.operand(a), Argument.WEIGHTS: builder.operand(b)}
    if bias is not None:
        reads[Argument.BIAS] = builder.operand(bias)
    builder.step(descriptor, reads, {Argument.DST: target})
    return builder.build()


def _plan(
    engine: Engine, out: Array, a: Array, b: Array, transpose_a: bool, transpose_b: bool
) -> Plan:
    left = engine.describe(a.swapaxes(-1, -2) if transpose_a else a)
    right = engine.describe(b.swapaxes(-1, -2) if transpose_b else b)
    return plan_product(engine, engine.describe(out), left, right, None)


def _row_major(array: Array) -> bool:
    return array.flags.c_contiguous or element_strides(array)[-1] == 1


def _has_unit_axis(array: Array) -> bool:
    return array.flags.c_contiguous or 1 in element_strides(array)[-2:]
