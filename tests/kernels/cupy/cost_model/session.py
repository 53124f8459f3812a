"""A program on a modelled device: ``gpu(0)`` is a machine of the double that executes nothing.

Memory has the device's size and no pages, launches are recorded with their costs, and the report
says what they would take. Steps of the program end with updates of a trainer or a module or, in a
program without, with waits of the host.
"""

import functools
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import gluonish
import gluonish_engine
from tests.kernels.cupy.cost_model.rates import Rates
from tests.kernels.cupy.cost_model.records import Event, Issued, Recorder, StepEnd, Waited
from tests.kernels.cupy.cost_model.timeline import Step, Timeline
from tests.kernels.cupy.machine import Machine

# What ends a step: classes by module, and their methods.
_UPDATES = (
    ("gluonish.gluon.trainer", "Trainer", ("step", "update")),
    ("gluonish.module.module", "Module", ("update",)),
)
_OURS = tuple(f"{Path(str(m.__file__)).parent}{os.sep}" for m in (gluonish, gluonish_engine))


class Session:
    """A machine like a device, and what it was asked to do.

    Args:
        device: The device's name in the tables of `rates`.
        count: How many of them.

    Attributes:
        machine: The machine.
        rates: The device's rates.
        recorder: Has the events.
        ends_by_hand: Whether only `Recorder.end_step` ends steps.

    Raises:
        ArgumentError: There is no table for the device.
    """

    def __init__(self, device: str, count: int = 1) -> None:
        self.rates = Rates(device)
        self.machine = Machine(count, executes=False)
        self.machine.capacity = int(self.rates.table["capacity"])
        self.recorder = self.machine.recorder = Recorder()
        self.ends_by_hand = False

    @contextmanager
    def devices(self) -> Iterator[None]:
        """Make ``gpu(i)`` the machine's in this process, which opened none before."""
        double = importlib.import_module("tests.kernels.cupy.double")
        algebra = importlib.import_module("tests.kernels.cupy.linear_algebra")
        support = importlib.import_module("gluonish.kernels.cupy").CuPySupport
        known = importlib.import_module("gluonish.core.device")
        cupy = double.make_cupy(self.machine)
        modules: list[Any] = [ModuleType("cupyx"), ModuleType("cupyx.scipy"), double.make_special()]
        modules[0].scipy, modules[1].special = modules[1:]
        modules[0].errstate = algebra.errstate
        sys.modules.update({module.__name__: module for module in modules})
        sys.modules["cupy"] = cupy
        known._gpu_support[:] = [support(lambda: cupy, lambda _: None)]
        with self.watching():
            yield

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note operators, jobs of the engine, and the ends of steps, inside the scope."""
        stream = importlib.import_module("gluonish.kernels.cupy.stream").DeviceStream
        with ExitStack() as scopes:
            recorder = self.recorder
            around = functools.partial(_around, scopes)
            around(stream, "launch", lambda stream, fn, name="": recorder.operator(name))
            around(stream, "note", lambda stream, name: recorder.operator(name))
            for module, kind, methods in () if self.ends_by_hand else _UPDATES:
                owner = getattr(importlib.import_module(module), kind)
                for method in methods:
                    _after(scopes, owner, method, recorder)
            scopes.enter_context(_counted_calls(recorder))
            yield

    def steps(self, host: Mapping[str, float] | None = None) -> list[Step]:
        """Return the steps so far, as the device would take them.

        Args:
            host: Figures of the host that differ from the table's.
        """
        return Timeline(self.rates, host).steps(_with_ends(self.recorder.events))

    def memory(self) -> dict[str, int]:
        """Return the peak of the first device's memory in bytes, by what holds it."""
        known = importlib.import_module("gluonish.core.device")
        gpu = importlib.import_module("gluonish.core.context").gpu
        device = known.device_of(gpu(0))
        captured = getattr(device.graphs, "_scratch", None)  # older checkouts have none
        return {
            "peak": int(device.memory_info().peak),
            "pool": int(device.pool.statistics().peak_used),
            "captures": 0 if captured is None else int(captured.nbytes),
        }


def _with_ends(events: list[Event]) -> list[Event]:
    """Return events whose steps end; waits end them where nothing else does."""
    if any(isinstance(event, StepEnd) for event in events):
        return events
    made: list[Event] = []
    busy = False
    for event in events:
        made.append(event)
        busy = busy or isinstance(event, Issued)
        if busy and isinstance(event, Waited):
            made.append(StepEnd("wait"))
            busy = False
    return made


@contextmanager
def _counted_calls(recorder: Recorder) -> Iterator[None]:
    """Count this thread's calls of functions of gluonish and its engine, inside the scope."""
    known: dict[CodeType, bool] = {}

    def count(frame: FrameType, what: str, _: object) -> None:
        if what == "call":
            code = frame.f_code
            ours = known.get(code)
            if ours is None:
                ours = known[code] = code.co_filename.startswith(_OURS)
            if ours:
                recorder.calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def _around(scopes: ExitStack, owner: Any, name: str, before: Callable[..., None]) -> None:
    """Call ``before`` with the arguments of each call of a method, inside the scopes."""
    method = getattr(owner, name)

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        before(*args, **kwargs)
        return method(*args, **kwargs)

    setattr(owner, name, call)
    scopes.callback(setattr, owner, name, method)


def _after(scopes: ExitStack, owner: Any, name: str, recorder: Recorder) -> None:
    """End a step with each call of a method, inside the scopes."""
    method = getattr(owner, name)

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        recorder.end_step(f"{owner.__name__}.{name}")
        return result

    setattr(owner, name, call)
    scopes.callback(setattr, owner, name, method)
