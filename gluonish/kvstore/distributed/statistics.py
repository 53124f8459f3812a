"""Statistics of batches, such as SyncBatchNorm's, over all ranks."""

from gluonish.kvstore.distributed.channel import Channel, Named
from gluonish.ndarray import NDArray
from gluonish.ops.support.across_ranks import join_ranks


def share_statistics(channel: Channel) -> None:
    """Let SyncBatchNorm use the statistics of all ranks from now on, if there are several.

    Args:
        channel: Connection of the ranks; sums are in the order of its exchanges.
    """

    def add_up(array: NDArray, what: str) -> None:
        channel.add_up([Named("statistics", array)], what)

    if channel.world.size > 1:
        join_ranks(add_up)
