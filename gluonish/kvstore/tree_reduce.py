"""TreeReduction: sums and copies of a store that run along trees of links between devices.

The pairs of one round of a tree work at the same time, on the lanes of their receivers. An array
above a bound is cut into as many parts as there are devices, and each part takes another tree, so
that all links are busy. Integers give the sum in the order of the list exactly; floats are added up
in the tree's order, which is the same at each run, and differ from that by rounding.
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
from gluonish.kvstore.transfer import (
    new_array,
    private_array,
    private_memory,
    push_beside,
    sum_into,
)
from gluonish.kvstore.tree_search import Links, Tree, find_trees, links_between, weight
from gluonish.ndarray import NDArray
from gluonish.ops.support.precision import accumulator
from gluonish_engine import Var

_LOG = logging.getLogger("gluonish")


class _Part(NamedTuple):
    """A part of an array, or all of it.

    Attributes:
        raw: Its elements, one axis.
        var: What the engine orders by.
        device: Where it lies.
        private: Whether it is as of `gluonish.kvstore.transfer.private_array`.
    """

    raw: Any
    var: Var
    device: Device
    private: bool = False


class TreeReduction:
    """Sums arrays along trees of devices, which are computed once for each list of devices.

    The settings are those of the environment variables when it is created.
    """

    def __init__(self) -> None:
        self._bound = MXNET_KVSTORE_TREE_ARRAY_BOUND.value
        self._exhaustive = MXNET_KVSTORE_TREE_BACKTRACK.value
        self._penalty = MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY.value
        self._logs = MXNET_KVSTORE_LOGTREE.value
        self._trees: dict[tuple[Context, ...], list[Tree]] = {}

    @staticmethod
    def takes(arrays: Sequence[NDArray]) -> bool:
        """Whether arrays are several dense ones of one dtype, each in one piece of memory."""
        return len(arrays) > 1 and all(
            x.stype == "default" and x.dtype == arrays[0].dtype and x._data.flags.c_contiguous
            for x in arrays
        )

    def trees(self, contexts: Sequence[Context]) -> list[Tree]:
        """Return the tree with each device as its root.

        Args:
            contexts: The devices.
        """
        key = tuple(contexts)
        found = self._trees.get(key)
        if found is None:
            links = links_between(key)
            found = find_trees(links, exhaustive=self._exhaustive, penalty=self._penalty)
            self._trees[key] = found
            if self._logs:
                _LOG.warning(_described(key, links, found))
        return found

    def add_up(
        self, values: Sequence[NDArray], context: Context, priority: int, *, private: bool = False
    ) -> NDArray:
        """Return the sum of dense arrays of several devices as a new array on one of them.

        Args:
            values: At least two contiguous arrays of one shape and dtype.
            context: Device of the sum.
            priority: Operations of higher priority run first.
            private: As in `gluonish.kvstore.transfer.sum_arrays`.
        """
        contexts = [value.context for value in values]
        trees = self.trees(contexts)
        out = private_array(values[0], context) if private else new_array(values[0], context)
        done = []
        for low, high, tree in self._shares(out.size, trees, contexts, context):
            parts = [_Part(x._data.reshape(-1)[low:high], x._var, x._device) for x in values]
            total = _reduced(parts, tree, priority)
            slot = _Part(out._data.reshape(-1)[low:high], Var(), out._device, private)
            _move(total, slot, priority)
            done.append(slot.var)
        lane = out._device.priority_lane
        current_engine().push(_join, done, [out._var], lane, priority, "kvstore_join", True)
        return out

    def spread(self, source: NDArray, targets: Sequence[NDArray], priority: int) -> None:
        """Copy an array to several devices; each copies from a device that already has it.

        Args:
            source: Array to copy from.
            targets: Contiguous arrays of its shape and dtype to copy to.
            priority: Operations of higher priority run first.
        """
        contexts = [target.context for target in targets]
        trees = self.trees(contexts)
        for low, high, tree in self._shares(source.size, trees, contexts, source.context):
            parts = [_Part(x._data.reshape(-1)[low:high], x._var, x._device) for x in targets]
            first = _Part(source._data.reshape(-1)[low:high], source._var, source._device)
            _move(first, parts[tree.root], priority, refreshes=True)
            for pairs in reversed(tree.rounds):
                for receiver, sender in pairs:
                    _move(parts[receiver], parts[sender], priority, refreshes=True)

    def _shares(
        self, size: int, trees: Sequence[Tree], contexts: Sequence[Context], context: Context
    ) -> list[tuple[int, int, Tree]]:
        """Return which elements take which tree: all that of the device, or each tree a part."""
        if size <= self._bound:
            root = contexts.index(context) if context in contexts else 0
            return [(0, size, trees[root])]
        limits = [size * i // len(trees) for i in range(len(trees) + 1)]
        return [
            (low, high, tree) for (low, high), tree in zip(pairwise(limits), trees, strict=True)
        ]


def _reduced(parts: Sequence[_Part], tree: Tree, priority: int) -> _Part:
    """Return the sum of parts, on the device of the tree's root."""
    sums = list(parts)
    owned = set[int]()
    for pairs in tree.rounds:
        for receiver, sender in pairs:
            own = sums[receiver]
            near = _near(sums[sender], own.device, priority)
            made = own
            if receiver not in owned:
                # Partial sums of 16-bit floats stay in float32.
                spec = Spec(own.raw.shape, accumulator(own.raw.dtype))
                raw = private_memory(spec, own.device)
                made = sums[receiver] = _Part(raw, Var(), own.device, True)
                owned.add(receiver)
            push_beside(
                partial(sum_into, [own.raw, near.raw], made.raw),
                [own.var, near.var],
                made.var,
                own.device,
                priority,
                "kvstore_tree",
                private=made.private,
            )
    return sums[tree.root]


def _near(part: _Part, device: Device, priority: int) -> _Part:
    """Return a part where kernels of a device can read it: on the CPU, that of any CPU."""
    if part.device is device or (part.device.is_host and device.is_host):
        return part
    raw = private_memory(Spec(part.raw.shape, part.raw.dtype), device)
    copied = _Part(raw, Var(), device, True)
    _move(part, copied, priority)
    return copied


def _move(source: _Part, target: _Part, priority: int, *, refreshes: bool = False) -> None:
    """Push a copy; with ``refreshes`` the target keeps its values if the source failed."""
    reads = [source.var, target.var] if refreshes else [source.var]
    copy, device = partial(_copy, source, target), target.device
    if device.streams:
        private = target.private
        push_beside(copy, reads, target.var, device, priority, "kvstore_copy", private=private)
    else:
        current_engine().push(copy, reads, [target.var], device.copy_lane, priority, "kvstore_copy")


def _copy(source: _Part, target: _Part) -> None:
    if source.device.is_host == target.device.is_host:
        target.device.from_peer(source.raw, target.raw)
    elif target.device.is_host:
        target.raw[...] = source.device.to_host(source.raw)
    else:
        target.device.from_host(source.raw, target.raw)


def _join() -> None:
    """All parts are there."""


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
