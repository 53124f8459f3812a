"""Loss functions: distances between predictions and labels, one number per sample."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.gluon.loss.base import Loss, _apply_weighting, _reshape_like  # noqa: F401  # used by name
from gluonish.gluon.loss.cross_entropy import (
    CTCLoss,
    SigmoidBCELoss,
    SigmoidBinaryCrossEntropyLoss,
    SoftmaxCELoss,
    SoftmaxCrossEntropyLoss,
)
from gluonish.gluon.loss.dice import DiceLoss
from gluonish.gluon.loss.focal import FocalLoss, SoftmaxFocalLoss
from gluonish.gluon.loss.linear import LinearCrossEntropyLoss
from gluonish.gluon.loss.margin import (
    CosineEmbeddingLoss,
    HingeLoss,
    LogisticLoss,
    SDMLLoss,
    SquaredHingeLoss,
    TripletLoss,
)
from gluonish.gluon.loss.regression import HuberLoss, KLDivLoss, L1Loss, L2Loss, PoissonNLLLoss

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "DiceLoss",
    "FocalLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LinearCrossEntropyLoss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SoftmaxFocalLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]
