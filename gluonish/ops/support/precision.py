"""How reference kernels round: 16-bit floats and integers compute wide, long sums are exact.

Sums of 16-bit floats lose everything after the first few hundred terms, and NumPy and CuPy
disagree about bfloat16, so kernels widen such arrays to float32. Real functions of integers are
computed in float64, and truncated. Python numbers are converted to the array's dtype.

NumPy sums pairwise only along the densest axis in memory; over other axes it adds term by term, and
loses a digit for every factor of 100 in terms. Here at most `_BLOCK` terms are added like this in
float32, and the partial sums in float64, in the time of NumPy's sum.

`fill_product` computes the matrix products of reference kernels, by the array module or a
registered back end.
"""

import math
import sys
import warnings
from collections.abc import Callable
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, exact_up_to, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.spec import Shape

_ALL_BITS = 2**64 - 1  # bits of an integer used before conversion to its dtype


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is float16 or bfloat16."""
    return dtype in (FLOAT16, BFLOAT16)


def check_number(operator: str, dtype: np.dtype[Any], number: float) -> None:
    """Check that a dtype can represent a number.

    Raises:
        OperatorError: The number is infinite or NaN, and the dtype is integral.
    """
    if dtype.kind in "iu" and not math.isfinite(number):
        raise OperatorError(
            f"{operator}: expected a finite number for {dtype.name} data, got {number}; "
            "cast the data with astype"
        )


def check_positions(operator: str, count: int, dtype: np.dtype[Any], advice: str) -> None:
    """Check that a dtype can represent the index of every element of a row.

    Raises:
        OperatorError: Large indices would wrap around or be rounded.
    """
    limit = exact_up_to(dtype)
    if count > limit + 1:
        raise OperatorError(
            f"{operator}: expected a dtype that holds the positions of {count} elements, got "
            f"{dtype.name}, which is exact up to {limit}; {advice}"
        )


def _holds_steps(dtype: np.dtype[Any], first: float, step: float, count: int) -> bool:
    """Whether a dtype represents a progression: integers exactly, fractions as distinct values."""
    last = first + step * max(0, count - 1)
    farthest, limit = max(abs(first), abs(last)), exact_up_to(dtype)
    if count < 2 or not math.isfinite(farthest):
        return True
    if not is_floating(dtype):
        return farthest <= limit and (dtype.kind != "u" or min(first, last) >= 0)
    if float(first).is_integer() and float(step).is_integer():
        shared = math.gcd(int(first), int(step))
        return farthest <= limit * (shared & -shared)  # common powers of two cost no digit
    return abs(step) * limit >= 2.0 ** (math.floor(math.log2(farthest)) + 1)


def check_steps(operator: str, dtype: np.dtype[Any], first: float, step: float, count: int) -> None:
    """Check that a dtype represents ``count`` values from ``first`` in steps of ``step``.

    Raises:
        OperatorError: Some values would be repeated or rounded.
    """
    if not _holds_steps(dtype, first, step, count):
        about = _about_steps(dtype, first, step, count)
        raise OperatorError(f"{operator}: {about}; cast the data with astype, to int64 for one")


def warn_of_rounded_steps(
    operator: str, dtype: np.dtype[Any], first: float, step: float, count: int
) -> None:
    """Warn where `check_steps` raises, unless MXNet 1.9's rules are followed."""
    if not _holds_steps(dtype, first, step, count) and not follows_mxnet():
        about = _about_steps(dtype, first, step, count)
        message = f"{operator}: {about}; name a dtype that holds them, such as int64"
        warnings.warn(message, RuntimeWarning, stacklevel=_level_of_program())


def _level_of_program() -> int:
    """Return the stack level of the first line outside gluonish, for a warning of the caller.

    Warnings at gluonish's lines are filtered out: see `gluonish.ops.registry`.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("gluonish."):
        frame, level = frame.f_back, level + 1
    return level


def _about_steps(dtype: np.dtype[Any], first: float, step: float, count: int) -> str:
    last = first + step * (count - 1)
    return (
        f"expected a dtype that holds {count} values from {first:.10g} to {last:.10g} in steps of "
        f"{step:.10g}, got {dtype.name}, which is exact up to {exact_up_to(dtype)} and rounds or "
        "repeats some"
    )


def in_dtype(dtype: np.dtype[Any], number: float) -> Any:
    """Return a number in an array's dtype; integer dtypes truncate and wrap around.

    Raises:
        OperatorError: Infinity or NaN for an integer dtype.
    """
    if is_floating(dtype):
        return dtype.type(number)
    if not math.isfinite(number):
        if dtype.kind == "b":
            return np.True_
        raise OperatorError(
            f"expected a finite number for {dtype.name} data, got {number}; "
            "cast the data with astype('float32')"
        )
    return np.uint64(int(number) & _ALL_BITS).astype(dtype)


def comparable(xp: ModuleType, data: Any, number: float) -> tuple[Any, Any]:
    """Return integers and a number converted so that comparing them is exact.

    An integer is converted to the data's dtype; data are converted to float64 for a fraction; a
    number outside the dtype's range becomes infinity.
    """
    limits = np.iinfo(data.dtype)
    if limits.min <= number <= limits.max:
        if number == int(number):
            return data, data.dtype.type(int(number))
    elif not math.isnan(number):
        number = math.inf if number > 0 else -math.inf
    return data.astype(xp.float64), number


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which sums of ``dtype`` are formed."""
    return FLOAT32 if is_narrow(dtype) else dtype


def widen(x: Any) -> Any:
    """Return a 16-bit float array in float32, and any other array itself."""
    return x.astype(FLOAT32) if is_narrow(x.dtype) else x


