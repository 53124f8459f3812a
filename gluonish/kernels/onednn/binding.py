"""Helpers for the plans of all primitives: checks of arrays, cache look-ups, common layouts.

Also the post-ops of fused operators: an addend, in place or separate, and an activation.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.onednn.api import Argument, DataType
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, contiguous_strides, signature
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.primitive import ELTWISE, PostOps, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError, address

_DTYPES = (FLOAT32, BFLOAT16)


def is_supported(*specs: Spec) -> bool:
    """Whether all arrays have the same dtype, float32 or bfloat16, and are not empty."""
    dtype = specs[0].dtype
    return dtype in _DTYPES and all(s.dtype == dtype and 0 not in s.shape for s in specs)


def require(name: str, *arrays: Array) -> None:
    """Check that the library can address the arrays, and that their dtypes are equal.

    Raises:
        RefusedError: The dtypes differ, the library does not compute in the dtype, or strides
            cannot be described.
    """
    if not supported(*arrays):
        raise RefusedError(
            f"{name}: expected arrays of equal dtype that oneDNN can address, got {_shown(arrays)}"
        )


def require_statistics(name: str, *arrays: Array) -> None:
    """Check the statistics of channels, which are float32 whatever the dtype of the data.

    Raises:
        RefusedError: An array has another dtype, is empty, or is not contiguous.
    """
    if not all(a.dtype == np.float32 and a.size and a.flags.c_contiguous for a in arrays):
        raise RefusedError(f"{name}: expected contiguous float32 statistics, got {_shown(arrays)}")


def bind(
    name: str,
    build: Callable[[Engine, tuple[Array, ...], Any], Plan],
    arrays: Sequence[Array],
    attributes: Hashable = (),
    operands: Sequence[int] | None = None,
) -> Bound:
    """Return the plan for some arrays, from the cache if possible.

    Args:
        name: Name of the operation; with layouts and ``attributes`` it is the cache key.
        build: Function that builds a plan, called as ``build(engine, arrays, attributes)``.
        arrays: All arrays that the plan depends on; by default its operands, in this order.
        operands: Indices in ``arrays`` of the plan's operands; None for all of them.

    Raises:
        RefusedError: The library does not support the operation on these arrays.
    """
    arrays = tuple(arrays)
    key = (name, *map(signature, arrays), attributes)
    try:
        plan = current().plans.get(key, build, arrays, attributes)
    except RefusedError as error:
        raise RefusedError(f"{name}: {error} for {_shown(arrays)} and {attributes}") from None
    return Bound(plan, tuple(range(len(arrays)) if operands is None else operands))


def channels_last(array: Array) -> bool:
    """Whether an array is contiguous with axis 1 innermost in memory."""
    return np.moveaxis(array, 1, -1).flags.c_contiguous


def require_fast(*descriptors: PrimitiveDescriptor) -> None:
    """Reject the library's reference implementations, which are far slower than NumPy.

    Raises:
        RefusedError: One of the descriptors is for a reference implementation.
    """
    for descriptor in descriptors:
        name = descriptor.implementation
        if "ref:" in name:
            raise RefusedError(f"oneDNN: expected an optimized implementation, got {name}")


def channels_last_layout(
    engine: Engine, array: Array, data_type: DataType | None = None
) -> Descriptor:
    """Return the channels-last layout for an array's shape and dtype, whatever its strides.

    Args:
        data_type: The library's name for the dtype; None looks it up in the engine.
    """
    batch, channels, *spatial = array.shape
    batch_stride, *strides, channel_stride = contiguous_strides((batch, *spatial, channels))
    return Descriptor.strided(
        engine.api,
        array.shape,
        (batch_stride, channel_stride, *strides),
        engine.data_type(array) if data_type is None else data_type,
    )


def contiguous_layout(engine: Engine, array: Array, shape: tuple[int, ...]) -> Descriptor:
    """Return the layout of a contiguous array viewed in another shape."""
    strides = contiguous_strides(shape)
    return Descriptor.strided(engine.api, shape, strides, engine.data_type(array))


def source(index: int) -> Argument:
    """Return the role of input ``index`` of a primitive with any number of inputs."""
    return cast(Argument, Argument.MULTIPLE_SRC + index)


@contextmanager
def single_thread(engine: Engine) -> Iterator[None]:
    """Create the primitives of the scope for one thread, as for vectors of channels."""
    before = engine.use_one_thread()
    try:
        yield
    finally:
        engine.restore_threads(before)


def _shown(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{a.dtype}{a.shape} strides {a.strides}" for a in arrays)


def post_ops_of(
    out: Array, inputs: Sequence[Array], attrs: Mapping[str, Any]
) -> tuple[PostOps, tuple[int, ...]]:
    """Return the post-ops of an operator, which may be fused, and the operands of its plan.

    Args:
        inputs: The operator's inputs; the addend is the last, under ``with_sum``.

    Returns:
        The post-ops, and the indices of the operands among output and inputs: all indices, except
        that of an addend in the memory of ``out``.

    Raises:
        RefusedError: Another input shares the memory of ``out``.
    """
    every = tuple(range(len(inputs) + 1))
    activation = attrs.get("activation")
    functions = ELTWISE[activation](attrs["alpha"], attrs["beta"]) if activation else ()
    if not attrs.get("with_sum"):
        return PostOps(None, functions), every
    addend = inputs[-1]
    if any(address(x) == address(out) for x in inputs[:-1]):
        raise RefusedError("sum: expected an addend that is not an operand too, got one in place")
    if address(addend) == address(out) and addend.strides == out.strides:
        return PostOps("in_place", functions), every[:-1]
    return PostOps("separate", functions), every


def add_with_post_ops(
    builder: Builder,
    descriptor: PrimitiveDescriptor,
    reads: Mapping[Argument, Slot],
    target: Slot,
    post_ops: PostOps,
) -> None:
    """Add a primitive that fills ``target``, or accumulates into it."""
    layout = descriptor.layout_of(Argument.DST)
    if post_ops.addend != "in_place" or layout.same_as(target.layout):
        builder.step(descriptor, reads, {Argument.DST: target})
        return
    inner = builder.temporary_of(layout)
    builder.reorder(target, inner)
    builder.step(descriptor, reads, {Argument.DST: inner})
    builder.reorder(inner, target)
