"""Evaluation metrics."""

from typing import TYPE_CHECKING

import gluonish.ndarray as ndarray
from gluonish.core.lazy import attach as _attach
from gluonish.metric.accuracy import Accuracy, TopKAccuracy
from gluonish.metric.base import EvalMetric, alias, check_label_shapes, register
from gluonish.metric.bleu import BLEU
from gluonish.metric.composite import CompositeEvalMetric, CustomMetric, create, np
from gluonish.metric.confusion import F1, MCC, PCC
from gluonish.metric.detection import MeanAveragePrecision
from gluonish.metric.matrix import ConfusionMatrix, MeanIoU, TopKAccuracyPerClass
from gluonish.metric.probability import (
    Caffe,
    CrossEntropy,
    Loss,
    NegativeLogLikelihood,
    Perplexity,
    Torch,
)
from gluonish.metric.ranking import AUROC, AveragePrecision
from gluonish.metric.regression import MAE, MSE, R2, RMSE, PearsonCorrelation, RSquared

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = [
    "AUROC",
    "BLEU",
    "F1",
    "MAE",
    "MCC",
    "MSE",
    "PCC",
    "R2",
    "RMSE",
    "Accuracy",
    "AveragePrecision",
    "Caffe",
    "CompositeEvalMetric",
    "ConfusionMatrix",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Loss",
    "MeanAveragePrecision",
    "MeanIoU",
    "NegativeLogLikelihood",
    "PearsonCorrelation",
    "Perplexity",
    "RSquared",
    "TopKAccuracy",
    "TopKAccuracyPerClass",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "ndarray",
    "np",
    "register",
]
