"""GPUSums: sums and copies between the GPUs of one process for a store, in buckets, by NCCL.

Arrays that it does not support are summed and copied one by one (`device_sums`). NCCL is looked for
when a store first sums arrays of several GPUs, as loading it takes time. If a store that is not
named after NCCL cannot make communicators, it logs a warning and does without.
"""

import logging
from collections.abc import Sequence

from gluonish.core.context import Context
from gluonish.kvstore.arguments import Key
from gluonish.kvstore.nccl_reduce import NCCLReduction, find_reduction
from gluonish.ndarray import NDArray

_LOG = logging.getLogger("gluonish")


class GPUSums:
    """Sums and copies of a store that NCCL makes.

    Args:
        reduction: NCCL; None if it was not loaded yet.
        searches: Whether to look for NCCL.
    """

    def __init__(self, reduction: NCCLReduction | None, *, searches: bool) -> None:
        self._reduction = reduction
        self._searches = searches and reduction is None
        # For each list of devices, whether there are communicators; None if they must be.
        self._joined: dict[tuple[Context, ...], bool] | None = {} if self._searches else None

    def supports(self, values: Sequence[NDArray], context: Context) -> bool:
        """Whether arrays are summed on, or copied from, a device by NCCL."""
        if self._searches and len(values) > 1 and all(x.context.is_gpu for x in values):
            self._searches, self._reduction = False, find_reduction()
        found = self._reduction
        return found is not None and found.supports(values, context) and self._joins(found, values)

    def _joins(self, reduction: NCCLReduction, values: Sequence[NDArray]) -> bool:
        """Whether NCCL connects the arrays' devices."""
        if self._joined is None:
            return True
        devices = tuple(value.context for value in values)
        joined = self._joined.get(devices)
        if joined is None:
            joined = True
            try:
                reduction.join(values)
            except Exception as error:
                joined = False
                _LOG.warning(
                    "kvstore: expected NCCL to connect %s, got %s; summing with copies",
                    ", ".join(map(str, devices)),
                    error,
                )
            self._joined[devices] = joined
        return joined

    def allreduce(self, lists: Sequence[Sequence[NDArray]]) -> None:
        """Replace the arrays of each list, which are supported, by their sum."""
        assert self._reduction is not None, "the arrays are supported"
        self._reduction.allreduce(lists, 0)

    def reduce(
        self, calls: Sequence[tuple[Key, list[NDArray], Context]], priority: int
    ) -> dict[Key, NDArray]:
        """Return private sums by key.

        Args:
            calls: For each key supported arrays, and the GPU of the sum.
            priority: Operations of higher priority run first.
        """
        by_context: dict[Context, dict[Key, list[NDArray]]] = {}
        for name, values, context in calls:
            by_context.setdefault(context, {})[name] = values
        found: dict[Key, NDArray] = {}
        for context, lists in by_context.items():
            assert self._reduction is not None, "the arrays are supported"
            sums = self._reduction.reduce([*lists.values()], context, priority)
            found |= zip(lists, sums, strict=True)
        return found

    def spread(
        self, calls: Sequence[tuple[Key, NDArray, list[NDArray]]], priority: int
    ) -> frozenset[Key]:
        """Copy arrays to several GPUs, if there are several; return the keys of those copied.

        Args:
            calls: For each key an array, and its targets.
            priority: Operations of higher priority run first.
        """
        by_context: dict[Context, list[tuple[Key, NDArray, list[NDArray]]]] = {}
        for call in calls if len(calls) > 1 else ():
            _, source, targets = call
            alike = source.stype == "default" and all(x.dtype == source.dtype for x in targets)
            if alike and self.supports(targets, source.context):
                by_context.setdefault(source.context, []).append(call)
        for members in by_context.values():
            assert self._reduction is not None, "the arrays are supported"
            lists = [targets for _, _, targets in members]
            self._reduction.broadcast([source for _, source, _ in members], lists, priority)
        return frozenset(name for members in by_context.values() for name, _, _ in members)
