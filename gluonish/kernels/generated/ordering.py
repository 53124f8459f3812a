"""Generated kernels for sort, argsort and topk along the last axis. Float32 only.

Rows are radix-sorted, eight bits at a time, by integer keys that have the same order, in which NaN
is the largest and both zeros are equal. The few largest numbers of a row are found in one pass.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.expressions import KINDS
from gluonish.ops.kernel import Array, BackEnd, FastKernel, address
from gluonish.ops.reductions.ordering import ARGSORT, SORT, TOPK

# Elements per row below which NumPy is faster for topk or sort; from _LONG, indices exceed int32.
_SHORT, _SHORT_SORTED, _LONG = 48, 256, 1 << 31
_SMALL = 1 << 9  # elements below which NumPy is as fast
_SINGLE_THREAD = 1 << 12  # elements up to which one thread is used
_FEW = 64  # maximum k of the one-pass topk

# Params: order, data, keys, spare keys, spare order; elements of a row, and a mask that inverts
# keys for descending order.
_SORT = """
def body(begin, end, params):
    order, x = i32(params[0]), f32(params[1])
    keys, spare, spare_order = u32(params[2]), u32(params[3]), i32(params[4])
    count, inverted = params[5], params[6]
    totals = scratch()
    for row in range(begin, end):
        at = row * count
        for j in range(1024):
            independent()
            totals[j] = uint32(0)
        for j in range(at, at + count):
            value = x[j] + float32(0)
            bits = int64(bits_of_float(value))
            key = select(bits >= 2147483648, 4294967295 - bits, bits + 2147483648)
            key = select(value != value, int64(4294967295), key) ^ inverted
            keys[j] = uint32(key)
            order[j] = int32(j - at)
            for digit in range(4):
                slot = 256 * digit + ((key >> (8 * digit)) & 255)
                totals[slot] = uint32(totals[slot] + 1)
        for digit in range(4):
            before = int64(0)
            for j in range(256 * digit, 256 * digit + 256):
                here = int64(totals[j])
                totals[j] = uint32(before)
                before = before + here
        for digit in range(0, 4, 2):
            for j in range(at, at + count):
                key = int64(keys[j])
                slot = 256 * digit + ((key >> (8 * digit)) & 255)
                to = int64(totals[slot])
                totals[slot] = uint32(to + 1)
                spare[at + to] = uint32(key)
                spare_order[at + to] = order[j]
            for j in range(at, at + count):
                key = int64(spare[j])
                slot = 256 * digit + 256 + ((key >> (8 * digit + 8)) & 255)
                to = int64(totals[slot])
                totals[slot] = uint32(to + 1)
                keys[at + to] = uint32(key)
                order[at + to] = spare_order[j]
"""

# Params: order, values, data; elements of a row, k, and a sign: 1 for the largest first with NaN
# first, -1 for the smallest first with NaN last.
_FEW_FIRST = """
def body(begin, end, params):
    order, values, x = i32(params[0]), f32(params[1]), f32(params[2])
    count, most, sign = params[3], params[4], float32(params[5])
    nan_first = params[5] > 0
    for row in range(begin, end):
        at, to = row * count, row * most
        found = 0
        least = float32(0)
        least_is_nan = False
        for j in range(count):
            value = x[at + j]
            is_nan = value != value
            if found == most:
                if is_nan or least_is_nan:
                    if is_nan == least_is_nan or is_nan != nan_first:
                        continue
                elif value * sign <= least * sign:
                    continue
            slot = found
            if found == most:
                slot = most - 1
            while slot > 0:
                other = values[to + slot - 1]
                other_is_nan = other != other
                if is_nan or other_is_nan:
                    if is_nan == other_is_nan or is_nan != nan_first:
                        break
                elif value * sign <= other * sign:
                    break
                values[to + slot] = other
                order[to + slot] = order[to + slot - 1]
                slot = slot - 1
            values[to + slot] = value
            order[to + slot] = int32(j)
            if found < most:
                found = found + 1
            least = values[to + found - 1]
            least_is_nan = least != least
