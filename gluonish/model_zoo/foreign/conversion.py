"""Conversion of other libraries' weights to a network of the zoo, and the choice of a recipe.

Differences between libraries are folded into the weights if the result is exact: memory layouts,
the epsilon of a normalization (``variance += theirs - ours``), a bias before a normalization
(``mean -= bias``), and a missing unit (which becomes an identity).
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gluonish.core.errors import NotSupportedError, ParameterError, nearest, require_text
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms import Compose
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.model_zoo.foreign.checkpoint import Checkpoint, open_checkpoint
from gluonish.model_zoo.foreign.plan import MAX_NAMES, Plan, listed, source_of
from gluonish.model_zoo.foreign.recipes import (
    Recipe,
    alexnet_recipes,
    densenet_recipes,
    inception_recipes,
    mobilenet_recipes,
    mobilenet_v2_recipes,
    resnet_recipes,
    squeezenet_recipes,
    vgg_recipes,
)
from gluonish.model_zoo.foreign.source_layers import SourceLayers, source_layers
from gluonish.model_zoo.foreign.timm_weights import (
    check_options,
    classes_of,
    converted,
    is_of_timm,
    settings_beside,
)
from gluonish.model_zoo.pretrained.image_transform import of_timm
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.model_zoo.vision.alexnet import AlexNet
from gluonish.model_zoo.vision.densenet import DenseNet
from gluonish.model_zoo.vision.inception import Inception3
from gluonish.model_zoo.vision.mobilenet import MobileNet, MobileNetV2
from gluonish.model_zoo.vision.resnet import ResNetV1, ResNetV2
from gluonish.model_zoo.vision.squeezenet import SqueezeNet
from gluonish.model_zoo.vision.vgg import VGG
from gluonish.ndarray import array, zeros

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
_UNKNOWN = "as the origin of the weights says; there is no config.json of timm beside them"
_SHOWN = ("input_size", "crop_pct", "crop_mode", "interpolation", "mean", "std")
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
        NotSupportedError: There are no recipes; the message has the reason.
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
    """Whether a network is a ResNet for small images, with a single convolution as stem."""
    return isinstance(net, ResNetV1) and not isinstance(net.features[1], BatchNorm)


# A shard: model-00001-of-00002.safetensors.
_SHARD = re.compile(r"-\d{5}-of-\d{5}\.\w+$")


@dataclass
class Conversion:
    """Weights for a network, converted from another library's checkpoint.

    Attributes:
        path: Path of the checkpoint.
        kind: Format of the checkpoint.
        origin: Library of the layer names.
        arrays: float32 arrays by parameter path, such as ``features.0.weight``.
        classes: Number of classes.
        preprocessing: Required preprocessing of images.
        notes: Folded, chosen and ignored arrays, and differences from the origin's outputs.
        pretrained_cfg: timm's settings of the images; empty without.
    """

    path: str
    kind: str
    origin: str
    arrays: dict[str, Any]
    classes: int
    preprocessing: str
    notes: list[str] = field(default_factory=list)
    pretrained_cfg: Mapping[str, Any] = field(default_factory=dict)

    @property
    def transform(self) -> Compose | None:
        """The transform of images that the weights were trained with; None if no file says it.

        Raises:
            FileFormatError: A setting of it is of another type or out of range.
            NotSupportedError: A setting of it is not supported.
        """
        if "mean" not in self.pretrained_cfg:
            return None
        return of_timm(self.pretrained_cfg, "pretrained_cfg").block()

    def load(self, net: HybridBlock) -> None:
        """Load the weights into a network, whose ``transform`` becomes that of the weights.

        Args:
            net: The network.

        Raises:
            ParameterError: The weights do not fit the network.
        """
        net.load_dict({path: array(values) for path, values in self.arrays.items()})
        if self.pretrained_cfg:
            net._pretrained_cfg = dict(self.pretrained_cfg)


def input_shape(name: str) -> tuple[int, int, int, int]:
    """Return the input shape of one image for a network's published weights.

    Args:
        name: Name of the network, such as ``"resnet18_v1"``.
    """
    side = 299 if name == "inceptionv3" else 32 if name.startswith("cifar_") else 224
    return (1, 3, side, side)


def import_weights(
    name: str,
    path: str | os.PathLike[str],
    *,
    classes: int | None = None,
    key: str | None = None,
    epsilon: float | None = None,
    allow_inexact: bool = False,
    ignore_extra: bool = False,
    resize: bool = False,
) -> Conversion:
    """Convert a checkpoint of another library to weights of a network of the model zoo.

    If a ``config.json`` of timm is beside the file, images are prepared as it says.

    Args:
        name: Name of the network, such as ``"resnet18_v1"``.
        path: Path of a safetensors file, a PyTorch checkpoint or an `.npz` archive of Keras
            weights; or of a folder of timm with ``model.safetensors``.
        classes: Number of outputs; by default the checkpoint's.
        key: Entry of a PyTorch checkpoint with the weights; see `open_checkpoint`.
        epsilon: Epsilon of the origin's batch normalization; None for the library's usual value.
        allow_inexact: Whether to convert even if outputs will differ from the origin's, as
            described in `Conversion.notes`.
        ignore_extra: Whether to ignore layers of the checkpoint that the network does not have.
        resize: Whether tables of positions and kernels of patches of another size are resized.

    Raises:
        ArgumentError: There is no network ``name``, or no entry ``key``.
        FileFormatError: The file is truncated, corrupt or malicious.
        NotSupportedError: The network's outputs would differ from the origin's, or there is no
            recipe.
        ParameterError: Arrays are missing, left over, or of another shape; the message lists them.
    """
    options = {"epsilon": epsilon, "allow_inexact": allow_inexact, "ignore_extra": ignore_extra}
    require_text(name, "get_model: expected name")
    path, cfg = settings_beside(path, name.lower())
    with open_checkpoint(path, key) as checkpoint:
        if name.lower() not in model_names("mxnet") and name.lower() in model_names("timm"):
            net: Any = get_model(name)
            number = (classes_of(net, checkpoint.arrays) or 1000) if classes is None else classes
            net = get_model(name, classes=number)
            return _convert_timm(net, checkpoint, cfg, epsilon, ignore_extra, resize)
        layers = source_layers(checkpoint.arrays, checkpoint.path)
        recipe = _best_recipe(recipes_of(get_model(name), layers.keras), layers, checkpoint.path)
        found = _classes(recipe, layers)
        net = get_model(name, classes=found or 1000 if classes is None else classes)
        net.infer_shape(zeros(input_shape(name)))
        made = _convert(net, checkpoint, layers, recipe, **options)  # type: ignore[arg-type]
        return _prepared(made, cfg)


def convert(
    net: HybridBlock,
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    epsilon: float | None = None,
    allow_inexact: bool = False,
    ignore_extra: bool = False,
    resize: bool = False,
) -> Conversion:
    """Convert a checkpoint of another library to weights of an existing network.

    The head of MobileNetV2 is a convolution without bias. PyTorch's checkpoints have a bias: for a
    network whose ``output.0`` has one, the result is exact.

    Args:
        net: A network of one of the zoo's classes, possibly with its own head. Known shapes must
            match the checkpoint's.
        path: Path of the checkpoint, as for `import_weights`.
        key: Entry of a PyTorch checkpoint with the weights.
        epsilon: Epsilon of the origin's batch normalization; None for the library's usual value.
        allow_inexact: Whether to convert even if outputs will differ from the origin's.
        ignore_extra: Whether to ignore layers of the checkpoint that the network does not have.
        resize: Whether tables of positions and kernels of patches of another size are resized.

    Raises:
        GluonishError: As for `import_weights`.
    """
    path, cfg = settings_beside(path, getattr(net, "_timm_name", ""))
    with open_checkpoint(path, key) as checkpoint:
        if is_of_timm(net):
            return _convert_timm(net, checkpoint, cfg, epsilon, ignore_extra, resize)
        layers = source_layers(checkpoint.arrays, checkpoint.path)
        recipe = _best_recipe(recipes_of(net, layers.keras), layers, checkpoint.path)
        made = _convert(net, checkpoint, layers, recipe, epsilon, allow_inexact, ignore_extra)
        return _prepared(made, cfg)


def _convert_timm(
    net: Any,
    checkpoint: Checkpoint,
    cfg: Mapping[str, Any],
    epsilon: float | None,
    ignore_extra: bool,
    resize: bool,
) -> Conversion:
    check_options(epsilon, net)
    library, arrays, notes = converted(net, checkpoint, ignore_extra, resize)
    classes = net.output.weight.shape[0]
    made = Conversion(checkpoint.path, checkpoint.kind, library, arrays, classes, _UNKNOWN, notes)
    return _prepared(made, cfg)


def _prepared(made: Conversion, cfg: Mapping[str, Any]) -> Conversion:
    """Return a conversion with timm's settings of the images."""
    made.pretrained_cfg = cfg
    if "mean" in cfg:
        steps = ", ".join(f"{name} {cfg[name]}" for name in _SHOWN if name in cfg)
        made.preprocessing = f"RGB / 255, {steps}: the transform of timm's pretrained_cfg"
    return made


