"""Place: where rows run, a CUDA device or the double of CuPy, and what differs between the two.

gluonish, CuPy and PyTorch are imported when a row first asks for them.
"""

import contextlib
import functools
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.gpu_run.rows import NotOnDouble, Refused
from benchmarks.gpu_run.timeline import Work
from benchmarks.gpu_run.timing import EventTimer, HostTimer, Timer, TorchTimer

T = TypeVar("T")
_LAST_S = 5.0  # for a row to tell what its program found


@contextlib.contextmanager
def variables(settings: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment inside the scope."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Place:
    """A CUDA device; what a row may ask of it.

    Attributes:
        rehearsed: Whether this is the double.
        ends_at: When the stage has to end, as `time.time` counts.
        failures: The file that collects what failures say in full, or None.
        compiles: Whether PyTorch's side is compiled, too.
        turns: Whether rows that compare take one turn of ours at a time, when asked.
        row: The name of the row that runs.
    """

    rehearsed = False
    ends_at = float("inf")
    failures: Path | None = None
    compiles = True
    turns = False
    row = ""

    def keep_failure(self, text: str) -> None:
        """Append what a failure says in full, a traceback or a test's output, to `failures`."""
        if self.failures is not None:
            with self.failures.open("a", encoding="utf-8") as file:
                file.write(text + "\n")

    def remaining_s(self, most: float) -> float:
        """Return ``most``, or what is left of the stage if that is less."""
        return min(most, self.ends_at - time.time() - _LAST_S)

    def pick(self, real: T, rehearsed: T) -> T:
        """Return the size, or whatever else, that suits the place."""
        return rehearsed if self.rehearsed else real

    @functools.cached_property
    def cupy(self) -> Any:
        """CuPy, with device 0 current."""
        cupy = importlib.import_module("cupy")
        cupy.cuda.Device(0).use()
        return cupy

    @functools.cached_property
    def mx(self) -> Any:
        """Gluonish, whose ``gpu(0)`` is the place's."""
        return importlib.import_module("gluonish")

    @functools.cached_property
    def torch(self) -> Any:
        """PyTorch.

        Raises:
            Refused: it is not installed, or has no device.
        """
        try:
            torch = importlib.import_module("torch")
        except ImportError as error:
            raise Refused(f"no torch: {error}") from error
        if not self.rehearsed and not torch.cuda.is_available():
            raise Refused("no torch: it has no CUDA device")
        return torch

    @property
    def has_torch(self) -> bool:
        """Whether there is a peer."""
        try:
            return bool(self.torch)
        except Refused:
            return False

    @property
    def card(self) -> str:
        """The device's name."""
        name: bytes = self.cupy.cuda.runtime.getDeviceProperties(0)["name"]
        return name.decode()

    @property
    def torch_device(self) -> str:
        """Where PyTorch's tensors go."""
        return self.pick("cuda", "cpu")

    @functools.cached_property
    def nccl(self) -> Any:
        """CuPy's NCCL."""
        return importlib.import_module("cupy.cuda.nccl")

    @functools.cached_property
    def frontend(self) -> Any:
        """The compiled module of cuDNN's front end.

        Raises:
            Refused: it, or cuDNN, is not there.
        """
        return importlib.import_module("benchmarks.gpu_run.cudnn_frontend").load()

    def require(self, owner: Any, *names: str) -> None:
        """Say which names a row needs of CuPy.

        Raises:
            NotOnDouble: the double lacks one.
        """

    def timer(self) -> Timer:
        """Return a timer of gluonish's compute stream."""
        device = importlib.import_module("gluonish.core.device").device_of(self.mx.gpu(0))
        return EventTimer(self.cupy, device.compute.raw)

    def stream_timer(self, stream: Any) -> Timer:
        """Return a timer of one of CuPy's streams."""
        return EventTimer(self.cupy, stream)

    def torch_timer(self) -> Timer:
        """Return a timer of PyTorch's current stream."""
        return TorchTimer(self.torch)

    def work(self, call: Callable[[], None]) -> list[Work]:
        """Return what a call makes the device do, by PyTorch's profiler, in order of time."""
        profiler = self.torch.profiler
        with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as seen:
            call()
            self.settle()
        events = seen.profiler.kineto_results.events()
        found = [
            Work(e.name(), e.start_ns() / 1e3, e.duration_ns() / 1e3)
            for e in events
            if str(e.device_type()).endswith("CUDA")
        ]
        return sorted(found, key=lambda work: work.start_us)

    def settle(self) -> None:
        """Wait for the device; raise what it reports."""
        if "mx" in self.__dict__:
            self.mx.nd.waitall()
        if "cupy" in self.__dict__:
            self.cupy.cuda.runtime.deviceSynchronize()
        if "torch" in self.__dict__ and self.torch.cuda.is_available():
            self.torch.cuda.synchronize()

    def clear(self) -> None:
        """Give back what pools hold."""
        if "mx" in self.__dict__ and self.mx.context.num_gpus():
            self.mx.gpu(0).empty_cache()
        if "torch" in self.__dict__ and self.torch.cuda.is_available():
            self.torch.cuda.empty_cache()


class _Double(Place):
    """The double of CuPy, in a rehearsal."""

    rehearsed = True

    @functools.cached_property
    def _rehearsal(self) -> Any:
        return importlib.import_module("benchmarks.gpu_run.rehearsal").Rehearsal()

    @property
    def machine(self) -> Any:
        """The machine under the double."""
        return self._rehearsal.machine

    @functools.cached_property
    def cupy(self) -> Any:
        """The double."""
        return self._rehearsal.cupy

    @functools.cached_property
    def mx(self) -> Any:
        """Gluonish on the double."""
        self._rehearsal.install()
        return importlib.import_module("gluonish")

    @functools.cached_property
    def nccl(self) -> Any:
        """The double has none."""
        raise NotOnDouble("NCCL")

    @functools.cached_property
    def frontend(self) -> Any:
        """The double's, with the calls of version 1.22."""
        assert self.cupy
        # As in cudnn_frontend.load.
        sys.modules.setdefault("cudnn", self.machine.cudnn)
        return self.machine.cudnn

    @property
    def card(self) -> str:
        """No card, so that nothing is compared with one."""
        return "the double"

    def timer(self) -> Timer:
        """Return a timer that reads the host's clock."""
        return HostTimer(self.mx.nd.waitall)

    def stream_timer(self, stream: Any) -> Timer:
        """Return a timer that reads the host's clock."""
        return HostTimer(stream.synchronize)

    def torch_timer(self) -> Timer:
        """Return a timer that reads the host's clock."""
        assert self.torch
        return HostTimer(lambda: None)

    def work(self, call: Callable[[], None]) -> list[Work]:
        """Return the launches that the machine saw, which have no names and take no time."""
        before = self._rehearsal.launches()
        call()
        self.settle()
        return [Work("a launch", 0.0, 0.0)] * int(self._rehearsal.launches() - before)

    def settle(self) -> None:
        """Wait for the engine."""
        if "mx" in self.__dict__:
            self.mx.nd.waitall()

    def require(self, owner: Any, *names: str) -> None:
        """Refuse the row if the double lacks a name."""
        for name in names:
            try:
                getattr(owner, name)
            except (AttributeError, AssertionError) as error:
                raise NotOnDouble(name) from error


def make_place(
    *,
    rehearse: bool,
    ends_at: float = float("inf"),
    failures: Path | None = None,
    compiles: bool = True,
    turns: bool = False,
) -> Place:
    """Return the place that the command line asks for."""
    place = _Double() if rehearse else Place()
    place.ends_at = ends_at
    place.failures = failures
    place.compiles = compiles
    place.turns = turns
    return place
