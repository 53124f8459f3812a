"""gluonish under the name ``mxnet``, for unmodified programs for MXNet 2.0.

After ``import gluonish.as_mxnet2`` as a program's first line, ``import mxnet...`` imports
gluonish's modules, with the rules of MXNet 2.0 (`gluonish.core.mxnet_rules`), in this process and
its child processes. A program runs unmodified by ``python -m gluonish.as_mxnet2 train.py``.
"""

import sys

from gluonish.core.loading import load
from gluonish.core.mxnet_rules import Rules
from gluonish.mxnet_names.replacing import install

__all__: list[str] = []

install(Rules.MXNET2)

if __name__ == "__main__":
    sys.exit(load("gluonish.mxnet_names.program").main(sys.argv[1:]))
