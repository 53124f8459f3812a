"""Writes the code of attention with a cache, of one query for each sample.

A step is the heads of a sample that share keys. It writes the new key and value into the caches,
computes the scores of each head into scratch memory, vectors of neighbouring keys at a time, makes
weights of them, and adds up values, blocks of keys at a time, so that the heads find them in a
core's cache. Sums are float32, in an order that depends on sizes, position and window only. Rows of
int8 are multiplied by their scales behind the sum of products, and in front of that of values.
"""

from functools import lru_cache
from typing import NamedTuple

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, INT8
from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.integer_code import IntegerAssembler
from gluonish.kernels.compiler.vector_code import Value, lanes

_FLOAT = 4  # bytes
_BLOCK = 64  # keys whose values are added up for all heads
_TILES = (8, 4, 2, 1)  # vectors of a row of values that are added up in registers
_MOST = 127.0  # magnitude of an element of int8
_ARRAYS = "out query key value keys values"
_SCALES = "key_scales value_scales"

# The dtypes that arrays may have.
KINDS = {FLOAT32: "float32", BFLOAT16: "bfloat16", FLOAT16: "float16", INT8: "int8"}
ITEMSIZES = {str(kind): dtype.itemsize for dtype, kind in KINDS.items()}


class Form(NamedTuple):
    """What the code of the kernel depends on.

    Attributes:
        kind: Dtype of all arrays but the caches.
        held: Dtype of the caches; there are scales for int8.
        capped: Whether scores are limited by a hyperbolic tangent.
    """

    kind: str
    held: str
    capped: bool

    @property
    def has_scales(self) -> bool:
        """Whether there is a scale for each row of the caches."""
        return self.held == "int8"

    @property
    def names(self) -> str:
        """The names of the params."""
        scales = f" {_SCALES}" * self.has_scales
        steps = [f"{name}_n {name}_h" for name in _ARRAYS.split()[:4]]
        steps += [f"{name}_n {name}_h {name}_s" for name in _ARRAYS.split()[4:]]
        steps += [f"{name}_n {name}_h" for name in scales.split()]
        numbers = "group heads width value_width length before score_step factor cap"
        return f"{_ARRAYS}{scales} positions scores {' '.join(steps)} {numbers}"


@lru_cache(8)
def kernel(form: Form) -> CompiledKernel:
    """Return the compiled kernel of a form; a step is the heads of a sample that share keys."""

    def text() -> str:
        code = IntegerAssembler(form.names)
        _Writer(code, form).write()
        return code.finish()

    return compile_assembly(f"cached attention {form} {lanes()}", text, __name__)


class _Reach(NamedTuple):
    """The keys that the query of a step attends to.

    Attributes:
        sample: Index of the sample.
        head: Index of the head of keys.
        first: Slot of the first key.
        scores: Address of the scores of the first head.
        count: Number of keys.
    """

    sample: Value
    head: Value
    first: Value
    scores: Value
    count: Value


class _Part(NamedTuple):
    """Keys in reach whose rows follow one another: those up to the end of a ring, and the rest.

    Attributes:
        begin: First key.
        end: Key after the last one.
        slot: Slot of key 0, if the ring had no end.
    """

    begin: Value
    end: Value
    slot: Value


