"""Instructions for vectors of integers: weights of 8 and 4 bits, and products of 16 bits."""

from collections.abc import Sequence

from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes


def byte_vectors() -> int:
    """Return the number of vectors that `IntegerAssembler.load_bytes` gives."""
    return 4 if lanes() == 8 else 1


def byte_unit() -> float:
    """Return the factor of what `IntegerAssembler.load_bytes` gives, a power of 2."""
    return 2.0**24 if lanes() == 8 else 1.0


NIBBLE_UNIT = 2.0**28  # the factor of what `IntegerAssembler.load_nibbles` gives


def nibble_vectors() -> int:
    """Return the number of vectors that `IntegerAssembler.load_nibbles` gives."""
    return 4 if lanes() == 8 else 2


class IntegerAssembler(Assembler):
    """Writes a kernel that multiplies integers; see `Assembler`."""

    def load_bytes(self, address: Value) -> tuple[Value, ...]:
        """Load vectors of int8 at once, as float32 times `byte_unit`.

        With 8 lanes these are four vectors: elements 0, 4, ..., elements 1, 5, ..., and so on, by
        shifts in place, which cost less than the extension of the sign. With 16 lanes it is one.
        """
        builder, int_type = self._builder, self._ir.IntType
        wide = self._ir.VectorType(int_type(32), lanes())
        if lanes() != 8:
            stored = self._ir.VectorType(int_type(8), lanes())
            numbers = builder.load(self._pointer(address, stored), align=1)
            return (builder.sitofp(builder.sext(numbers, wide), self._vector),)
        words = builder.load(self._pointer(address, wide), align=1)
        top = self._ir.Constant(wide, [0xFF000000] * lanes())
        made = []
        for shift in (24, 16, 8, 0):
            moved = builder.shl(words, self._ir.Constant(wide, [shift] * lanes()))
            made.append(builder.sitofp(builder.and_(moved, top), self._vector))
        return tuple(made)

    def load_nibbles(self, address: Value) -> tuple[Value, ...]:
        """Load vectors of integers of 4 bits at once, as float32 times `NIBBLE_UNIT`.

        Vector i of n has the elements i, i + n, ..., by shifts in place as of `load_bytes`.
        """
        builder, int_type, count = self._builder, self._ir.IntType, nibble_vectors()
        stored = self._ir.VectorType(int_type(4 * count), lanes())
        wide = self._ir.VectorType(int_type(32), lanes())
        words = builder.zext(builder.load(self._pointer(address, stored), align=1), wide)
        top = self._ir.Constant(wide, [0xF0000000] * lanes())
        made = []
        for i in range(count):
            moved = builder.shl(words, self._ir.Constant(wide, [28 - 4 * i] * lanes()))
            made.append(builder.sitofp(builder.and_(moved, top) if i else moved, self._vector))
        return tuple(made)

    def load_nibbles_int16(self, address: Value) -> tuple[Value, Value]:
        """Load 4 times `lanes` integers of 4 bits as 16-bit integers: even elements, and odd."""
        builder, int_type = self._builder, self._ir.IntType
        stored = self._ir.VectorType(int_type(8), 2 * lanes())
        wide = self._ir.VectorType(int_type(16), 2 * lanes())
        words = builder.sext(builder.load(self._pointer(address, stored), align=1), wide)
        four, twelve = (self._ir.Constant(wide, [n] * (2 * lanes())) for n in (4, 12))
        return builder.ashr(builder.shl(words, twelve), twelve), builder.ashr(words, four)

    def halves(self, first: Value, second: Value) -> list[Value]:
        """Return the even elements of two vectors, and the odd ones."""
        kind = self._ir.VectorType(self._ir.IntType(32), lanes())
        return [
            self._builder.shuffle_vector(
                first, second, self._ir.Constant(kind, list(range(i, 2 * lanes(), 2)))
            )
            for i in range(2)
        ]

    def strided_order(self, vectors: Sequence[Value]) -> list[Value]:
        """Return vectors of which vector i of n has the elements i, i + n, ... of all of them.

        This is the order of `load_bytes` and `load_nibbles`; there are 1, 2 or 4.
        """
        if len(vectors) == 1:
            return list(vectors)
        if len(vectors) == 2:
            return self.halves(*vectors)
        kind = self._ir.VectorType(self._ir.IntType(32), 2 * lanes())
        joined = self._ir.Constant(kind, list(range(2 * lanes())))
        first, second = (
            self._builder.shuffle_vector(vectors[i], vectors[i + 1], joined) for i in (0, 2)
        )
        kind = self._ir.VectorType(self._ir.IntType(32), lanes())
        return [
            self._builder.shuffle_vector(
                first, second, self._ir.Constant(kind, list(range(start, 4 * lanes(), 4)))
            )
            for start in range(4)
        ]

    def load_int16(self, address: Value, kind: str = "int16") -> Value:
        """Load twice `lanes` elements of dtype int8 or int16 as 16-bit integers."""
        wide = self._ir.VectorType(self._ir.IntType(16), 2 * lanes())
        if kind == "int16":
            return self._builder.load(self._pointer(address, wide), align=2)
        stored = self._ir.VectorType(self._ir.IntType(8), 2 * lanes())
        return self._builder.sext(self._builder.load(self._pointer(address, stored), align=1), wide)

    def store_rounded(self, vectors: Sequence[Value], address: Value) -> None:
        """Store two vectors of float32, rounded to 16-bit integers, halves to even."""
        builder, int_type = self._builder, self._ir.IntType
        kind = self._ir.VectorType(int_type(32), lanes())
        indices = self._ir.VectorType(int_type(32), 2 * lanes())(list(range(2 * lanes())))
        # In this binade the last bit is 1; the low bits are those of the integer.
        first, second = (
            builder.bitcast(self.add(x, self.constant(1.5 * 2.0**23)), kind) for x in vectors
        )
        stored = self._ir.VectorType(int_type(16), 2 * lanes())
        narrow = builder.trunc(builder.shuffle_vector(first, second, indices), stored)
        builder.store(narrow, self._pointer(address, stored), align=2)

    def store_bytes(self, vector: Value, address: Value) -> None:
        """Store float32 from -128 to 127 as int8, halves to even."""
        builder, int_type = self._builder, self._ir.IntType
        kind = self._ir.VectorType(int_type(32), lanes())
        # In this binade the last bit is 1; the low bits are those of the integer.
        bits = builder.bitcast(self.add(vector, self.constant(1.5 * 2.0**23)), kind)
        stored = self._ir.VectorType(int_type(8), lanes())
        builder.store(builder.trunc(bits, stored), self._pointer(address, stored), align=1)

    def pair_sums(self, x: Value, y: Value) -> Value:
        """Return sums of two neighbouring products of 16-bit integers, as 32-bit integers."""
        builder, int_type = self._builder, self._ir.IntType
        wide = self._ir.VectorType(int_type(32), 2 * lanes())
        products = builder.mul(builder.sext(x, wide), builder.sext(y, wide))
        kind = self._ir.VectorType(int_type(32), lanes())
        even, odd = (
            builder.shuffle_vector(
                products, products, self._ir.Constant(kind, list(range(i, 2 * lanes(), 2)))
            )
            for i in range(2)
        )
        return builder.add(even, odd)

    def integer_zeros(self) -> Value:
        """Return a vector of 32-bit zeros."""
        return self._ir.VectorType(self._ir.IntType(32), lanes())(None)

    def add_integers(self, x: Value, y: Value) -> Value:
        """Return the sum of two vectors of integers."""
        return self._builder.add(x, y)

    def as_floats(self, integers: Value) -> Value:
        """Return 32-bit integers as float32."""
        return self._builder.sitofp(integers, self._vector)

    def exponent_bits(self, vector: Value) -> Value:
        """Return the bits of the exponents of float32, as vectors of integers."""
        kind = self._ir.VectorType(self._ir.IntType(32), lanes())
        mask = self._ir.Constant(kind, [0x7F800000] * lanes())
        return self._builder.and_(self._builder.bitcast(vector, kind), mask)

    def larger_integers(self, x: Value, y: Value) -> Value:
        """Return the larger of two vectors' integers."""
        return self._builder.select(self._builder.icmp_signed(">", x, y), x, y)

    def largest_lane(self, integers: Value) -> Value:
        """Return the largest of a vector's non-negative integers."""
        found = self.number(0)
        for i in range(lanes()):
            lane = self._builder.extract_element(integers, self._ir.IntType(32)(i))
            found = self.greatest(found, self._builder.zext(lane, self._int64))
        return found
