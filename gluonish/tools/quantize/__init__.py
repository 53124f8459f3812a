"""``gluonish quantize``: networks in bytes, from files to files, and how far they are off."""

from gluonish.tools.quantize.command import add_parser

__all__ = ["add_parser"]
