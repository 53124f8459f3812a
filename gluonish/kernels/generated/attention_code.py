"""The kernels of `gluonish.kernels.generated.attention`: attention in tiles, and its gradient.

No matrix of scores exists as a whole (Dao, FlashAttention-2, 2023): a *tile* of queries visits the
keys in blocks, and keeps the largest score and the sum of exponentials of each query so far. Scores
are stored transposed, keys by queries, and a vector holds one key's scores for neighbouring
queries. So keys and values are read where they are, element by element, maxima and sums are taken
lane by lane, and the weights are in the order in which the second product reads them.

A *panel* is an array of rows of `WIDTH` float32, whose columns are queries; a tile is `PANELS` of
them. Scores are in units of log 2, so that weights are powers of two.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes

BLOCK = 128  # keys
PANELS = 4
_FLOAT = 4  # bytes
_LOWEST = -3.0e38  # below all finite scores that occur


def panel_width() -> int:
    """Return the number of queries in a panel."""
    return lanes() * _vectors()


def _vectors() -> int:
    """Return how many vectors a row of a panel has: a product keeps four rows in registers."""
    return 4 if lanes() == 16 else 2


_ROWS = 4  # of a product that are computed together

_SIZES = "batch heads group queries keys width value_width causal_shift left right"
_STRIDES = " ".join(f"{name}_{axis}" for name in ("q", "k", "v", "out") for axis in ("n", "h", "t"))
FORWARD_PARAMS = (
    f"out_at log_sum_at q_at k_at v_at mask_at lengths_at {_SIZES} {_STRIDES} "
    "mask_n mask_h mask_t mask_s scale"
)


class Variant(NamedTuple):
    """What a kernel is compiled for.

    Attributes:
        kind: Dtype of queries, keys, values and output.
        mask: Dtype of the mask; empty without one.
        lengths: Dtype of the numbers of keys, int32 or int64; empty without them.
    """

    kind: str
    mask: str = ""
    lengths: str = ""


def forward_kernel(variant: Variant) -> CompiledKernel:
    """Return the kernel of the output and the logarithms of sums; a step is a tile."""

    def text() -> str:
        code = Assembler(FORWARD_PARAMS)
        _forward(code, variant)
        return code.finish()

    return compile_assembly(f"attention {variant} {lanes()} {_version()}", text)


@cache
def _version() -> str:
    """Return a hash of this module, for the key of generated code."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


class _Matrix(NamedTuple):
    """A matrix in memory: the address of its first element, and the steps in bytes."""

    at: Value
    row: Value | int
    column: Value | int


def _product(
    code: Assembler,
    left: _Matrix,
    rows: Value,
    inner: Value,
    panel: Value,
    start: Callable[[Value, int], list[Value]],
    end: Callable[[Value, list[Value]], None],
) -> None:
    """Multiply a matrix by a panel of as many rows as it has columns.

    Args:
        rows: Rows of the matrix.
        inner: Its columns.
        panel: Address of the panel.
        start: Called with the number of a row; returns the vectors that the products are added to.
        end: Called with the number of a row, and its vectors.
    """
    step = panel_width() * _FLOAT

    def some(first: Value, count: int) -> None:
        lines = [
            code.sum(left.at, code.product(code.sum(first, i), left.row)) for i in range(count)
        ]
        before = [vector for i in range(count) for vector in start(code.sum(first, i), i)]

        def add(k: Value, sums: list[Value]) -> list[Value]:
            right = _load_row(code, code.sum(panel, code.product(k, step)))
            column = code.product(k, left.column)
            made = []
            for i, line in enumerate(lines):
                factor = code.load_element(code.sum(line, column))
                made += [
                    code.fma(factor, x, sums[i * _vectors() + j]) for j, x in enumerate(right)
                ]
            return made

        sums = code.fold(0, inner, 1, before, add)
        for i in range(count):
            end(code.sum(first, i), sums[i * _vectors() : (i + 1) * _vectors()])

    full, _ = code.divide(rows, code.number(_ROWS))
    full = code.product(full, _ROWS)
    with code.loop(0, full, _ROWS) as first:
        some(first, _ROWS)
    with code.loop(full, rows) as first:
        some(first, 1)


def _load_row(code: Assembler, at: Value) -> list[Value]:
    """Load a row of a panel."""
    return [code.load(code.sum(at, i * lanes() * _FLOAT)) for i in range(_vectors())]


def _store_row(code: Assembler, vectors: Sequence[Value], at: Value) -> None:
    """Store a row of a panel."""
    for i, vector in enumerate(vectors):
        code.store(vector, code.sum(at, i * lanes() * _FLOAT))


