"""The hint for images with channels last that reach a convolution with channels first."""

from collections.abc import Collection, Sequence
from typing import Any

from gluonish.core.program_lines import warn_at_line
from gluonish.core.spec import UNKNOWN
from gluonish.gluon.block.block_errors import described_block, owner_of
from gluonish.graph.inference import Inference

_SMALLEST = 16  # height and width of an image


def looks_channels_last(shape: Sequence[int]) -> bool:
    """Whether a shape (N, ...) is rather that of images (N, H, W, C) than (N, C, H, W).

    Feature maps may have any sizes, so that a last axis of 1 counts for square images only.
    """
    if len(shape) != 4 or UNKNOWN in shape:
        return False
    _, height, width, channels = shape
    if min(height, width) < _SMALLEST:
        return False
    return channels in (3, 4) or (channels == 1 and height == width)


def channels_last_hint(shape: Sequence[int]) -> str:
    """Return what to do about images with channels last, for messages."""
    return (
        f"got {tuple(shape)}, which looks like (N, H, W, C); use transforms.ToTensor(), "
        "x.transpose((0, 3, 1, 2)), or layers with layout='NHWC'"
    )


def warn_of_channels_last(network: Any, inferred: Inference, unknown: Collection[str]) -> None:
    """Warn if a convolution infers its channels from images with channels last.

    Args:
        network: The Block that is called.
        inferred: Its graph, with shapes.
        unknown: Names of the parameters whose shapes were unknown.
    """
    for node in inferred.nodes:
        if node.op is None or node.op.name != "Convolution" or len(node.inputs) < 2:
            continue
        data = inferred.spec(node.inputs[0])
        is_first = node.inputs[1].node.name in unknown and node.attrs["layout"] in (None, "NCHW")
        if is_first and data.shape is not None and looks_channels_last(data.shape):
            owner = owner_of(node.name, network)
            what = described_block(network if owner is None else owner)
            warn_at_line(
                f"{what}: expected images (N, C, H, W), {channels_last_hint(data.shape)}; "
                f"in_channels={data.shape[1]} asks for this shape without a warning"
            )
            return
