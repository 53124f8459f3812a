"""Recipes of residual networks, version 1."""

from collections.abc import Iterator
from typing import Any

from gluonish.model_zoo.foreign.plain_recipes import CAFFE_INPUT
from gluonish.model_zoo.foreign.recipe import Link, Recipe, normalized
from gluonish.model_zoo.vision.resnet import ResNetV1
from gluonish.model_zoo.vision.resnet_units import BottleneckV1

__all__ = ["resnet_recipes"]

_FIRST_STAGE = 4  # the stem is convolution, normalization, activation and pooling
# Where the convolutions of a unit are in its body; a normalization follows each.
_BASIC, _BOTTLENECK = (0, 3), (0, 3, 6)
_STRIDE = (
    "torchvision and timm have the stride of a bottleneck in its 3x3 convolution (called version 1b"
    " or 1.5), Gluon's version 1 in the first 1x1 convolution; the shapes are the same, the outputs"
    " are not. Weights that were trained with the stride in the first, as those of Caffe, are exact"
)


def resnet_recipes(net: ResNetV1) -> list[Recipe]:
    """Return the recipes for ResNet checkpoints of PyTorch's libraries, and of Keras.

    Args:
        net: The network.
    """
    bottlenecks = isinstance(next(_units(net))[3], BottleneckV1)
    obstacle = _STRIDE if bottlenecks else ""
    recipes = [
        Recipe("torchvision or timm", tuple(_torch(net)), obstacle=obstacle),
        Recipe("Hugging Face", tuple(_hugging_face(net)), obstacle=obstacle),
    ]
    if bottlenecks:
        recipes += [
            Recipe(
                "Keras before 2.3",
                tuple(_old_keras(net)),
                epsilon=1e-3,
                preprocessing=CAFFE_INPUT,
                keras=True,
            ),
            Recipe(
                "Keras",
                tuple(_keras(net)),
                epsilon=1.001e-5,
                preprocessing=CAFFE_INPUT,
                keras=True,
            ),
        ]
    return recipes


def _units(net: ResNetV1) -> Iterator[tuple[int, int, str, Any]]:
    """Yield stage and number of each unit, from 1 and 0, its path, and the unit."""
    for stage in range(1, len(net.features) - _FIRST_STAGE):
        place = _FIRST_STAGE + stage - 1
        for number, unit in enumerate(net.features[place]._children.values()):
            yield stage, number, f"features.{place}.{number}", unit


def _body(path: str, unit: Any) -> list[tuple[str, str]]:
    """Return the paths of the convolutions and normalizations of a unit."""
    places = _BOTTLENECK if isinstance(unit, BottleneckV1) else _BASIC
    return [(f"{path}.body.{place}", f"{path}.body.{place + 1}") for place in places]


def _torch(net: ResNetV1) -> Iterator[Link]:
    yield from normalized("features.0", "features.1", "conv1", "bn1")
    for stage, number, path, unit in _units(net):
        name = f"layer{stage}.{number}"
        for index, (conv, norm) in enumerate(_body(path, unit), start=1):
            yield from normalized(conv, norm, f"{name}.conv{index}", f"{name}.bn{index}")
        if unit.downsample is not None:
            yield from normalized(
                *(f"{path}.downsample.0", f"{path}.downsample.1"),
                *(f"{name}.downsample.0", f"{name}.downsample.1"),
            )
    yield Link("output", ("fc",))


def _hugging_face(net: ResNetV1) -> Iterator[Link]:
    """Name layers as transformers does; a model without head has no ``resnet.`` before them."""

    def unit_of(conv: str, norm: str, name: str) -> Iterator[Link]:
        names = (name, f"resnet.{name}")
        yield Link(conv, tuple(f"{path}.convolution" for path in names), norm=norm)
        yield Link(norm, tuple(f"{path}.normalization" for path in names))

    yield from unit_of("features.0", "features.1", "embedder.embedder")
    for stage, number, path, unit in _units(net):
        name = f"encoder.stages.{stage - 1}.layers.{number}"
        for index, (conv, norm) in enumerate(_body(path, unit)):
            yield from unit_of(conv, norm, f"{name}.layer.{index}")
        if unit.downsample is not None:
            down = (f"{path}.downsample.0", f"{path}.downsample.1")
            yield from unit_of(*down, f"{name}.shortcut")
    yield Link("output", ("classifier.1",))


def _old_keras(net: ResNetV1) -> Iterator[Link]:
    yield from normalized("features.0", "features.1", "conv1", "bn_conv1")
    for stage, number, path, unit in _units(net):
        name = f"{stage + 1}{chr(ord('a') + number)}_branch"
        branches = [(places, f"2{'abc'[index]}") for index, places in enumerate(_body(path, unit))]
        if unit.downsample is not None:
            branches.append(((f"{path}.downsample.0", f"{path}.downsample.1"), "1"))
        for (conv, norm), branch in branches:
            yield from normalized(conv, norm, f"res{name}{branch}", f"bn{name}{branch}")
    yield Link("output", ("fc1000",))


def _keras(net: ResNetV1) -> Iterator[Link]:
    yield from normalized("features.0", "features.1", "conv1_conv", "conv1_bn")
    for stage, number, path, unit in _units(net):
        name = f"conv{stage + 1}_block{number + 1}"
        places = list(enumerate(_body(path, unit), start=1))
        if unit.downsample is not None:
            places.append((0, (f"{path}.downsample.0", f"{path}.downsample.1")))
        for index, (conv, norm) in places:
            yield from normalized(conv, norm, f"{name}_{index}_conv", f"{name}_{index}_bn")
    yield Link("output", ("predictions", "probs"))
