"""Generated kernels for sort, argsort and topk along the last axis. Float32 only.

A row is sorted by its numbers' digits, eight bits at a time: as whole numbers of the same order,
in which all NaN are the largest, and both zeros are equal. Its few largest numbers are found by
going over it once.
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

# Elements of a row: fewer are quicker in NumPy, to find some or to sort all; more have no int32.
_SHORT, _SHORT_SORTED, _LONG = 48, 256, 1 << 31
_SMALL = 1 << 9  # elements below which NumPy is as fast
_ALONE = 1 << 12  # elements that one thread does
_FEW = 64  # numbers that are found in one pass

# Words: order, data, keys, other keys, other order; elements of a row, and whether the largest
# come first.
_SORT = """
def body(begin, end, words):
    order, x = i32(words[0]), f32(words[1])
    keys, spare, places = u32(words[2]), u32(words[3]), i32(words[4])
    count, turned = words[5], words[6]
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
            key = select(value != value, int64(4294967295), key) ^ turned
            keys[j] = uint32(key)
            order[j] = int32(j - at)
            for digit in range(4):
                place = 256 * digit + ((key >> (8 * digit)) & 255)
                totals[place] = uint32(totals[place] + 1)
        for digit in range(4):
            before = int64(0)
            for j in range(256 * digit, 256 * digit + 256):
                here = int64(totals[j])
                totals[j] = uint32(before)
                before = before + here
        for digit in range(0, 4, 2):
            for j in range(at, at + count):
                key = int64(keys[j])
                place = 256 * digit + ((key >> (8 * digit)) & 255)
                to = int64(totals[place])
                totals[place] = uint32(to + 1)
                spare[at + to] = uint32(key)
                places[at + to] = order[j]
            for j in range(at, at + count):
                key = int64(spare[j])
                place = 256 * digit + 256 + ((key >> (8 * digit + 8)) & 255)
                to = int64(totals[place])
                totals[place] = uint32(to + 1)
                keys[at + to] = uint32(key)
                order[at + to] = places[j]
"""

# Words: order, values, data; elements of a row, numbers that are wanted, and the sign that makes
# what comes first the largest. NaN comes first where the sign is 1, else last.
_FEW_FIRST = """
def body(begin, end, words):
    order, values, x = i32(words[0]), f32(words[1]), f32(words[2])
    count, most, sign = words[3], words[4], float32(words[5])
    nan_first = words[5] > 0
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
            place = found
            if found == most:
                place = most - 1
            while place > 0:
                other = values[to + place - 1]
                other_is_nan = other != other
                if is_nan or other_is_nan:
                    if is_nan == other_is_nan or is_nan != nan_first:
                        break
                elif value * sign <= other * sign:
                    break
                values[to + place] = other
                order[to + place] = order[to + place - 1]
                place = place - 1
            values[to + place] = value
            order[to + place] = int32(j)
            if found < most:
                found = found + 1
            least = values[to + found - 1]
            least_is_nan = least != least
"""


def _words(*values: Any) -> Array:
    return np.array([address(v) if isinstance(v, np.ndarray) else v for v in values], np.int64)


def _grain(count: int) -> int:
    return max(1, _ALONE // count)


def _sorted_order(data: Array, ascending: bool) -> Array:
    """Return the positions that sort the rows of contiguous data, int32."""
    count = data.shape[-1]
    order, places = (np.empty(data.shape, np.int32) for _ in "ab")
    keys, spare = (np.empty(data.shape, np.uint32) for _ in "ab")
    turned = 0 if ascending else 0xFFFFFFFF
    words = _words(order, data, keys, spare, places, count, turned)
    compile_kernel(_SORT)(data.size // count, words, _grain(count))
    return order


def _first_few(data: Array, most: int, ascending: bool) -> tuple[Array, Array]:
    """Return positions and values of the first numbers of each row as sorting would have them."""
    count = data.shape[-1]
    shape = (*data.shape[:-1], most)
    order, values = np.empty(shape, np.int32), np.empty(shape, np.float32)
    words = _words(order, values, data, count, most, -1 if ascending else 1)
    compile_kernel(_FEW_FIRST)(data.size // count, words, _grain(count))
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


def _takes(data: Spec, *, axis: int | None, k: int = 0, **_: Any) -> bool:
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
            *(BackEnd.GENERATED, op.name, _takes),
            run=run,
            enabled=available,
            alone=_ALONE,
            makes=KINDS,
        ),
    )
    for op, run in ((SORT, _sort), (ARGSORT, _argsort), (TOPK, _topk))
)
