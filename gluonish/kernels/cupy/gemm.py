"""Products of matrices by cuBLAS: sums in float32 or wider, nothing widened or copied in memory.

16-bit floats are multiplied as they are and summed in float32, pedantically where
``MXNET_CUDA_ALLOW_TENSOR_CORE`` is off. Matrices of float32 are rounded to TensorFloat-32 (19 bits)
where ``MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION`` allows that. A transposed or broadcast view is
read where it lies. CuPy's own products widen stacks of float16, refuse those of bfloat16 and copy
what is broadcast.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
)
from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.cublas import MOST, Matrix, current_handle
from gluonish.kernels.cupy.source import KINDS

__all__ = ["batch_dot", "dot", "gemm2", "matmul", "multiply", "takes_floats"]

# Numbers of cublas_api.h.
_KEEP, _TRANSPOSE = 0, 1
_COMPUTE_32F, _COMPUTE_32F_PEDANTIC, _COMPUTE_64F, _COMPUTE_32F_FAST_TF32 = 68, 69, 70, 77

_Laid = tuple[int, int]  # operation, leading dimension


def takes_floats(*specs: Spec, **_: Any) -> bool:
    """Whether the products here can run these inputs."""
    return all(spec.dtype in KINDS for spec in specs) and all(
        n <= MOST for spec in specs for n in spec.shape
    )


def _compute_type(dtype: np.dtype[Any]) -> int:
    """Return how cuBLAS is to multiply this type, as the environment says."""
    if dtype == FLOAT64:
        return _COMPUTE_64F
    if dtype != FLOAT32:
        return _COMPUTE_32F if MXNET_CUDA_ALLOW_TENSOR_CORE.value else _COMPUTE_32F_PEDANTIC
    rounds = MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.value and MXNET_CUDA_ALLOW_TENSOR_CORE.value
    return _COMPUTE_32F_FAST_TF32 if rounds else _COMPUTE_32F


def _laid(array: Any) -> _Laid | None:
    """Return how cuBLAS, which counts columns first, reads a row-major (..., rows, columns).

    It sees the transpose, which is what it is asked for. None: neither of the two axes is
    contiguous.
    """
    rows, columns = array.shape[-2:]
    down, across = array.strides[-2:]
    item = array.itemsize
    if (columns == 1 or across == item) and (rows == 1 or _steps(down, columns, item)):
        return _KEEP, columns if rows == 1 else down // item
    if (rows == 1 or down == item) and (columns == 1 or _steps(across, rows, item)):
        return _TRANSPOSE, rows if columns == 1 else across // item
    return None


def _steps(stride: int, extent: int, item: int) -> bool:
    """Whether a stride passes over ``extent`` elements and falls on one."""
    return stride >= extent * item and stride % item == 0


def _stack_strides(arrays: Sequence[Any], lead: Shape) -> list[int] | None:
    """Return the step from matrix to matrix of each array, or None if one step does not do.

    Args:
        arrays: Each (*lead, rows, columns), or with fewer axes or extents of 1 that broadcast.
        lead: The extents that count the matrices.
    """
    rank = len(lead)
    steps = []
    for array in arrays:
        missing = rank - (array.ndim - 2)
        along = [0] * missing + [
            0 if extent == 1 else stride
            for extent, stride in zip(array.shape[:-2], array.strides[:-2], strict=True)
        ]
        wanted = [(n, along[i]) for i, n in enumerate(lead) if n > 1]
        for (_, outer), (n, inner) in pairwise(wanted):
            if outer != inner * n:
                return None
        step = wanted[-1][1] if wanted else 0
        if step < 0 or step % array.itemsize:
            return None
        steps.append(step // array.itemsize)
    return steps


def _readable(xp: ModuleType, array: Any, lead: Shape) -> tuple[Any, _Laid, int]:
    """Return an operand as cuBLAS can read it, how it lies, and its step; copied if need be."""
    laid, steps = _laid(array), _stack_strides((array,), lead)
    if laid is None or steps is None:
        if steps is None:
            array = xp.broadcast_to(array, (*lead, *array.shape[-2:]))
        array = array.copy()
        laid, steps = _laid(array), _stack_strides((array,), lead)
        assert laid is not None
        assert steps is not None
    return array, laid, steps[0]


def multiply(
    xp: ModuleType, out: Any, a: Any, b: Any, alpha: float = 1.0, *, accumulate: bool = False
) -> None:
    """Set ``out`` to the products of matrices, or add them to it.

    Args:
        xp: CuPy.
        out: (..., m, n), of the operands' dtype; float32 for 16-bit operands if that is wanted.
        a: (..., m, k) in any layout; leading axes broadcast to those of ``out``.
        b: (..., k, n), likewise.
        alpha: Factor of the products.
        accumulate: Whether to add to what ``out`` holds.
    """
    if not out.size:
        return
    if not a.shape[-1]:
        if not accumulate:
            out[...] = 0
        return
    lead = out.shape[:-2]
    laid, steps = _laid(out), _stack_strides((out,), lead)
    if laid is None or laid[0] != _KEEP or steps is None:
        whole = out.copy() if accumulate else xp.empty(out.shape, out.dtype)
        multiply(xp, whole, a, b, alpha, accumulate=accumulate)
        out[...] = whole
        return
    a, (flip_a, lead_a), step_a = _readable(xp, a, lead)
    b, (flip_b, lead_b), step_b = _readable(xp, b, lead)
    kind = KINDS[a.dtype]
    m, n = out.shape[-2:]
    current_handle(xp).multiply(
        (n, m, a.shape[-1]),
        (alpha, 1.0 if accumulate else 0.0),
        Matrix(b.data.ptr, kind, flip_b, lead_b, step_b),
        Matrix(a.data.ptr, kind, flip_a, lead_a, step_a),
        Matrix(out.data.ptr, KINDS[out.dtype], _KEEP, laid[1], steps[0]),
        math.prod(lead),
        _compute_type(a.dtype),
        a.dtype == FLOAT64,
    )


def _swapped(array: Any, transpose: bool) -> Any:
    return array.swapaxes(-1, -2) if transpose else array


def dot(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> None:
    """Fill ``out`` with the product over lhs's last axis and rhs's first, or as transposed."""
    inner = lhs.shape[0 if transpose_a else -1]
    rows = math.prod(lhs.shape[1:] if transpose_a else lhs.shape[:-1])
    columns = math.prod(rhs.shape[:-1] if transpose_b else rhs.shape[1:])
    a = lhs.reshape((inner, rows) if transpose_a else (rows, inner))
    b = rhs.reshape((columns, inner) if transpose_b else (inner, columns))
    product = out.reshape(rows, columns)
    multiply(xp, product, _swapped(a, transpose_a), _swapped(b, transpose_b))


def batch_dot(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> None:
    """Fill ``out`` (..., m, n) with the products of the matrices in lhs and rhs."""
    multiply(xp, out, _swapped(lhs, transpose_a), _swapped(rhs, transpose_b))


def matmul(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    """Fill ``out`` as NumPy's matmul does: leading axes broadcast, vectors are rows or columns."""
    left = a.reshape(1, -1) if a.ndim == 1 else a
    right = b.reshape(-1, 1) if b.ndim == 1 else b
    lead = out.shape[: out.ndim - (a.ndim > 1) - (b.ndim > 1)]
    multiply(xp, out.reshape(*lead, left.shape[-2], right.shape[-1]), left, right)


def gemm2(
    xp: ModuleType,
    out: Any,
    a: Any,
    b: Any,
    *,
    transpose_a: bool,
    transpose_b: bool,
    alpha: float,
    axis: int,
) -> None:
    """Fill ``out`` with alpha times the products of matrices whose rows lie along ``axis``."""
    left, right, product = (xp.moveaxis(array, axis, -2) for array in (a, b, out))
    multiply(xp, product, _swapped(left, transpose_a), _swapped(right, transpose_b), alpha)
