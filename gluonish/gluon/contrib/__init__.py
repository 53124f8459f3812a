"""`gluon.contrib`: experimental layers, data, the Estimator; each loads at its first use."""

from typing import TYPE_CHECKING

from gluonish.core.module_names import lists as _lists
from gluonish.core.module_names import loads as _loads

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]
__dir__ = _lists(__all__)

if TYPE_CHECKING:
    from gluonish.gluon.contrib import cnn, data, estimator, nn, rnn
else:
    __getattr__ = _loads(__name__, __all__)
