"""TreeReduction: sums and broadcasts along trees of links between devices.

The pairs of one round of a tree run in parallel, on the lanes of their receivers. An array above a
bound is split into as many chunks as there are devices, and each chunk uses another tree, so that
all links are busy. Floats are summed in the order of the tree, which is reproducible but rounds
differently from the order of the list.
"""

import logging
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from gluonish.core.config import (
    MXNET_KVSTORE_LOGTREE,
    MXNET_KVSTORE_TREE_ARRAY_BOUND,
    MXNET_KVSTORE_TREE_BACKTRACK,
    MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY,
)
from gluonish.core.context import Context
from gluonish.core.device import Device
from gluonish.core.spec import Spec
from gluonish.engine import current_engine
from gluonish.kvstore.device_sums import (
    new_array,
    private_array,
    private_memory,
    push_async,
    sum_into,
)
from gluonish.kvstore.tree_search import Links, Tree, find_trees, links_between, weight
from gluonish.ndarray import NDArray
from gluonish.ops.support.precision import accumulator
from gluonish_engine import Var

_LOG = logging.getLogger("gluonish")


class _Chunk(NamedTuple):
    """A range of an array's elements.

    Attributes:
        raw: The elements, one-dimensional.
        var: Engine variable that orders operations on the elements.
        device: Device of the array.
        private: Whether the array is a `gluonish.kvstore.device_sums.private_array`.
    """

    raw: Any
    var: Var
    device: Device
    private: bool = False


