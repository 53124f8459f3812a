"""_contrib_box_encode and _contrib_box_decode: encode boxes as offsets from anchors, and decode."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice, number
from gluonish.core.spec import Spec
from gluonish.ops.detection.boxes import check_boxes, to_centers
from gluonish.ops.facts import zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.precision import widen
from gluonish.ops.vision.regions import check_floating

_ENCODE = "_contrib_box_encode"
_DECODE = "_contrib_box_decode"


def _encode_infer(
    samples: Spec, matches: Spec, anchors: Spec, refs: Spec, means: Spec, stds: Spec
) -> tuple[Spec, Spec]:
    check_floating(_ENCODE, samples, matches, anchors, refs, means, stds)
    check_boxes(_ENCODE, "anchors", anchors, 3)
    check_boxes(_ENCODE, "refs", refs, 3)
    pairs = anchors.shape[:2]
    if samples.shape != pairs or matches.shape != pairs or refs.shape[0] != pairs[0]:
        raise OperatorError(
            f"{_ENCODE}: expected samples and matches {pairs} and refs ({pairs[0]}, M, 4) for "
            f"anchors {anchors.shape}, got {samples.shape}, {matches.shape} and {refs.shape}"
        )
    for name, spec in (("means", means), ("stds", stds)):
        if spec.shape != (4,):
            raise OperatorError(f"{_ENCODE}: expected {name} (4,), got {spec.shape}")
    if anchors.size and not refs.shape[1]:
        raise OperatorError(f"{_ENCODE}: expected at least one box in refs, got {refs.shape}")
    return Spec(anchors.shape, anchors.dtype), Spec(anchors.shape, anchors.dtype)


def _encode_kernel(
    xp: ModuleType,
    out: Any,
    samples: Any,
    matches: Any,
    anchors: Any,
    refs: Any,
    means: Any,
    stds: Any,
) -> None:
    targets, masks = out
    if not targets.size:
        return
    positive = widen(samples)[..., None] > 0.5
    index = widen(matches)
    index = xp.where(index > 0, xp.minimum(index, refs.shape[1] - 1), 0).astype(xp.int64)
    matched = to_centers(xp, xp.take_along_axis(widen(refs), index[..., None], axis=1))
    centers = to_centers(xp, widen(anchors))
    shifts = (matched[..., :2] - centers[..., :2]) / centers[..., 2:]
    offsets = xp.concatenate([shifts, xp.log(matched[..., 2:] / centers[..., 2:])], axis=-1)
    scaled = (offsets - widen(means)) / widen(stds)
    targets[...] = xp.where(positive, scaled, 0).astype(targets.dtype)
    masks[...] = xp.broadcast_to(positive, masks.shape)


BOX_ENCODE = register(
    Operator(
        _ENCODE,
        _encode_infer,
        _encode_kernel,
        zero_gradient,
        doc=(
            "Compute training targets: the offsets from anchors to their matched boxes, and a\n"
            "mask.\n\n"
            "Anchors and refs are corners (xmin, ymin, xmax, ymax); matches are indices into\n"
            "refs. For anchors with a sample above 0.5, the targets are (offset - means) / stds\n"
            "and the mask is 1; for the others both are 0. The offsets are the shift of the\n"
            "center divided by the anchor's width and height, then the logarithms of box width /\n"
            "anchor width and box height / anchor height. The gradient is zero.\n\n"
            "Shapes: samples and matches (B, N), anchors (B, N, 4), refs (B, M, 4), means and\n"
            "stds (4,), outputs (B, N, 4) each."
        ),
        inputs=("samples", "matches", "anchors", "refs", "means", "stds"),
        outputs=2,
        output_names=("output0", "output1"),
    )
)


def _decode_infer(data: Spec, anchors: Spec, **_: Any) -> tuple[Spec]:
    check_floating(_DECODE, data, anchors)
    check_boxes(_DECODE, "data", data, 3)
    check_boxes(_DECODE, "anchors", anchors, 3)
    if anchors.shape != (1, *data.shape[1:]):
        raise OperatorError(
            f"{_DECODE}: expected anchors (1, {data.shape[1]}, 4) for data {data.shape}, got "
            f"{anchors.shape}"
        )
    return (data,)


def _decode_kernel(
    xp: ModuleType, out: Any, data: Any, anchors: Any, *, clip: float, **attrs: Any
) -> None:
    offsets, boxes = widen(data), widen(anchors)
    if attrs["format"] == "corner":
        boxes = to_centers(xp, boxes)
    scaled = offsets * xp.asarray([attrs[f"std{i}"] for i in range(4)], offsets.dtype)
    sizes = scaled[..., 2:]
    if clip > 0:
        sizes = xp.minimum(sizes, offsets.dtype.type(clip))
    half = xp.exp(sizes) * boxes[..., 2:] / 2
    centers = scaled[..., :2] * boxes[..., 2:] + boxes[..., :2]
    out[..., :2] = centers - half
    out[..., 2:] = centers + half


BOX_DECODE = register(
    Operator(
        _DECODE,
        _decode_infer,
        _decode_kernel,
        zero_gradient,
        doc=(
            "Decode predicted offsets from anchors to boxes, as corners (xmin, ymin, xmax,\n"
            "ymax).\n\n"
            "format is the format of the anchors: 'corner' is (xmin, ymin, xmax, ymax), 'center'\n"
            "(x, y, width, height). data times std0 to std3 is the shift of the center divided\n"
            "by the anchor's width and height, then the logarithms of box width / anchor width\n"
            "and box height / anchor height. A clip above 0 is the upper limit of the\n"
            "logarithms. The gradient is zero.\n\n"
            "Shapes: data (B, N, 4), anchors (1, N, 4), output (B, N, 4)."
        ),
        inputs=("data", "anchors"),
        schema=Schema(
            std0=number(1.0),
            std1=number(1.0),
            std2=number(1.0),
            std3=number(1.0),
            clip=number(-1.0),
            format=choice("center", "corner", default="center"),
        ),
    )
)
