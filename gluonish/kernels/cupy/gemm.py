"""Products of matrices in tensor cores: sums in float32, nothing widened in memory.

The reference kernels widen 16-bit floats, which is right anywhere. CuPy multiplies two matrices of
them as they are, but widens stacks of float16 matrices and refuses those of bfloat16, so stacks go
to cuBLAS directly. So do products without tensor cores, where ``MXNET_CUDA_ALLOW_TENSOR_CORE`` is
off, and those of float32 matrices in TensorFloat-32 (19 bits), which
``MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION`` allows.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
)
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.ops.precision import is_narrow

__all__ = ["batch_dot", "dot", "takes_batch_dot", "takes_dot"]

# cuBLAS and CUDA numbers (cublas_api.h, library_types.h).
_KEEP, _TRANSPOSE = 0, 1
_KINDS = {FLOAT32: 0, FLOAT16: 2, BFLOAT16: 14}
_COMPUTE_32F, _COMPUTE_32F_PEDANTIC, _COMPUTE_32F_FAST_TF32 = 68, 69, 77
_DEFAULT_ALGORITHM = -1


def takes_dot(lhs: Spec, rhs: Spec, **_: Any) -> bool:
    """Whether `dot` can run these inputs."""
    return (is_narrow(lhs.dtype) or _converts(lhs.dtype)) and bool(lhs.size and rhs.size)


def _converts(dtype: np.dtype[Any]) -> bool:
    """Whether products of this type may round what they multiply."""
    return (
        dtype == FLOAT32
        and MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.value
        and MXNET_CUDA_ALLOW_TENSOR_CORE.value
    )


def _compute_type(dtype: np.dtype[Any]) -> int:
    """Return how cuBLAS is to compute; without tensor cores it does so pedantically."""
    if dtype == FLOAT32:
        return _COMPUTE_32F_FAST_TF32
    return _COMPUTE_32F if MXNET_CUDA_ALLOW_TENSOR_CORE.value else _COMPUTE_32F_PEDANTIC


def dot(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> None:
    """Fill ``out`` with the product over lhs's last axis and rhs's first, or as transposed."""
    inner = lhs.shape[0 if transpose_a else -1]
    a = lhs.reshape(inner, -1) if transpose_a else lhs.reshape(-1, inner)
    b = rhs.reshape(-1, inner) if transpose_b else rhs.reshape(inner, -1)
    product = out.reshape(a.shape[transpose_a], b.shape[not transpose_b])
    if is_narrow(out.dtype) and MXNET_CUDA_ALLOW_TENSOR_CORE.value:
        xp.matmul(a.T if transpose_a else a, b.T if transpose_b else b, out=product)
    else:
        batch_dot(xp, product, a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def takes_batch_dot(lhs: Spec, rhs: Spec, **_: Any) -> bool:
    """Whether `batch_dot` can run these inputs."""
    return takes_dot(lhs, rhs) and lhs.shape[:-2] == rhs.shape[:-2]


def batch_dot(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> None:
    """Fill ``out`` (..., m, n), contiguous, with the products of the matrices in lhs and rhs.

    cuBLAS counts columns first: what it reads in row-major memory is the transpose, so it is asked
    for rhs^T lhs^T, which it writes as the product.
    """
    a, b = _stack(xp, lhs), _stack(xp, rhs)
    m, n = out.shape[-2:]
    k = lhs.shape[-2 if transpose_a else -1]
    kind = _KINDS[out.dtype]
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    cublas = xp.cuda.cublas
    cublas.gemmStridedBatchedEx(
        xp.cuda.device.get_cublas_handle(),
        _TRANSPOSE if transpose_b else _KEEP,
        _TRANSPOSE if transpose_a else _KEEP,
        *(n, m, k),
        one.ctypes.data,
        *(b.data.ptr, kind, b.shape[2], b.shape[1] * b.shape[2]),
        *(a.data.ptr, kind, a.shape[2], a.shape[1] * a.shape[2]),
        zero.ctypes.data,
        *(out.data.ptr, kind, n, m * n),
        math.prod(out.shape[:-2]),
        _compute_type(out.dtype),
        _DEFAULT_ALGORITHM,
    )


def _stack(xp: ModuleType, array: Any) -> Any:
    """Return (..., rows, columns) as a contiguous (count, rows, columns)."""
    return xp.ascontiguousarray(array).reshape(-1, *array.shape[-2:])
