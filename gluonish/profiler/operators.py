"""Recording of operators and graphs.

The engine has no access to arrays: they are bound arguments of the pushed function. If NumPy or
CuPy is one of the arguments, the next argument is written and the remaining ones are read, which is
the signature of kernels; otherwise the last argument with arrays is written. Other pushes declare
their arrays with `declared_operands`.

While the profiler runs, engines call the hook of `observe_engine` for each push; while it does not,
a push costs one more test. An operator runs as usual, and its errors propagate. On a GPU the time
is that of the launch.

While the profiler runs, `Executable` runs its steps one by one here, so that each has its times and
arrays. The inputs of a segment are the arrays that it reads before it writes them; its outputs are
the arrays that it writes and does not read again.
"""

import itertools
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.engine import observe_pushes
from gluonish.graph.chains import Chain, unchained
from gluonish.graph.executable import Executable
from gluonish.graph.instructions import Instruction, Values
from gluonish.ndarray import NDArray
from gluonish.optimizer.weight_update import Column, WeightUpdate
from gluonish.profiler.events import TOP_LEVEL, Job, Operand, Row, Step, current_location
from gluonish.profiler.recorder import now, recorder, this_row

Operands = tuple[tuple[Operand, ...], tuple[Operand, ...]]  # read, written
Function = Callable[[], None]

_DEPTH = 3  # of nested lists
_NOTHING: Operands = ((), ())
_calls = itertools.count(1)


class _Thread(threading.local):
    """State of the calling thread: its running job, and the declared operands of its pushes."""

    def __init__(self) -> None:
        self.job: _Observed | None = None
        self.declared: Operands | None = None


_thread = _Thread()


class _Observed:
    """Runs in place of a pushed function, and records its times."""

    __slots__ = (
        "call",
        "declared",
        "fn",
        "job_filter",
        "lane",
        "name",
        "push_ns",
        "pushed_ns",
        "pusher",
        "scope",
        "steps",
    )

    def __init__(self, fn: Function, lane: Hashable, name: str, job_filter: "_JobFilter") -> None:
        self.push_ns = now()
        self.call = next(_calls)
        self.fn = fn
        self.lane = lane
        self.name = name
        self.job_filter = job_filter
        self.pusher: Row = this_row()
        self.scope = current_location.get(TOP_LEVEL).path
        self.declared = _thread.declared
        # Steps of a graph, added by `observe_steps`.
        self.steps: list[Step] | None = None
        self.pushed_ns = now()

    def __call__(self) -> None:
        outer, _thread.job = _thread.job, self
        error = ""
        start_ns = now()
        try:
            self.fn()
        except BaseException as raised:
            error = f"{type(raised).__name__}: {raised}"
            raise
        finally:
            stop_ns = now()
            _thread.job = outer
            self._record(start_ns, stop_ns, error)

    def _record(self, start_ns: int, stop_ns: int, error: str) -> None:
        is_enabled = self.job_filter.imperative if self.steps is None else self.job_filter.symbolic
        if not (is_enabled and recorder.active):
            return
        inputs, outputs = describe(self.fn) if self.declared is None else self.declared
        recorder.job(
            Job(
                self.call,
                self.name or "unnamed",
                self.lane,
                self.scope,
                self.push_ns,
                self.pushed_ns,
                start_ns,
                stop_ns,
                self.pusher,
                this_row(),
                self.steps,
                inputs,
                outputs,
                error,
            )
        )


class _JobFilter:
    """Selects the jobs to record."""

    __slots__ = ("imperative", "symbolic")

    def __init__(self, imperative: bool, symbolic: bool) -> None:
        self.imperative = imperative
        self.symbolic = symbolic


def observe_engine(*, imperative: bool, symbolic: bool) -> Callable[[], None]:
    """Start recording the jobs of all engines; return a function that stops it.

    Args:
        imperative: Whether to record operators that are pushed one by one.
        symbolic: Whether to record segments of graphs, with their operators.
    """
    job_filter = _JobFilter(imperative, symbolic)

    def observe(fn: Function, lane: Hashable, name: str) -> Function:
        if not recorder.active or isinstance(fn, _Observed):
            return fn
        return _Observed(fn, lane, name, job_filter)

    observe_pushes(observe)
    return partial(observe_pushes, None)


def running_job() -> _Observed | None:
    """Return the recorded job that the calling thread is running."""
    return _thread.job


