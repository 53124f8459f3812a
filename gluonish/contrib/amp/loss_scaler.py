"""The class of dynamic loss scales, under MXNet's name."""

from gluonish.gluon.mixed_precision.loss_scaler import LossScaler

__all__ = ["LossScaler"]
