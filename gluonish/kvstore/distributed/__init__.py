"""The processes of one job: how they find each other, agree, add up, and fail together."""

from gluonish.kvstore.distributed.channel import Channel, channel
from gluonish.kvstore.distributed.world import World, world

__all__ = ["Channel", "World", "channel", "world"]
