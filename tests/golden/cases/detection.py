"""Cases of operators of object detectors."""

from typing import Any

import numpy as np

from tests.golden.case import Case, computed, distinct, integers, normal, uniform, values


def _joined(*parts: Any) -> Any:
    return np.concatenate(parts, axis=-1)


def _ends(corners: Any) -> Any:
    """Return corners (x1, y1, x2, y2) of rows (x, y, width, height)."""
    return np.concatenate([corners[..., :2], corners[..., :2] + corners[..., 2:]], axis=-1)


def _boxes(*shape: int, size: float = 0.6) -> Any:
    """Return the recipe of boxes by corners in and around the unit square."""
    parts = computed(_joined, uniform(-0.1, 0.8, *shape, 2), uniform(0.05, size, *shape, 2))
    return computed(_ends, parts)


def _spread(x: Any) -> Any:
    """Return values in (0, 1) that all differ."""
    return ((x - x.min() + 1) / (np.ptp(x) + 2)).astype(np.float32)


def _scored(*shape: int) -> Any:
    """Return the recipe of rows (class, score, x1, y1, x2, y2)."""
    score = computed(_spread, distinct(*shape, 1))
    return computed(_joined, integers(0, 3, *shape, 1), score, _boxes(*shape))


def _inside(rows: Any) -> Any:
    """Return rows whose boxes begin right of 0."""
    return np.concatenate([rows[..., :2], rows[..., 2:] + np.float32(0.2)], axis=-1)


def _half(x: Any) -> Any:
    return x.astype(np.float16)


def _cleared(label: Any) -> Any:
    """Return labels of two images, the second with one row less."""
    label = label.copy()
    label[1, -1] = -1
    return label


def _labels(*shape: int) -> Any:
    return computed(_cleared, computed(_joined, integers(0, 3, *shape, 1), _boxes(*shape)))


def _chances(*shape: int) -> Any:
    return computed(_spread, distinct(*shape))


_NMS = "_contrib_box_nms"
_TIES = values(
    [
        [0, 0.5, 0, 0, 1, 1],
        [1, 0.4, 0, 0, 1, 0.95],
        [0, 0.9, 0.1, 0.1, 1, 1],
        [0, 0.9, 5, 5, 6, 6],
        [0, -0.1, 0, 0, 2, 2],
    ]
)
# Pieces that are 1 or -1 everywhere have no derivative that a step would show.
_CHOICE = {"half": False}
_SUPPRESSION = [
    Case(_NMS, [_scored(8)], check=_CHOICE),
    *[
        Case(_NMS, [_scored(2, 9)], attrs)
        for attrs in (
            {},
            {"overlap_thresh": 0.2},
            {"overlap_thresh": 0.0},
            {"overlap_thresh": 1.5},
            {"valid_thresh": 0.4},
            {"topk": 3},
            {"topk": 0},
            {"id_index": 0, "overlap_thresh": 0.1},
            {"id_index": 0, "background_id": 0, "overlap_thresh": 0.1},
            {"id_index": 0, "force_suppress": True, "overlap_thresh": 0.1},
            {"in_format": "center", "out_format": "center"},
        )
    ],
    *[
        Case(_NMS, [computed(_inside, _scored(2, 9))], attrs)
        for attrs in (
            {"in_format": "center"},
            {"out_format": "center"},
            {"in_format": "center", "id_index": 0, "topk": 4, "overlap_thresh": 0.1},
        )
    ],
    Case(
        _NMS,
        [_scored(2, 9)],
        {"out_format": "center"},
        wrong="leaves boxes that begin left of 0 as they are",
    ),
    Case(_NMS, [_TIES]),
    Case(_NMS, [computed(_half, _scored(2, 3, 4))], {"overlap_thresh": 0.1}, rtol=1e-2),
    Case(_NMS, [_boxes(3, 5)], {"coord_start": 0, "score_index": 2}, invalid=True),
    Case(_NMS, [_scored(4)], {"score_index": 9}, invalid=True),
    Case(_NMS, [_scored(4)], {"coord_start": 3}, invalid=True),
    Case(_NMS, [_scored(4)], {"score_index": -1}, invalid=True),
    Case(_NMS, [normal(6)], invalid=True),
    Case(_NMS, [integers(0, 3, 4, 6, dtype="int32")], invalid=True),
    Case(_NMS, [_scored(4)], {"in_format": "edge"}, invalid=True),
]

