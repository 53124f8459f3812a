"""The processes of a distributed job: rendezvous, collectives, servers, and failures."""

from gluonish.kvstore.distributed.channel import Channel, channel
from gluonish.kvstore.distributed.world import World, world

__all__ = ["Channel", "World", "channel", "world"]