class _Writer:
    """Writes the code of the kernel.

    Attributes:
        queries: Address of the queries of a step, as float32 times the factor.
        sums: Address of the sums of values of all heads of a step.
        totals: Address of the sum of weights of each head.
    """

    def __init__(self, code: IntegerAssembler, form: Form) -> None:
        self.code = code
        self.form = form
        self.params = params = code.params
        self.query_row = code.product(params["width"], _FLOAT)
        self.sum_row = code.product(params["value_width"], _FLOAT)
        self.queries = code.reserve(code.product(self.query_row, params["group"]))
        self.sums = code.reserve(code.product(self.sum_row, params["group"]))
        self.totals = code.reserve(code.product(params["group"], _FLOAT))

    def write(self) -> None:
        """Write the loop over steps."""
        code, params = self.code, self.params
        with code.loop(code.begin, code.end) as step:
            sample, head = code.divide(step, params["heads"])
            place = code.sum(params["positions"], code.product(sample, 8))
            newest = code.load_number(place, "int64")
            _, slot = code.divide(newest, params["length"])
            self._append("key", sample, head, slot, params["width"])
            self._append("value", sample, head, slot, params["value_width"])
            first = code.greatest(code.difference(newest, params["before"]), 0)
            _, first_slot = code.divide(first, params["length"])
            scores = code.product(step, params["group"], params["score_step"])
            scores = code.sum(params["scores"], scores)
            count = code.difference(code.sum(newest, 1), first)
            reach = _Reach(sample, head, first_slot, scores, count)
            first_head = code.product(head, params["group"])
            with code.loop(0, params["group"]) as i:
                self._prepare(sample, code.sum(first_head, i), i)
                self._weigh(reach, i)
            with code.loop(0, 2) as index:
                part = self._part(reach, index)
                with code.loop(part.begin, part.end, _BLOCK) as start:
                    self._add_values(reach, part, start)
            with code.loop(0, params["group"]) as i:
                self._finish(self._row("out", sample, code.sum(first_head, i)), i)

    def _row(self, name: str, sample: Value, head: Value) -> Value:
        """Return the address of an array's part of a sample and head."""
        code, params = self.code, self.params
        return code.sum(
            params[name],
            code.product(sample, params[f"{name}_n"]),
            code.product(head, params[f"{name}_h"]),
        )

    def _part(self, reach: _Reach, index: Value) -> _Part:
        """Return the keys in front of the end of the cache (0), or those behind it (1)."""
        code, length = self.code, self.params["length"]
        at_end = code.difference(length, reach.first)
        is_first = code.less(index, 1)
        return _Part(
            code.select(is_first, 0, at_end),
            code.select(is_first, code.least(at_end, reach.count), reach.count),
            code.difference(reach.first, code.product(index, length)),
        )

    def _start(self, name: str, reach: _Reach, part: _Part, step: Value | int) -> Value:
        """Return the address of the row of key 0 of a part."""
        offset = self.code.product(part.slot, step)
        return self.code.sum(self._row(name, reach.sample, reach.head), offset)

    def _append(self, new: str, sample: Value, head: Value, slot: Value, width: Value) -> None:
        """Copy a new key or value into its cache."""
        code, form = self.code, self.form
        source = self._row(new, sample, head)
        offset = code.product(slot, self.params[f"{new}s_s"])
        target = code.sum(self._row(f"{new}s", sample, head), offset)
        if form.has_scales:
            scale = code.sum(self._row(f"{new}_scales", sample, head), code.product(slot, _FLOAT))
            self._append_rounded(source, target, scale, width)
            return
        with code.loop(0, width, lanes()) as at:
            code.store_converted(
                self._loaded(source, at), code.sum(target, self._offset(at)), form.held
            )

    def _append_rounded(self, source: Value, target: Value, scale: Value, width: Value) -> None:
        """Store a row as int8, and its scale; see `gluonish.ops.attention.cache_rows.rounded`."""
        code = self.code

        def extend(at: Value, found: list[Value]) -> list[Value]:
            x = self._loaded(source, at)
            # What is no finite number makes NaN of the scale.
            missing = code.add(found[1], code.subtract(x, x))
            return [code.larger(code.larger(x, code.subtract(code.zeros(), x)), found[0]), missing]

        top, missing = code.fold(0, width, lanes(), [code.zeros()] * 2, extend)
        unit = code.divide_vectors(self._largest(top), code.constant(_MOST))
        unit = code.add(unit, code.filled(code.sum_of_lanes(missing)))
        code.store_float(code.first(unit), scale)
        with code.loop(0, width, lanes()) as at:
            x = code.divide_vectors(self._loaded(source, at), unit)
            x = code.larger(x, code.constant(-_MOST))
            x = code.where(code.is_less(x, code.constant(_MOST)), x, code.constant(_MOST))
            code.store_bytes(x, code.sum(target, at))

    def _loaded(self, start: Value, at: Value) -> Value:
        """Return elements of an array that is no cache."""
        code, kind = self.code, self.form.kind
        return code.load_converted(code.sum(start, code.product(at, ITEMSIZES[kind])), kind)

    def _offset(self, at: Value) -> Value:
        """Return the offset in bytes of an element in a row of a cache."""
        return self.code.product(at, ITEMSIZES[self.form.held])

    def _prepare(self, sample: Value, head: Value, i: Value) -> None:
        """Convert a query, and set its sums to zero."""
        code, params = self.code, self.params
        source = self._row("query", sample, head)
        factor = code.number_of_bits(params["factor"])
        to = code.sum(self.queries, code.product(i, self.query_row))
        with code.loop(0, params["width"], lanes()) as at:
            query = code.multiply(self._loaded(source, at), factor)
            code.store(query, code.sum(to, code.product(at, _FLOAT)))
        to = code.sum(self.sums, code.product(i, self.sum_row))
        with code.loop(0, params["value_width"], lanes()) as at:
            code.store(code.zeros(), code.sum(to, code.product(at, _FLOAT)))

    def _weigh(self, reach: _Reach, i: Value) -> None:
        """Store the weights of a head, and their sum."""
        code = self.code
        query = code.sum(self.queries, code.product(i, self.query_row))
        to = code.sum(reach.scores, code.product(i, self.params["score_step"]))
        lowest = code.constant(float("-inf"))

        def scores_of_part(index: Value, tops: list[Value]) -> list[Value]:
            part = self._part(reach, index)
            last = code.difference(part.end, 1)

            def score(first: Value, tops: list[Value]) -> list[Value]:
                scores = self._limited(self._products(reach, part, query, first))
                inside = code.between(code.lane_numbers(first), first, last)
                scores = code.where(inside, scores, lowest)
                code.store(scores, code.sum(to, code.product(first, _FLOAT)))
                return [code.larger(scores, tops[0])]

            return code.fold(part.begin, part.end, lanes(), tops, score)

        (tops,) = code.fold(0, 2, 1, [lowest], scores_of_part)
        code.store(lowest, code.sum(to, code.product(reach.count, _FLOAT)))
        top = self._largest(tops)

        def weigh(first: Value, totals: list[Value]) -> list[Value]:
            at = code.sum(to, code.product(first, _FLOAT))
            weights = code.power_of_two(code.subtract(code.load(at), top))
            code.store(weights, at)
            return [code.add(totals[0], weights)]

        (totals,) = code.fold(0, reach.count, lanes(), [code.zeros()], weigh)
        total = code.sum_of_lanes(totals)
        code.store_float(total, code.sum(self.totals, code.product(i, _FLOAT)))

    def _products(self, reach: _Reach, part: _Part, query: Value, first: Value) -> Value:
        """Return a query's products with neighbouring keys; those after the last are repeated."""
        code, form, params = self.code, self.form, self.params
        start = self._start("keys", reach, part, params["keys_s"])
        last = code.difference(part.end, 1)
        places = [code.least(code.sum(first, i), last) for i in range(lanes())]
        rows = [code.sum(start, code.product(at, params["keys_s"])) for at in places]

        def add(at: Value, sums: list[Value]) -> list[Value]:
            part = code.load(code.sum(query, code.product(at, _FLOAT)))
            offset = self._offset(at)
            loaded = [code.load_converted(code.sum(row, offset), form.held) for row in rows]
            return [code.fma(x, part, y) for x, y in zip(loaded, sums, strict=True)]

        sums = code.fold(0, params["width"], lanes(), [code.zeros()] * lanes(), add)
        if form.has_scales:
            start = self._start("key_scales", reach, part, _FLOAT)
            scales = [code.load_element(code.sum(start, code.product(at, _FLOAT))) for at in places]
            sums = [code.multiply(x, scale) for x, scale in zip(sums, scales, strict=True)]
        columns = code.transpose(sums)
        while len(columns) > 1:
            pairs = zip(columns[::2], columns[1::2], strict=True)
            columns = [code.add(x, y) for x, y in pairs]
        return columns[0]

    def _limited(self, scores: Value) -> Value:
        if not self.form.capped:
            return scores
        code = self.code
        tangents = code.function("tanh", scores)  # the factor includes the inverse of the cap
        return code.multiply(tangents, code.number_of_bits(self.params["cap"]))

    def _largest(self, vector: Value) -> Value:
        """Return a vector filled with the largest element."""
        code = self.code
        columns = code.transpose([vector] * lanes())  # each is filled with an element
        while len(columns) > 1:
            pairs = zip(columns[::2], columns[1::2], strict=True)
            columns = [code.larger(x, y) for x, y in pairs]
        return columns[0]

    def _add_values(self, reach: _Reach, part: _Part, start: Value) -> None:
        """Add a block of values, times the weights of each head, to the sums."""
        code, params = self.code, self.params
        stop = code.least(code.sum(start, _BLOCK), part.end)
        rows = self._start("values", reach, part, params["values_s"]), code.number(0)
        if self.form.has_scales:
            rows = rows[0], self._start("value_scales", reach, part, _FLOAT)
        with code.loop(0, params["group"]) as i:
            weights = code.sum(reach.scores, code.product(i, params["score_step"]))
            sums = code.sum(self.sums, code.product(i, self.sum_row))
            column = code.number(0)
            for vectors in _TILES:
                size = vectors * lanes()
                left = code.difference(params["value_width"], column)
                count, _ = code.divide(left, code.number(size))
                end = code.sum(column, code.product(count, size))
                with code.loop(column, end, size) as at:
                    self._add_tile(rows, weights, sums, at, vectors, (start, stop))
                column = end

    def _add_tile(
        self,
        rows: tuple[Value, Value],
        weights: Value,
        sums: Value,
        column: Value,
        vectors: int,
        keys: tuple[Value, Value],
    ) -> None:
        """Add some columns of a block of values to the sums of a head.

        Args:
            rows: Addresses of the value of key 0, and of its scale.
            weights: Address of the weight of key 0.
            sums: Address of the sums.
            column: The first column.
            vectors: Number of columns, in vectors.
            keys: The first key, and that after the last one.
        """
        code, form = self.code, self.form
        places = [code.sum(column, i * lanes()) for i in range(vectors)]
        targets = [code.sum(sums, code.product(at, _FLOAT)) for at in places]
        values, scales = rows

        def add(key: Value, found: list[Value]) -> list[Value]:
            weight = code.load_element(code.sum(weights, code.product(key, _FLOAT)))
            row = code.sum(values, code.product(key, self.params["values_s"]))
            if form.has_scales:
                scale = code.load_element(code.sum(scales, code.product(key, _FLOAT)))
                weight = code.multiply(weight, scale)
            loaded = [
                code.load_converted(code.sum(row, self._offset(at)), form.held) for at in places
            ]
            return [code.fma(x, weight, y) for x, y in zip(loaded, found, strict=True)]

        found = code.fold(*keys, 1, [code.load(at) for at in targets], add)
        for vector, at in zip(found, targets, strict=True):
            code.store(vector, at)

    def _finish(self, out: Value, i: Value) -> None:
        """Divide the sums of a head by the sum of its weights, and store them."""
        code, form = self.code, self.form
        total = code.load_element(code.sum(self.totals, code.product(i, _FLOAT)))
        inverse = code.divide_vectors(code.constant(1), total)
        sums = code.sum(self.sums, code.product(i, self.sum_row))
        with code.loop(0, self.params["value_width"], lanes()) as at:
            vector = code.load(code.sum(sums, code.product(at, _FLOAT)))
            offset = code.product(at, ITEMSIZES[form.kind])
            code.store_converted(code.multiply(vector, inverse), code.sum(out, offset), form.kind)
