"""Plans: primitives, reorders around them and their scratch; built once, run many times.

A `Builder` collects *slots* (the caller's arrays, and temporaries in the thread's scratch buffer)
and *steps* (one primitive each). Where a primitive wants another layout than a slot has, the
builder puts a reorder before the step that reads it, or after the step that writes it.

Invariants. A plan never changes after it is built, and may run in several threads at once: what a
run writes into (memory objects and their data handles) is a `Call`, which one thread owns from its
`pop` to its `append` on the plan's list of idle calls. Both are single bytecodes' worth of C, so no
lock is needed. Temporaries lie in the scratch buffer of the running thread, at offsets that are
fixed when the plan is built.
"""

from collections.abc import Collection, Mapping, Sequence
from ctypes import Array as CArray

from gluonish.kernels.onednn.api import Argument, ExecArgument, OneDNNError
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, aligned_bytes
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Key, address

# The handle of a primitive, how many arguments, the arguments, and how many threads.
RunnableStep = tuple[int, int, CArray[ExecArgument], int]
_ALIGNMENT = 64  # bytes: a cache line, and the widest vector


class Slot:
    """One memory of a plan: an operand (the caller's array), or a temporary.

    Args:
        index: Its place among the plan's slots.
        descriptor: Its layout; None for a temporary that no step has written yet.
    """

    __slots__ = ("descriptor", "index", "offset")

    def __init__(self, index: int, descriptor: Descriptor | None) -> None:
        self.index = index
        self.descriptor = descriptor
        self.offset = -1  # bytes into the scratch buffer; an operand has none

    @property
    def layout(self) -> Descriptor:
        """The layout.

        Raises:
            OneDNNError: It is a temporary that no step has written yet.
        """
        if self.descriptor is None:
            raise OneDNNError("oneDNN: expected a temporary that was written, got an empty one")
        return self.descriptor


class _Step:
    """A primitive and the slots it works on.

    ``reads`` and ``writes`` are indices of slots; ``threads`` is how many it was made for. Some
    primitives ask again when they run.
    """

    __slots__ = ("__weakref__", "descriptor", "handle", "reads", "slots", "threads", "writes")

    def __init__(
        self, descriptor: PrimitiveDescriptor, slots: dict[int, Slot], written: Collection[int]
    ) -> None:
        self.descriptor = descriptor
        self.slots = slots
        self.threads = descriptor.api.max_threads()
        self.writes = {slots[role].index for role in written}
        self.reads = {
            slot.index
            for role, slot in slots.items()
            if role not in written and role != Argument.SCRATCHPAD
        }
        names = ("dnnl_primitive_destroy", "dnnl_primitive_create")
        self.handle = descriptor.api.create(self, *names, descriptor.handle)


class Plan:
    """Steps ready to run on any arrays of the layouts that it was built for.

    Args:
        engine: The engine to run on.
        slots: All memories; the operands among them in the order `run` takes arrays.
        steps: The primitives, in order.
        scratch_nbytes: Size of the scratch buffer that a run needs.
    """

    __slots__ = ("_idle", "engine", "scratch_nbytes", "slots", "steps")

    def __init__(
        self, engine: Engine, slots: list[Slot], steps: list[_Step], scratch_nbytes: int
    ) -> None:
        self.engine = engine
        self.slots = slots
        self.steps = steps
        self.scratch_nbytes = scratch_nbytes
        self._idle: list[Call] = []

    @property
    def implementations(self) -> list[str]:
        """The implementation of each step: what to look at when a call is slow."""
        return [step.descriptor.implementation for step in self.steps]

    def packing(self, stable: Collection[int]) -> "Packing | None":
        """Return what can be computed ahead from the operands at ``stable``; None for nothing."""
        packing = Packing(self, stable)
        return packing if packing.steps else None

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Array],
        moving: Collection[int],
        packing: "Packing | None" = None,
    ) -> "Attached":
        """Return the plan bound to memory; arguments of `Attached`."""
        return Attached(self, operands, arrays, moving, packing)

    def run(self, *arrays: Array, key: Key | None = None) -> None:
        """Run on ``arrays``, in the order in which the operands were added.

        Their layouts must be those that the plan was built for: the plan's key holds them, so
        nothing is checked here. No primitive draws random numbers by ``key``.

        Raises:
            OneDNNError: A primitive failed.
        """
        try:
            call = self._idle.pop()
        except IndexError:
            call = Call(self)
        thread = self.engine.thread()
        base = thread.reserve(self.scratch_nbytes)
        if base != call.base:
            call.move(base)
        api = call.api
        set_data_handle = api.set_data_handle
        for memory, array in zip(call.operands, arrays, strict=True):
            set_data_handle(memory, address(array))
        thread.run(call.steps)
        self._idle.append(call)


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

    def __init__(self, plan: Plan, stable: Collection[int]) -> None:
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

    def __init__(self, plan: Plan, packing: Packing | None = None) -> None:
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

    def _arguments(self, slots: Mapping[int, Slot]) -> CArray[ExecArgument]:
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
        plan: Plan,
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


