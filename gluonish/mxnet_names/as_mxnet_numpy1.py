"""`gluonish.as_mxnet` or `gluonish.as_mxnet2`, and NumPy's removed names; see `numpy1`.

``gluonish run --numpy1`` imports this module, as do child processes when they import ``mxnet``.
"""

import sys
from pathlib import Path

from gluonish.core.config.environment import extend_python_path
from gluonish.core.loading import load
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.mxnet_names.numpy1 import restore
from gluonish.mxnet_names.replacing import starts_with_mxnet2

__all__: list[str] = []

# A folder with a package ``mxnet`` that imports this module, for child processes.
_FOLDER = str(Path(__file__).with_name("numpy1_path"))

restore()
if _FOLDER not in sys.path:
    sys.path.append(_FOLDER)
extend_python_path(_FOLDER)

# After the folder is on the path.
_follows_2 = follows_mxnet2() or starts_with_mxnet2()
load(f"gluonish.mxnet_names.{'as_mxnet2' if _follows_2 else 'as_mxnet'}")
