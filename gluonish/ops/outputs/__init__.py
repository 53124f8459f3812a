"""Outputs that bring the gradient of their loss with them, and losses as operators."""

from gluonish.ops.outputs.ctc_loss import CTC_LOSS
from gluonish.ops.outputs.grad_add import GRAD_ADD
from gluonish.ops.outputs.kl_sparse_reg import IDENTITY_ATTACH_KL_SPARSE_REG
from gluonish.ops.outputs.regression_output import (
    LINEAR_REGRESSION_OUTPUT,
    LOGISTIC_REGRESSION_OUTPUT,
    MAE_REGRESSION_OUTPUT,
)
from gluonish.ops.outputs.softmax_activation import SOFTMAX_ACTIVATION
from gluonish.ops.outputs.softmax_cross_entropy import SOFTMAX_CROSS_ENTROPY
from gluonish.ops.outputs.svm_output import SVM_OUTPUT

__all__ = [
    "CTC_LOSS",
    "GRAD_ADD",
    "IDENTITY_ATTACH_KL_SPARSE_REG",
    "LINEAR_REGRESSION_OUTPUT",
    "LOGISTIC_REGRESSION_OUTPUT",
    "MAE_REGRESSION_OUTPUT",
    "SOFTMAX_ACTIVATION",
    "SOFTMAX_CROSS_ENTROPY",
    "SVM_OUTPUT",
]
