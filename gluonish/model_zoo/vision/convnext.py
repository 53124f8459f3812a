"""ConvNeXt: depthwise convolutions and MLPs of each pixel, with layer normalization.

References:
    Z. Liu, H. Mao, C.-Y. Wu, C. Feichtenhofer, T. Darrell, S. Xie, A ConvNet for the 2020s, 2022.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import GELU
from gluonish.gluon.nn.basic_layers import Dense, Flatten
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.pooling import GlobalAvgPool2D
from gluonish.gluon.nn.residual import DropPath, LayerScale
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.initializer import Constant
from gluonish.model_zoo.pretrained.config import (
    MOST_LAYERS,
    AnySetting,
    Computed,
    Config,
    Fixed,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import Family, Head, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.labels import LabelSetting
from gluonish.model_zoo.pretrained.sizes import SizesSetting
from gluonish.model_zoo.pretrained.timm import register_networks
from gluonish.model_zoo.pretrained.weights import Names
from gluonish.model_zoo.vision.classifier import PooledClassifier, WithTransform
from gluonish.model_zoo.vision.map_norm import CHANNELS_FIRST, CHANNELS_LAST, MapNorm

__all__ = ["ConvNeXt", "ConvNeXtLayer"]

_KERNEL = 7
_EXPANSION = 4


class ConvNeXtLayer(HybridBlock):
    """``x + scale * MLP(norm(conv(x)))``: a depthwise 7x7 convolution, and an MLP of each pixel.

    Args:
        channels: Number C of channels.
        layer_scale: First value of the factors of the channels; None for no factors.
        drop_path: Probability of dropping the layer for a sample in training, in [0, 1).
        epsilon: Small constant of the normalization.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W).

    Outputs:
        y: shape of ``x``.
    """

    def __init__(
        self,
        channels: int,
        layer_scale: float | None = 1e-6,
        drop_path: float = 0.0,
        epsilon: float = 1e-6,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        hidden = _EXPANSION * channels
        kernel: dict[str, Any] = {
            "padding": _KERNEL // 2,
            "groups": channels,
            "in_channels": channels,
        }
        with self.name_scope():
            self.conv = Conv2D(channels, _KERNEL, prefix="conv_", **kernel)
            self.norm = LayerNorm(epsilon=epsilon, in_channels=channels, prefix="norm_")
            self.hidden = Dense(hidden, flatten=False, in_units=channels, prefix="hidden_")
            self.activation = GELU()
            self.output = Dense(channels, flatten=False, in_units=hidden, prefix="output_")
            self.scale = None
            if layer_scale is not None:
                self.scale = LayerScale(channels, gamma_initializer=Constant(layer_scale))
            self.drop_path = DropPath(drop_path) if drop_path else None

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the layer's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C, H, W).
        """
        y = self.norm(F.transpose(self.conv(x), axes=CHANNELS_LAST))
        y = self.output(self.activation(self.hidden(y)))
        y = y if self.scale is None else self.scale(y)
        y = y if self.drop_path is None else self.drop_path(y)
        # The sum is of the channels-last arrays, so that a graph adds and scales in one pass.
        return F.transpose(F.transpose(x, axes=CHANNELS_LAST) + y, axes=CHANNELS_FIRST)


