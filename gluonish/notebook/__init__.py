"""`mx.notebook`: callbacks for training in notebooks."""

from gluonish.notebook import callback

__all__ = ["callback"]
