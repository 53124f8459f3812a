"""Zeros that live long, such as gradients and states of optimizers: no memory before first use."""

from contextlib import suppress
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.device import device_of
from gluonish.core.dtype import normalize_dtype
from gluonish.core.spec import Shape, Spec
from gluonish.ndarray.creation import zeros
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.slabs import small_pages
from gluonish_engine import Var

_LAZY_NBYTES = 1 << 12  # fewer cost one page at most


def lazy_zeros(
    shape: Shape, ctx: Context, dtype: Any, stype: str, *, join: bool = False, commit: bool = False
) -> NDArray:
    """Return zeros for long use; the memory of large arrays on the CPU is committed at first use.

    Otherwise weights loaded for inference would take twice their memory, and loading would take
    1.5 times as long. While allocations are observed, zeros are allocated as usual.

    Args:
        shape: The shape.
        ctx: The device.
        dtype: The element type.
        stype: The storage type.
        join: See `gluonish.ndarray.slabs.small_pages`.
        commit: The same.
    """
    spec = Spec(shape, normalize_dtype(dtype))
    device = device_of(ctx)
    if stype == "default" and device.empty is np.empty and spec.nbytes >= _LAZY_NBYTES:
        with suppress(MemoryError):  # `zeros` raises an error with a description
            raw = small_pages(shape, spec.dtype, join=join, commit=commit)
            return NDArray(raw, spec, device, Var())
    return zeros(shape, ctx, dtype, stype)