_IOU = "_contrib_box_iou"
_PAIRS = [
    Case(_IOU, [_boxes(4), _boxes(3)]),
    Case(_IOU, [_boxes(2, 3), _boxes(4)]),
    Case(_IOU, [_boxes(4), _boxes(2, 1, 3)], {"format": "center"}),
    Case(_IOU, [computed(_half, _boxes(4)), computed(_half, _boxes(3))]),
    Case(
        _IOU, [values([[1, 1, 0, 0], [0, 0, 1, 1]]), values([[0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]])]
    ),
    Case(_IOU, [normal(4), _boxes(3)], invalid=True),
    Case(_IOU, [normal(3, 5), _boxes(3)], invalid=True),
    Case(
        _IOU,
        [integers(0, 4, 3, 4, dtype="int32"), integers(0, 4, 3, 4, dtype="int32")],
        invalid=True,
    ),
    *[
        Case("_contrib_bipartite_matching", [distinct(3, 4)], attrs)
        for attrs in (
            {"threshold": -3.0},
            {"threshold": 2.0, "is_ascend": True},
            {"threshold": -100.0, "topk": 1},
            {"threshold": -100.0, "topk": 2},
        )
    ],
    Case("_contrib_bipartite_matching", [distinct(2, 4, 3)], {"threshold": -100.0}),
    Case("_contrib_bipartite_matching", [distinct(3, 4, dtype="float16")], {"threshold": -100.0}),
    Case("_contrib_bipartite_matching", [normal(4)], {"threshold": 0.1}, invalid=True),
    Case("_contrib_bipartite_matching", [normal(3, 4)], {}, invalid=True),
    Case(
        "_contrib_bipartite_matching",
        [integers(0, 4, 3, 4, dtype="int32")],
        {"threshold": 0.1},
        invalid=True,
    ),
]

_ENCODED = [integers(-1, 2, 2, 5), integers(0, 3, 2, 5), _boxes(2, 5), _boxes(2, 3)]
_SCALES = [values([0, 0, 0, 0.1]), values([0.1, 0.1, 0.2, 0.2])]
_DECODED = [normal(2, 5, 4), _boxes(1, 5)]
_CODING = [
    Case("_contrib_box_encode", [*_ENCODED, *_SCALES], rtol=1e-4, atol=1e-5),
    Case("_contrib_box_encode", [*_ENCODED[:3], normal(2, 3, 5), *_SCALES], invalid=True),
    *[
        Case("_contrib_box_decode", _DECODED, attrs, rtol=1e-4, atol=1e-5)
        for attrs in (
            {},
            {"format": "corner"},
            {"clip": 0.3},
            {"std0": 0.1, "std1": 0.1, "std2": 0.2, "std3": 0.2, "format": "corner"},
        )
    ],
    Case("_contrib_box_decode", [normal(2, 5, 4), _boxes(2, 5)], invalid=True),
    Case("_contrib_box_decode", [normal(5, 4), _boxes(1, 5)], invalid=True),
]