"""


def _params(*values: Any) -> Array:
    return np.array([address(v) if isinstance(v, np.ndarray) else v for v in values], np.int64)


def _grain(count: int) -> int:
    return max(1, _SINGLE_THREAD // count)


def _sorted_order(data: Array, ascending: bool) -> Array:
    """Return the int32 indices that sort the rows of contiguous data."""
    count = data.shape[-1]
    order, spare_order = (np.empty(data.shape, np.int32) for _ in "ab")
    keys, spare = (np.empty(data.shape, np.uint32) for _ in "ab")
    inverted = 0 if ascending else 0xFFFFFFFF
    params = _params(order, data, keys, spare, spare_order, count, inverted)
    compile_kernel(_SORT)(data.size // count, params, _grain(count))
    return order


def _first_few(data: Array, most: int, ascending: bool) -> tuple[Array, Array]:
    """Return the indices and values of the first ``most`` numbers of each sorted row."""
    count = data.shape[-1]
    shape = (*data.shape[:-1], most)
    order, values = np.empty(shape, np.int32), np.empty(shape, np.float32)
    params = _params(order, values, data, count, most, -1 if ascending else 1)
    compile_kernel(_FEW_FIRST)(data.size // count, params, _grain(count))
    return order, values


def _rows(data: Array, axis: int | None) -> Array:
    rows: Array = np.ascontiguousarray(data.reshape(-1) if axis is None else data)
    return rows


def _sort(
    xp: ModuleType, out: Sequence[Array], data: Array, *, axis: int | None, is_ascend: bool
) -> None:
    rows = _rows(data, axis)
    order = _sorted_order(rows, is_ascend)
    out[0][...] = np.take_along_axis(rows, order, axis=-1)
    out[1][...] = order


def _argsort(
    xp: ModuleType, out: Array, data: Array, *, axis: int | None, is_ascend: bool, dtype: Any
) -> None:
    out[...] = _sorted_order(_rows(data, axis), is_ascend)


def _topk(
    xp: ModuleType,
    out: Sequence[Array] | Array,
    data: Array,
    *,
    axis: int | None,
    k: int,
    ret_typ: str,
    is_ascend: bool,
    dtype: Any,
) -> None:
    outputs: list[Array] = [out] if isinstance(out, np.ndarray) else list(out)
    rows = _rows(data, axis)
    if 0 < k <= _FEW:
        order, values = _first_few(rows, k, is_ascend)
    else:
        order = _sorted_order(rows, is_ascend)[..., : k if k > 0 else None]
        values = np.take_along_axis(rows, order, axis=-1)
    if ret_typ == "mask":
        mask = np.zeros(rows.shape, np.float32)
        np.put_along_axis(mask, order, 1, axis=-1)
        outputs[0][...] = mask.reshape(data.shape)
    elif ret_typ == "indices":
        outputs[0][...] = order
    else:
        outputs[0][...] = values
        if ret_typ == "both":
            outputs[1][...] = order


def _supports(data: Spec, *, axis: int | None, k: int = 0, **_: Any) -> bool:
    if data.dtype != FLOAT32 or not MXNET_USE_FUSION.value or data.size < _SMALL:
        return False
    rank = len(data.shape)
    if axis is not None and axis % rank != rank - 1:
        return False
    least = _SHORT if 0 < k <= _FEW else _SHORT_SORTED
    return least <= (data.size if axis is None else data.shape[-1]) < _LONG


KERNELS = tuple(
    (
        op,
        FastKernel(
            *(BackEnd.GENERATED, op.name, _supports),
            run=run,
            enabled=available,
            serial_limit=_SINGLE_THREAD,
            makes=KINDS,
        ),
    )
    for op, run in ((SORT, _sort), (ARGSORT, _argsort), (TOPK, _topk))
)
