"""Operators: the registry, and one file per operator or one table per family."""
