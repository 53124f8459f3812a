"""State: one block of memory with the values that a forward pass saves for its backward pass.

Each saved value has a fixed offset, in the order in which the backward pass reads them. So values
that are last read together are neighbours, and the backward pass can compute in their memory.

Invariants: one engine variable per state orders all uses of its bytes; a job that overwrites them
is a writer. A state belongs to one recorded call from `States.acquire` until the finalizer of the
call's node or `States.release`, whichever is first. The queues of idle states change in one
bytecode instruction; a full queue drops its oldest state.
"""

from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple
from weakref import ref

from gluonish.core.context import Context
from gluonish.core.device import Device
from gluonish.core.finalizer import Finalizer, Registration, cancel, keep
from gluonish.core.memory_owners import MemoryOwner, register_memory_owner
from gluonish.core.spec import Spec
from gluonish.graph.arenas import aligned_empty
from gluonish.graph.idle_memory import drop_idle, mark_used
from gluonish.graph.ir import Value
from gluonish.graph.memory_plan import padded
from gluonish_engine import Var

_MAX_IDLE = 2  # states of any size
_MAX_SMALL_IDLE = 64  # states that are small together, as those of a cell in an unrolled sequence
_SMALL_NBYTES = 32 << 20


class State:
    """The bytes of saved values, and one engine variable for all of them.

    Attributes:
        owner: Context, and the name that profiles and messages show for the memory.
    """

    __slots__ = ("__weakref__", "owner", "raw", "var")

    def __init__(self, raw: Any, owner: tuple[Context, str] | None = None) -> None:
        self.raw = raw
        self.owner = owner
        self.var = Var()


class _Idle(Finalizer):
    """A finalizer that holds an idle state; it runs when the node that used the state is freed."""

    __slots__ = ("state",)

    state: State


class StateUse(NamedTuple):
    """How a pass uses a state.

    Attributes:
        values: The saved values in the graph of the pass.
        offsets: Offset of each value in bytes.
        filled: Whether the state holds the values when the pass starts; else the pass makes them.
        lasting: Whether the values must be intact when the pass ends; otherwise the pass may
            overwrite each after the last instruction that reads it.
    """

    values: Sequence[Value]
    offsets: Sequence[int]
    filled: bool
    lasting: bool


def state_offsets(specs: Sequence[Spec]) -> tuple[list[int], int]:
    """Return the offset of each saved value in a state, and the size of the state, in bytes."""
    ends = list(accumulate((padded(spec.nbytes) for spec in specs), initial=0))
    return ends[:-1], ends[-1]


class States:
    """A pool of the states of one plan.

    Args:
        device: The device that the states are allocated on.
        nbytes: Size of each state.
        keep: Whether idle states live as long as the plan; otherwise `gluonish.graph.idle_memory`
            bounds the idle memory of all plans together.
        name: Name of the Block.
    """

    __slots__ = ("_device", "_drop", "_idle", "_keep", "_name", "_nbytes")

    def __init__(self, device: Device, nbytes: int, *, keep: bool, name: str = "graph") -> None:
        self._device = device
        self._name = name
        self._nbytes = nbytes
        self._keep = keep
        small = min(_MAX_SMALL_IDLE, _SMALL_NBYTES // max(nbytes, 1))
        most = max(_MAX_IDLE, small) if keep else small
        self._idle: deque[_Idle] = deque(maxlen=most)
        self._drop = partial(_drop_idle, ref(self._idle))

    @property
    def nbytes(self) -> int:
        """Size of each state, in bytes."""
        return self._nbytes

    @property
    def idle_count(self) -> int:
        """Number of states that wait for later calls of this plan."""
        return len(self._idle)

    def acquire(self) -> State:
        """Return a state that no other recorded call uses."""
        try:
            state = self._idle.pop().state
        except IndexError:
            owner = f"{self._name}:kept for backward"
            raw = aligned_empty(self._device, self._nbytes, owner, lasting=self._keep)
            state = State(raw, (self._device.context, owner))
        if not self._keep and self._idle.maxlen:
            mark_used(state, self._nbytes, self._drop)
        return state

    def release_with(self, state: State, owner: object) -> Registration | None:
        """Release a state when its owner, the node of the call, is freed.

        Returns:
            The argument of `cancel_release`; None where states are not used again.
        """
        if not self._idle.maxlen:
            return None
        idle = _Idle(owner, self._idle.append)
        idle.state = state
        return keep(idle, owner)

    def cancel_release(self, release: Registration | None) -> bool:
        """Cancel the release of a state with its owner; return whether it was still pending."""
        return release is not None and cancel(release)

    def release(self, state: State) -> None:
        """Make a state available to later calls; its variable orders the writes."""
        # A reference without a callback may be to anything but the state: CPython 3.11 crashes when
        # such a reference and its object end together.
        idle = _Idle(State)
        idle.state = state
        self._idle.append(idle)


def _drop_idle(idle: "ref[deque[_Idle]]", state: State) -> bool:
    for entry in tuple(idle() or ()):
        if entry.state is state:
            return drop_idle(idle, entry)
    return False


def _holder(state: State) -> list[MemoryOwner]:
    return [] if state.owner is None else [MemoryOwner(*state.owner, [state.raw])]


register_memory_owner(State, _holder)
