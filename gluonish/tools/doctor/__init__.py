"""``gluonish doctor``: reports libraries and devices, and how to install missing libraries."""

from gluonish.tools.doctor.command import add_parser, run

__all__ = ["add_parser", "run"]
