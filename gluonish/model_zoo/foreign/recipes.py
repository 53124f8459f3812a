"""Recipes: how a checkpoint's layers map to the layers of a network in the zoo."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import MaxPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.model_zoo.vision.alexnet import AlexNet
from gluonish.model_zoo.vision.densenet import DenseNet
from gluonish.model_zoo.vision.inception import Inception3
from gluonish.model_zoo.vision.mobilenet import LinearBottleneck, MobileNet, MobileNetV2
from gluonish.model_zoo.vision.resnet import BottleneckV1, ResNetV1
from gluonish.model_zoo.vision.squeezenet import SqueezeNet
from gluonish.model_zoo.vision.vgg import VGG

IMAGENET_INPUT = (
    "RGB, (x / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]: as for the networks of the zoo"
)


@dataclass(frozen=True)
class LayerMapping:
    """The mapping of a layer with weights: its path in the network and its names in checkpoints.

    Attributes:
        target: Path of the layer in the network, such as ``features.0``.
        sources: Possible names of the layer in checkpoints.
        norm: Path of the batch normalization after the layer that absorbs a bias, if the network's
            layer has none; empty without normalization.
        channels: Channels of the feature maps flattened before a dense layer; 0 without flattening.
    """

    target: str
    sources: tuple[str, ...]
    norm: str = ""
    channels: int = 0


@dataclass(frozen=True)
class Identity:
    """A 1x1 convolution and its normalization, set to the identity because the source has none.

    Attributes:
        conv: Path of the convolution.
        norm: Path of the normalization.
    """

    conv: str
    norm: str


Step = LayerMapping | Identity


@dataclass(frozen=True)
class Recipe:
    """The mapping of one library's checkpoints to the weights of a network.

    Attributes:
        origin: Library of the checkpoints, such as ``"torchvision"``.
        steps: The layers, in the order of the network; the last is its head.
        epsilon: Usual epsilon of the library's batch normalization.
        preprocessing: Required preprocessing of images.
        keras: Whether names and layouts are Keras's.
        obstacle: Reason why outputs will differ from the origin's; empty if they are equal.
        left_out: Prefixes of layers that are not needed, each with the reason.
    """

    origin: str
    steps: tuple[Step, ...]
    epsilon: float = 1e-5
    preprocessing: str = IMAGENET_INPUT
    keras: bool = False
    obstacle: str = ""
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def mappings(self) -> Iterable[LayerMapping]:
        """The steps that read weights from the checkpoint."""
        return (step for step in self.steps if isinstance(step, LayerMapping))


def normalized(
    conv: str, norm: str, conv_source: str, norm_source: str
) -> tuple[LayerMapping, LayerMapping]:
    """Return the mappings of a convolution and its batch normalization."""
    return LayerMapping(conv, (conv_source,), norm=norm), LayerMapping(norm, (norm_source,))


CAFFE_INPUT = (
    "BGR, x - [103.939, 116.779, 123.68] with x in 0..255, as by preprocess_input of Keras:"
    " not as for the networks of the zoo"
)


def alexnet_recipes(net: AlexNet) -> list[Recipe]:
    """Return the recipe for AlexNet checkpoints of torchvision."""
    convolutions = iter((0, 3, 6, 8, 10))
    dense = iter((1, 4))
    mappings = []
    for index, layer in enumerate(net.features):
        if isinstance(layer, Conv2D):
            mappings.append(LayerMapping(f"features.{index}", (f"features.{next(convolutions)}",)))
        elif isinstance(layer, Dense):
            mappings.append(LayerMapping(f"features.{index}", (f"classifier.{next(dense)}",)))
    return [Recipe("torchvision", (*mappings, LayerMapping("output", ("classifier.6",))))]


def vgg_recipes(net: VGG) -> list[Recipe]:
    """Return the recipes for VGG checkpoints of torchvision, timm and Keras."""
    recipes = [
        Recipe("torchvision", _torch_vgg(net, ("classifier.0", "classifier.3"), "classifier.6")),
        Recipe("timm", _torch_vgg(net, ("pre_logits.fc1", "pre_logits.fc2"), "head.fc")),
    ]
    if not any(isinstance(layer, BatchNorm) for layer in net.features):
        recipes.append(Recipe("Keras", _keras_vgg(net), preprocessing=CAFFE_INPUT, keras=True))
    return recipes


def _torch_vgg(net: VGG, dense: tuple[str, ...], head: str) -> tuple[LayerMapping, ...]:
    """Return mappings with the network's own numbers, except for dense layers."""
    names = iter(dense)
    mappings = []
    for index, layer in enumerate(net.features):
        path = f"features.{index}"
        if isinstance(layer, Conv2D):
            followed = isinstance(net.features[index + 1], BatchNorm)
            mappings.append(
                LayerMapping(path, (path,), norm=f"features.{index + 1}" if followed else "")
            )
        elif isinstance(layer, BatchNorm):
            mappings.append(LayerMapping(path, (path,)))
        elif isinstance(layer, Dense):
            mappings.append(LayerMapping(path, (next(names),)))
    return (*mappings, LayerMapping("output", (head,)))


