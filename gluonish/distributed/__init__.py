"""The processes of one job: how they find each other, agree, add up, and fail together."""

from gluonish.distributed.channel import Channel, channel
from gluonish.distributed.world import World, world

__all__ = ["Channel", "World", "channel", "world"]
