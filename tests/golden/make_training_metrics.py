"""Make training_metrics.json: what scikit-learn, torchmetrics, sacrebleu and pycocotools give.

Run it with a virtual environment that has torch 2.13, scikit-learn 1.9.1, torchmetrics 1.9.0,
sacrebleu 2.6.0 and pycocotools 2.0.11:

    oracles/bin/python tests/golden/make_training_metrics.py

Each case has the class of gluonish, its arguments, batches of labels and predictions, and the
value over all batches; NaN is written as null.
"""

import contextlib
import io
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from sacrebleu.metrics import BLEU
from sklearn import metrics
from torchmetrics.functional import classification

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(41)
CASES: list[dict[str, Any]] = []
WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "in", "house", "and", "saw"]


def plain(value: Any) -> Any:
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    value = float(value)
    return None if math.isnan(value) else value


def add(name: str, batches: list[tuple[Any, Any]], value: Any, **arguments: Any) -> None:
    kept = [[x.tolist() if isinstance(x, np.ndarray) else x for x in pair] for pair in batches]
    CASES.append({"metric": name, "arguments": arguments, "batches": kept, "value": plain(value)})


def batched(labels: np.ndarray, preds: np.ndarray) -> list[tuple[Any, Any]]:
    return [(labels[:7], preds[:7]), (labels[7:], preds[7:])]


def joined(of_class: Any, labels: np.ndarray, preds: np.ndarray) -> float:
    """Return scikit-learn's value, or NaN where it is not defined."""
    positive = labels.sum()
    if positive == 0 or (of_class is metrics.roc_auc_score and positive == len(labels)):
        return math.nan
    return float(of_class(labels, preds))


def ranking() -> None:
    kinds = {"AUROC": metrics.roc_auc_score, "AveragePrecision": metrics.average_precision_score}
    for name, of_class in kinds.items():
        for digits in (1, 6):  # with one, scores are tied
            labels, scores = RANDOM.integers(0, 2, 40), RANDOM.random(40).round(digits)
            add(name, batched(labels, scores), of_class(labels, scores))
            two = np.stack([1 - scores, scores], 1)
            add(name, batched(labels, two), of_class(labels, scores))
            for classes, present in ((3, 3), (5, 4)):
                labels = RANDOM.integers(0, present, 40)
                scores = RANDOM.dirichlet(np.ones(classes), 40).round(digits)
                found = [joined(of_class, labels == i, scores[:, i]) for i in range(classes)]
                if present == classes:
                    function = {
                        "AUROC": classification.multiclass_auroc,
                        "AveragePrecision": classification.multiclass_average_precision,
                    }[name]
                    theirs = function(
                        torch.tensor(scores), torch.tensor(labels), classes, average="macro"
                    )
                    assert abs(np.mean(found) - float(theirs)) < 1e-6
                add(name, batched(labels, scores), np.nanmean(found))
                add(name, batched(labels, scores), found, average=None)
            labels, scores = RANDOM.integers(0, 2, (20, 3)), RANDOM.random((20, 3)).round(digits)
            value = of_class(labels, scores, average="macro")
            add(name, batched(labels, scores), value)


def matrices() -> None:
    for classes, present in ((3, 3), (5, 4)):
        labels, preds = RANDOM.integers(0, present, (2, 40))
        scores = RANDOM.random((40, classes)).round(3)
        for normalize in (None, "true", "pred", "all"):
            value = metrics.confusion_matrix(
                labels, preds, labels=range(classes), normalize=normalize
            )
            arguments = {"num_classes": classes, "normalize": normalize}
            add("ConfusionMatrix", batched(labels, preds), value, **arguments)
        value = metrics.confusion_matrix(labels, scores.argmax(1), labels=range(classes))
        add("ConfusionMatrix", batched(labels, scores), value, num_classes=classes)
        for top_k in (1, 2):
            value = classification.multiclass_accuracy(
                torch.tensor(scores), torch.tensor(labels), classes, top_k=top_k, average="none"
            ).tolist()
            value = [v if (labels == i).any() else math.nan for i, v in enumerate(value)]
            arguments = {"num_classes": classes, "top_k": top_k}
            add("TopKAccuracyPerClass", batched(labels, scores), value, **arguments)
        for ignored in (None, 1):
            kept = labels != ignored
            options = {"labels": range(classes), "average": None, "zero_division": 0}
            found = metrics.jaccard_score(labels[kept], preds[kept], **options)
            known = np.union1d(labels[kept], preds[kept])
            found = np.where(np.isin(range(classes), known), found, np.nan)
            theirs = classification.multiclass_jaccard_index(
                torch.tensor(preds), torch.tensor(labels), classes, ignore_index=ignored
            )
            if ignored is None:
                assert abs(np.nanmean(found) - float(theirs)) < 1e-6
            for average, value in (("macro", np.nanmean(found)), (None, found)):
                arguments = {"num_classes": classes, "ignore_label": ignored, "average": average}
                add("MeanIoU", batched(labels, preds), value, **arguments)


