"""Operators of detectors: facts that the table of cases does not say."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from gluonish.ops.detection.boxes import Rule, box_overlaps, suppress_overlaps
from tests.checking.values import run_operator

RANDOM = np.random.default_rng(0)


def _boxes(count: int) -> np.ndarray:
    low = RANDOM.uniform(0, 1, (count, 2))
    return np.concatenate([low, low + RANDOM.uniform(0.05, 0.4, (count, 2))], axis=1)


def test_boxes_that_remain_overlap_little_and_explain_the_others() -> None:
    boxes = _boxes(60)
    kept = suppress_overlaps(boxes, None, Rule(0.3))
    overlaps = box_overlaps(np, boxes[:, None], boxes)
    among = overlaps[np.ix_(kept, kept)] - np.eye(kept.sum())
    assert among.max() <= 0.3
    for gone in np.nonzero(~kept)[0]:
        assert overlaps[gone, :gone][kept[:gone]].max() > 0.3


def test_suppression_twice_changes_nothing() -> None:
    rows = np.concatenate([np.zeros((30, 1)), RANDOM.permutation(30)[:, None] + 1.0, _boxes(30)], 1)
    once = run_operator("_contrib_box_nms", rows, overlap_thresh=0.2)
    twice = run_operator("_contrib_box_nms", once, overlap_thresh=0.2)
    np.testing.assert_array_equal(once, twice)


def test_decoding_inverts_encoding() -> None:
    anchors, boxes = _boxes(7)[None], _boxes(7)[None]
    ones, places = np.ones((1, 7)), np.arange(7.0)[None]
    means, stds = np.zeros(4), np.array([0.1, 0.1, 0.2, 0.2])
    offsets, _ = run_operator("_contrib_box_encode", ones, places, anchors, boxes, means, stds)
    scales = {"std0": 0.1, "std1": 0.1, "std2": 0.2, "std3": 0.2, "format": "corner"}
    found = run_operator("_contrib_box_decode", offsets, anchors, **scales)
    np.testing.assert_allclose(found, boxes)


def test_targets_without_candidates_for_negatives_are_no_error() -> None:
    anchors = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.5]]])
    labels = np.array([[[1, 0, 0, 1, 1.0]]])
    classes = run_operator(
        "_contrib_MultiBoxTarget",
        anchors,
        labels,
        np.zeros((1, 3, 2)),
        overlap_threshold=0.6,
        negative_mining_ratio=2.0,
        negative_mining_thresh=0.1,
    )[2]
    np.testing.assert_array_equal(classes, [[2, -1]])


def test_scores_that_are_no_number_are_left_out() -> None:
    rows = np.array([[0, np.nan, 0, 0, 1, 1], [0, 0.5, 0, 0, 1, 1]])
    found = run_operator("_contrib_box_nms", rows)
    np.testing.assert_array_equal(found, [[0, 0.5, 0, 0, 1, 1], [-1] * 6])


def test_gradient_of_suppression_goes_to_the_boxes_shown() -> None:
    rows = mx.nd.array([[0, 0.2, 0, 0, 1, 1], [0, 0.9, 0, 0, 1, 1], [0, 0.5, 5, 5, 6, 6]])
    rows.attach_grad()
    with mx.autograd.record():
        found = mx.nd.contrib.box_nms(rows)
    found.backward(mx.nd.arange(18).reshape((3, 6)))
    want = np.zeros((3, 6))
    want[1], want[2] = np.arange(6), np.arange(6, 12)
    assert rows.grad is not None
    np.testing.assert_array_equal(rows.grad.asnumpy(), want)


def test_proposals_of_one_image_refuse_two() -> None:
    attrs = {"scales": (1.0,), "ratios": (1.0,)}
    with pytest.raises(OperatorError, match="_contrib_Proposal: expected one image"):
        run_operator(
            "_contrib_Proposal",
            np.zeros((2, 2, 3, 3)),
            np.zeros((2, 4, 3, 3)),
            np.ones((2, 3)),
            **attrs,
        )
