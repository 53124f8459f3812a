"""Instructions for kernels whose threads share work that depends on earlier work.

Integers in memory count what is claimed and what is done. A thread that waits does so for work that
another thread of the same kernel has claimed, so that a kernel ends in any number of threads.
"""

from typing import Any

from gluonish.kernels.compiler.machine_code import host
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes

_PAUSES = 1024  # between two offers of the core to other threads; about 50 us


class TeamAssembler(Assembler):
    """Writes a kernel whose threads wait for each other, and parts of vectors; see `Assembler`."""

    def load_shared(self, address: Value) -> Value:
        """Load an integer that other threads change, and what they stored before."""
        pointer = self._pointer(address, self._int64)
        return self._builder.load_atomic(pointer, "acquire", 8)

    def claim(self, address: Value, number: Value) -> Value:
        """Change an integer from ``number`` to the next one; return whether it was ``number``."""
        pointer, after = self._pointer(address, self._int64), self.sum(number, 1)
        found = self._builder.cmpxchg(pointer, number, after, "acquire", "monotonic")
        return self._builder.extract_value(found, 1)

    def count(self, address: Value) -> None:
        """Add 1 to an integer, after all that this thread has stored."""
        pointer = self._pointer(address, self._int64)
        self._builder.atomic_rmw("add", pointer, self._int64(1), "release")

    def wait_for(
        self, address: Value, number: Value, *, pauses: int = 0, yielding: Value | None = None
    ) -> None:
        """Wait until an integer is at least ``number``.

        Args:
            pauses: How long to wait; 0 for as long as it takes.
            yielding: Address of `gluonish.kernels.openmp.yield_address`, called now and then.
        """
        builder, int64 = self._builder, self._int64
        before = builder.block
        head, again, after = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        turn = builder.phi(int64)
        turn.add_incoming(int64(0), before)
        is_done = builder.icmp_signed(">=", self.load_shared(address), number)
        builder.cbranch(is_done, after, again)
        builder.position_at_end(again)
        if "+sse2" in host()[1]:
            builder.call(self._external("llvm.x86.sse2.pause", self._ir.VoidType()), [])
        following = builder.add(turn, int64(1))
        if pauses:
            turn.add_incoming(following, again)
            builder.cbranch(builder.icmp_signed("<", following, int64(pauses)), head, after)
        else:
            is_long = builder.icmp_signed("<", int64(_PAUSES), following)
            with builder.if_then(is_long):
                self.invoke(yielding, int64(0))
            turn.add_incoming(builder.select(is_long, int64(0), following), builder.block)
            builder.branch(head)
        builder.position_at_end(after)

    def first_lanes(self, count: Value) -> Value:
        """Return the lanes with a number below ``count``."""
        return self.between(self.lane_numbers(self.number(0)), self.number(0), self.sum(count, -1))

    def load_where(self, address: Value, where: Value) -> Value:
        """Load the elements of some lanes, with zeros in the others."""
        ir, vector = self._ir, self._vector
        pointer = vector.as_pointer()
        kinds = [pointer, ir.IntType(32), where.type, vector]
        function = self._external(f"llvm.masked.load.v{lanes()}f32.p0", vector, kinds)
        arguments = [self._pointer(address, vector), ir.IntType(32)(4), where, vector(None)]
        return self._builder.call(function, arguments)

    def store_where(self, vector: Value, address: Value, where: Value) -> None:
        """Store the elements of some lanes."""
        ir = self._ir
        kinds = [vector.type, vector.type.as_pointer(), ir.IntType(32), where.type]
        name = f"llvm.masked.store.v{lanes()}f32.p0"
        function = self._external(name, ir.VoidType(), kinds)
        pointer = self._pointer(address, vector.type)
        self._builder.call(function, [vector, pointer, ir.IntType(32)(4), where])

    def _external(self, name: str, result: Any, kinds: Any = ()) -> Value:
        function = self._module.globals.get(name)
        if function is None:
            function = self._ir.Function(self._module, self._ir.FunctionType(result, kinds), name)
        return function
