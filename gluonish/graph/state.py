"""State: what a forward pass keeps for its backward pass, in one block of memory.

Each kept value has a fixed place there. They stand in the order in which the backward pass reads
them, so that those whose lives end together are neighbours, and what it computes finds room where
they were.

Invariants: the engine's one variable of a state orders all who use its bytes; who overwrites them
is a writer. A state belongs to one recorded call from `States.take` until its node ends, by a
finalizer, or to `States.give`, whichever is first; what changes the queues of idle ones is a single
step of the interpreter. A queue that is full forgets its oldest.
"""

from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple
from weakref import ref

from gluonish.core.context import Context
from gluonish.core.device import Device
from gluonish.core.finalizer import Finalizer, Kept, cancel, keep
from gluonish.core.memory_owners import Holder, describe_holders
from gluonish.core.spec import Spec
from gluonish.graph.arenas import aligned_empty
from gluonish.graph.idle_memory import drop_idle, used
from gluonish.graph.ir import Value
from gluonish.graph.memory_plan import padded
from gluonish_engine import Var

_MAX_IDLE = 2  # states of any size
_MAX_SMALL_IDLE = 64  # states that are small together: a cell's, of one unrolled sequence
_SMALL_NBYTES = 32 << 20


class State:
    """Bytes, and the engine's variable for all of them.

    Attributes:
        raw: The bytes.
        owner: Who has them, in words, and where.
        var: The variable.
    """

    __slots__ = ("__weakref__", "owner", "raw", "var")

    def __init__(self, raw: Any, owner: tuple[Context, str] | None = None) -> None:
        self.raw = raw
        self.owner = owner
        self.var = Var()


class _Idle(Finalizer):
    """A state that nobody uses; the finalizer of the node that has it until then."""

    __slots__ = ("state",)

    state: State


class StateUse(NamedTuple):
    """What a pass does with a state.

    Attributes:
        values: The kept values as the pass's graph has them.
        offsets: Where each lies, in bytes.
        given: Whether they are there when it starts; else it makes them.
        lasting: Whether they must be there when it ends; else it may overwrite each after the last
            step that reads it.
    """

    values: Sequence[Value]
    offsets: Sequence[int]
    given: bool
    lasting: bool


def state_places(specs: Sequence[Spec]) -> tuple[list[int], int]:
    """Return the offset of each kept value in a state, and the state's size, in bytes."""
    ends = list(accumulate((padded(spec.nbytes) for spec in specs), initial=0))
    return ends[:-1], ends[-1]


class States:
    """The states of a plan.

    Args:
        device: Where they lie.
        nbytes: Size of each.
        keep: Whether to keep them for good; else those of all plans together are bounded, see
            `gluonish.graph.idle_memory`.
        name: Of the Block.
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
        """Size of each, in bytes."""
        return self._nbytes

    @property
    def idle_count(self) -> int:
        """How many are kept for later calls of this plan."""
        return len(self._idle)

    def take(self) -> State:
        """Return a state that no other recorded call uses."""
        try:
            state = self._idle.pop().state
        except IndexError:
            owner = f"{self._name}:kept for backward"
            raw = aligned_empty(self._device, self._nbytes, owner)
            state = State(raw, (self._device.context, owner))
        if not self._keep and self._idle.maxlen:
            used(state, self._nbytes, self._drop)
        return state

    def lend(self, state: State, owner: object) -> Kept | None:
        """Have a state come back when its owner ends, for a later recorded call.

        Args:
            state: What `take` returned.
            owner: The call's node.

        Returns:
            What `recall` takes; None where states do not come back.
        """
        if not self._idle.maxlen:
            return None
        idle = _Idle(owner, self._idle.append)
        idle.state = state
        return keep(idle, owner)

    def recall(self, lent: Kept | None) -> bool:
        """Have a state not come back with its owner; whether it would have."""
        return lent is not None and cancel(lent)

    def give(self, state: State) -> None:
        """Take a state back that was recalled; its variable orders the writes."""
        idle = _Idle(state)  # without a callback, it may refer to anything
        idle.state = state
        self._idle.append(idle)


def _drop_idle(idle: "ref[deque[_Idle]]", state: State) -> bool:
    for one in tuple(idle() or ()):
        if one.state is state:
            return drop_idle(idle, one)
    return False


def _holder(state: State) -> list[Holder]:
    return [] if state.owner is None else [Holder(*state.owner, [state.raw])]


describe_holders(State, _holder)