def as_real(xp: ModuleType, x: Any) -> Any:
    """Return an array as float32 or float64: integers become float64, 16-bit floats float32."""
    return widen(x) if is_floating(x.dtype) else x.astype(xp.float64)


Axes = tuple[int, ...]

_SMALL = 1 << 12  # number of elements up to which a float64 sum is as fast
_BLOCK = 64  # terms added sequentially in float32
_LONG = 1 << 20  # row length from which a running sum restarts
_RESTART = 1 << 10  # elements between restarts


def total(
    xp: ModuleType, data: Any, axes: Axes, dtype: Any = None, *, keepdims: bool = False
) -> Any:
    """Return the sum of elements over axes.

    Args:
        xp: NumPy, or CuPy, whose sums are trees.
        data: Any dtype; only sums of float32 differ from NumPy's.
        axes: Ascending, from 0.
        dtype: Dtype of the accumulator; the dtype of data by default.

    Returns:
        In ``dtype``, or float64 for a float32 sum that was accumulated in it.
    """
    same = dtype is None or dtype == data.dtype
    if xp is not np or data.dtype != FLOAT32 or not same or not data.size:
        return xp.add.reduce(data, axis=axes, dtype=dtype, keepdims=keepdims)
    found = (
        np.add.reduce(data, axis=axes, dtype=FLOAT64)
        if data.size <= _SMALL
        else _dense_last(data, axes)
    )
    if keepdims:
        found = np.expand_dims(found, axes)
    return found


def average(xp: ModuleType, data: Any, axes: Axes, dtype: Any) -> Any:
    """Return the mean of elements over axes; arguments of `total`.

    Returns:
        In ``dtype``, or float64 where ``dtype`` is integral. A mean is infinite where the sum
        overflows in ``dtype``, as in MXNet.
    """
    count = max(1, prod(data.shape[i] for i in axes))
    return total(xp, data, axes, dtype).astype(dtype, copy=False) / count


def running_total(xp: ModuleType, data: Any, axis: int, dtype: Any) -> Any:
    """Return the cumulative sum along an axis, accumulated in ``dtype``.

    A long sum of float32 restarts every `_RESTART` elements, with offsets summed in float64: a
    sequential sum of ones would stop at 2 ** 24.
    """
    count = data.shape[axis]
    # By the ufunc: np.cumsum would attribute warnings of inf - inf to NumPy.
    accumulate = np.add.accumulate if xp is np else xp.cumsum
    if xp is not np or dtype != FLOAT32 or count < _LONG or not data.size:
        return accumulate(data, axis=axis, dtype=dtype)
    moved = np.moveaxis(data, axis, -1)
    found = np.empty(moved.shape, FLOAT32)
    whole = count - count % _RESTART
    blocks = moved[..., :whole].reshape(*moved.shape[:-1], -1, _RESTART)
    before = accumulate(np.add.reduce(blocks, axis=-1, dtype=FLOAT64), axis=-1)
    parts = found[..., :whole].reshape(blocks.shape)
    accumulate(blocks, axis=-1, dtype=FLOAT32, out=parts)
    parts[..., 1:, :] += before[..., :-1, None].astype(FLOAT32)
    accumulate(moved[..., whole:], axis=-1, dtype=FLOAT32, out=found[..., whole:])
    found[..., whole:] += before[..., -1:].astype(FLOAT32)
    return np.moveaxis(found, -1, axis)


def _dense_last(data: Any, axes: Axes) -> Any:
    """Sum with axes sorted by memory order, and restore the order of the remaining axes."""
    if data.flags.c_contiguous:
        return _sum(data, axes)
    order = sorted(range(data.ndim), key=lambda i: -abs(data.strides[i]))
    found = _sum(data.transpose(order), tuple(i for i, k in enumerate(order) if k in axes))
    left = [k for k in order if k not in axes]
    return found.transpose([left.index(k) for k in sorted(left)])


def _sum(data: Any, axes: Axes) -> Any:
    """Sum over ascending axes of an array whose last axis is the densest."""
    outer = _outer(data.shape, axes)
    if len(outer) < len(axes):  # NumPy's pairwise sum
        data = np.add.reduce(data, axis=axes[len(outer) :])
    if outer:
        data = _blocks(data, outer)
    return data


def _outer(shape: Shape, axes: Axes) -> Axes:
    """Return the reduced axes that are not trailing; axes of size 1 count as trailing."""
    last = len(shape) - 1
    outer = list(axes)
    while outer and (outer[-1] == last or shape[last] == 1):
        if outer[-1] == last:
            outer.pop()
        last -= 1
    return tuple(outer)


def _blocks(data: Any, axes: Axes) -> Any:
    """Sum over leading axes: in float32 blocks along the longest axis, then in float64."""
    axis = max(axes, key=lambda i: data.shape[i])
    count = data.shape[axis]
    if count <= _BLOCK:
        if len(axes) == 1:
            return np.add.reduce(data, axis=axis)
        parts = np.add.reduce(data, axis=axis, keepdims=True)
        return np.add.reduce(parts, axis=axes, dtype=FLOAT64)
    whole = count - count % _BLOCK
    before, behind = data.shape[:axis], data.shape[axis + 1 :]
    head = (slice(None),) * axis
    blocks = data[(*head, slice(whole))].reshape(*before, whole // _BLOCK, _BLOCK, *behind)
    parts = np.add.reduce(blocks, axis=axis + 1)
    found = np.add.reduce(parts, axis=axes, dtype=FLOAT64)
    if whole < count:
        rest = np.add.reduce(data[(*head, slice(whole, None))], axis=axis, keepdims=True)
        found = found + np.add.reduce(rest, axis=axes, dtype=FLOAT64)
    return found


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
