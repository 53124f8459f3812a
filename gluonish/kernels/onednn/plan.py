"""Plans: primitives with reorders and scratch memory, which are built once and run many times.

A `Builder` collects *slots* (the caller's arrays, and temporaries in the thread's scratch buffer)
and *steps* (one primitive each). If a primitive requires another layout than a slot has, the
builder adds a reorder before the step that reads it, or after the step that writes it.

Invariants. A plan is immutable and may run in several threads at once. The mutable state of a run,
memory objects and their data handles, is a `Call`, which one thread owns from its `pop` to its
`append` on the plan's list of idle calls. Both are atomic under the GIL, so no lock is needed.
Temporaries are in the scratch buffer of the running thread, at offsets fixed when the plan is
built.
"""

from collections.abc import Collection, Mapping, Sequence
from ctypes import Array as CArray

from gluonish.kernels.onednn.api import Argument, ExecArgument, OneDNNError
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, aligned_bytes
from gluonish.kernels.onednn.native_calls import Row, Step, native_calls, primitive_rows
from gluonish.kernels.onednn.native_chain import NativeMember
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Key, address

_ALIGNMENT = 64  # bytes: a cache line, and the widest vector


class Slot:
    """A memory of a plan: an operand (the caller's array), or a temporary.

    Args:
        index: The slot's index in the plan.
        descriptor: The slot's layout; None for a temporary that no step has written yet.
    """

    __slots__ = ("descriptor", "index", "offset")

    def __init__(self, index: int, descriptor: Descriptor | None) -> None:
        self.index = index
        self.descriptor = descriptor
        self.offset = -1  # bytes into the scratch buffer; negative for operands

    @property
    def layout(self) -> Descriptor:
        """The layout of the memory.

        Raises:
            OneDNNError: No step has written this temporary yet.
        """
        if self.descriptor is None:
            raise OneDNNError("oneDNN: expected a temporary that was written, got an empty one")
        return self.descriptor


