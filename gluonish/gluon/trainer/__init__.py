"""Trainer: applies an optimizer to the Parameters of a network, on one device or several."""

from gluonish.gluon.trainer.gradients import StaleGradientError
from gluonish.gluon.trainer.trainer import Trainer

__all__ = ["StaleGradientError", "Trainer"]
