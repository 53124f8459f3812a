"""What a recipe is: which layer of a checkpoint goes to which one of a network, what differs."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["IMAGENET_INPUT", "Identity", "Link", "Recipe", "Step", "normalized"]

IMAGENET_INPUT = (
    "RGB, (x / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]: as for the networks of the zoo"
)


@dataclass(frozen=True)
class Link:
    """A layer with weights, and where they are.

    Attributes:
        target: Path of the layer in the network, such as ``features.0``.
        sources: What it is called in checkpoints, in one of several ways.
        norm: Path of the normalization that follows and takes the bias, where the layer of the
            network has none; empty for none.
        channels: Number of channels of the maps that were flattened in front of a dense layer; 0
            for none.
    """

    target: str
    sources: tuple[str, ...]
    norm: str = ""
    channels: int = 0


@dataclass(frozen=True)
class Identity:
    """A 1x1 convolution and its normalization that pass on their input, where the source has none.

    Attributes:
        conv: Path of the convolution.
        norm: Path of the normalization.
    """

    conv: str
    norm: str


Step = Link | Identity


@dataclass(frozen=True)
class Recipe:
    """How a checkpoint of one origin becomes the weights of a network.

    Attributes:
        origin: Whose checkpoints these are, such as ``"torchvision"``.
        steps: In the order of the network; the last is its head.
        epsilon: What normalizations of the origin add to the variance.
        preprocessing: What the weights expect of the image.
        keras: Whether the names are those of Keras.
        obstacle: Why outputs will differ from the origin's; empty where they will not.
        left_out: What layers begin with that the network does not have and does not need, with
            the reason.
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
        """The steps that take something from the checkpoint."""
        return (step for step in self.steps if isinstance(step, Link))


def normalized(conv: str, norm: str, conv_source: str, norm_source: str) -> tuple[Link, Link]:
    """Return the links of a convolution and the normalization behind it."""
    return Link(conv, (conv_source,), norm=norm), Link(norm, (norm_source,))
