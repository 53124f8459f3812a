"""Heads of vision transformers: scores of classes."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.tensor import Extents, Tensor, check_positive
from gluonish.initializer import Normal
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.pretrained.labels import LabelSetting
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import WithTransform, load_published

__all__ = ["DistilledClassifier", "ImageClassifier"]

_INIT = Normal(0.02)
_POOLINGS = ("token", "mean", "token_mean")
_CPU = cpu()


def first_token(F: ModuleType, features: Any, index: int = 0) -> Any:
    """Return the features (N, C) of one position of (N, T, C)."""
    return F.squeeze(F.slice_axis(features, axis=1, begin=index, end=index + 1), axis=1)


class _Head(WithTransform):
    """Base class of the heads.

    Attributes:
        body: The network that gives the features.
    """

    body: Any

    def __call__(self, images: Any, *args: Any) -> Any:
        """Check the size of the images, and compute the network."""
        self.body.embedding.check(images, type(self).__name__)
        return super().__call__(images, *args)

    @property
    def _image_size(self) -> tuple[int, int]:
        size: tuple[int, int] = self.body.embedding.image_size
        return size

    def set_image_size(self, image_size: Extents) -> None:
        """Make vectors of positions for images of another size; see `ImageTokens`.

        Args:
            image_size: Height and width of the images in pixels; one number for both.
        """
        self.body.set_image_size(image_size)


class ImageClassifier(_Head):
    """Scores of classes: ``y = pool(body(images)) W^T + b``.

    Args:
        body: Network that gives features (N, T, C), such as `ViT`.
        classes: Number of classes.
        pooling: ``"token"`` for the first position, ``"mean"`` for the mean of all, or
            ``"token_mean"`` for the first one and the mean of the others, joined.
        **kwargs: See `HybridBlock`.

    Inputs:
        images: (N, channels, height, width).

    Outputs:
        scores: (N, classes).

    Raises:
        ArgumentError: ``classes`` is below 1, or there is no such pooling.
    """

    @keeps_arguments
    def __init__(
        self, body: HybridBlock, classes: int = 1000, pooling: str = "token", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.body, units = _checked(type(self).__name__, body, classes)
        if pooling not in _POOLINGS:
            raise ArgumentError(
                f"ImageClassifier: expected pooling {', '.join(_POOLINGS)}, got {pooling!r}"
            )
        self._pooling = pooling
        units = 2 * units if pooling == "token_mean" else units
        with self.name_scope():
            self.head = Dense(classes, in_units=units, weight_initializer=_INIT, prefix="head_")

    def hybrid_forward(self, F: ModuleType, images: Tensor) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            images: (N, channels, height, width).
        """
        features = _features(self.body(images))
        if self._pooling == "mean":
            return self.head(F.mean(features, axis=1))
        pooled = first_token(F, features)
        if self._pooling == "token_mean":
            rest = F.mean(F.slice_axis(features, axis=1, begin=1, end=None), axis=1)
            pooled = F.concat(pooled, rest, dim=1)
        return self.head(pooled)


class DistilledClassifier(_Head):
    """Mean of the scores of two heads, of the class token and of the distillation token.

    Args:
        body: Network whose first two features are of these tokens: `DeiT`.
        classes: Number of classes.
        both: Whether the outputs are the scores of each head, as losses need them.
        **kwargs: See `HybridBlock`.

    Inputs:
        images: (N, channels, height, width).

    Outputs:
        scores: (N, classes); with ``both``, a pair of them.

    Raises:
        ArgumentError: ``classes`` is below 1.

    References:
        H. Touvron et al., Training Data-Efficient Image Transformers and Distillation through
        Attention, 2021.
    """

    @keeps_arguments
    def __init__(
        self, body: HybridBlock, classes: int = 1000, both: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.body, units = _checked(type(self).__name__, body, classes)
        self._both = bool(both)
        options: dict[str, Any] = {"in_units": units, "weight_initializer": _INIT}
        with self.name_scope():
            self.head = Dense(classes, prefix="head_", **options)
            self.distillation_head = Dense(classes, prefix="distillation_head_", **options)

    def hybrid_forward(self, F: ModuleType, images: Tensor) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            images: (N, channels, height, width).
        """
        features = _features(self.body(images))
        first = self.head(first_token(F, features))
        second = self.distillation_head(first_token(F, features, 1))
        return (first, second) if self._both else (first + second) / 2


def _checked(name: str, body: Any, classes: int) -> tuple[Any, int]:
    """Return a body and the number of its features.

    Raises:
        ArgumentError: It is no body of a vision transformer, or there are no classes.
    """
    check_positive(name, classes=classes)
    positions = getattr(getattr(body, "embedding", None), "positions", None)
    if positions is None:
        raise ArgumentError(
            f"{name}: expected the body of a vision transformer, got {type(body).__name__}"
        )
    return body, positions.shape[1]


def _features(made: Any) -> Any:
    """Return the features of what a body computed, which may have an embedding beside them."""
    return made[0] if isinstance(made, list | tuple) else made


CLASSES = LabelSetting(named=False)


def register_sizes(
    body: Callable[..., HybridBlock],
    sizes: Mapping[str, Mapping[str, Any]],
    head: Callable[..., HybridBlock] | None,
    classes: int | None = 1000,
) -> None:
    """Register networks with `get_model`.

    Args:
        body: Class of the body, or of the network if there is no head.
        sizes: Arguments of the class by name of the model.
        head: Class of the head; None for none.
        classes: Default number of classes; None for the body alone.
    """
    for name, options in sizes.items():
        register_model(name, "transformers")(_maker(name, body, options, head, classes))


def _maker(
    name: str,
    body: Callable[..., HybridBlock],
    options: Mapping[str, Any],
    head: Callable[..., HybridBlock] | None,
    usual: int | None,
) -> Callable[..., HybridBlock]:
    def make(
        pretrained: bool = False,
        ctx: Context | Sequence[Context] = _CPU,
        root: str | os.PathLike[str] | None = None,
        classes: int | None = usual,
        **changes: Any,
    ) -> HybridBlock:
        if head is None and classes is not None:
            raise ArgumentError(f"get_model: expected {name} without classes, got {classes}")
        network = body(**{**options, **changes})
        if head is not None and classes is not None:
            network = head(network, classes)
        if pretrained:
            load_published(network, name, ctx, root)
        return network

    return make
