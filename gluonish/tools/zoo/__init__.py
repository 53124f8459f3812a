"""``gluonish zoo``: networks of the model zoo, their weights, and weights of other libraries."""

from gluonish.tools.zoo.command import add_parser

__all__ = ["add_parser"]
