"""Matrix products on a GPU.

Products of 16-bit floats are summed in float32, in cuBLAS's pedantic mode if
``MXNET_CUDA_ALLOW_TENSOR_CORE`` is off. Float32 matrices are rounded to TensorFloat-32 (19 bits) if
``MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION`` allows it. Transposed and broadcast views need no
copy. CuPy's own products convert stacks of float16 to float32, reject bfloat16 and copy broadcast
operands.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
)
from gluonish.core.config.flag import changes, encoded, environment
from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.copies import copy, duplicate
from gluonish.kernels.cupy.cublas import MAX_EXTENT, Handle, Matrix, Product, current_handle
from gluonish.kernels.cupy.source import KINDS
from gluonish.ops.kernel import Attrs

# The settings of `compute_type`.
_SETTINGS = tuple(
    encoded(flag.name)
    for flag in (MXNET_CUDA_ALLOW_TENSOR_CORE, MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION)
)
# Constants of cublas_api.h.
_NO_TRANSPOSE, _TRANSPOSE = 0, 1
_COMPUTE_32F, _COMPUTE_32F_PEDANTIC, _COMPUTE_64F, _COMPUTE_32F_FAST_TF32 = 68, 69, 70, 77


class Layout(NamedTuple):
    """The layout of a stack of matrices.

    Attributes:
        operation: cuBLAS's operation: 0 for none, 1 to transpose. cuBLAS is column-major, so it
            reads a row-major matrix as its transpose, and computes the transposed product.
        lead: Elements from one row (or column) to the next.
        step: Elements from one matrix to the next.
    """

    operation: int
    lead: int
    step: int


def supports_floats(*specs: Spec, **_: Any) -> bool:
    """Whether cuBLAS supports the dtypes and extents of these inputs."""
    return all(spec.dtype in KINDS for spec in specs) and all(
        n <= MAX_EXTENT for spec in specs for n in spec.shape
    )


def compute_type(dtype: np.dtype[Any]) -> int:
    """Return cuBLAS's compute type for a dtype, as environment variables allow."""
    if dtype == FLOAT64:
        return _COMPUTE_64F
    if dtype != FLOAT32:
        return _COMPUTE_32F if MXNET_CUDA_ALLOW_TENSOR_CORE.value else _COMPUTE_32F_PEDANTIC
    rounds = MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.value and MXNET_CUDA_ALLOW_TENSOR_CORE.value
    return _COMPUTE_32F_FAST_TF32 if rounds else _COMPUTE_32F


def _matrix_layout(shape: Shape, strides: Shape, item: int) -> tuple[int, int] | None:
    """Return cuBLAS's operation and leading dimension for an array (..., rows, columns).

    Return None if neither of the last two axes is contiguous.
    """
    rows, columns = shape[-2:]
    down, across = strides[-2:]
    if (columns == 1 or across == item) and (rows == 1 or _is_lead(down, columns, item)):
        return _NO_TRANSPOSE, columns if rows == 1 else down // item
    if (rows == 1 or down == item) and (columns == 1 or _is_lead(across, rows, item)):
        return _TRANSPOSE, rows if columns == 1 else across // item
    return None


def _is_lead(stride: int, extent: int, item: int) -> bool:
    """Whether a stride is a multiple of the itemsize that spans at least ``extent`` elements."""
    return stride >= extent * item and stride % item == 0


def _stack_step(shape: Shape, strides: Shape, item: int, lead: Shape) -> int | None:
    """Return the elements between matrices, or None if they are not equally spaced.

    Args:
        shape: (*lead, rows, columns), or a shape that broadcasts to it.
        strides: The strides in bytes.
        item: The itemsize.
        lead: The leading axes of the result.
    """
    along = [0] * (len(lead) - len(shape) + 2)
    along += [0 if n == 1 else stride for n, stride in zip(shape[:-2], strides[:-2], strict=True)]
    counted = [(n, stride) for n, stride in zip(lead, along, strict=True) if n > 1]
    for (_, outer), (n, inner) in pairwise(counted):
        if outer != inner * n:
            return None
    step = counted[-1][1] if counted else 0
    return None if step < 0 or step % item else step // item


@lru_cache(maxsize=4096)
def _layout(shape: Shape, strides: Shape, item: int, lead: Shape) -> Layout | None:
    """Return the layout of an array broadcast to ``lead`` matrices; None if it needs a copy."""
    matrix = _matrix_layout(shape, strides, item)
    step = _stack_step(shape, strides, item, lead)
    return None if matrix is None or step is None else Layout(*matrix, step)


