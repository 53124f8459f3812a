"""box_iou: the overlap of every box with every other, in one pass."""

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.detection.boxes import BOX_IOU, as_corners
from gluonish.ops.kernel import BackEnd, FastKernel, address

_SMALL = 1 << 10  # pairs below which NumPy is faster
_GRAIN = 1 << 14  # minimum pairs for each thread

# Params: boxes, corners of the other boxes as four rows, result; number of other boxes.
_SOURCE = """
def body(begin, end, params):
    boxes, others, out, count = {view}(params[0]), {view}(params[1]), {view}(params[2]), params[3]
    none, one = {real}(0), {real}(1)
    for i in range(begin, end):
        x1, y1, x2, y2 = boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]
        area = maximum(x2 - x1, none) * maximum(y2 - y1, none)
        for j in range(count):
            independent()
            a1, b1 = others[j], others[count + j]
            a2, b2 = others[2 * count + j], others[3 * count + j]
            wide = maximum(minimum(x2, a2) - maximum(x1, a1), none)
            tall = maximum(minimum(y2, b2) - maximum(y1, b1), none)
            common = wide * tall
            union = area + maximum(a2 - a1, none) * maximum(b2 - b1, none) - common
            positive = union > none
            share = select(positive, common, none) / select(positive, union, one)
            out[i * count + j] = share
"""


@cache
def _compiled(itemsize: int) -> CompiledKernel:
    real = {4: "float32", 8: "float64"}[itemsize]
    # Without contraction, so that comparisons with a threshold agree with NumPy.
    return compile_kernel(_SOURCE.format(view=f"f{8 * itemsize}", real=real), fastmath=())


def _kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any, **attrs: str) -> None:
    boxes, others = (as_corners(np, x, attrs["format"]).reshape(-1, 4) for x in (lhs, rhs))
    boxes, others = np.ascontiguousarray(boxes), np.ascontiguousarray(others.T)
    made = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    count = others.shape[1]
    params = [address(boxes), address(others), address(made), count]
    kernel = _compiled(out.itemsize)
    kernel(len(boxes), np.array(params, np.int64), max(1, _GRAIN // count))
    if made is not out:
        out[...] = made


def _supports(lhs: Spec, rhs: Spec, **_: str) -> bool:
    return lhs.dtype in (FLOAT32, FLOAT64) and lhs.size // 4 * (rhs.size // 4) >= _SMALL


KERNELS = (
    (BOX_IOU, FastKernel(BackEnd.GENERATED, "box_iou", _supports, run=_kernel, enabled=available)),
)