def _best_recipe(recipes: Sequence[Recipe], layers: SourceLayers, path: str) -> Recipe:
    """Return the recipe with the most layers in the checkpoint."""

    def present(recipe: Recipe) -> int:
        return sum(source_of(mapping, layers) is not None for mapping in recipe.mappings)

    best = max(recipes, key=present)
    if 2 * present(best) >= len(list(best.mappings)):
        return best
    origins = " or ".join(recipe.origin for recipe in recipes)
    missing = [
        mapping.sources[0] for mapping in best.mappings if source_of(mapping, layers) is None
    ]
    raise NotSupportedError(
        f"{path}: expected the names of {origins}, such as {missing[0]!r}, got"
        f" {len(layers.layers)} layers, {', '.join(map(repr, list(layers.layers)[:5]))} .., without"
        f" {len(missing)} of {len(list(best.mappings))}{nearest(missing[0], layers.layers)};"
        f" {_advice(layers, path) or 'is it a checkpoint of another network?'}"
    )


def _advice(layers: SourceLayers, path: str) -> str:
    """Return advice on a checkpoint that does not fit: the matching networks, or use of a shard."""
    if _SHARD.search(path):
        return "it is one shard of several: pass the index, which ends with .index.json"
    fitting = [name for name in model_names("mxnet") if _has_all(name, layers)]
    if not fitting:
        return ""
    return f"it has the layers of {' or '.join(fitting[:MAX_NAMES])}: import it as that network"


