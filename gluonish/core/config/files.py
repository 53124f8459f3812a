"""Files: sources and folders of downloads, and memory maps."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import PATH, SECRET, TEXT, boolean
from gluonish.core.operating_system import WINDOWS

GLUONISH_MAP_FILES = Flag(
    "GLUONISH_MAP_FILES",
    boolean(),
    False,
    "Map large arrays of safetensors and npz files instead of reading them; shortening one ends "
    "the process.",
)
HF_ENDPOINT = Flag(
    "HF_ENDPOINT",
    TEXT,
    "https://huggingface.co",
    "Where networks of the hub are downloaded from: the hub's URL or a mirror's.",
)
HF_HOME = Flag(
    "HF_HOME",
    PATH,
    "~/.cache/huggingface",
    "Folder of the hub's cache and token, shared with other programs.",
)
HF_HUB_CACHE = Flag(
    "HF_HUB_CACHE",
    TEXT,
    "",
    "Folder of downloaded networks of the hub; empty for `hub` in HF_HOME.",
)
HF_HUB_OFFLINE = Flag(
    "HF_HUB_OFFLINE",
    boolean(),
    False,
    "Use networks of the hub that are in the cache, without any request.",
)
HF_TOKEN = Flag(
    "HF_TOKEN",
    SECRET,
    "",
    "Token for the hub, sent to the host of HF_ENDPOINT only; else the file at HF_TOKEN_PATH.",
)
HF_TOKEN_PATH = Flag(
    "HF_TOKEN_PATH",
    TEXT,
    "",
    "File with the token for the hub; empty for `token` in HF_HOME.",
)
MXNET_GLUON_OTHER_SOURCES = Flag(
    "MXNET_GLUON_OTHER_SOURCES",
    boolean(),
    True,
    "Download what MXNET_GLUON_REPO lacks from the data sets' authors and (weights) from torchvision.",
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
    "~/AppData/Roaming/mxnet" if WINDOWS else "~/.mxnet",
    "Folder for downloaded models and data sets.",
)
