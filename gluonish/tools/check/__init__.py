"""``gluonish check``: what a program uses of MXNet that is missing here or behaves otherwise."""

from gluonish.tools.check.command import add_parser, run

__all__ = ["add_parser", "run"]