def _readable(xp: ModuleType, array: Any, lead: Shape) -> Any:
    """Return an operand, or a copy if cuBLAS cannot read it in place."""
    if _layout(array.shape, array.strides, array.itemsize, lead) is not None:
        return array
    if _stack_step(array.shape, array.strides, array.itemsize, lead) is None:
        array = xp.broadcast_to(array, (*lead, *array.shape[-2:]))
    return duplicate(xp, array)


def multiply(
    xp: ModuleType, out: Any, a: Any, b: Any, alpha: float = 1.0, *, accumulate: bool = False
) -> None:
    """Set ``out`` to the products of stacked matrices, or accumulate into it.

    Args:
        out: (..., m, n), of the operands' dtype; may be float32 for 16-bit operands.
        a: (..., m, k) in any layout; leading axes broadcast to those of ``out``.
        b: (..., k, n), likewise.
        alpha: Factor of the products.
    """
    inner = a.shape[-1]
    if not out.size:
        return
    if not inner:
        if not accumulate:
            out[...] = 0
        return
    product = bound_product(current_handle(xp), out, a, b, alpha, accumulate=accumulate)
    if product is None:
        _multiply_copies(xp, out, a, b, alpha, accumulate=accumulate)
    else:
        product.run(b.data.ptr, a.data.ptr, out.data.ptr)


def bound_product(
    handle: Handle, out: Any, a: Any, b: Any, alpha: float = 1.0, *, accumulate: bool = False
) -> Product | None:
    """Return the product for arrays of these layouts; None if one must be copied.

    Args:
        handle: The handle of the stream to multiply on; for the other arguments see `multiply`.
    """
    dtype = a.dtype
    compute = compute_type(dtype)
    key = (
        *(out.shape, out.strides, out.dtype, a.shape, a.strides, dtype),
        *(b.shape, b.strides, b.dtype, compute, alpha, accumulate),
    )
    product: Product | None = handle.products.get(key)
    if product is None:
        found = layouts(out, a, b)
        if found is None:
            return None
        target, left, right = found
        product = handle.bind(
            (out.shape[-1], out.shape[-2], a.shape[-1]),
            (alpha, 1.0 if accumulate else 0.0),
            Matrix(KINDS[b.dtype], *right),
            Matrix(KINDS[dtype], *left),
            Matrix(KINDS[out.dtype], *target),
            math.prod(out.shape[:-2]),
            compute,
            dtype == FLOAT64,
        )
        handle.products.add(key, product)
    return product


def layouts(out: Any, a: Any, b: Any) -> tuple[Layout, Layout, Layout] | None:
    """Return the layouts of a product and its factors in cuBLAS; None if one must be copied."""
    lead = out.shape[:-2]
    target, left, right = (_layout(x.shape, x.strides, x.itemsize, lead) for x in (out, a, b))
    if target is None or target.operation != _NO_TRANSPOSE or left is None or right is None:
        return None
    return target, left, right


def _multiply_copies(
    xp: ModuleType, out: Any, a: Any, b: Any, alpha: float, *, accumulate: bool
) -> None:
    """Multiply copies of the arrays that cuBLAS cannot read or write in place."""
    lead = out.shape[:-2]
    target = _layout(out.shape, out.strides, out.itemsize, lead)
    if target is not None and target.operation == _NO_TRANSPOSE:
        a, b = _readable(xp, a, lead), _readable(xp, b, lead)
        multiply(xp, out, a, b, alpha, accumulate=accumulate)
        return
    made = duplicate(xp, out) if accumulate else xp.empty(out.shape, out.dtype)
    multiply(xp, made, a, b, alpha, accumulate=accumulate)
    copy(xp, out, made)


def _swapped(array: Any, transpose: bool) -> Any:
    return array.swapaxes(-1, -2) if transpose else array


def dot(xp: ModuleType, out: Any, lhs: Any, rhs: Any, **attrs: Any) -> None:
    """Compute the operator ``dot``: the product over lhs's last axis and rhs's first."""
    multiply(xp, *dot_operands(out, lhs, rhs, **attrs))


