"""Kernels written instruction by instruction, with explicit vectors.

A source in Python (`compile`) is easier to read, but leaves vectorization to LLVM. `Assembler` has
the instructions for loops over vectors of float32; `compile.compile_assembly` compiles the result.
Numbers are 64-bit integers, addresses and offsets count bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gluonish.kernels.compiler.half_floats import LOADS, STORES, philox4x32
from gluonish.kernels.compiler.lowering import ENTRY
from gluonish.kernels.compiler.machine_code import host
from gluonish.kernels.compiler.metadata import Metadata
from gluonish.kernels.compiler.vector_math import FUNCTIONS, Number, power_of_two

Value = Any  # llvmlite's

_LOADS = {"bfloat16": "load_bf16", "float16": "load_f16"}
_STORES = {"bfloat16": "store_bf16", "float16": "store_f16"}


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

    def difference(self, x: Value | int, y: Value | int) -> Value:
        """Return ``x - y``."""
        return self._builder.sub(self._number(x), self._number(y))

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
        with self._loop(start, stop, step, ()) as (at, _, _):
            yield at

    @contextmanager
    def _loop(
        self,
        start: Value | int,
        stop: Value | int,
        step: Value | int,
        values: Sequence[Value],
    ) -> Iterator[tuple[Value, list[Value], list[Value]]]:
        """Repeat the ``with`` block; yield counter, values, and a list to fill with the next."""
        builder = self._builder
        before = builder.block
        head, inside, after = (builder.append_basic_block() for _ in range(3))
        first, last = self._number(start), self._number(stop)
        builder.branch(head)
        builder.position_at_end(head)
        at = builder.phi(self._int64)
        at.add_incoming(first, before)
        current = [builder.phi(value.type) for value in values]
        for phi, value in zip(current, values, strict=True):
            phi.add_incoming(value, before)
        builder.cbranch(builder.icmp_signed("<", at, last), inside, after)
        builder.position_at_end(inside)
        following: list[Value] = []
        yield at, list(current), following
        at.add_incoming(builder.add(at, self._number(step)), builder.block)
        for phi, value in zip(current, following, strict=True):
            phi.add_incoming(value, builder.block)
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

    def store_int64(self, number: Value, address: Value) -> None:
        """Store an integer to memory."""
        self._builder.store(number, self._pointer(address, self._int64))

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

    def load_number(self, address: Value, kind: str) -> Value:
        """Load a number of dtype int32, int64 or float32 as an integer."""
        if kind == "float32":
            number = self._builder.load(self._pointer(address, self._ir.FloatType()))
            return self._builder.fptosi(number, self._int64)
        stored = self._ir.IntType(int(kind.removeprefix("int")))
        number = self._builder.load(self._pointer(address, stored))
        return self._builder.sext(number, self._int64) if stored.width < 64 else number

    def unless(self, condition: Value) -> Value:
        """Return the negation of a condition."""
        return self._builder.not_(condition)

    def greatest(self, x: Value, y: Value | int) -> Value:
        """Return the larger of two integers."""
        return self.select(self.less(x, y), y, x)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Run the instructions of the ``with`` block if a condition holds."""
        with self._builder.if_then(condition):
            yield

    def fold(
        self,
        start: Value | int,
        stop: Value | int,
        step: Value | int,
        values: Sequence[Value],
        body: Callable[[Value, list[Value]], Sequence[Value]],
    ) -> list[Value]:
        """Repeat instructions on values that stay in registers; return the last ones.

        Args:
            body: Called once, with the counter and the values of an iteration; returns the next.
        """
        with self._loop(start, stop, step, values) as (at, current, following):
            following += body(at, list(current))
        return current

    def reserve(self, nbytes: Value) -> Value:
        """Return the address of uninitialized memory on the thread's stack, at a cache line.

        It must not be in a loop: the memory is freed when the function ends.
        """
        made: Any = self._builder.alloca(self._ir.IntType(8), nbytes)
        made.align = 64
        return self._builder.ptrtoint(made, self._int64)

    def number_of_bits(self, bits: Value) -> Value:
        """Return a vector filled with the float32 that has the low 32 bits of an integer."""
        narrow = self._builder.trunc(bits, self._ir.IntType(32))
        return self._filled(self._builder.bitcast(narrow, self._ir.FloatType()))

    def constant(self, value: float) -> Value:
        """Return a vector filled with a number."""
        return self._all(value)

    def load_element(self, address: Value, kind: str = "float32") -> Value:
        """Return a vector filled with the element at an address, converted to float32.

        Args:
            kind: The dtype of the element: float32, float16, bfloat16, int8, or bool (1 or 0).
        """
        return self._filled(self._element(address, kind))

    def _element(self, address: Value, kind: str) -> Value:
        builder, int_type = self._builder, self._ir.IntType
        if kind == "float32":
            return builder.load(self._pointer(address, self._ir.FloatType()))
        if kind in ("bool", "int8"):
            stored = builder.load(self._pointer(address, int_type(8)))
            convert = builder.uitofp if kind == "bool" else builder.sitofp
            return convert(stored, self._ir.FloatType())
        return LOADS[_LOADS[kind]](builder, builder.load(self._pointer(address, int_type(16))))

    def store_float(self, number: Value, address: Value) -> None:
        """Store one float32."""
        self._builder.store(number, self._pointer(address, self._ir.FloatType()))

    def element(self, address: Value, kind: str) -> Value:
        """Load one element as float32; ``kind`` as in `load_element`."""
        return self._element(address, kind)

    def float_product(self, x: Value, y: Value) -> Value:
        """Return the product of two float32."""
        return self._builder.fmul(x, y)

    def first(self, vector: Value) -> Value:
        """Return a vector's first element."""
        return self._builder.extract_element(vector, self._ir.IntType(32)(0))

    def filled(self, number: Value) -> Value:
        """Return a vector filled with a float32."""
        return self._filled(number)

    def sum_of_lanes(self, vector: Value) -> Value:
        """Return the sum of a vector's elements: of both halves, until one is left."""
        half = lanes() // 2
        while half:
            kind = self._ir.VectorType(self._ir.IntType(32), half)
            halves = [
                self._builder.shuffle_vector(
                    vector, vector, self._ir.Constant(kind, list(range(start, start + half)))
                )
                for start in (0, half)
            ]
            vector, half = self.add(*halves), half // 2
        return self.first(vector)

    def store_element(self, number: Value, address: Value, kind: str) -> None:
        """Store one float32 as an element of dtype ``kind``: float32, float16 or bfloat16."""
        if kind == "float32":
            self.store_float(number, address)
        else:
            bits = STORES[_STORES[kind]](self._builder, number)
            self._builder.store(bits, self._pointer(address, self._ir.IntType(16)))

    def _filled(self, number: Value) -> Value:
        vector = self._ir.Constant(self._vector, self._ir.Undefined)
        one = self._builder.insert_element(vector, number, self._ir.IntType(32)(0))
        everywhere = self._ir.VectorType(self._ir.IntType(32), lanes())(None)
        return self._builder.shuffle_vector(one, vector, everywhere)

    def subtract(self, x: Value, y: Value) -> Value:
        """Return the difference of two vectors."""
        return self._builder.fsub(x, y)

    def multiply(self, x: Value, y: Value) -> Value:
        """Return the product of two vectors."""
        return self._builder.fmul(x, y)

    def divide_vectors(self, x: Value, y: Value) -> Value:
        """Return the quotient of two vectors."""
        return self._builder.fdiv(x, y)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """Return ``x * y + z`` of vectors, rounded once."""
        return (
            Number(self._builder, x).fma(Number(self._builder, y), Number(self._builder, z)).value
        )

    def is_less(self, x: Value, y: Value) -> Value:
        """Return the lanes where ``x < y``; none where one is NaN."""
        return self._builder.fcmp_ordered("<", x, y)

    def is_equal(self, x: Value, y: Value) -> Value:
        """Return the lanes where ``x == y``."""
        return self._builder.fcmp_ordered("==", x, y)

    def where(self, lanes: Value, x: Value, y: Value) -> Value:
        """Return the elements of ``x`` in some lanes, and of ``y`` in the others."""
        return self._builder.select(lanes, x, y)

    def larger(self, x: Value, y: Value) -> Value:
        """Return the larger of two vectors' elements; those of ``y`` where ``x`` is NaN."""
        return self.where(self._builder.fcmp_ordered(">", x, y), x, y)

    def function(self, name: str, x: Value) -> Value:
        """Return a function of `gluonish.kernels.compiler.vector_math` of a vector."""
        _, compute = FUNCTIONS[name]
        return compute(Number(self._builder, x)).value

    def power_of_two(self, x: Value) -> Value:
        """Return 2 ** x within 2 units in the last place, for elements up to 126.

        Results below 2 ** -126 are zero; NaN stays NaN.
        """
        number = Number(self._builder, x)
        return power_of_two(number).value

    def lane_numbers(self, start: Value) -> Value:
        """Return a vector of 32-bit integers: ``start``, ``start + 1``, and so on."""
        kind = self._ir.VectorType(self._ir.IntType(32), lanes())
        counts = self._ir.Constant(kind, list(range(lanes())))
        return self._builder.add(self._filled_integer(start), counts)

    def _filled_integer(self, value: Value) -> Value:
        kind = self._ir.VectorType(self._ir.IntType(32), lanes())
        undefined = self._ir.Constant(kind, self._ir.Undefined)
        narrow = self._builder.trunc(value, self._ir.IntType(32))
        one = self._builder.insert_element(undefined, narrow, self._ir.IntType(32)(0))
        return self._builder.shuffle_vector(one, undefined, kind(None))

    def between(self, integers: Value, low: Value, high: Value) -> Value:
        """Return the lanes where ``low <= integer <= high``, signed."""
        low, high = self._filled_integer(low), self._filled_integer(high)
        above = self._builder.icmp_signed(">=", integers, low)
        return self._builder.and_(above, self._builder.icmp_signed("<=", integers, high))

    def transpose(self, rows: Sequence[Value]) -> list[Value]:
        """Return the columns of as many vectors as a vector has lanes."""
        result, distance = list(rows), 1
        while distance < lanes():
            result, distance = self._exchanged(result, distance), 2 * distance
        return result

    def _exchanged(self, rows: Sequence[Value], distance: int) -> list[Value]:
        """Exchange elements between rows whose numbers differ in one bit."""
        kind = self._ir.VectorType(self._ir.IntType(32), lanes())
        made = list(rows)
        for i in range(lanes()):
            if i & distance:
                continue
            pair = rows[i], rows[i + distance]
            for bit, row in ((0, i), (distance, i + distance)):
                # Lane j takes column j of row i, or column j of the other row.
                source = [
                    (j & ~distance | bit) + (lanes() if j & distance else 0) for j in range(lanes())
                ]
                made[row] = self._builder.shuffle_vector(*pair, self._ir.Constant(kind, source))
        return made

    def load_converted(self, address: Value, kind: str) -> Value:
        """Load a vector of elements of dtype ``kind``, converted to float32."""
        if kind == "float32":
            return self.load(address)
        if kind in ("bool", "int8"):
            stored = self._ir.VectorType(self._ir.IntType(8), lanes())
            numbers = self._builder.load(self._pointer(address, stored), align=1)
            convert = self._builder.uitofp if kind == "bool" else self._builder.sitofp
            return convert(numbers, self._vector)
        half = self._ir.VectorType(self._ir.IntType(16), lanes())
        bits = self._builder.load(self._pointer(address, half), align=2)
        wide = self._ir.VectorType(self._ir.IntType(32), lanes())
        if kind == "bfloat16":
            shift = self._ir.Constant(wide, [16] * lanes())
            return self._builder.bitcast(
                self._builder.shl(self._builder.zext(bits, wide), shift), self._vector
            )
        halves = self._ir.VectorType(self._ir.HalfType(), lanes())
        return self._builder.fpext(self._builder.bitcast(bits, halves), self._vector)

    def load_pairs(self, address: Value) -> tuple[Value, Value]:
        """Load two vectors of bfloat16 at once, as float32: the even elements, and the odd ones."""
        wide = self._ir.VectorType(self._ir.IntType(32), lanes())
        words = self._builder.load(self._pointer(address, wide), align=2)
        even = self._builder.shl(words, self._ir.Constant(wide, [16] * lanes()))
        odd = self._builder.and_(words, self._ir.Constant(wide, [0xFFFF0000] * lanes()))
        return self._builder.bitcast(even, self._vector), self._builder.bitcast(odd, self._vector)

    def prefetch(self, address: Value, *, level: int = 1) -> None:
        """Begin to read the cache line of an address, which need not be readable.

        Args:
            level: The cache that it is read into.
        """
        ir, name = self._ir, "llvm.prefetch.p0"
        int32, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        function = self._module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(ir.VoidType(), [pointer, int32, int32, int32])
            function = ir.Function(self._module, kind, name)
        place = self._builder.inttoptr(address, pointer)
        numbers = int32(0), int32(4 - level), int32(1)
        self._builder.call(function, [place, *numbers])

    def store_converted(self, vector: Value, address: Value, kind: str) -> None:
        """Store a vector as elements of dtype ``kind``: float32, float16 or bfloat16."""
        if kind == "float32":
            self.store(vector, address)
            return
        builder = self._builder
        half = self._ir.VectorType(self._ir.IntType(16), lanes())
        if kind == "float16":
            halves = self._ir.VectorType(self._ir.HalfType(), lanes())
            bits = builder.bitcast(builder.fptrunc(vector, halves), half)
        else:
            bits = STORES["store_bf16"](builder, vector)
        builder.store(bits, self._pointer(address, half), align=2)

    def philox(self, blocks: Value, seed: Value, offset: Value) -> list[Value]:
        """Return Philox's four words for a block number in each lane.

        Args:
            blocks: A vector of 64-bit integers, of `wide_lanes`.
            seed: First half of the key.
            offset: Second half of the key.

        Returns:
            Four vectors of float32: the upper 24 bits of each word, times 2 ** -24.
        """
        words = philox4x32(self._builder, blocks, self._wide(seed), self._wide(offset))
        shift = self._ir.Constant(blocks.type, [8] * lanes())
        narrow = self._ir.VectorType(self._ir.IntType(32), lanes())
        made = []
        for word in words:
            top = self._builder.trunc(self._builder.lshr(word, shift), narrow)
            number = self._builder.sitofp(top, self._vector)
            made.append(self.multiply(number, self.constant(2.0**-24)))
        return made

    def wide_lanes(self, start: Value, step: Value) -> Value:
        """Return a vector of 64-bit integers: ``start``, ``start + step``, and so on."""
        kind = self._ir.VectorType(self._int64, lanes())
        counts = self._ir.Constant(kind, list(range(lanes())))
        steps = self._builder.mul(self._wide(step), counts)
        return self._builder.add(self._wide(start), steps)

    def shifted_right(self, integers: Value, bits: int) -> Value:
        """Return 64-bit integers without their lowest bits."""
        return self._builder.lshr(integers, self._ir.Constant(integers.type, [bits] * lanes()))

    def has_low_bits(self, integers: Value, bits: int) -> Value:
        """Return the lanes whose 64-bit integers have these two lowest bits."""
        kind = integers.type
        low = self._builder.and_(integers, self._ir.Constant(kind, [3] * lanes()))
        return self._builder.icmp_unsigned("==", low, self._ir.Constant(kind, [bits] * lanes()))

    def _wide(self, value: Value) -> Value:
        kind = self._ir.VectorType(self._int64, lanes())
        undefined = self._ir.Constant(kind, self._ir.Undefined)
        one = self._builder.insert_element(undefined, value, self._ir.IntType(32)(0))
        zeros = self._ir.VectorType(self._ir.IntType(32), lanes())(None)
        return self._builder.shuffle_vector(one, undefined, zeros)

    def _number(self, value: Value | int) -> Value:
        return self._int64(value) if isinstance(value, int) else value

    def _all(self, value: float) -> Value:
        return self._ir.Constant(self._vector, [value] * self._vector.count)

    def _param_at(self, index: int) -> Value:
        return self._builder.gep(self._params, [self._int64(index)])

    def _pointer(self, address: Value, kind: Value) -> Value:
        return self._builder.inttoptr(address, kind.as_pointer())
