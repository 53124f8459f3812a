"""Trainer: applies an optimizer to the Parameters of a network, on one device or several."""

from gluonish.trainer.gradients import StaleGradientError
from gluonish.trainer.trainer import Trainer

__all__ = ["StaleGradientError", "Trainer"]
