"""The package ``mxnet`` in child processes of ``gluonish run --numpy1``."""

import gluonish.mxnet_names.as_mxnet_numpy1 as _as_mxnet  # noqa: F401  # replaces this package

__all__: list[str] = []
