"""The cache of plans, bounded by their number and by the memory they take.

Plans are kept in the order of their last use, and the oldest goes first. To find a plan takes no
lock: with the GIL each operation on the ordered dict is one indivisible call. `_lock` guards the
sum of sizes, where plans are stored and evicted. Two threads that miss at once both build, and the
first to store wins; a plan that is evicted while it runs lives until that run ends, because the
runner holds it.
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

# A primitive on arrays of no more elements than this runs in one thread. Starting a team costs more
# than a second thread saves, and on a busy machine the team waits until all its threads get a core.
_SMALL = 1 << 15


# What the plans of a process may take together. Those of the largest networks of the model zoo take
# half of it; a program whose shapes never repeat fills it.
MAX_NBYTES = 128 << 20
# About what plans take: code that the library generates, its tables, memory objects. The growth of
# the process per plan was 90 to 390 kB, by one to four primitives (convolution, its gradients,
# deconvolution, pooling, LRN, dense, dot; oneDNN 3 with AVX-512).
_PLAN_NBYTES, _STEP_NBYTES, _REFUSAL_NBYTES = 96 << 10, 32 << 10, 1 << 10


class _Refusal:
    """Kept in a plan's place: what the library refused once is refused at once next time."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class PlanCache:
    """Least recently used plans.

    Args:
        engine: The engine that the plans are for.
        capacity: How many plans to keep; negative for no limit, 0 to build one anew for every call.
        max_nbytes: How much memory they may take, as it is estimated; no limit where ``capacity``
            has none.
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
        self._lock = threading.Lock()  # in a child process nobody would release the old one
        self._plans.clear()
        self.nbytes = 0

    def get(
        self,
        key: Hashable,
        build: Callable[Concatenate[Engine, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """The plan kept under ``key``, or a new one from ``build(engine, *args, **kwargs)``.

        Args:
            key: Name of the operation, layouts of all arrays, attributes: everything that the plan
                depends on.
            build: Makes the plan on a miss.
            args: Positional arguments of ``build`` after the engine.
            kwargs: Keyword arguments of ``build``.

        Raises:
            RefusedError: The library refuses the operation, now or when it was first asked.
            OneDNNError: It failed to build it.
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
            kept: T | _Refusal = self._plans.setdefault(key, plan)
            if kept is plan:
                self.nbytes += _nbytes(plan)
            while self._is_full():
                _, evicted = self._plans.popitem(last=False)
                self.nbytes -= _nbytes(evicted)
        return kept

    def _is_full(self) -> bool:
        count = len(self._plans)
        if self.capacity < 0 or not count:
            return False
        # The plan that was stored last stays, however large it is, but for a capacity of 0.
        return count > self.capacity or (count > 1 and self.nbytes > self.max_nbytes)

    def _build_or_refuse(
        self, build: Callable[Concatenate[Engine, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T | _Refusal:
        # The thread's state has to exist by now: it sets how many threads new primitives use.
        self._engine.thread()
        small = _elements((*args, *kwargs.values())) <= _SMALL
        before = self._engine.begin_small() if small else 0
        try:
            return build(self._engine, *args, **kwargs)
        except RefusedError as error:
            return _Refusal(str(error))
        finally:
            if small:
                self._engine.end_small(before)


def _nbytes(plan: object) -> int:
    """Return about how much memory a plan takes."""
    if isinstance(plan, _Refusal):
        return _REFUSAL_NBYTES
    return _PLAN_NBYTES + _STEP_NBYTES * len(getattr(plan, "steps", ()))


def _elements(values: Iterable[object]) -> int:
    """How many elements the arrays among some values have, also in tuples."""
    total = 0
    for value in values:
        if isinstance(value, tuple):
            total += _elements(value)
        elif isinstance(value, np.ndarray):
            total += value.size
    return total