def _has_all(name: str, layers: SourceLayers) -> bool:
    """Whether a checkpoint has exactly the layers of a network, in one library's names."""
    try:
        recipes = recipes_of(get_model(name), layers.keras)
    except NotSupportedError:
        return False
    for recipe in recipes:
        sources = {source_of(mapping, layers) for mapping in recipe.mappings}
        left_out = tuple(prefix for prefix, _ in recipe.left_out)
        extra = [layer for layer in layers.layers if layer not in sources]
        if None not in sources and all(layer.startswith(left_out) for layer in extra):
            return True
    return False


def _classes(recipe: Recipe, layers: SourceLayers) -> int | None:
    """Return the number of outputs of a checkpoint's head; None if the head has no weights."""
    head = list(recipe.mappings)[-1]
    name = source_of(head, layers)
    weight = layers.layers[name].get("weight") if name is not None else None
    # An empty array may have any shape.
    if weight is None or not weight.shape or 0 in weight.shape:
        return None
    return weight.shape[-1 if layers.keras else 0]


def _convert(
    net: HybridBlock,
    checkpoint: Checkpoint,
    layers: SourceLayers,
    recipe: Recipe,
    epsilon: float | None,
    allow_inexact: bool,
    ignore_extra: bool,
) -> Conversion:
    plan = Plan(net, layers, recipe.epsilon if epsilon is None else epsilon)
    for step in recipe.steps:
        plan.add(step)
    extra = plan.extra(recipe.left_out)
    if plan.problems or (extra and not ignore_extra):
        advice = _advice(layers, checkpoint.path)
        raise ParameterError(
            _misfit(checkpoint.path, recipe, plan.problems, extra) + (f"; {advice}" * bool(advice))
        )
    obstacles = [recipe.obstacle] if recipe.obstacle else []
    obstacles += plan.lost_biases()
    if obstacles and not allow_inexact:
        raise NotSupportedError(
            f"{checkpoint.path}: expected weights of {recipe.origin} for which"
            f" {type(net).__name__} has equal outputs, got {'; '.join(obstacles)};"
            " --allow-inexact (allow_inexact=True) converts them anyway"
        )
    arrays = plan.arrays()
    notes = [*checkpoint.notes, *plan.notes()]
    notes += [f"not exact: {obstacle}" for obstacle in obstacles]
    for prefix, reason in recipe.left_out:
        if any(name.startswith(prefix) for name in layers.layers):
            notes.append(f"left out {prefix}*: {reason}")
    if extra:
        notes.append(f"ignored as requested: {listed(extra)}")
    notes += _not_finite(arrays)
    classes = next(values.shape[0] for path, values in arrays.items() if path.startswith("output."))
    return Conversion(
        *(checkpoint.path, checkpoint.kind, recipe.origin, arrays, classes),
        *(recipe.preprocessing, notes),
    )


def _misfit(path: str, recipe: Recipe, problems: Sequence[str], extra: Sequence[str]) -> str:
    lines = [*problems[:MAX_NAMES]]
    if len(problems) > MAX_NAMES:
        lines.append(f"{len(problems) - MAX_NAMES} more")
    if extra:
        lines.append(f"no parameters for {listed(extra)}")
    return f"{path}: expected the arrays of a network of {recipe.origin}, got {'; '.join(lines)}"


def _not_finite(arrays: Mapping[str, Any]) -> list[str]:
    bad = [path for path, values in arrays.items() if not np.isfinite(values).all()]
    return [f"not all numbers are finite in {listed(bad)}"] if bad else []