def regression() -> None:
    for offset in (0, 1000):
        labels = RANDOM.normal(offset, 1, 40).round(3)
        preds = (labels + RANDOM.normal(0, 0.5, 40)).round(3)
        add("R2", batched(labels, preds), metrics.r2_score(labels, preds))


def sentence(low: int, high: int) -> list[str]:
    return RANDOM.choice(WORDS, RANDOM.integers(low, high)).tolist()


def bleu() -> None:
    for low, high, count in ((3, 12, 6), (1, 4, 3), (5, 9, 2)):
        preds, labels = [], []
        for _ in range(count):
            hypothesis = sentence(low, high)
            near = [w if RANDOM.random() < 0.8 else "z" for w in hypothesis] + sentence(0, 3)
            preds.append(" ".join(hypothesis))
            labels.append([" ".join(near), " ".join(sentence(low, high))])
        batches = [(labels[:2], preds[:2]), (labels[2:], preds[2:])]
        streams = [list(x) for x in zip(*labels, strict=True)]
        for max_n in (2, 4):
            for smoothing, value in (
                *((None, None), ("exp", None), ("floor", None), ("floor", 0.3)),
                *(("add-k", None), ("add-k", 0.5)),
            ):
                oracle = BLEU(
                    tokenize="none",
                    max_ngram_order=max_n,
                    smooth_method=smoothing or "none",
                    smooth_value=value,
                )
                score = oracle.corpus_score(preds, streams).score / 100
                arguments = {"max_n": max_n, "smoothing": smoothing, "smoothing_value": value}
                add("BLEU", batches, score, **arguments)


def boxes(images: int, crowds: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for _ in range(images):
        low = RANDOM.integers(0, 60, (4, 2))
        corners = np.concatenate([low, low + RANDOM.integers(8, 40, (4, 2))], 1)
        classes, crowd = RANDOM.integers(0, 3, (4, 1)), RANDOM.random((4, 1)) < 0.25 * crowds
        classes[3 if RANDOM.random() < 0.5 else 2 :] = -1
        true = np.concatenate([classes, corners, crowd], 1).astype(float)
        moved = np.concatenate([corners, corners]) + RANDOM.integers(-4, 5, (8, 4))
        kinds = np.where(
            RANDOM.random((8, 1)) < 0.8,
            np.concatenate([classes, classes]),
            RANDOM.integers(-1, 4, (8, 1)),
        )
        scores = RANDOM.random((8, 1)).round(1)  # of which some are equal
        found.append((true, np.concatenate([kinds, scores, moved], 1).astype(float)))
    return found


def coco(images: Any, thresholds: Any, most: int, averaged: bool) -> Any:
    annotations: list[Any] = []
    detections: list[Any] = []
    for image, (true, found) in enumerate(images, 1):
        for kind, x0, y0, x1, y1, crowd in true.tolist():
            if kind >= 0:
                size = [x0, y0, x1 - x0, y1 - y0]
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": image,
                        "category_id": int(kind),
                        "bbox": size,
                        "area": size[2] * size[3],
                        "iscrowd": int(crowd),
                    }
                )
        for kind, score, x0, y0, x1, y1 in found.tolist():
            if kind >= 0:
                size = [x0, y0, x1 - x0, y1 - y0]
                box = {"image_id": image, "category_id": int(kind), "bbox": size}
                detections.append(box | {"score": score})
    truth = COCO()
    truth.dataset = {
        "images": [{"id": i} for i in range(1, len(images) + 1)],
        "categories": [{"id": i} for i in range(4)],
        "annotations": annotations,
        "info": {},
    }
    truth.createIndex()
    evaluation = COCOeval(truth, truth.loadRes(detections), "bbox")
    if thresholds is not None:
        evaluation.params.iouThrs = np.array(thresholds)
    evaluation.params.maxDets = [most]
    evaluation.evaluate()
    evaluation.accumulate()
    precision = evaluation.eval["precision"][:, :, :, 0, 0]
    if averaged:
        return precision[precision > -1].mean()
    each = [precision[:, :, i] for i in range(4)]
    return [x.mean() if (x > -1).any() else math.nan for x in each]


def detection() -> None:
    for count, crowds in ((3, False), (12, False), (12, True)):
        images = boxes(count, crowds)
        width = 6 if crowds else 5
        batches = [
            (np.stack([t[:, :width] for t, _ in part]), np.stack([f for _, f in part]))
            for part in (images[:2], images[2:])
        ]
        for thresholds, most, average in (
            *((None, 100, "macro"), (None, 100, None), ([0.5], 100, "macro")),
            (None, 1, "macro"),
        ):
            with contextlib.redirect_stdout(io.StringIO()):
                value = coco(images, thresholds, most, average == "macro")
            if average is None:
                highest = max(int(x[:, 0].max()) for pair in images for x in pair)
                value = value[: highest + 1]
            arguments = {"iou_thresholds": thresholds, "max_detections": most, "average": average}
            add("MeanAveragePrecision", batches, value, **arguments)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    ranking()
    matrices()
    regression()
    bleu()
    detection()
    lines = json.dumps(CASES).replace('}, {"metric"', '},\n{"metric"')
    (HERE / "training_metrics.json").write_text(lines + "\n", "utf-8")