class ConvNeXt(WithTransform):
    """The body of a ConvNeXt: patches, stages of layers of ever smaller maps, pooling, and a norm.

    Args:
        channels: Number of channels of each stage.
        num_layers: Number of layers of each stage.
        patch_size: Height and width of the patches of the first convolution.
        in_channels: Number of channels of the images.
        layer_scale: First value of the factors of the layers' channels; None for no factors.
        drop_path: Probability of dropping the last layer in training, in [0, 1); that of the others
            grows from 0 with their position.
        epsilon: Small constant of the normalizations.
        head_epsilon: That of the last normalization; None for ``epsilon``.
        **kwargs: See `HybridBlock`.

    Attributes:
        units: Number of features.
        stem: Patches and their normalization.
        stages: Stages, each of which gives feature maps.
        head: What follows the last stage, up to the features.

    Inputs:
        x: images (N, in_channels, H, W).

    Outputs:
        features: (N, channels[-1]).

    Raises:
        ArgumentError: ``channels`` and ``num_layers`` differ in length, or a number is out of
            range.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import ConvNeXt
        >>> net = ConvNeXt(channels=(8, 16), num_layers=(1, 1))
        >>> net.initialize()
        >>> net(mx.nd.ones((1, 3, 32, 32))).shape
        (1, 16)
    """

    @keeps_arguments
    def __init__(
        self,
        channels: Sequence[int],
        num_layers: Sequence[int],
        patch_size: int = 4,
        in_channels: int = 3,
        layer_scale: float | None = 1e-6,
        drop_path: float = 0.0,
        epsilon: float = 1e-6,
        head_epsilon: float | None = None,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        if not len(channels) == len(num_layers) > 0:
            raise ArgumentError(
                f"{name}: expected channels and num_layers of one length, got {len(channels)} and "
                f"{len(num_layers)}"
            )
        check_positive(name, patch_size=patch_size)
        check_rate(name, "drop_path", drop_path)
        self.units = channels[-1]
        total = sum(num_layers)
        rates = iter(drop_path * i / max(total - 1, 1) for i in range(total))
        with self.name_scope():
            self.stem = HybridSequential(prefix="stem_")
            with self.stem.name_scope():
                self.stem.add(
                    Conv2D(channels[0], patch_size, patch_size, in_channels=in_channels),
                    MapNorm(channels[0], epsilon),
                )
            self.stages = HybridSequential(prefix="stages_")
            with self.stages.name_scope():
                inputs = channels[0]
                for width, count in zip(channels, num_layers, strict=True):
                    check_positive(name, channels=width, num_layers=count)
                    # The first stage has the stem's resolution.
                    down = None if not len(self.stages) else _downsampling(inputs, width, epsilon)
                    layers = [
                        ConvNeXtLayer(width, layer_scale, next(rates), epsilon)
                        for _ in range(count)
                    ]
                    self.stages.add(_Stage(down, layers))
                    inputs = width
            last = epsilon if head_epsilon is None else head_epsilon
            self.head = HybridSequential(prefix="head_")
            with self.head.name_scope():
                self.head.add(
                    GlobalAvgPool2D(),
                    Flatten(),
                    LayerNorm(epsilon=last, in_channels=self.units),
                )

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Images (N, in_channels, H, W).
        """
        return self.head(self.stages(self.stem(x)))


class _Stage(HybridBlock):
    """Layers, behind a convolution that halves height and width."""

    def __init__(self, downsample: HybridBlock | None, layers: Sequence[HybridBlock]) -> None:
        super().__init__()
        self.downsample = downsample
        self.layers = HybridSequential()
        self.layers.add(*layers)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute feature maps.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C, H, W).
        """
        return self.layers(x if self.downsample is None else self.downsample(x))


def _downsampling(in_channels: int, channels: int, epsilon: float) -> HybridSequential:
    made = HybridSequential()
    made.add(
        MapNorm(in_channels, epsilon),
        Conv2D(channels, 2, 2, in_channels=in_channels),
    )
    return made


def _parts(ours: str, theirs: str, norm: bool = False) -> Names:
    roles = ("gamma", "beta") if norm else ("weight", "bias")
    return [
        (f"{ours}.{role}", f"{theirs}.{name}")
        for role, name in zip(roles, ("weight", "bias"), strict=True)
    ]


_TIMM_LAYER = "stages.{}.blocks.{}."
_TIMM: Names = (
    *_parts("stem.0", "stem.0"),
    *_parts("stem.1", "stem.1", norm=True),
    *_parts("stages.{}.downsample.0", "stages.{}.downsample.0", norm=True),
    *_parts("stages.{}.downsample.1", "stages.{}.downsample.1"),
    *_parts("stages.{}.layers.{}.conv", _TIMM_LAYER + "conv_dw"),
    *_parts("stages.{}.layers.{}.norm", _TIMM_LAYER + "norm", norm=True),
    *_parts("stages.{}.layers.{}.hidden", _TIMM_LAYER + "mlp.fc1"),
    *_parts("stages.{}.layers.{}.output", _TIMM_LAYER + "mlp.fc2"),
    ("stages.{}.layers.{}.scale.gamma", _TIMM_LAYER + "gamma"),
    *_parts("head.2", "head.norm", norm=True),
)
_STAGE, _LAYER = "encoder.stages.{}.", "encoder.stages.{}.layers.{}."
_TRANSFORMERS: Names = (
    *_parts("stem.0", "embeddings.patch_embeddings"),
    *_parts("stem.1", "embeddings.layernorm", norm=True),
    *_parts("stages.{}.downsample.0", _STAGE + "downsampling_layer.0", norm=True),
    *_parts("stages.{}.downsample.1", _STAGE + "downsampling_layer.1"),
    *_parts("stages.{}.layers.{}.conv", _LAYER + "dwconv"),
    *_parts("stages.{}.layers.{}.norm", _LAYER + "layernorm", norm=True),
    *_parts("stages.{}.layers.{}.hidden", _LAYER + "pwconv1"),
    *_parts("stages.{}.layers.{}.output", _LAYER + "pwconv2"),
    ("stages.{}.layers.{}.scale.gamma", _LAYER + "layer_scale_parameter"),
    *_parts("head.2", "layernorm", norm=True),
)

_SIZES = {
    "tiny": ((96, 192, 384, 768), (3, 3, 9, 3)),
    "small": ((96, 192, 384, 768), (3, 3, 27, 3)),
    "base": ((128, 256, 512, 1024), (3, 3, 27, 3)),
    "large": ((192, 384, 768, 1536), (3, 3, 27, 3)),
    "xlarge": ((256, 512, 1024, 2048), (3, 3, 27, 3)),
}


def _variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield timm's name of each network, and arguments of the body."""
    for size, (channels, layers) in _SIZES.items():
        yield f"convnext_{size}", {"channels": channels, "num_layers": layers}


register_networks(ConvNeXt, lambda arguments: _TIMM, "head.fc", _variants())


def _read_scale(config: Config) -> Mapping[str, Any]:
    value = config.take("layer_scale_init_value", float, 1e-6, least=-1.0, most=1e6)
    return {"layer_scale": value if value > 0 else None}


def _write_scale(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    value = arguments["layer_scale"]
    return {"layer_scale_init_value": 0.0 if value is None else value}


def _take_stages(config: Config) -> Mapping[str, Any]:
    config.ignore("num_stages")
    return {}


def _write_epsilon(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    last = arguments["head_epsilon"]
    return {"layer_norm_eps": arguments["epsilon"] if last is None else last}


SETTINGS: tuple[AnySetting, ...] = (
    SizesSetting("channels", "hidden_sizes", [96, 192, 384, 768]),
    SizesSetting("num_layers", "depths", [3, 3, 9, 3], MOST_LAYERS),
    Setting("patch_size", "patch_size", int, 4),
    Setting("in_channels", "num_channels", int, 3),
    Setting("drop_path", "drop_path_rate", float, 0.0, least=0.0, most=1.0),
    Computed(("layer_scale_init_value",), _read_scale, _write_scale),
    Computed(
        ("layer_norm_eps",),
        lambda config: {"head_epsilon": config.take("layer_norm_eps", float, 1e-12, least=0.0)},
        _write_epsilon,
    ),
    Fixed("hidden_act", "gelu"),
    # `SizesSetting` compares it with the number of depths.
    Computed(
        ("num_stages",),
        _take_stages,
        lambda arguments: {"num_stages": len(arguments["num_layers"])},
    ),
    # Images may have any size.
    Ignored("image_size", "out_features", "out_indices", "stage_names"),
)
CLASSIFIER = Head(PooledClassifier, _parts("output", "classifier"), (LabelSetting(named=False),))
register_family(
    Family(
        "convnext",
        "ConvNextModel",
        ConvNeXt,
        SETTINGS,
        _TRANSFORMERS,
        "convnext.",
        {"ConvNextForImageClassification": CLASSIFIER},
    )
)
