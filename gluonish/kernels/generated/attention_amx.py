"""The products of a tile of attention in bfloat16, by AMX.

Scores and weighted sums are in panels of float32 (see `attention_panels`). What a product reads as
pairs of rows has the pairs i and i + 16 of each 32 rows: so rows are combined where they are. Only
features are neighbours, as in memory.
"""

from collections.abc import Sequence
from typing import NamedTuple

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

HALF = 2  # bytes of an element
PAIR = 4
BLOCK_STEP = BLOCK * HALF  # bytes of a row of a block's keys
SIDE = 2 * ROWS  # rows and columns of a product that four registers hold


def supports_amx(width: int, value_width: int, scale: float) -> bool:
    """Whether AMX multiplies bfloat16 of these widths; a scale is applied to scores."""
    return not width % DEPTH and not value_width % SIDE and scale > 0 and has_amx()


class Operand(NamedTuple):
    """An operand of `AmxTiles.multiply_registers`: its address, and two steps in bytes.

    Attributes:
        at: Address of the first element.
        step: Step from row to row.
        deeper: Step to the next 32 terms of the sums.
    """

    at: Value
    step: Value | int
    deeper: Value | int

    def moved(self, code: AmxAssembler, rows: Value | int, columns: Value | int) -> "Operand":
        """Return the operand from a row on, and from a column of four bytes on."""
        offset = code.product(code.sum(columns), PAIR)
        return self._replace(at=code.sum(self.at, code.product(code.sum(rows), self.step), offset))


