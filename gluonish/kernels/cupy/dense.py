"""Dense layers on a GPU: a product with its bias and ReLU, and gradients of weight and bias.

cuBLASLt computes each in one launch (`gluonish.kernels.cupy.cublaslt`). Where it cannot, a bias is
copied to the output before the product, which is added to it; other steps are separate launches.
"""

from types import ModuleType
from typing import Any

from gluonish.core.config import GLUONISH_CUBLASLT
from gluonish.core.dtype import FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.cupy import cublaslt
from gluonish.kernels.cupy.column_sums import sum_rows
from gluonish.kernels.cupy.copies import copy
from gluonish.kernels.cupy.cublas import MAX_EXTENT, Handle, current_handle
from gluonish.kernels.cupy.cublaslt import Epilogue, EpilogueProduct, Problem
from gluonish.kernels.cupy.gemm import compute_type, layouts, multiply, supports_floats
from gluonish.kernels.cupy.source import KINDS


def fully_connected(
    xp: ModuleType,
    out: Any,
    data: Any,
    weight: Any,
    bias: Any = None,
    *,
    num_hidden: int,
    activation: str | None = None,
    **_: Any,
) -> None:
    """Compute the data times the transposed weight, plus the bias, then the activation.

    16-bit results are rounded once, including the bias.

    Args:
        activation: ``"relu"`` or None.
    """
    rows = out.size // num_hidden
    product = out.reshape(rows, num_hidden)
    inputs = data.reshape(rows, weight.shape[1])
    relu = activation is not None
    if bias is None and not relu:
        multiply(xp, product, inputs, weight.T)
        return
    epilogue = Epilogue.RELU if bias is None else Epilogue.RELU_BIAS if relu else Epilogue.BIAS
    if _multiply(xp, product, inputs, weight.T, bias, epilogue):
        return
    if bias is not None:
        copy(xp, product, bias.reshape(num_hidden))
    multiply(xp, product, inputs, weight.T, accumulate=bias is not None)
    if relu:
        xp.maximum(product, 0, out=product)


def weight_and_bias_gradient(xp: ModuleType, outputs: Any, grad: Any, data: Any, **_: Any) -> None:
    """Compute the gradients of weight and bias from (rows, units) and (rows, features)."""
    weight, bias = outputs
    if not grad.size:
        weight[...] = 0
        bias[...] = 0
        return
    if not _multiply(xp, weight, grad.T, data, bias, Epilogue.BGRADB):
        multiply(xp, weight, grad.T, data)
        sum_rows(xp, bias, grad)


def supports_activation(*specs: Spec, activation: str | None, with_sum: bool, **attrs: Any) -> bool:
    """Whether a fused dense layer has no sum, and no activation but ReLU."""
    return activation in (None, "relu") and not with_sum and supports_floats(*specs)


def _multiply(xp: ModuleType, out: Any, a: Any, b: Any, vector: Any, epilogue: Epilogue) -> bool:
    """Set ``out`` to the product of two matrices with an epilogue, by cuBLASLt.

    Returns:
        False if cuBLASLt cannot compute it, and nothing was written.
    """
    if not (GLUONISH_CUBLASLT.value and out.size and a.shape[1]):
        return False
    addresses: tuple[int, ...]
    if vector is None:
        addresses = (b.data.ptr, a.data.ptr, out.data.ptr)
    elif vector.size == vector.shape[0] and vector.flags.c_contiguous:
        addresses = (b.data.ptr, a.data.ptr, out.data.ptr, vector.data.ptr)
    else:
        return False
    handle = current_handle(xp)
    compute, alignment = compute_type(a.dtype), cublaslt.alignment_of(*addresses)
    key = (
        *(out.shape, out.strides, out.dtype, a.shape, a.strides, a.dtype, b.shape, b.strides),
        *(compute, alignment, epilogue),
    )
    product = handle.products.get(key)
    if product is None:
        product = handle.products.add(
            key, _bind(xp, handle, out, a, b, compute, alignment, epilogue)
        )
    if product and product.run(*addresses):
        return True
    if product:
        handle.products.add(key, False)
    return False


def _bind(
    xp: ModuleType,
    handle: Handle,
    out: Any,
    a: Any,
    b: Any,
    compute: int,
    alignment: int,
    epilogue: Epilogue,
) -> EpilogueProduct | bool:
    """Return the product bound to a stream; False if cuBLASLt cannot compute it."""
    found = layouts(out, a, b)
    if found is None or max(*out.shape, *a.shape, *(x.lead for x in found)) > MAX_EXTENT:
        return False
    target, left, right = found
    problem = Problem(
        (out.shape[1], out.shape[0], a.shape[1]),
        (right.operation, left.operation),
        (right.lead, left.lead, target.lead),
        KINDS[a.dtype],
        KINDS[out.dtype],
        compute,
        bool(a.dtype == FLOAT64),
        epilogue,
        alignment,
    )
    return cublaslt.bind(xp, handle, problem) or False
