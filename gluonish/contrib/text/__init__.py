"""Texts: counting tokens, vocabularies, and vectors of tokens."""

from gluonish.contrib.text import embedding, utils
from gluonish.gluon.contrib.data import vocabulary as vocab

__all__ = ["embedding", "utils", "vocab"]
