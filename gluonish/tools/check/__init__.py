"""``gluonish check``: MXNet names in a program that are missing here or behave differently."""

from gluonish.tools.check.command import add_parser, run

__all__ = ["add_parser", "run"]
