"""``gluonish quantize``: quantizes saved networks, and reports the errors of their layers."""

from gluonish.tools.quantize.command import add_parser

__all__ = ["add_parser"]
