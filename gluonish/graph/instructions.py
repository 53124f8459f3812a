"""Instructions of an executable, which run one after the other on the values of a call.

The *values* of a call are one list of raw arrays; instructions read and write by index.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gluonish.core.spec import Shape
from gluonish.graph.ir import Node
from gluonish.ops.kernel import Attached, FastKernel, Kernel, Key
from gluonish.ops.registry import Operator

Values = list[Any]


class KernelInstruction:
    """A kernel, and the indices of the values that it reads and writes.

    Attributes:
        node: The node that the instruction computes, for messages.
        fast: The fast kernel; None for the reference kernel.
        random: Number of the random key among those of the call; None if the kernel draws nothing.
    """

    __slots__ = ("attrs", "fast", "kernel", "node", "op", "random", "reads", "single", "writes")

    def __init__(
        self,
        node: Node,
        op: Operator,
        fast: FastKernel | None,
        attrs: Mapping[str, Any],
        reads: Sequence[int],
        writes: Sequence[int],
        random: int | None,
    ) -> None:
        self.node = node
        self.op = op
        self.fast = fast
        self.kernel = op.kernel if fast is None else fast.kernel
        self.attrs = attrs
        self.reads = reads
        self.writes = writes
        self.single = op.single
        self.random = random

    def run(self, xp: Any, values: Values, key: Key) -> None:
        """Run the kernel; the random numbers of the call start at ``key``."""
        out = values[self.writes[0]] if self.single else tuple([values[i] for i in self.writes])
        inputs = [values[i] for i in self.reads]
        if self.random is None:
            self.kernel(xp, out, *inputs, **self.attrs)
        else:
            self.kernel(xp, out, *inputs, **self.attrs, key=(key[0], key[1] + self.random))

    def prepare(self, values: Values) -> None:
        """Compile the kernel for arrays of the same layouts as those of calls."""
        if self.fast is not None and self.fast.compiles is not None:
            outputs = [values[i] for i in self.writes]
            self.fast.compiles(outputs, [values[i] for i in self.reads], self.attrs)


def in_memory_order(kernel: Kernel) -> Kernel:
    """Return an elementwise kernel that sees arrays laid out channels last as contiguous ones.

    All arrays have the same rank. Without this, CuPy computes four indices for each element.
    """

    def run(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
        views: dict[int, Any] = {}  # CuPy copies an input that overlaps the output, but is not it

        def view(array: Any) -> Any:
            found = views.get(id(array))
            if found is None:
                found = array.transpose(0, *range(2, array.ndim), 1)
                views[id(array)] = found
            return found

        targets = tuple(map(view, out)) if isinstance(out, tuple) else view(out)
        kernel(xp, targets, *map(view, inputs), **attrs)

    return run


class ViewInstruction:
    """A view of an argument in another shape."""

    __slots__ = ("node", "op", "reads", "shape", "writes")

    def __init__(self, node: Node, op: Operator, source: int, target: int, shape: Shape) -> None:
        self.node = node
        self.op = op
        self.reads = (source,)
        self.writes = (target,)
        self.shape = shape

    def run(self, xp: Any, values: Values, key: Key) -> None:
        """Make the view."""
        values[self.writes[0]] = values[self.reads[0]].reshape(self.shape)


class PlannedInstruction(KernelInstruction):
    """An instruction whose kernel is attached to memory by the first call that uses the memory.

    Args:
        instruction: The instruction; its fast kernel has a plan, or can be attached without one.
        entry: Position in the list of attached kernels; each block of memory has such a list.
        entries: Index of this list among the values.
        reallocated: Indices of the values whose arrays may change from call to call.
        constant: Indices of the constant values; `pack` computes what depends only on these.
    """

    __slots__ = ("_packing", "constant", "entries", "entry", "is_prepared", "reallocated")

    def __init__(
        self,
        instruction: KernelInstruction,
        entry: int,
        entries: int,
        reallocated: Collection[int],
        constant: Collection[int],
    ) -> None:
        x = instruction
        super().__init__(x.node, x.op, x.fast, x.attrs, x.reads, x.writes, x.random)
        self.entry = entry
        self.entries = entries
        self.reallocated = reallocated
        self.constant = constant
        self.is_prepared = False  # whether a plan was made: the kernel is compiled
        self._packing: Any = None

    def run(self, xp: Any, values: Values, key: Key) -> None:
        """Run the attached kernel."""
        attached = values[self.entries][self.entry]
        if attached is None:
            attached = self._attach(xp, values)
        attached.run(values)

    def pack(self, xp: Any, values: Values) -> None:
        """Compute what depends only on constant values; call from one thread at a time."""
        attached = values[self.entries][self.entry]
        if attached is None:
            attached = self._attach(xp, values)
        attached.pack(values)

    def prepare(self, values: Values) -> None:
        """Make a plan for arrays of the same layouts as those of calls: compile the kernel."""
        if not self.is_prepared and self.fast is not None and self.fast.attach is None:
            outputs = [values[i] for i in self.writes]
            self.op.plan(self.fast, outputs, [values[i] for i in self.reads], self.attrs)
            self.is_prepared = True

    def _attach(self, xp: Any, values: Values) -> Attached:
        self.is_prepared = True
        outputs = [values[i] for i in self.writes]
        assert self.fast is not None
        attached: Attached
        if self.fast.attach is not None:
            used = [*self.writes, *self.reads]
            attached = self.fast.attach(xp, used, self.reallocated, self.attrs)
            values[self.entries][self.entry] = attached
            return attached
        bound = self.op.plan(self.fast, outputs, [values[i] for i in self.reads], self.attrs)
        if bound is None:
            attached = _Unattached(self, xp)
        else:
            operands = bound.order([*self.writes, *self.reads])
            constant = [i for i, index in enumerate(operands) if index in self.constant]
            if constant and self._packing is None:
                self._packing = bound.plan.packing(constant)
            attached = bound.plan.attach(operands, values, self.reallocated, self._packing)
        values[self.entries][self.entry] = attached
        return attached


class _Unattached:
    """Runs the kernel of an instruction whose operator has no plan for the arrays."""

    __slots__ = ("_instruction", "_xp")

    def __init__(self, instruction: PlannedInstruction, xp: Any) -> None:
        self._instruction = instruction
        self._xp = xp

    def run(self, arrays: Any) -> None:
        KernelInstruction.run(self._instruction, self._xp, arrays, (0, 0))

    def pack(self, arrays: Any) -> None:
        """Do nothing: there is no plan."""


Instruction = KernelInstruction | ViewInstruction
