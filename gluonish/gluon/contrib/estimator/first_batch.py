"""Checks of the first batch of a training run, which cost nothing afterwards."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.gluon.loss import Loss, SigmoidBCELoss, SoftmaxCELoss
from gluonish.ndarray import NDArray
from gluonish.ndarray.value_checks import non_finite

_LEAST_PIXEL, _LARGEST_PIXEL = 32, 255  # the largest value of a batch of unscaled images


def listed(arrays: Any) -> Sequence[Any]:
    """Return what a BatchProcessor returned for the devices as a sequence."""
    return arrays if isinstance(arrays, list | tuple) else [arrays]


def first_batch_problems(
    data: Sequence[Any],
    label: Sequence[Any],
    pred: Sequence[Any],
    losses: Sequence[Any],
    loss: Loss,
) -> list[str]:
    """Wait for a batch; return what is wrong with it, a sentence each.

    Args:
        data: Inputs of the network on each device; only arrays are looked at.
        label: Labels on each device.
        pred: Outputs of the network on each device.
        losses: The losses on each device.
        loss: The loss function.
    """
    found = []
    for what, arrays in (("data", data), ("labels", label)):
        bad = _first(arrays)
        if bad is not None:
            found.append(
                f"first batch: expected finite {what}, got {bad.kind} {bad}; remove such samples, "
                "or replace the values"
            )
    if any(map(_is_unscaled, data)):
        found.append(
            "first batch: expected images of about 0 to 1 or of mean 0, got whole numbers up to "
            "255; use transforms.ToTensor() or data / 255, unless the network scales them"
        )
    for scores, classes in zip(pred, label, strict=False):
        problem = _label_problem(loss, scores, classes)
        if problem:
            found.append(problem)
            break
    if not found:
        for what, arrays in (("outputs of the network", pred), ("losses", losses)):
            bad = _first(arrays)
            if bad is not None:
                found.append(
                    f"first batch: expected finite {what}, got {bad.kind} {bad}; "
                    "MXNET_CHECK_VALUES=1 names the operator and the layer"
                )
                break
    return found


def _first(arrays: Sequence[Any]) -> Any:
    """Return what is not finite in the first array of several that is not finite, or None."""
    each = (non_finite(x) for x in arrays if isinstance(x, NDArray))
    return next((bad for bad in each if bad is not None), None)


def _is_unscaled(x: Any) -> bool:
    """Whether an array holds images with pixels from 0 to 255."""
    if not isinstance(x, NDArray) or x.ndim != 4 or not is_floating(x._spec.dtype) or not x.size:
        return False
    values = x.asnumpy()
    low, high = values.min(), values.max()
    if not (low >= 0 and _LEAST_PIXEL < high <= _LARGEST_PIXEL):
        return False
    return bool((values == np.floor(values)).all())


def _label_problem(loss: Loss, scores: Any, label: Any) -> str:
    if isinstance(loss, SoftmaxCELoss):
        return loss.label_problem(scores, label)
    if isinstance(loss, SigmoidBCELoss) and isinstance(label, NDArray) and label.size:
        values = label.asnumpy()
        if values.min() < 0 or values.max() > 1:
            return (
                f"first batch: expected labels from 0 to 1 for {type(loss).__name__}, got labels "
                f"from {values.min():g} to {values.max():g}"
            )
    return ""