def _keras_vgg(net: VGG) -> tuple[LayerMapping, ...]:
    mappings = []
    block, number, channels = 1, 1, 0
    dense = iter(("fc1", "fc2"))
    for index, layer in enumerate(net.features):
        path = f"features.{index}"
        if isinstance(layer, Conv2D):
            mappings.append(LayerMapping(path, (f"block{block}_conv{number}",)))
            number, channels = number + 1, layer._channels
        elif isinstance(layer, MaxPool2D):
            block, number = block + 1, 1
        elif isinstance(layer, Dense):
            mappings.append(LayerMapping(path, (next(dense),), channels=channels))
            channels = 0
    return (*mappings, LayerMapping("output", ("predictions",)))


def squeezenet_recipes(net: SqueezeNet) -> list[Recipe]:
    """Return the recipe for SqueezeNet checkpoints of torchvision."""
    mappings = []
    for index, layer in enumerate(net.features):
        path = f"features.{index}"
        if isinstance(layer, Conv2D):
            mappings.append(LayerMapping(path, (path,)))
        elif isinstance(layer, HybridSequential):
            mappings += [
                LayerMapping(f"{path}.0.0", (f"{path}.squeeze",)),
                LayerMapping(f"{path}.1.0.0", (f"{path}.expand1x1",)),
                LayerMapping(f"{path}.1.1.0", (f"{path}.expand3x3",)),
            ]
    return [Recipe("torchvision", (*mappings, LayerMapping("output.0", ("classifier.1",))))]


_FIRST_STAGE = 4  # the stem is convolution, normalization, activation and pooling
# Indices of the convolutions in the body of a unit; a normalization follows each.
_BASIC, _BOTTLENECK = (0, 3), (0, 3, 6)
_STRIDE = (
    "torchvision and timm have the stride of a bottleneck in its 3x3 convolution (called version 1b"
    " or 1.5), Gluon's version 1 in the first 1x1 convolution; the shapes are the same, the outputs"
    " are not. Weights trained with the stride in the first, such as Caffe's, are exact"
)


def resnet_recipes(net: ResNetV1) -> list[Recipe]:
    """Return the recipes for ResNet checkpoints of PyTorch's libraries, and of Keras."""
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
    """Yield stage (from 1) and number (from 0) of each unit, its path, and the unit."""
    for stage in range(1, len(net.features) - _FIRST_STAGE):
        position = _FIRST_STAGE + stage - 1
        for number, unit in enumerate(net.features[position]._children.values()):
            yield stage, number, f"features.{position}.{number}", unit


def _body(path: str, unit: Any) -> list[tuple[str, str]]:
    """Return the paths of the convolutions and normalizations of a unit."""
    positions = _BOTTLENECK if isinstance(unit, BottleneckV1) else _BASIC
    return [(f"{path}.body.{position}", f"{path}.body.{position + 1}") for position in positions]


def _torch(net: ResNetV1) -> Iterator[LayerMapping]:
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
    yield LayerMapping("output", ("fc",))