class TreeReduction:
    """Sums arrays along trees of devices, which are cached for each list of devices.

    Environment variables are read in the constructor.
    """

    def __init__(self) -> None:
        self._bound = MXNET_KVSTORE_TREE_ARRAY_BOUND.value
        self._exhaustive = MXNET_KVSTORE_TREE_BACKTRACK.value
        self._penalty = MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY.value
        self._logs = MXNET_KVSTORE_LOGTREE.value
        self._trees: dict[tuple[Context, ...], list[Tree]] = {}

    @staticmethod
    def supports(arrays: Sequence[NDArray]) -> bool:
        """Whether there are several dense, contiguous arrays of one dtype."""
        return len(arrays) > 1 and all(
            x.stype == "default" and x.dtype == arrays[0].dtype and x._data.flags.c_contiguous
            for x in arrays
        )

    def trees(self, contexts: Sequence[Context]) -> list[Tree]:
        """Return a tree for each device as the root."""
        key = tuple(contexts)
        found = self._trees.get(key)
        if found is None:
            links = links_between(key)
            found = find_trees(links, exhaustive=self._exhaustive, penalty=self._penalty)
            self._trees[key] = found
            if self._logs:
                _LOG.warning(_described(key, links, found))
        return found

    def reduce(
        self, values: Sequence[NDArray], context: Context, priority: int, *, private: bool = False
    ) -> NDArray:
        """Return the sum of dense arrays of several devices as a new array on one of them.

        Args:
            values: At least two contiguous arrays of one shape and dtype.
            context: Device of the sum.
            priority: Operations of higher priority run first.
            private: As in `gluonish.kvstore.device_sums.sum_arrays`.
        """
        contexts = [value.context for value in values]
        trees = self.trees(contexts)
        out = private_array(values[0], context) if private else new_array(values[0], context)
        done = []
        for low, high, tree in self._ranges(out.size, trees, contexts, context):
            chunks = [_Chunk(x._data.reshape(-1)[low:high], x._var, x._device) for x in values]
            total = _reduced(chunks, tree, priority)
            slot = _Chunk(out._data.reshape(-1)[low:high], Var(), out._device, private)
            _move(total, slot, priority)
            done.append(slot.var)
        lane = out._device.priority_lane
        current_engine().push(_join, done, [out._var], lane, priority, "kvstore_join", True)
        return out

    def broadcast(self, source: NDArray, targets: Sequence[NDArray], priority: int) -> None:
        """Copy an array to several devices; each copies from a device that already has it.

        Args:
            source: Array to copy from.
            targets: Contiguous arrays of its shape and dtype to copy to.
            priority: Operations of higher priority run first.
        """
        contexts = [target.context for target in targets]
        trees = self.trees(contexts)
        for low, high, tree in self._ranges(source.size, trees, contexts, source.context):
            chunks = [_Chunk(x._data.reshape(-1)[low:high], x._var, x._device) for x in targets]
            first = _Chunk(source._data.reshape(-1)[low:high], source._var, source._device)
            _move(first, chunks[tree.root], priority, refreshes=True)
            for pairs in reversed(tree.rounds):
                for receiver, sender in pairs:
                    _move(chunks[receiver], chunks[sender], priority, refreshes=True)

    def _ranges(
        self, size: int, trees: Sequence[Tree], contexts: Sequence[Context], context: Context
    ) -> list[tuple[int, int, Tree]]:
        """Return ranges of elements with their trees: one range for one tree, or one per tree."""
        if size <= self._bound:
            root = contexts.index(context) if context in contexts else 0
            return [(0, size, trees[root])]
        limits = [size * i // len(trees) for i in range(len(trees) + 1)]
        return [
            (low, high, tree) for (low, high), tree in zip(pairwise(limits), trees, strict=True)
        ]


def _reduced(chunks: Sequence[_Chunk], tree: Tree, priority: int) -> _Chunk:
    """Return the sum of chunks, on the device of the tree's root."""
    sums = list(chunks)
    owned = set[int]()
    for pairs in tree.rounds:
        for receiver, sender in pairs:
            local = sums[receiver]
            received = _readable(sums[sender], local.device, priority)
            total = local
            if receiver not in owned:
                # Partial sums of 16-bit floats stay in float32.
                spec = Spec(local.raw.shape, accumulator(local.raw.dtype))
                raw = private_memory(spec, local.device)
                total = sums[receiver] = _Chunk(raw, Var(), local.device, True)
                owned.add(receiver)
            push_async(
                partial(sum_into, [local.raw, received.raw], total.raw),
                [local.var, received.var],
                total.var,
                local.device,
                priority,
                "kvstore_tree",
                private=total.private,
            )
    return sums[tree.root]


def _readable(chunk: _Chunk, device: Device, priority: int) -> _Chunk:
    """Return a chunk, or a copy that kernels on a device can read; CPU devices share memory."""
    if chunk.device is device or (chunk.device.is_host and device.is_host):
        return chunk
    raw = private_memory(Spec(chunk.raw.shape, chunk.raw.dtype), device)
    copied = _Chunk(raw, Var(), device, True)
    _move(chunk, copied, priority)
    return copied


def _move(source: _Chunk, target: _Chunk, priority: int, *, refreshes: bool = False) -> None:
    """Push a copy; with ``refreshes`` the target is unchanged if the source failed."""
    reads = [source.var, target.var] if refreshes else [source.var]
    copy, device = partial(_copy, source, target), target.device
    if device.streams:
        private = target.private
        push_async(copy, reads, target.var, device, priority, "kvstore_copy", private=private)
    else:
        current_engine().push(copy, reads, [target.var], device.copy_lane, priority, "kvstore_copy")


def _copy(source: _Chunk, target: _Chunk) -> None:
    if source.device.is_host == target.device.is_host:
        target.device.from_peer(source.raw, target.raw)
    elif target.device.is_host:
        target.raw[...] = source.device.to_host(source.raw)
    else:
        target.device.from_host(source.raw, target.raw)


def _join() -> None:
    """Do nothing; pushed after all chunks, so that the engine marks the array as written."""


def _described(contexts: Sequence[Context], links: Links, trees: Sequence[Tree]) -> str:
    lines = ["kvstore: links between " + ", ".join(map(str, contexts))]
    lines += ["  " + " ".join(f"{link:g}" for link in row) for row in links]
    for tree in trees:
        rounds = "; ".join(
            ", ".join(f"{sender}->{receiver}" for receiver, sender in pairs)
            for pairs in tree.rounds
        )
        lines.append(f"  tree to {tree.root}: {rounds} (weight {weight(tree, links):g})")
    return "\n".join(lines)
