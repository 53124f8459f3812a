"""What the plans of all primitives have in common: the check of their arrays, and their place in
the cache."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.onednn.api import Argument, DataType
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, contiguous_strides, signature
from gluonish.kernels.onednn.plan import Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError

_DTYPES = (FLOAT32, BFLOAT16)


def plain(*specs: Spec) -> bool:
    """Whether all arrays have one dtype that the library computes in, and elements."""
    dtype = specs[0].dtype
    return dtype in _DTYPES and all(s.dtype == dtype and 0 not in s.shape for s in specs)


def require(name: str, *arrays: Array) -> None:
    """Check that the library can take arrays.

    Args:
        name: The operation, for the message.
        *arrays: All of those that share one dtype.

    Raises:
        RefusedError: They have several dtypes, one that is not computed in here, or strides that
            cannot be described.
    """
    if not supported(*arrays):
        raise RefusedError(
            f"{name}: expected arrays of equal dtype that oneDNN can address, got {_shown(arrays)}"
        )


def vectors(name: str, *arrays: Array) -> None:
    """Check the arrays that are float32 whatever the dtype of the others: statistics of channels.

    Raises:
        RefusedError: One has another dtype, no elements, or gaps.
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
    """Find or build the plan for some arrays.

    Args:
        name: The operation; with the arrays' layouts and ``attributes`` it is the plan's key.
        build: Called with the engine, ``arrays`` and ``attributes``.
        arrays: All that the plan depends on; by default also its operands, in this order.
        attributes: What else it depends on.
        operands: Positions in ``arrays`` of the plan's operands; None for all of them.

    Raises:
        RefusedError: The library refuses; the message has what it said, and the arrays.
    """
    arrays = tuple(arrays)
    key = (name, *map(signature, arrays), attributes)
    try:
        plan = current().plans.get(key, build, arrays, attributes)
    except RefusedError as error:
        raise RefusedError(f"{name}: {error} for {_shown(arrays)} and {attributes}") from None
    return Bound(plan, tuple(range(len(arrays)) if operands is None else operands))


def channels_last(array: Array) -> bool:
    """Whether an array's axis 1 is the one that runs fastest in memory, without gaps."""
    return np.moveaxis(array, 1, -1).flags.c_contiguous


def require_fast(*descriptors: PrimitiveDescriptor) -> None:
    """Check that the library has more than its own reference implementation.

    Raises:
        RefusedError: One is that; it is slower than NumPy by far.
    """
    for descriptor in descriptors:
        name = descriptor.implementation
        if "ref:" in name:
            raise RefusedError(f"oneDNN: expected an optimized implementation, got {name}")


def spread(engine: Engine, array: Array, data_type: DataType | None = None) -> Descriptor:
    """The layout with axis 1 running fastest, whichever the array has.

    Args:
        array: Of any strides.
        data_type: The library's name for its dtype; None for one that it computes in.
    """
    batch, channels, *spatial = array.shape
    batch_stride, *strides, channel_stride = contiguous_strides((batch, *spatial, channels))
    return Descriptor.strided(
        engine.api,
        array.shape,
        (batch_stride, channel_stride, *strides),
        engine.data_type(array) if data_type is None else data_type,
    )


def flat(engine: Engine, array: Array, shape: tuple[int, ...]) -> Descriptor:
    """The layout of an array without gaps, taken as of another shape with as many elements.

    Args:
        array: Its elements lie next to each other.
        shape: In the order of memory.
    """
    strides = contiguous_strides(shape)
    return Descriptor.strided(engine.api, shape, strides, engine.data_type(array))


def source(index: int) -> Argument:
    """Role of input ``index`` of a primitive that takes any number of them."""
    return cast(Argument, Argument.MULTIPLE_SRC + index)


@contextmanager
def few_threads(engine: Engine) -> Iterator[None]:
    """Make the primitives within the scope use one thread: those on vectors of channels."""
    before = engine.begin_small()
    try:
        yield
    finally:
        engine.end_small(before)


def _shown(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{a.dtype}{a.shape} strides {a.strides}" for a in arrays)