def _hugging_face(net: ResNetV1) -> Iterator[LayerMapping]:
    """Use the names of transformers; a model without head has no prefix ``resnet.``."""

    def unit_of(conv: str, norm: str, name: str) -> Iterator[LayerMapping]:
        names = (name, f"resnet.{name}")
        yield LayerMapping(conv, tuple(f"{path}.convolution" for path in names), norm=norm)
        yield LayerMapping(norm, tuple(f"{path}.normalization" for path in names))

    yield from unit_of("features.0", "features.1", "embedder.embedder")
    for stage, number, path, unit in _units(net):
        name = f"encoder.stages.{stage - 1}.layers.{number}"
        for index, (conv, norm) in enumerate(_body(path, unit)):
            yield from unit_of(conv, norm, f"{name}.layer.{index}")
        if unit.downsample is not None:
            down = (f"{path}.downsample.0", f"{path}.downsample.1")
            yield from unit_of(*down, f"{name}.shortcut")
    yield LayerMapping("output", ("classifier.1",))


def _old_keras(net: ResNetV1) -> Iterator[LayerMapping]:
    yield from normalized("features.0", "features.1", "conv1", "bn_conv1")
    for stage, number, path, unit in _units(net):
        name = f"{stage + 1}{chr(ord('a') + number)}_branch"
        branches = [
            (positions, f"2{'abc'[index]}") for index, positions in enumerate(_body(path, unit))
        ]
        if unit.downsample is not None:
            branches.append(((f"{path}.downsample.0", f"{path}.downsample.1"), "1"))
        for (conv, norm), branch in branches:
            yield from normalized(conv, norm, f"res{name}{branch}", f"bn{name}{branch}")
    yield LayerMapping("output", ("fc1000",))


def _keras(net: ResNetV1) -> Iterator[LayerMapping]:
    yield from normalized("features.0", "features.1", "conv1_conv", "conv1_bn")
    for stage, number, path, unit in _units(net):
        name = f"conv{stage + 1}_block{number + 1}"
        positions = list(enumerate(_body(path, unit), start=1))
        if unit.downsample is not None:
            positions.append((0, (f"{path}.downsample.0", f"{path}.downsample.1")))
        for index, (conv, norm) in positions:
            yield from normalized(conv, norm, f"{name}_{index}_conv", f"{name}_{index}_bn")
    yield LayerMapping("output", ("predictions", "probs"))


# Number of units in timm's stages.
_TIMM_STAGES = (1, 2, 2, 6, 2)
_TIMM_V2_STAGES = (1, 2, 3, 4, 3, 3, 1)
_RELU6 = (
    "timm's version 1 clips activations at 6 (ReLU6), Gluon's does not (ReLU); outputs differ if"
    " an activation exceeds 6"
)


def mobilenet_recipes(net: MobileNet) -> list[Recipe]:
    """Return the recipes for MobileNet v1 checkpoints of PyTorch programs and timm."""
    # Groups of convolution, normalization, activation.
    units = [f"features.{position}" for position in range(0, len(net.features) - 2, 3)]
    listed: list[LayerMapping] = []
    timm: list[LayerMapping] = []
    names = [(stage, unit) for stage, count in enumerate(_TIMM_STAGES) for unit in range(count)]
    for index, path in enumerate(units):
        position = int(path.rpartition(".")[2])
        targets = (path, f"features.{position + 1}")
        if index == 0:
            listed += normalized(*targets, "model.0.0", "model.0.1")
            timm += normalized(*targets, "conv_stem", "bn1")
            continue
        pair, second = (index + 1) // 2, (index - 1) % 2
        listed += normalized(
            *targets, f"model.{pair}.{3 * second}", f"model.{pair}.{3 * second + 1}"
        )
        stage, unit = names[pair - 1] if pair <= len(names) else (len(names), pair)
        block = f"blocks.{stage}.{unit}"
        timm += normalized(
            *targets, f"{block}.conv_{('dw', 'pw')[second]}", f"{block}.bn{second + 1}"
        )
    return [
        Recipe("a list of layers called model", (*listed, LayerMapping("output", ("fc",)))),
        Recipe(
            "timm",
            (*timm, LayerMapping("output", ("classifier",))),
            preprocessing="RGB, (x / 255 - 0.5) / 0.5: not as for the networks of the zoo",
            obstacle=_RELU6,
        ),
    ]


def mobilenet_v2_recipes(net: MobileNetV2) -> list[Recipe]:
    """Return the recipes for MobileNet v2 checkpoints of torchvision and timm."""
    last = len(net.features) - 4
    return [
        Recipe("torchvision", tuple(_torchvision_v2(net, last))),
        Recipe("timm", tuple(_timm_v2(net, last))),
    ]


