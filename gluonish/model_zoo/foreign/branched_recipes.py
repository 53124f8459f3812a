"""Recipes of densely connected networks and of Inception v3."""

from collections.abc import Iterator

from gluonish.model_zoo.foreign.recipe import Link, Recipe, normalized
from gluonish.model_zoo.vision.densenet import DenseNet
from gluonish.model_zoo.vision.inception import Inception3

__all__ = ["densenet_recipes", "inception_recipes"]

_FIRST_STAGE = 4  # the stem is convolution, normalization, activation and pooling
_LAST_LAYERS = 4  # normalization, activation, pooling, flattening


def densenet_recipes(net: DenseNet) -> list[Recipe]:
    """Return the recipes for DenseNet checkpoints of torchvision and timm, and of Keras.

    Args:
        net: The network.
    """
    return [
        Recipe("torchvision or timm", tuple(_torch_densenet(net))),
        Recipe("Keras", tuple(_keras_densenet(net)), epsilon=1.001e-5, keras=True),
    ]


def _stages(net: DenseNet) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each stage, from 1, its place and its number of layers.

    A transition lies between every two.
    """
    places = range(_FIRST_STAGE, len(net.features) - _LAST_LAYERS, 2)
    for number, place in enumerate(places, start=1):
        yield number, place, len(net.features[place]._children)


def _torch_densenet(net: DenseNet) -> Iterator[Link]:
    last = len(net.features) - _LAST_LAYERS
    yield Link("features.0", ("features.conv0",))
    yield Link("features.1", ("features.norm0",))
    for stage, place, count in _stages(net):
        for index in range(count):
            name = f"features.denseblock{stage}.denselayer{index + 1}"
            for part, kind in ((0, "norm{}1"), (2, "conv{}1"), (3, "norm{}2"), (5, "conv{}2")):
                # Checkpoints of PyTorch before 0.4 have a dot before the number.
                sources = tuple(f"{name}.{kind.format(dot)}" for dot in ("", "."))
                yield Link(f"features.{place}.{index}.1.{part}", sources)
        if place + 1 < last:
            yield Link(f"features.{place + 1}.0", (f"features.transition{stage}.norm",))
            yield Link(f"features.{place + 1}.2", (f"features.transition{stage}.conv",))
    yield Link(f"features.{last}", ("features.norm5",))
    yield Link("output", ("classifier",))


def _keras_densenet(net: DenseNet) -> Iterator[Link]:
    last = len(net.features) - _LAST_LAYERS
    yield Link("features.0", ("conv1/conv", "conv1_conv"))
    yield Link("features.1", ("conv1/bn", "conv1_bn"))
    for stage, place, count in _stages(net):
        for index in range(count):
            name = f"conv{stage + 1}_block{index + 1}"
            for part, kind in ((0, "0_bn"), (2, "1_conv"), (3, "1_bn"), (5, "2_conv")):
                yield Link(f"features.{place}.{index}.1.{part}", (f"{name}_{kind}",))
        if place + 1 < last:
            yield Link(f"features.{place + 1}.0", (f"pool{stage + 1}_bn",))
            yield Link(f"features.{place + 1}.2", (f"pool{stage + 1}_conv",))
    yield Link(f"features.{last}", ("bn",))
    yield Link("output", ("predictions", "fc1000"))


# The branches of each kind of module in torchvision's names; None is a layer without weights. The
# two names at the end of a branch of E are convolutions side by side.
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
# The place of each module in `features`.
_MODULES = {
    **dict(zip(range(7, 10), (("Mixed_5b", _A), ("Mixed_5c", _A), ("Mixed_5d", _A)), strict=True)),
    10: ("Mixed_6a", _B),
    **{
        place: (f"Mixed_6{letter}", _C) for place, letter in zip(range(11, 15), "bcde", strict=True)
    },
    15: ("Mixed_7a", _D),
    16: ("Mixed_7b", _E),
    17: ("Mixed_7c", _E),
}


def inception_recipes(net: Inception3) -> list[Recipe]:
    """Return the recipe for Inception v3 checkpoints of torchvision and timm.

    Args:
        net: The network.
    """
    places = [(f"features.{place}", name) for place, name in _STEM.items()]
    for place, (module, branches) in _MODULES.items():
        for number, branch in enumerate(branches):
            for path, name in _branch(f"features.{place}.{number}", branch):
                places.append((path, f"{module}.{name}"))
    links = [
        link
        for path, name in places
        for link in normalized(f"{path}.0", f"{path}.1", f"{name}.conv", f"{name}.bn")
    ]
    return [
        Recipe(
            "torchvision or timm",
            (*links, Link("output", ("fc",))),
            epsilon=1e-3,
            preprocessing="RGB, (x / 255 - 0.5) / 0.5, 299 x 299 (torchvision's transform_input"
            " makes that of the usual input): not as for the networks of the zoo",
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
