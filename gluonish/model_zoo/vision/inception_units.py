"""What the Inception networks are made of: branches of normalized convolutions side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import AvgPool2D
from gluonish.gluon.nn.sequential import HybridConcurrent, HybridSequential
from gluonish.gluon.nn.tensor import Extents
from gluonish.model_zoo.vision.classifier import chain

__all__ = [
    "AVERAGE",
    "Branch",
    "Conv",
    "Layer",
    "Split",
    "add_module",
    "normalized_conv",
]


@dataclass(frozen=True, slots=True)
class Conv:
    """A convolution without bias, batch normalization and ReLU.

    Args:
        channels: Number of output channels.
        kernel_size: Height and width of the kernel.
        strides: Step of the kernel along each spatial axis.
        padding: Number of zeros added to both ends of each spatial axis.
        epsilon: Epsilon of the batch normalization.
    """

    channels: int
    kernel_size: Extents = 1
    strides: Extents = 1
    padding: Extents = 0
    epsilon: float = 1e-5


# A layer without weights is made by calling.
Layer = Conv | Callable[[], HybridBlock]


@dataclass(frozen=True, slots=True)
class Split:
    """A branch that forks: a chain of layers, then several convolutions of its output.

    Args:
        layers: Layers that run first, one after the other.
        ends: Layers that each run on the result; their outputs are concatenated.
    """

    layers: Sequence[Layer]
    ends: Sequence[Conv]


Branch = Sequence[Layer] | Split

AVERAGE: Callable[[], HybridBlock] = partial(AvgPool2D, 3, 1, 1)
"""Pooling that keeps the size."""


def normalized_conv(conv: Conv) -> HybridSequential:
    """Return a convolution followed by batch normalization and activation.

    Args:
        conv: Description of the convolution.
    """
    return chain(
        Conv2D(conv.channels, conv.kernel_size, conv.strides, conv.padding, use_bias=False),
        BatchNorm(epsilon=conv.epsilon),
        Activation("relu"),
    )


def _make(branch: Branch) -> HybridSequential:
    if isinstance(branch, Split):
        stem = _make(branch.layers)
        ends = HybridConcurrent(axis=1, prefix="")
        ends.add(*[_make([end]) for end in branch.ends])
        return chain(stem, ends)
    return chain(
        *[normalized_conv(layer) if isinstance(layer, Conv) else layer() for layer in branch]
    )


def add_module(network: HybridSequential, name: str, branches: Sequence[Branch]) -> None:
    """Append an Inception module to a network; call it inside the network's name scope.

    Args:
        network: Network to append to.
        name: Prefix of the names of the module's parameters.
        branches: Layers that each run on the module's input; their outputs are concatenated.
    """
    module = HybridConcurrent(axis=1, prefix=f"{name}_")
    with module.name_scope():
        module.add(*[_make(branch) for branch in branches])
    network.add(module)
