"""The bounded cache of plans.

Plans are kept in the order of their last use, and the oldest goes first. No lock: with the GIL each
operation on the ordered dict is one indivisible call. Two threads that miss at once both build, and
the first to store wins; a plan that is evicted while it runs lives until that run ends, because the
runner holds it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from gluonish.kernels.onednn.engine import Engine
from gluonish.ops.kernel import RefusedError

__all__ = ["PlanCache"]

P = ParamSpec("P")
T = TypeVar("T")

# A primitive on arrays of no more elements than this runs in one thread. Starting a team costs more
# than a second thread saves, and on a busy machine the team waits until all its threads get a core.
_SMALL = 1 << 15


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
    """

    __slots__ = ("_engine", "_plans", "capacity")

    def __init__(self, engine: Engine, capacity: int) -> None:
        self._engine = engine
        self.capacity = capacity
        self._plans: OrderedDict[Hashable, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._plans)

    def clear(self) -> None:
        """Drop all plans."""
        self._plans.clear()

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
        kept: T | _Refusal = self._plans.setdefault(key, plan)
        while 0 <= self.capacity < len(self._plans):
            try:
                self._plans.popitem(last=False)
            except KeyError:  # another thread evicted the last one
                break
        return kept

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


def _elements(values: Iterable[object]) -> int:
    """How many elements the arrays among some values have, also in tuples."""
    total = 0
    for value in values:
        if isinstance(value, tuple):
            total += _elements(value)
        elif isinstance(value, np.ndarray):
            total += value.size
    return total