class _Scratch:
    """Memory on the stack for the panels of a tile; sizes are in floats."""

    def __init__(self, code: Assembler, variant: Variant) -> None:
        params, width = code.params, panel_width() * _FLOAT
        self._code = code
        self.queries_nbytes = code.product(params["width"], width)
        self.out_nbytes = code.product(params["value_width"], width)
        self.queries = code.reserve(code.product(self.queries_nbytes, PANELS))
        self.out = code.reserve(code.product(self.out_nbytes, PANELS))
        self.scores = code.reserve(code.number(BLOCK * width))
        self.top = code.reserve(code.number(PANELS * width))
        self.total = code.reserve(code.number(PANELS * width))
        if variant.mask:
            self.mask = code.reserve(code.number(BLOCK * width))
        if variant.kind != "float32":
            self.keys = code.reserve(code.product(params["width"], BLOCK * _FLOAT))
            self.values = code.reserve(code.product(params["value_width"], BLOCK * _FLOAT))


class _Tile:
    """The sample, head and queries of a step.

    Steps are ordered from the last queries to the first, since in causal attention the last ones
    take longest, and threads should end at the same time.
    """

    def __init__(self, code: Assembler, step: Value) -> None:
        params = code.params
        size = PANELS * panel_width()
        jobs = code.product(params["batch"], params["heads"])
        number, job = code.divide(step, jobs)
        tiles, _ = code.divide(code.sum(params["queries"], size - 1), code.number(size))
        self.first = code.product(code.difference(code.difference(tiles, 1), number), size)
        self.sample, self.head = code.divide(job, params["heads"])
        self.shared_head, _ = code.divide(self.head, params["group"])
        self.job = job

    def start(self, code: Assembler, name: str, *, shared: bool = False) -> Value:
        """Return the address of an array's sample and head.

        Args:
            shared: Whether the head is that of keys and values.
        """
        params = code.params
        head = self.shared_head if shared else self.head
        return code.sum(
            params[f"{name}_at"],
            code.product(self.sample, params[f"{name}_n"]),
            code.product(head, params[f"{name}_h"]),
        )


def _forward(code: Assembler, variant: Variant) -> None:
    params = code.params
    scratch = _Scratch(code, variant)
    width = panel_width()
    scale = code.number_of_bits(params["scale"])
    itemsize = 4 if variant.kind == "float32" else 2
    with code.loop(code.begin, code.end) as step:
        tile = _Tile(code, step)
        left_queries = code.difference(params["queries"], tile.first)
        panels, _ = code.divide(code.sum(left_queries, width - 1), code.number(width))
        panels = code.least(panels, code.number(PANELS))
        rows = tile.start(code, "q")
        with code.loop(0, panels) as panel:
            first = code.sum(tile.first, code.product(panel, width))
            target = code.sum(scratch.queries, code.product(panel, scratch.queries_nbytes))
            last = code.difference(params["queries"], 1)
            lines = _Matrix(rows, params["q_t"], itemsize)
            _fill_panel(code, lines, first, last, params["width"], target, scale, variant.kind)
            at = code.product(panel, width * _FLOAT)
            _store_row(code, [code.constant(_LOWEST)] * _vectors(), code.sum(scratch.top, at))
            _store_row(code, [code.zeros()] * _vectors(), code.sum(scratch.total, at))
            with code.loop(0, params["value_width"]) as row:
                line = code.sum(
                    scratch.out,
                    code.product(panel, scratch.out_nbytes),
                    code.product(row, width * _FLOAT),
                )
                _store_row(code, [code.zeros()] * _vectors(), line)
        start, stop = _visible(code, tile, panels, variant)
        with code.loop(start, stop, BLOCK) as key:
            count = code.least(code.number(BLOCK), code.difference(stop, key))
            block = _block(code, tile, key, count, scratch, variant, itemsize)
            with code.loop(0, panels) as panel:
                _visit(code, tile, panel, key, count, block, scratch, variant)
        _finish(code, tile, panels, scratch, variant, itemsize)


def _fill_panel(
    code: Assembler,
    rows: _Matrix,
    first: Value,
    last: Value,
    columns: Value,
    target: Value,
    scale: Value,
    kind: str,
) -> None:
    """Transpose rows, times a factor, to a panel; rows after the last are copies of that one."""
    step = panel_width() * _FLOAT
    full, _ = code.divide(columns, code.number(lanes()))
    full = code.product(full, lanes())
    for group in range(_vectors()):
        lines = [
            code.sum(
                rows.at,
                code.product(code.least(code.sum(first, group * lanes() + i), last), rows.row),
            )
            for i in range(lanes())
        ]
        side = group * lanes() * _FLOAT
        with code.loop(0, full, lanes()) as column:
            offset = code.product(column, rows.column)
            loaded = [code.load_converted(code.sum(line, offset), kind) for line in lines]
            for i, vector in enumerate(code.transpose(loaded)):
                at = code.sum(target, code.product(code.sum(column, i), step), side)
                code.store(code.multiply(vector, scale), at)
        with code.loop(full, columns) as column:
            offset = code.product(column, rows.column)
            for i, line in enumerate(lines):
                number = code.element(code.sum(line, offset), kind)
                at = code.sum(target, code.product(column, step), side + i * _FLOAT)
                code.store_float(code.float_product(number, code.first(scale)), at)


