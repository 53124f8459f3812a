"""Losses: how far predictions are from labels, one number a sample."""

from gluonish.loss.base import Loss, _apply_weighting, _reshape_like  # noqa: F401  # used by name
from gluonish.loss.cross_entropy import (
    SigmoidBCELoss,
    SigmoidBinaryCrossEntropyLoss,
    SoftmaxCELoss,
    SoftmaxCrossEntropyLoss,
)
from gluonish.loss.ctc import CTCLoss
from gluonish.loss.embedding import CosineEmbeddingLoss, SDMLLoss, TripletLoss
from gluonish.loss.likelihood import KLDivLoss, PoissonNLLLoss
from gluonish.loss.margin import HingeLoss, LogisticLoss, SquaredHingeLoss
from gluonish.loss.regression import HuberLoss, L1Loss, L2Loss

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]
