"""Clipping of gradients."""

import math
import warnings
from collections.abc import Sequence

import numpy as np

import gluonish.ndarray as nd
from gluonish.autograd import pause
from gluonish.core.errors import ArgumentError
from gluonish.ndarray import NDArray

__all__ = ["clip_global_norm"]


def clip_global_norm(
    arrays: Sequence[NDArray], max_norm: float, check_isfinite: bool = True
) -> np.float32 | NDArray:
    """Scale arrays in place so that their joint 2-norm is at most ``max_norm``.

    To clip the gradients of a Trainer, call it between `Trainer.allreduce_grads` and
    `Trainer.update`, once for the gradients of each device. At that point they are sums over all
    devices and processes.

    Args:
        arrays: The arrays, on any devices.
        max_norm: Largest norm allowed, above 0.
        check_isfinite: Whether to wait for the norm and warn if it is not finite; if not, the call
            returns without waiting.

    Returns:
        The norm before scaling: a ``numpy.float32``, or without ``check_isfinite`` an array (1,).

    Raises:
        ArgumentError: ``arrays`` is empty.

    Example:
        >>> import gluonish as mx
        >>> x = mx.nd.array([3, 4])
        >>> float(mx.gluon.utils.clip_global_norm([x], max_norm=1.0))
        5.0
        >>> x.asnumpy().round(2)
        array([0.6, 0.8], dtype=float32)
    """
    if not arrays:
        raise ArgumentError("clip_global_norm: expected at least one array, got none")
    ctx = arrays[0].context
    with pause():
        squares = [(x.astype("float32") ** 2).sum().as_in_context(ctx) for x in arrays]
        total = squares[0]
        for square in squares[1:]:
            total = total + square
        norm: NDArray = nd.sqrt(total)
        if check_isfinite and not math.isfinite(norm.asscalar()):
            warnings.warn(
                f"clip_global_norm: expected a finite norm, got {norm.asscalar()}; the arrays will "
                "hold values that are not finite",
                UserWarning,
                stacklevel=2,
            )
        # The small number is MXNet's: it keeps a norm of 0 from dividing.
        scale = nd.minimum(max_norm / (norm + 1e-8), 1.0)
        with np.errstate(all="ignore"):  # of a norm that is not finite, the one warning is enough
            for x in arrays:
                x *= scale.as_in_context(x.context).astype(x.dtype)
    if not check_isfinite:
        return norm
    found: np.float32 = norm.asscalar()
    return found
