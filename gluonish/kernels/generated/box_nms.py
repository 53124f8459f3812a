"""Boxes that remove worse ones which overlap them: the loop of box_nms and of detectors' outputs.

Each box waits for all before it, so one thread does it, comparison by comparison.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.detection.box_nms import BOX_NMS, box_nms_kernel
from gluonish.ops.detection.boxes import Matrix, Rule
from gluonish.ops.detection.multibox_detection import (
    MULTIBOX_DETECTION,
    multibox_detection_kernel,
)
from gluonish.ops.detection.proposal import MULTI_PROPOSAL, PROPOSAL, proposal_kernel
from gluonish.ops.kernel import BackEnd, FastKernel, address

# Words: boxes, classes, flags; count, whether classes count, whether equal overlaps go, most,
# threshold and border as bits.
_SOURCE = """
def body(begin, end, words):
    boxes, classes, kept = {view}(words[0]), {view}(words[1]), u8(words[2])
    count, by_class, equal, most = words[3], words[4], words[5], words[6]
    bound, border = {real}(as_float(words[7])), {real}(as_float(words[8]))
    none = {real}(0)
    found = 0
    for i in range(count):
        if kept[i] != 0 and found >= most:
            kept[i] = uint8(0)
        if kept[i] != 0:
            found += 1
            x1, y1, x2, y2 = boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]
            own = maximum(x2 - x1 + border, none) * maximum(y2 - y1 + border, none)
            for j in range(i + 1, count):
                if kept[j] != 0 and (by_class == 0 or classes[j] == classes[i]):
                    a1, b1 = boxes[4 * j], boxes[4 * j + 1]
                    a2, b2 = boxes[4 * j + 2], boxes[4 * j + 3]
                    wide = maximum(minimum(x2, a2) - maximum(x1, a1) + border, none)
                    tall = maximum(minimum(y2, b2) - maximum(y1, b1) + border, none)
                    common = wide * tall
                    other = maximum(a2 - a1 + border, none) * maximum(b2 - b1 + border, none)
                    union = own + other - common
                    share = none
                    if union > none:
                        share = common / union
                    if share > bound or (equal != 0 and share == bound):
                        kept[j] = uint8(0)
"""


@cache
def _compiled(view: str) -> CompiledKernel:
    real = {"f32": "float32", "f64": "float64"}[view]
    # Without contraction, so that overlaps at the threshold fall as they do in NumPy.
    return compile_kernel(_SOURCE.format(view=view, real=real), fastmath=())


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


def kept_by_overlap(boxes: Matrix, classes: Matrix | None, rule: Rule) -> Matrix:
    """Return which boxes remain; as `gluonish.ops.detection.boxes.kept_by_overlap`."""
    boxes = np.ascontiguousarray(boxes)
    kept = np.ones(len(boxes), np.uint8)
    named = boxes if classes is None else np.ascontiguousarray(classes)
    most = len(boxes) if rule.most is None else rule.most
    words = np.array(
        [
            *(address(x) for x in (boxes, named, kept)),
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
        _compiled(f"f{8 * boxes.itemsize}")(1, words)
    return kept.view(bool)


def _takes(*_specs: Any, **_attrs: Any) -> bool:
    return True


def _fast(run: Callable[..., None]) -> FastKernel:
    run = partial(run, suppress=kept_by_overlap)
    return FastKernel(
        BackEnd.GENERATED, "suppression", _takes, run=run, enabled=available, makes=(INT64,)
    )


KERNELS = (
    (BOX_NMS, _fast(box_nms_kernel)),
    (MULTIBOX_DETECTION, _fast(multibox_detection_kernel)),
    (PROPOSAL, _fast(proposal_kernel)),
    (MULTI_PROPOSAL, _fast(proposal_kernel)),
)