def _visible(code: Assembler, tile: _Tile, panels: Value, variant: Variant) -> tuple[Value, Value]:
    """Return the first key that a query of the tile may attend to, and the end of these keys."""
    params = code.params
    stop = params["keys"]
    if variant.lengths:
        stop = code.greatest(code.least(stop, _length(code, tile, variant)), 0)
    shifted = code.sum(tile.first, params["causal_shift"])
    rows = code.least(
        code.difference(params["queries"], tile.first), code.number(PANELS * panel_width())
    )
    end = code.sum(shifted, rows, params["right"])
    start = code.greatest(code.difference(shifted, params["left"]), 0)
    return start, code.least(stop, end)


def _length(code: Assembler, tile: _Tile, variant: Variant) -> Value:
    """Return the number of the sample's keys."""
    itemsize = int(variant.lengths[3:]) // 8
    at = code.sum(code.params["lengths_at"], code.product(tile.sample, itemsize))
    return code.load_integer(at, itemsize)


class _Block(NamedTuple):
    """The keys and values of a block, as float32."""

    keys: _Matrix
    values: _Matrix


def _block(
    code: Assembler,
    tile: _Tile,
    key: Value,
    count: Value,
    scratch: _Scratch,
    variant: Variant,
    itemsize: int,
) -> _Block:
    params = code.params
    made = []
    for name, width, copy in (
        ("k", params["width"], "keys"),
        ("v", params["value_width"], "values"),
    ):
        start = code.sum(
            tile.start(code, name, shared=True), code.product(key, params[f"{name}_t"])
        )
        matrix = _Matrix(start, params[f"{name}_t"], itemsize)
        if itemsize != _FLOAT:
            matrix = _converted(code, matrix, count, width, getattr(scratch, copy), variant.kind)
        made.append(matrix)
    return _Block(*made)


def _converted(
    code: Assembler, source: _Matrix, rows: Value, columns: Value, target: Value, kind: str
) -> _Matrix:
    """Copy a matrix of 16-bit floats to float32."""
    line = code.product(columns, _FLOAT)
    full, _ = code.divide(columns, code.number(lanes()))
    full = code.product(full, lanes())
    with code.loop(0, rows) as row:
        before = code.sum(source.at, code.product(row, source.row))
        after = code.sum(target, code.product(row, line))
        with code.loop(0, full, lanes()) as column:
            vector = code.load_converted(code.sum(before, code.product(column, 2)), kind)
            code.store(vector, code.sum(after, code.product(column, _FLOAT)))
        with code.loop(full, columns) as column:
            number = code.element(code.sum(before, code.product(column, 2)), kind)
            code.store_float(number, code.sum(after, code.product(column, _FLOAT)))
    return _Matrix(target, line, _FLOAT)


def _visit(
    code: Assembler,
    tile: _Tile,
    panel: Value,
    key: Value,
    count: Value,
    block: _Block,
    scratch: _Scratch,
    variant: Variant,
) -> None:
    """Let the queries of a panel attend to a block of keys."""
    params, step = code.params, panel_width() * _FLOAT
    at = code.product(panel, step)
    queries = code.sum(scratch.queries, code.product(panel, scratch.queries_nbytes))
    _product(
        code,
        block.keys,
        count,
        params["width"],
        queries,
        lambda _row, _i: [code.zeros()] * _vectors(),
        lambda row, sums: _store_row(
            code, sums, code.sum(scratch.scores, code.product(row, step))
        ),
    )
    first = code.sum(tile.first, code.product(panel, panel_width()))
    _hide(code, first, key, count, scratch)
    before = _load_row(code, code.sum(scratch.top, at))

    def raise_top(row: Value, tops: list[Value]) -> list[Value]:
        line = _load_row(code, code.sum(scratch.scores, code.product(row, step)))
        return [code.larger(x, top) for x, top in zip(line, tops, strict=True)]

    tops = code.fold(0, count, 1, before, raise_top)
    _store_row(code, tops, code.sum(scratch.top, at))
    shrink = [
        code.power_of_two(code.subtract(old, top)) for old, top in zip(before, tops, strict=True)
    ]
    totals = [
        code.multiply(x, y)
        for x, y in zip(_load_row(code, code.sum(scratch.total, at)), shrink, strict=True)
    ]

    def weigh(row: Value, sums: list[Value]) -> list[Value]:
        line_at = code.sum(scratch.scores, code.product(row, step))
        line = _load_row(code, line_at)
        powers = [
            code.power_of_two(code.subtract(x, top)) for x, top in zip(line, tops, strict=True)
        ]
        _store_row(code, powers, line_at)
        return [code.add(x, y) for x, y in zip(sums, powers, strict=True)]

    totals = code.fold(0, count, 1, totals, weigh)
    _store_row(code, totals, code.sum(scratch.total, at))
    out = code.sum(scratch.out, code.product(panel, scratch.out_nbytes))

    def start(row: Value, _i: int) -> list[Value]:
        line = _load_row(code, code.sum(out, code.product(row, step)))
        return [code.multiply(x, y) for x, y in zip(line, shrink, strict=True)]

    values = _Matrix(block.values.at, block.values.column, block.values.row)
    _product(
        code,
        values,
        params["value_width"],
        count,
        scratch.scores,
        start,
        lambda row, sums: _store_row(code, sums, code.sum(out, code.product(row, step))),
    )