_PRIOR = "_contrib_MultiBoxPrior"
_TARGET = "_contrib_MultiBoxTarget"
_DETECTION = "_contrib_MultiBoxDetection"
_TARGETS = [_boxes(1, 12), _labels(2, 3), normal(2, 4, 12)]
_DETECTED = [_chances(2, 3, 10), normal(2, 40), _boxes(1, 10)]
_IDENTICAL = values([[[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0, 0.5, 1]]])
_MULTIBOX = [
    Case(_PRIOR, [normal(2, 3, 2, 3)]),
    *[
        Case(_PRIOR, [normal(2, 3, 2, 3)], attrs)
        for attrs in (
            {"sizes": (0.5, 0.2), "ratios": (1.0, 2.0, 0.5)},
            {"sizes": (0.5, 0.3), "ratios": (4.0, 0.25)},
            {"sizes": (0.9,), "clip": True},
            {"sizes": (0.5,), "steps": (0.1, 0.2)},
            {"sizes": (0.5,), "offsets": (0.0, 0.3)},
            {"sizes": (0.5,), "steps": (0.0, 0.0)},
        )
    ],
    *[
        Case(_PRIOR, [normal(2, 3, 2, 3)], attrs, invalid=True)
        for attrs in (
            {"steps": (0.1,)},
            {"sizes": ()},
            {"ratios": ()},
            {"steps": (-1.0, 0.5)},
            {"offsets": (0.5,)},
        )
    ],
    Case(_PRIOR, [normal(3, 2, 3)], invalid=True),
    Case(_PRIOR, [integers(0, 3, 1, 1, 2, 3, dtype="int32")], invalid=True),
    *[
        Case(_TARGET, _TARGETS, attrs, rtol=1e-4, atol=1e-5, check=_CHOICE)
        for attrs in (
            {},
            {"overlap_threshold": 0.2},
            {"overlap_threshold": 0.9},
            {"overlap_threshold": -1.0},
            {"negative_mining_ratio": 0.5},
            {"negative_mining_ratio": 1.5, "ignore_label": -5.0},
            {"negative_mining_ratio": 1.0, "overlap_threshold": 0.6, "minimum_negative_samples": 3},
            {"variances": (1.0, 1.0, 1.0, 1.0)},
        )
    ],
    Case(
        _TARGET,
        [_IDENTICAL, values([[[1, 0, 0, 1, 1], [0, 0, 0, 1, 1]]]), normal(1, 3, 3)],
        {"overlap_threshold": 0.4},
        rtol=1e-4,
    ),
    Case(_TARGET, [_IDENTICAL, values([[[1, 2, 2, 3, 3]]]), normal(1, 3, 3)], rtol=1e-4),
    Case(_TARGET, [_IDENTICAL, values([[[-1, -1, -1, -1, -1]]]), normal(1, 3, 3)], rtol=1e-4),
    Case(_TARGET, [_boxes(1, 12), _boxes(2, 3), normal(2, 4, 12)], invalid=True),
    Case(_TARGET, [_boxes(2, 12), _labels(2, 3), normal(2, 4, 12)], invalid=True),
    Case(_TARGET, [_boxes(1, 12), _labels(2, 3), normal(2, 4, 11)], invalid=True),
    Case(_TARGET, _TARGETS, {"variances": (1.0, 1.0)}, invalid=True),
    *[
        Case(_DETECTION, _DETECTED, attrs, rtol=1e-4, atol=1e-5, check=_CHOICE)
        for attrs in (
            {},
            {"nms_threshold": 0.2},
            {"nms_threshold": 1.0},
            {"nms_threshold": 1.5},
            {"nms_threshold": 0.0},
            {"nms_threshold": 0.1, "force_suppress": True},
            {"threshold": 0.6},
            {"threshold": 2.0},
            {"clip": False},
            {"nms_topk": 3},
            {"nms_topk": 0},
            {"background_id": 1},
            {"variances": (1.0, 1.0, 1.0, 1.0)},
        )
    ],
    Case(
        _DETECTION,
        [
            values([[[0.1, 0.1], [0.9, 0.8]]]),
            values([[0] * 8]),
            values([[[0, 0, 1, 1], [0, 0, 1, 0.5]]]),
        ],
        {"nms_threshold": 0.5},
    ),
    Case(_DETECTION, [_chances(1, 1, 3), normal(1, 12), _boxes(1, 3)]),
    Case(_DETECTION, [_chances(2, 3, 10), normal(2, 10, 4), _boxes(1, 10)], invalid=True),
    Case(_DETECTION, [_chances(2, 3, 10), normal(2, 36), _boxes(1, 10)], invalid=True),
    Case(_DETECTION, _DETECTED, {"variances": (1.0,)}, invalid=True),
]

_SMALL = {
    "scales": (1.0, 2.0),
    "ratios": (0.5, 1.0, 2.0),
    "feature_stride": 8,
    "rpn_min_size": 4,
    "rpn_post_nms_top_n": 6,
}


def _proposals(name: str, images: int) -> Any:
    inputs = [
        _chances(images, 12, 4, 5),
        normal(images, 24, 4, 5, scale=0.3),
        values([[32, 40, 1.0]] * images),
    ]
    padded = [*inputs[:2], values([[25, 33, 1.5]] * images)]
    return [
        *[
            Case(name, given, {**_SMALL, **attrs}, rtol=1e-4, atol=1e-3, check=_CHOICE)
            for given, attrs in (
                (inputs, {"output_score": True}),
                (inputs, {}),
                (inputs, {"threshold": 0.3, "output_score": True}),
                (inputs, {"rpn_pre_nms_top_n": 5, "output_score": True}),
                (padded, {"output_score": True}),
                (inputs, {"rpn_min_size": 14, "output_score": True, "rpn_post_nms_top_n": 20}),
                (inputs, {"iou_loss": True, "output_score": True}),
                (inputs, {"threshold": 0.01, "rpn_post_nms_top_n": 40, "output_score": True}),
            )
        ],
        Case(name, [inputs[0], normal(images, 23, 4, 5), inputs[2]], _SMALL, invalid=True),
        Case(
            name,
            [*inputs[:2], normal(images, 4)],
            _SMALL,
            invalid=True,
            wrong="reads im_info as it comes",
        ),
    ]


CASES = [
    *_SUPPRESSION,
    *_PAIRS,
    *_CODING,
    *_MULTIBOX,
    *_proposals("_contrib_Proposal", 1),
    *_proposals("_contrib_MultiProposal", 2),
]
