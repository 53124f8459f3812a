"""Estimator: a training loop with event handlers."""

from gluonish.gluon.contrib.estimator import batch_processor, estimator, event_handler, utils
from gluonish.gluon.contrib.estimator.batch_processor import BatchProcessor
from gluonish.gluon.contrib.estimator.estimator import Estimator
from gluonish.gluon.contrib.estimator.event_handler import (
    BatchBegin,
    BatchEnd,
    CheckpointHandler,
    EarlyStoppingHandler,
    EpochBegin,
    EpochEnd,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    MLflowHandler,
    StoppingHandler,
    TensorBoardHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
    WandbHandler,
)
from gluonish.gluon.contrib.estimator.rate_finder import LearningRateCurve, find_learning_rate

__all__ = [
    "BatchBegin",
    "BatchEnd",
    "BatchProcessor",
    "CheckpointHandler",
    "EarlyStoppingHandler",
    "EpochBegin",
    "EpochEnd",
    "Estimator",
    "GradientUpdateHandler",
    "LearningRateCurve",
    "LoggingHandler",
    "MLflowHandler",
    "MetricHandler",
    "StoppingHandler",
    "TensorBoardHandler",
    "TrainBegin",
    "TrainEnd",
    "ValidationHandler",
    "WandbHandler",
    "batch_processor",
    "estimator",
    "event_handler",
    "find_learning_rate",
    "utils",
]
