"""SyncStore: a store of many processes, whose weights are the same bits in each.

Gradients are added up over the devices of each process, then over all processes, in pieces of some
megabytes on a thread of their own, as soon as they are there, while the backward pass goes on. Then
each process updates its own copy of the weights, which needs no server, and no weight is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from gluonish.core.context import Context
from gluonish.core.errors import NotSupportedError
from gluonish.kvstore.arguments import Key
from gluonish.kvstore.compression import Compression, compression_from
from gluonish.kvstore.distributed.channel import Channel, Named
from gluonish.kvstore.distributed.new_gradients import NewGradients
from gluonish.kvstore.distributed.pieces import Purpose
from gluonish.kvstore.distributed.statistics import share_statistics
from gluonish.kvstore.kvstore import KVStore, Sum
from gluonish.kvstore.nccl_reduce import NCCLExchange
from gluonish.kvstore.sparse import rows_of, sum_of_rows
from gluonish.ndarray import NDArray


class SyncStore(KVStore):
    """A store that sums over all processes of a job (``dist_sync``); made by `create`.

    All processes make the same calls with the same keys in the same order; if one does not, or is
    missing, all fail with a message that says which. While such a store exists, SyncBatchNorm uses
    the statistics of all processes.

    Args:
        kind: ``"dist_sync"`` or another of MXNet's names for it. With ``device`` in the name the
            arrays of a process are summed on its first device, otherwise on the CPU.
        channel: Connection of the processes.
        nccl: Sums on GPUs; None to sum in host memory.
    """

    def __init__(self, kind: str, channel: Channel, nccl: NCCLExchange | None = None) -> None:
        super().__init__("device" if "device" in kind else "local")
        self._nccl = nccl
        self._kind = kind
        self._channel = channel
        self._codec: Compression | None = None
        self._layers: dict[Key, int] = {}
        self._labels: dict[str, str] = {}
        share_statistics(channel)

    def set_layers(self, keys: Sequence[Key]) -> None:
        """Tell the order of the network's layers, so that what is needed first is sent first.

        Without it the order of the keys in each call is used.

        Args:
            keys: Keys of the arrays, those of the first layers first; the same in all processes.
        """
        self._layers.update({key: i for i, key in enumerate(keys)})

    def set_labels(self, labels: Mapping[Key, str]) -> None:
        """Tell what messages call arrays.

        Args:
            labels: The name of each key's array, which may differ from process to process.
        """
        self._labels.update({repr(key): label for key, label in labels.items()})
        if self._nccl is not None:
            self._nccl.labels = self._labels

    def _named(self, key: Key, array: NDArray) -> Named:
        name = repr(key)
        return Named(name, array, self._labels.get(name, ""))

    def new_gradients(self, mine: NewGradients) -> NewGradients:
        """Return which gradients are new in any process, which all of them add up next.

        All processes call this at the beginning of a step. One whose gradients are all new does
        not wait.

        Args:
            mine: What is new in this process.
        """
        return self._channel.new_gradients(mine)

    def report_stale(self, key: Key) -> None:
        """Have other processes fail in their next exchange, as this one cannot take its step.

        Without effect where all processes call this.

        Args:
            key: Key of a gradient that is not new.
        """
        self._channel.report_stale(self._labels.get(repr(key), repr(key)))

    def _by_layer(self, keys: Sequence[Key]) -> list[int]:
        """Return the positions of keys, those of first layers first."""
        layers = self._layers
        return sorted(range(len(keys)), key=lambda i: layers.get(keys[i], i))

    def init(self, key: Any, value: Any) -> None:
        """Set the initial value of a key, that of rank 0, in every process.

        Args:
            key: An int or a str, or a list of keys, new in the store.
            value: NDArray, or a list with one for each key; only that of rank 0 is used.

        Raises:
            ArgumentError: A key has a value already, or ints and strs are mixed.
        """
        super().init(key, value)
        keys = list(dict.fromkeys(key)) if isinstance(key, list | tuple) else [key]
        for name in keys:
            self._follow_root(name, "init")

    def add_up(self, keys: Sequence[Key], values: Sequence[list[NDArray]]) -> None:
        """Replace arrays by their sums over devices and processes (allreduce); store nothing.

        Args:
            keys: Keys by which other processes know the arrays.
            values: For each key a list with one array per device. Arrays of the last layers are
                sent first, because the backward pass computes their gradients first.
        """
        alone: list[Named] = []
        on_gpus: dict[str, list[NDArray]] = {}
        for i in self._by_layer(keys)[::-1]:
            key, arrays = keys[i], values[i]
            if self.adds_on_gpus(arrays):
                on_gpus[repr(key)] = arrays
            elif len(arrays) > 1 or arrays[0].stype != "default" or self._codec is not None:
                self.pushpull(key, arrays, out=arrays)
            else:
                alone.append(self._named(key, arrays[0]))
        if alone:
            self._channel.add_up(alone, Purpose.of("the sum of", alone[0]))
        self._add_on_gpus(on_gpus, "the sum of")

    def adds_on_gpus(self, arrays: Sequence[NDArray]) -> bool:
        """Whether the arrays of a key are summed by GPUs, without going through host memory.

        Args:
            arrays: The arrays of one key.
        """
        return self._nccl is not None and self._codec is None and self._nccl.serves(arrays)

    def _add_on_gpus(self, of: Mapping[str, Sequence[NDArray]], what: str) -> None:
        """Add up what GPUs take, in buckets of arrays on the same ones."""
        by_devices: dict[tuple[Context, ...], list[str]] = {}
        for name, arrays in of.items():
            by_devices.setdefault(tuple(x.context for x in arrays), []).append(name)
        for names in by_devices.values():
            assert self._nccl is not None, "something was for GPUs"
            self._nccl.add_up(names, [of[name] for name in names], what)

    @property
    def compresses(self) -> bool:
        """Whether gradients are compressed."""
        return self._codec is not None

    def reduce_scatter(
        self, keys: Sequence[Key], values: Sequence[NDArray], edges: Sequence[Sequence[int]]
    ) -> None:
        """Replace each process's share of arrays by its sum over all processes.

        Args:
            keys: Keys by which other processes know the arrays.
            values: Dense arrays. Those of the last layers are sent first, as in `add_up`.
            edges: For each array where each process's share of its elements begins, by rank, and
                the array's size at the end.
        """
        if keys:
            order = self._by_layer(keys)[::-1]
            named = [self._with_share(keys[i], values[i], edges[i]) for i in order]
            what = Purpose.of("shares of", named[0])
            self._channel.reduce_scatter(named, [edges[i] for i in order], what)

    def all_gather(
        self, keys: Sequence[Key], values: Sequence[NDArray], edges: Sequence[Sequence[int]]
    ) -> None:
        """Copy each process's share of arrays to all other processes, first layers first.

        Args:
            keys: Keys by which other processes know the arrays.
            values: Dense arrays.
            edges: As in `reduce_scatter`.
        """
        if keys:
            order = self._by_layer(keys)
            named = [self._with_share(keys[i], values[i], edges[i]) for i in order]
            what = Purpose.of("new weights of", named[0])
            self._channel.all_gather(named, [edges[i] for i in order], what)

    def _with_share(self, key: Key, value: NDArray, edges: Sequence[int]) -> Named:
        """Return an array with a name that differs where processes disagree on its shares."""
        plain, cut = self._named(key, value), f" cut at {','.join(map(str, edges[1:-1]))}"
        label = plain.label and plain.label + cut
        return plain._replace(name=plain.name + cut, label=label)

    def _follow_root(self, name: Any, what: str) -> None:
        stored = self._stored[name]
        named = self._named(name, stored)
        purpose = Purpose.of(f"{what} of", named)
        if stored.stype == "default":
            self._channel.broadcast([named], purpose)
            return
        parts = self._channel.gather(rows_of(stored), purpose)
        self._stored[name] = sum_of_rows(parts[:1], stored)

    def _overwrite(self, key: Any, value: NDArray) -> None:
        super()._overwrite(key, value)
        self._follow_root(key, "a new value")

    def _combine(self, sums: list[Sum]) -> list[Sum]:
        """Return sums over all processes; those of the last layers, there first, go first."""
        if self._codec is not None:
            sums = [self._compressed(self._codec, *each) for each in sums]
        ordered = [sums[i] for i in self._by_layer([key for key, _, _ in sums])]
        dense = [
            self._named(key, total) for key, total, _ in ordered[::-1] if total.stype == "default"
        ]
        on_gpus = {x.name: [x.array] for x in dense if self.adds_on_gpus([x.array])}
        hosts = [named for named in dense if named.name not in on_gpus]
        if hosts:
            self._channel.add_up(hosts, Purpose.of("push of", hosts[0]), self._codec)
        self._add_on_gpus(on_gpus, "push of")
        return [
            (key, total if total.stype == "default" else self._sum_rows(key, total), stored)
            for key, total, stored in sums
        ]

    @staticmethod
    def _compressed(codec: Compression, key: Key, total: NDArray, stored: NDArray) -> Sum:
        """Return a sum as other processes see it; what is lost comes with later ones."""
        if total.stype == "default":
            total = codec.compress(key, 0, total, 0)
        return key, total, stored

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Compress gradients to one or two bits per element; the error is added to later ones.

        Gradients are summed over the devices of a process first, without compression.

        Args:
            compression_params: ``{"type": "2bit", "threshold": 0.5}``, or ``"1bit"``.

        Raises:
            ArgumentError: The parameters are invalid.
        """
        self._codec = compression_from(compression_params)

    def _sum_rows(self, key: Any, total: Any) -> NDArray:
        if total.stype != "row_sparse":
            raise NotSupportedError(
                f"push: expected a dense or row_sparse gradient for {key!r} in a {self._kind} "
                f"store, got {total.stype}"
            )
        purpose = Purpose.of("push of rows of", self._named(key, total))
        parts = self._channel.gather(rows_of(total), purpose)
        return sum_of_rows(parts, total)

    def _small_exchange(self, keys: Any, values: Any, outs: Any) -> None:
        return None

    def _barrier(self) -> None:
        """Wait until all processes have come here."""
        self._channel.barrier()

    barrier = _barrier

    def gather(self, value: Any) -> list[Any]:
        """Return a list of the values that the processes pass, by rank; all must call it.

        Args:
            value: Anything that can be pickled.
        """
        return self._channel.gather(value, "gather")

    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Accepted: there are no servers, every process updates its own copy of the weights."""

    send_command_to_servers = _send_command_to_servers

    @property
    def rank(self) -> int:
        """Rank of this process, from 0."""
        return self._channel.world.rank

    @property
    def num_workers(self) -> int:
        """Number of processes."""
        return self._channel.world.size

    def __reduce__(self) -> NoReturn:
        raise NotSupportedError(
            f"pickle: expected a store of one process, got a {self._kind} store, which each "
            "process makes for itself"
        )