class AmxTiles:
    """What the products of attention and of its gradient have in common."""

    def __init__(self, code: AmxAssembler, variant: Variant) -> None:
        self._code, self._variant = code, variant
        self._width, self._value_width = code.params["width"], code.params["value_width"]
        self._scale = code.number_of_bits(code.params["scale"])

    def whole(self, count: Value) -> Value:
        """Return the next multiple of 32."""
        quotient, _ = self._code.divide(self._code.sum(count, DEPTH - 1), self._code.number(DEPTH))
        return self._code.product(quotient, DEPTH)

    @property
    def is_scaled(self) -> bool:
        """Whether scores are scaled before a mask is added or a cap taken, not with the weights."""
        return bool(self._variant.mask or self._variant.capped)

    def reserve_pairs(self, columns: Value) -> Value:
        """Reserve panels of the pairs of features of a tile."""
        pairs, _ = self._code.divide(columns, self._code.number(2))
        return self._code.reserve(self._code.product(pairs, panels() * row_nbytes()))

    def store_pairs(self, tile: Tile, name: str, columns: Value, to: Value) -> None:
        """Store the pairs of features of a tile's rows of an array in panels."""
        code = self._code
        pairs, _ = code.divide(columns, code.number(2))
        rows = tile.rows_of(name, "bfloat16")._replace(column=PAIR)
        last = code.difference(code.params["queries"], 1)
        with code.loop(0, tile.panels) as panel:
            target = panel_at(code, to, panel, pairs)
            # Pairs are moved as if they were float32.
            gather(code, rows, tile.first_of(panel), last, pairs, target, None, "float32")

    def block_of(self, tile: Tile, name: str, key: Value) -> Matrix:
        """Return the rows of keys or values ("k" or "v") from one on."""
        rows = tile.rows_of(name, "bfloat16", shared=True)
        return rows._replace(at=self._code.sum(rows.at, self._code.product(key, rows.row)))

    def whole_block(self, rows: Matrix, columns: Value, count: Value, copy: Value) -> Matrix:
        """Return ``count`` rows, or their copy with the last one repeated up to a whole block."""
        code = self._code
        step = code.product(columns, HALF)
        is_partial = code.less(count, BLOCK)
        with code.when(is_partial), code.loop(0, BLOCK) as row:
            found = code.least(row, code.difference(count, 1))
            before = code.sum(rows.at, code.product(found, rows.row))
            after = code.sum(copy, code.product(row, step))
            with code.loop(0, step, ROW_NBYTES) as at:
                code.store(code.load(code.sum(before, at)), code.sum(after, at))
        return Matrix(
            code.select(is_partial, copy, rows.at), code.select(is_partial, step, rows.row), HALF
        )

    def store_features(self, rows: Matrix, columns: Value, count: Value, to: Value) -> None:
        """Store a block as a row for each feature; those behind the last are copies of it."""
        code = self._code
        last = code.difference(count, 1)
        with code.loop(0, count, DEPTH) as first:
            lines = [
                code.sum(rows.at, code.product(code.least(code.sum(first, i), last), rows.row))
                for i in range(DEPTH)
            ]
            with code.loop(0, columns, lanes()) as column:
                pairs = self.row_pairs(lines, column)
                start = code.sum(to, code.product(column, BLOCK_STEP), code.product(first, HALF))
                for i, vector in enumerate(code.transpose(pairs)):
                    code.store(vector, code.sum(start, i * BLOCK_STEP))

    def row_pairs(self, lines: Sequence[Value], column: Value) -> list[Value]:
        """Return vectors of pairs of 32 rows, from a column on."""
        code = self._code
        offset = code.product(column, HALF)
        loaded = [code.load_converted(code.sum(line, offset), "bfloat16") for line in lines]
        return [code.exact_pairs(loaded[i], loaded[i + ROWS]) for i in range(ROWS)]

    def multiply_to_panel(
        self, rows: Matrix, count: Value, columns: Value, pairs: Value, panel: Value
    ) -> None:
        """Store the products of ``count`` rows and a panel of pairs of features in a panel."""
        self.multiply_registers(
            Operand(rows.at, rows.row, ROW_NBYTES),
            Operand(pairs, row_nbytes(), ROWS * row_nbytes()),
            Operand(panel, row_nbytes(), 0),
            (count, self._code.number(panel_width()), columns),
        )

    def add_features(
        self, features: Value, columns: Value, weights: Value, count: Value, panel: Value
    ) -> None:
        """Add the products of features of ``count`` keys and of pairs of weights to a panel."""
        self.multiply_registers(
            Operand(features, BLOCK_STEP, ROW_NBYTES),
            Operand(weights, row_nbytes(), ROWS * row_nbytes()),
            Operand(panel, row_nbytes(), 0),
            (columns, self._code.number(panel_width()), count),
            adds=True,
        )

    def multiply_registers(
        self,
        left: Operand,
        right: Operand,
        target: Operand,
        extents: tuple[Value, Value, Value],
        *,
        adds: bool = False,
    ) -> None:
        """Multiply, and store or add the products; all extents are multiples of 32.

        Args:
            left: Rows of bfloat16.
            right: Rows of pairs.
            target: Rows of float32.
            extents: Rows, columns, and terms of a sum.
        """
        code = self._code
        rows, columns, terms = extents
        with code.loop(0, rows, SIDE) as row, code.loop(0, columns, SIDE) as column:
            places = [
                target.moved(code, code.sum(row, i // 2 * ROWS), code.sum(column, i % 2 * ROWS))
                for i in range(4)
            ]
            for i, place in enumerate(places):
                if adds:
                    code.load_register(i, place.at, target.step)
                else:
                    code.clear_register(i)
            first, second = left.moved(code, row, 0), right.moved(code, 0, column)
            with code.loop(0, terms, DEPTH) as term:
                depth, _ = code.divide(term, code.number(DEPTH))
                a = code.sum(first.at, code.product(depth, left.deeper))
                b = code.sum(second.at, code.product(depth, right.deeper))
                code.load_register(4, a, left.step)
                code.load_register(6, b, right.step)
                code.load_register(7, code.sum(b, ROW_NBYTES), right.step)
                lower = code.sum(a, code.product(code.number(ROWS), left.step))
                code.load_register(5, lower, left.step)
                for i in range(4):
                    code.add_product(i, 4 + i // 2, 6 + i % 2)
            for i, place in enumerate(places):
                code.store_register(i, place.at, target.step)

    def scale_scores(self, scores: Scores, count: Value) -> None:
        """Scale scores if they must be before anything else."""
        if self.is_scaled:
            code = self._code
            with code.loop(0, count) as row:
                line = load_row(code, scores.line(row))
                store_row(code, [code.multiply(x, self._scale) for x in line], scores.line(row))

    def fill_behind(self, scores: Scores, count: Value, number: float) -> None:
        """Set the rows behind ``count`` keys to a number, up to a multiple of 32."""
        with self._code.loop(count, self.whole(count)) as row:
            store_row(self._code, filled_row(self._code, number), scores.line(row))

    def lowered(self, row: Sequence[Value], below: Sequence[Value]) -> list[Value]:
        """Return scaled scores plus a row of negative numbers."""
        code = self._code
        if self.is_scaled:
            return [code.add(x, y) for x, y in zip(row, below, strict=True)]
        return [code.fma(x, self._scale, y) for x, y in zip(row, below, strict=True)]

    def store_key_pair(self, pair: Sequence[Sequence[Value]], row: Value, to: Value) -> None:
        """Store rows of two keys, rounded, as row ``row`` of a panel of pairs."""
        code = self._code
        made = [code.rounded_pairs(x, y) for x, y in zip(*pair, strict=True)]
        store_row(code, made, code.sum(to, code.product(row, row_nbytes())))


class AmxProducts(AmxTiles, Products):
    """Products of bfloat16, with sums of float32; weights are rounded to bfloat16."""

    _keys: Matrix

    def __init__(self, code: AmxAssembler, variant: Variant) -> None:
        super().__init__(code, variant)
        self._queries = self.reserve_pairs(self._width)
        self._last_keys = code.reserve(code.product(self._width, BLOCK_STEP))
        self._values = code.reserve(code.product(self._value_width, BLOCK_STEP))
        self._weights = code.reserve(code.number(BLOCK // 2 * row_nbytes()))

    def begin(self, tile: Tile) -> None:
        """Store the queries."""
        self.store_pairs(tile, "q", self._width, self._queries)

    def begin_block(self, tile: Tile, key: Value, count: Value) -> None:
        """Store the values, and the keys of a block that is not whole."""
        keys, values = (self.block_of(tile, name, key) for name in ("k", "v"))
        self._keys = self.whole_block(keys, self._width, count, self._last_keys)
        self.store_features(values, self._value_width, count, self._values)

    def multiply_keys(self, panel: Value, count: Value, scores: Scores) -> None:
        """Store scores; those of keys behind the last are minus infinity up to a multiple of 32."""
        code = self._code
        pairs, _ = code.divide(self._width, code.number(2))
        queries = panel_at(code, self._queries, panel, pairs)
        self.multiply_to_panel(self._keys, self.whole(count), self._width, queries, scores.at)
        self.scale_scores(scores, count)
        self.fill_behind(scores, count, float("-inf"))

    def largest(self, scores: Scores, count: Value, tops: Sequence[Value]) -> list[Value]:
        """Return the row of the largest scores, scaled."""
        code = self._code

        def raised(row: Value, tops: list[Value]) -> list[Value]:
            line = load_row(code, scores.line(row))
            if not self.is_scaled:
                line = [code.multiply(x, self._scale) for x in line]
            return [code.larger(x, top) for x, top in zip(line, tops, strict=True)]

        return code.fold(0, count, 1, tops, raised)

    def weigh(
        self, scores: Scores, count: Value, tops: Sequence[Value], totals: Sequence[Value]
    ) -> list[Value]:
        """Replace scores by weights, or store pairs of weights if none is dropped."""
        code = self._code
        below = [code.subtract(code.zeros(), top) for top in tops]

        def of_group(first: Value, sums: list[Value]) -> list[Value]:
            half, _ = code.divide(first, code.number(2))

            def of_pair(i: Value, sums: list[Value]) -> list[Value]:
                lines = [scores.line(code.sum(first, i, k * ROWS)) for k in range(2)]
                rows = [self.lowered(load_row(code, line), below) for line in lines]
                pair = [[code.power_of_two(x) for x in row] for row in rows]
                if self._variant.dropout:
                    for line, weights in zip(lines, pair, strict=True):
                        store_row(code, weights, line)
                else:
                    self.store_key_pair(pair, code.sum(half, i), self._weights)
                for weights in pair:
                    sums = [code.add(x, y) for x, y in zip(sums, weights, strict=True)]
                return sums

            return code.fold(0, ROWS, 1, sums, of_pair)

        return code.fold(0, self.whole(count), DEPTH, totals, of_group)

    def add_values(self, scores: Scores, count: Value, shrink: Sequence[Value], out: Value) -> None:
        """Add the products of values and pairs of weights."""
        code = self._code
        whole = self.whole(count)
        if self._variant.dropout:
            with code.loop(0, whole, DEPTH) as first, code.loop(0, ROWS) as i:
                half, _ = code.divide(first, code.number(2))
                lines = [scores.line(code.sum(first, i, k * ROWS)) for k in range(2)]
                pair = [load_row(code, line) for line in lines]
                self.store_key_pair(pair, code.sum(half, i), self._weights)
        with code.loop(0, self._value_width) as row:
            line = code.sum(out, code.product(row, row_nbytes()))
            sums = [code.multiply(x, y) for x, y in zip(load_row(code, line), shrink, strict=True)]
            store_row(code, sums, line)
        self.add_features(self._values, self._value_width, self._weights, whole, out)