def _bottlenecks(net: MobileNetV2) -> list[str]:
    return [
        f"features.{index}.out"
        for index, layer in enumerate(net.features)
        if isinstance(layer, LinearBottleneck)
    ]


def _torchvision_v2(net: MobileNetV2, last: int) -> Iterator[Step]:
    yield from normalized("features.0", "features.1", "features.0.0", "features.0.1")
    paths = _bottlenecks(net)
    for number, path in enumerate(paths, start=1):
        name = f"features.{number}.conv"
        if number == 1:
            yield Identity(f"{path}.0", f"{path}.1")
            middle = 0
        else:
            yield from normalized(f"{path}.0", f"{path}.1", f"{name}.0.0", f"{name}.0.1")
            middle = 1
        yield from normalized(f"{path}.3", f"{path}.4", f"{name}.{middle}.0", f"{name}.{middle}.1")
        yield from normalized(
            f"{path}.6", f"{path}.7", f"{name}.{middle + 1}", f"{name}.{middle + 2}"
        )
    name = f"features.{len(paths) + 1}"
    yield from normalized(f"features.{last}", f"features.{last + 1}", f"{name}.0", f"{name}.1")
    yield LayerMapping("output.0", ("classifier.1",))


def _timm_v2(net: MobileNetV2, last: int) -> Iterator[Step]:
    yield from normalized("features.0", "features.1", "conv_stem", "bn1")
    names = [
        f"blocks.{stage}.{unit}"
        for stage, count in enumerate(_TIMM_V2_STAGES)
        for unit in range(count)
    ]
    for number, (path, name) in enumerate(zip(_bottlenecks(net), names, strict=True)):
        if number == 0:
            yield Identity(f"{path}.0", f"{path}.1")
            inner, outer = ("conv_dw", "bn1"), ("conv_pw", "bn2")
        else:
            yield from normalized(f"{path}.0", f"{path}.1", f"{name}.conv_pw", f"{name}.bn1")
            inner, outer = ("conv_dw", "bn2"), ("conv_pwl", "bn3")
        yield from normalized(f"{path}.3", f"{path}.4", *(f"{name}.{child}" for child in inner))
        yield from normalized(f"{path}.6", f"{path}.7", *(f"{name}.{child}" for child in outer))
    yield from normalized(f"features.{last}", f"features.{last + 1}", "conv_head", "bn2")
    yield LayerMapping("output.0", ("classifier",))


_LAST_LAYERS = 4  # normalization, activation, pooling, flattening


def densenet_recipes(net: DenseNet) -> list[Recipe]:
    """Return the recipes for DenseNet checkpoints of torchvision and timm, and of Keras."""
    return [
        Recipe("torchvision or timm", tuple(_torch_densenet(net))),
        Recipe("Keras", tuple(_keras_densenet(net)), epsilon=1.001e-5, keras=True),
    ]


