"""Non-maximum suppression: the loop of box_nms and of detectors' outputs.

Each box depends on all boxes before it, so the loop is sequential, in one thread.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.detection.box_nms import BOX_NMS, box_nms_kernel
from gluonish.ops.detection.boxes import Matrix, Rule
from gluonish.ops.detection.multibox import (
    MULTIBOX_DETECTION,
    multibox_detection_kernel,
)
from gluonish.ops.detection.proposal import MULTI_PROPOSAL, PROPOSAL, proposal_kernel
from gluonish.ops.kernel import BackEnd, FastKernel, address

# Params: boxes, classes, flags; count, whether to compare classes, whether to remove boxes at the
# threshold, maximum number of boxes, threshold and border as bits.
_SOURCE = """
def body(begin, end, params):
    boxes, classes, keep = {view}(params[0]), {view}(params[1]), u8(params[2])
    count, by_class, equal, most = params[3], params[4], params[5], params[6]
    bound, border = {real}(as_float(params[7])), {real}(as_float(params[8]))
    none = {real}(0)
    found = 0
    for i in range(count):
        if keep[i] != 0 and found >= most:
            keep[i] = uint8(0)
        if keep[i] != 0:
            found += 1
            x1, y1, x2, y2 = boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]
            area = maximum(x2 - x1 + border, none) * maximum(y2 - y1 + border, none)
            for j in range(i + 1, count):
                if keep[j] != 0 and (by_class == 0 or classes[j] == classes[i]):
                    a1, b1 = boxes[4 * j], boxes[4 * j + 1]
                    a2, b2 = boxes[4 * j + 2], boxes[4 * j + 3]
                    wide = maximum(minimum(x2, a2) - maximum(x1, a1) + border, none)
                    tall = maximum(minimum(y2, b2) - maximum(y1, b1) + border, none)
                    common = wide * tall
                    other = maximum(a2 - a1 + border, none) * maximum(b2 - b1 + border, none)
                    union = area + other - common
                    share = none
                    if union > none:
                        share = common / union
                    if share > bound or (equal != 0 and share == bound):
                        keep[j] = uint8(0)
"""


@cache
def _compiled(view: str) -> CompiledKernel:
    real = {"f32": "float32", "f64": "float64"}[view]
    # Without contraction, so that comparisons with the threshold agree with NumPy.
    return compile_kernel(_SOURCE.format(view=view, real=real), fastmath=())


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


def suppress_overlaps(boxes: Matrix, classes: Matrix | None, rule: Rule) -> Matrix:
    """Return a mask of remaining boxes, like `gluonish.ops.detection.boxes.suppress_overlaps`."""
    boxes = np.ascontiguousarray(boxes)
    keep = np.ones(len(boxes), np.uint8)
    named = boxes if classes is None else np.ascontiguousarray(classes)
    most = len(boxes) if rule.most is None else rule.most
    params = np.array(
        [
            *(address(x) for x in (boxes, named, keep)),
            len(boxes),
            classes is not None,
            rule.equal,
            most,
            _bits(boxes.dtype.type(rule.threshold)),
            _bits(rule.border),
        ],
        np.int64,
    )
    if len(boxes):
        _compiled(f"f{8 * boxes.itemsize}")(1, params)
    return keep.view(bool)


def _supports(*_specs: Any, **_attrs: Any) -> bool:
    return True


def _fast(run: Callable[..., None]) -> FastKernel:
    run = partial(run, suppress=suppress_overlaps)
    return FastKernel(
        BackEnd.GENERATED, "suppression", _supports, run=run, enabled=available, makes=(INT64,)
    )


KERNELS = (
    (BOX_NMS, _fast(box_nms_kernel)),
    (MULTIBOX_DETECTION, _fast(multibox_detection_kernel)),
    (PROPOSAL, _fast(proposal_kernel)),
    (MULTI_PROPOSAL, _fast(proposal_kernel)),
)
