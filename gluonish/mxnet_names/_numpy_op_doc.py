"""Docstrings of ``mx.np`` operators in MXNet; empty: operators have their own docstrings."""

__all__: list[str] = []
