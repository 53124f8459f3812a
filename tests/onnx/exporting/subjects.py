"""Networks to export: layers, recurrent layers and cells, losses, and the zoo, with inputs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gluonish as mx

nn, rnn, loss = mx.gluon.nn, mx.gluon.rnn, mx.gluon.loss
Array = np.ndarray[Any, Any]


def _random(*shape: int, seed: int = 0, low: float = -1) -> Array:
    values = np.random.default_rng(seed).uniform(low, 1, shape)
    return np.asarray(values, np.float32)


def _whole(high: int, *shape: int) -> Array:
    return np.asarray(np.random.default_rng(3).integers(0, high, shape), np.float32)


# Each a block and the arrays of a call.
Subject = tuple[Callable[[], Any], list[Array]]
_ROW, _IMAGE = [_random(3, 4)], [_random(2, 3, 7, 6)]
_WAVE, _BODY = [_random(2, 3, 9)], [_random(2, 3, 5, 4, 6)]

LAYERS: dict[str, Subject] = {
    "Dense": (lambda: nn.Dense(5, activation="tanh"), _ROW),
    "Dense-not-flat": (lambda: nn.Dense(5, flatten=False, use_bias=False), _WAVE),
    "Conv1D": (lambda: nn.Conv1D(4, 3, strides=2, padding=1), _WAVE),
    "Conv2D": (lambda: nn.Conv2D(6, (3, 2), dilation=2, groups=3, activation="relu"), _IMAGE),
    "Conv3D": (lambda: nn.Conv3D(2, 2, use_bias=False), _BODY),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(4, 3, strides=2, output_padding=1), _WAVE),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(4, 3, strides=2, padding=1), _IMAGE),
    "Conv3DTranspose": (lambda: nn.Conv3DTranspose(2, 2, strides=2), _BODY),
    **{
        f"{kind}{rank}D": (lambda kind=kind, rank=rank: getattr(nn, f"{kind}{rank}D")(), data)
        for kind in ("MaxPool", "AvgPool", "GlobalMaxPool", "GlobalAvgPool")
        for rank, data in ((1, _WAVE), (2, _IMAGE), (3, _BODY))
    },
    "MaxPool2D-ceil": (lambda: nn.MaxPool2D(3, 2, padding=1, ceil_mode=True), _IMAGE),
    "AvgPool2D-ceil": (lambda: nn.AvgPool2D(3, 2, padding=1, ceil_mode=True), _IMAGE),
    "AvgPool2D-inside": (lambda: nn.AvgPool2D(3, 2, padding=1, count_include_pad=False), _IMAGE),
    "ReflectionPad2D": (lambda: nn.ReflectionPad2D(2), _IMAGE),
    "BatchNorm": (lambda: nn.BatchNorm(), _IMAGE),
    "BatchNorm-last-axis": (lambda: nn.BatchNorm(axis=-1, scale=False), _IMAGE),
    "BatchNormReLU": (lambda: nn.BatchNormReLU(), _IMAGE),
    "InstanceNorm": (lambda: nn.InstanceNorm(), _IMAGE),
    "LayerNorm": (lambda: nn.LayerNorm(), _ROW),
    "LayerNorm-axis": (lambda: nn.LayerNorm(axis=1), _IMAGE),
    "RMSNorm": (lambda: nn.RMSNorm(), _ROW),
    "RMSNorm-axis": (lambda: nn.RMSNorm(axis=1, offset=True), _IMAGE),
    "GroupNorm": (lambda: nn.GroupNorm(3), _IMAGE),
    "Dropout": (lambda: nn.Dropout(0.5), _ROW),
    "Embedding": (lambda: nn.Embedding(6, 3), [_whole(6, 2, 3)]),
    "Flatten": (lambda: nn.Flatten(), _IMAGE),
    "Activation": (lambda: nn.Activation("softrelu"), _ROW),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.2), _ROW),
    "PReLU": (lambda: nn.PReLU(), _IMAGE),
    "ELU": (lambda: nn.ELU(0.7), _ROW),
    "SELU": (lambda: nn.SELU(), _ROW),
    "GELU": (lambda: nn.GELU(), _ROW),
    "GELU-tanh": (lambda: nn.GELU("tanh"), _ROW),
    "GELU-sigmoid": (lambda: nn.GELU("sigmoid"), _ROW),
    "Swish": (lambda: nn.Swish(0.8), _ROW),
    "SiLU": (lambda: nn.SiLU(), _ROW),
    "Identity": (lambda: nn.Identity(), _ROW),
    "ALiBiBias": (lambda: nn.ALiBiBias(3), [_random(2, 5, 4), _random(2, 7, 4)]),
    "RelativePositionBias": (lambda: nn.RelativePositionBias(2, 8, 5), [_random(2, 7, 4)]),
    "PositionalEmbedding": (lambda: nn.PositionalEmbedding(4, 9), [_random(2, 5, 4)]),
    "PositionalEmbedding-fixed": (
        lambda: nn.PositionalEmbedding(4, 9, "sinusoidal", layout="TNC"),
        [_random(5, 2, 4)],
    ),
    "DropPath": (lambda: nn.DropPath(0.3), [_random(2, 5, 4)]),
    "GatedMLP": (lambda: nn.GatedMLP(4, 6), [_random(2, 5, 4)]),
    "GatedMLP-gelu": (lambda: nn.GatedMLP(4, 6, "gelu_tanh", True), [_random(2, 5, 4)]),
    "LayerScale": (lambda: nn.LayerScale(3, -3), _IMAGE),
    "PatchEmbedding": (lambda: nn.PatchEmbedding(4, 2), _IMAGE),
    "Residual": (lambda: nn.Residual(nn.Dense(4), nn.GELU()), _ROW),
    "MixtureOfExperts": (
        lambda: nn.MixtureOfExperts(4, 6, 3, return_loss=True),
        [_random(2, 5, 4)],
    ),
    "TransformerEncoder": (lambda: nn.TransformerEncoder(2, 8, 12, 2), [_random(2, 5, 8)]),
    "TransformerDecoder": (
        lambda: nn.TransformerDecoder(1, 8, 12, 2, norm_first=True, activation="gelu"),
        [_random(2, 5, 8), _random(2, 3, 6)],
    ),
    "MultiHeadAttention": (lambda: nn.MultiHeadAttention(8, 4, causal=True), [_random(2, 5, 6)]),
    "MultiHeadAttention-grouped": (
        lambda: nn.MultiHeadAttention(8, 4, 2, qk_norm=True, layout="TNC"),
        [_random(5, 2, 8), _random(3, 2, 8)],
    ),
    "MultiHeadAttention-rotary": (
        lambda: nn.MultiHeadAttention(8, 2, rotary={"base": 50.0}),
        [_random(2, 5, 8)],
    ),
    "MultiHeadAttention-memory": (
        lambda: nn.MultiHeadAttention(8, 2, fused=False, window=2),
        [_random(2, 5, 6), _random(2, 3, 7)],
    ),
    "HybridLambda": (lambda: nn.HybridLambda("tanh"), _ROW),
    "RotaryEmbedding": (lambda: nn.RotaryEmbedding(), [_random(2, 3, 5, 4)]),
    "RotaryEmbedding-part": (
        lambda: nn.RotaryEmbedding(4, pairing="neighbours", layout="NTHC"),
        [_random(2, 5, 3, 6)],
    ),
    "RotaryEmbedding-positions": (
        lambda: nn.RotaryEmbedding(
            scaling="yarn", factor=4, original_max_position_embeddings=64, layout="TNHC"
        ),
        [_random(5, 2, 3, 6), _whole(900, 2, 5)],
    ),
    "swiglu": (lambda: nn.HybridLambda("swiglu"), _ROW),
    "swiglu-both": (lambda: nn.HybridLambda(lambda F, x: F.swiglu(x, F.tanh(x))), _ROW),
    "geglu": (lambda: nn.HybridLambda(lambda F, x: F.geglu(x, axis=0)), [_random(4, 3)]),
    "geglu-tanh": (lambda: nn.HybridLambda(_tanh_geglu), _ROW),
    "Lambda": (lambda: nn.Lambda(lambda x: x * 2 + x.sum(axis=1, keepdims=True)), _ROW),
    "Sequential": (lambda: _joined(nn.Sequential()), _ROW),
    "HybridConcatenate": (lambda: _joined(nn.HybridConcatenate(axis=1)), _ROW),
    "Concatenate": (lambda: _joined(nn.Concatenate(axis=1)), _ROW),
    "PixelShuffle2D": (lambda: mx.gluon.contrib.nn.PixelShuffle2D(2), [_random(2, 8, 3, 4)]),
    "SyncBatchNorm": (
        lambda: mx.gluon.contrib.nn.SyncBatchNorm(in_channels=3, num_devices=1),
        _IMAGE,
    ),
}


def _tanh_geglu(F: Any, x: Any) -> Any:
    return F.geglu(x, approximation="tanh")


def _joined(block: Any) -> Any:
    block.add(nn.Dense(4), nn.Dense(3))
    return block


_STEPS = [_random(4, 2, 3)]
_UNROLLED = [_random(2, 3, 4)]


class _Unrolled(mx.gluon.HybridBlock):
    """A cell over three steps."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.cell.unroll(3, x, layout="NTC", merge_outputs=True)[0]


