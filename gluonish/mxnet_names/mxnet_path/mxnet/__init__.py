"""The package ``mxnet``, replaced by gluonish on import."""

import gluonish.mxnet_names.as_mxnet as _as_mxnet  # noqa: F401  # replaces this package

__all__: list[str] = []
