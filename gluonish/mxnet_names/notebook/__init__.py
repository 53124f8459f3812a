"""`mx.notebook`: callbacks for training in notebooks."""

from gluonish.mxnet_names.notebook import callback

__all__ = ["callback"]
