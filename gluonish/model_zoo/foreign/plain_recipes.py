"""Recipes of the networks without branches of their own kind: AlexNet, VGG, SqueezeNet."""

from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import MaxPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.model_zoo.foreign.recipe import Link, Recipe
from gluonish.model_zoo.vision.alexnet import AlexNet
from gluonish.model_zoo.vision.squeezenet import SqueezeNet
from gluonish.model_zoo.vision.vgg import VGG

__all__ = ["CAFFE_INPUT", "alexnet_recipes", "squeezenet_recipes", "vgg_recipes"]

CAFFE_INPUT = (
    "BGR, x - [103.939, 116.779, 123.68] with x in 0..255, as preprocess_input of Keras makes it:"
    " not as for the networks of the zoo"
)


def alexnet_recipes(net: AlexNet) -> list[Recipe]:
    """Return the recipe for AlexNet checkpoints of torchvision.

    Args:
        net: The network.
    """
    convolutions = iter((0, 3, 6, 8, 10))
    dense = iter((1, 4))
    links = []
    for index, layer in enumerate(net.features):
        if isinstance(layer, Conv2D):
            links.append(Link(f"features.{index}", (f"features.{next(convolutions)}",)))
        elif isinstance(layer, Dense):
            links.append(Link(f"features.{index}", (f"classifier.{next(dense)}",)))
    return [Recipe("torchvision", (*links, Link("output", ("classifier.6",))))]


def vgg_recipes(net: VGG) -> list[Recipe]:
    """Return the recipes for VGG checkpoints of torchvision, timm and Keras.

    Args:
        net: The network.
    """
    recipes = [
        Recipe("torchvision", _torch_vgg(net, ("classifier.0", "classifier.3"), "classifier.6")),
        Recipe("timm", _torch_vgg(net, ("pre_logits.fc1", "pre_logits.fc2"), "head.fc")),
    ]
    if not any(isinstance(layer, BatchNorm) for layer in net.features):
        recipes.append(Recipe("Keras", _keras_vgg(net), preprocessing=CAFFE_INPUT, keras=True))
    return recipes


def _torch_vgg(net: VGG, dense: tuple[str, ...], head: str) -> tuple[Link, ...]:
    """Return links that PyTorch's libraries number as the network does, but for dense layers."""
    names = iter(dense)
    links = []
    for index, layer in enumerate(net.features):
        path = f"features.{index}"
        if isinstance(layer, Conv2D):
            followed = isinstance(net.features[index + 1], BatchNorm)
            links.append(Link(path, (path,), norm=f"features.{index + 1}" if followed else ""))
        elif isinstance(layer, BatchNorm):
            links.append(Link(path, (path,)))
        elif isinstance(layer, Dense):
            links.append(Link(path, (next(names),)))
    return (*links, Link("output", (head,)))


def _keras_vgg(net: VGG) -> tuple[Link, ...]:
    links = []
    block, number, channels = 1, 1, 0
    dense = iter(("fc1", "fc2"))
    for index, layer in enumerate(net.features):
        path = f"features.{index}"
        if isinstance(layer, Conv2D):
            links.append(Link(path, (f"block{block}_conv{number}",)))
            number, channels = number + 1, layer._channels
        elif isinstance(layer, MaxPool2D):
            block, number = block + 1, 1
        elif isinstance(layer, Dense):
            links.append(Link(path, (next(dense),), channels=channels))
            channels = 0
    return (*links, Link("output", ("predictions",)))


def squeezenet_recipes(net: SqueezeNet) -> list[Recipe]:
    """Return the recipe for SqueezeNet checkpoints of torchvision.

    Args:
        net: The network.
    """
    links = []
    for index, layer in enumerate(net.features):
        path = f"features.{index}"
        if isinstance(layer, Conv2D):
            links.append(Link(path, (path,)))
        elif isinstance(layer, HybridSequential):
            links += [
                Link(f"{path}.0.0", (f"{path}.squeeze",)),
                Link(f"{path}.1.0.0", (f"{path}.expand1x1",)),
                Link(f"{path}.1.1.0", (f"{path}.expand3x3",)),
            ]
    return [Recipe("torchvision", (*links, Link("output.0", ("classifier.1",))))]
