"""``gluonish doctor``: what was found on this machine, what is missing, and how to get it."""

from gluonish.tools.doctor.command import add_parser, run

__all__ = ["add_parser", "run"]
