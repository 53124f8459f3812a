"""_contrib_box_nms: non-maximum suppression."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number
from gluonish.core.spec import Spec
from gluonish.ops.detection.boxes import (
    Matrix,
    Rule,
    Suppress,
    as_corners,
    suppress_overlaps,
    to_centers,
)
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import swap_axes
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.vision.points import scatter_points
from gluonish.ops.vision.regions import check_floating

_NAME = "_contrib_box_nms"


def _infer(data: Spec, **attrs: Any) -> tuple[Spec, Spec]:
    check_floating(_NAME, data)
    shape, start, identity = data.shape, attrs["coord_start"], attrs["id_index"]
    least = 5 + (identity >= 0)
    if len(shape) < 2 or shape[-1] < least:
        raise OperatorError(
            f"{_NAME}: expected data (..., boxes, elements) with at least {least} elements, got "
            f"{shape}"
        )
    width = shape[-1]
    if not 0 <= start <= width - 4:
        raise OperatorError(f"{_NAME}: expected coord_start in [0, {width - 4}], got {start}")
    if not 0 <= attrs["score_index"] < width:
        raise OperatorError(
            f"{_NAME}: expected score_index in [0, {width}), got {attrs['score_index']}"
        )
    if identity >= width:
        raise OperatorError(f"{_NAME}: expected id_index below {width}, got {identity}")
    if not shape[-2]:
        raise OperatorError(f"{_NAME}: expected at least one box, got data {shape}")
    return data, Spec(shape[:-1], INT64)


def _survivors(rows: Matrix, attrs: Any, suppress: Suppress) -> Matrix:
    """Return the indices of the boxes (boxes, elements) that remain, best first."""
    scores, identity = rows[:, attrs["score_index"]], attrs["id_index"]
    valid = scores > rows.dtype.type(attrs["valid_thresh"])
    if identity >= 0:
        valid &= rows[:, identity] != attrs["background_id"]
    (candidates,) = np.nonzero(valid)
    order = candidates[np.argsort(-scores[candidates], kind="stable")]
    if attrs["topk"] > 0:
        order = order[: attrs["topk"]]
    start = attrs["coord_start"]
    best = rows[order]
    corners = as_corners(np, best[:, start : start + 4], attrs["in_format"])
    classes = None if identity < 0 or attrs["force_suppress"] else best[:, identity]
    found: Matrix = order[suppress(corners, classes, Rule(attrs["overlap_thresh"]))]
    return found


def box_nms_kernel(
    xp: ModuleType, out: Any, data: Any, *, suppress: Suppress = suppress_overlaps, **attrs: Any
) -> None:
    """Fill the output and the indices of its boxes; ``suppress`` removes overlapping boxes."""
    values, index = out
    if attrs["topk"] == 0:
        values[...] = data
        index[...] = xp.arange(data.shape[-2])
        return
    host = widened_on_host(xp, data)
    flat = host.reshape(-1, *host.shape[-2:])
    rows, indices = np.full(flat.shape, -1, flat.dtype), np.full(flat.shape[:2], -1, INT64)
    for i in range(len(flat)):
        found = _survivors(flat[i], attrs, suppress)
        rows[i, : len(found)] = flat[i][found]
        indices[i, : len(found)] = found
    if attrs["in_format"] != attrs["out_format"]:
        start = attrs["coord_start"]
        boxes = rows[..., start : start + 4]
        center = attrs["out_format"] == "center"
        converted = to_centers(np, boxes) if center else as_corners(np, boxes, "center")
        rows[..., start : start + 4] = np.where(indices[..., None] >= 0, converted, -1)
    values[...] = xp.asarray(rows.reshape(host.shape)).astype(data.dtype)
    index[...] = xp.asarray(indices.reshape(index.shape))


def _gradient(g: tuple[V | None, ...], data: V, _out: V, index: V, **_: Any) -> tuple[Any]:
    head = g[0]
    if head is None:
        return (None,)
    boxes, width = data.shape[-2:]
    batch = 1
    for extent in data.shape[:-2]:
        batch *= extent

    def of_data() -> Any:
        columns = swap_axes(reshape(head, (batch, boxes, width)), 1, 2)
        spread = scatter_points(columns, reshape(index, (batch, boxes)), boxes)
        return reshape(swap_axes(spread, 1, 2), data.shape)

    return (of_data,)


_FORM = choice("center", "corner", default="corner")

BOX_NMS = register(
    Operator(
        _NAME,
        _infer,
        box_nms_kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Apply non-maximum suppression: remove boxes that overlap a better box too much.\n\n"
            "Each box is a row with its score at score_index, four coordinates from coord_start\n"
            "on and, if id_index is not negative, its class at id_index. Boxes with a score of\n"
            "at most valid_thresh and boxes of the class background_id are ignored, and only the\n"
            "topk best of the others are considered (all if negative; 0 returns data). A box is\n"
            "removed if its IoU with a better box that remains, of the same class unless\n"
            "force_suppress, is above overlap_thresh. The remaining boxes come first, best\n"
            "first; the other rows are -1. in_format and out_format select coordinates: 'corner'\n"
            "is (xmin, ymin, xmax, ymax), 'center' (x, y, width, height). The gradient of a row\n"
            "goes to its box in data.\n\n"
            "Shapes: data (..., boxes, elements), output the same."
        ),
        schema=Schema(
            overlap_thresh=number(0.5),
            valid_thresh=number(0.0),
            topk=integer(-1),
            coord_start=integer(2),
            score_index=integer(1),
            id_index=integer(-1),
            background_id=integer(-1),
            force_suppress=boolean(False),
            in_format=_FORM,
            out_format=_FORM,
        ),
        aliases=("_contrib_box_non_maximum_suppression",),
        outputs=2,
        visible=1,
        output_names=("output0", "output1"),
        execution=Execution(heavy=True),
    )
)
