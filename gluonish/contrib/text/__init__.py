"""Texts: counting tokens, vocabularies, and vectors of tokens."""

from gluonish.contrib.text import embedding, utils
from gluonish.gluon.contrib.data import text as vocab

__all__ = ["embedding", "utils", "vocab"]
