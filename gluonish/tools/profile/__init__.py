"""``gluonish profile``: profiles a script, and writes a trace and a page that explains it."""

from gluonish.tools.profile.command import add_parser, run

__all__ = ["add_parser", "run"]
