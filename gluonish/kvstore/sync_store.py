"""SyncStore: a store of many processes with bitwise equal weights.

Gradients are summed over the devices of each process, then over all processes, in buckets of some
megabytes on a dedicated thread, as soon as they are computed and concurrently with the backward
pass. Then each process updates its copy of the weights: there is no server, and no weight is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from gluonish.core.context import Context
from gluonish.core.errors import NotSupportedError
from gluonish.kvstore.arguments import Key
from gluonish.kvstore.compression import Compression, compression_from
from gluonish.kvstore.distributed.channel import Channel, NamedArray, share_statistics
from gluonish.kvstore.distributed.pieces import Purpose
from gluonish.kvstore.distributed.rendezvous import NewGradients
from gluonish.kvstore.gpu_sums import GPUSums
from gluonish.kvstore.kvstore import KVStore, Sum
from gluonish.kvstore.nccl_exchange import NCCLExchange
from gluonish.kvstore.sparse import rows_of, sum_of_rows
from gluonish.ndarray import NDArray


class SyncStore(KVStore):
    """A store that sums over all processes of a job (``dist_sync``); created by `create`.

    All processes must make the same calls with the same keys in the same order. If a process is
    missing or makes another call, all fail with a message that names it. While such a store exists,
    SyncBatchNorm uses the statistics of all processes.

    Args:
        kind: ``"dist_sync"`` or another of its names in MXNet. With ``device`` in the name the
            arrays of a process are summed on its first device, otherwise on the CPU.
        channel: Connection of the processes.
        nccl: Sums on GPUs; None to sum in host memory.
    """

    def __init__(self, kind: str, channel: Channel, nccl: NCCLExchange | None = None) -> None:
        super().__init__("device" if "device" in kind else "local")
        self._gpu_sums = GPUSums(None, searches=False)  # `nccl` sums over all ranks at once
        self._nccl = nccl
        self._kind = kind
        self._channel = channel
        self._codec: Compression | None = None
        self._labels: dict[str, str] = {}
        share_statistics(channel)

    def set_labels(self, labels: Mapping[Key, str]) -> None:
        """Set the names of arrays in messages, which may differ between processes."""
        self._labels.update({repr(key): label for key, label in labels.items()})
        if self._nccl is not None:
            self._nccl.labels = self._labels

    def _named(self, key: Key, array: NDArray) -> NamedArray:
        name = repr(key)
        return NamedArray(name, array, self._labels.get(name, ""))

    def new_gradients(self, mine: NewGradients) -> NewGradients:
        """Return the gradients that are new in any process, which all processes sum next.

        All processes call this at the beginning of a step. A process whose gradients are all new
        does not wait.

        Args:
            mine: The new gradients of this process.
        """
        return self._channel.new_gradients(mine)

    def report_stale(self, key: Key) -> None:
        """Make other processes fail in their next exchange, as this process cannot run its step.

        No effect if all processes call this.

        Args:
            key: Key of a stale gradient.
        """
        self._channel.report_stale(self._labels.get(repr(key), repr(key)))

    def init(self, key: Any, value: Any) -> None:
        """Set the initial value of a key in every process to that of rank 0.

        Args:
            key: An int or a str, or a list of keys, new in the store.
            value: NDArray, or a list with one for each key; only the values of rank 0 are used.

        Raises:
            ArgumentError: A key already has a value, or ints and strs are mixed.
        """
        super().init(key, value)
        keys = list(dict.fromkeys(key)) if isinstance(key, list | tuple) else [key]
        for name in keys:
            self._broadcast_stored(name, "init")

    def allreduce(self, keys: Sequence[Key], values: Sequence[list[NDArray]]) -> None:
        """Replace arrays by their sums over devices and processes; stored values are unchanged.

        Args:
            keys: Keys of the arrays, the same in all processes.
            values: For each key a list with one array per device. Arrays of the last layers are
                sent first, because the backward pass computes their gradients first.
        """
        on_host: list[NamedArray] = []
        on_gpus: dict[str, list[NDArray]] = {}
        for i in self._by_layer(keys)[::-1]:
            key, arrays = keys[i], values[i]
            if self.sums_on_gpus(arrays):
                on_gpus[repr(key)] = arrays
            elif len(arrays) > 1 or arrays[0].stype != "default" or self._codec is not None:
                self.pushpull(key, arrays, out=arrays)
            else:
                on_host.append(self._named(key, arrays[0]))
        if on_host:
            self._channel.allreduce(on_host, Purpose.of("the sum of", on_host[0]))
        self._sum_on_gpus(on_gpus, "the sum of")

    def sums_on_gpus(self, arrays: Sequence[NDArray]) -> bool:
        """Whether the arrays of a key are summed on GPUs, without copies to host memory."""
        return self._nccl is not None and self._codec is None and self._nccl.can_sum(arrays)

    def _sum_on_gpus(self, arrays_of: Mapping[str, Sequence[NDArray]], what: str) -> None:
        """Sum arrays on GPUs, in buckets of arrays on the same devices."""
        by_devices: dict[tuple[Context, ...], list[str]] = {}
        for name, arrays in arrays_of.items():
            by_devices.setdefault(tuple(x.context for x in arrays), []).append(name)
        for names in by_devices.values():
            assert self._nccl is not None, "there are arrays for GPUs"
            self._nccl.allreduce(names, [arrays_of[name] for name in names], what)

    @property
    def compresses(self) -> bool:
        """Whether gradients are compressed."""
        return self._codec is not None

    def reduce_scatter(
        self, keys: Sequence[Key], values: Sequence[NDArray], edges: Sequence[Sequence[int]]
    ) -> None:
        """Replace each process's shard of arrays by its sum over all processes.

        Args:
            keys: Keys of the arrays, the same in all processes.
            values: Dense arrays. Arrays of the last layers are sent first, as in `allreduce`.
            edges: For each array the first element of each process's shard, by rank, and the
                array's size at the end.
        """
        if keys:
            order = self._by_layer(keys)[::-1]
            named = [self._sharded(keys[i], values[i], edges[i]) for i in order]
            what = Purpose.of("shares of", named[0])
            self._channel.reduce_scatter(named, [edges[i] for i in order], what)

    def all_gather(
        self, keys: Sequence[Key], values: Sequence[NDArray], edges: Sequence[Sequence[int]]
    ) -> None:
        """Copy each process's shard of arrays to all other processes, first layers first.

        Args:
            keys: Keys of the arrays, the same in all processes.
            values: Dense arrays.
            edges: As in `reduce_scatter`.
        """
        if keys:
            order = self._by_layer(keys)
            named = [self._sharded(keys[i], values[i], edges[i]) for i in order]
            what = Purpose.of("new weights of", named[0])
            self._channel.all_gather(named, [edges[i] for i in order], what)

    def _sharded(self, key: Key, value: NDArray, edges: Sequence[int]) -> NamedArray:
        """Return an array whose name contains its edges, so that processes must agree on them."""
        named, suffix = self._named(key, value), f" cut at {','.join(map(str, edges[1:-1]))}"
        label = named.label and named.label + suffix
        return named._replace(name=named.name + suffix, label=label)

    def _broadcast_stored(self, name: Any, what: str) -> None:
        stored = self._stored[name]
        named = self._named(name, stored)
        purpose = Purpose.of(f"{what} of", named)
        if stored.stype == "default":
            self._channel.broadcast([named], purpose)
            return
        rows = self._channel.gather(rows_of(stored), purpose)
        self._stored[name] = sum_of_rows(rows[:1], stored)

    def _overwrite(self, key: Any, value: NDArray) -> None:
        super()._overwrite(key, value)
        self._broadcast_stored(key, "a new value")

    def _combine(self, sums: list[Sum]) -> list[Sum]:
        """Return sums over all processes; the last layers, computed first, are sent first."""
        if self._codec is not None:
            sums = [self._compressed(self._codec, *item) for item in sums]
        ordered = [sums[i] for i in self._by_layer([key for key, _, _ in sums])]
        dense = [
            self._named(key, total) for key, total, _ in ordered[::-1] if total.stype == "default"
        ]
        on_gpus = {x.name: [x.array] for x in dense if self.sums_on_gpus([x.array])}
        hosts = [named for named in dense if named.name not in on_gpus]
        if hosts:
            self._channel.allreduce(hosts, Purpose.of("push of", hosts[0]), self._codec)
        self._sum_on_gpus(on_gpus, "push of")
        return [
            (key, total if total.stype == "default" else self._sum_rows(key, total), stored)
            for key, total, stored in sums
        ]

    @staticmethod
    def _compressed(codec: Compression, key: Key, total: NDArray, stored: NDArray) -> Sum:
        """Return a sum as the other processes will decompress it; later sums include the error."""
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
        return sum_of_rows(self._channel.gather(rows_of(total), purpose), total)

    def _small_exchange(self, keys: Any, values: Any, outs: Any) -> None:
        return None

    def _barrier(self) -> None:
        """Wait until all processes have called this."""
        self._channel.barrier()

    barrier = _barrier

    def gather(self, value: Any) -> list[Any]:
        """Return a list of the values that the processes pass, by rank; all must call it.

        Args:
            value: Any picklable object.
        """
        return self._channel.gather(value, "gather")

    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Ignore the command, as there are no servers."""

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
            f"pickle: expected a store of one process, got a {self._kind} store; create it in each "
            "process"
        )
