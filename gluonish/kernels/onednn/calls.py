"""Calls: what a run of a plan writes into, and plans bound to memory that mostly stays.

A call's memory objects and their data handles belong to one thread at a time.
"""

from collections.abc import Collection, Mapping, Sequence
from ctypes import Array as CArray
from typing import TYPE_CHECKING

from gluonish.kernels.onednn.api import ExecArgument
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import aligned_bytes
from gluonish.ops.kernel import Array, address

if TYPE_CHECKING:
    from gluonish.kernels.onednn.plan import Plan, Slot

__all__ = ["Attached", "Call", "Joined", "Packing"]

# The handle of a primitive, how many arguments, the arguments, and how many threads.
RunnableStep = tuple[int, int, CArray[ExecArgument], int]


class Packing:
    """What a plan computes from operands that rarely change: weights in the layout it wants.

    Args:
        plan: The plan.
        stable: Positions of the operands that rarely change.

    Attributes:
        steps: Positions of the plan's steps that depend on them only.
        buffers: Memory for what these steps write, by slot; all calls of the plan share it.
    """

    __slots__ = ("buffers", "steps")

    def __init__(self, plan: "Plan", stable: Collection[int]) -> None:
        operands = [slot.index for slot in plan.slots if slot.offset < 0]
        known = {operands[i] for i in stable}
        outside = set(operands)
        self.steps: set[int] = set()
        self.buffers: dict[int, Array] = {}
        for i, step in enumerate(plan.steps):
            if step.reads <= known and not step.writes & outside:
                self.steps.add(i)
                known |= step.writes
                for index in step.writes:
                    nbytes = plan.slots[index].layout.nbytes
                    self.buffers[index] = aligned_bytes(nbytes)


class Call:
    """The memory objects of one run: what must not be shared between threads."""

    __slots__ = (
        "__weakref__",
        "api",
        "base",
        "memories",
        "operands",
        "packing",
        "steps",
        "temporaries",
    )

    def __init__(self, plan: "Plan", packing: Packing | None = None) -> None:
        self.api = plan.engine.api
        self.base = -1
        create, engine = self.api.create, plan.engine.handle
        names = ("dnnl_memory_destroy", "dnnl_memory_create")
        self.memories = [create(self, *names, s.layout.handle, engine, None) for s in plan.slots]
        self.operands = [self.memories[slot.index] for slot in plan.slots if slot.offset < 0]
        packed = {} if packing is None else packing.buffers
        for index, buffer in packed.items():
            self.api.set_data_handle(self.memories[index], address(buffer))
        self.temporaries = [
            (self.memories[slot.index], slot.offset)
            for slot in plan.slots
            if slot.offset >= 0 and slot.index not in packed
        ]
        steps = [
            (step.handle, len(step.slots), self._arguments(step.slots), step.threads)
            for step in plan.steps
        ]
        ahead = set() if packing is None else packing.steps
        self.steps = [step for i, step in enumerate(steps) if i not in ahead]
        self.packing = [step for i, step in enumerate(steps) if i in ahead]

    def _arguments(self, slots: "Mapping[int, Slot]") -> CArray[ExecArgument]:
        pairs = [ExecArgument(role, self.memories[slot.index]) for role, slot in slots.items()]
        return (ExecArgument * len(pairs))(*pairs)

    def move(self, base: int) -> None:
        """Point the temporaries into the scratch buffer that starts at ``base``."""
        for memory, offset in self.temporaries:
            self.api.set_data_handle(memory, base + offset)
        self.base = base


class Attached:
    """A plan on memory that mostly stays where it is, for one caller at a time.

    Args:
        plan: The plan.
        operands: Where each operand lies among the arrays that `run` is given.
        arrays: Those arrays, now.
        moving: Places of arrays that may lie elsewhere at the next call.
        packing: What is computed from weights by `pack` only; None to compute all in `run`.
    """

    __slots__ = ("_addresses", "_call", "_moving", "_plan")

    def __init__(
        self,
        plan: "Plan",
        operands: Sequence[int],
        arrays: Sequence[Array],
        moving: Collection[int],
        packing: Packing | None,
    ) -> None:
        self._plan = plan
        self._call = call = Call(plan, packing)
        self._moving: list[tuple[int, int]] = []
        for memory, place in zip(call.operands, operands, strict=True):
            if place in moving:
                self._moving.append((memory, place))
            else:
                call.api.set_data_handle(memory, address(arrays[place]))
        self._addresses = [0] * len(self._moving)

    def run(self, arrays: Sequence[Array]) -> None:
        """Run what `pack` does not do.

        Raises:
            OneDNNError: A primitive failed.
        """
        self._execute(self._call.steps, arrays)

    def pack(self, arrays: Sequence[Array]) -> None:
        """Compute what depends on weights only.

        Raises:
            OneDNNError: A primitive failed.
        """
        if self._call.packing:
            self._execute(self._call.packing, arrays)

    @classmethod
    def joined(cls, attached: "Sequence[Attached]") -> "Joined":
        """Return what runs the plans one after the other, without what `pack` does."""
        plans = [each._plan for each in attached]
        scratch_nbytes = max(plan.scratch_nbytes for plan in plans)
        moving = [each for each in attached if each._moving]
        return Joined(plans[0].engine, [each._call for each in attached], moving, scratch_nbytes)

    def follow(self, arrays: Sequence[Array]) -> None:
        """Take the arrays that lie elsewhere now."""
        addresses, set_data_handle = self._addresses, self._call.api.set_data_handle
        for i, (memory, place) in enumerate(self._moving):
            where = address(arrays[place])
            if where != addresses[i]:
                addresses[i] = where
                set_data_handle(memory, where)

    def _execute(self, steps: Sequence[RunnableStep], arrays: Sequence[Array]) -> None:
        call = self._call
        if self._moving:
            self.follow(arrays)
        thread = self._plan.engine.thread()
        base = thread.reserve(self._plan.scratch_nbytes)
        if base != call.base:
            call.move(base)
        thread.run(steps)


class Joined:
    """Attached plans that run as one.

    Args:
        engine: Theirs.
        calls: Of all of them, in order.
        moving: Those with arrays that may lie elsewhere at the next call.
        scratch_nbytes: The most that one of them needs.
    """

    __slots__ = ("_calls", "_engine", "_moving", "_scratch_nbytes", "_steps")

    def __init__(
        self, engine: Engine, calls: Sequence[Call], moving: Sequence[Attached], scratch_nbytes: int
    ) -> None:
        self._engine = engine
        self._moving = moving
        self._scratch_nbytes = scratch_nbytes
        self._steps = [step for call in calls for step in call.steps]
        self._calls = [call for call in calls if call.temporaries]

    def run(self, arrays: Sequence[Array]) -> None:
        """Run what `pack` does not do.

        Raises:
            OneDNNError: A primitive failed.
        """
        for attached in self._moving:
            attached.follow(arrays)
        thread = self._engine.thread()
        base = thread.reserve(self._scratch_nbytes)
        for call in self._calls:
            if base != call.base:
                call.move(base)
        thread.run(self._steps)

    def pack(self, arrays: Sequence[Array]) -> None:
        """Compute nothing: each of the plans does that."""
