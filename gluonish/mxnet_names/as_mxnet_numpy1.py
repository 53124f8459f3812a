"""`gluonish.as_mxnet`, for programs that need NumPy's old names, too.

Importing it is what ``gluonish run --numpy1`` does, see `numpy1`; the processes that such a program
starts import it where they import ``mxnet``.
"""

import sys
from pathlib import Path

from gluonish.core.config.environment import extend_python_path
from gluonish.mxnet_names.numpy1 import put_back

__all__: list[str] = []

# In this folder the package ``mxnet`` is this module, for child processes.
_FOLDER = str(Path(__file__).with_name("numpy1_path"))

put_back()
if _FOLDER not in sys.path:
    sys.path.append(_FOLDER)
extend_python_path(_FOLDER)

import gluonish.mxnet_names.as_mxnet as _as_mxnet  # noqa: E402, F401  # it looks for the folder
