"""Files: where they come from, and where they are kept."""

import os

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import PATH, TEXT

__all__ = [
    "MXNET_GLUON_REPO",
    "MXNET_HOME",
]

MXNET_GLUON_REPO = Flag(
    "MXNET_GLUON_REPO",
    TEXT,
    "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/",
    "Where pretrained models and datasets are downloaded from: a URL, file:// or a folder.",
)
MXNET_HOME = Flag(
    "MXNET_HOME",
    PATH,
    "~/AppData/Roaming/mxnet" if os.name == "nt" else "~/.mxnet",
    "Folder that keeps downloaded models and datasets.",
)
