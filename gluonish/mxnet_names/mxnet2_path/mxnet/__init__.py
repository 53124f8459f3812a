"""The package ``mxnet`` in child processes of programs for MXNet 2.0, replaced by gluonish."""

import gluonish.mxnet_names.as_mxnet2 as _as_mxnet  # noqa: F401  # replaces this package

__all__: list[str] = []
