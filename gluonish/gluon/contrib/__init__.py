"""``gluon.contrib`` under the names that programs import; the modules load at their first use."""

from typing import TYPE_CHECKING

from gluonish.core.module_names import lists as _lists
from gluonish.core.module_names import loads as _loads
from gluonish.gluon import names as _names  # noqa: F401  # it names the modules

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]
__dir__ = _lists(__all__)

if TYPE_CHECKING:
    from gluonish.contrib import cnn, data, estimator, nn, rnn
else:
    __getattr__ = _loads(__name__, __all__)
