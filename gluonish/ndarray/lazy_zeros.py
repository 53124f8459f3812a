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

_LAZY_NBYTES = 1 << 20


def lazy_zeros(shape: Shape, ctx: Context, dtype: Any, stype: str) -> NDArray:
    """Return zeros; the memory of large arrays on the CPU is committed at first use.

    Otherwise weights loaded for inference would take twice their memory, and loading would take
    1.5 times as long. While allocations are observed, zeros are allocated as usual.
    """
    spec = Spec(shape, normalize_dtype(dtype))
    device = device_of(ctx)
    if stype == "default" and device.empty is np.empty and spec.nbytes >= _LAZY_NBYTES:
        with suppress(MemoryError):  # `zeros` raises an error with a description
            return NDArray(small_pages(shape, spec.dtype), spec, device, Var())
    return zeros(shape, ctx, dtype, stype)
