"""Inception with batch normalization, from MXNet's benchmarks, not its model zoo.

References:
    S. Ioffe, C. Szegedy, Batch Normalization: Accelerating Deep Network Training by Reducing
    Internal Covariate Shift, 2015. Modules 4c and 4d have 608 channels: the paper's table has 576,
    which is not the sum of the listed filters.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense, Flatten
from gluonish.gluon.nn.pooling import GlobalAvgPool2D, MaxPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, load_published
from gluonish.model_zoo.vision.inception import (
    AVERAGE,
    Branch,
    Conv,
    add_module,
    normalized_conv,
)

_CPU = cpu()
_MAXIMUM: Callable[[], HybridBlock] = partial(MaxPool2D, 3, 1, 1)
_MAXIMUM_HALVING: Callable[[], HybridBlock] = partial(MaxPool2D, 3, 2, 1)


def _module(
    single: int,
    reduced: int,
    middle: int,
    reduced_twice: int,
    double: int,
    pool: Callable[[], HybridBlock],
    projected: int,
) -> list[Branch]:
    """Return a module that preserves the size.

    Args:
        single: Channels of the 1x1 convolution.
        reduced: Channels before the 3x3 convolution.
        middle: Channels of the 3x3 convolution.
        reduced_twice: Channels before the two 3x3 convolutions.
        double: Channels of each of the two 3x3 convolutions.
        pool: Pooling layer of the pooling branch.
        projected: Channels after pooling.
    """
    return [
        [Conv(single)],
        [Conv(reduced), Conv(middle, 3, 1, 1)],
        [Conv(reduced_twice), Conv(double, 3, 1, 1), Conv(double, 3, 1, 1)],
        [pool, Conv(projected)],
    ]


def _halving(reduced: int, middle: int, reduced_twice: int, double: int) -> list[Branch]:
    """Return a module that halves the size; its pooling branch has no convolution."""
    return [
        [Conv(reduced), Conv(middle, 3, 2, 1)],
        [Conv(reduced_twice), Conv(double, 3, 1, 1), Conv(double, 3, 2, 1)],
        [_MAXIMUM_HALVING],
    ]


_MODULES: dict[str, list[Branch]] = {
    "3a": _module(64, 64, 64, 64, 96, AVERAGE, 32),
    "3b": _module(64, 64, 96, 64, 96, AVERAGE, 64),
    "3c": _halving(128, 160, 64, 96),
    "4a": _module(224, 64, 96, 96, 128, AVERAGE, 128),
    "4b": _module(192, 96, 128, 96, 128, AVERAGE, 128),
    "4c": _module(160, 128, 160, 128, 160, AVERAGE, 128),
    "4d": _module(96, 128, 192, 160, 192, AVERAGE, 128),
    "4e": _halving(128, 192, 192, 256),
    "5a": _module(352, 192, 320, 160, 224, AVERAGE, 128),
    "5b": _module(352, 192, 320, 192, 224, _MAXIMUM, 128),
}


class InceptionBN(Classifier):
    """Inception with batch normalization, inception-bn in MXNet's benchmark tables.

    Args:
        classes: Number of classes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), of 224 by 224 in the paper.

    Outputs:
        y: (N, classes) logits.
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            self.features.add(
                normalized_conv(Conv(64, 7, 2, 3)),
                _MAXIMUM_HALVING(),
                normalized_conv(Conv(64)),
                normalized_conv(Conv(192, 3, 1, 1)),
                _MAXIMUM_HALVING(),
            )
            for name, branches in _MODULES.items():
                add_module(self.features, name, branches)
            self.features.add(GlobalAvgPool2D(), Flatten())
            self.output = Dense(classes)


@register_model("inception_bn")
def inception_bn(
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> InceptionBN:
    """Create Inception with batch normalization.

    Args:
        pretrained: Must be False: no weights were published for this network.
        ctx: Unused; accepted for consistency with the other networks.
        root: Unused; accepted for consistency with the other networks.
        **kwargs: Arguments of `InceptionBN`, such as ``classes``.

    Raises:
        ArgumentError: ``pretrained`` is True.
    """
    network = InceptionBN(**kwargs)
    if pretrained:
        load_published(network, "inception_bn", ctx, root)
    return network