class _Step:
    """A step of a plan: a primitive and its slots.

    ``reads`` and ``writes`` are indices of slots. ``threads`` is the number of threads at creation;
    some primitives query it again when they run.
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
    """Steps that can run on any arrays with the layouts that the plan was built for.

    Args:
        slots: All slots; the operands are in the order of the arrays of `run`.
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
        """The library's implementation of each step, to find out why a call is slow."""
        return [step.descriptor.implementation for step in self.steps]

    def packing(self, constant: Collection[int]) -> "Packing | None":
        """Return the steps that depend on constant operands only; None if there are none."""
        packing = Packing(self, constant)
        return packing if packing.steps else None

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Array],
        movable: Collection[int],
        packing: "Packing | None" = None,
    ) -> "Attached":
        """Bind the plan to memory; the arguments are those of `Attached`."""
        return Attached(self, operands, arrays, movable, packing)

    def run(self, *arrays: Array, key: Key | None = None) -> None:
        """Run on ``arrays``, in the order in which the operands were added.

        Layouts are not checked, because they are in the plan's cache key. No primitive draws random
        numbers from ``key``.

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
            call.set_base(base)
        api = call.api
        set_data_handle = api.set_data_handle
        for memory, array in zip(call.operands, arrays, strict=True):
            set_data_handle(memory, address(array))
        thread.run(call.steps)
        self._idle.append(call)


class Packing:
    """Steps of a plan that depend on constant operands only: reorders of weights.

    Args:
        constant: Indices of the operands that rarely change, such as weights.

    Attributes:
        steps: Indices of these steps.
        buffers: For each slot that these steps write, its memory; all calls of the plan share it.
    """

    __slots__ = ("buffers", "steps")

    def __init__(self, plan: Plan, constant: Collection[int]) -> None:
        operands = [slot.index for slot in plan.slots if slot.offset < 0]
        known = {operands[i] for i in constant}
        external = set(operands)
        self.steps: set[int] = set()
        self.buffers: dict[int, Array] = {}
        for i, step in enumerate(plan.steps):
            if step.reads <= known and not step.writes & external:
                self.steps.add(i)
                known |= step.writes
                for index in step.writes:
                    nbytes = plan.slots[index].layout.nbytes
                    self.buffers[index] = aligned_bytes(nbytes)


class Call:
    """The memory objects of one run; threads must not share them."""

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
        packed_steps = set() if packing is None else packing.steps
        self.steps = [step for i, step in enumerate(steps) if i not in packed_steps]
        self.packing = [step for i, step in enumerate(steps) if i in packed_steps]

    def _arguments(self, slots: Mapping[int, Slot]) -> CArray[ExecArgument]:
        pairs = [ExecArgument(role, self.memories[slot.index]) for role, slot in slots.items()]
        return (ExecArgument * len(pairs))(*pairs)

    def set_base(self, base: int) -> None:
        """Point the temporaries into the scratch buffer at ``base``."""
        for memory, offset in self.temporaries:
            self.api.set_data_handle(memory, base + offset)
        self.base = base


class Attached(NativeMember):
    """A plan bound to memory, for one caller at a time.

    Args:
        operands: For each operand, its index among the arrays of `run`.
        arrays: The current arrays.
        movable: Indices of arrays that may be reallocated between calls.
        packing: The steps of `pack`; None to run all steps in `run`.
    """

    __slots__ = ("_addresses", "_call", "_movable", "_plan")

    def __init__(
        self,
        plan: Plan,
        operands: Sequence[int],
        arrays: Sequence[Array],
        movable: Collection[int],
        packing: Packing | None,
    ) -> None:
        self._plan = plan
        self._call = call = Call(plan, packing)
        self._movable: list[tuple[int, int]] = []
        for memory, index in zip(call.operands, operands, strict=True):
            if index in movable:
                self._movable.append((memory, index))
            else:
                call.api.set_data_handle(memory, address(arrays[index]))
        self._addresses = [0] * len(self._movable)

    def run(self, arrays: Sequence[Array]) -> None:
        """Run the steps that `pack` does not run.

        Raises:
            OneDNNError: A primitive failed.
        """
        self._execute(self._call.steps, arrays)

    def pack(self, arrays: Sequence[Array]) -> None:
        """Run the steps that depend on constant operands only.

        Raises:
            OneDNNError: A primitive failed.
        """
        if self._call.packing:
            self._execute(self._call.packing, arrays)

    @property
    def engine(self) -> Engine:
        """The engine of the primitives."""
        return self._plan.engine

    @property
    def scratch_nbytes(self) -> int:
        """Size of the scratch memory of temporaries."""
        return self._plan.scratch_nbytes if self._call.temporaries else 0

    def set_base(self, base: int) -> None:
        """Point the temporaries into scratch memory."""
        if base != self._call.base:
            self._call.set_base(base)

    def rows(self, threads: int) -> list[Row]:
        """Return the primitives that `pack` does not run."""
        return primitive_rows(self._plan.engine.api, self._call.steps)

    @classmethod
    def joined(cls, attached: "Sequence[Attached]") -> "Joined":
        """Join plans into one that runs their steps in order, without the steps of `pack`."""
        plans = [each._plan for each in attached]
        scratch_nbytes = max(plan.scratch_nbytes for plan in plans)
        movable = [each for each in attached if each._movable]
        return Joined(plans[0].engine, [each._call for each in attached], movable, scratch_nbytes)

    def update_addresses(self, arrays: Sequence[Array]) -> None:
        """Update the memory objects of arrays that were reallocated."""
        addresses, set_data_handle = self._addresses, self._call.api.set_data_handle
        for i, (memory, index) in enumerate(self._movable):
            new = address(arrays[index])
            if new != addresses[i]:
                addresses[i] = new
                set_data_handle(memory, new)

    def _execute(self, steps: Sequence[Step], arrays: Sequence[Array]) -> None:
        call = self._call
        if self._movable:
            self.update_addresses(arrays)
        thread = self._plan.engine.thread()
        base = thread.reserve(self._plan.scratch_nbytes)
        if base != call.base:
            call.set_base(base)
        thread.run(steps)


class Joined:
    """Several attached plans that run as one.

    Args:
        movable: The plans with arrays that may be reallocated between calls.
        scratch_nbytes: The largest scratch buffer that one of the plans needs.
    """

    __slots__ = ("_calls", "_engine", "_movable", "_native", "_scratch_nbytes", "_steps")

    def __init__(
        self,
        engine: Engine,
        calls: Sequence[Call],
        movable: Sequence[Attached],
        scratch_nbytes: int,
    ) -> None:
        self._engine = engine
        self._movable = movable
        self._scratch_nbytes = scratch_nbytes
        self._steps = [step for call in calls for step in call.steps]
        self._calls = [call for call in calls if call.temporaries]
        self._native = native_calls(engine.api, primitive_rows(engine.api, self._steps))

    def run(self, arrays: Sequence[Array]) -> None:
        """Run the steps that `pack` does not run.

        Raises:
            OneDNNError: A primitive failed.
        """
        for attached in self._movable:
            attached.update_addresses(arrays)
        thread = self._engine.thread()
        base = thread.reserve(self._scratch_nbytes)
        for call in self._calls:
            if base != call.base:
                call.set_base(base)
        thread.run(self._steps, self._native)

    def pack(self, arrays: Sequence[Array]) -> None:
        """Do nothing: each of the joined plans packs its own operands."""


class Builder:
    """Collects operands and steps, adds reorders, and lays out the scratch buffer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._slots: list[Slot] = []
        self._steps: list[_Step] = []

    def operand(self, descriptor: Descriptor) -> Slot:
        """Add one of the caller's arrays; `Plan.run` takes arrays in the order of these calls."""
        return self._slot(descriptor)

    def temporary(self) -> Slot:
        """Add a temporary, whose layout is decided by the first step that writes it."""
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
        unconverted: Mapping[int, Slot] | None = None,
    ) -> None:
        """Add a primitive, with reorders of slots whose layout differs from the required one.

        Args:
            unconverted: Additional slots that are read without a reorder, such as scales.

        Raises:
            OneDNNError: A slot cannot be reordered, for example to another shape.
        """
        slots: dict[int, Slot] = dict(unconverted or {})
        for role, slot in reads.items():
            slots[role] = self._converted(slot, descriptor.layout_of(role))
        after: list[tuple[Slot, Slot]] = []
        for role, slot in writes.items():
            layout = descriptor.layout_of(role)
            if slot.descriptor is None:
                slot.descriptor = layout
            slots[role] = slot
            if not layout.same_as(slot.layout):
                slots[role] = self.temporary_of(layout)
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

    def _converted(self, slot: Slot, layout: Descriptor) -> Slot:
        if layout.same_as(slot.layout):
            return slot
        converted = self.temporary_of(layout)
        self.reorder(slot, converted)
        return converted

    def temporary_of(self, descriptor: Descriptor) -> Slot:
        """Add a temporary of a known layout."""
        slot = self.temporary()
        slot.descriptor = descriptor
        return slot

    def _append(
        self, descriptor: PrimitiveDescriptor, slots: dict[int, Slot], written: Collection[int]
    ) -> None:
        scratchpad = descriptor.layout_of(Argument.SCRATCHPAD)
        if scratchpad.nbytes:
            slots[Argument.SCRATCHPAD] = self.temporary_of(scratchpad)
        self._steps.append(_Step(descriptor, slots, written))

    def build(self) -> Plan:
        """Lay out the scratch buffer and return the plan."""
        offset = 0
        for slot in self._slots:
            if slot.offset >= 0:
                slot.offset = offset
                offset += -(-slot.layout.nbytes // _ALIGNMENT) * _ALIGNMENT
        return Plan(self._engine, self._slots, self._steps, offset)