class declared_operands:
    """Context manager within which the thread's pushes are recorded with these operands."""

    __slots__ = ("_operands", "_previous")

    def __init__(self, inputs: Iterable[Any], outputs: Iterable[Any]) -> None:
        self._operands = operands(inputs), operands(outputs)
        self._previous: Operands | None = None

    def __enter__(self) -> None:
        self._previous, _thread.declared = _thread.declared, self._operands

    def __exit__(self, *exc_info: object) -> None:
        _thread.declared = self._previous


def describe(fn: Any) -> Operands:
    """Return the arrays that a pushed function reads and writes; see the module's docstring."""
    arguments = getattr(fn, "args", None) if isinstance(fn, partial) else None
    if not arguments:
        return _NOTHING
    for i, argument in enumerate(arguments):
        if isinstance(argument, ModuleType):
            written = arguments[i + 1 : i + 2]
            return operands(_arrays(arguments[i + 2 :])), operands(_arrays(written))
    found = [operands(_arrays([argument])) for argument in arguments]
    while found and not found[-1]:
        found.pop()
    if not found:
        return _NOTHING
    return tuple(itertools.chain(*found[:-1])), found[-1]


def operands(arrays: Iterable[Any]) -> tuple[Operand, ...]:
    """Return shape, dtype and size of arrays of NumPy, CuPy or gluonish."""
    found = (x._spec if isinstance(x, NDArray) else x for x in arrays)
    return tuple([_operand(tuple(x.shape), x.dtype, x.nbytes) for x in found])


@lru_cache(maxsize=4096)
def _operand(shape: tuple[int, ...], dtype: Any, nbytes: int) -> Operand:
    return Operand(shape, str(dtype), int(nbytes))  # equal operands share one object


def _is_cupy_array(value: Any) -> bool:
    """Whether a value is an array of CuPy."""
    has_attributes = all(hasattr(value, name) for name in ("nbytes", "dtype", "shape"))
    return has_attributes and not isinstance(value, np.generic)


def _arrays(values: Iterable[Any], depth: int = _DEPTH) -> Iterator[Any]:
    for value in values:
        if isinstance(value, NDArray | np.ndarray) or _is_cupy_array(value):
            yield value
        elif depth and isinstance(value, list | tuple):
            yield from _arrays(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from _arrays(value.values(), depth - 1)


Key = tuple[int, int]


def observe_steps(*, enabled: bool) -> Callable[[], None]:
    """Start marking jobs of graphs as segments; return a function that stops it.

    Args:
        enabled: Whether to record the operators within each segment, too.
    """
    original = Executable._run

    def run(
        self: Executable, steps: Sequence[Instruction | Chain], frame: Values, key: Key
    ) -> None:
        job = running_job()
        if job is None:
            original(self, steps, frame, key)
            return
        if job.steps is None:
            job.steps = []
        if not enabled:
            original(self, steps, frame, key)
            return
        single = unchained(steps)
        for step in single:
            start_ns = now()
            try:
                original(self, (step,), frame, key)
            finally:
                stop_ns = now()
                inputs, outputs = (
                    operands([frame[i] for i in slots if frame[i] is not None])
                    for slots in (step.reads, step.writes)
                )
                node = step.node
                job.steps.append(Step(step.op.name, node.name, start_ns, stop_ns, inputs, outputs))
        read, written = _external_slots(single)
        job.declared = operands([frame[i] for i in read]), operands([frame[i] for i in written])

    Executable._run = run  # type: ignore[method-assign]  # until `end`

    def end() -> None:
        Executable._run = original  # type: ignore[method-assign]  # as it was

    return end


def _external_slots(steps: Sequence[Instruction]) -> tuple[list[int], list[int]]:
    """Return the slots read before they are written, and the slots written but not read later."""
    read: dict[int, None] = {}
    made: set[int] = set()
    last: dict[int, None] = {}
    for step in steps:
        for slot in step.reads:
            last.pop(slot, None)
            if slot not in made:
                read[slot] = None
        made.update(step.writes)
        last.update(dict.fromkeys(step.writes))
    return list(read), list(last)


def observe_updates() -> Callable[[], None]:
    """Start recording the arrays of weight updates; return a function that stops it."""
    original = WeightUpdate.push

    def push(self: WeightUpdate, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        read = [array for group in self._groups for array in group]
        written = [array for group in self._groups for array in (group[0], *group[2:])]
        with declared_operands(read, written):
            original(self, columns, scalars)

    WeightUpdate.push = push  # type: ignore[method-assign]  # until `end`

    def end() -> None:
        WeightUpdate.push = original  # type: ignore[method-assign]  # as it was

    return end
