"""The products of attention's gradient, and what stands between them, in float32."""

from collections.abc import Callable, Sequence

from gluonish.kernels.compiler.vector_code import Assembler, Value
from gluonish.kernels.generated.attention_panels import (
    FLOAT,
    Copies,
    Matrix,
    Scores,
    Tile,
    Variant,
    block_rows,
    convert_rows,
    gather,
    load_row,
    multiply,
    multiply_to_panel,
    panel_at,
    panel_width,
    panels,
    row_nbytes,
    store_row,
    tile_size,
    vectors,
)

# Returns a key's weights and the gradient of its scores, as two rows of a panel.
Differentiate = Callable[[Value], tuple[list[Value], list[Value]]]


def padded(code: Assembler, columns: Value) -> Value:
    """Return the columns of whole panels that hold some columns."""
    count, _ = code.divide(code.sum(columns, panel_width() - 1), code.number(panel_width()))
    return code.product(count, panel_width())


class GradientProducts:
    """Writes the code of the five products of a panel of queries and a block of keys."""

    def begin(self, tile: Tile) -> None:
        """Prepare the queries and the gradients of a tile."""
        raise NotImplementedError

    def begin_block(self, tile: Tile, key: Value, count: Value) -> None:
        """Prepare the keys and values of a block: ``count`` of them from ``key`` on."""
        raise NotImplementedError

    def multiply_keys(self, panel: Value, count: Value, scores: Scores) -> None:
        """Store the products of ``count`` keys of the block and a panel's queries as scores."""
        raise NotImplementedError

    def multiply_values(self, panel: Value, count: Value, grads: Value, slopes: Scores) -> None:
        """Store the products of values and a panel of the gradient of outputs."""
        raise NotImplementedError

    def weights(self, scores: Sequence[Value], logs: Sequence[Value]) -> list[Value]:
        """Return the weights of a row of scores, by the logarithms of sums of weights."""
        raise NotImplementedError

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
        """Add to the gradients of keys, values and, in the panel ``sums``, queries.

        Scores and slopes are not needed afterwards.
        """
        raise NotImplementedError

    def scale_queries(self, sums: Value) -> None:
        """Complete the gradient of a panel's queries."""
        raise NotImplementedError


