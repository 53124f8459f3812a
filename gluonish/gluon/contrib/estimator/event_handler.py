"""The handlers of an Estimator, and their base classes."""

from gluonish.gluon.contrib.estimator.checkpoint import CheckpointHandler
from gluonish.gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    TrainBegin,
    TrainEnd,
)
from gluonish.gluon.contrib.estimator.logging_handler import LoggingHandler
from gluonish.gluon.contrib.estimator.mlflow_handler import MLflowHandler
from gluonish.gluon.contrib.estimator.step_handlers import (
    EarlyStoppingHandler,
    GradientUpdateHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)
from gluonish.gluon.contrib.estimator.tensorboard_handler import TensorBoardHandler
from gluonish.gluon.contrib.estimator.wandb_handler import WandbHandler

__all__ = [
    "BatchBegin",
    "BatchEnd",
    "CheckpointHandler",
    "EarlyStoppingHandler",
    "EpochBegin",
    "EpochEnd",
    "EventHandler",
    "GradientUpdateHandler",
    "LoggingHandler",
    "MLflowHandler",
    "MetricHandler",
    "StoppingHandler",
    "TensorBoardHandler",
    "TrainBegin",
    "TrainEnd",
    "ValidationHandler",
    "WandbHandler",
]
