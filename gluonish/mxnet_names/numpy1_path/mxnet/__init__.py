"""MXNet 1.9.1's name for gluonish in processes that ``gluonish run --numpy1`` starts."""

import gluonish.mxnet_names.as_mxnet_numpy1 as _as_mxnet  # noqa: F401  # it takes the name

__all__: list[str] = []
