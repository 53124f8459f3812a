"""A small single-shot detector: anchors, targets, both losses, detection and suppression."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import fill, normal, values_of

CLASSES = 2
SIZES, RATIOS = (0.3, 0.5), (1.0, 2.0)
ANCHORS = len(SIZES) + len(RATIOS) - 1


def make_class(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Head(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.body = nn.HybridSequential()
                self.body.add(nn.Conv2D(6, 3, padding=1, activation="relu"), nn.MaxPool2D(2))
                self.classes = nn.Conv2D(ANCHORS * (CLASSES + 1), 3, padding=1)
                self.boxes = nn.Conv2D(ANCHORS * 4, 3, padding=1)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            features = self.body(x)
            anchors = F.contrib.MultiBoxPrior(features, sizes=SIZES, ratios=RATIOS, clip=True)
            scores = F.transpose(self.classes(features), axes=(0, 2, 3, 1))
            scores = F.reshape(scores, shape=(0, -1, CLASSES + 1))
            boxes = F.flatten(F.transpose(self.boxes(features), axes=(0, 2, 3, 1)))
            return anchors, F.transpose(scores, axes=(0, 2, 1)), boxes

    return Head


def labels() -> Any:
    """Rows (class, x1, y1, x2, y2) for two images; -1 where there is no box."""
    return np.array(
        [
            [[0, 0.1, 0.1, 0.45, 0.5], [1, 0.5, 0.4, 0.95, 0.9]],
            [[1, 0.2, 0.3, 0.7, 0.75], [-1, -1, -1, -1, -1]],
        ],
        np.float32,
    )


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd = mx.nd
    net = make_class(mx)(prefix="detector_")
    net.initialize()
    x, boxes_there = nd.array(normal(1, 2, 3, 8, 8)), nd.array(labels())
    net(x)
    fill(mx, net.collect_params(), 5)
    if hybridize:
        net.hybridize()
    settings = {"learning_rate": 0.2, "momentum": 0.9, "wd": 5e-4}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", settings)
    losses = []
    for _ in range(5):
        with mx.autograd.record():
            anchors, scores, boxes = net(x)
            box_target, box_mask, class_target = nd.contrib.MultiBoxTarget(
                anchors,
                boxes_there,
                nd.softmax(scores, axis=1),
                overlap_threshold=0.4,
                negative_mining_ratio=3,
                negative_mining_thresh=0.5,
                ignore_label=-1,
                variances=(0.1, 0.1, 0.2, 0.2),
            )
            probabilities = nd.SoftmaxOutput(
                scores,
                class_target,
                ignore_label=-1,
                use_ignore=True,
                multi_output=True,
                normalization="valid",
            )
            difference = nd.smooth_l1(box_mask * (boxes - box_target), scalar=1.0)
            box_loss = nd.MakeLoss(difference, normalization="valid")
        mx.autograd.backward([probabilities, box_loss])
        trainer.step(1)
        picked = probabilities.pick(nd.maximum(class_target, 0), axis=1).log()
        class_loss = -(picked * (class_target >= 0)).sum()
        losses.append([class_loss.asscalar(), box_loss.sum().asscalar()])
    anchors, scores, boxes = net(x)
    detected = nd.contrib.MultiBoxDetection(
        nd.softmax(scores, axis=1), boxes, anchors, nms_threshold=0.4, threshold=0.2, nms_topk=20
    )
    kept = nd.contrib.box_nms(
        detected, overlap_thresh=0.2, valid_thresh=0.1, coord_start=2, score_index=1, id_index=0
    )
    return {
        "losses": losses,
        "anchors": anchors.asnumpy(),
        "box_target": box_target.asnumpy(),
        "box_mask": box_mask.asnumpy(),
        "class_target": class_target.asnumpy(),
        "detected": detected.asnumpy(),
        "kept": kept.asnumpy(),
        "overlap": nd.contrib.box_iou(kept[0, :4, 2:], boxes_there[0, :, 1:]).asnumpy(),
        **values_of(net.collect_params()),
    }
