"""Which recipes there are for a network, and why there are none for others."""

from collections.abc import Callable
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.model_zoo.foreign.branched_recipes import densenet_recipes, inception_recipes
from gluonish.model_zoo.foreign.mobile_recipes import mobilenet_recipes, mobilenet_v2_recipes
from gluonish.model_zoo.foreign.plain_recipes import (
    alexnet_recipes,
    squeezenet_recipes,
    vgg_recipes,
)
from gluonish.model_zoo.foreign.recipe import Recipe
from gluonish.model_zoo.foreign.residual_recipes import resnet_recipes
from gluonish.model_zoo.vision.alexnet import AlexNet
from gluonish.model_zoo.vision.densenet import DenseNet
from gluonish.model_zoo.vision.inception import Inception3
from gluonish.model_zoo.vision.mobilenet import MobileNet, MobileNetV2
from gluonish.model_zoo.vision.resnet import ResNetV1, ResNetV2
from gluonish.model_zoo.vision.squeezenet import SqueezeNet
from gluonish.model_zoo.vision.vgg import VGG

__all__ = ["recipes_of"]

_FAMILIES: dict[type[HybridBlock], Callable[[Any], list[Recipe]]] = {
    AlexNet: alexnet_recipes,
    DenseNet: densenet_recipes,
    Inception3: inception_recipes,
    MobileNet: mobilenet_recipes,
    MobileNetV2: mobilenet_v2_recipes,
    ResNetV1: resnet_recipes,
    SqueezeNet: squeezenet_recipes,
    VGG: vgg_recipes,
}
_PADDING = (
    "where it halves the size, Keras pads below and to the right only, Gluon on all sides, and no"
    " weights make that equal"
)
_NO_KERAS: dict[type[HybridBlock], str] = {
    Inception3: "Keras leaves the padding out of the averages of its pooling, Gluon does not",
    MobileNet: _PADDING,
    MobileNetV2: _PADDING,
}
_NO_RECIPE: dict[type[HybridBlock], str] = {
    ResNetV2: "Gluon normalizes and rectifies behind the first convolution of version 2, and timm"
    " and Keras, whose version 2 is pooled there at once, do not",
}


def recipes_of(net: HybridBlock, keras: bool) -> list[Recipe]:
    """Return the recipes for a network.

    Args:
        net: The network.
        keras: Whether the checkpoint is from Keras; if not, from PyTorch.

    Raises:
        NotSupportedError: There are none; the message says why.
    """
    kind = type(net)
    library = "Keras" if keras else "PyTorch"
    recipes: list[Recipe] = []
    if kind in _FAMILIES and not _is_thumbnail(net):
        recipes = [recipe for recipe in _FAMILIES[kind](net) if recipe.keras == keras]
    if not recipes:
        reason = (_NO_KERAS if keras else {}).get(kind) or _NO_RECIPE.get(kind)
        reason = reason or f"no checkpoint of {library} is known to have this architecture"
        raise NotSupportedError(
            f"import: expected a network that fits checkpoints of {library}, got {kind.__name__}:"
            f" {reason}"
        )
    return recipes


def _is_thumbnail(net: HybridBlock) -> bool:
    """Whether it is a residual network for small images, whose stem is one convolution."""
    return isinstance(net, ResNetV1) and not isinstance(net.features[1], BatchNorm)
