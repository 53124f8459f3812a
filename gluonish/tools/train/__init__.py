"""``gluonish train``: train a network to classify images."""

from gluonish.tools.train.command import add_parser, run

__all__ = ["add_parser", "run"]
