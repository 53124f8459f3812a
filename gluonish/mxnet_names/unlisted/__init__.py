"""Functions that no document of MXNet's lists and that published programs import all the same.

Each module is about one thing and holds what stands in one or two modules of MXNet's;
`gluonish.mxnet_names.imported_modules` says under which names programs find it there.
"""

__all__: list[str] = []
