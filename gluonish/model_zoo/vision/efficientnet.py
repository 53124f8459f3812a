"""EfficientNet and EfficientNetV2: networks of inverted residuals, scaled in depth and width.

References:
    M. Tan, Q. V. Le, EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks,
    2019; EfficientNetV2: Smaller Models and Faster Training, 2021.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

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
from gluonish.model_zoo.vision.convolution_units import ConvNorm, SqueezeExcite, make_divisible

__all__ = ["EfficientNet", "InvertedResidual", "Units"]

# The layers of each kind of unit, in order.
_LAYERS = {
    "separable": ("depthwise", "squeeze", "project"),
    "inverted": ("expand", "depthwise", "squeeze", "project"),
    "fused": ("expand", "squeeze", "project"),
    "plain": ("project",),
}


class Units(NamedTuple):
    """Equal units of a stage, but for the first one's stride and input.

    Attributes:
        kind: ``separable`` (depthwise, project), ``inverted`` (expand, depthwise, project),
            ``fused`` (expand with the kernel of the depthwise convolution, project) or ``plain``
            (one convolution).
        count: Number of units.
        kernel_size: Height and width of the kernels.
        strides: Stride of the first unit.
        expansion: Factor of the expanded number of channels.
        channels: Number of output channels.
        squeeze: Hidden units of squeeze and excitation, as a part of the channels; 0 for none.
        activation: Name of the activation; None for the network's.
        shortcut: Whether inputs are added where shapes agree.
    """

    kind: str
    count: int  # type: ignore[assignment]  # in place of the method of tuples
    kernel_size: int
    strides: int
    expansion: float
    channels: int
    squeeze: float = 0.0
    activation: str | None = None
    shortcut: bool = True


class InvertedResidual(HybridBlock):
    """A unit: expand the channels, convolve each, scale by squeeze and excitation, project.

    Args:
        units: Kind and sizes.
        in_channels: Number of input channels.
        strides: Stride of the unit.
        activation: Name of the activation.
        squeeze_channels: Hidden units of squeeze and excitation; 0 for none.
        gate: Function of its gates.
        drop_path: Probability of dropping the unit for a sample in training, in [0, 1).
        options: Further options of the convolutions; see `ConvNorm`.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, units.channels, ceil(H / strides), ceil(W / strides)).

    Raises:
        ArgumentError: There is no such kind of unit.
    """

    def __init__(
        self,
        units: Units,
        in_channels: int,
        strides: int,
        activation: str,
        squeeze_channels: int,
        gate: str,
        drop_path: float,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        layers = _LAYERS.get(units.kind)
        if layers is None:
            raise ArgumentError(
                f"EfficientNet: expected units among {', '.join(_LAYERS)}, got {units.kind!r}"
            )
        middle = in_channels
        if "expand" in layers:
            middle = make_divisible(in_channels * units.expansion)
        kernel = {"kernel_size": units.kernel_size, "strides": strides, **options}
        expand = kernel if units.kind == "fused" else options
        project = kernel if units.kind == "plain" else options
        active: dict[str, Any] = {"activation": activation}
        self._layers = layers if squeeze_channels else tuple(x for x in layers if x != "squeeze")
        self._shortcut = units.shortcut and strides == 1 and in_channels == units.channels
        with self.name_scope():
            if "expand" in layers:
                self.expand = ConvNorm(middle, in_channels, **active, **expand)
            if "depthwise" in layers:
                self.depthwise = ConvNorm(middle, middle, groups=middle, **active, **kernel)
            if "squeeze" in self._layers:
                inner = "relu" if gate == "hard_sigmoid" else activation
                self.squeeze = SqueezeExcite(middle, squeeze_channels, inner, gate)
            last = active if units.kind == "plain" else {}
            self.project = ConvNorm(units.channels, middle, **last, **project)
            self.drop_path = DropPath(drop_path) if drop_path and self._shortcut else None

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the unit's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W).
        """
        y: Any = x
        for name in self._layers:
            y = getattr(self, name)(y)
        if not self._shortcut:
            return y
        return x + (y if self.drop_path is None else self.drop_path(y))