def _cell(make: Callable[[], Any]) -> Subject:
    return lambda: _Unrolled(make()), _UNROLLED


RECURRENT: dict[str, Subject] = {
    **{
        f"{kind}-{directions}-{layers}": (
            lambda kind=kind, directions=directions, layers=layers: getattr(rnn, kind)(
                5, num_layers=layers, bidirectional=directions == 2
            ),
            _STEPS,
        )
        for kind in ("LSTM", "GRU", "RNN")
        for directions in (1, 2)
        for layers in (1, 2)
    },
    "LSTM-NTC": (lambda: rnn.LSTM(5, layout="NTC"), [_random(2, 4, 3)]),
    "LSTM-projected": (lambda: rnn.LSTM(5, projection_size=3, bidirectional=True), _STEPS),
    "RNN-tanh": (lambda: rnn.RNN(5, activation="tanh"), _STEPS),
    "LSTMCell": _cell(lambda: rnn.LSTMCell(4)),
    "GRUCell": _cell(lambda: rnn.GRUCell(4)),
    "RNNCell": _cell(lambda: rnn.RNNCell(4)),
    "ResidualCell": _cell(lambda: rnn.ResidualCell(rnn.GRUCell(4))),
    "ZoneoutCell": _cell(lambda: rnn.ZoneoutCell(rnn.RNNCell(4), 0.2)),
    "DropoutCell": _cell(lambda: _stacked(rnn.RNNCell(4), rnn.DropoutCell(0.3))),
    "BidirectionalCell": _cell(lambda: rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.GRUCell(3))),
    "LSTMPCell": _cell(lambda: mx.gluon.contrib.rnn.LSTMPCell(5, 3)),
}


