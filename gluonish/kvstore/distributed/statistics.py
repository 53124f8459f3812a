"""share_statistics: batch statistics, such as SyncBatchNorm's, over all ranks."""

from gluonish.kvstore.distributed.channel import Channel, NamedArray
from gluonish.ndarray import NDArray
from gluonish.ops.support.across_ranks import join_ranks


def share_statistics(channel: Channel) -> None:
    """Use the statistics of all ranks in SyncBatchNorm, summed by exchanges of a channel."""

    def add_up(array: NDArray, what: str) -> None:
        channel.add_up([NamedArray("statistics", array)], what)

    if channel.world.size > 1:
        join_ranks(add_up)
