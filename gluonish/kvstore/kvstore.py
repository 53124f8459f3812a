"""KVStore: sums gradients of the devices of one process, and may update the weights."""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from gluonish.core.config import MXNET_KVSTORE_USETREE
from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.core.files import atomic_write, open_to_read
from gluonish.core.program import Program
from gluonish.kvstore.arguments import Key, check_like, pairs_of, row_ids_by_array
from gluonish.kvstore.base import KVStoreBase, check_capability
from gluonish.kvstore.compression import Compression, compression_from
from gluonish.kvstore.device_sums import (
    SmallExchange,
    SumSplit,
    are_small,
    keep_alive,
    small_exchange,
    sum_arrays,
)
from gluonish.kvstore.gpu_sums import GPUSums
from gluonish.kvstore.nccl_reduce import NCCLReduction
from gluonish.kvstore.sparse import copied, copy_over, pull_rows, sum_sparse
from gluonish.kvstore.tree_reduce import TreeReduction
from gluonish.ndarray import NDArray
from gluonish.optimizer import Optimizer, Updater, get_updater

__all__ = ["KVStore", "Key", "Sum"]

UpdateFunction = Callable[[Any, Any, Any], Any]
Sum = tuple[Key, NDArray, NDArray]  # key, sum of its gradients, stored value

# For each name of such a store in MXNet, whether it sums on the devices.
KINDS: Mapping[str, bool] = {
    "local": False,
    "local_update_cpu": False,
    "local_allreduce_cpu": False,
    "device": True,
    "local_allreduce_device": True,
}


