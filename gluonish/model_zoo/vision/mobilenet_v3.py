"""MobileNetV3: inverted residuals with squeeze and excitation, for phones.

References:
    A. Howard et al., Searching for MobileNetV3, 2019.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gluonish.gluon.nn.basic_layers import Flatten
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import GlobalAvgPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.model_zoo.pretrained.timm import register_networks
from gluonish.model_zoo.pretrained.weights import Names
from gluonish.model_zoo.vision.convolution_units import activation_layer, make_divisible
from gluonish.model_zoo.vision.efficientnet import EfficientNet, Units, scaled, stage_names

__all__ = ["MobileNetV3"]


class MobileNetV3(EfficientNet):
    """The body of a MobileNetV3: an `EfficientNet` whose last convolution follows the pooling.

    Gates of squeeze and excitation are hard sigmoids, of hidden units that are a part of the
    expanded channels. See `EfficientNet` for the arguments.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import MobileNetV3
        >>> from gluonish.model_zoo.vision.efficientnet import Units
        >>> net = MobileNetV3([[Units("inverted", 1, 3, 2, 4, 16, 0.25)]], 8, 32, "hard_swish")
        >>> net.initialize()
        >>> net(mx.nd.ones((1, 3, 32, 32))).shape
        (1, 32)
    """

    _gate = "hard_sigmoid"

    def _squeeze_channels(self, units: Units, in_channels: int) -> int:
        middle = make_divisible(in_channels * units.expansion)
        return make_divisible(middle * units.squeeze) if units.squeeze else 0

    def _head(self, channels: int, activation: str, options: Mapping[str, Any]) -> HybridSequential:
        head = HybridSequential(prefix="head_")
        with head.name_scope():
            head.add(
                GlobalAvgPool2D(),
                Conv2D(self.units, 1, in_channels=channels),
                activation_layer(activation),
                Flatten(),
            )
        return head


def _names(arguments: Mapping[str, Any]) -> Names:
    head = [(f"head.1.{role}", f"conv_head.{role}") for role in ("weight", "bias")]
    return [*stage_names(arguments), *head]


_LARGE = (
    (Units("separable", 1, 3, 1, 1, 16, activation="relu"),),
    (
        Units("inverted", 1, 3, 2, 4, 24, activation="relu"),
        Units("inverted", 1, 3, 1, 3, 24, activation="relu"),
    ),
    (Units("inverted", 3, 5, 2, 3, 40, 0.25, "relu"),),
    (
        Units("inverted", 1, 3, 2, 6, 80),
        Units("inverted", 1, 3, 1, 2.5, 80),
        Units("inverted", 2, 3, 1, 2.3, 80),
    ),
    (Units("inverted", 2, 3, 1, 6, 112, 0.25),),
    (Units("inverted", 3, 5, 2, 6, 160, 0.25),),
    (Units("plain", 1, 1, 1, 1, 960, shortcut=False),),
)
_SMALL = (
    (Units("separable", 1, 3, 2, 1, 16, 0.25, "relu"),),
    (
        Units("inverted", 1, 3, 2, 4.5, 24, activation="relu"),
        Units("inverted", 1, 3, 1, 3.67, 24, activation="relu"),
    ),
    (Units("inverted", 1, 5, 2, 4, 40, 0.25), Units("inverted", 2, 5, 1, 6, 40, 0.25)),
    (Units("inverted", 2, 5, 1, 3, 48, 0.25),),
    (Units("inverted", 3, 5, 2, 6, 96, 0.25),),
    (Units("plain", 1, 1, 1, 1, 576, shortcut=False),),
)


def _minimal(stages: Sequence[Sequence[Units]]) -> list[list[Units]]:
    """Return stages with 3x3 kernels and without squeeze and excitation."""
    return [
        [
            units._replace(kernel_size=min(units.kernel_size, 3), squeeze=0.0, activation="relu")
            for units in stage
        ]
        for stage in stages
    ]


def _variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield timm's name of each network, and arguments of the body."""
    tensorflow = {"epsilon": 1e-3, "same_padding": True}
    sizes = {"small": (_SMALL, 1024, (0.5, 0.75, 1.0)), "large": (_LARGE, 1280, (0.75, 1.0))}
    for size, (stages, head, widths) in sizes.items():
        body: dict[str, Any] = {"stem_channels": 16, "head_channels": head}
        body["activation"] = "hard_swish"
        for width in widths:
            name = f"mobilenetv3_{size}_{100 * width:03.0f}"
            found = {**body, "stages": scaled(stages, width)}
            yield name, found
            if width > 0.5:
                yield f"tf_{name}", {**found, **tensorflow}
        minimal = {"stages": _minimal(stages), "activation": "relu"}
        yield f"tf_mobilenetv3_{size}_minimal_100", {**body, **minimal, **tensorflow}


register_networks(MobileNetV3, _names, "classifier", _variants())
