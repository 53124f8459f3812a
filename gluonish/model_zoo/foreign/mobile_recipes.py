"""Recipes of MobileNets."""

from collections.abc import Iterator

from gluonish.model_zoo.foreign.recipe import Identity, Link, Recipe, Step, normalized
from gluonish.model_zoo.vision.mobilenet import MobileNet, MobileNetV2
from gluonish.model_zoo.vision.mobilenet_units import LinearBottleneck

__all__ = ["mobilenet_recipes", "mobilenet_v2_recipes"]

# The units of timm's stages.
_TIMM_STAGES = (1, 2, 2, 6, 2)
_TIMM_V2_STAGES = (1, 2, 3, 4, 3, 3, 1)
_RELU6 = (
    "timm's version 1 clips activations at 6 (ReLU6), Gluon's does not (ReLU); outputs differ where"
    " an activation is over 6"
)


def mobilenet_recipes(net: MobileNet) -> list[Recipe]:
    """Return the recipes for MobileNet v1 checkpoints of PyTorch programs and timm.

    Args:
        net: The network.
    """
    # In threes: convolution, normalization, activation.
    units = [f"features.{place}" for place in range(0, len(net.features) - 2, 3)]
    listed: list[Link] = []
    timm: list[Link] = []
    names = [(stage, unit) for stage, count in enumerate(_TIMM_STAGES) for unit in range(count)]
    for index, path in enumerate(units):
        place = int(path.rpartition(".")[2])
        targets = (path, f"features.{place + 1}")
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
        Recipe("a list of layers called model", (*listed, Link("output", ("fc",)))),
        Recipe(
            "timm",
            (*timm, Link("output", ("classifier",))),
            preprocessing="RGB, (x / 255 - 0.5) / 0.5: not as for the networks of the zoo",
            obstacle=_RELU6,
        ),
    ]


def mobilenet_v2_recipes(net: MobileNetV2) -> list[Recipe]:
    """Return the recipes for MobileNet v2 checkpoints of torchvision and timm.

    Args:
        net: The network.
    """
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
    yield Link("output.0", ("classifier.1",))


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
        yield from normalized(f"{path}.3", f"{path}.4", *(f"{name}.{part}" for part in inner))
        yield from normalized(f"{path}.6", f"{path}.7", *(f"{name}.{part}" for part in outer))
    yield from normalized(f"features.{last}", f"features.{last + 1}", "conv_head", "bn2")
    yield Link("output.0", ("classifier",))
