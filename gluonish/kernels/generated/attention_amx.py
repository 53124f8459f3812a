"""The products of a tile of attention in bfloat16, by AMX.

Scores and weighted sums are in panels of float32 (see `attention_panels`). Queries are stored as
pairs of features, values as a row for each feature; weights are rounded to bfloat16, as pairs of
the keys i and i + 16 of each 32, so that rows of scores are combined where they are.
"""

from collections.abc import Sequence

from gluonish.kernels.compiler.amx_code import DEPTH, ROW_NBYTES, ROWS, AmxAssembler, has_amx
from gluonish.kernels.compiler.vector_code import Value, lanes
from gluonish.kernels.generated.attention_panels import (
    BLOCK,
    Matrix,
    Scores,
    Tile,
    Variant,
    filled_row,
    gather,
    load_row,
    panel_at,
    panel_width,
    panels,
    row_nbytes,
    store_row,
)
from gluonish.kernels.generated.attention_products import Products

_HALF = 2  # bytes of an element
_PAIR = 4
_VALUE_STEP = BLOCK * _HALF  # bytes of a row of values
_SIDE = 2 * ROWS  # rows and columns of a product that four registers hold


def supports_amx(width: int, value_width: int, scale: float) -> bool:
    """Whether AMX multiplies bfloat16 of these widths; a scale is applied to scores."""
    return not width % DEPTH and not value_width % _SIDE and scale > 0 and has_amx()


