"""Detection: NonMaxSuppression."""

from typing import Any

import numpy as np

from gluonish.onnx.importing.arrays import array_of, floats, host, integer
from gluonish.onnx.importing.nodes import Call, Rule

Floats = np.ndarray[Any, np.dtype[Any]]


def _corners(boxes: Floats, *, centered: bool) -> Floats:
    """Convert boxes (N, 4) to the lower and upper ends of both axes."""
    if centered:
        middle, size = boxes[:, :2], boxes[:, 2:] / 2
        return np.concatenate([middle - size, middle + size], 1)
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    high = np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low, high], 1)


def _overlaps(box: Floats, others: Floats) -> Floats:
    """Return the intersection over union of a box with others."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    common = np.prod(np.maximum(high - low, 0), 1)
    areas = np.prod(others[:, 2:] - others[:, :2], 1)
    total = np.prod(box[2:] - box[:2]) + areas - common
    found: Floats = np.where(total > 0, common / np.where(total > 0, total, 1), 0)
    return found


def _kept(boxes: Floats, scores: Floats, most: int, overlap: float, low: float) -> list[int]:
    """Return the indices of the boxes that suppression keeps, best first."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > low]
    kept: list[int] = []
    while order.size and len(kept) < most:
        best, order = int(order[0]), order[1:]
        kept.append(best)
        order = order[_overlaps(boxes[best], boxes[order]) <= overlap]
    return kept


def _non_max_suppression(call: Call, boxes: Any, scores: Any, *given: Any) -> Any:
    """Return the indices (batch, class, box) of the boxes that suppression keeps."""
    most, overlap, low = (*given, None, None, None)[:3]
    limit = 0 if most is None else integer(most)
    share = 0.0 if overlap is None else floats(overlap)[0]
    least = -np.inf if low is None else floats(low)[0]
    centered = bool(call.attr("center_point_box", 0))
    corners, numbers = host(boxes), host(scores)
    found = [
        (batch, label, index)
        for batch in range(numbers.shape[0])
        for label in range(numbers.shape[1])
        for index in _kept(
            *(_corners(corners[batch], centered=centered), numbers[batch, label], limit),
            *(share, least),
        )
    ]
    return array_of(np.array(found, np.int64).reshape(-1, 3))


RULES: dict[str, Rule] = {"NonMaxSuppression": _non_max_suppression}