class KVStore(KVStoreBase):
    """A store for the devices of one process; created by `create`.

    ``local`` sums gradients on the CPU, ``device`` on the first device of each list. Arrays are
    summed in the order of the list, so that results are reproducible; with
    ``MXNET_KVSTORE_USETREE`` a device store sums along a tree of devices, which is reproducible,
    too. Between several GPUs NCCL makes the sums, if it is installed, in an order of its own that
    is the same in each run. A failed push leaves the stored value unchanged, and the store usable.

    Args:
        handle: Name of the store: ``"local"``, ``"device"``, or one of their other names in MXNet.
        reduction: Reduction over several GPUs by NCCL; None to look for NCCL when it is needed.

    Raises:
        ArgumentError: There is no such store.
    """

    def __init__(self, handle: str = "local", reduction: NCCLReduction | None = None) -> None:
        if handle not in KINDS and reduction is None:
            raise ArgumentError(f"KVStore: expected one of {', '.join(KINDS)}, got {handle!r}")
        self._kind = handle
        self._on_device = KINDS.get(handle, True)
        self._layers: dict[Key, int] = {}
        self._stored: dict[Key, NDArray] = {}
        self._updater: UpdateFunction | None = None
        self._compression: Compression | None = None
        self._program: Program[SmallExchange] | None = None  # of the last `pushpull`
        self._split = SumSplit.from_environment()
        trees = self._on_device and MXNET_KVSTORE_USETREE.value
        self._trees = TreeReduction() if trees else None
        searches = handle in KINDS and self._trees is None
        self._gpu_sums = GPUSums(reduction, searches=searches)

    def init(self, key: Any, value: Any) -> None:
        """Set the initial value of a key; once for every key, before `push` and `pull`.

        Args:
            key: An int or a str, or a list; the keys of a store are all ints or all strs.
            value: NDArray, or a list with one for each key.

        Raises:
            ArgumentError: A key already has a value, or ints and strs are mixed.
        """
        for name, values in pairs_of("init", key, value):
            self._check_kind(name)
            if name in self._stored:
                raise ArgumentError(
                    f"init: expected a new key, got {name!r} again; "
                    "was it passed to init or broadcast twice?"
                )
            first = values[0]
            context = first.context if self._on_device else cpu()
            self._stored[name] = copied(first, context)

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Sum the values of a key over devices, and replace the stored value by the sum.

        With an optimizer (see `set_optimizer`) the sum updates the stored value instead.

        Args:
            key: An int or a str, or a list of keys.
            value: For each key an NDArray, or a list with one NDArray per device.
            priority: Operations of higher priority run first; dense arrays only.

        Raises:
            ArgumentError: A key was not initialized by `init`, or shapes differ from the stored
                value.
        """
        pairs = pairs_of("push", key, value)
        places: list[tuple[NDArray, Context]] = []
        for name, values in pairs:
            stored = self._find("push", name)
            check_like("push", name, values, stored)
            context = values[0].context if self._on_device else cpu()
            places.append((self._move(name, stored, context), context))
        together = self._sum_on_devices(pairs, places, priority)
        sums: list[Sum] = []
        for (name, values), (stored, context) in zip(pairs, places, strict=True):
            total = together.get(name)
            if total is None:
                total = self._sum(name, values, context, priority)
            sums.append((name, total, stored))
        sums = self._combine(sums)
        if self._updater is None:
            for _, total, stored in sums:
                copy_over(total, stored, priority, refreshes=True)
        else:
            self._update(self._updater, sums)
        keep_alive(
            [
                total
                for _, total, stored in sums
                if total.stype == "default" and (self._updater or stored.stype != "default")
            ]
        )

    def pull(
        self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True
    ) -> None:
        """Copy the stored value of each key into arrays.

        Args:
            key: An int or a str, or a list of keys.
            out: For each key the NDArray, or list of NDArrays, to copy to.
            priority: Operations of higher priority run first; dense arrays only.
            ignore_sparse: Whether to leave sparse arrays in ``out`` unchanged.

        Raises:
            ArgumentError: ``out`` is None or of another shape, or a key was not initialized by
                `init`.
        """
        if out is None:
            raise ArgumentError("pull: expected arrays in out, got None")
        pairs = pairs_of("pull", key, out)
        for name, targets in pairs:
            check_like("pull", name, targets, self._find("pull", name), dtype=False)
        order = self._by_layer([name for name, _ in pairs])
        calls = [(pairs[i][0], self._stored[pairs[i][0]], pairs[i][1]) for i in order]
        together = self._gpu_sums.spread(calls, priority)
        for name, targets in pairs:
            if name in together:
                continue
            stored = self._stored[name]
            if ignore_sparse:
                targets = [target for target in targets if target.stype == "default"]
            if self._trees is not None and self._trees.supports([*targets, stored]):
                self._trees.broadcast(stored, targets, priority)
                continue
            for target in targets:
                copy_over(stored, target, priority, refreshes=True)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """`push` values, then `pull` the result.

        Args:
            key: An int or a str, or a list of keys.
            value: For each key an NDArray, or a list with one NDArray per device.
            out: Arrays that receive the stored values; None for ``value`` itself.
            priority: Operations of higher priority run first; dense arrays only.
        """
        program, updater = self._program, self._updater
        if program is None or out is None or not isinstance(updater, Updater):
            self._push_and_pull(key, value, out, priority)
        elif program.holds(*self._call(key, value, out)):
            program.work(updater, priority)
        else:
            self._program = None
            self._push_and_pull(key, value, out, priority)

    def _push_and_pull(self, key: Any, value: Any, out: Any, priority: int) -> None:
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority, ignore_sparse=False)
        if out is not None and isinstance(key, list) and isinstance(self._updater, Updater):
            exchange = self._small_exchange(key, value, out)
            if exchange is not None:
                self._program = Program(*self._call(key.copy(), value, out), exchange)

    def _call(self, keys: Any, values: Any, outs: Any) -> tuple[Sequence[object], object]:
        """Return the operands and version that identify the `Program` of a `pushpull` of lists."""
        if type(keys) is not list or type(values) is not list or type(outs) is not list:
            return (), None
        lists = values + outs
        try:
            version = keys, list(map(len, lists))
        except TypeError:  # a 0-dimensional array instead of a list
            return (), None
        stored = map(self._stored.get, keys)
        return [self._compression, *stored, *chain.from_iterable(lists)], version

    def _small_exchange(self, keys: list[Key], values: Any, outs: Any) -> SmallExchange | None:
        """Return a function that repeats a `pushpull` of small arrays; None if unsupported."""
        if self._compression is not None or self._trees is not None:
            return None
        lists = [*values, *outs]
        if len(set(keys)) < len(keys) or not all(isinstance(arrays, list) for arrays in lists):
            return None
        stored = [self._stored[key] for key in keys]
        contexts = {weight.context for weight in stored}
        if len(contexts) > 1 or not are_small(chain(stored, *lists)):
            return None
        targets = list(chain.from_iterable(outs))
        if len({x._var for x in targets}) < len(targets):
            return None
        return small_exchange(keys, values, outs, stored, contexts.pop())

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """`init` the key, then `pull` its value.

        Args:
            key: An int or a str, or a list of keys.
            value: NDArray, or a list with one for each key.
            out: Arrays that receive the value.
            priority: Operations of higher priority run first.
        """
        self.init(key, value)
        self.pull(key, out, priority)

    def row_sparse_pull(
        self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None
    ) -> None:
        """Copy some rows of the stored value of each key into row-sparse arrays.

        Args:
            key: An int or a str, or a list of keys.
            out: For each key a row-sparse array, or a list of them; afterwards it contains only the
                requested rows.
            priority: Accepted without effect, as the rows are copied before this returns.
            row_ids: Array of row indices, of any shape; or a list with one for each array of
                ``out``, or such a list for each key.

        Raises:
            ArgumentError: ``out`` or ``row_ids`` is None, their lengths differ, or a key was not
                initialized by `init`.
            ArgumentTypeError: An array of ``out`` is not row-sparse.
        """
        if out is None or row_ids is None:
            raise ArgumentError(
                f"row_sparse_pull: expected arrays in out and row_ids, got {out!r:.40} and "
                f"{row_ids!r:.40}"
            )
        pairs = pairs_of("row_sparse_pull", key, out)
        row_ids_iter = iter(row_ids_by_array(row_ids, sum(len(targets) for _, targets in pairs)))
        for name, targets in pairs:
            stored = self._find("row_sparse_pull", name)
            check_like("row_sparse_pull", name, targets, stored, dtype=False)
            for target in targets:
                self._pull_rows(name, stored, target, next(row_ids_iter))

    def _pull_rows(self, key: Key, stored: NDArray, target: NDArray, row_ids: NDArray) -> None:
        pull_rows(stored, target, row_ids)

    def allreduce(self, keys: Sequence[Key], values: Sequence[list[NDArray]]) -> None:
        """Replace arrays by their sums over devices; stored values are unchanged.

        Args:
            keys: Keys of the arrays.
            values: For each key a list with one array per device, which `sums_on_gpus` accepts.
                Arrays of the last layers are summed first, because the backward pass computes
                their gradients first.
        """
        self._gpu_sums.allreduce([values[i] for i in self._by_layer(keys)[::-1]])

    def sums_on_gpus(self, arrays: Sequence[NDArray]) -> bool:
        """Whether the arrays of a key are summed on GPUs in place."""
        return self._compression is None and self._gpu_sums.supports(arrays, arrays[0].context)

    def set_layers(self, keys: Sequence[Key]) -> None:
        """Set the order of the network's layers, in which arrays are sent.

        By default the order of the keys in each call is used.

        Args:
            keys: Keys of the arrays from the first layer on; the same in all processes.
        """
        self._layers.update({key: i for i, key in enumerate(keys)})

    def _by_layer(self, keys: Sequence[Key]) -> list[int]:
        """Return the positions of the keys, sorted by layer."""
        layers = self._layers
        return sorted(range(len(keys)), key=lambda i: layers.get(keys[i], i))

    def _sum_on_devices(
        self,
        pairs: Sequence[tuple[Key, list[NDArray]]],
        places: Sequence[tuple[NDArray, Context]],
        priority: int,
    ) -> dict[Key, NDArray]:
        """Return the sums of the keys that NCCL adds up, in buckets from the last layer on."""
        calls: list[tuple[Key, list[NDArray], Context]] = []
        for i in self._by_layer([name for name, _ in pairs])[::-1]:
            (name, values), context = pairs[i], places[i][1]
            if self._gpu_sums.supports(values, context):
                calls.append((name, self._compress(name, values, priority), context))
        sums = self._gpu_sums.reduce(calls, priority)
        if self._is_private:
            return sums
        return {name: copied(total, total.context) for name, total in sums.items()}

    @property
    def _is_private(self) -> bool:
        """Whether only the store uses sums; a user's updater may retain them."""
        return self._updater is None or isinstance(self._updater, Updater)

    def _compress(self, key: Key, values: list[NDArray], priority: int) -> list[NDArray]:
        if self._compression is None:
            return values
        return [
            self._compression.compress(key, i, value, priority) for i, value in enumerate(values)
        ]

    def _sum(self, key: Key, values: list[NDArray], context: Context, priority: int) -> NDArray:
        if any(value.stype != "default" for value in values):
            return sum_sparse(values, context)
        values, private = self._compress(key, values, priority), self._is_private
        if self._trees is not None and self._trees.supports(values):
            return self._trees.reduce(values, context, priority, private=private)
        return sum_arrays(values, context, priority, self._split, private=private)

    def _combine(self, sums: list[Sum]) -> list[Sum]:
        """Return the sums over all processes; here there is only one process."""
        return sums

    def _move(self, key: Key, stored: NDArray, context: Context) -> NDArray:
        """Move a stored value permanently to the device where its gradients are summed."""
        if stored.context == context:
            return stored
        copy = self._stored[key] = copied(stored, context)
        if isinstance(self._updater, Updater) and key in self._updater.states:
            self._updater.states_synced[key] = False
            self._updater.optimizer._continue_on_any_device()
        return copy

    def _overwrite(self, key: Key, value: NDArray) -> None:
        """Set a stored value, bypassing the updater; a different dtype allocates a new array."""
        stored = self._find("overwrite", key)
        if stored.dtype == value.dtype:
            copy_over(value, stored)
        else:
            self._stored[key] = copied(value, stored.context)

    def _free_key(self) -> int:
        """Return the smallest int above all int keys."""
        return max((1 + key for key in self._stored if isinstance(key, int)), default=0)

    def _find(self, what: str, key: Key) -> NDArray:
        found = self._stored.get(key)
        if found is None:
            self._check_kind(key)
            raise ArgumentError(f"{what}: expected a key initialized by init, got {key!r}")
        return found

    def _check_kind(self, key: Key) -> None:
        """Reject str keys in a store with int keys, and vice versa."""
        existing = next(iter(self._stored), key)
        if isinstance(existing, str) != isinstance(key, str):
            raise ArgumentError(
                f"KVStore: expected keys of one type, got {key!r} in a store that has {existing!r}"
            )

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """Update the store's weights with an optimizer at each push of gradients."""
        self._set_updater(get_updater(optimizer))

    def _set_updater(self, updater: UpdateFunction | None) -> None:
        """Set the function that `push` calls: ``updater(key, sum of gradients, stored weight)``."""
        self._updater = updater

    @staticmethod
    def _update(updater: UpdateFunction, sums: list[Sum]) -> None:
        """Call the updater for each key, or with lists for each device if it supports them."""
        if not isinstance(updater, Updater) or not updater.aggregate_updates:
            for name, total, stored in sums:
                updater(name, total, stored)
            return
        by_context: dict[Context, list[Sum]] = {}
        for item in sums:
            by_context.setdefault(item[2].context, []).append(item)
        for group in by_context.values():
            updater(*(list(column) for column in zip(*group, strict=True)))

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Compress gradients to one or two bits per element; the error is added to later ones.

        Args:
            compression_params: ``{"type": "2bit", "threshold": 0.5}``, or ``"1bit"``.

        Raises:
            ArgumentError: The store is ``local``, or the parameters are invalid.
        """
        if not self._on_device:
            raise ArgumentError(
                f"set_gradient_compression: expected a device store, got {self._kind}; "
                "create it with 'device'"
            )
        self._compression = compression_from(compression_params)

    def save_optimizer_states(
        self, fname: str | os.PathLike[str], dump_optimizer: bool = False
    ) -> None:
        """Save the optimizer's states to a file, atomically.

        Args:
            fname: Path of the file.
            dump_optimizer: Whether to save the optimizer's settings and update counts, too.

        Raises:
            ArgumentError: No optimizer was set.
        """
        data = self._require_updater("save_optimizer_states").get_states(dump_optimizer)
        with atomic_write(fname) as file:
            file.write(data)

    def load_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Load states that `save_optimizer_states` of gluonish or MXNet 1.9 saved to a file.

        Raises:
            ArgumentError: No optimizer was set.
            FileFormatError: The file contains no states, or states of other weights; nothing
                was changed.
        """
        updater = self._require_updater("load_optimizer_states")
        with open_to_read(fname, "load_optimizer_states") as file:
            updater.set_states(file.read(), os.fspath(fname), self._stored)

    def _require_updater(self, what: str) -> Updater:
        if not isinstance(self._updater, Updater):
            raise ArgumentError(f"{what}: expected a store with an optimizer; call set_optimizer")
        return self._updater

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Return whether the store has a capability: True for `OPTIMIZER`.

        Raises:
            ArgumentError: There is no such capability.
        """
        return check_capability(capability) == KVStoreBase.OPTIMIZER

    @property
    def type(self) -> str:
        """The name passed to the constructor."""
        return self._kind

    @property
    def rank(self) -> int:
        """Index of this process: 0, as there is only one."""
        return 0

    @property
    def num_workers(self) -> int:
        """Number of processes: 1."""
        return 1

    def gather(self, value: Any) -> list[Any]:
        """Return a list of the values that the processes pass, by rank; all must call it.

        The metric over all processes is ``sum(store.gather(metric.sum_metric))`` divided by
        ``sum(store.gather(metric.num_inst))``.

        Args:
            value: Any picklable object, such as a number.
        """
        return [value]

    def _barrier(self) -> None:
        """Do nothing, as there is only one process."""

    barrier = _barrier