def dot_operands(
    out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> tuple[Any, Any, Any]:
    """Return the matrices of ``dot``: the product and its factors."""
    inner = lhs.shape[0 if transpose_a else -1]
    rows = math.prod(lhs.shape[1:] if transpose_a else lhs.shape[:-1])
    columns = math.prod(rhs.shape[:-1] if transpose_b else rhs.shape[1:])
    a = lhs.reshape((inner, rows) if transpose_a else (rows, inner))
    b = rhs.reshape((columns, inner) if transpose_b else (inner, columns))
    product = out.reshape(rows, columns)
    return product, _swapped(a, transpose_a), _swapped(b, transpose_b)


class AttachedProduct:
    """A product in memory of a graph, whose layouts and settings are looked at once.

    Args:
        matrices: Function that returns the matrices of output and inputs, under the attributes.
        operands: Index of output and inputs among the arrays of `run`.
    """

    __slots__ = (
        "_attrs",
        "_handle",
        "_layouts",
        "_matrices",
        "_operands",
        "_run",
        "_settings",
        "_xp",
    )

    def __init__(
        self,
        matrices: Callable[..., tuple[Any, Any, Any]],
        xp: ModuleType,
        operands: Sequence[int],
        attrs: Attrs,
    ) -> None:
        self._matrices = matrices
        self._xp = xp
        self._operands = operands
        self._attrs = attrs
        self._handle: Handle | None = None  # while it is not bound
        self._run: Callable[[int, int, int], None]
        self._layouts: Any = None
        self._settings: Any = None

    def run(self, arrays: Sequence[Any]) -> None:
        """Multiply on the current stream."""
        i, j, k = self._operands
        out, lhs, rhs = used = arrays[i], arrays[j], arrays[k]
        handle = current_handle(self._xp)
        settings = (*map(environment.get, _SETTINGS), changes[0])
        bound = handle is self._handle and settings == self._settings
        if bound and (out.strides, lhs.strides, rhs.strides) == self._layouts:
            self._run(rhs.data.ptr, lhs.data.ptr, out.data.ptr)
        else:
            self._run_otherwise(handle, settings, used)

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""

    def _run_otherwise(self, handle: Handle, settings: Any, used: tuple[Any, Any, Any]) -> None:
        """Multiply arrays that it is not bound to, and bind it to arrays like them."""
        out, a, b = self._matrices(*used, **self._attrs)
        multiply(self._xp, out, a, b)
        # Of reshaped matrices some may be copies.
        in_place = [x.data.ptr for x in (out, a, b)] == [x.data.ptr for x in used]
        product = bound_product(handle, out, a, b) if in_place and a.size and out.size else None
        self._handle = None if product is None else handle
        if product is not None:
            self._run = product.run
            self._layouts = tuple(x.strides for x in used)
            self._settings = settings


def attach_dot(
    xp: ModuleType, operands: Sequence[int], movable: Collection[int], attrs: Attrs
) -> AttachedProduct:
    """Attach ``dot`` to memory of a graph; see `FastKernel`."""
    return AttachedProduct(dot_operands, xp, operands, attrs)


def attach_batch_dot(
    xp: ModuleType, operands: Sequence[int], movable: Collection[int], attrs: Attrs
) -> AttachedProduct:
    """Attach ``batch_dot`` to memory of a graph; see `FastKernel`."""
    return AttachedProduct(batch_dot_operands, xp, operands, attrs)


def batch_dot(xp: ModuleType, out: Any, lhs: Any, rhs: Any, **attrs: Any) -> None:
    """Compute the products of stacked matrices."""
    multiply(xp, *batch_dot_operands(out, lhs, rhs, **attrs))


def batch_dot_operands(
    out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> tuple[Any, Any, Any]:
    """Return the stacked matrices of ``batch_dot``: the products and their factors."""
    return out, _swapped(lhs, transpose_a), _swapped(rhs, transpose_b)


def matmul(xp: ModuleType, out: Any, a: Any, b: Any, alpha: float = 1.0) -> None:
    """Compute NumPy's matmul: leading axes broadcast, vectors are rows or columns."""
    if b.ndim == 1:
        out, b = out[..., None], b[:, None]
    if a.ndim == 1:
        out, a = out[..., None, :], a[None]
    multiply(xp, out, a, b, alpha)


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
    """Compute alpha times the products of matrices whose rows are along ``axis``."""
    left, right, product = (xp.moveaxis(array, axis, -2) for array in (a, b, out))
    multiply(xp, product, _swapped(left, transpose_a), _swapped(right, transpose_b), alpha)


def is_even(shape: Shape, strides: Shape) -> bool:
    """Whether cuBLAS takes stacked matrices with these strides, in elements, where they lie.

    They are evenly spaced, one axis of a matrix has a stride of 1, and its rows (or columns) do not
    overlap.
    """
    lead = [(n, step) for n, step in zip(shape[:-2], strides[:-2], strict=True) if n > 1]
    even = all(outer == inner * n for (_, outer), (n, inner) in pairwise(lead))
    (rows, columns), (down, across) = shape[-2:], strides[-2:]
    return even and ((across == 1 and down >= columns) or (down == 1 and across >= rows))
