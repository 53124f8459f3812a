"""Make weighted_metrics.json.gz: metrics of weighted samples, averages and thresholds.

Run it with a virtual environment that has torch 2.14, scikit-learn 1.9.1 and torchmetrics 1.9.0:

    oracles/bin/python tests/golden/make_weighted_metrics.py

Each case has the class of gluonish, its arguments, labels, predictions, weights or null, and the
value of scikit-learn, or with thresholds of torchmetrics.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn import metrics
from sklearn.preprocessing import label_binarize
from torchmetrics.functional import classification

RANDOM = np.random.default_rng(43)
CASES: list[dict[str, Any]] = []
AVERAGES = ("macro", "micro", "weighted", None)


def add(name: str, labels: Any, preds: Any, weights: Any, value: Any, **arguments: Any) -> None:
    CASES.append(
        {
            "metric": name,
            "arguments": arguments,
            "labels": labels.tolist(),
            "preds": preds.tolist(),
            "weights": None if weights is None else weights.tolist(),
            "value": np.asarray(value, float).tolist(),
        }
    )


def ranking(name: str, of_class: Any) -> None:
    """Add the cases of a metric of scikit-learn."""
    for digits in (1, 6):  # with one, scores are tied
        for weights in (None, RANDOM.random(40).round(3), RANDOM.integers(0, 3, 40)):
            labels, scores = RANDOM.integers(0, 2, 40), RANDOM.random(40).round(digits)
            value = of_class(labels, scores, sample_weight=weights)
            add(name, labels, scores, weights, value)
            for average in AVERAGES:
                labels = RANDOM.integers(0, 3, 40)
                scores = RANDOM.dirichlet(np.ones(3), 40).round(digits)
                each = label_binarize(labels, classes=range(3))
                value = of_class(each, scores, average=average, sample_weight=weights)
                add(name, labels, scores, weights, value, average=average)
                each, scores = RANDOM.integers(0, 2, (40, 3)), RANDOM.random((40, 3)).round(digits)
                value = of_class(each, scores, average=average, sample_weight=weights)
                add(name, each, scores, weights, value, average=average)


def binned(name: str, of_two: Any, of_several: Any) -> None:
    """Add the cases of a metric of torchmetrics with thresholds."""
    for thresholds in (5, 50, [0.2, 0.5, 0.9], [0.7, 0.1]):
        labels, scores = RANDOM.integers(0, 2, 40), RANDOM.random(40).round(2)
        given = torch.tensor(scores, dtype=torch.float32), torch.tensor(labels)
        add(
            name,
            labels,
            scores,
            None,
            of_two(*given, thresholds=sorted_(thresholds)),
            thresholds=thresholds,
        )
        labels, scores = RANDOM.integers(0, 3, 40), RANDOM.dirichlet(np.ones(3), 40).round(2)
        given = torch.tensor(scores, dtype=torch.float32), torch.tensor(labels)
        for average in ("macro", "weighted", None):
            value = of_several(*given, 3, average=average or "none", thresholds=sorted_(thresholds))
            add(name, labels, scores, None, value, average=average, thresholds=thresholds)


def sorted_(thresholds: Any) -> Any:
    return thresholds if isinstance(thresholds, int) else sorted(thresholds)


def matrices() -> None:
    """Add confusion matrices and means of intersection over union."""
    for weights in (RANDOM.random(40).round(3), RANDOM.integers(0, 3, 40)):
        labels, preds = RANDOM.integers(0, 4, (2, 40))
        for normalize in (None, "true", "pred", "all"):
            value = metrics.confusion_matrix(
                labels, preds, labels=range(5), normalize=normalize, sample_weight=weights
            )
            arguments = {"num_classes": 5, "normalize": normalize}
            add("ConfusionMatrix", labels, preds, weights, value, **arguments)
        value = metrics.jaccard_score(labels, preds, average=None, sample_weight=weights)
        add("MeanIoU", labels, preds, weights, value, num_classes=4, average=None)


if __name__ == "__main__":
    ranking("AUROC", metrics.roc_auc_score)
    ranking("AveragePrecision", metrics.average_precision_score)
    binned("AUROC", classification.binary_auroc, classification.multiclass_auroc)
    binned(
        "AveragePrecision",
        classification.binary_average_precision,
        classification.multiclass_average_precision,
    )
    matrices()
    text = ",\n".join(json.dumps(case) for case in CASES)
    data = gzip.compress(f"[\n{text}\n]\n".encode(), mtime=0)
    Path(__file__).with_name("weighted_metrics.json.gz").write_bytes(data)
