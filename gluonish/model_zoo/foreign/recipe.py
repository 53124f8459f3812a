"""What a recipe is: which layer of a checkpoint goes to which one of a network, what differs."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["IMAGENET_INPUT", "Identity", "Link", "Recipe", "Step", "normalized"]

IMAGENET_INPUT = (
    "RGB, (x / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]: as for the networks of the zoo"
)


@dataclass(frozen=True)
class Link:
    """A layer with weights: its path in the network and its names in checkpoints.

    Attributes:
        target: Path of the layer in the network, such as ``features.0``.
        sources: Its possible names in checkpoints.
        norm: Path of the batch normalization after it that absorbs its bias, if the network's layer
            has none; empty if there is none.
        channels: Channels of the feature maps that were flattened before a dense layer; 0 if none.
    """

    target: str
    sources: tuple[str, ...]
    norm: str = ""
    channels: int = 0


@dataclass(frozen=True)
class Identity:
    """A 1x1 convolution and its normalization set to the identity, where the source has none.

    Attributes:
        conv: Path of the convolution.
        norm: Path of the normalization.
    """

    conv: str
    norm: str


Step = Link | Identity


@dataclass(frozen=True)
class Recipe:
    """How a checkpoint of one library becomes the weights of a network.

    Attributes:
        origin: Library of the checkpoints, such as ``"torchvision"``.
        steps: The layers, in the order of the network; the last is its head.
        epsilon: Epsilon of the library's batch normalization.
        preprocessing: How images must be preprocessed for these weights.
        keras: Whether names and layouts are those of Keras.
        obstacle: Why outputs will differ from the origin's; empty if they will not.
        left_out: Prefixes of layers that the network neither has nor needs, each with the reason.
    """

    origin: str
    steps: tuple[Step, ...]
    epsilon: float = 1e-5
    preprocessing: str = IMAGENET_INPUT
    keras: bool = False
    obstacle: str = ""
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def links(self) -> Iterable[Link]:
        """The steps that read weights from the checkpoint."""
        return (step for step in self.steps if isinstance(step, Link))


def normalized(conv: str, norm: str, conv_source: str, norm_source: str) -> tuple[Link, Link]:
    """Return the links of a convolution and the batch normalization after it.

    Args:
        conv: Path of the convolution in the network.
        norm: Path of the normalization in the network.
        conv_source: Name of the convolution in checkpoints.
        norm_source: Name of the normalization in checkpoints.
    """
    return Link(conv, (conv_source,), norm=norm), Link(norm, (norm_source,))
