"""The cache of plans, bounded by their number and their memory.

Plans are in the order of their last use, and the least recently used is evicted first. Look-ups
take no lock: with the GIL each operation on the ordered dict is atomic. `_lock` guards the sum of
sizes, where plans are stored and evicted. Two threads that miss at once both build, and the first
to store wins. A plan that is evicted while it runs lives until the run ends, as the caller holds a
reference.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from gluonish.kernels.onednn.engine import Engine
from gluonish.ops.kernel import RefusedError

P = ParamSpec("P")
T = TypeVar("T")

# A primitive on at most this many elements runs in one thread. Starting a team costs more than a
# second thread saves, and on a busy machine the team waits until all its threads get a core.
_SMALL = 1 << 15


# Memory limit for the plans of a process. The largest networks of the model zoo need half of it; a
# program whose shapes never repeat fills it.
MAX_NBYTES = 128 << 20
# Estimates of a plan's memory: generated code, tables, memory objects. The process grew by 90 to
# 390 kB per plan of one to four primitives (convolution, its gradients, deconvolution, pooling,
# LRN, dense, dot; oneDNN 3 with AVX-512).
_PLAN_NBYTES, _STEP_NBYTES, _REFUSAL_NBYTES = 96 << 10, 32 << 10, 1 << 10


class _Refusal:
    """Cached in place of a plan that the library does not support, to reject the call at once."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class PlanCache:
    """A cache of plans, which evicts the least recently used one.

    Args:
        capacity: Number of plans to cache; negative for no limit, 0 to build one for every call.
        max_nbytes: Limit of the plans' estimated memory; ignored if ``capacity`` is negative.
    """

    __slots__ = ("_engine", "_lock", "_plans", "capacity", "max_nbytes", "nbytes")

    def __init__(self, engine: Engine, capacity: int, max_nbytes: int = MAX_NBYTES) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._plans: OrderedDict[Hashable, Any] = OrderedDict()
        self.capacity = capacity
        self.max_nbytes = max_nbytes
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._plans)

    def clear(self) -> None:
        """Drop all plans."""
        self._lock = threading.Lock()  # in a forked child, the old lock may stay locked
        self._plans.clear()
        self.nbytes = 0

    def get(
        self,
        key: Hashable,
        build: Callable[Concatenate[Engine, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Return the plan cached under ``key``, or a new one: ``build(engine, *args, **kwargs)``.

        Args:
            key: All that the plan depends on: the operation, layouts of arrays, attributes.

        Raises:
            RefusedError: The library does not support the operation.
            OneDNNError: The library reports a failure.
        """
        try:
            plan: T | _Refusal = self._plans[key]
            self._plans.move_to_end(key)
        except KeyError:
            plan = self._store(key, self._build_or_refuse(build, *args, **kwargs))
        if isinstance(plan, _Refusal):
            raise RefusedError(plan.reason)
        return plan

    def _store(self, key: Hashable, plan: T | _Refusal) -> T | _Refusal:
        with self._lock:
            stored: T | _Refusal = self._plans.setdefault(key, plan)
            if stored is plan:
                self.nbytes += _nbytes(plan)
            while self._is_full():
                _, evicted = self._plans.popitem(last=False)
                self.nbytes -= _nbytes(evicted)
        return stored

    def _is_full(self) -> bool:
        count = len(self._plans)
        if self.capacity < 0 or not count:
            return False
        # The most recent plan is never evicted for its size, only if the capacity is 0.
        return count > self.capacity or (count > 1 and self.nbytes > self.max_nbytes)

    def _build_or_refuse(
        self, build: Callable[Concatenate[Engine, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T | _Refusal:
        # The thread's state must exist first: it sets the number of threads of new primitives.
        self._engine.thread()
        small = _elements((*args, *kwargs.values())) <= _SMALL
        before = self._engine.use_one_thread() if small else 0
        try:
            return build(self._engine, *args, **kwargs)
        except RefusedError as error:
            return _Refusal(str(error))
        finally:
            if small:
                self._engine.restore_threads(before)


def _nbytes(plan: object) -> int:
    """Estimate the memory of a plan."""
    if isinstance(plan, _Refusal):
        return _REFUSAL_NBYTES
    return _PLAN_NBYTES + _STEP_NBYTES * len(getattr(plan, "steps", ()))


def _elements(values: Iterable[object]) -> int:
    """Count the elements of all arrays among the values, including those in nested tuples."""
    total = 0
    for value in values:
        if isinstance(value, tuple):
            total += _elements(value)
        elif isinstance(value, np.ndarray):
            total += value.size
    return total
