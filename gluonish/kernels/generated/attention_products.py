"""The two products of a tile of attention, and what stands between them, in float32."""

from collections.abc import Sequence

from gluonish.kernels.compiler.vector_code import Assembler, Value
from gluonish.kernels.generated.attention_panels import (
    FLOAT,
    Copies,
    Matrix,
    Scores,
    Tile,
    Variant,
    block_rows,
    gather,
    load_row,
    multiply,
    multiply_to_panel,
    panel_at,
    panels,
    row_nbytes,
    store_row,
)


class Products:
    """Writes the code of the products of a tile's queries with keys, and of weights with values."""

    def begin(self, tile: Tile) -> None:
        """Prepare the queries of a tile."""
        raise NotImplementedError

    def begin_block(self, tile: Tile, key: Value, count: Value) -> None:
        """Prepare the keys and values of a block: ``count`` of them from ``key`` on."""
        raise NotImplementedError

    def multiply_keys(self, panel: Value, count: Value, scores: Scores) -> None:
        """Store the products of ``count`` keys of the block and a panel's queries as scores."""
        raise NotImplementedError

    def largest(self, scores: Scores, count: Value, tops: Sequence[Value]) -> list[Value]:
        """Return the row of the largest scores, at least ``tops``."""
        raise NotImplementedError

    def weigh(
        self, scores: Scores, count: Value, tops: Sequence[Value], totals: Sequence[Value]
    ) -> list[Value]:
        """Turn scores into weights, and return their sums with ``totals``."""
        raise NotImplementedError

    def add_values(self, scores: Scores, count: Value, shrink: Sequence[Value], out: Value) -> None:
        """Add the values of the block, times weights, to a panel of sums times ``shrink``."""
        raise NotImplementedError


class FloatProducts(Products):
    """Products of float32; other elements are converted."""

    _keys: Matrix
    _values: Matrix

    def __init__(self, code: Assembler, variant: Variant) -> None:
        self._code, self._variant = code, variant
        self._queries = code.reserve(code.product(code.params["width"], panels() * row_nbytes()))
        self._copies = Copies.reserve(code, variant._replace(mask=""))  # has no mask
        self._scale = code.number_of_bits(code.params["scale"])

    def begin(self, tile: Tile) -> None:
        """Store the queries, scaled."""
        code, width = self._code, self._code.params["width"]
        rows = tile.rows_of("q", self._variant.kind)
        last = code.difference(code.params["queries"], 1)
        with code.loop(0, tile.panels) as panel:
            target = panel_at(code, self._queries, panel, width)
            first = tile.first_of(panel)
            gather(code, rows, first, last, width, target, self._scale, self._variant.kind)

    def begin_block(self, tile: Tile, key: Value, count: Value) -> None:
        """Convert keys and values."""
        self._keys, self._values = (
            block_rows(self._code, tile, name, key, count, copy, self._variant)
            for name, copy in (("k", self._copies.keys), ("v", self._copies.values))
        )

    def multiply_keys(self, panel: Value, count: Value, scores: Scores) -> None:
        """Store scores."""
        code, width = self._code, self._code.params["width"]
        queries = panel_at(code, self._queries, panel, width)
        multiply_to_panel(code, self._keys, count, width, queries, scores.at)

    def largest(self, scores: Scores, count: Value, tops: Sequence[Value]) -> list[Value]:
        """Return the row of the largest scores."""
        code = self._code

        def raised(row: Value, tops: list[Value]) -> list[Value]:
            line = load_row(code, scores.line(row))
            return [code.larger(x, top) for x, top in zip(line, tops, strict=True)]

        return code.fold(0, count, 1, tops, raised)

    def weigh(
        self, scores: Scores, count: Value, tops: Sequence[Value], totals: Sequence[Value]
    ) -> list[Value]:
        """Replace scores by weights."""
        code = self._code

        def weighed(row: Value, sums: list[Value]) -> list[Value]:
            line = load_row(code, scores.line(row))
            weights = [
                code.power_of_two(code.subtract(x, top)) for x, top in zip(line, tops, strict=True)
            ]
            store_row(code, weights, scores.line(row))
            return [code.add(x, y) for x, y in zip(sums, weights, strict=True)]

        return code.fold(0, count, 1, totals, weighed)

    def add_values(self, scores: Scores, count: Value, shrink: Sequence[Value], out: Value) -> None:
        """Add the products of values and weights."""
        code, step = self._code, row_nbytes()

        def start(row: Value) -> list[Value]:
            line = load_row(code, code.sum(out, code.product(row, step)))
            return [code.multiply(x, y) for x, y in zip(line, shrink, strict=True)]

        multiply(
            code,
            self._values.transposed,
            code.params["value_width"],
            count,
            Matrix(scores.at, step, FLOAT),
            start,
            lambda row, sums: store_row(code, sums, code.sum(out, code.product(row, step))),
        )
