"""Kernels written instruction by instruction, with explicit vectors.

A source in Python (`compile`) is easier to read, but leaves vectorization to LLVM. `Assembler` has
the instructions for loops over vectors of float32; `compile.compile_assembly` compiles the result.
Numbers are 64-bit integers, addresses and offsets count bytes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gluonish.kernels.compiler.lowering import ENTRY
from gluonish.kernels.compiler.machine_code import host
from gluonish.kernels.compiler.metadata import Metadata

Value = Any  # llvmlite's


def lanes() -> int:
    """Return the number of float32 in a vector register."""
    return 16 if "+avx512f" in host()[1] else 8


class Assembler:
    """Writes a kernel's function ``body(begin, end, params)`` in LLVM IR.

    Args:
        names: The names of the params in order, separated by spaces.

    Attributes:
        begin: The first step.
        end: The end of the steps (exclusive).
        params: The params by name.
    """

    def __init__(self, names: str) -> None:
        from llvmlite import ir

        self._ir = ir
        self._int64 = ir.IntType(64)
        self._vector = ir.VectorType(ir.FloatType(), lanes())
        kind = ir.FunctionType(ir.VoidType(), [self._int64, self._int64, self._int64.as_pointer()])
        self._module = ir.Module()
        function = ir.Function(self._module, kind, ENTRY)
        self._builder = ir.IRBuilder(function.append_basic_block())
        self.begin, self.end, self._params = function.args
        self._indices = {name: i for i, name in enumerate(names.split())}
        self.params = {
            name: self._builder.load(self._param_at(i)) for name, i in self._indices.items()
        }
        self._metadata = Metadata()

    def finish(self) -> str:
        """End the function, and return the text."""
        from llvmlite import binding

        self._builder.ret_void()
        self._module.triple = binding.get_process_triple()
        return f"{self._module}\n{self._metadata}"

    def number(self, value: int) -> Value:
        """Return a constant."""
        return self._int64(value)

    def sum(self, *terms: Value | int) -> Value:
        """Return the sum of integers."""
        total, *rest = map(self._number, terms)
        for term in rest:
            total = self._builder.add(total, term)
        return total

    def difference(self, x: Value, y: Value | int) -> Value:
        """Return ``x - y``."""
        return self._builder.sub(x, self._number(y))

    def product(self, *factors: Value | int) -> Value:
        """Return the product of integers."""
        result, *rest = map(self._number, factors)
        for factor in rest:
            result = self._builder.mul(result, factor)
        return result

    def divide(self, x: Value, y: Value) -> tuple[Value, Value]:
        """Return the quotient and the remainder of two non-negative integers."""
        return self._builder.udiv(x, y), self._builder.urem(x, y)

    def less(self, x: Value | int, y: Value | int) -> Value:
        """Return ``x < y``."""
        return self._builder.icmp_signed("<", self._number(x), self._number(y))

    def within(self, x: Value, end: Value) -> Value:
        """Return ``0 <= x < end``."""
        return self._builder.icmp_unsigned("<", x, end)

    def both(self, x: Value, y: Value) -> Value:
        """Return the conjunction of two conditions."""
        return self._builder.and_(x, y)

    def select(self, condition: Value, x: Value | int, y: Value | int) -> Value:
        """Return ``x`` if a condition holds, else ``y``."""
        return self._builder.select(condition, self._number(x), self._number(y))

    def least(self, x: Value, y: Value) -> Value:
        """Return the smaller of two integers."""
        return self.select(self.less(x, y), x, y)

    @contextmanager
    def loop(self, start: Value | int, stop: Value | int, step: Value | int = 1) -> Iterator[Value]:
        """Repeat the instructions of the ``with`` block; yield the counter."""
        builder = self._builder
        before = builder.block
        head, inside, after = (builder.append_basic_block() for _ in range(3))
        first, last = self._number(start), self._number(stop)
        builder.branch(head)
        builder.position_at_end(head)
        at = builder.phi(self._int64)
        at.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", at, last), inside, after)
        builder.position_at_end(inside)
        yield at
        at.add_incoming(builder.add(at, self._number(step)), builder.block)
        straight = self._metadata.add_loop('!"llvm.loop.vectorize.enable", i1 false')
        builder.branch(head).set_metadata("llvm.loop", straight)
        builder.position_at_end(after)

    def load(self, address: Value) -> Value:
        """Load a vector of float32."""
        return self._builder.load(self._pointer(address, self._vector), align=4)

    def store(self, vector: Value, address: Value) -> None:
        """Store a vector."""
        self._builder.store(vector, self._pointer(address, self._vector), align=4)

    def load_int64(self, address: Value) -> Value:
        """Load an integer."""
        return self._builder.load(self._pointer(address, self._int64))

    def copy(self, source: Value, target: Value) -> None:
        """Copy one float32."""
        single = self._ir.FloatType()
        value = self._builder.load(self._pointer(source, single))
        self._builder.store(value, self._pointer(target, single))

    def zeros(self) -> Value:
        """Return a vector of zeros."""
        return self._vector(None)

    def add(self, x: Value, y: Value) -> Value:
        """Return the sum of two vectors."""
        return self._builder.fadd(x, y)

    def combine(self, factors: Sequence[float], vectors: Sequence[Value]) -> Value:
        """Return the sum of vectors, each multiplied by its factor."""
        total = None
        for factor, vector in zip(factors, vectors, strict=True):
            if not factor:
                continue
            term = (
                vector if abs(factor) == 1 else self._builder.fmul(vector, self._all(abs(factor)))
            )
            if total is None:
                total = term if factor > 0 else self._builder.fneg(term)
            else:
                total = (self._builder.fadd if factor > 0 else self._builder.fsub)(total, term)
        return total

    def relu(self, vector: Value) -> Value:
        """Return the maximum of each element and zero; NaN stays NaN."""
        below = self._builder.fcmp_ordered("<", vector, self.zeros())
        return self._builder.select(below, self.zeros(), vector)

    def invoke(self, function: Value, *arguments: Value) -> Value:
        """Call the C function at an address with integers, and return its int result."""
        kind = self._ir.FunctionType(self._ir.IntType(32), [self._int64] * len(arguments))
        target = self._builder.inttoptr(function, kind.as_pointer())
        return self._builder.sext(self._builder.call(target, arguments), self._int64)

    def note(self, name: str, value: Value) -> None:
        """Combine an integer into the param ``name`` by bitwise or."""
        pointer = self._param_at(self._indices[name])
        self._builder.store(self._builder.or_(self._builder.load(pointer), value), pointer)

    def _number(self, value: Value | int) -> Value:
        return self._int64(value) if isinstance(value, int) else value

    def _all(self, value: float) -> Value:
        return self._ir.Constant(self._vector, [value] * self._vector.count)

    def _param_at(self, index: int) -> Value:
        return self._builder.gep(self._params, [self._int64(index)])

    def _pointer(self, address: Value, kind: Value) -> Value:
        return self._builder.inttoptr(address, kind.as_pointer())
