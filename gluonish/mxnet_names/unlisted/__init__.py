"""Undocumented functions of MXNet that published programs import.

`gluonish.mxnet_names.imported_modules` maps MXNet's names to these functions.
"""

__all__: list[str] = []
