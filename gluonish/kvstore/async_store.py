"""AsyncStore: an asynchronous store of many processes.

Each process runs a server, which owns a shard of the weights and applies gradients as they arrive.
Workers push gradients and pull the current weights. Steps are faster if processes differ in speed,
but use stale weights, so that runs are not reproducible.
"""

import pickle
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NoReturn
from zlib import crc32

import numpy as np

from gluonish.core.config import MXNET_KVSTORE_BIGARRAY_BOUND
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.kvstore.arguments import Key, check_like, pairs_of
from gluonish.kvstore.compression import Compression, compression_from
from gluonish.kvstore.distributed.channel import Channel
from gluonish.kvstore.distributed.server import Request, request_replies
from gluonish.kvstore.kvstore import KVStore, UpdateFunction
from gluonish.kvstore.shard import Packed, Rows, Settings, Shard
from gluonish.kvstore.sparse import copied, copy_over, rows_of, sum_of_rows
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.sparse import RowSparseNDArray
from gluonish.optimizer import Optimizer


class AsyncStore(KVStore):
    """A store whose servers apply gradients as they arrive (``dist_async``); created by `create`.

    All processes create it, `init` the same keys and set the same optimizer; then each pushes and
    pulls independently. The servers are threads of the processes.

    Args:
        channel: Connection of the processes.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__("local")
        self._kind = "dist_async"
        self._channel = channel
        self._optimizer: Optimizer | None = None
        self._codec: Compression | None = None
        self._server = channel.serve(Shard().handle)

    def init(self, key: Any, value: Any) -> None:
        """Set the initial value of a key on the servers; waits for all processes.

        Args:
            key: An int or a str, or a list of keys, new in the store.
            value: NDArray, or a list with one for each key; only the values of rank 0 are used.

        Raises:
            ArgumentError: A key already has a value, or ints and strs are mixed.
        """
        super().init(key, value)
        self._put([name for name, _ in pairs_of("init", key, value)])

    def _put(self, keys: Sequence[Key]) -> None:
        if self.rank == 0:
            stored = {key: self._stored[key] for key in keys}
            self._send("put", stored, None, replies=True)
        self._channel.barrier(f"init of {keys[0]!r}")

    def _overwrite(self, key: Key, value: NDArray) -> None:
        super()._overwrite(key, value)
        self._put([key])

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Send gradients to the servers, summed over the devices of this process.

        The servers apply them as they arrive; without an optimizer they replace the values.

        Args:
            key: An int or a str, or a list of keys.
            value: For each key an NDArray, or a list with one NDArray per device.
            priority: No effect, as requests are sent in the order of the calls.

        Raises:
            ArgumentError: A key was not initialized by `init`, or shapes differ from the stored
                value.
        """
        sums: dict[Key, NDArray] = {}
        for name, values in pairs_of("push", key, value):
            stored = self._find("push", name)
            check_like("push", name, values, stored)
            total = self._sum(name, values, cpu(), priority)
            if self._codec is not None and total.stype == "default":
                total = self._codec.compress(name, 0, total, priority)
            sums[name] = total
        self._send("push", sums, self._settings(), replies=False)

    def pull(
        self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True
    ) -> None:
        """Copy the servers' current values, after this process's earlier pushes, into arrays.

        Args:
            key: An int or a str, or a list of keys.
            out: For each key the NDArray, or list of NDArrays, to copy to.
            priority: No effect, as requests are sent in the order of the calls.
            ignore_sparse: Whether to leave sparse arrays in ``out`` unchanged.

        Raises:
            ArgumentError: ``out`` is None or of another shape, or a key was not initialized by
                `init`.
            DistributedError: When the values are read, if a server failed or does not reply.
        """
        if out is None:
            raise ArgumentError("pull: expected arrays in out, got None")
        targets: dict[Key, list[NDArray]] = {}
        for name, arrays in pairs_of("pull", key, out):
            stored = self._find("pull", name)
            check_like("pull", name, arrays, stored, dtype=False)
            dense = [x for x in arrays if x.stype == "default"]
            if dense:
                targets[name] = dense
            if not ignore_sparse:
                rows = [x for x in arrays if x.stype != "default"]
                everything = array(np.arange(stored.shape[0]), dtype="int64")
                if rows:
                    self.row_sparse_pull(name, rows, priority, everything)
        if targets:
            self._receive(targets)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """`push` values, then `pull` into ``out``, or into ``value`` if ``out`` is None."""
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority, ignore_sparse=False)

    def _pull_rows(self, key: Key, stored: NDArray, target: NDArray, row_ids: NDArray) -> None:
        if not isinstance(target, RowSparseNDArray) or not isinstance(row_ids, NDArray):
            super()._pull_rows(key, stored, target, row_ids)  # raises the error
        numbers = np.unique(row_ids.asnumpy().astype(np.int64))
        if numbers.size and not 0 <= numbers[0] <= numbers[-1] < stored.shape[0]:
            raise ArgumentError(
                f"row_sparse_pull: expected row_ids from 0 to {stored.shape[0] - 1} for {key!r}, "
                f"got {numbers[0]} to {numbers[-1]}"
            )
        requests: dict[int, Request] = {}
        shards = self._shards(key)
        for rank, first, last in shards:
            local = numbers[(numbers >= first) & (numbers < last)] - first
            if local.size or len(shards) == 1:
                requests[rank] = Request("pull_rows", {key: local})
        replies: dict[int, Any] = {}

        def act() -> None:
            replies.update(self._request(requests))

        self._channel.run_local(act, (), wait=True)
        found = [
            (replies[rank][key].indices + first, replies[rank][key].data)
            for rank, first, _ in shards
            if rank in replies
        ]
        sum_of_rows(found, target).copyto(target)

    def _shards(self, key: Key) -> list[tuple[int, int, int]]:
        """Return the shards of a value: the server's rank, and the range of rows.

        Large values are split equally over all servers.
        """
        stored, size = self._stored[key], self._channel.world.size
        rows = stored.shape[0] if stored.ndim else 1
        if stored.size <= MXNET_KVSTORE_BIGARRAY_BOUND.value or rows < size:
            return [(self._server_of(key), 0, rows)]
        edges = [rows * i // size for i in range(size + 1)]
        return list(zip(range(size), edges, edges[1:], strict=False))

    def _server_of(self, key: Key) -> int:
        """Return the rank of a small array's server, the same in every process and run."""
        return crc32(repr(key).encode()) % self._channel.world.size

    def _send(
        self, kind: str, arrays: Mapping[Key, NDArray], settings: Settings | None, replies: bool
    ) -> None:
        """Send arrays, once they are computed, to the servers that own their keys."""
        shards = {key: self._shards(key) for key in arrays}
        dense = {key: x for key, x in arrays.items() if x.stype == "default"}
        rows = {key: _rows(x) for key, x in arrays.items() if key not in dense}

        def act() -> None:
            contents: dict[int, dict[Key, Any]] = {}
            for key, ranges in shards.items():
                x = rows[key] if key in rows else np.asarray(dense[key]._data)
                for rank, shard in self._split_by_server(x, ranges, kind):
                    contents.setdefault(rank, {})[key] = shard
            self._request(
                {
                    rank: Request(kind, content if kind == "put" else (content, settings), replies)
                    for rank, content in contents.items()
                }
            )

        self._channel.run_local(act, list(dense.values()), wait=replies)

    def _split_by_server(
        self, x: Any, shards: Sequence[tuple[int, int, int]], kind: str
    ) -> list[tuple[int, Any]]:
        """Split an array in host memory, or `Rows`, into a shard for each server."""
        if isinstance(x, Rows):
            return [(rank, x.between(first, last)) for rank, first, last in shards]
        slices = [(rank, x[a:b] if len(shards) > 1 else x) for rank, a, b in shards]
        if self._codec is None or kind != "push" or x.dtype != np.float32:
            return slices
        return [(rank, Packed(self._codec.pack(shard), shard.shape)) for rank, shard in slices]

    def _receive(self, targets: Mapping[Key, Sequence[NDArray]]) -> None:
        """Pull values into arrays, all in one request to each server."""
        shards = {key: self._shards(key) for key in targets}
        keys_of: dict[int, list[Key]] = {}
        for key, ranges in shards.items():
            for rank, _, _ in ranges:
                keys_of.setdefault(rank, []).append(key)
        values = {key: copied(self._stored[key], cpu()) for key in targets}

        def act() -> None:
            requests = {rank: Request("pull", keys) for rank, keys in keys_of.items()}
            replies = self._request(requests)
            for key, value in values.items():
                _fill(value, [(replies[rank][key], a, b) for rank, a, b in shards[key]])

        self._channel.run_local(act, [x for x in values.values() if x.stype == "default"])
        for key, arrays in targets.items():
            for target in arrays:
                copy_over(values[key], target, refreshes=True)

    def _request(self, requests: Mapping[int, Request]) -> dict[int, Any]:
        return request_replies(self._channel.world, self._server.comm, requests)

    def _request_all(self, request: Request) -> None:
        """Send a request from rank 0 to all servers; all processes wait for it."""
        if self.rank == 0:
            everyone = dict.fromkeys(range(self._channel.world.size), request)
            self._channel.run_local(partial(self._request, everyone), (), wait=True)
        self._channel.barrier(request.kind)

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """Update the weights on the servers with copies of an optimizer; waits for all processes.

        Later changes of its learning rate, weight decay and ``rescale_grad`` apply to gradients
        that are pushed afterwards.

        Args:
            optimizer: The optimizer, the same in all processes; rank 0 sends it to the servers.
        """
        self._optimizer = optimizer
        multipliers = {i: (x.lr_mult, x.wd_mult) for i, x in optimizer.param_dict.items()}
        self._request_all(Request("optimize", (pickle.dumps(optimizer), multipliers)))

    def _settings(self) -> Settings | None:
        optimizer = self._optimizer
        if optimizer is None:
            return None
        lr = None if optimizer.lr_scheduler is not None else optimizer.lr
        return Settings(optimizer.rescale_grad, optimizer.wd, lr)

    def _set_updater(self, updater: UpdateFunction | None) -> NoReturn:
        raise NotSupportedError(
            "kvstore: expected an Optimizer, got a function, which cannot be sent to servers; call "
            "set_optimizer"
        )

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Compress gradients to one or two bits per element; the error is added to later ones.

        Args:
            compression_params: ``{"type": "2bit", "threshold": 0.5}``, or ``"1bit"``.

        Raises:
            ArgumentError: The parameters are invalid.
        """
        self._codec = compression_from(compression_params)
        self._request_all(Request("compress", dict(compression_params)))

    def save_optimizer_states(self, fname: Any, dump_optimizer: bool = False) -> NoReturn:
        """Not available, as in MXNet: the states are distributed over the servers.

        Raises:
            NotSupportedError: Always.
        """
        raise _not_available("save_optimizer_states")

    def load_optimizer_states(self, fname: Any) -> NoReturn:
        """Not available, as in MXNet: the states are distributed over the servers.

        Raises:
            NotSupportedError: Always.
        """
        raise _not_available("load_optimizer_states")

    def _barrier(self) -> None:
        """Wait until all processes have called this, and the servers have run their requests."""
        everyone = {r: Request("finish") for r in range(self._channel.world.size)}
        self._channel.run_local(partial(self._request, everyone), (), wait=True)
        self._channel.barrier()

    barrier = _barrier

    def gather(self, value: Any) -> list[Any]:
        """Return a list of the values that the processes pass, by rank; all must call it.

        Args:
            value: Any picklable object.
        """
        return self._channel.gather(value, "gather")

    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Send a command to all servers, which log unknown ones.

        Args:
            head: Number of the command.
            body: Text of the command.

        Raises:
            ArgumentTypeError: An argument has the wrong type.
        """
        if not isinstance(head, int) or not isinstance(body, str | bytes):
            raise ArgumentTypeError(
                f"send_command_to_servers: expected an int and a str, got {head!r} and {body!r:.40}"
            )
        everyone = {r: Request("command", (head, body)) for r in range(self._channel.world.size)}
        self._channel.run_local(partial(self._request, everyone), (), wait=True)

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
            "pickle: expected a store of one process, got a dist_async store; create it in each "
            "process"
        )


def _rows(x: NDArray) -> Rows:
    if x.stype != "row_sparse":
        raise NotSupportedError(
            f"kvstore: expected dense or row_sparse arrays in a dist_async store, got {x.stype}"
        )
    return Rows(*rows_of(x), x.shape)


def _fill(value: NDArray, shards: Sequence[tuple[Any, int, int]]) -> None:
    """Write the servers' shards into an array, within the engine operation that writes it."""
    host: Any = value._data
    for shard, first, last in shards:
        target = host[first:last] if host.ndim else host
        if isinstance(shard, Rows):
            target[...] = 0
            target[shard.indices] = shard.data
        else:
            target[...] = shard


def _not_available(what: str) -> NotSupportedError:
    return NotSupportedError(
        f"{what}: expected a store with states in this process, got dist_async, whose states are "
        "on the servers; save weights, or use dist_sync"
    )
