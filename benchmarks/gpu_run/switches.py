"""The switches that a run on a device judges: two values of a variable, and the rows they touch."""

from typing import NamedTuple

_RESNET = "ResNet-50 training, 64, AMP, CUDA graphs"
_BERT = "BERT-base training, 32 x 128, AMP, CUDA graphs"
_LSTM = "LSTM 2 x 650 training, TF32, CUDA graphs"
_IMAGES = "ResNet-50 inference, 64, AMP, CUDA graphs"
_MOVING = "ResNet-50 inference, 64, AMP, moving images, CUDA graphs"
_IMAGE = "ResNet-50 inference, 1, TF32, CUDA graphs"
# The rows that two sides are compared on, where nothing else is asked.
BIG = (_RESNET, _BERT, _LSTM, _IMAGES, _IMAGE)
# Two processes are started, warmed up and timed in turns.
SECONDS_A_ROW = 30.0


class Switch(NamedTuple):
    """A switch.

    Attributes:
        text: ``VARIABLE=a,b``; b is the default.
        rows: Where it may matter, in order of value.
    """

    text: str
    rows: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """What its rows may take."""
        return SECONDS_A_ROW * len(self.rows)


def _without(name: str, *rows: str) -> Switch:
    """Return the switch of a graph pass."""
    return Switch(f"MXNET_DISABLED_GRAPH_PASSES={name},", rows)


# In order of what the model says they gain.
SWITCHES: tuple[Switch, ...] = (
    Switch("MXNET_ENABLE_CUDA_GRAPHS=0,1", (_RESNET, _BERT, _LSTM)),
    Switch("GLUONISH_CUDNN_RNN=0,1", (_LSTM,)),
    _without("channels_last", _RESNET, _IMAGES),
    _without("fuse_attention", _BERT),
    Switch("GLUONISH_CUDA_VECTORS=0,1", (_RESNET, _BERT)),
    _without("fold_batch_norm", _IMAGES, _IMAGE),
    Switch("GLUONISH_CUBLASLT=0,1", (_BERT,)),
    _without("fuse_add_layer_norm", _BERT),
    _without("fuse_gradient_sum", _BERT),
    _without("redraw_masks", _BERT),
    Switch("GLUONISH_PAD_CHANNELS=0,1", (_RESNET, _IMAGES)),
    Switch("MXNET_CUDNN_AUTOTUNE_DEFAULT=0,1", (_RESNET, _IMAGES)),
    _without("cast_weights", _BERT),
    Switch("GLUONISH_DEVICE_LOSS_SCALE=0,1", ("ResNet-50 training, 64, FP16, CUDA graphs",)),
    Switch("GLUONISH_CUDA_MOVE=0,1", (_MOVING,)),
    Switch("GLUONISH_STAGING_MB=0,32", ("upload of 64 images, float32",)),
)
