"""_contrib_box_nms: of boxes that overlap, those with the best scores."""

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
    kept_by_overlap,
    to_centers,
)
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import swap_axes
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.vision.extents import check_floating
from gluonish.ops.vision.points import scatter_points

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
        raise OperatorError(f"{_NAME}: expected boxes, got data {shape}")
    return data, Spec(shape[:-1], INT64)


def _survivors(rows: Matrix, attrs: Any, suppress: Suppress) -> Matrix:
    """Return the positions of the boxes that remain of (boxes, elements), the best first."""
    scores, identity = rows[:, attrs["score_index"]], attrs["id_index"]
    valid = scores > rows.dtype.type(attrs["valid_thresh"])
    if identity >= 0:
        valid &= rows[:, identity] != attrs["background_id"]
    (places,) = np.nonzero(valid)
    order = places[np.argsort(-scores[places], kind="stable")]
    if attrs["topk"] > 0:
        order = order[: attrs["topk"]]
    start = attrs["coord_start"]
    best = rows[order]
    corners = as_corners(np, best[:, start : start + 4], attrs["in_format"])
    classes = None if identity < 0 or attrs["force_suppress"] else best[:, identity]
    found: Matrix = order[suppress(corners, classes, Rule(attrs["overlap_thresh"]))]
    return found


def box_nms_kernel(
    xp: ModuleType, out: Any, data: Any, *, suppress: Suppress = kept_by_overlap, **attrs: Any
) -> None:
    """Fill the output and the positions of the boxes it shows; ``suppress`` removes boxes."""
    values, index = out
    if attrs["topk"] == 0:
        values[...] = data
        index[...] = xp.arange(data.shape[-2])
        return
    host = widened_on_host(xp, data)
    flat = host.reshape(-1, *host.shape[-2:])
    rows, places = np.full(flat.shape, -1, flat.dtype), np.full(flat.shape[:2], -1, INT64)
    for i in range(len(flat)):
        found = _survivors(flat[i], attrs, suppress)
        rows[i, : len(found)] = flat[i][found]
        places[i, : len(found)] = found
    if attrs["in_format"] != attrs["out_format"]:
        start = attrs["coord_start"]
        part = rows[..., start : start + 4]
        center = attrs["out_format"] == "center"
        changed = to_centers(np, part) if center else as_corners(np, part, "center")
        rows[..., start : start + 4] = np.where(places[..., None] >= 0, changed, -1)
    values[...] = xp.asarray(rows.reshape(host.shape)).astype(data.dtype)
    index[...] = xp.asarray(places.reshape(index.shape))


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
            "Non-maximum suppression: remove boxes that overlap a better box too much.\n\n"
            "Each box is a row with its score at score_index, four coordinates from coord_start\n"
            "on and, where id_index is not negative, its class. Boxes with a score of at most\n"
            "valid_thresh and those of the class background_id are left out, and only the topk\n"
            "best of the others are considered (all if negative; 0 returns data). A box is\n"
            "removed if its IoU with a better box that is kept, of the same class unless\n"
            "force_suppress, is above overlap_thresh. The kept boxes come first, best first;\n"
            "the other rows are -1. in_format and out_format say whether coordinates are\n"
            "corners (xmin, ymin, xmax, ymax) or (x, y, width, height) with the center. The\n"
            "gradient of a row goes to the box that it holds.\n\n"
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
