"""Standardization along an axis, shared by LayerNorm and GroupNorm.

Kernels of both reshape the data so that one axis holds the elements to normalize together.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.ops.elementwise.unary import RSQRT


def standardize(xp: ModuleType, x: Any, axis: int, eps: float) -> tuple[Any, Any, Any]:
    """Return ``(x - mean) / std``, the mean and ``std = sqrt(variance + eps)``.

    ``x`` is float32 or float64; the statistics have size 1 along the axis.
    """
    count = x.dtype.type(max(1, x.shape[axis]))
    mean = xp.add.reduce(x, axis=axis, keepdims=True) / count
    standardized = x - mean
    variance = xp.add.reduce(xp.square(standardized), axis=axis, keepdims=True) / count
    std = xp.sqrt(variance + x.dtype.type(eps))
    standardized /= std
    return standardized, mean, std


def standardize_back(xp: ModuleType, grad: Any, standardized: Any, std: Any, axis: int) -> Any:
    """Return the gradient of `standardize`'s ``x``; overwrites ``standardized``."""
    count = grad.dtype.type(max(1, grad.shape[axis]))
    standardized *= xp.add.reduce(grad * standardized, axis=axis, keepdims=True) / count
    standardized += xp.add.reduce(grad, axis=axis, keepdims=True) / count
    result = grad - standardized
    result /= std
    return result


def pull_back(x: Any, grad: Any, average: Callable[[Any], Any], eps: float) -> tuple[Any, Any]:
    """Compute `standardize` and `standardize_back` with operators.

    Statistics are recomputed, since they depend on the data.

    Args:
        x: The data.
        grad: Gradient of the standardized data.
        average: Returns the mean along the axis, with size 1 there.
        eps: Added to the variance.

    Returns:
        The standardized data, and the gradient of the data.
    """
    centred = x - average(x)
    inverse = RSQRT(average(centred * centred) + eps)
    standardized = centred * inverse
    inner = grad - average(grad) - standardized * average(grad * standardized)
    return standardized, inner * inverse