class EfficientNet(HybridBlock):
    """The body of an EfficientNet: stem, stages of inverted residuals, convolution and pooling.

    Args:
        stages: Of each stage, its `Units`.
        stem_channels: Number of channels of the first convolution.
        head_channels: Number of features, channels of the last convolution.
        activation: Name of the activation.
        in_channels: Number of channels of the images.
        drop_path: Probability of dropping the last unit in training, in [0, 1); that of the
            others grows from 0 with their position.
        epsilon: Small constant of the normalizations.
        same_padding: Whether convolutions pad as in TensorFlow; see `SamePadding`.
        **kwargs: See `HybridBlock`.

    Attributes:
        units: Number of features.
        stem: First convolution.
        stages: Stages, each of which gives feature maps.
        head: What follows the last stage, up to the features.

    Inputs:
        x: images (N, in_channels, H, W).

    Outputs:
        features: (N, head_channels).

    Raises:
        ArgumentError: A number is out of range, or there is no such kind of unit or activation.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import EfficientNet
        >>> from gluonish.model_zoo.vision.efficientnet import Units
        >>> net = EfficientNet([[Units("inverted", 1, 3, 2, 4, 16, 0.25)]], 8, 32)
        >>> net.initialize()
        >>> net(mx.nd.ones((1, 3, 32, 32))).shape
        (1, 32)
    """

    _gate = "sigmoid"

    @keeps_arguments
    def __init__(
        self,
        stages: Sequence[Sequence[Units]],
        stem_channels: int = 32,
        head_channels: int = 1280,
        activation: str = "silu",
        in_channels: int = 3,
        drop_path: float = 0.0,
        epsilon: float = 1e-5,
        same_padding: bool = False,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, stem_channels=stem_channels, head_channels=head_channels)
        check_rate(name, "drop_path", drop_path)
        self.units = head_channels
        options: dict[str, Any] = {"epsilon": epsilon, "same_padding": same_padding}
        total = sum(units.count for stage in stages for units in stage)
        made = 0
        channels = stem_channels
        with self.name_scope():
            self.stem = ConvNorm(stem_channels, in_channels, 3, 2, 1, activation, **options)
            self.stages = HybridSequential(prefix="stages_")
            with self.stages.name_scope():
                for stage in stages:
                    layers = HybridSequential()
                    for units, inputs, strides in _each(stage, channels):
                        layers.add(
                            InvertedResidual(
                                *(units, inputs, strides, units.activation or activation),
                                *(self._squeeze_channels(units, inputs), self._gate),
                                *(drop_path * made / total, options),
                            )
                        )
                        channels, made = units.channels, made + 1
                    self.stages.add(layers)
            self.head = self._head(channels, activation, options)

    def _squeeze_channels(self, units: Units, in_channels: int) -> int:
        """Return the hidden units of squeeze and excitation, a part of a unit's input channels."""
        return round(in_channels * units.squeeze)

    def _head(self, channels: int, activation: str, options: Mapping[str, Any]) -> HybridSequential:
        head = HybridSequential(prefix="head_")
        with head.name_scope():
            head.add(
                ConvNorm(self.units, channels, activation=activation, **options),
                GlobalAvgPool2D(),
                Flatten(),
            )
        return head

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Images (N, in_channels, H, W).
        """
        return self.head(self.stages(self.stem(x)))


def _each(stage: Sequence[Units], channels: int) -> Iterator[tuple[Units, int, int]]:
    """Yield what each unit is, its input channels and its stride."""
    for units in stage:
        for index in range(units.count):
            yield units, channels, 1 if index else units.strides
            channels = units.channels


# The names of layers and normalizations in timm, by the kind of unit.
_TIMM = {
    "separable": {"depthwise": ("conv_dw", "bn1"), "project": ("conv_pw", "bn2")},
    "inverted": {
        "expand": ("conv_pw", "bn1"),
        "depthwise": ("conv_dw", "bn2"),
        "project": ("conv_pwl", "bn3"),
    },
    "fused": {"expand": ("conv_exp", "bn1"), "project": ("conv_pwl", "bn2")},
    "plain": {"project": ("conv", "bn1")},
}
_ROLES = {
    "gamma": "weight",
    "beta": "bias",
    "running_mean": "running_mean",
    "running_var": "running_var",
}


def normalized_names(ours: str, conv: str, norm: str) -> Names:
    """Return the names of a `ConvNorm`'s weights.

    Args:
        ours: Our path of it.
        conv: Their name of the convolution.
        norm: Their name of the normalization.
    """
    return [
        (f"{ours}.conv.weight", f"{conv}.weight"),
        *((f"{ours}.norm.{role}", f"{norm}.{name}") for role, name in _ROLES.items()),
    ]


def squeeze_names(ours: str, reduce: str, expand: str) -> Names:
    """Return the names of the weights of a `SqueezeExcite`; see `normalized_names`."""
    return [
        (f"{ours}.{layer}.{role}", f"{theirs}.{role}")
        for layer, theirs in (("reduce", reduce), ("expand", expand))
        for role in ("weight", "bias")
    ]


def stage_names(arguments: Mapping[str, Any]) -> Names:
    """Return timm's names of the weights of stem and stages.

    Args:
        arguments: Arguments of `EfficientNet`.
    """
    names = list(normalized_names("stem", "conv_stem", "bn1"))
    for number, stage in enumerate(arguments["stages"]):
        kinds = [units.kind for units in stage for _ in range(units.count)]
        for index, kind in enumerate(kinds):
            ours, theirs = f"stages.{number}.{index}", f"blocks.{number}.{index}"
            for layer, (conv, norm) in _TIMM[kind].items():
                names += normalized_names(f"{ours}.{layer}", f"{theirs}.{conv}", f"{theirs}.{norm}")
            reduce, expand = f"{theirs}.se.conv_reduce", f"{theirs}.se.conv_expand"
            names += squeeze_names(f"{ours}.squeeze", reduce, expand)
    return names


def _names(arguments: Mapping[str, Any]) -> Names:
    return [*stage_names(arguments), *normalized_names("head.0", "conv_head", "bn2")]


def scaled(
    stages: Sequence[Sequence[Units]], width: float = 1.0, depth: float = 1.0
) -> list[list[Units]]:
    """Return stages with more or fewer channels and units.

    Args:
        stages: The stages.
        width: Factor of the numbers of channels, which are rounded to multiples of 8.
        depth: Factor of the numbers of units, which are rounded up.
    """
    return [
        [
            units._replace(
                channels=make_divisible(units.channels * width),
                count=math.ceil(units.count * depth),
            )
            for units in stage
        ]
        for stage in stages
    ]


_V1 = [
    [Units("separable", 1, 3, 1, 1, 16, 0.25)],
    [Units("inverted", 2, 3, 2, 6, 24, 0.25)],
    [Units("inverted", 2, 5, 2, 6, 40, 0.25)],
    [Units("inverted", 3, 3, 2, 6, 80, 0.25)],
    [Units("inverted", 3, 5, 1, 6, 112, 0.25)],
    [Units("inverted", 4, 5, 2, 6, 192, 0.25)],
    [Units("inverted", 1, 3, 1, 6, 320, 0.25)],
]
# Width and depth.
_SCALES = {
    "b0": (1.0, 1.0),
    "b1": (1.0, 1.1),
    "b2": (1.1, 1.2),
    "b3": (1.2, 1.4),
    "b4": (1.4, 1.8),
    "b5": (1.6, 2.2),
    "b6": (1.8, 2.6),
    "b7": (2.0, 3.1),
    "b8": (2.2, 3.6),
}


def _version_2(sizes: Sequence[tuple[int, int]]) -> list[list[Units]]:
    """Return the stages of version 2, of the number of units and channels of each."""
    plain, first, second, *others = sizes
    stages = [[Units("plain", plain[0], 3, 1, 1, plain[1])]]
    stages += [[Units("fused", count, 3, 2, 4, channels)] for count, channels in (first, second)]
    strides = (2, 1, 2, 1)
    for index, (count, channels) in enumerate(others):
        expansion = 6 if index else 4
        stages.append([Units("inverted", count, 3, strides[index], expansion, channels, 0.25)])
    return stages


# Of each stage, units and channels.
_V2 = {
    "s": ((2, 24), (4, 48), (4, 64), (6, 128), (9, 160), (15, 256)),
    "m": ((3, 24), (5, 48), (5, 80), (7, 160), (14, 176), (18, 304), (5, 512)),
    "l": ((4, 32), (7, 64), (7, 96), (10, 192), (19, 224), (25, 384), (7, 640)),
    "xl": ((4, 32), (8, 64), (8, 96), (16, 192), (24, 256), (32, 512), (8, 640)),
}


def _variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield timm's name of each network, and arguments of the body."""
    bodies = {}
    for size, (width, depth) in _SCALES.items():
        channels = {
            "stem_channels": make_divisible(32 * width),
            "head_channels": make_divisible(1280 * width),
        }
        bodies[f"efficientnet_{size}"] = {"stages": scaled(_V1, width, depth), **channels}
    for size, sizes in _V2.items():
        body = {"stages": _version_2(sizes), "stem_channels": sizes[0][1]}
        bodies[f"efficientnetv2_{size}"] = body
    for name, body in bodies.items():
        yield name, body
        yield f"tf_{name}", {**body, "epsilon": 1e-3, "same_padding": True}


register_networks(EfficientNet, _names, "classifier", _variants())
