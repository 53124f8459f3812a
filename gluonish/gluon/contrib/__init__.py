"""`gluon.contrib`: experimental layers, data, views and the Estimator, loaded at first use."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.core.lazy import lists as _lists

__all__ = ["attention_view", "cnn", "data", "estimator", "nn", "rnn"]
__dir__ = _lists(__all__)

if TYPE_CHECKING:
    from gluonish.gluon.contrib import attention_view, cnn, data, estimator, nn, rnn
else:
    __getattr__ = _attach(__name__, __all__)
