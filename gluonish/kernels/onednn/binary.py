"""Arithmetic of two arrays, one of which may be broadcast."""

from gluonish.kernels.onednn.api import AlgorithmKind, Argument
from gluonish.kernels.onednn.binding import bind, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, element_strides
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound

__all__ = ["binary"]


def binary(out: Array, lhs: Array, rhs: Array, algorithm: AlgorithmKind) -> Bound:
    """Plan for ``out = f(lhs, rhs)``, on operands (out, lhs, rhs).

    Args:
        out: To be filled.
        lhs: Any shape that broadcasts to that of ``out``.
        rhs: Any shape that broadcasts to that of ``out``.
        algorithm: One of ``BINARY_*``.

    Raises:
        RefusedError: The library does not take these arrays.
    """
    require("binary", out, lhs, rhs)
    return bind("binary", _plan, (out, lhs, rhs), algorithm)


def _describe(engine: Engine, array: Array, rank: int) -> Descriptor:
    """The layout with axes of length 1 in front, so that there are ``rank``."""
    missing = rank - array.ndim
    strides = (array.size,) * missing + element_strides(array)
    shape = (1,) * missing + array.shape
    return Descriptor.strided(engine.api, shape, strides, engine.data_type(array))


def _plan(engine: Engine, arrays: tuple[Array, ...], algorithm: AlgorithmKind) -> Plan:
    layouts = [_describe(engine, array, arrays[0].ndim) for array in arrays]
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_binary_primitive_desc_create",
        *(engine.handle, algorithm, layouts[1].handle, layouts[2].handle, layouts[0].handle),
        engine.attributes,
    )
    builder = Builder(engine)
    out, lhs, rhs = map(builder.operand, layouts)
    builder.step(descriptor, {Argument.SRC: lhs, Argument.SRC_1: rhs}, {Argument.DST: out})
    return builder.build()
