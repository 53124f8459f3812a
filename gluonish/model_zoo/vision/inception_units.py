"""What the Inception networks are made of: branches of normalized convolutions side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gluonish.block.hybrid_block import HybridBlock
from gluonish.model_zoo.vision.classifier import chain
from gluonish.nn.activation import Activation
from gluonish.nn.batch_norm import BatchNorm
from gluonish.nn.concurrent import HybridConcurrent
from gluonish.nn.conv import Conv2D
from gluonish.nn.pooling import AvgPool2D
from gluonish.nn.sequential import HybridSequential
from gluonish.nn.tensor import Extents

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
    """A convolution without bias, its normalization and its activation.

    Args:
        channels: Number of output channels.
        kernel_size: Extents of the kernel.
        strides: Steps between positions of the kernel.
        padding: Zeros put before and after each spatial axis.
        epsilon: Added to the variance that normalizes.
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
    """A branch that forks: layers, then several convolutions of what those give.

    Args:
        layers: Run one after the other.
        ends: Each runs on the result; their outputs are concatenated.
    """

    layers: Sequence[Layer]
    ends: Sequence[Conv]


Branch = Sequence[Layer] | Split

AVERAGE: Callable[[], HybridBlock] = partial(AvgPool2D, 3, 1, 1)
"""Pooling that keeps the size."""


def normalized_conv(conv: Conv) -> HybridSequential:
    """Return a convolution with what follows it."""
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
    """Append a module to a network, inside whose name scope this is called.

    Args:
        network: What it is appended to.
        name: What the names of the module's parameters begin with.
        branches: Each runs on the module's input; their outputs are concatenated.
    """
    module = HybridConcurrent(axis=1, prefix=f"{name}_")
    with module.name_scope():
        module.add(*[_make(branch) for branch in branches])
    network.add(module)
