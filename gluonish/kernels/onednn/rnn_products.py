"""Products of recurrent layers, and the scratch memory that they share."""

import threading
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape
from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.binding import bind
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.matmul import plan_product
from gluonish.kernels.onednn.memory import aligned_bytes
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import Attributes, Finish, PrimitiveDescriptor
from gluonish.ops.kernel import Array


def product(
    out: Array, a: Array, b: Array, bias: Array | None = None, *, add: bool = False
) -> None:
    """Fill ``out`` with ``a b + bias``, or add that to it.

    Args:
        out: (M, N), rows contiguous.
        a: (M, K), one axis contiguous.
        b: (K, N), one axis contiguous.
        bias: (1, N), or None.
        add: Whether to add to what is in ``out``.

    Raises:
        RefusedError: The library cannot take the arrays.
    """
    arrays = (out, a, b) if bias is None else (out, a, b, bias)
    bind("rnn.product", _plan_product, arrays, Finish("out" if add else None)).plan.run(*arrays)


def _plan_product(engine: Engine, arrays: tuple[Array, ...], finish: Finish) -> Plan:
    return plan_product(engine, arrays, finish, packed=False)


class _Buffer(threading.local):
    """A thread's memory for a packed weight: fresh memory costs a page fault every 4 KiB. Packing
    the 4 MiB of an LSTM with 512 units took 2.5 ms with it, 0.7 without."""

    def __init__(self) -> None:
        self._array: Array = np.empty(0, np.uint8)

    def get(self, nbytes: int) -> Array:
        """Return as many bytes; those returned before are overwritten."""
        if self._array.nbytes < nbytes:
            self._array = aligned_bytes(nbytes)
        return self._array[:nbytes]


_buffer = _Buffer()


class PackedProduct:
    """``out = a w + bias``, or ``out += a w``, for one weight and many arrays of one layout.

    It serves until the thread makes another one: they share memory.

    Args:
        out: Laid out like every output (M, N), rows contiguous.
        a: Laid out like every left operand (M, K).
        w: The weight (K, N), one axis contiguous; its values are packed now.
        bias: (1, N), or None.
        add: Whether to add to what is in an output.

    Raises:
        RefusedError: The library cannot take the arrays.
    """

    __slots__ = ("_packed", "_plan", "_rest")

    def __init__(
        self, out: Array, a: Array, w: Array, bias: Array | None = None, *, add: bool = False
    ) -> None:
        arrays = (out, a, w) if bias is None else (out, a, w, bias)
        finish = Finish("out" if add else None)
        plan = bind("rnn.packed_product", _plan_packed, arrays, finish).plan
        assert isinstance(plan, Plan)
        self._plan = plan
        self._packed = _buffer.get(plan.slots[2].layout.nbytes)
        self._rest: tuple[Any, ...] = (self._packed, *arrays[3:])
        bind("rnn.packing", _plan_packing, arrays, finish).plan.run(self._packed, w)

    def __call__(self, out: Array, a: Array) -> None:
        """Compute one product."""
        self._plan.run(out, a, *self._rest)


def _descriptor(
    engine: Engine, arrays: tuple[Array, ...], finish: Finish
) -> tuple[PrimitiveDescriptor, list[Any]]:
    """Return the product, and the layouts of the arrays as the caller has them."""
    layouts = [engine.describe(array) for array in arrays]
    bias = layouts[3].handle if len(layouts) > 3 else None
    weight = engine.undecided(arrays[2])
    attributes = Attributes(engine.api, finish)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_matmul_primitive_desc_create",
        *(engine.handle, layouts[1].handle, weight.handle, bias, layouts[0].handle),
        attributes.handle,
    )
    return descriptor, layouts


def _plan_packed(engine: Engine, arrays: tuple[Array, ...], finish: Finish) -> Plan:
    descriptor, layouts = _descriptor(engine, arrays, finish)
    builder = Builder(engine)
    target, left = builder.operand(layouts[0]), builder.operand(layouts[1])
    reads = {
        Argument.SRC: left,
        Argument.WEIGHTS: builder.operand(descriptor.wanted(Argument.WEIGHTS)),
    }
    if len(layouts) > 3:
        reads[Argument.BIAS] = builder.operand(layouts[3])
    builder.step(descriptor, reads, {Argument.DST: target})
    return builder.build()


def _plan_packing(engine: Engine, arrays: tuple[Array, ...], finish: Finish) -> Plan:
    descriptor, layouts = _descriptor(engine, arrays, finish)
    builder = Builder(engine)
    packed = builder.operand(descriptor.wanted(Argument.WEIGHTS))
    builder.reorder(builder.operand(layouts[2]), packed)
    return builder.build()


class Scratch(threading.local):
    """Arrays that a thread uses again: fresh ones of this size cost a page fault every 4 KiB."""

    def __init__(self) -> None:
        self._buffers: dict[tuple[str, np.dtype[Any]], Array] = {}

    def get(self, name: str, shape: Shape, dtype: np.dtype[Any] = FLOAT32) -> Array:
        """Return an array with any values; the one returned before is overwritten."""
        size = int(np.prod(shape))
        buffer = self._buffers.get((name, dtype))
        if buffer is None or buffer.size < size:
            buffer = self._buffers[name, dtype] = np.empty(size, dtype)
        return buffer[:size].reshape(shape)

    def converted(self, name: str, array: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array in a dtype, itself if it has it."""
        if array.dtype == dtype:
            return array
        found = self.get(name, array.shape, dtype)
        found[...] = array
        return found
