"""Matrix products in reference kernels, by the array module or a registered back end."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.ops.support.precision import is_narrow, widen

ProductKernel = Callable[[ModuleType, Any, Any, Any, float], None]
_device_products: list[ProductKernel] = []  # at most one, set by `set_device_products`


def set_device_products(kernel: ProductKernel) -> None:
    """Register a kernel for matrix products on devices, called like `fill_product`."""
    _device_products[:] = [kernel]


def fill_product(xp: ModuleType, out: Any, a: Any, b: Any, alpha: float = 1.0) -> None:
    """Fill ``out`` with ``alpha * a @ b``; 16-bit floats are multiplied and summed in float32.

    Args:
        out: The products, in the operands' floating dtype.
        a: (..., m, k), or (k,) for a row; leading axes broadcast.
        b: (..., k, n), or (k,) for a column.
        alpha: A factor.
    """
    if _device_products and xp is not np:
        _device_products[0](xp, out, a, b, alpha)
    elif is_narrow(out.dtype) or not out.ndim:
        made = xp.matmul(widen(a), widen(b))
        out[...] = made if alpha == 1.0 else made * made.dtype.type(alpha)
    else:
        xp.matmul(a, b, out=out)
        if alpha != 1.0:
            xp.multiply(out, alpha, out=out)


def product(xp: ModuleType, a: Any, b: Any) -> Any:
    """Return ``a @ b`` of (stacked) matrices; float32 if only one operand has 16 bits."""
    if xp is np or not _device_products:
        return xp.matmul(a, b)
    if a.dtype != b.dtype:
        a, b = widen(a), widen(b)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = xp.empty((*lead, a.shape[-2], b.shape[-1]), a.dtype)
    _device_products[0](xp, out, a, b, 1.0)
    return out
