"""Networks by name: networks of the model zoo, families with a depth, and two small networks."""

import re
from typing import Any

import gluonish.gluon.nn as nn
import gluonish.model_zoo.vision as _vision  # noqa: F401  # registers the networks
from gluonish.core.errors import ArgumentError, nearest
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.initializer import Initializer, create
from gluonish.initializer.random import MSRAPrelu, Xavier
from gluonish.model_zoo.registry import get_model, model_names

# Names in MXNet's image classification example that differ from the zoo's.
_ALIASES = {
    "inception-bn": "inception_bn",
    "inception-v3": "inceptionv3",
    "mobilenet": "mobilenet1.0",
    "mobilenetv2": "mobilenetv2_1.0",
    "squeezenet": "squeezenet1.1",
}
# Families that have --num-layers, and their names in the zoo; `resnet` is version 2.
_FAMILIES = {
    "densenet": "densenet{}",
    "resnet": "resnet{}_v2",
    "resnet-v1": "resnet{}_v1",
    "vgg": "vgg{}",
}
_SMALL = 32  # pixels; for images up to this height, residual networks are those for CIFAR
_LENET_SIDE = 16  # pixels; two 5x5 convolutions and poolings need at least this size

INITIALIZERS = ("default", "xavier", "msra", "orthogonal", "normal", "uniform", "one", "zero")


def make_network(
    name: str,
    num_layers: int | None,
    image_shape: tuple[int, ...],
    classes: int,
    rates: dict[str, float | None] | None = None,
) -> HybridBlock:
    """Return a network, which is not initialized.

    Args:
        name: ``lenet``, ``mlp``, a name of the zoo, a family such as ``resnet``, or a residual
            network with its depth, such as ``resnet20``.
        num_layers: Depth, for a family; None for its default or for other names.
        image_shape: (channels, height, width), which selects large or small residual networks.
        classes: Number of outputs.
        rates: Values of ``drop_path`` and ``dropout``; None for those of the network.

    Raises:
        ArgumentError: There is no such network, it lacks a rate, ``num_layers`` is set but ``name``
            is no family, or the images are too small for LeNet.
    """
    wanted = name.lower()
    options: dict[str, Any] = {k: v for k, v in (rates or {}).items() if v is not None}
    if options and wanted in ("mlp", "lenet"):
        raise _no_rate(next(iter(options)), name)
    if wanted == "mlp":
        _refuse_depth(name, num_layers)
        return _mlp(classes)
    if wanted == "lenet":
        _refuse_depth(name, num_layers)
        if min(image_shape[1:]) < _LENET_SIDE:
            raise ArgumentError(
                f"--network lenet: expected images of {_LENET_SIDE}x{_LENET_SIDE} pixels or more, "
                f"got {image_shape[1]}x{image_shape[2]}"
            )
        return _lenet(classes)
    found = zoo_name(wanted, num_layers, image_shape[1])
    size = re.fullmatch(r"(?:vit|deit|swin)_.*_(\d+)", found)
    if size is not None and int(size[1]) != image_shape[1]:
        options["image_size"] = image_shape[1]
    if size is not None and image_shape[0] != 3:
        options["in_channels"] = image_shape[0]
    try:
        return get_model(found, classes=classes, **options)
    except (TypeError, ArgumentError) as error:
        for key in rates or {}:
            if key in options and key in str(error) and "[0, 1)" not in str(error):
                raise _no_rate(key, name) from error
        raise


def _no_rate(rate: str, name: str) -> ArgumentError:
    return ArgumentError(
        f"--{rate.replace('_', '-')}: expected a network that has it, got --network {name}"
    )


def zoo_name(name: str, num_layers: int | None, height: int) -> str:
    """Return the name of a network in the zoo.

    Args:
        name: As for `make_network`, in lower case.
        num_layers: Depth, or None.
        height: Height of the images, in pixels.

    Raises:
        ArgumentError: As for `make_network`.
    """
    family = _FAMILIES.get(name)
    if family is not None:
        found = family.format(_default_depth(name, height) if num_layers is None else num_layers)
        if name.startswith("resnet") and height <= _SMALL and f"cifar_{found}" in model_names():
            found = f"cifar_{found}"
        return _known(found, f"--network {name} --num-layers {num_layers}")
    _refuse_depth(name, num_layers)
    found = _ALIASES.get(name, name)
    depth = re.fullmatch(r"resnet(\d+)", found)
    if depth is not None:
        large = f"resnet{depth[1]}_v1"
        found = large if large in model_names() else f"cifar_{large}"
    return _known(found, f"--network {name}")


def _default_depth(name: str, height: int) -> int:
    """Return the default depth of MXNet's example."""
    if name.startswith("resnet"):
        return 110 if height <= _SMALL else 50
    return {"densenet": 121, "vgg": 16}[name]


def _known(found: str, asked: str) -> str:
    if found not in model_names():
        names = ["lenet", "mlp", *_ALIASES, *_FAMILIES, *model_names()]
        raise ArgumentError(
            f"{asked}: expected one of {', '.join(names)}, got {found!r}{nearest(found, names)}"
        )
    return found


def _refuse_depth(name: str, num_layers: int | None) -> None:
    if num_layers is not None:
        raise ArgumentError(
            f"--num-layers: expected one of the networks {', '.join(_FAMILIES)}, got --network "
            f"{name}"
        )


def make_initializer(name: str) -> Initializer:
    """Return an initializer by its name on the command line.

    Args:
        name: A name from `INITIALIZERS`; ``default`` is Xavier, normal, scaled by fan-in.
    """
    if name == "default":
        return Xavier(rnd_type="gaussian", factor_type="in", magnitude=2)
    if name == "msra":
        return MSRAPrelu()
    made: Initializer = create(name)
    return made


def _mlp(classes: int) -> HybridBlock:
    net = nn.HybridSequential(prefix="mlp_")
    with net.name_scope():
        net.add(
            nn.Flatten(),
            nn.Dense(128, activation="relu"),
            nn.Dense(64, activation="relu"),
            nn.Dense(classes),
        )
    return net


def _lenet(classes: int) -> HybridBlock:
    """Return LeNet (LeCun et al., 1998) as in MXNet's examples: wider, with max pooling."""
    net = nn.HybridSequential(prefix="lenet_")
    with net.name_scope():
        net.add(
            nn.Conv2D(20, 5, activation="tanh"),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(50, 5, activation="tanh"),
            nn.MaxPool2D(2, 2),
            nn.Flatten(),
            nn.Dense(500, activation="tanh"),
            nn.Dense(classes),
        )
    return net
