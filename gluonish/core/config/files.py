"""Files: sources and folders of downloads, and memory maps."""

import os

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import PATH, TEXT, boolean

GLUONISH_MAP_FILES = Flag(
    "GLUONISH_MAP_FILES",
    boolean(),
    False,
    "Map large arrays of safetensors and npz files instead of reading them; shortening one ends "
    "the process.",
)
MXNET_GLUON_REPO = Flag(
    "MXNET_GLUON_REPO",
    TEXT,
    "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/",
    "Where pretrained models and data sets are downloaded from: a URL, file:// or a folder.",
)
MXNET_HOME = Flag(
    "MXNET_HOME",
    PATH,
    "~/AppData/Roaming/mxnet" if os.name == "nt" else "~/.mxnet",
    "Folder for downloaded models and data sets.",
)