class AmxProducts(Products):
    """Products of bfloat16, with sums of float32."""

    _keys: Matrix

    def __init__(self, code: AmxAssembler, variant: Variant) -> None:
        self._code, self._variant = code, variant
        self._width, self._value_width = code.params["width"], code.params["value_width"]
        self._pairs, _ = code.divide(self._width, code.number(2))
        self._queries = code.reserve(code.product(self._pairs, panels() * row_nbytes()))
        self._last_keys = code.reserve(code.product(self._width, BLOCK * _HALF))
        self._values = code.reserve(code.product(self._value_width, _VALUE_STEP))
        self._weights = code.reserve(code.number(BLOCK // 2 * row_nbytes()))
        self._scale = code.number_of_bits(code.params["scale"])

    def begin(self, tile: Tile) -> None:
        """Store pairs of features of the queries."""
        code = self._code
        rows = tile.rows_of("q", "bfloat16")._replace(column=_PAIR)
        last = code.difference(code.params["queries"], 1)
        with code.loop(0, tile.panels) as panel:
            target = panel_at(code, self._queries, panel, self._pairs)
            # Pairs are moved as if they were float32.
            gather(code, rows, tile.first_of(panel), last, self._pairs, target, None, "float32")

    def begin_block(self, tile: Tile, key: Value, count: Value) -> None:
        """Store the values, and the keys if a whole block of them does not follow in memory."""
        self._begin_keys(tile, key, count)
        self._begin_values(tile, key, count)

    def _begin_keys(self, tile: Tile, key: Value, count: Value) -> None:
        code = self._code
        rows = tile.rows_of("k", "bfloat16", shared=True)
        source = code.sum(rows.at, code.product(key, rows.row))
        step = code.product(self._width, _HALF)
        is_whole = code.less(code.sum(key, BLOCK - 1), code.params["keys"])
        with code.when(code.unless(is_whole)), code.loop(0, BLOCK) as row:
            found = code.least(row, code.difference(count, 1))
            before = code.sum(source, code.product(found, rows.row))
            after = code.sum(self._last_keys, code.product(row, step))
            with code.loop(0, step, ROW_NBYTES) as at:
                code.store(code.load(code.sum(before, at)), code.sum(after, at))
        at = code.select(is_whole, source, self._last_keys)
        self._keys = Matrix(at, code.select(is_whole, rows.row, step), _HALF)

    def _begin_values(self, tile: Tile, key: Value, count: Value) -> None:
        """Store the values as rows of features; those behind the last are copies of it."""
        code = self._code
        rows = tile.rows_of("v", "bfloat16", shared=True)
        source = code.sum(rows.at, code.product(key, rows.row))
        last = code.difference(count, 1)
        with code.loop(0, count, DEPTH) as first:
            lines = [
                code.sum(source, code.product(code.least(code.sum(first, i), last), rows.row))
                for i in range(DEPTH)
            ]
            with code.loop(0, self._value_width, lanes()) as column:
                offset = code.product(column, _HALF)
                loaded = [code.load_converted(code.sum(line, offset), "bfloat16") for line in lines]
                pairs = [code.exact_pairs(loaded[i], loaded[i + ROWS]) for i in range(ROWS)]
                start = code.sum(self._values, code.product(column, _VALUE_STEP))
                start = code.sum(start, code.product(first, _HALF))
                for i, vector in enumerate(code.transpose(pairs)):
                    code.store(vector, code.sum(start, i * _VALUE_STEP))

    def multiply_keys(self, panel: Value, count: Value, scores: Scores) -> None:
        """Store scores; those of keys behind the last are minus infinity up to a multiple of 32."""
        code, keys = self._code, self._keys
        queries = panel_at(code, self._queries, panel, self._pairs)
        whole = self._whole(count)
        with code.loop(0, whole, _SIDE) as row, code.loop(0, panel_width(), _SIDE) as column:
            for register in range(4):
                code.clear_register(register)
            left = code.sum(keys.at, code.product(row, keys.row))
            right = code.sum(queries, code.product(column, _PAIR))
            with code.loop(0, self._width, DEPTH) as feature:
                a = code.sum(left, code.product(feature, _HALF))
                b = code.sum(right, code.product(feature, row_nbytes() // 2))
                self._add_products(a, keys.row, b)
            self._store(scores.at, row, column)
        if self._is_scaled:
            with code.loop(0, count) as row:
                line = load_row(code, scores.line(row))
                store_row(code, [code.multiply(x, self._scale) for x in line], scores.line(row))
        with code.loop(count, whole) as row:
            store_row(code, filled_row(code, float("-inf")), scores.line(row))

    @property
    def _is_scaled(self) -> bool:
        """Whether scores are scaled before a mask is added or a cap taken, not with the weights."""
        return bool(self._variant.mask or self._variant.capped)

    def _whole(self, count: Value) -> Value:
        """Return the next multiple of 32."""
        quotient, _ = self._code.divide(self._code.sum(count, DEPTH - 1), self._code.number(DEPTH))
        return self._code.product(quotient, DEPTH)

    def _scaled(self, row: Sequence[Value]) -> list[Value]:
        if self._is_scaled:
            return list(row)
        return [self._code.multiply(x, self._scale) for x in row]

    def largest(self, scores: Scores, count: Value, tops: Sequence[Value]) -> list[Value]:
        """Return the row of the largest scores, scaled."""
        code = self._code

        def raised(row: Value, tops: list[Value]) -> list[Value]:
            line = self._scaled(load_row(code, scores.line(row)))
            return [code.larger(x, top) for x, top in zip(line, tops, strict=True)]

        return code.fold(0, count, 1, tops, raised)

    def weigh(
        self, scores: Scores, count: Value, tops: Sequence[Value], totals: Sequence[Value]
    ) -> list[Value]:
        """Replace scores by weights, or store pairs of weights if none is dropped."""
        code = self._code
        below = [code.subtract(code.zeros(), top) for top in tops]

        def weights_of(line: Value) -> list[Value]:
            row = load_row(code, line)
            if self._is_scaled:
                lowered = [code.add(x, y) for x, y in zip(row, below, strict=True)]
            else:
                lowered = [code.fma(x, self._scale, y) for x, y in zip(row, below, strict=True)]
            return [code.power_of_two(x) for x in lowered]

        def of_group(first: Value, sums: list[Value]) -> list[Value]:
            def of_pair(i: Value, sums: list[Value]) -> list[Value]:
                lines = [scores.line(code.sum(first, i, k * ROWS)) for k in range(2)]
                pair = [weights_of(line) for line in lines]
                if self._variant.dropout:
                    for line, weights in zip(lines, pair, strict=True):
                        store_row(code, weights, line)
                else:
                    self._store_pair(pair, first, i)
                for weights in pair:
                    sums = [code.add(x, y) for x, y in zip(sums, weights, strict=True)]
                return sums

            return code.fold(0, ROWS, 1, sums, of_pair)

        return code.fold(0, self._whole(count), DEPTH, totals, of_group)

    def _store_pair(self, pair: Sequence[Sequence[Value]], first: Value, i: Value) -> None:
        """Store the weights of the keys ``first + i`` and ``first + i + 16``."""
        code = self._code
        row = [code.rounded_pairs(x, y) for x, y in zip(*pair, strict=True)]
        half, _ = code.divide(first, code.number(2))
        at = code.product(code.sum(half, i), row_nbytes())
        store_row(code, row, code.sum(self._weights, at))

    def add_values(self, scores: Scores, count: Value, shrink: Sequence[Value], out: Value) -> None:
        """Add the products of values and pairs of weights."""
        code = self._code
        whole = self._whole(count)
        if self._variant.dropout:
            with code.loop(0, whole, DEPTH) as first, code.loop(0, ROWS) as i:
                lines = [scores.line(code.sum(first, i, k * ROWS)) for k in range(2)]
                self._store_pair([load_row(code, line) for line in lines], first, i)
        with code.loop(0, self._value_width) as row:
            line = code.sum(out, code.product(row, row_nbytes()))
            sums = [code.multiply(x, y) for x, y in zip(load_row(code, line), shrink, strict=True)]
            store_row(code, sums, line)
        columns = code.number(panel_width())
        with code.loop(0, self._value_width, _SIDE) as row, code.loop(0, columns, _SIDE) as column:
            at = code.sum(out, code.product(row, row_nbytes()), code.product(column, _PAIR))
            for i, start in enumerate(self._quarters(at)):
                code.load_register(i, start, row_nbytes())
            left = code.sum(self._values, code.product(row, _VALUE_STEP))
            right = code.sum(self._weights, code.product(column, _PAIR))
            with code.loop(0, whole, DEPTH) as key:
                a = code.sum(left, code.product(key, _HALF))
                b = code.sum(right, code.product(key, row_nbytes() // 2))
                self._add_products(a, _VALUE_STEP, b)
            self._store(out, row, column)

    def _add_products(self, a: Value, step: Value | int, b: Value) -> None:
        """Add the products of two registers of rows and two of columns to the first four."""
        code = self._code
        code.load_register(4, a, step)
        code.load_register(6, b, row_nbytes())
        code.load_register(7, code.sum(b, ROW_NBYTES), row_nbytes())
        code.load_register(5, code.sum(a, code.product(code.number(ROWS), step)), step)
        for i in range(4):
            code.add_product(i, 4 + i // 2, 6 + i % 2)

    def _quarters(self, at: Value) -> list[Value]:
        """Return the addresses of the four registers' parts of a panel."""
        steps = [i // 2 * ROWS * row_nbytes() + i % 2 * ROW_NBYTES for i in range(4)]
        return [self._code.sum(at, step) for step in steps]

    def _store(self, panel: Value, row: Value, column: Value) -> None:
        code = self._code
        at = code.sum(panel, code.product(row, row_nbytes()), code.product(column, _PAIR))
        for i, start in enumerate(self._quarters(at)):
            code.store_register(i, start, row_nbytes())
