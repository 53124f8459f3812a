"""How long a training step takes on many devices, by a model: no clock, no machine.

A backward pass has gradients ready in buckets, one after the other. Buckets are summed over all
devices in that order, each as soon as it is ready and the one before is through, while the backward
pass goes on; the weights are updated when all sums are there. Before each sum the ranks meet: each
sends a word to rank 0, and rank 0 answers when it has heard all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Link(NamedTuple):
    """What connects two devices.

    Attributes:
        latency_s: Seconds until a message of no bytes is there.
        bytes_per_s: Bandwidth, in each direction.
    """

    latency_s: float
    bytes_per_s: float

    def message_s(self, nbytes: float) -> float:
        """Return the seconds that a message takes."""
        return self.latency_s + nbytes / self.bytes_per_s


def ring_s(devices: int, nbytes: float, link: Link) -> float:
    """Return the seconds of a sum around a ring: 2 (n - 1) messages of a share of the bytes each.

    That is the least that each device can send, and a latency that grows with the devices.
    """
    return 2 * (devices - 1) * link.message_s(nbytes / devices) if devices > 1 else 0.0


def tree_s(devices: int, nbytes: float, link: Link) -> float:
    """Return the seconds of a sum up a binary tree and back: 2 log2(n) messages of all bytes."""
    return 2 * math.ceil(math.log2(devices)) * link.message_s(nbytes)


ALGORITHMS: Mapping[str, Callable[[int, float, Link], float]] = {"ring": ring_s, "tree": tree_s}


class Network(NamedTuple):
    """How devices are connected, and what sums cost besides.

    Attributes:
        between: The link between hosts.
        within: The link between the devices of a host; None where each device is a host.
        per_host: Devices of a host; they are summed before hosts are.
        algorithm: How hosts sum up: a name in `ALGORITHMS`; devices of a host use a ring.
        piece_nbytes: Larger buckets are summed in pieces, one after the other.
        meeting_s: Seconds of a meeting of two ranks.
        meeting_rank_s: Seconds that each further rank adds to it.
    """

    between: Link
    within: Link | None = None
    per_host: int = 1
    algorithm: str = "ring"
    piece_nbytes: float = math.inf
    meeting_s: float = 0.0
    meeting_rank_s: float = 0.0


class Bucket(NamedTuple):
    """Gradients that are summed at once.

    Attributes:
        ready_s: When the last of them is there, in seconds since the step began.
        nbytes: Their bytes.
    """

    ready_s: float
    nbytes: float


class Compute(NamedTuple):
    """A step of one device.

    Attributes:
        buckets: In the order in which they are ready.
        update_s: Seconds from the last sum to the end of the step.
    """

    buckets: Sequence[Bucket]
    update_s: float

    def faster(self, times: float) -> "Compute":
        """Return the same step of a device that is so many times as fast."""
        buckets = [Bucket(x.ready_s / times, x.nbytes) for x in self.buckets]
        return Compute(buckets, self.update_s / times)


def sum_s(network: Network, devices: int, nbytes: float) -> float:
    """Return the seconds of one bucket's sum over devices, with the meeting before it."""
    if devices == 1:
        return 0.0
    pieces = max(1, math.ceil(nbytes / network.piece_nbytes))
    local = min(devices, network.per_host)
    hosts = math.ceil(devices / network.per_host)
    piece_nbytes = nbytes / pieces
    piece_s = 0.0
    if hosts > 1:
        piece_s += ALGORITHMS[network.algorithm](hosts, piece_nbytes, network.between)
    if local > 1:
        piece_s += ring_s(local, piece_nbytes, network.within or network.between)
    return network.meeting_s + (devices - 2) * network.meeting_rank_s + pieces * piece_s


def step_s(compute: Compute, network: Network, devices: int) -> float:
    """Return the seconds of a step on devices, each with a batch of its own."""
    end_s = 0.0
    for bucket in compute.buckets:
        end_s = max(end_s, bucket.ready_s) + sum_s(network, devices, bucket.nbytes)
    return end_s + compute.update_s


def efficiency(compute: Compute, network: Network, devices: int) -> float:
    """Return the samples a second of devices, over as many times those of one: at most 1."""
    return step_s(compute, network, 1) / step_s(compute, network, devices)
