"""RegNet X and Y: networks of bottlenecks whose widths follow a line, rounded to a few steps.

References:
    I. Radosavovic, R. P. Kosaraju, R. Girshick, K. He, P. Dollár, Designing Network Design Spaces,
    2020.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Flatten
from gluonish.gluon.nn.pooling import GlobalAvgPool2D
from gluonish.gluon.nn.residual import DropPath
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.pretrained.timm import register_networks
from gluonish.model_zoo.pretrained.weights import Names
from gluonish.model_zoo.vision.convolution_units import ConvNorm, SqueezeExcite
from gluonish.model_zoo.vision.efficientnet import normalized_names, squeeze_names

__all__ = ["RegNet", "RegNetBottleneck"]


class RegNetBottleneck(HybridBlock):
    """A bottleneck: 1x1, grouped 3x3 and 1x1 convolutions; before the last, squeeze and excitation.

    Args:
        channels: Number of channels.
        in_channels: Number of input channels.
        strides: Stride of the 3x3 convolution.
        groups: Its number of groups.
        squeeze_channels: Hidden units of squeeze and excitation; 0 for none.
        drop_path: Probability of dropping the bottleneck for a sample in training, in [0, 1).
        epsilon: Small constant of the normalizations.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, ceil(H / strides), ceil(W / strides)).
    """

    def __init__(
        self,
        channels: int,
        in_channels: int,
        strides: int,
        groups: int,
        squeeze_channels: int = 0,
        drop_path: float = 0.0,
        epsilon: float = 1e-5,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        same: dict[str, Any] = {"in_channels": channels, "epsilon": epsilon}
        with self.name_scope():
            self.reduce = ConvNorm(channels, in_channels, activation="relu", epsilon=epsilon)
            self.conv = ConvNorm(channels, strides=strides, kernel_size=3, groups=groups,
                                 activation="relu", **same)  # fmt: skip
            self.squeeze = SqueezeExcite(channels, squeeze_channels) if squeeze_channels else None
            self.expand = ConvNorm(channels, **same)
            self.drop_path = DropPath(drop_path) if drop_path else None
            self.downsample = None
            if strides != 1 or in_channels != channels:
                self.downsample = ConvNorm(channels, in_channels, 1, strides, epsilon=epsilon)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the bottleneck's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W).
        """
        y = self.conv(self.reduce(x))
        y = self.expand(y if self.squeeze is None else self.squeeze(y))
        y = y if self.drop_path is None else self.drop_path(y)
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class RegNet(HybridBlock):
    """The body of a RegNet: stem, stages of bottlenecks, and pooling.

    Args:
        channels: Number of channels of each stage; the last is that of features.
        num_layers: Number of bottlenecks of each stage.
        group_channels: Channels of a group of the 3x3 convolutions of each stage.
        squeeze: Hidden units of squeeze and excitation as a part of a bottleneck's input channels;
            0 for none (RegNet X).
        stem_channels: Number of channels of the first convolution.
        in_channels: Number of channels of the images.
        drop_path: Probability of dropping the last bottleneck in training, in [0, 1); that of the
            others grows from 0 with their position.
        epsilon: Small constant of the normalizations.
        **kwargs: See `HybridBlock`.

    Attributes:
        units: Number of features.
        stem: First convolution.
        stages: Stages, each of which gives feature maps.
        head: What follows the last stage, up to the features.

    Inputs:
        x: images (N, in_channels, H, W).

    Outputs:
        features: (N, channels[-1]).

    Raises:
        ArgumentError: Arguments of stages differ in length, or a number is out of range.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import RegNet
        >>> net = RegNet(channels=(8, 16), num_layers=(1, 1), group_channels=(4, 8), squeeze=0.25)
        >>> net.initialize()
        >>> net(mx.nd.ones((1, 3, 32, 32))).shape
        (1, 16)
    """

    @keeps_arguments
    def __init__(
        self,
        channels: Sequence[int],
        num_layers: Sequence[int],
        group_channels: Sequence[int],
        squeeze: float = 0.0,
        stem_channels: int = 32,
        in_channels: int = 3,
        drop_path: float = 0.0,
        epsilon: float = 1e-5,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        if not len(channels) == len(num_layers) == len(group_channels) > 0:
            raise ArgumentError(
                f"{name}: expected channels, num_layers and group_channels of one length, got "
                f"{len(channels)}, {len(num_layers)} and {len(group_channels)}"
            )
        check_positive(name, stem_channels=stem_channels)
        check_rate(name, "drop_path", drop_path)
        self.units = channels[-1]
        rates = iter(drop_path * i / max(sum(num_layers) - 1, 1) for i in range(sum(num_layers)))
        inputs = stem_channels
        with self.name_scope():
            self.stem = ConvNorm(stem_channels, in_channels, 3, 2, 1, "relu", epsilon)
            self.stages = HybridSequential(prefix="stages_")
            with self.stages.name_scope():
                for width, count, group in zip(channels, num_layers, group_channels, strict=True):
                    check_positive(name, channels=width, num_layers=count, group_channels=group)
                    layers = HybridSequential()
                    for index in range(count):
                        layers.add(
                            RegNetBottleneck(
                                *(width, inputs, 1 if index else 2, width // group),
                                *(round(inputs * squeeze), next(rates), epsilon),
                            )
                        )
                        inputs = width
                    self.stages.add(layers)
            self.head = HybridSequential(prefix="head_")
            self.head.add(GlobalAvgPool2D(), Flatten())

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Images (N, in_channels, H, W).
        """
        return self.head(self.stages(self.stem(x)))


_LAYERS = {"reduce": "conv1", "conv": "conv2", "expand": "conv3", "downsample": "downsample"}


def _names(arguments: Mapping[str, Any]) -> Names:
    """Return timm's names of the weights; its bottlenecks count from 1."""
    names = list(normalized_names("stem", "stem.conv", "stem.bn"))
    for stage, count in enumerate(arguments["num_layers"]):
        for index in range(count):
            ours, theirs = f"stages.{stage}.{index}", f"s{stage + 1}.b{index + 1}"
            for layer, name in _LAYERS.items():
                names += normalized_names(
                    f"{ours}.{layer}", f"{theirs}.{name}.conv", f"{theirs}.{name}.bn"
                )
            names += squeeze_names(f"{ours}.squeeze", f"{theirs}.se.fc1", f"{theirs}.se.fc2")
    return names


def stages_of_line(
    start: float, slope: float, factor: float, group: int, depth: int
) -> dict[str, list[int]]:
    """Return channels, layers and groups of stages, of the paper's five numbers.

    The width of layer i is on the line ``start + slope * i``, rounded to the nearest
    ``start * factor ** k`` and to a multiple of 8; layers of equal width are a stage. Last, widths
    are rounded to multiples of the group's.

    Args:
        start: Width of the first layer.
        slope: Growth of the width from a layer to the next.
        factor: Factor from a width to the next.
        group: Channels of a group.
        depth: Number of layers.
    """
    found: dict[int, int] = {}
    for index in range(depth):
        power = round(math.log((start + slope * index) / start) / math.log(factor))
        width = round(start * factor**power / 8) * 8
        found[width] = found.get(width, 0) + 1
    groups = [min(group, width) for width in found]
    widths = [round(w / g) * g for w, g in zip(found, groups, strict=True)]
    return {"channels": widths, "num_layers": [*found.values()], "group_channels": groups}


# The paper's w_0, w_a, w_m, group width and depth, by the size in units of 100 million operations.
_X = {
    "002": (24, 36.44, 2.49, 8, 13),
    "004": (24, 24.48, 2.54, 16, 22),
    "006": (48, 36.97, 2.24, 24, 16),
    "008": (56, 35.73, 2.28, 16, 16),
    "016": (80, 34.01, 2.25, 24, 18),
    "032": (88, 26.31, 2.25, 48, 25),
    "040": (96, 38.65, 2.43, 40, 23),
    "064": (184, 60.83, 2.07, 56, 17),
    "080": (80, 49.56, 2.88, 120, 23),
    "120": (168, 73.36, 2.37, 112, 19),
    "160": (216, 55.59, 2.1, 128, 22),
    "320": (320, 69.86, 2.0, 168, 23),
}
_Y = {
    "002": (24, 36.44, 2.49, 8, 13),
    "004": (48, 27.89, 2.09, 8, 16),
    "006": (48, 32.54, 2.32, 16, 15),
    "008": (56, 38.84, 2.4, 16, 14),
    "016": (48, 20.71, 2.65, 24, 27),
    "032": (80, 42.63, 2.66, 24, 21),
    "040": (96, 31.41, 2.24, 64, 22),
    "064": (112, 33.22, 2.27, 72, 25),
    "080": (192, 76.82, 2.19, 56, 17),
    "120": (168, 73.36, 2.37, 112, 19),
    "160": (200, 106.23, 2.48, 112, 18),
    "320": (232, 115.89, 2.53, 232, 20),
    "640": (352, 147.48, 2.4, 328, 20),
    "1280": (456, 160.83, 2.52, 264, 27),
    "2560": (640, 230.83, 2.53, 373, 27),
}


def _variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield timm's name of each network, and arguments of the body."""
    for letter, sizes, squeeze in (("x", _X, 0.0), ("y", _Y, 0.25)):
        for size, numbers in sizes.items():
            yield f"regnet{letter}_{size}", {**stages_of_line(*numbers), "squeeze": squeeze}


register_networks(RegNet, _names, "head.fc", _variants())
