"""`gluonish.as_mxnet`, and NumPy's removed names; see `numpy1`.

``gluonish run --numpy1`` imports this module, as do child processes when they import ``mxnet``.
"""

import sys
from pathlib import Path

from gluonish.core.config.environment import extend_python_path
from gluonish.mxnet_names.numpy1 import restore

__all__: list[str] = []

# A folder with a package ``mxnet`` that imports this module, for child processes.
_FOLDER = str(Path(__file__).with_name("numpy1_path"))

restore()
if _FOLDER not in sys.path:
    sys.path.append(_FOLDER)
extend_python_path(_FOLDER)

import gluonish.mxnet_names.as_mxnet as _as_mxnet  # noqa: E402, F401  # after the folder is on the path
