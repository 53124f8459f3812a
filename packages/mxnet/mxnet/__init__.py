"""MXNet 1.9.1's name for gluonish: this package becomes gluonish, and all below it its modules."""

import gluonish.mxnet_names.as_mxnet as _as_mxnet  # noqa: F401  # it takes the name

__all__: list[str] = []
