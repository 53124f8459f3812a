"""cuDNN through its frontend: handles, and a cache of plans.

The frontend loads at the first convolution or attention on a device. A plan belongs to a device and
a `Problem`, and is shared by all networks; problems without a plan are cached, too. Engines without
a fixed order of sums are excluded, so that equal runs give equal bits. cuDNN's heuristics choose
the engine or, for a problem that says so, a measurement at its first run (`cudnn_trial`). Plans
that were measured, or took long to build, are saved for later processes (`cudnn_files`).

Invariants: `_opened`, handles and plans change by atomic dict operations, and only grow; but when
there are too many plans, those without a captured CUDA graph are dropped, and when a stream is
released, its handle is forgotten. Keys of handles include the process, so that a forked child, in
which CUDA does not work, does not use its parent's handles. A handle's lock is held around each
call with the handle, as cuDNN requires.
"""

import logging
import os
import time
import weakref
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol

from gluonish.core.errors import DeviceError
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels.cupy import cudnn_files
from gluonish.kernels.cupy.cudnn_trial import choose
from gluonish.kernels.cupy.libraries import load_front_end
from gluonish.ops.kernel import RefusedError

_LOG = logging.getLogger("gluonish")
_MAX_PLANS = 4096
_SLOW_S = 0.05  # a plan that takes longer to build is saved


class Handle:
    """cuDNN on one stream of one device, which must both be current.

    Attributes:
        raw: cuDNN's handle.
        lock: Held around each call with the handle.
    """

    __slots__ = ("lock", "raw")

    def __init__(self, front_end: Any, stream: int) -> None:
        self.lock = TimeoutLock()
        self.raw = int(front_end.create_handle())
        front_end.set_stream(handle=self.raw, stream=stream)


class Problem(Protocol):
    """What a plan computes; hashable, as it is the plan's cache key."""

    @property
    def measured(self) -> bool:
        """Whether to choose the engine by time."""
        raise NotImplementedError

    def build(self, front_end: Any, handle: int) -> Any:
        """Return the frontend's graph of the problem, with its plan built.

        Raises:
            Exception: ``front_end.cudnnGraphNotSupportedError`` if cuDNN has no engine; a
                RuntimeError or ValueError for earlier failures.
        """

    def prepare(self, front_end: Any, handle: int) -> Any:
        """Return the graph of a measured problem before any plan is built; raises as `build`."""


# Returns the plan to run instead, given CuPy, the handle and the addresses of the tensors.
Trial = Callable[[Any, Handle, Mapping[int, int]], "Plan | None"]


class Plan:
    """A convolution or an attention that is ready to run, on any stream of its device.

    Args:
        graph: A graph of the frontend whose plan has been built.

    Attributes:
        captured: Whether a CUDA graph may contain the plan; such plans are never dropped.
        nbytes: Size of the workspace in bytes.
        trials: Holds a function until the first run calls it, if the engine has to be measured.
    """

    __slots__ = ("_graph", "captured", "nbytes", "trials")

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.nbytes = int(graph.get_workspace_size())
        self.captured = False
        self.trials: list[Trial] = []

    def run(self, xp: Any, handle: Handle, addresses: Mapping[int, int]) -> None:
        """Run on the handle's stream, which must be current.

        Args:
            addresses: Addresses of the tensors, by their ids in the graph.

        Raises:
            DeviceError: cuDNN reports a failure.
            RefusedError: There is no memory for the workspace.
            MemoryError: The same during a capture, where the graph would record the fallback.
        """
        if self.trials and not xp.cuda.get_current_stream().is_capturing():
            faster = self._measured(xp, handle, addresses)
            if faster is not None:
                faster.run(xp, handle, addresses)
                return
        try:  # from the stream's pool
            workspace = xp.cuda.alloc(self.nbytes) if self.nbytes else None
        except MemoryError as error:
            if xp.cuda.get_current_stream().is_capturing():
                raise
            raise RefusedError(
                f"cuDNN: expected {self.nbytes} bytes for a workspace, got none"
            ) from error
        try:
            with handle.lock:
                address = 0 if workspace is None else workspace.ptr
                self._graph._execute(addresses, address, handle.raw)
        except RuntimeError as error:
            raise DeviceError(f"cuDNN: expected a plan to run, got {error}") from error

    def _measured(self, xp: Any, handle: Handle, addresses: Mapping[int, int]) -> "Plan | None":
        try:
            trial = self.trials.pop()  # atomic: other threads run this plan meanwhile
        except IndexError:
            return None
        return trial(xp, handle, addresses)