def _hide(code: Assembler, first: Value, key: Value, count: Value, scratch: _Scratch) -> None:
    """Set scores outside of the band of keys that a query may attend to to minus infinity."""
    params, step = code.params, panel_width() * _FLOAT
    shifted = code.sum(first, params["causal_shift"])
    last = code.sum(shifted, panel_width() - 1)
    end = code.sum(key, count)
    # The band of the first query ends first, and that of the last one begins last.
    inside = code.both(
        code.less(code.difference(end, 1), code.sum(shifted, params["right"], 1)),
        code.less(code.difference(last, params["left"]), code.sum(key, 1)),
    )
    with code.when(code.unless(inside)), code.loop(0, count) as row:
        number = code.sum(key, row)
        line_at = code.sum(scratch.scores, code.product(row, step))
        low = code.difference(number, params["right"])
        high = code.sum(number, params["left"])
        line = []
        for i, x in enumerate(_load_row(code, line_at)):
            query = code.lane_numbers(code.sum(shifted, i * lanes()))
            hidden = code.constant(float("-inf"))
            line.append(code.where(code.between(query, low, high), x, hidden))
        _store_row(code, line, line_at)


def _finish(
    code: Assembler,
    tile: _Tile,
    panels: Value,
    scratch: _Scratch,
    variant: Variant,
    itemsize: int,
) -> None:
    """Divide the sums by the total weights, and store them and the logarithms."""
    params, step = code.params, panel_width() * _FLOAT
    width = panel_width()
    start = tile.start(code, "out")
    logs = code.sum(
        params["log_sum_at"], code.product(tile.job, params["queries"], _FLOAT)
    )
    with code.loop(0, panels) as panel:
        at = code.product(panel, step)
        totals = _load_row(code, code.sum(scratch.total, at))
        tops = _load_row(code, code.sum(scratch.top, at))
        inverse = []
        for i, total in enumerate(totals):
            empty = code.is_equal(total, code.zeros())
            quotient = code.divide_vectors(code.constant(1), total)
            inverse.append(code.where(empty, code.zeros(), quotient))
            log = code.add(code.function("log2", total), tops[i])
            log = code.multiply(log, code.constant(_LN2))
            log = code.where(empty, code.constant(float("inf")), log)
            code.store(log, code.sum(scratch.top, at, i * lanes() * _FLOAT))
        out = code.sum(scratch.out, code.product(panel, scratch.out_nbytes))
        first = code.sum(tile.first, code.product(panel, width))
        rows = code.least(code.number(width), code.difference(params["queries"], first))
        with code.loop(0, params["value_width"]) as column:
            line_at = code.sum(out, code.product(column, step))
            line = _load_row(code, line_at)
            scaled = [code.multiply(x, y) for x, y in zip(line, inverse, strict=True)]
            _store_row(code, scaled, line_at)
        with code.loop(0, rows) as row:
            number = code.sum(first, row)
            source = code.sum(out, code.product(row, _FLOAT))
            target = code.sum(start, code.product(number, params["out_t"]))
            with code.loop(0, params["value_width"]) as column:
                x = code.element(code.sum(source, code.product(column, step)), "float32")
                code.store_element(
                    x, code.sum(target, code.product(column, itemsize)), variant.kind
                )
            x = code.element(code.sum(scratch.top, at, code.product(row, _FLOAT)), "float32")
            code.store_float(x, code.sum(logs, code.product(number, _FLOAT)))


_LN2 = 0.6931471805599453