def _stacked(*cells: Any) -> Any:
    stack = rnn.HybridSequentialRNNCell()
    for cell in cells:
        stack.add(cell)
    return stack


_PAIR = [_random(4, 3), _random(4, 3, seed=1)]
_SIGNS = [_random(4, 3), np.sign(_random(4, 3, seed=1))]
_SHARES = [_random(4, 3), _random(4, 3, seed=1, low=0)]

LOSSES: dict[str, Subject] = {
    "L1Loss": (loss.L1Loss, _PAIR),
    "L2Loss": (loss.L2Loss, _PAIR),
    "SigmoidBCELoss": (loss.SigmoidBCELoss, _SHARES),
    "SigmoidBCELoss-weighted": (
        loss.SigmoidBCELoss,
        [*_SHARES, _random(4, 1, seed=2, low=0), _random(1, 3, seed=4, low=0)],
    ),
    "SoftmaxCELoss": (loss.SoftmaxCELoss, [_random(4, 3), _whole(3, 4)]),
    "SoftmaxCELoss-dense": (lambda: loss.SoftmaxCELoss(sparse_label=False), _SHARES),
    "KLDivLoss": (lambda: loss.KLDivLoss(from_logits=False), _SHARES),
    "CTCLoss": (loss.CTCLoss, [_random(2, 8, 5), _whole(4, 2, 3)]),
    "CTCLoss-lengths": (
        lambda: loss.CTCLoss(layout="TNC", label_layout="TN"),
        [
            _random(8, 2, 5),
            _whole(4, 3, 2),
            np.array([8, 6], np.float32),
            np.array([3, 1], np.float32),
        ],
    ),
    "HuberLoss": (loss.HuberLoss, _PAIR),
    "HingeLoss": (loss.HingeLoss, _SIGNS),
    "SquaredHingeLoss": (loss.SquaredHingeLoss, _SIGNS),
    "LogisticLoss": (loss.LogisticLoss, _SIGNS),
    "TripletLoss": (loss.TripletLoss, [*_PAIR, _random(4, 3, seed=2)]),
    "PoissonNLLLoss": (lambda: loss.PoissonNLLLoss(compute_full=True), _SHARES),
    "CosineEmbeddingLoss": (
        loss.CosineEmbeddingLoss,
        [*_PAIR, np.array([1, -1, 1, -1], np.float32)],
    ),
    "SDMLLoss": (lambda: loss.SDMLLoss(smoothing_parameter=0.3), _PAIR),
}

