"""Targets of Mask R-CNN's masks, by the operators that GluonCV 0.10 composes them of.

MXNet 1.9.1 has the operator on GPUs only, so that its wheel for CPUs cannot be asked.
"""

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError

RANDOM = np.random.default_rng(5)
ROIS = np.sort(RANDOM.uniform(0, 11, (2, 3, 2, 2)), axis=2).reshape(2, 3, 4).astype("float32")
MASKS = (RANDOM.uniform(size=(2, 4, 12, 10)) > 0.5).astype("float32")
MATCHES = np.array([[0, 3, -1], [2, 1, 1]], "float32")
CLASSES = np.array([[0, 2, 1], [1, 1, 0]], "float32")
ATTRS = {"num_rois": 3, "num_classes": 3, "mask_size": (4, 5)}


def targets(f, **attrs):
    given = [mx.nd.array(x) for x in (ROIS, MASKS, MATCHES, CLASSES)]
    return [x.asnumpy() for x in f(*given, **{**ATTRS, **attrs})]


@pytest.mark.parametrize("aligned", [False, True])
def test_masks_are_aligned_regions_of_what_matches(aligned: bool) -> None:
    found, weights = targets(mx.nd.contrib.mrcnn_mask_target, aligned=aligned)
    assert found.shape == weights.shape == (2, 3, 3, 4, 5)
    for image in range(2):
        numbered = np.hstack([np.maximum(MATCHES[image], 0)[:, None], ROIS[image]])
        pooled = mx.nd.contrib.ROIAlign(
            mx.nd.array(MASKS[image][:, None]),
            mx.nd.array(numbered),
            (4, 5),
            1.0,
            2,
            aligned=aligned,
        )
        for kind in range(3):
            np.testing.assert_allclose(found[image, :, kind], pooled.asnumpy()[:, 0], rtol=1e-6)
            own = (CLASSES[image] == kind)[:, None, None]
            assert (weights[image, :, kind] == own).all()


def test_graphs_give_the_same() -> None:
    names = ("rois", "gt_masks", "matches", "cls_targets")
    graph = mx.sym.contrib.mrcnn_mask_target(*map(mx.sym.var, names), **ATTRS)
    args = dict(zip(names, map(mx.nd.array, (ROIS, MASKS, MATCHES, CLASSES)), strict=True))
    outputs = graph.bind(mx.cpu(), args).forward()
    for one, other in zip(outputs, targets(mx.nd.contrib.mrcnn_mask_target), strict=True):
        assert one.asnumpy().tolist() == other.tolist()


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"num_rois": 2}, r"expected rois \(2, 2, 4\)"),
        ({"mask_size": (4,)}, "mask_size"),
        ({"sample_ratio": 10**6}, "sample_ratio of at most"),
    ],
)
def test_what_does_not_fit_is_refused(attrs, message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        targets(mx.nd.contrib.mrcnn_mask_target, **attrs)
