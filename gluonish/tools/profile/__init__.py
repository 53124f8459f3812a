"""``gluonish profile``: a script under the profiler, its trace, and a page that explains it."""

from gluonish.tools.profile.command import add_parser, run

__all__ = ["add_parser", "run"]