# One of each family that is small; by hand all of the zoo is looked at.
ZOO = (
    *(
        "alexnet",
        "densenet121",
        "inceptionv3",
        "mobilenet0.25",
        "mobilenetv2_0.25",
        "squeezenet1.1",
    ),
    *("resnet18_v1", "resnet18_v2", "vgg11_bn", "cifar_resnet20_v1"),
)


def zoo_input(name: str) -> Array:
    """Return a picture of the smallest size that a network of the zoo takes comfortably."""
    size = 32
    for family, least in (
        ("inception", 299),
        ("alexnet", 96),
        ("squeezenet", 224),
        ("densenet", 224),
    ):
        if name.startswith(family):
            size = least
    return _random(1, 3, size, size)


def network(name: str, classes: int = 7) -> tuple[Any, list[Array], list[Array]]:
    """Return a network of the zoo, an input, and what it gives as a graph."""
    picture = zoo_input(name)
    make = partial(mx.gluon.model_zoo.vision.get_model, name, classes=classes)
    block, _ = build(make, [picture], mx.init.Xavier(magnitude=2))
    block.hybridize()
    return block, [picture], [block(mx.nd.array(picture)).asnumpy()]


def build(
    make: Callable[[], Any], arrays: list[Array], init: Any = None
) -> tuple[Any, list[Array]]:
    """Return a block with weights that matter, and what it gives for some arrays."""
    mx.random.seed(5)
    block = make()
    block.initialize(init or mx.init.Uniform(0.5))
    given = [mx.nd.array(x) for x in arrays]
    block(*given)
    for name, parameter in block.collect_params().items():
        if name.endswith(("running_var", "running_mean", "gamma", "beta")):
            shape = parameter.shape
            parameter.set_data(mx.nd.random.uniform(0.5, 1.5, shape))
    made = block(*given)
    leaves = made if isinstance(made, list | tuple) else [made]
    return block, [y.asnumpy() for y in leaves]
