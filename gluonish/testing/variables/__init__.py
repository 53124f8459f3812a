"""Checks that every environment variable acts, by groups as in `gluonish.core.config`."""

from gluonish.testing.variables.check import CHECKS, CheckFailedError, NotHereError

__all__ = ["CHECKS", "CheckFailedError", "NotHereError"]
