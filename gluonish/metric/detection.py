"""MeanAveragePrecision of boxes, by COCO's definition."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_int
from gluonish.metric.base import alias, pairs, register
from gluonish.metric.matrix import averaged, checked_mean
from gluonish.metric.samples import SampleMetric

Array = np.ndarray[Any, Any]

_COCO_THRESHOLDS = tuple(np.linspace(0.5, 0.95, 10).tolist())
_RECALLS = np.linspace(0, 1, 101)
_NEARLY_ONE = 1 - 1e-10  # the highest threshold that an overlap can reach after rounding


@register
@alias("mean_average_precision", "map")
class MeanAveragePrecision(SampleMetric):
    """Mean average precision of detected boxes over classes and IoU thresholds, as COCO's.

    The detections of a class are matched in the order of their scores, each with the free true box
    of the same class and image that it overlaps most, by at least the threshold. The average
    precision of a class is the mean, over the recalls 0, 0.01, ..., 1, of the highest precision at
    that recall or a higher one. Classes without true boxes do not count. This is COCO's AP over all
    areas.

    Args:
        iou_thresholds: Thresholds in (0, 1]; None for COCO's 0.5, 0.55, ..., 0.95. ``[0.5]`` gives
            AP50.
        max_detections: Number of detections of a class in an image that count, those of the highest
            scores.
        average: ``"macro"`` for the mean over classes; None for a value of each class up to the
            highest, NaN for those without true boxes: `get` then returns lists of names, such as
            ``map_0``, and values.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: An argument is out of range.

    References:
        T.-Y. Lin et al., Microsoft COCO: Common Objects in Context, 2014; cocodataset.org,
        detection evaluation.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.metric.MeanAveragePrecision()
        >>> labels = mx.nd.array([[[0, 0, 0, 10, 10]]])  # class, xmin, ymin, xmax, ymax
        >>> preds = mx.nd.array([[[0, 0.9, 0, 0, 10, 8]]])  # class, score, box
        >>> metric.update(labels, preds)
        >>> round(metric.get()[1], 6)  # an overlap of 0.8 reaches 7 of 10 thresholds
        0.7
    """

    def __init__(
        self,
        iou_thresholds: Sequence[float] | None = None,
        max_detections: int = 100,
        average: str | None = "macro",
        name: str = "map",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        given = _COCO_THRESHOLDS if iou_thresholds is None else tuple(map(float, iou_thresholds))
        if not given or not all(0 < each <= 1 for each in given):
            raise ArgumentError(
                f"MeanAveragePrecision: expected iou_thresholds in (0, 1], got {iou_thresholds}"
            )
        self.iou_thresholds = given
        self.max_detections = as_int("MeanAveragePrecision", "max_detections", max_detections, 1)
        self.average = checked_mean("MeanAveragePrecision", average)
        super().__init__(
            name,
            output_names,
            label_names,
            iou_thresholds=None if iou_thresholds is None else list(given),
            max_detections=max_detections,
            average=average,
            has_global_stats=True,
        )

    def update(self, labels: Any, preds: Any) -> None:
        """Store the boxes of one batch; copies of arrays stay on their devices until `get`.

        Args:
            labels: A list of arrays, or one NDArray: true boxes (N, M, 5) of N images, or (M, 5) of
                one, each ``(class, xmin, ymin, xmax, ymax)`` in any unit. A sixth number other than
                0 says that the box is a crowd: detections inside it do not count. Rows of a class
                below 0 are padding.
            preds: Detections (N, K, 6) or (K, 6), in the same form: ``(class, score, xmin, ymin,
                xmax, ymax)``, as `contrib.MultiBoxDetection` gives them. Rows of a class below 0
                are padding.

        Raises:
            ArgumentError: Labels and predictions differ in number, or their shapes do not fit.
        """
        for label, pred in pairs(labels, preds):
            true, found = label.shape, pred.shape
            fits = len(true) == len(found) in (2, 3) and true[:-2] == found[:-2]
            if not fits or true[-1] not in (5, 6) or found[-1] != 6:
                raise ArgumentError(
                    "MeanAveragePrecision: expected labels (N, M, 5) of class and corners, and "
                    f"predictions (N, K, 6) of class, score and corners, got {true} and {found}"
                )
            if len(true) == 2:
                label, pred = label.reshape((1, *true)), pred.reshape((1, *found))
            self._store(label, pred)

    def _value(self, samples: Sequence[Any]) -> Any:
        images = [pair for label, pred in samples for pair in zip(label, pred, strict=True)]
        images = [(_rows(label), _rows(pred)) for label, pred in images]
        if any(np.isnan(rows).any() for pair in images for rows in pair):
            raise ArgumentError("MeanAveragePrecision: expected scores and corners, got NaN")
        classes = np.unique(np.concatenate([rows[:, 0] for pair in images for rows in pair]))
        values = {int(c): self._of_class(images, c) for c in classes}
        every = range(1 + max(values, default=-1))
        return averaged(np.array([values.get(c, np.nan) for c in every], float), self.average)

    def _of_class(self, images: Sequence[tuple[Array, Array]], of_class: float) -> float:
        """Return the mean over thresholds of the average precision of a class."""
        scores, hits, ignored, count = [], [], [], 0
        for true, found in images:
            true, found = true[true[:, 0] == of_class], found[found[:, 0] == of_class]
            found = found[np.argsort(-found[:, 1], kind="stable")][: self.max_detections]
            matched = [_match(true, found, each) for each in self.iou_thresholds]
            scores.append(found[:, 1])
            hits.append(np.stack([hit for hit, _ in matched]))
            ignored.append(np.stack([skip for _, skip in matched]))
            count += int((true[:, 5] == 0).sum())
        if not count:
            return np.nan
        order = np.argsort(-np.concatenate(scores), kind="stable")
        hit, skip = (np.concatenate(x, axis=1)[:, order] for x in (hits, ignored))
        return float(
            np.mean([_average_precision(h[~s], count) for h, s in zip(hit, skip, strict=True)])
        )


def _rows(boxes: Array) -> Array:
    """Return the rows that are not padding, in float64, with six numbers."""
    boxes = boxes[boxes[:, 0] >= 0].astype(np.float64)
    return boxes if boxes.shape[1] == 6 else np.pad(boxes, ((0, 0), (0, 1)))


def _overlaps(found: Array, true: Array) -> Array:
    """Return the IoU of each detection and true box; of a crowd, the part of the detection."""
    a, b = found[:, None, 2:6], true[None, :, 1:5]
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    inside = np.prod(np.maximum(high - low, 0), axis=-1)
    area_a, area_b = (np.prod(x[..., 2:] - x[..., :2], axis=-1) for x in (a, b))
    union = np.where(true[:, 5] != 0, area_a, area_a + area_b - inside)
    part: Array = np.divide(inside, union, out=np.zeros_like(inside), where=union > 0)
    return part


def _match(true: Array, found: Array, threshold: float) -> tuple[Array, Array]:
    """Return for each detection whether it has a true box, and whether it does not count."""
    overlaps, is_crowd = _overlaps(found, true), true[:, 5] != 0
    hit, skip = np.zeros(len(found), bool), np.zeros(len(found), bool)
    is_free = ~is_crowd
    for i, overlap in enumerate(overlaps):
        for candidates in (is_free, is_crowd):
            best = _last_best(overlap, candidates, min(threshold, _NEARLY_ONE))
            if best is not None:
                hit[i], skip[i] = True, is_crowd[best]
                is_free[best] = False
                break
    return hit, skip


def _last_best(overlap: Array, candidates: Array, threshold: float) -> int | None:
    """Return the candidate of the highest overlap, of equal ones the last, or None."""
    able = np.flatnonzero(candidates & (overlap >= threshold))
    if not able.size:
        return None
    return int(able[overlap[able] == overlap[able].max()][-1])


def _average_precision(hit: Array, count: int) -> float:
    """Return the mean precision at 101 recalls of detections in the order of their scores."""
    right = np.cumsum(hit)
    precision = right / np.arange(1, len(hit) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    first = np.searchsorted(right / count, _RECALLS, side="left")
    return float(np.append(best, 0.0)[first].mean())
