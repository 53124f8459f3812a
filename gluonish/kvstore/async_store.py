"""AsyncStore: a store of many processes in which none waits for another.

Each process runs a server, which has a share of the keys and applies gradients as they arrive.
Workers push gradients and take the weights of that moment. Steps are faster where processes differ
in speed, and use weights that others have changed since: no two runs are alike.
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
from gluonish.kvstore.distributed.server import Request, ask
from gluonish.kvstore.kvstore import KVStore, UpdateFunction
from gluonish.kvstore.shard import Packed, Rows, Settings, Shard
from gluonish.kvstore.sparse import copied, copy_over, rows_of, sum_of_rows
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.sparse import RowSparseNDArray
from gluonish.optimizer import Optimizer


class AsyncStore(KVStore):
    """A store whose servers apply each gradient as it arrives (``dist_async``); made by `create`.

    All processes create it, `init` the same keys and set the same optimizer; after that each pushes
    and pulls at its own pace. The servers are threads of the processes.

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
            value: NDArray, or a list with one for each key; only that of rank 0 is used.

        Raises:
            ArgumentError: A key has a value already, or ints and strs are mixed.
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
            priority: Has no effect: requests are sent in the order of the calls.

        Raises:
            ArgumentError: A key was not given to `init`, or shapes differ from what is stored.
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
            priority: Has no effect: requests are sent in the order of the calls.
            ignore_sparse: Whether to leave sparse arrays in ``out`` as they are.

        Raises:
            ArgumentError: ``out`` is None or of another shape, or a key was not given to `init`.
            DistributedError: When the values are read: a server failed or does not answer.
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
            super()._pull_rows(key, stored, target, row_ids)  # which says what is wrong
        numbers = np.unique(row_ids.asnumpy().astype(np.int64))
        if numbers.size and not 0 <= numbers[0] <= numbers[-1] < stored.shape[0]:
            raise ArgumentError(
                f"row_sparse_pull: expected row_ids from 0 to {stored.shape[0] - 1} for {key!r}, "
                f"got {numbers[0]} to {numbers[-1]}"
            )
        requests: dict[int, Request] = {}
        parts = self._parts(key)
        for rank, first, last in parts:
            mine = numbers[(numbers >= first) & (numbers < last)] - first
            if mine.size or len(parts) == 1:
                requests[rank] = Request("pull_rows", {key: mine})
        replies: dict[int, Any] = {}

        def act() -> None:
            replies.update(self._ask(requests))

        self._channel.alone(act, (), wait=True)
        found = [
            (replies[rank][key].indices + first, replies[rank][key].data)
            for rank, first, _ in parts
            if rank in replies
        ]
        sum_of_rows(found, target).copyto(target)

    def _parts(self, key: Key) -> list[tuple[int, int, int]]:
        """Return which servers have a value: rank, and the first and the last of its rows there.

        Big values are cut into equal parts, one for each server.
        """
        stored, size = self._stored[key], self._channel.world.size
        rows = stored.shape[0] if stored.ndim else 1
        if stored.size <= MXNET_KVSTORE_BIGARRAY_BOUND.value or rows < size:
            return [(self._home(key), 0, rows)]
        edges = [rows * i // size for i in range(size + 1)]
        return list(zip(range(size), edges, edges[1:], strict=False))

    def _home(self, key: Key) -> int:
        """Return the server of a small array: the same one in every process and run."""
        return crc32(repr(key).encode()) % self._channel.world.size

    def _send(
        self, kind: str, arrays: Mapping[Key, NDArray], settings: Settings | None, replies: bool
    ) -> None:
        """Send arrays to the servers that have their keys, when they are there."""
        places = {key: self._parts(key) for key in arrays}
        dense = {key: x for key, x in arrays.items() if x.stype == "default"}
        rows = {key: _rows(x) for key, x in arrays.items() if key not in dense}

        def act() -> None:
            contents: dict[int, dict[Key, Any]] = {}
            for key, parts in places.items():
                whole = rows[key] if key in rows else np.asarray(dense[key]._data)
                for rank, part in self._cut_up(whole, parts, kind):
                    contents.setdefault(rank, {})[key] = part
            self._ask(
                {
                    rank: Request(kind, content if kind == "put" else (content, settings), replies)
                    for rank, content in contents.items()
                }
            )

        self._channel.alone(act, list(dense.values()), wait=replies)

    def _cut_up(
        self, x: Any, places: Sequence[tuple[int, int, int]], kind: str
    ) -> list[tuple[int, Any]]:
        """Return what each server gets of an array on the host, or of rows."""
        if isinstance(x, Rows):
            return [(rank, x.part(first, last)) for rank, first, last in places]
        parts = [(rank, x[a:b] if len(places) > 1 else x) for rank, a, b in places]
        if self._codec is None or kind != "push" or x.dtype != np.float32:
            return parts
        return [(rank, Packed(self._codec.pack(part), part.shape)) for rank, part in parts]

    def _receive(self, targets: Mapping[Key, Sequence[NDArray]]) -> None:
        """Fill arrays with values, all of them at once."""
        places = {key: self._parts(key) for key in targets}
        wanted: dict[int, list[Key]] = {}
        for key, parts in places.items():
            for rank, _, _ in parts:
                wanted.setdefault(rank, []).append(key)
        values = {key: copied(self._stored[key], cpu()) for key in targets}

        def act() -> None:
            requests = {rank: Request("pull", keys) for rank, keys in wanted.items()}
            replies = self._ask(requests)
            for key, value in values.items():
                _fill(value, [(replies[rank][key], a, b) for rank, a, b in places[key]])

        self._channel.alone(act, [x for x in values.values() if x.stype == "default"])
        for key, arrays in targets.items():
            for target in arrays:
                copy_over(values[key], target, refreshes=True)

    def _ask(self, requests: Mapping[int, Request]) -> dict[int, Any]:
        return ask(self._channel.world, self._server.comm, requests)

    def _tell_all(self, request: Request) -> None:
        """Have rank 0 make a request to all servers; all processes wait for it."""
        if self.rank == 0:
            everyone = dict.fromkeys(range(self._channel.world.size), request)
            self._channel.alone(partial(self._ask, everyone), (), wait=True)
        self._channel.barrier(request.kind)

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """Let the servers update the weights with a copy of an optimizer; waits for all processes.

        Later changes of its learning rate, weight decay and ``rescale_grad`` apply to gradients
        that are pushed after them.

        Args:
            optimizer: The optimizer, equal in all processes; that of rank 0 is sent.
        """
        self._optimizer = optimizer
        multipliers = {i: (x.lr_mult, x.wd_mult) for i, x in optimizer.param_dict.items()}
        self._tell_all(Request("optimize", (pickle.dumps(optimizer), multipliers)))

    def _settings(self) -> Settings | None:
        optimizer = self._optimizer
        if optimizer is None:
            return None
        lr = None if optimizer.lr_scheduler is not None else optimizer.lr
        return Settings(optimizer.rescale_grad, optimizer.wd, lr)

    def _set_updater(self, updater: UpdateFunction | None) -> NoReturn:
        raise NotSupportedError(
            "kvstore: expected an Optimizer to update by, got a function, which stays in its "
            "process; call set_optimizer"
        )

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Compress gradients to one or two bits per element; the error is added to later ones.

        Args:
            compression_params: ``{"type": "2bit", "threshold": 0.5}``, or ``"1bit"``.

        Raises:
            ArgumentError: The parameters are invalid.
        """
        self._codec = compression_from(compression_params)
        self._tell_all(Request("compress", dict(compression_params)))

    def save_optimizer_states(self, fname: Any, dump_optimizer: bool = False) -> NoReturn:
        """Not available, as in MXNet: the states are distributed over the servers.

        Raises:
            NotSupportedError: Always.
        """
        raise _spread("save_optimizer_states")

    def load_optimizer_states(self, fname: Any) -> NoReturn:
        """Not available, as in MXNet: the states are distributed over the servers.

        Raises:
            NotSupportedError: Always.
        """
        raise _spread("load_optimizer_states")

    def _barrier(self) -> None:
        """Wait until all processes have come here, and the servers have done what they asked."""
        everyone = {r: Request("finish") for r in range(self._channel.world.size)}
        self._channel.alone(partial(self._ask, everyone), (), wait=True)
        self._channel.barrier()

    barrier = _barrier

    def gather(self, value: Any) -> list[Any]:
        """Return a list of the values that the processes pass, by rank; all must call it.

        Args:
            value: Anything that can be pickled.
        """
        return self._channel.gather(value, "gather")

    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Send a command to all servers, which write those that they do not know into the log.

        Args:
            head: Number of the command.
            body: Its text.

        Raises:
            ArgumentTypeError: They are of other types.
        """
        if not isinstance(head, int) or not isinstance(body, str | bytes):
            raise ArgumentTypeError(
                f"send_command_to_servers: expected an int and a str, got {head!r} and {body!r:.40}"
            )
        everyone = {r: Request("command", (head, body)) for r in range(self._channel.world.size)}
        self._channel.alone(partial(self._ask, everyone), (), wait=True)

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
            "pickle: expected a store of one process, got a dist_async store, which each process "
            "makes for itself"
        )


def _rows(x: NDArray) -> Rows:
    if x.stype != "row_sparse":
        raise NotSupportedError(
            f"kvstore: expected dense or row_sparse arrays in a dist_async store, got {x.stype}"
        )
    return Rows(*rows_of(x), x.shape)


def _fill(value: NDArray, parts: Sequence[tuple[Any, int, int]]) -> None:
    """Write what servers gave into an array, whose operation this is part of."""
    host: Any = value._data
    for part, first, last in parts:
        place = host[first:last] if host.ndim else host
        if isinstance(part, Rows):
            place[...] = 0
            place[part.indices] = part.data
        else:
            place[...] = part


def _spread(what: str) -> NotSupportedError:
    return NotSupportedError(
        f"{what}: expected a store whose states are in this process, got dist_async, whose servers "
        "have them; save weights, or use dist_sync"
    )
