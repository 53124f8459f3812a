"""The products of attention's gradient in bfloat16, by AMX; see `attention_amx`.

Weights and the gradient of scores are rounded to bfloat16. As rows of keys, in which the queries i
and i + 16 of each 32 are neighbours, they are multiplied by pairs of rows of queries and gradients;
as pairs of keys, by features of the keys.
"""

from collections.abc import Sequence

from gluonish.kernels.compiler.amx_code import DEPTH, ROW_NBYTES, ROWS, AmxAssembler
from gluonish.kernels.compiler.vector_code import Value, lanes
from gluonish.kernels.generated.attention_amx import BLOCK_STEP, PAIR, SIDE, AmxTiles, Operand
from gluonish.kernels.generated.attention_gradient_products import Differentiate, GradientProducts
from gluonish.kernels.generated.attention_panels import (
    BLOCK,
    FLOAT,
    Matrix,
    Scores,
    Tile,
    Variant,
    panel_at,
    panel_width,
    row_nbytes,
    tile_size,
)


class AmxGradientProducts(AmxTiles, GradientProducts):
    """Products of bfloat16, with sums of float32."""

    _keys: Matrix
    _values: Matrix

    def __init__(self, code: AmxAssembler, variant: Variant) -> None:
        super().__init__(code, variant)
        widths = self._widths = (self._width, self._value_width)
        self._raw_scale = code.number_of_bits(code.params["raw_scale"])
        self._queries, self._grads = (self.reserve_pairs(width) for width in widths)
        half_tile = tile_size() // 2
        self._query_rows, self._grad_rows = (
            code.reserve(code.product(width, half_tile * PAIR)) for width in widths
        )
        self._last_keys, self._last_values, self._features = (
            code.reserve(code.product(width, BLOCK_STEP)) for width in (*widths, self._width)
        )
        # A row of a key has the queries of a panel.
        self._row_step = row_nbytes() // 2
        self._weight_rows, self._slope_rows, self._slope_pairs = (
            code.reserve(code.number(BLOCK * self._row_step)) for _ in range(3)
        )
        self._rest = [code.reserve(code.product(width, SIDE * FLOAT)) for width in widths]

    def begin(self, tile: Tile) -> None:
        """Store queries and gradients, as pairs of features and as pairs of rows."""
        for name, width, pairs, rows in (
            ("q", self._width, self._queries, self._query_rows),
            ("grad", self._value_width, self._grads, self._grad_rows),
        ):
            self.store_pairs(tile, name, width, pairs)
            self._store_row_pairs(tile, name, width, rows)

    def _store_row_pairs(self, tile: Tile, name: str, columns: Value, to: Value) -> None:
        """Store the pairs of a tile's rows; rows behind the last are copies of it."""
        code = self._code
        rows = tile.rows_of(name, "bfloat16")
        last = code.difference(code.params["queries"], 1)
        with code.loop(0, code.product(tile.panels, panel_width()), DEPTH) as start:
            lines = []
            for i in range(DEPTH):
                row = code.least(code.sum(tile.first, start, i), last)
                lines.append(code.sum(rows.at, code.product(row, rows.row)))
            half, _ = code.divide(start, code.number(2))
            with code.loop(0, columns, lanes()) as column:
                for i, vector in enumerate(self.row_pairs(lines, column)):
                    at = code.sum(code.product(code.sum(half, i), columns), column)
                    code.store(vector, code.sum(to, code.product(at, PAIR)))

    def begin_block(self, tile: Tile, key: Value, count: Value) -> None:
        """Store features of the keys, and both keys and values of a block that is not whole."""
        keys, values = (self.block_of(tile, name, key) for name in ("k", "v"))
        self._keys = self.whole_block(keys, self._width, count, self._last_keys)
        self._values = self.whole_block(values, self._value_width, count, self._last_values)
        self.store_features(keys, self._width, count, self._features)

    def multiply_keys(self, panel: Value, count: Value, scores: Scores) -> None:
        """Store scores."""
        pairs = self._panel_of(self._queries, panel, self._width)
        self.multiply_to_panel(self._keys, self.whole(count), self._width, pairs, scores.at)
        self.scale_scores(scores, count)

    def multiply_values(self, panel: Value, count: Value, grads: Value, slopes: Scores) -> None:
        """Store the gradient of weights."""
        width = self._value_width
        pairs = self._panel_of(self._grads, panel, width)
        self.multiply_to_panel(self._values, self.whole(count), width, pairs, slopes.at)

    def _panel_of(self, pairs: Value, panel: Value, columns: Value) -> Value:
        half, _ = self._code.divide(columns, self._code.number(2))
        return panel_at(self._code, pairs, panel, half)

    def weights(self, scores: Sequence[Value], logs: Sequence[Value]) -> list[Value]:
        """Return the weights of a row."""
        code = self._code
        below = [code.subtract(code.zeros(), log) for log in logs]
        return [code.power_of_two(x) for x in self.lowered(scores, below)]

    def add(
        self,
        tile: Tile,
        panel: Value,
        key: Value,
        count: Value,
        differentiate: Differentiate,
        scores: Scores,
        slopes: Scores,
        sums: Value,
    ) -> None:
        """Add to the gradients."""
        code = self._code
        self._store(count, differentiate)
        first, _ = code.divide(code.product(panel, panel_width()), code.number(2))
        for left, rows, name, width, rest in (
            (self._weight_rows, self._grad_rows, "dv", self._value_width, self._rest[1]),
            (self._slope_rows, self._query_rows, "dk", self._width, self._rest[0]),
        ):
            step = code.product(width, PAIR)
            at = code.sum(rows, code.product(first, step))
            right = Operand(at, step, code.product(step, ROWS))
            target = tile.rows_of(name, "float32", shared=True)
            start = code.sum(target.at, code.product(key, target.row))
            to = Operand(start, target.row, 0)
            self._add_rows(Operand(left, self._row_step, ROW_NBYTES), right, to, count, width, rest)
        self.add_features(self._features, self._width, self._slope_pairs, self.whole(count), sums)

    def _store(self, count: Value, differentiate: Differentiate) -> None:
        """Store the weights and the gradient of scores of ``count`` keys, and zeros behind them."""
        code = self._code
        with code.loop(0, count, DEPTH) as first, code.loop(0, ROWS) as i:
            half, _ = code.divide(first, code.number(2))
            pair = []
            for k in range(2):
                key = code.sum(first, i, k * ROWS)
                weights, made = differentiate(key)
                made = [code.multiply(x, self._raw_scale) for x in made]
                is_in = code.less(key, count)
                weights, made = (
                    [code.where(is_in, x, code.zeros()) for x in row] for row in (weights, made)
                )
                self._store_key(weights, key, self._weight_rows)
                self._store_key(made, key, self._slope_rows)
                pair.append(made)
            self.store_key_pair(pair, code.sum(half, i), self._slope_pairs)

    def _store_key(self, row: Sequence[Value], key: Value, to: Value) -> None:
        """Store a row of a panel, rounded, as pairs of queries."""
        code = self._code
        at = code.sum(to, code.product(key, self._row_step))
        for i in range(0, len(row), 2):
            code.store(code.rounded_pairs(*row[i : i + 2]), code.sum(at, i // 2 * ROW_NBYTES))

    def _add_rows(
        self,
        left: Operand,
        right: Operand,
        target: Operand,
        count: Value,
        width: Value,
        rest: Value,
    ) -> None:
        """Add the product of rows of ``count`` keys and pairs of queries to rows of an array."""
        code = self._code
        terms = code.number(panel_width())
        full = code.product(code.divide(count, code.number(SIDE))[0], SIDE)
        self.multiply_registers(left, right, target, (full, width, terms), adds=True)
        # The memory behind the last keys may belong to others.
        with code.when(code.less(full, count)):
            step = code.product(width, FLOAT)
            part = left.moved(code, full, 0)
            some = (code.number(SIDE), width, terms)
            self.multiply_registers(part, right, Operand(rest, step, 0), some)
            with code.loop(full, count) as row, code.loop(0, width, lanes()) as column:
                offset = code.product(column, FLOAT)
                source = code.sum(rest, code.product(code.difference(row, full), step), offset)
                at = code.sum(target.at, code.product(row, target.step), offset)
                code.store(code.add(code.load(at), code.load(source)), at)

    def scale_queries(self, sums: Value) -> None:
        """Do nothing: the gradient of scores was multiplied by the scale."""
