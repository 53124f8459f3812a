"""cuDNN by its front end: handles, and plans of convolutions that are built once and kept.

The front end loads at the first convolution on a device. A plan belongs to a device and to all that
decides about it (`gluonish.kernels.cupy.cudnn_graph.Problem`), and serves every network; what cuDNN
has no plan for is remembered, too. Its heuristics choose among the engines, never a measured time,
and engines that add in an order of their own are left out: equal runs give equal bits.

Invariants: `_opened`, handles and plans only grow by atomic steps of a dict, but for plans, of
which those go that no CUDA graph was captured with when there are too many. Keys of handles hold
the process, so that a forked child, in which CUDA cannot work, never meets its parent's. A handle's
lock is held around each call that is given the handle, as cuDNN asks for.
"""

import logging
import os
import weakref
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from gluonish.core.errors import DeviceError
from gluonish.core.timeout_lock import Turn
from gluonish.kernels.cupy.cudnn_graph import Problem, build
from gluonish.kernels.cupy.libraries import load_front_end
from gluonish.ops.kernel import RefusedError

_LOG = logging.getLogger("gluonish")
_MOST_PLANS = 4096


class Handle:
    """cuDNN on one stream of one device; made while both are current.

    Args:
        front_end: The module.
        stream: Address of the stream.

    Attributes:
        raw: cuDNN's own handle.
        turn: Whose turn it is to use it.
    """

    __slots__ = ("raw", "turn")

    def __init__(self, front_end: Any, stream: int) -> None:
        self.turn = Turn()
        self.raw = int(front_end.create_handle())
        front_end.set_stream(handle=self.raw, stream=stream)


class Plan:
    """A convolution that is ready to run, on any stream of its device.

    Args:
        graph: The front end's, built.

    Attributes:
        captured: Whether a CUDA graph may have been captured with it, which needs it from then on.
        nbytes: Of the workspace.
    """

    __slots__ = ("_graph", "captured", "nbytes")

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.nbytes = int(graph.get_workspace_size())
        self.captured = False

    def run(self, xp: Any, handle: Handle, addresses: Mapping[int, int]) -> None:
        """Run on the handle's stream, which is current.

        Args:
            handle: The stream's.
            addresses: Of the tensors, by the numbers that `cudnn_graph` gives them.

        Raises:
            DeviceError: cuDNN reports a failure.
            RefusedError: There is no memory for the workspace.
        """
        try:  # of the stream's pool, as any array that a kernel needs for itself
            workspace = xp.cuda.alloc(self.nbytes) if self.nbytes else None
        except MemoryError as error:
            raise RefusedError(
                f"cuDNN: expected {self.nbytes} bytes for a workspace, got none"
            ) from error
        try:
            with handle.turn:
                address = 0 if workspace is None else workspace.ptr
                self._graph._execute(addresses, address, handle.raw)
        except RuntimeError as error:
            raise DeviceError(f"cuDNN: expected a plan to run, got {error}") from error


class CuDNN:
    """The front end with its handles and plans.

    Args:
        front_end: The module.

    Attributes:
        plans: By device and problem; None: cuDNN has none.
    """

    def __init__(self, front_end: Any) -> None:
        self.plans: dict[tuple[int, Problem], Plan | None] = {}
        self._front_end = front_end
        self._handles: dict[tuple[int, int, int], Handle] = {}

    def find(self, xp: Any, problem: Problem) -> tuple[Plan, Handle] | None:
        """Return a plan and the handle of the current stream; None where there is none.

        Both are made at their first use, but not while the stream captures a graph.

        Raises:
            DeviceError: The stream captures, and they were not used before.
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
            raise DeviceError("cuDNN: expected a call like it before the capture, got the first")
        handle = self.handle(xp)
        if plan is None:
            plan = self._keep(key, self._build(handle, problem))
        return None if plan is None else (plan, handle)

    def handle(self, xp: Any) -> Handle:
        """Return the handle of the current stream, making it at the first use."""
        stream = xp.cuda.get_current_stream().ptr
        place = (os.getpid(), xp.cuda.runtime.getDevice(), stream)
        handle = self._handles.get(place)
        if handle is None:
            made = Handle(self._front_end, stream)
            handle = self._handles.setdefault(place, made)
            if handle is not made:  # another thread was faster
                self._front_end.destroy_handle(made.raw)
        return handle

    def _build(self, handle: Handle, problem: Problem) -> Plan | None:
        front_end = self._front_end
        try:
            with handle.turn:
                return Plan(build(front_end, handle.raw, problem))
        except (front_end.cudnnGraphNotSupportedError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())
            _LOG.debug("cuDNN has no plan for %s: %.300s", problem, reason)
            return None

    def _keep(self, key: tuple[int, Problem], plan: Plan | None) -> Plan | None:
        if len(self.plans) >= _MOST_PLANS:
            self.plans = {k: p for k, p in self.plans.copy().items() if p and p.captured}
        return self.plans.setdefault(key, plan)


_opened: weakref.WeakKeyDictionary[ModuleType, CuDNN | None] = weakref.WeakKeyDictionary()


def adopt(xp: ModuleType, front_end: Any) -> None:
    """Use a front end for arrays of this module, in place of the one installed; None: use none."""
    _opened[xp] = None if front_end is None else CuDNN(front_end)


def opened(xp: ModuleType) -> CuDNN | None:
    """Return cuDNN, loading it at the first call; None where it, or its front end, is missing."""
    try:
        return _opened[xp]
    except KeyError:
        return _opened.setdefault(xp, _open(xp))


def prepare(xp: ModuleType) -> None:
    """Make the handle of the current stream, if cuDNN was used before on any."""
    found = _opened.get(xp)
    if found is not None and found.plans:
        found.handle(xp)


def _open(xp: Any) -> CuDNN | None:
    try:
        return CuDNN(load_front_end(int(xp.cuda.runtime.runtimeGetVersion()) // 1000))
    except DeviceError as error:
        _LOG.debug("Convolutions go without cuDNN: %s", error)
        return None