class FloatGradientProducts(GradientProducts):
    """Products of float32; other elements are converted.

    Rows of whole panels hold a tile's scaled queries and gradients, panels the scaled queries.
    """

    _keys: Matrix
    _values: Matrix

    def __init__(self, code: Assembler, variant: Variant) -> None:
        self._code, self._variant = code, variant
        self._widths = code.params["width"], code.params["value_width"]
        self._queries = code.reserve(code.product(self._widths[0], panels() * row_nbytes()))
        self._query_rows, self._grad_rows = (self._reserve_rows(width) for width in self._widths)
        self._copies = Copies.reserve(code, variant._replace(mask=""))  # has no mask
        self._scale, self._raw_scale = (
            code.number_of_bits(code.params[name]) for name in ("scale", "raw_scale")
        )

    def _reserve_rows(self, columns: Value) -> Matrix:
        line = self._code.product(padded(self._code, columns), FLOAT)
        return Matrix(self._code.reserve(self._code.product(line, tile_size())), line, FLOAT)

    def begin(self, tile: Tile) -> None:
        """Convert queries and gradients."""
        code, kind = self._code, self._variant.kind
        rows, grads = (tile.rows_of(name, kind) for name in ("q", "grad"))
        # Columns that fill up the rows of a panel are multiplied, and must not become NaN.
        for source, target, columns, factor in (
            (rows, self._query_rows, self._widths[0], self._raw_scale),
            (grads, self._grad_rows, self._widths[1], None),
        ):
            self._clear(target, padded(code, columns))
            begin = source._replace(at=code.sum(source.at, code.product(tile.first, source.row)))
            convert_rows(code, begin, tile.rows, columns, target, kind, factor)
        last = code.difference(code.params["queries"], 1)
        with code.loop(0, tile.panels) as panel:
            queries = panel_at(code, self._queries, panel, self._widths[0])
            first = tile.first_of(panel)
            gather(code, rows, first, last, self._widths[0], queries, self._scale, kind)

    def _clear(self, rows: Matrix, columns: Value) -> None:
        code = self._code
        with (
            code.loop(0, tile_size()) as row,
            code.loop(0, columns, panel_width()) as column,
        ):
            at = code.sum(rows.at, code.product(row, rows.row), code.product(column, FLOAT))
            store_row(code, [code.zeros()] * vectors(), at)

    def begin_block(self, tile: Tile, key: Value, count: Value) -> None:
        """Convert keys and values."""
        self._keys, self._values = (
            block_rows(self._code, tile, name, key, count, copy, self._variant)
            for name, copy in (("k", self._copies.keys), ("v", self._copies.values))
        )

    def multiply_keys(self, panel: Value, count: Value, scores: Scores) -> None:
        """Store scores."""
        code, width = self._code, self._widths[0]
        queries = panel_at(code, self._queries, panel, width)
        multiply_to_panel(code, self._keys, count, width, queries, scores.at)

    def multiply_values(self, panel: Value, count: Value, grads: Value, slopes: Scores) -> None:
        """Store the gradient of weights."""
        multiply_to_panel(self._code, self._values, count, self._widths[1], grads, slopes.at)

    def weights(self, scores: Sequence[Value], logs: Sequence[Value]) -> list[Value]:
        """Return the weights of a row."""
        code = self._code
        return [
            code.power_of_two(code.subtract(x, log)) for x, log in zip(scores, logs, strict=True)
        ]

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
        """Add to the gradients; weights take the place of scores."""
        code, step = self._code, row_nbytes()
        with code.loop(0, count) as row:
            weights, made = differentiate(row)
            store_row(code, weights, scores.line(row))
            store_row(code, made, slopes.line(row))
        width, value_width = self._widths
        offset = code.product(panel, panel_width())
        for source, rows, name, columns in (
            (scores, self._grad_rows, "dv", value_width),
            (slopes, self._query_rows, "dk", width),
        ):
            right = rows._replace(at=code.sum(rows.at, code.product(offset, rows.row)))
            target = tile.rows_of(name, "float32", shared=True)
            target = target._replace(at=code.sum(target.at, code.product(key, target.row)))
            self._add_product(Matrix(source.at, step, FLOAT), count, right, columns, target)
        multiply(
            code,
            self._keys.transposed,
            width,
            count,
            Matrix(slopes.at, step, FLOAT),
            lambda row: load_row(code, code.sum(sums, code.product(row, step))),
            lambda row, line: store_row(code, line, code.sum(sums, code.product(row, step))),
        )

    def _add_product(
        self, left: Matrix, rows: Value, right: Matrix, columns: Value, target: Matrix
    ) -> None:
        """Add the product of a panel of a block and rows of a tile to rows of an array."""
        code = self._code
        with code.loop(0, columns, panel_width()) as column:
            offset = code.product(column, FLOAT)
            part = right._replace(at=code.sum(right.at, offset))

            start = code.sum(target.at, offset)

            def load(row: Value, start: Value = start) -> list[Value]:
                return load_row(code, code.sum(start, code.product(row, target.row)))

            def store(row: Value, sums: list[Value], start: Value = start) -> None:
                store_row(code, sums, code.sum(start, code.product(row, target.row)))

            multiply(code, left, rows, code.number(panel_width()), part, load, store)

    def scale_queries(self, sums: Value) -> None:
        """Multiply by the scale of scores, as queries were."""
        code = self._code
        with code.loop(0, self._widths[0]) as column:
            at = code.sum(sums, code.product(column, row_nbytes()))
            store_row(code, [code.multiply(x, self._raw_scale) for x in load_row(code, at)], at)
