"""Operators: the registry, and one file an operator or a table a family."""
