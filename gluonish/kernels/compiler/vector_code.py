"""Code of kernels written instruction by instruction, where loops that LLVM vectorizes do not do.

A source in Python (`compiler`) is easier to read, but leaves the choice of vectors to LLVM.
`Assembler` has what straight loops over vectors of float32 need; the result is compiled by
`compiler.compile_assembly`. Numbers are 64-bit integers, addresses and offsets count bytes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gluonish.kernels.compiler.lowering import ENTRY
from gluonish.kernels.compiler.machine_code import host
from gluonish.kernels.compiler.metadata import Metadata

Value = Any  # llvmlite's


def lanes() -> int:
    """How many float32 a register holds."""
    return 16 if "+avx512f" in host()[1] else 8


class Assembler:
    """Writes the function ``body(begin, end, words)`` of a kernel.

    Args:
        names: Those of the words, in order, with spaces between.

    Attributes:
        begin: The first step.
        end: Behind the last step.
        words: The words by their names.
    """

    def __init__(self, names: str) -> None:
        from llvmlite import ir

        self._ir = ir
        self._word = ir.IntType(64)
        self._vector = ir.VectorType(ir.FloatType(), lanes())
        kind = ir.FunctionType(ir.VoidType(), [self._word, self._word, self._word.as_pointer()])
        self._module = ir.Module()
        function = ir.Function(self._module, kind, ENTRY)
        self._builder = ir.IRBuilder(function.append_basic_block())
        self.begin, self.end, self._words = function.args
        self._places = {name: i for i, name in enumerate(names.split())}
        self.words = {
            name: self._builder.load(self._word_at(i)) for name, i in self._places.items()
        }
        self._metadata = Metadata()

    def finish(self) -> str:
        """Return the text."""
        from llvmlite import binding

        self._builder.ret_void()
        self._module.triple = binding.get_process_triple()
        return f"{self._module}\n{self._metadata}"

    def number(self, value: int) -> Value:
        """A number that is known."""
        return self._word(value)

    def sum(self, *terms: Value | int) -> Value:
        """The sum of numbers."""
        total, *rest = map(self._number, terms)
        for term in rest:
            total = self._builder.add(total, term)
        return total

    def difference(self, x: Value, y: Value | int) -> Value:
        """``x - y``."""
        return self._builder.sub(x, self._number(y))

    def product(self, *factors: Value | int) -> Value:
        """The product of numbers."""
        result, *rest = map(self._number, factors)
        for factor in rest:
            result = self._builder.mul(result, factor)
        return result

    def divide(self, x: Value, y: Value) -> tuple[Value, Value]:
        """Quotient and remainder of numbers that are not negative."""
        return self._builder.udiv(x, y), self._builder.urem(x, y)

    def less(self, x: Value | int, y: Value | int) -> Value:
        """Whether ``x < y``."""
        return self._builder.icmp_signed("<", self._number(x), self._number(y))

    def within(self, x: Value, end: Value) -> Value:
        """Whether ``0 <= x < end``."""
        return self._builder.icmp_unsigned("<", x, end)

    def both(self, x: Value, y: Value) -> Value:
        """Whether two conditions hold."""
        return self._builder.and_(x, y)

    def select(self, condition: Value, x: Value | int, y: Value | int) -> Value:
        """``x`` if a condition holds, else ``y``."""
        return self._builder.select(condition, self._number(x), self._number(y))

    def least(self, x: Value, y: Value) -> Value:
        """The smaller number."""
        return self.select(self.less(x, y), x, y)

    @contextmanager
    def loop(self, start: Value | int, stop: Value | int, step: Value | int = 1) -> Iterator[Value]:
        """Repeat what is written within the scope; yields the number that counts."""
        builder = self._builder
        before = builder.block
        head, inside, behind = (builder.append_basic_block() for _ in range(3))
        first, last = self._number(start), self._number(stop)
        builder.branch(head)
        builder.position_at_end(head)
        at = builder.phi(self._word)
        at.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", at, last), inside, behind)
        builder.position_at_end(inside)
        yield at
        at.add_incoming(builder.add(at, self._number(step)), builder.block)
        straight = self._metadata.add_loop('!"llvm.loop.vectorize.enable", i1 false')
        builder.branch(head).set_metadata("llvm.loop", straight)
        builder.position_at_end(behind)

    def load(self, address: Value) -> Value:
        """A vector of float32."""
        return self._builder.load(self._pointer(address, self._vector), align=4)

    def store(self, vector: Value, address: Value) -> None:
        """Write a vector."""
        self._builder.store(vector, self._pointer(address, self._vector), align=4)

    def load_word(self, address: Value) -> Value:
        """A number in memory."""
        return self._builder.load(self._pointer(address, self._word))

    def copy(self, source: Value, target: Value) -> None:
        """Copy one float32."""
        single = self._ir.FloatType()
        value = self._builder.load(self._pointer(source, single))
        self._builder.store(value, self._pointer(target, single))

    def zeros(self) -> Value:
        """A vector of zeros."""
        return self._vector(None)

    def add(self, x: Value, y: Value) -> Value:
        """The sum of vectors."""
        return self._builder.fadd(x, y)

    def combine(self, factors: Sequence[float], vectors: Sequence[Value]) -> Value:
        """The sum of vectors times factors."""
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
        """The larger of each element and zero; NaN stays."""
        below = self._builder.fcmp_ordered("<", vector, self.zeros())
        return self._builder.select(below, self.zeros(), vector)

    def invoke(self, function: Value, *arguments: Value) -> Value:
        """Call a C function of numbers at an address; what it returns, an int, as a number."""
        kind = self._ir.FunctionType(self._ir.IntType(32), [self._word] * len(arguments))
        target = self._builder.inttoptr(function, kind.as_pointer())
        return self._builder.sext(self._builder.call(target, arguments), self._word)

    def note(self, name: str, value: Value) -> None:
        """Add the bits of a number to those of a word."""
        place = self._word_at(self._places[name])
        self._builder.store(self._builder.or_(self._builder.load(place), value), place)

    def _number(self, value: Value | int) -> Value:
        return self._word(value) if isinstance(value, int) else value

    def _all(self, value: float) -> Value:
        return self._ir.Constant(self._vector, [value] * self._vector.count)

    def _word_at(self, place: int) -> Value:
        return self._builder.gep(self._words, [self._word(place)])

    def _pointer(self, address: Value, kind: Value) -> Value:
        return self._builder.inttoptr(address, kind.as_pointer())
