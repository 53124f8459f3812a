"""``gluonish doctor``: libraries and devices of this machine, and how to get missing ones."""

from gluonish.tools.doctor.command import add_parser, run

__all__ = ["add_parser", "run"]
