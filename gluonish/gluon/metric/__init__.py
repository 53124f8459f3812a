"""`gluon.metric`: the evaluation metrics of MXNet 2.0.

Those that 2.0 did not change are those of `mx.metric`. The others average over samples, where
`mx.metric`, which follows MXNet 1.9, averages over batches.
"""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.gluon.metric.classes import (
    F1,
    MCC,
    BinaryAccuracy,
    Fbeta,
    one_hot,
    predict_with_threshold,
)
from gluonish.gluon.metric.composite import CompositeEvalMetric, create, register
from gluonish.gluon.metric.distances import (
    MAE,
    MSE,
    RMSE,
    MeanCosineSimilarity,
    MeanPairwiseDistance,
    PearsonCorrelation,
)
from gluonish.gluon.metric.likelihood import CrossEntropy, Perplexity
from gluonish.metric import (
    AUROC,
    BLEU,
    PCC,
    R2,
    Accuracy,
    AveragePrecision,
    Caffe,
    ConfusionMatrix,
    CustomMetric,
    EvalMetric,
    Loss,
    MeanAveragePrecision,
    MeanIoU,
    NegativeLogLikelihood,
    RSquared,
    TopKAccuracy,
    TopKAccuracyPerClass,
    Torch,
    alias,
    check_label_shapes,
    np,
)

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
    "BinaryAccuracy",
    "Caffe",
    "CompositeEvalMetric",
    "ConfusionMatrix",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Fbeta",
    "Loss",
    "MeanAveragePrecision",
    "MeanCosineSimilarity",
    "MeanIoU",
    "MeanPairwiseDistance",
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
    "np",
    "one_hot",
    "predict_with_threshold",
    "register",
]
