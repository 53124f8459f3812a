"""Bounding boxes: overlap, decoding, anchors, and non-maximum suppression."""

from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, INT64
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.families.rearrangement import constant_of
from gluonish.onnx.exporting.steps import (
    clip,
    concat,
    filled,
    gather,
    reduced,
    reshaped,
    select,
    sliced,
    to_shape,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Body, Tensor


def _column(x: Tensor, index: int) -> Tensor:
    """Return one column: an element of every row."""
    return gather(x, np.array(index), -1)


def _corners(boxes: Tensor, kind: str) -> list[Tensor]:
    """Return the corners x1, y1, x2 and y2 of boxes in format ``kind``."""
    a, b, c, d = (_column(boxes, i) for i in range(4))
    if kind == "corner":
        return [a, b, c, d]
    return [a - c * 0.5, b - d * 0.5, a + c * 0.5, b + d * 0.5]


def _overlap(left: list[Tensor], right: list[Tensor]) -> Tensor:
    """Return the intersection over union of boxes, with broadcasting."""
    emitter = left[0].emitter

    def length(low: int, high: int) -> Tensor:
        end = emitter("Min", left[high], right[high])
        begin = emitter("Max", left[low], right[low])
        return emitter("Relu", end - begin)

    both = length(0, 2) * length(1, 3)
    areas = [emitter("Relu", b[2] - b[0]) * emitter("Relu", b[3] - b[1]) for b in (left, right)]
    union = areas[0] + areas[1] - both
    return select(union <= 0.0, 0.0, both / select(union <= 0.0, 1.0, union))


def _first(call: Call, keys: Tensor, count: int, dtype: Any, largest: int) -> Tensor:
    """Return the indices that sort each row of keys."""
    options = {"axis": 1, "largest": largest}
    _, order = call.emitter.several("TopK", 2, keys, [count], dtypes=[dtype, INT64], **options)
    return order


def _detection(call: Call) -> Tensor:
    """Return rows (class, score, box), those above the threshold first, after suppression."""
    scores, moves, anchors = call.inputs
    classes, count, dtype = scores.size(1), scores.size(2), scores.dtype
    if classes < 2:
        return filled(call.emitter, call.out.shape, -1, dtype)
    own = sliced(scores, [1], [classes], [1])
    score = reduced("ReduceMax", own, [1])
    valid = score >= float(call["threshold"])
    boxes = _moved_anchors(call, reshaped(moves, [0, count, 4]), anchors)
    kind = call("ArgMax", own, axis=1, keepdims=0).to(dtype)
    rows = concat([unsqueezed(kind, 2), unsqueezed(score, 2), boxes], 2)
    indices = call.constant(np.arange(count))
    order = _first(call, select(valid, indices, indices + count), count, INT64, largest=0)
    rows, valid = _rows(call, rows, order, 6), call("GatherElements", valid, order, axis=1)
    there = unsqueezed(valid, 2)
    if not 0 < call["nms_threshold"] <= 1:
        return select(there, rows, -1.0)
    ranked = select(valid, _column(rows, 1), float(np.finfo(np.float32).min))
    best = _rows(call, rows, _first(call, ranked, count, dtype, largest=1), 6)
    looked = valid
    if call["nms_topk"] > 0:
        looked = valid & call.constant(np.arange(count) < call["nms_topk"])
    kept = _suppressed(call, _removals_of(call, best, count), looked)
    found = select(unsqueezed(looked, 2), _with_class(best, kept), _with_class(rows, None))
    return select(there, found, -1.0)


def _with_class(rows: Tensor, kept: Tensor | None) -> Tensor:
    """Set the class of suppressed boxes to -1; of all boxes if ``kept`` is None."""
    kind = sliced(rows, [0], [1], [2])
    none = kind * 0.0 - 1.0
    kind = none if kept is None else select(unsqueezed(kept, 2), kind, none)
    return concat([kind, sliced(rows, [1], [6], [2])], 2)


def _removals_of(call: Call, rows: Tensor, count: int) -> Tensor:
    ends = _corners(sliced(rows, [2], [6], [2]), "corner")
    overlap = _overlap([unsqueezed(v, 2) for v in ends], [unsqueezed(v, 1) for v in ends])
    removes = overlap >= float(call["nms_threshold"])
    removes = removes & call.constant(np.triu(np.ones((count, count), bool), 1))
    if not call["force_suppress"]:
        kind = _column(rows, 0)
        removes = removes & call("Equal", unsqueezed(kind, 2), unsqueezed(kind, 1))
    made = transposed(removes, [1, 0, 2])
    made.shape = (count, -1, count)
    return made


def _moved_anchors(call: Call, moves: Tensor, anchors: Tensor) -> Tensor:
    x1, y1, x2, y2 = (_column(anchors, i) for i in range(4))
    size = concat([unsqueezed(x2 - x1, 2), unsqueezed(y2 - y1, 2)], 2)
    centre = concat([unsqueezed(x1 + x2, 2), unsqueezed(y1 + y2, 2)], 2) * 0.5
    scaled = moves * call.constant(np.array(call["variances"]), moves.dtype)
    middle = sliced(scaled, [0], [2], [2]) * size + centre
    half = call("Exp", sliced(scaled, [2], [4], [2])) * size * 0.5
    made = concat([middle - half, middle + half], 2)
    return clip(made, 0.0, 1.0) if call["clip"] else made


def _iou(call: Call) -> Tensor:
    a, b = call.inputs
    ends = []
    for x in (a, b):
        ends.append(_corners(reshaped(x, [-1, 4]), call["format"]))
    left, right = [unsqueezed(v, 1) for v in ends[0]], [unsqueezed(v, 0) for v in ends[1]]
    return to_shape(_overlap(left, right), (), call.out.shape)


def _decode(call: Call) -> Tensor:
    moves, anchors = call.inputs
    x1, y1, x2, y2 = (_column(anchors, i) for i in range(4))
    if call["format"] == "corner":
        width, height = x2 - x1, y2 - y1
        x, y = x1 + width * 0.5, y1 + height * 0.5
    else:
        x, y, width, height = x1, y1, x2, y2
    dx, dy, dw, dh = (_column(moves, i) * call[f"std{i}"] for i in range(4))
    if call["clip"] > 0:
        limit = call.constant(call["clip"], moves.dtype)
        dw, dh = call("Min", dw, limit), call("Min", dh, limit)
    half_width, half_height = call("Exp", dw) * width * 0.5, call("Exp", dh) * height * 0.5
    centre_x, centre_y = dx * width + x, dy * height + y
    ends = (centre_x - half_width, centre_y - half_height)
    others = (centre_x + half_width, centre_y + half_height)
    return concat([unsqueezed(v, 2) for v in (*ends, *others)], 2)


def _prior(call: Call) -> Tensor:
    return constant_of(call)


def _suppressed(call: Call, removes: Tensor, kept: Tensor) -> Tensor:
    """Return a mask of the boxes that greedy suppression keeps; boxes are sorted, best first.

    Args:
        call: The node.
        removes: Mask (n, B, n) of the worse boxes that each box would suppress.
        kept: Mask (B, n) of the candidates.
    """
    body, word = call.emitter.body(), call.emitter.word
    state = Tensor(body, body.unique(f"{word}_kept"), BOOL)
    row = Tensor(body, body.unique(f"{word}_row"), BOOL)
    number = Tensor(body, body.unique(f"{word}_place"), INT64)
    mine = body("Gather", state, number, axis=1)
    after = body("And", state, ~body("And", mine, row))
    count = int(removes.size(0))
    steps = call.constant(np.arange(count).reshape(-1, 1))
    (made,) = call.emitter.several(
        "Scan",
        1,
        *(kept, removes, steps),
        num_scan_inputs=2,
        body=Body(body, [state, row, number], [after]),
        dtypes=[BOOL],
    )
    return made


def _nms(call: Call) -> list[Tensor | None]:
    x = call.x
    boxes, width = x.size(x.rank - 2), x.size(x.rank - 1)
    if call["topk"] == 0:
        return [x, None]
    data = reshaped(x, [-1, boxes, width])
    score = _column(data, call["score_index"])
    valid = score > float(call["valid_thresh"])
    class_at = call["id_index"]
    if class_at >= 0 and call["background_id"] >= 0:
        valid = valid & ~_column(data, class_at).equals(float(call["background_id"]))
    lowest = float(np.finfo(np.float32).min) if x.dtype.itemsize > 2 else -65504.0
    ranked = select(valid, score, lowest)
    kinds = [x.dtype, INT64]
    _, order = call.emitter.several("TopK", 2, ranked, [boxes], dtypes=kinds, axis=1)
    rows = _rows(call, data, order, width)
    kept = call("GatherElements", valid, order, axis=1)
    if call["topk"] > 0:
        kept = kept & call.constant(np.arange(boxes) < call["topk"])
    removes = _removals(call, rows, class_at, boxes)
    left = _suppressed(call, removes, kept)
    made = _compacted(call, rows, left, boxes, width)
    return [to_shape(_converted(call, made), (), call.out.shape), None]


def _rows(call: Call, data: Tensor, order: Tensor, width: int) -> Tensor:
    wide = call("Tile", unsqueezed(order, 2), [1, 1, width])
    return call("GatherElements", data, wide, axis=1)


def _removals(call: Call, rows: Tensor, class_at: int, boxes: int) -> Tensor:
    start = call["coord_start"]
    ends = _corners(sliced(rows, [start], [start + 4], [2]), call["in_format"])
    overlap = _overlap([unsqueezed(v, 2) for v in ends], [unsqueezed(v, 1) for v in ends])
    removes = overlap > float(call["overlap_thresh"])
    removes = removes & call.constant(np.triu(np.ones((boxes, boxes), bool), 1))
    if class_at >= 0 and not call["force_suppress"]:
        kind = _column(rows, class_at)
        removes = removes & call("Equal", unsqueezed(kind, 2), unsqueezed(kind, 1))
    made = transposed(removes, [1, 0, 2])
    made.shape = (boxes, -1, boxes)
    return made


def _compacted(call: Call, rows: Tensor, kept: Tensor, boxes: int, width: int) -> Tensor:
    """Move the kept rows to the front, best first, and fill the rest with -1."""
    indices = call.constant(np.arange(boxes))
    keys = select(kept, indices, indices + boxes)
    options = {"axis": 1, "largest": 0}
    found, order = call.emitter.several("TopK", 2, keys, [boxes], dtypes=[INT64, INT64], **options)
    moved = _rows(call, rows, order, width)
    return select(unsqueezed(found < boxes, 2), moved, -1.0)


def _converted(call: Call, rows: Tensor) -> Tensor:
    """Convert the boxes in the rows to the requested format."""
    start, given, target = call["coord_start"], call["in_format"], call["out_format"]
    if given == target:
        return rows
    free = unsqueezed(_column(rows, call["score_index"]).equals(-1.0), 2)
    boxes = sliced(rows, [start], [start + 4], [2])
    if target == "corner":
        chunks = _corners(boxes, given)
    else:
        x1, y1, x2, y2 = (_column(boxes, i) for i in range(4))
        chunks = [(x1 + x2) * 0.5, (y1 + y2) * 0.5, x2 - x1, y2 - y1]
    made = concat([unsqueezed(v, 2) for v in chunks], 2)
    made = select(free, boxes, made)
    last = np.iinfo(np.int64).max
    return concat(
        [sliced(rows, [0], [start], [2]), made, sliced(rows, [start + 4], [last], [2])], 2
    )


TABLE: dict[str, Any] = {
    "_contrib_box_iou": _iou,
    "_contrib_box_decode": _decode,
    "_contrib_MultiBoxPrior": _prior,
    "_contrib_box_nms": _nms,
    "_contrib_MultiBoxDetection": _detection,
}
