"""Metrics: what training and evaluation report about predictions."""

import gluonish.ndarray as ndarray
from gluonish.metric.accuracy import Accuracy, TopKAccuracy
from gluonish.metric.base import EvalMetric, alias, check_label_shapes, register
from gluonish.metric.composite import CompositeEvalMetric, create
from gluonish.metric.confusion import F1, MCC, PCC
from gluonish.metric.custom import CustomMetric, np
from gluonish.metric.loss import Caffe, Loss, Torch
from gluonish.metric.probability import CrossEntropy, NegativeLogLikelihood, Perplexity
from gluonish.metric.regression import MAE, MSE, RMSE, PearsonCorrelation

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
