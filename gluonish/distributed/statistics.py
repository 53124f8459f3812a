"""Statistics of batches, such as SyncBatchNorm's, over all ranks."""

from gluonish.distributed.channel import Channel, Named
from gluonish.ndarray import NDArray
from gluonish.ops.support.across_ranks import join_ranks

__all__ = ["share_statistics"]


def share_statistics(channel: Channel) -> None:
    """Have statistics be those of all ranks from now on, if there are several.

    Args:
        channel: What connects the ranks; they sum in the order of their exchanges.
    """

    def add_up(array: NDArray, what: str) -> None:
        channel.add_up([Named("statistics", array)], what)

    if channel.world.size > 1:
        join_ranks(add_up)
