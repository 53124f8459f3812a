"""Texts of operators of ``mx.np``: each has its own docstring, so that none is here.

MXNet keeps functions here whose docstrings and signatures it copies to operators.
"""

__all__: list[str] = []
