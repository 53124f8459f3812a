"""Texts: counting tokens, vocabularies, and vectors of tokens."""

from gluonish.contrib.text import embedding, utils, vocab

__all__ = ["embedding", "utils", "vocab"]
