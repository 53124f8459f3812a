"""What one rank of `scaling.py` runs: a real step or a replayed one, over links that it slows.

The links: in this process, and for this benchmark only, the store's communicator is one whose sums
go around a ring of real messages, each of which is on its way for a given latency and for its bytes
at a given bandwidth; and a meeting of ranks takes two latencies more.

    python -m benchmarks.cpu.scaling_rank '{"mode": "links", "latency_s": 1e-3, "bytes_per_s": 1e8}'

prints, on rank 0, one line of JSON:

links   seconds of a message of hardly any bytes, of one of half a piece, and of a meeting; on one
        rank those of a message that rank 0 sends and hears in a meeting
real    a training step: its seconds, and for each sum its bytes and when its gradients were ready;
        with ``"sums": false`` each rank trains alone, beside the others
replay  the seconds of a step whose compute is waiting for as long as ``buckets`` say
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gluonish.gluon.model_zoo import vision

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.engine import current_engine
from gluonish.kvstore.distributed import Channel, channel
from gluonish.kvstore.distributed.host_memory import Messages
from gluonish.kvstore.distributed.observers import Exchange, observers
from gluonish.kvstore.distributed.rendezvous import Rendezvous, wait_for_ranks

PIECE_NBYTES = 1 << 20  # of which the store makes large sums


class SlowLinks:
    """A communicator whose sums take as long as slow links make them.

    Args:
        comm: The communicator, for all else.
        latency_s: Of a message.
        bytes_per_s: Of a link; 0 for as fast as it goes.
    """

    def __init__(self, comm: Any, latency_s: float, bytes_per_s: float) -> None:
        self._comm = comm
        self._latency_s = latency_s
        self._s_per_byte = 1 / bytes_per_s if bytes_per_s else 0.0
        self.messages = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def Allreduce(self, _: Any, values: Any) -> None:  # MPI's name
        """Sum in place: a share goes around and is added up, then the sums go around."""
        size, rank = self._comm.size, self._comm.rank
        shares = np.array_split(values, size)
        for turn in range(size - 1):
            heard = self.pass_on(shares[(rank - turn) % size], shares[(rank - turn - 1) % size])
            shares[(rank - turn - 1) % size] += heard
        for turn in range(size - 1):
            share = shares[(rank - turn) % size]
            share[...] = self.pass_on(shares[(rank + 1 - turn) % size], share)

    def pass_on(self, sent: Any, like: Any) -> Any:
        """Send to the next rank, and return what the one before sent, once it is here."""
        size, rank = self._comm.size, self._comm.rank
        heard, start = np.empty_like(like), time.perf_counter()
        requests = [self._comm.Irecv(heard, (rank - 1) % size)]
        requests.append(self._comm.Isend(sent, (rank + 1) % size))
        left = start + self._latency_s + heard.nbytes * self._s_per_byte - time.perf_counter()
        time.sleep(max(0.0, left))
        # A network would not take the core that computes: no waiting inside of MPI.
        wait_for_ranks(requests, 60.0)
        self.messages += 1
        return heard


def slow_down(ranks: Channel, latency_s: float, bytes_per_s: float) -> SlowLinks:
    """Have a channel's sums and meetings go over slow links.

    As between hosts, they are messages: what ranks of one host share is not used.
    """
    links = SlowLinks(ranks.world.values, latency_s, bytes_per_s)
    ranks.world.values = links
    ranks._transport, ranks._rendezvous = Messages(ranks.world), Rendezvous(ranks.world)
    arrive: Callable[[Rendezvous, str], None] = Rendezvous.arrive

    def slowly(self: Rendezvous, words: str) -> None:
        arrive(self, words)
        if latency_s and ranks.world.size > 1:
            time.sleep(2 * latency_s)

    Rendezvous.arrive = slowly  # type: ignore[method-assign]  # of this process
    return links


def measure_links(links: SlowLinks, ranks: Channel) -> dict[str, float]:
    """Return what messages and meetings take."""
    found = {}
    for name, nbytes in (("small_s", 4), ("piece_s", PIECE_NBYTES // 2)):
        data = np.zeros(nbytes // 4, np.float32)
        found[name] = _median(lambda data=data: links.pass_on(data, data), 40)
    return {**found, "meeting_s": _median(ranks.barrier, 60)}


def measure_messages(ranks: Channel) -> dict[str, float]:
    """Return what hearing and answering one more rank costs rank 0 in a meeting."""
    comm = ranks.world.mpi.COMM_SELF.Dup()
    said, heard = np.zeros(512, np.uint8), np.zeros(512, np.uint8)

    def act() -> None:
        requests = [comm.Irecv(heard, 0), comm.Isend(said, 0)]
        while not all(request.Test() for request in requests):
            """Both are there at once."""

    return {"message_s": _median(act, 2000)}


def _median(act: Callable[[], object], count: int) -> float:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return statistics.median(times[count // 4 :])


def real(settings: dict[str, Any], store: Any) -> dict[str, Any]:
    """Train ResNet-18, and return a step's seconds and its sums."""
    batch = settings["batch_size"]
    net = vision.resnet18_v1(classes=100)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    data, label = nd.random.uniform(shape=(batch, 3, 64, 64)), nd.zeros((batch,))
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    loss.hybridize()
    options = {"learning_rate": 0.01, "momentum": 0.9}
    sums = settings.get("sums", True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", options, kvstore=store if sums else None)
    told: list[Exchange] = []
    observers.append(told.append)
    steps: list[list[float]] = []
    sent: list[tuple[int, ...]] = []
    for _ in range(settings["steps"]):
        store.barrier()
        told.clear()
        start_ns = time.perf_counter_ns()
        with autograd.record():
            out = loss(net(data), label)
        out.backward()
        trainer.step(batch * store.num_workers)
        nd.waitall()
        seconds = (time.perf_counter_ns() - start_ns) / 1e9
        sent.append(tuple(x.nbytes for x in told))
        ready = [(x.start_ns - start_ns) / 1e9 for x in told]
        through = (told[-1].stop_ns - start_ns) / 1e9 if told else 0.0
        steps.append([seconds, *ready, through])
    usual = sent[-1]
    kept = [step for step, nbytes in zip(steps, sent, strict=True) if nbytes == usual]
    seconds, *ready, through = map(statistics.median, zip(*kept[len(kept) // 3 :], strict=True))
    buckets = [list(x) for x in zip(ready, usual, strict=True)]
    return {"step_s": seconds, "buckets": buckets, "update_s": seconds - through}


def replay(settings: dict[str, Any], store: Any) -> dict[str, Any]:
    """Wait where a device would compute, and return the seconds of a step."""
    buckets, update_s = settings["buckets"], settings["update_s"]
    arrays = [nd.zeros((int(nbytes) // 4,)) for _, nbytes in buckets]
    lane, engine = ("device", 0, "compute"), current_engine()
    nd.waitall()
    times = []
    for _ in range(settings["steps"]):
        store.barrier()
        start = time.perf_counter()
        for (ready_s, _), array in zip(buckets, arrays, strict=True):
            engine.push(lambda at=start + ready_s: _wait_until(at), (), [array._var], lane)
        # The store takes later keys first: the first bucket is that of the last layers.
        for key, array in enumerate(arrays):
            store.allreduce([key], [[array]])
        variables = [array._var for array in arrays]
        engine.push(lambda: time.sleep(update_s), (), variables, lane)
        nd.waitall()
        times.append(time.perf_counter() - start)
    return {"step_s": statistics.median(times[len(times) // 4 :])}


def _wait_until(at: float) -> None:
    time.sleep(max(0.0, at - time.perf_counter()))


def main() -> None:
    """Do what the argument says."""
    settings = json.loads(sys.argv[1])
    store = mx.kv.create("dist_sync")
    ranks = channel()
    links = slow_down(ranks, settings["latency_s"], settings["bytes_per_s"])
    if settings["mode"] == "links":
        alone = store.num_workers == 1
        found: dict[str, Any] = measure_messages(ranks) if alone else measure_links(links, ranks)
    else:
        found = {"real": real, "replay": replay}[settings["mode"]](settings, store)
        if store.num_workers > 1 and settings.get("sums", True) and not links.messages:
            raise SystemExit("scaling: the store's sums went past the slowed links")
    if store.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