class Builder:
    """Collects operands and steps, adds the reorders, and lays out the scratch buffer.

    Args:
        engine: The engine to build for.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._slots: list[Slot] = []
        self._steps: list[_Step] = []

    def operand(self, descriptor: Descriptor) -> Slot:
        """Add one of the caller's arrays; `Plan.run` takes them in the order of these calls."""
        return self._slot(descriptor)

    def temporary(self) -> Slot:
        """Add a memory of the plan's own; the first step that writes it decides its layout."""
        slot = self._slot(None)
        slot.offset = 0
        return slot

    def _slot(self, descriptor: Descriptor | None) -> Slot:
        slot = Slot(len(self._slots), descriptor)
        self._slots.append(slot)
        return slot

    def step(
        self,
        descriptor: PrimitiveDescriptor,
        reads: Mapping[Argument, Slot],
        writes: Mapping[Argument, Slot],
        given: Mapping[int, Slot] | None = None,
    ) -> None:
        """Add a primitive, with reorders where a slot's layout is not the one it wants.

        Args:
            reads: The slot for each argument that it reads.
            writes: The slot for each argument that it fills.
            given: Further slots that it reads as they are: scales.

        Raises:
            OneDNNError: A slot cannot be reordered into what is wanted: another shape, above all.
        """
        slots: dict[int, Slot] = dict(given or {})
        for role, slot in reads.items():
            slots[role] = self._converted(slot, descriptor.wanted(role))
        after: list[tuple[Slot, Slot]] = []
        for role, slot in writes.items():
            wanted = descriptor.wanted(role)
            if slot.descriptor is None:
                slot.descriptor = wanted
            slots[role] = slot
            if not wanted.same_as(slot.layout):
                slots[role] = self.room(wanted)
                after.append((slots[role], slot))
        self._append(descriptor, slots, writes)
        for source, target in after:
            self.reorder(source, target)

    def reorder(self, source: Slot, target: Slot) -> None:
        """Add a copy from one layout (and type) to another."""
        engine = self._engine
        descriptor = PrimitiveDescriptor(
            engine.api,
            "dnnl_reorder_primitive_desc_create",
            *(source.layout.handle, engine.handle, target.layout.handle, engine.handle),
            engine.attributes,
        )
        slots: dict[int, Slot] = {Argument.SRC: source, Argument.DST: target}
        self._append(descriptor, slots, (Argument.DST,))

    def _converted(self, slot: Slot, wanted: Descriptor) -> Slot:
        if wanted.same_as(slot.layout):
            return slot
        converted = self.room(wanted)
        self.reorder(slot, converted)
        return converted

    def room(self, descriptor: Descriptor) -> Slot:
        """Add a temporary of a known layout."""
        slot = self.temporary()
        slot.descriptor = descriptor
        return slot

    def _append(
        self, descriptor: PrimitiveDescriptor, slots: dict[int, Slot], written: Collection[int]
    ) -> None:
        scratchpad = descriptor.wanted(Argument.SCRATCHPAD)
        if scratchpad.nbytes:
            slots[Argument.SCRATCHPAD] = self.room(scratchpad)
        self._steps.append(_Step(descriptor, slots, written))

    def build(self) -> Plan:
        """The finished plan."""
        offset = 0
        for slot in self._slots:
            if slot.offset >= 0:
                slot.offset = offset
                offset += -(-slot.layout.nbytes // _ALIGNMENT) * _ALIGNMENT
        return Plan(self._engine, self._slots, self._steps, offset)
