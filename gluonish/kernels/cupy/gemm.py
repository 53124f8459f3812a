"""Products of 16-bit matrices in tensor cores: sums in float32, nothing widened in memory.

The reference kernels widen 16-bit floats, which is right anywhere. CuPy multiplies two matrices of
them as they are, but widens stacks of float16 matrices and refuses those of bfloat16, so stacks go
to cuBLAS directly.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT16
from gluonish.core.spec import Spec
from gluonish.ops.precision import is_narrow

__all__ = ["batch_dot", "dot", "takes_batch_dot", "takes_dot"]

# cuBLAS and CUDA numbers (cublas_api.h, library_types.h).
_KEEP, _TRANSPOSE = 0, 1
_REAL_16F, _REAL_16BF = 2, 14
_COMPUTE_32F = 68
_DEFAULT_ALGORITHM = -1


def takes_dot(lhs: Spec, rhs: Spec, **_: Any) -> bool:
    """Whether `dot` can run these inputs."""
    return is_narrow(lhs.dtype) and bool(lhs.size and rhs.size)


def dot(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> None:
    """Fill ``out`` with the product over lhs's last axis and rhs's first, or as transposed."""
    inner = lhs.shape[0 if transpose_a else -1]
    a = lhs.reshape(inner, -1).T if transpose_a else lhs.reshape(-1, inner)
    b = rhs.reshape(-1, inner).T if transpose_b else rhs.reshape(inner, -1)
    xp.matmul(a, b, out=out.reshape(a.shape[0], b.shape[1]))


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
    kind = _REAL_16F if out.dtype == FLOAT16 else _REAL_16BF
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
        _COMPUTE_32F,
        _DEFAULT_ALGORITHM,
    )


def _stack(xp: ModuleType, array: Any) -> Any:
    """Return (..., rows, columns) as a contiguous (count, rows, columns)."""
    return xp.ascontiguousarray(array).reshape(-1, *array.shape[-2:])