class CuDNN:
    """The loaded frontend of cuDNN, with its handles and plans.

    Attributes:
        plans: The plan for each device and problem; None if cuDNN does not support the problem.
        version: Version of the library, such as 92500 for 9.25.
    """

    def __init__(self, front_end: Any) -> None:
        self.version = int(front_end.backend_version())
        self.plans: dict[tuple[int, Any], Plan | None] = {}
        self._front_end = front_end
        self._handles: dict[tuple[int, int, int], Handle] = {}
        self._forgotten: list[Handle | None] = []  # CUDA graphs may have been captured with them
        self._replaced: list[Plan] = []
        self._loaders: dict[tuple[int, int], tuple[Handle, Any]] = {}  # and their own streams
        self._errors = (front_end.cudnnGraphNotSupportedError, RuntimeError, ValueError)

    def find(self, xp: Any, problem: Problem) -> tuple[Plan, Handle] | None:
        """Return the plan for a problem and the current stream's handle; None without a plan.

        Both are made on first use, but not while the stream captures a graph.

        Raises:
            DeviceError: The stream captures a graph, and plan or handle do not exist yet.
        """
        device, stream = xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream()
        key = (device, problem)
        plan, handle = self.plans.get(key), self._handles.get((os.getpid(), device, stream.ptr))
        if plan is not None and handle is not None:
            if not plan.captured and stream.is_capturing():
                plan.captured = True
            return plan, handle
        if plan is None and key in self.plans:
            return None
        if stream.is_capturing():
            raise DeviceError(
                "cuDNN: expected the same call to run before the capture, got its first one"
            )
        handle = self.handle(xp)
        if plan is None:
            plan = self._store(key, self._make(xp, device, handle, problem))
        return None if plan is None else (plan, handle)

    def handle(self, xp: Any) -> Handle:
        """Return the handle of the current stream, creating it on first use."""
        stream = xp.cuda.get_current_stream().ptr
        key = (os.getpid(), xp.cuda.runtime.getDevice(), stream)
        handle = self._handles.get(key)
        if handle is None:
            made = Handle(self._front_end, stream)
            handle = self._handles.setdefault(key, made)
            if handle is not made:  # another thread created a handle first
                self._front_end.destroy_handle(made.raw)
        return handle

    @property
    def is_in_use(self) -> bool:
        """Whether any stream has a handle."""
        return bool(self._handles)

    def forget(self, stream: int) -> None:
        """Forget the handle of a stream that no longer exists, by its address."""
        for key in [key for key in tuple(self._handles) if key[2] == stream]:
            self._forgotten.append(self._handles.pop(key, None))

    def _make(self, xp: Any, device: int, handle: Handle, problem: Problem) -> Plan | None:
        """Return the saved plan of a problem, or a new one; None if cuDNN has none."""
        file_key = cudnn_files.key_of(xp, self._front_end, device, problem)
        if cudnn_files.is_saved(file_key):
            loader = self._loader(xp, device)
            graph = cudnn_files.load(self._front_end, loader, file_key, self._errors)
            if graph is not None:
                return Plan(graph)
        start = time.perf_counter()
        graph = self._build(handle, problem)
        if graph is None:
            return None
        plan = Plan(graph)
        if problem.measured:
            plan.trials.append(self._trial(device, problem, plan, graph, file_key))
        elif time.perf_counter() - start > _SLOW_S:
            cudnn_files.save(graph, file_key, self._errors)
        return plan

    def _build(self, handle: Handle, problem: Problem) -> Any:
        front_end = self._front_end
        try:
            with handle.lock:
                return problem.build(front_end, handle.raw)
        except self._errors as error:
            reason = " ".join(str(error).split())
            _LOG.debug("cuDNN has no plan for %s: %.300s", problem, reason)
            return None

    def _trial(
        self, device: int, problem: Problem, plan: Plan, graph: Any, file_key: bytes
    ) -> Trial:
        """Return the function that measures a problem's engines, and stores the fastest plan.

        Args:
            plan: That of the heuristics' first engine.
            graph: The plan's graph.
        """

        def trial(xp: Any, handle: Handle, addresses: Mapping[int, int]) -> Plan | None:
            errors, faster, fastest = self._errors, None, graph
            try:
                with handle.lock:
                    measured = problem.prepare(self._front_end, handle.raw)
                if choose(xp, measured, handle, addresses, errors):
                    faster, fastest = Plan(measured), measured
            except errors as error:
                _LOG.debug("cuDNN: %s cannot be measured: %.300s", problem, error)
            if faster is not None:
                if plan.captured:  # its CUDA graphs need it
                    self._replaced.append(plan)
                self.plans[device, problem] = faster
            cudnn_files.save(fastest, file_key, errors)
            return faster

        return trial

    def _loader(self, xp: Any, device: int) -> Handle:
        """Return a handle to load plans with, whose stream nothing else uses."""
        key = (os.getpid(), device)
        found = self._loaders.get(key)
        if found is None:
            stream = xp.cuda.Stream(non_blocking=True)
            found = self._loaders.setdefault(key, (Handle(self._front_end, stream.ptr), stream))
        return found[0]

    def _store(self, key: tuple[int, Problem], plan: Plan | None) -> Plan | None:
        if len(self.plans) >= _MAX_PLANS:
            self.plans = {k: p for k, p in self.plans.copy().items() if p and p.captured}
        return self.plans.setdefault(key, plan)


_opened: weakref.WeakKeyDictionary[ModuleType, CuDNN | None] = weakref.WeakKeyDictionary()


def adopt(xp: ModuleType, front_end: Any) -> None:
    """Use ``front_end`` for arrays of the module ``xp``; None disables cuDNN for them."""
    _opened[xp] = None if front_end is None else CuDNN(front_end)


def opened(xp: ModuleType) -> CuDNN | None:
    """Return cuDNN, loading it on first use; None without cuDNN or its frontend."""
    try:
        return _opened[xp]
    except KeyError:
        return _opened.setdefault(xp, _open(xp))


def is_available() -> bool:
    """Whether cuDNN serves, or might serve, the arrays of some module."""
    return any(_opened.values()) or (not _opened and find_spec("cudnn") is not None)


def prepare(xp: ModuleType) -> None:
    """Create the handle of the current stream, if cuDNN is already in use on any stream."""
    found = _opened.get(xp)
    if found is not None and found.is_in_use:
        found.handle(xp)


def forget(xp: ModuleType, stream: int) -> None:
    """Forget the handle of a stream that no longer exists, by its address."""
    found = _opened.get(xp)
    if found is not None:
        found.forget(stream)


def _open(xp: Any) -> CuDNN | None:
    try:
        return CuDNN(load_front_end(int(xp.cuda.runtime.runtimeGetVersion()) // 1000))
    except DeviceError as error:
        _LOG.debug("Convolutions run without cuDNN: %s", error)
        return None
