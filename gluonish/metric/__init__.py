"""Evaluation metrics."""

from typing import TYPE_CHECKING

import gluonish.ndarray as ndarray
from gluonish.core.lazy import attach as _attach
from gluonish.metric.accuracy import Accuracy, TopKAccuracy
from gluonish.metric.base import EvalMetric, alias, check_label_shapes, register
from gluonish.metric.composite import CompositeEvalMetric, CustomMetric, create, np
from gluonish.metric.confusion import F1, MCC, PCC
from gluonish.metric.probability import (
    Caffe,
    CrossEntropy,
    Loss,
    NegativeLogLikelihood,
    Perplexity,
    Torch,
)
from gluonish.metric.regression import MAE, MSE, RMSE, PearsonCorrelation

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = [
    "F1",
    "MAE",
    "MCC",
    "MSE",
    "PCC",
    "RMSE",
    "Accuracy",
    "Caffe",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Loss",
    "NegativeLogLikelihood",
    "PearsonCorrelation",
    "Perplexity",
    "TopKAccuracy",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "ndarray",
    "np",
    "register",
]