def _stages(net: DenseNet) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each stage, from 1, its index and its number of layers.

    A transition follows each stage except the last.
    """
    positions = range(_FIRST_STAGE, len(net.features) - _LAST_LAYERS, 2)
    for number, position in enumerate(positions, start=1):
        yield number, position, len(net.features[position]._children)


def _torch_densenet(net: DenseNet) -> Iterator[LayerMapping]:
    last = len(net.features) - _LAST_LAYERS
    yield LayerMapping("features.0", ("features.conv0",))
    yield LayerMapping("features.1", ("features.norm0",))
    for stage, position, count in _stages(net):
        for index in range(count):
            name = f"features.denseblock{stage}.denselayer{index + 1}"
            for child, kind in ((0, "norm{}1"), (2, "conv{}1"), (3, "norm{}2"), (5, "conv{}2")):
                # Checkpoints of PyTorch before 0.4 have a dot before the number.
                sources = tuple(f"{name}.{kind.format(dot)}" for dot in ("", "."))
                yield LayerMapping(f"features.{position}.{index}.1.{child}", sources)
        if position + 1 < last:
            yield LayerMapping(f"features.{position + 1}.0", (f"features.transition{stage}.norm",))
            yield LayerMapping(f"features.{position + 1}.2", (f"features.transition{stage}.conv",))
    yield LayerMapping(f"features.{last}", ("features.norm5",))
    yield LayerMapping("output", ("classifier",))


def _keras_densenet(net: DenseNet) -> Iterator[LayerMapping]:
    last = len(net.features) - _LAST_LAYERS
    yield LayerMapping("features.0", ("conv1/conv", "conv1_conv"))
    yield LayerMapping("features.1", ("conv1/bn", "conv1_bn"))
    for stage, position, count in _stages(net):
        for index in range(count):
            name = f"conv{stage + 1}_block{index + 1}"
            for child, kind in ((0, "0_bn"), (2, "1_conv"), (3, "1_bn"), (5, "2_conv")):
                yield LayerMapping(f"features.{position}.{index}.1.{child}", (f"{name}_{kind}",))
        if position + 1 < last:
            yield LayerMapping(f"features.{position + 1}.0", (f"pool{stage + 1}_bn",))
            yield LayerMapping(f"features.{position + 1}.2", (f"pool{stage + 1}_conv",))
    yield LayerMapping(f"features.{last}", ("bn",))
    yield LayerMapping("output", ("predictions", "fc1000"))


# The branches of each kind of module in torchvision's names; None is a layer without weights. The
# two names at the end of a branch of E are parallel convolutions.
_A = (
    ("branch1x1",),
    ("branch5x5_1", "branch5x5_2"),
    ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"),
    (None, "branch_pool"),
)
_B = (("branch3x3",), ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"))
_C = (
    ("branch1x1",),
    ("branch7x7_1", "branch7x7_2", "branch7x7_3"),
    tuple(f"branch7x7dbl_{number}" for number in range(1, 6)),
    (None, "branch_pool"),
)
_D = (
    ("branch3x3_1", "branch3x3_2"),
    tuple(f"branch7x7x3_{number}" for number in range(1, 5)),
)
_E = (
    ("branch1x1",),
    (("branch3x3_1",), ("branch3x3_2a", "branch3x3_2b")),
    (("branch3x3dbl_1", "branch3x3dbl_2"), ("branch3x3dbl_3a", "branch3x3dbl_3b")),
    (None, "branch_pool"),
)
_STEM = {
    0: "Conv2d_1a_3x3",
    1: "Conv2d_2a_3x3",
    2: "Conv2d_2b_3x3",
    4: "Conv2d_3b_1x1",
    5: "Conv2d_4a_3x3",
}
# Modules by index in `features`.
_MODULES = {
    **dict(zip(range(7, 10), (("Mixed_5b", _A), ("Mixed_5c", _A), ("Mixed_5d", _A)), strict=True)),
    10: ("Mixed_6a", _B),
    **{
        position: (f"Mixed_6{letter}", _C)
        for position, letter in zip(range(11, 15), "bcde", strict=True)
    },
    15: ("Mixed_7a", _D),
    16: ("Mixed_7b", _E),
    17: ("Mixed_7c", _E),
}


def inception_recipes(net: Inception3) -> list[Recipe]:
    """Return the recipe for Inception v3 checkpoints of torchvision and timm."""
    positions = [(f"features.{position}", name) for position, name in _STEM.items()]
    for position, (module, branches) in _MODULES.items():
        for number, branch in enumerate(branches):
            for path, name in _branch(f"features.{position}.{number}", branch):
                positions.append((path, f"{module}.{name}"))
    mappings = [
        mapping
        for path, name in positions
        for mapping in normalized(f"{path}.0", f"{path}.1", f"{name}.conv", f"{name}.bn")
    ]
    return [
        Recipe(
            "torchvision or timm",
            (*mappings, LayerMapping("output", ("fc",))),
            epsilon=1e-3,
            preprocessing="RGB, (x / 255 - 0.5) / 0.5, 299 x 299 (torchvision's transform_input"
            " computes this from the usual input): not as for the networks of the zoo",
            left_out=(("AuxLogits.", "the auxiliary classifier, which only training uses"),),
        )
    ]


def _branch(path: str, branch: object) -> Iterator[tuple[str, str]]:
    """Yield the path of each normalized convolution of a branch, and its name."""
    assert isinstance(branch, tuple)
    if isinstance(branch[0], tuple):
        stem, ends = branch
        yield from _branch(f"{path}.0", stem)
        yield from ((f"{path}.1.{index}.0", name) for index, name in enumerate(ends))
        return
    for index, name in enumerate(branch):
        if name is not None:
            yield f"{path}.{index}", name
