"""`mx.contrib.text`: token counts, vocabularies and token embeddings."""

from gluonish.contrib.text import embedding, utils
from gluonish.gluon.contrib.data import text as vocab

__all__ = ["embedding", "utils", "vocab"]
