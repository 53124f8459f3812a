"""Code of the kernel of weight_only_dense on few rows.

A step computes an output feature for all rows, and reads each weight once. Sums of a chunk, at most
128 features, are multiplied by scales and added to the total. The order depends on sizes only.

Float32 data are multiplied by weights that become floating in registers. Bfloat16 data, of 8
significant bits, become 16-bit integers times a power of 2 for each chunk, as products of integers
take half the time: an element is exact if it is not below 1/64 of the largest magnitude of its
chunk, and is rounded to 2 ** -15 of that otherwise. Sums of integers are exact. The result is NaN
if an element is infinite.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.integer_code import (
    NIBBLE_UNIT,
    IntegerAssembler,
    byte_unit,
    byte_vectors,
    nibble_vectors,
)
from gluonish.kernels.compiler.vector_code import Value, lanes

_CHUNK = 128  # features of a sum
_FLOAT = 4  # bytes
_INT16 = 2
_BIAS = 127  # of exponents of float32
_LINE = 64  # bytes of a cache line
# Bytes from a weight to the one whose reading begins. It is worth a sixth: products of integers
# take as long as reading, and the processor does not look as far ahead itself.
_AHEAD = 2048


class Form(NamedTuple):
    """What the code of a kernel depends on.

    Attributes:
        rows: Number of rows of the data.
        kind: Dtype of data, bias and output.
        bias: Whether there is a bias.
        group: Number of features that share a scale, a multiple of `width`; 0 for a row.
        integers: Whether the data become integers.
        bits: 8 or 4, of a weight; with 4 all features are loaded as vectors.
    """

    rows: int
    kind: str
    bias: bool
    group: int
    integers: bool
    bits: int = 8

    @property
    def names(self) -> str:
        """The names of the params."""
        return f"out data weight scale{' bias' * self.bias} units features"

    @property
    def width(self) -> int:
        """The number of features that are loaded at once."""
        return width(integers=self.integers, bits=self.bits)

    @property
    def chunk(self) -> int:
        """The number of features of a sum, which divides that of a group."""
        if not self.group:
            return _CHUNK
        sizes = range(self.width, min(_CHUNK, self.group) + 1, self.width)
        return max(size for size in sizes if self.group % size == 0)

    @property
    def itemsize(self) -> int:
        """The bytes of an element of the data."""
        return _FLOAT if self.kind == "float32" else 2


@cache
def width(*, integers: bool, bits: int = 8) -> int:
    """Return the number of features that a kernel loads at once."""
    if bits == 4:
        return (4 if integers else nibble_vectors()) * lanes()
    return (2 if integers else byte_vectors()) * lanes()


@lru_cache(256)
def kernel(form: Form) -> CompiledKernel:
    """Return the compiled kernel of a form; its steps are the features of the output."""

    def text() -> str:
        code = IntegerAssembler(form.names)
        writer = _IntegerWriter if form.integers else _FloatWriter
        writer(code, form).write()
        return code.finish()

    return compile_assembly(f"weight only {form} {lanes()}", text, __name__)


class _Writer:
    """Writes the code of a kernel.

    Attributes:
        whole: Number of features in whole chunks.
    """

    def __init__(self, code: IntegerAssembler, form: Form) -> None:
        self.code = code
        self.form = form
        self.features, self.units = code.params["features"], code.params["units"]
        self.whole = self._multiple(form.chunk)

    def _multiple(self, count: int) -> Value:
        """Return the number of features without the remainder of a division."""
        _, rest = self.code.divide(self.features, self.code.number(count))
        return self.code.difference(self.features, rest)

    def write(self) -> None:
        """Write the loop over features of the output."""
        code, form = self.code, self.form
        self._prepare()
        with code.loop(code.begin, code.end) as unit:
            start = code.sum(code.params["weight"], code.product(unit, self._nbytes(self.features)))
            totals = self._totals(start, unit)
            if not form.group:
                at = code.sum(code.params["scale"], code.product(unit, _FLOAT))
                scale = code.element(at, "float32")
                totals = [code.float_product(x, scale) for x in totals]
            for row, total in enumerate(totals):
                self._finish(total, row, unit)

    def _prepare(self) -> None:
        """Store the data on the stack, in the form that they are multiplied in."""
        raise NotImplementedError

    def _totals(self, start: Value, unit: Value) -> list[Value]:
        """Return the sum of each row, times the scales of groups.

        Args:
            start: Address of the row of the weight.
            unit: Its index.
        """
        raise NotImplementedError

    def _nbytes(self, features: Value | int) -> Value:
        """Return the bytes of some features of a row of the weight."""
        if self.form.bits == 8:
            return features
        return self.code.divide(self.code.sum(features), self.code.number(2))[0]

    def _source(self, row: int) -> Value:
        """Return the address of a row of the data."""
        start = self.code.product(self.features, self.form.itemsize, row)
        return self.code.sum(self.code.params["data"], start)

    def _scale(self, unit: Value, at: Value) -> Value:
        """Return the scale of the group of a feature."""
        code, group = self.code, self.form.group
        groups, _ = code.divide(self.features, code.number(group))
        index, _ = code.divide(at, code.number(group))
        offset = code.product(code.sum(code.product(unit, groups), index), _FLOAT)
        return code.element(code.sum(code.params["scale"], offset), "float32")

    def _finish(self, number: Value, row: int, unit: Value) -> None:
        """Add the bias, and store an element."""
        code, form = self.code, self.form
        if form.bias:
            offset = code.product(unit, form.itemsize)
            bias = code.element(code.sum(code.params["bias"], offset), form.kind)
            number = code.add(number, bias)
        at = code.product(code.sum(code.product(self.units, row), unit), form.itemsize)
        code.store_element(number, code.sum(code.params["out"], at), form.kind)


class _FloatWriter(_Writer):
    """Writes the code that multiplies float32.

    Attributes:
        vectors: Number of features that are loaded as vectors.
        rows: Address of each row of the data, as float32 in the order of loaded weights; all but
            the features behind the last vector are divided by what those are multiplied by.
    """

    rows: list[Value]

    def _prepare(self) -> None:
        code, form = self.code, self.form
        self.vectors = self._multiple(form.width)
        nbytes = code.product(self.features, _FLOAT)
        made = code.reserve(code.product(nbytes, form.rows))
        self.rows = [code.sum(made, code.product(nbytes, row)) for row in range(form.rows)]
        for row, to in enumerate(self.rows):
            self._convert(self._source(row), to)

    def _convert(self, source: Value, to: Value) -> None:
        code, form = self.code, self.form
        count, factor = byte_vectors(), byte_unit()
        if form.bits == 4:
            count, factor = nibble_vectors(), NIBBLE_UNIT
        unit = code.constant(1 / factor)
        with code.loop(0, self.vectors, form.width) as at:
            start = code.sum(source, code.product(at, form.itemsize))
            offsets = [i * lanes() for i in range(count)]
            loaded = [
                code.load_converted(code.sum(start, i * form.itemsize), form.kind) for i in offsets
            ]
            target = code.sum(to, code.product(at, _FLOAT))
            for i, vector in zip(offsets, code.strided_order(loaded), strict=True):
                code.store(code.multiply(vector, unit), code.sum(target, i * _FLOAT))
        with code.loop(self.vectors, self.features) as at:
            number = code.element(code.sum(source, code.product(at, form.itemsize)), form.kind)
            code.store_float(number, code.sum(to, code.product(at, _FLOAT)))

    def _totals(self, start: Value, unit: Value) -> list[Value]:
        code, form = self.code, self.form

        def whole(at: Value, totals: list[Value]) -> list[Value]:
            sums = self._sums(start, at, form.chunk)
            if not form.group:
                return [code.add(x, y) for x, y in zip(totals, sums, strict=True)]
            scale = code.filled(self._scale(unit, at))
            return [code.fma(x, scale, y) for x, y in zip(sums, totals, strict=True)]

        def rest(at: Value, totals: list[Value]) -> list[Value]:
            sums = self._sums(start, at, form.width)
            return [code.add(x, y) for x, y in zip(totals, sums, strict=True)]

        totals = [code.zeros()] * form.rows
        totals = code.fold(0, self.whole, form.chunk, totals, whole)
        if form.group:
            return [code.sum_of_lanes(x) for x in totals]
        totals = code.fold(self.whole, self.vectors, form.width, totals, rest)
        if form.bits == 4:
            return [code.sum_of_lanes(x) for x in totals]
        return self._tail(start, [code.sum_of_lanes(x) for x in totals])

    def _sums(self, start: Value, at: Value, count: int) -> list[Value]:
        """Return a vector of sums for each row over some features from ``at`` on."""
        code = self.code
        # Sums of a row that do not wait for one another; more of them are slower.
        most = 2 if self.form.rows <= 2 else 1
        chains: list[list[Value]] = [[] for _ in self.rows]
        loaded = code.load_bytes if self.form.bits == 8 else code.load_nibbles
        for load in range(0, count, self.form.width):
            here = code.sum(at, load)
            for part, weight in enumerate(loaded(code.sum(start, self._nbytes(here)))):
                offset = code.product(code.sum(here, part * lanes()), _FLOAT)
                for sums, row in zip(chains, self.rows, strict=True):
                    data = code.load(code.sum(row, offset))
                    if len(sums) < most:
                        sums.append(code.multiply(data, weight))
                    else:  # the oldest sum is added to, and becomes the latest
                        sums.append(code.fma(data, weight, sums.pop(0)))
        return [code.add(*sums) if len(sums) > 1 else sums[0] for sums in chains]

    def _tail(self, start: Value, totals: list[Value]) -> list[Value]:
        """Add the products of the features behind the last vector."""
        code = self.code

        def terms(at: Value, totals: list[Value]) -> list[Value]:
            weight = code.element(code.sum(start, at), "int8")
            offset = code.product(at, _FLOAT)
            data = [code.element(code.sum(row, offset), "float32") for row in self.rows]
            return [
                code.add(total, code.float_product(x, weight))
                for total, x in zip(totals, data, strict=True)
            ]

        return code.fold(self.vectors, self.features, 1, totals, terms)


class _IntegerWriter(_Writer):
    """Writes the code that multiplies integers; all features are loaded as vectors.

    Attributes:
        rows: Address of the integers of each row of the data.
        factors: Address of the factors of each row, one for a chunk.
    """

    rows: list[Value]
    factors: list[Value]

    def _prepare(self) -> None:
        code, form = self.code, self.form
        above = code.sum(self.features, form.chunk - 1)
        chunks, _ = code.divide(above, code.number(form.chunk))
        sizes = code.product(self.features, _INT16), code.product(chunks, _FLOAT)
        stores = [code.reserve(code.product(nbytes, form.rows)) for nbytes in sizes]
        self.rows, self.factors = (
            [code.sum(made, code.product(nbytes, row)) for row in range(form.rows)]
            for made, nbytes in zip(stores, sizes, strict=True)
        )
        for row in range(form.rows):
            with code.loop(0, self.features, form.chunk) as at:
                self._convert(row, at)

    def _convert(self, row: int, at: Value) -> None:
        """Convert a chunk of a row, and store its factor."""
        code, form = self.code, self.form
        end = code.least(code.sum(at, form.chunk), self.features)

        def loaded(place: Value) -> Value:
            offset = code.product(place, form.itemsize)
            return code.load_converted(code.sum(self._source(row), offset), form.kind)

        def largest(place: Value, found: list[Value]) -> list[Value]:
            return [code.larger_integers(code.exponent_bits(loaded(place)), found[0])]

        (bits,) = code.fold(at, end, lanes(), [code.integer_zeros()], largest)
        exponent, _ = code.divide(code.largest_lane(bits), code.number(1 << 23))
        # The largest magnitude is in [2 ** 14, 2 ** 15) after the division by the factor.
        low = code.greatest(exponent, 15)
        factor = code.product(code.difference(low, 14), 1 << 23)
        inverse = code.product(code.difference(2 * _BIAS + 14, low), 1 << 23)
        finite = code.less(exponent, 255)
        factor = code.first(code.number_of_bits(code.select(finite, factor, 0x7FC00000)))
        index, _ = code.divide(at, code.number(form.chunk))
        code.store_float(factor, code.sum(self.factors[row], code.product(index, _FLOAT)))
        multiple = code.number_of_bits(inverse)
        with code.loop(at, end, form.width) as place:
            vectors = [
                code.multiply(loaded(code.sum(place, i * lanes())), multiple)
                for i in range(form.width // lanes())
            ]
            if form.bits == 4:  # even elements, then odd ones
                pairs = [code.halves(*vectors[i : i + 2]) for i in (0, 2)]
                vectors = [pairs[i][part] for part in range(2) for i in range(2)]
            target = code.sum(self.rows[row], code.product(place, _INT16))
            for i in range(0, len(vectors), 2):
                code.store_rounded(vectors[i : i + 2], code.sum(target, i * lanes() * _INT16))

    def _totals(self, start: Value, unit: Value) -> list[Value]:
        code, form = self.code, self.form

        def whole(at: Value, totals: list[Value]) -> list[Value]:
            sums = [code.integer_zeros()] * form.rows
            for load in range(0, form.chunk, form.width):
                if load * form.bits // 8 % _LINE == 0:
                    here = self._nbytes(code.sum(at, load))
                    code.prefetch(code.sum(start, here, _AHEAD))
                sums = self._added(sums, start, code.sum(at, load))
            return self._joined(totals, sums, unit, at)

        def rest(at: Value, totals: list[Value]) -> list[Value]:
            sums = [code.integer_zeros()] * form.rows

            def one(place: Value, sums: list[Value]) -> list[Value]:
                return self._added(sums, start, place)

            sums = code.fold(at, self.features, form.width, sums, one)
            return self._joined(totals, sums, unit, at)

        totals = [code.zeros()] * form.rows
        totals = code.fold(0, self.whole, form.chunk, totals, whole)
        if not form.group:
            totals = code.fold(self.whole, self.features, form.chunk, totals, rest)
        return [code.sum_of_lanes(x) for x in totals]

    def _added(self, sums: list[Value], start: Value, at: Value) -> list[Value]:
        """Add products of the features of a load to a vector of integers for each row."""
        code = self.code
        place = code.sum(start, self._nbytes(at))
        weights: Sequence[Value] = (
            [code.load_int16(place, "int8")]
            if self.form.bits == 8
            else code.load_nibbles_int16(place)
        )
        for i, weight in enumerate(weights):
            offset = code.product(code.sum(at, i * 2 * lanes()), _INT16)
            sums = [
                code.add_integers(
                    total, code.pair_sums(weight, code.load_int16(code.sum(row, offset)))
                )
                for total, row in zip(sums, self.rows, strict=True)
            ]
        return sums

    def _joined(
        self, totals: list[Value], sums: list[Value], unit: Value, at: Value
    ) -> list[Value]:
        """Add the sums of a chunk to the totals, times factors of data and scale."""
        code, form = self.code, self.form
        index, _ = code.divide(at, code.number(form.chunk))
        made = []
        scale = self._scale(unit, at) if form.group else None
        for total, integers, factors in zip(totals, sums, self.factors, strict=True):
            factor = code.element(code.sum(factors, code.product(index, _FLOAT)), "float32")
            if scale is not None:
                factor = code.float_product(factor, scale)
            made.append(code.fma(code.as_floats(integers), code.filled(factor), total))
        return made
