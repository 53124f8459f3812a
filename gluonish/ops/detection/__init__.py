"""Operators of object detectors: anchors, matching, overlap and suppression."""

from gluonish.ops.detection.bipartite_matching import BIPARTITE_MATCHING
from gluonish.ops.detection.box_coding import BOX_DECODE, BOX_ENCODE
from gluonish.ops.detection.box_iou import BOX_IOU
from gluonish.ops.detection.box_nms import BOX_NMS
from gluonish.ops.detection.multibox_detection import MULTIBOX_DETECTION
from gluonish.ops.detection.multibox_prior import MULTIBOX_PRIOR
from gluonish.ops.detection.multibox_target import MULTIBOX_TARGET
from gluonish.ops.detection.proposal import MULTI_PROPOSAL, PROPOSAL

__all__ = [
    "BIPARTITE_MATCHING",
    "BOX_DECODE",
    "BOX_ENCODE",
    "BOX_IOU",
    "BOX_NMS",
    "MULTIBOX_DETECTION",
    "MULTIBOX_PRIOR",
    "MULTIBOX_TARGET",
    "MULTI_PROPOSAL",
    "PROPOSAL",
]
