"""Networks with published weights."""

from gluonish.model_zoo import model_store, vision
from gluonish.model_zoo.registry import get_model

__all__ = ["get_model", "model_store", "vision"]
