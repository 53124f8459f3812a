"""``gluonish sweep``: trains with many settings, and compares the results."""

from gluonish.tools.sweep.command import add_parser, run

__all__ = ["add_parser", "run"]
