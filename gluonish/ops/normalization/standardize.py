"""Mean 0 and variance 1 along an axis: the arithmetic that LayerNorm and GroupNorm share.

Kernels of both bring the elements that are normalized together onto one axis.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.ops.elementwise.unary import RSQRT


def standardize(xp: ModuleType, x: Any, axis: int, eps: float) -> tuple[Any, Any, Any]:
    """Return ``(x - mean) / std``, the mean and ``std = sqrt(variance + eps)``.

    Args:
        x: float32 or float64.
        axis: Along which; the statistics keep it with size 1.
        eps: Added to the variance.
    """
    count = x.dtype.type(max(1, x.shape[axis]))
    mean = xp.add.reduce(x, axis=axis, keepdims=True) / count
    standardized = x - mean
    variance = xp.add.reduce(xp.square(standardized), axis=axis, keepdims=True) / count
    std = xp.sqrt(variance + x.dtype.type(eps))
    standardized /= std
    return standardized, mean, std


def standardize_back(xp: ModuleType, grad: Any, standardized: Any, std: Any, axis: int) -> Any:
    """Return the gradient of what `standardize` was given; it overwrites ``standardized``.

    Args:
        grad: Gradient of ``standardized``.
        standardized: As `standardize` returns it.
        std: The same.
        axis: Along which.
    """
    count = grad.dtype.type(max(1, grad.shape[axis]))
    standardized *= xp.add.reduce(grad * standardized, axis=axis, keepdims=True) / count
    standardized += xp.add.reduce(grad, axis=axis, keepdims=True) / count
    result = grad - standardized
    result /= std
    return result


def pull_back(x: Any, grad: Any, average: Callable[[Any], Any], eps: float) -> tuple[Any, Any]:
    """Return what `standardize` and `standardize_back` compute, in operators.

    Statistics are computed again: they depend on the data.

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
