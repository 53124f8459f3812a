"""What the profiler records of operators and graphs.

The engine knows no arrays. What a push runs knows them: they are among the arguments that its
function is bound to. Where NumPy or CuPy itself is one of those, what follows it is written and the
rest is read, as kernels take it; elsewhere the last argument with arrays is written. Whoever pushes
what holds its arrays otherwise tells of them (`telling`); steps of graphs do so themselves
(`gluonish.profiler.operators`).

While the profiler runs, engines hand each push to the hook of `observe_engine`; while it does not,
a push costs one test more. An operator runs in the same place in the same way, with its failure
passed on. On a GPU's stream, what is timed is the launch.

While the profiler runs, `Executable` runs its steps one by one here, so that each has its times and
its arrays. What a segment reads and writes is that of its steps together: read before it was
written, and written without being read again.
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
from gluonish.profiler.events import Job, Operand, Row, Step
from gluonish.profiler.recorder import now, recorder, this_row
from gluonish.profiler.scopes import NOWHERE, current_place

Operands = tuple[tuple[Operand, ...], tuple[Operand, ...]]  # read, written
Function = Callable[[], None]

_DEPTH = 3  # lists in lists
_NOTHING: Operands = ((), ())
_calls = itertools.count(1)


class _Thread(threading.local):
    """Of the calling thread: the job that it runs, and what it tells of its next push."""

    def __init__(self) -> None:
        self.job: _Observed | None = None
        self.told: Operands | None = None


_thread = _Thread()


class _Observed:
    """What runs in place of a pushed function: it runs that, and keeps when."""

    __slots__ = (
        "call",
        "fn",
        "lane",
        "name",
        "push_ns",
        "pushed_ns",
        "pusher",
        "scope",
        "steps",
        "told",
        "wanted",
    )

    def __init__(self, fn: Function, lane: Hashable, name: str, wanted: "_Wanted") -> None:
        self.push_ns = now()
        self.call = next(_calls)
        self.fn = fn
        self.lane = lane
        self.name = name
        self.wanted = wanted
        self.pusher: Row = this_row()
        self.scope = current_place.get(NOWHERE).path
        self.told = _thread.told
        # Steps of a graph, and what it reads and writes in all; who runs them adds them.
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
            self._keep(start_ns, stop_ns, error)

    def _keep(self, start_ns: int, stop_ns: int, error: str) -> None:
        is_wanted = self.wanted.imperative if self.steps is None else self.wanted.symbolic
        if not (is_wanted and recorder.active):
            return
        inputs, outputs = describe(self.fn) if self.told is None else self.told
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


class _Wanted:
    """Which jobs are kept."""

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
    wanted = _Wanted(imperative, symbolic)

    def observe(fn: Function, lane: Hashable, name: str) -> Function:
        if not recorder.active or isinstance(fn, _Observed):
            return fn
        return _Observed(fn, lane, name, wanted)

    observe_pushes(observe)
    return partial(observe_pushes, None)


def running_job() -> _Observed | None:
    """Return the recorded job that the calling thread is running."""
    return _thread.job


class telling:
    """Context manager: the thread's pushes are recorded with these operands.

    Args:
        inputs: Arrays that are read.
        outputs: Arrays that are written.
    """

    __slots__ = ("_previous", "_told")

    def __init__(self, inputs: Iterable[Any], outputs: Iterable[Any]) -> None:
        self._told = operands(inputs), operands(outputs)
        self._previous: Operands | None = None

    def __enter__(self) -> None:
        self._previous, _thread.told = _thread.told, self._told

    def __exit__(self, *exc_info: object) -> None:
        _thread.told = self._previous


def describe(fn: Any) -> Operands:
    """Return the arrays that a pushed function reads and writes; see the module's docstring.

    Args:
        fn: The function.
    """
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
    """Return shape, dtype and size of arrays of NumPy, CuPy and our own.

    Args:
        arrays: The arrays.
    """
    found = (x._spec if isinstance(x, NDArray) else x for x in arrays)
    return tuple([_operand(tuple(x.shape), x.dtype, x.nbytes) for x in found])


@lru_cache(maxsize=4096)
def _operand(shape: tuple[int, ...], dtype: Any, nbytes: int) -> Operand:
    return Operand(shape, str(dtype), int(nbytes))  # one object for all that are alike


def _is_other_array(value: Any) -> bool:
    """Whether it is CuPy's; a number of NumPy's has all of these, too."""
    likeness = all(hasattr(value, name) for name in ("nbytes", "dtype", "shape"))
    return likeness and not isinstance(value, np.generic)


def _arrays(values: Iterable[Any], depth: int = _DEPTH) -> Iterator[Any]:
    for value in values:
        if isinstance(value, NDArray | np.ndarray) or _is_other_array(value):
            yield value
        elif depth and isinstance(value, list | tuple):
            yield from _arrays(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from _arrays(value.values(), depth - 1)


Key = tuple[int, int]


def observe_steps(*, wanted: bool) -> Callable[[], None]:
    """Start labelling jobs of graphs as such; return a function that stops it.

    Args:
        wanted: Whether to record the operators within each job, too.
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
        if not wanted:
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
                    operands([frame[i] for i in places if frame[i] is not None])
                    for places in (step.reads, step.writes)
                )
                node = step.node
                job.steps.append(Step(step.op.name, node.name, start_ns, stop_ns, inputs, outputs))
        read, written = _rims(single)
        job.told = operands([frame[i] for i in read]), operands([frame[i] for i in written])

    Executable._run = run  # type: ignore[method-assign]  # until `end`

    def end() -> None:
        Executable._run = original  # type: ignore[method-assign]  # as it was

    return end


def _rims(steps: Sequence[Instruction]) -> tuple[list[int], list[int]]:
    """Return the places that steps read first, and those that they write last."""
    read: dict[int, None] = {}
    made: set[int] = set()
    last: dict[int, None] = {}
    for step in steps:
        for place in step.reads:
            last.pop(place, None)
            if place not in made:
                read[place] = None
        made.update(step.writes)
        last.update(dict.fromkeys(step.writes))
    return list(read), list(last)


def observe_updates() -> Callable[[], None]:
    """Start recording the arrays of weight updates; return a function that stops it."""
    original = WeightUpdate.push

    def push(self: WeightUpdate, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        read = [array for group in self._groups for array in group]
        written = [array for group in self._groups for array in (group[0], *group[2:])]
        with telling(read, written):
            original(self, columns, scalars)

    WeightUpdate.push = push  # type: ignore[method-assign]  # until `end`

    def end() -> None:
        WeightUpdate.push = original  # type: ignore[method-assign]  # as it was

    return end
