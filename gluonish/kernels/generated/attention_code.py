"""The kernel of attention in tiles, whose matrix of weights never exists as a whole.

A *tile* of queries visits the keys in blocks, and keeps the largest score and the sum of
exponentials of each query so far (Dao, FlashAttention-2, 2023). `attention_panels` describes the
order of elements in memory.
"""

from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.attention_panels import (
    BLOCK,
    FLOAT,
    LN_2,
    OPTIONS,
    SIZES,
    Copies,
    Matrix,
    Scores,
    Tile,
    Variant,
    block_rows,
    fill,
    gather,
    load_row,
    multiply,
    multiply_to_panel,
    panel_at,
    panels,
    row_nbytes,
    scatter,
    store_row,
    tile_size,
    version,
)

_LOWEST = -3.4e38  # no score in units of log 2 that is finite in float32 is much lower

_ARRAYS = "out_at log_sum_at q_at k_at v_at"
_STRIDES = " ".join(f"{name}_{axis}" for name in ("q", "k", "v", "out") for axis in "nht")
PARAMS = f"{_ARRAYS} {SIZES} {_STRIDES} {OPTIONS}"


def forward_kernel(variant: Variant) -> CompiledKernel:
    """Return the kernel of the output and the logarithms of sums; a step is a tile."""

    def text() -> str:
        code = Assembler(PARAMS)
        _write(code, variant)
        return code.finish()

    return compile_assembly(f"attention {variant} {lanes()} {version()}", text)


class _Memory(NamedTuple):
    """Addresses of the panels of a tile, on the stack.

    Attributes:
        queries: Panels of the queries, scaled.
        out: Panels of the weighted sums of values.
        top: For each panel, a row of the largest scores.
        total: For each panel, a row of the sums of weights.
        scores: A panel of the scores of a block.
        copies: Memory for the mask, and for converted keys and values.
    """

    queries: Value
    out: Value
    top: Value
    total: Value
    scores: Value
    copies: Copies


def _reserve(code: Assembler, variant: Variant) -> _Memory:
    params, row = code.params, row_nbytes()
    block = code.number(BLOCK * row)
    width, value_width = params["width"], params["value_width"]
    return _Memory(
        queries=code.reserve(code.product(width, panels() * row)),
        out=code.reserve(code.product(value_width, panels() * row)),
        top=code.reserve(code.number(panels() * row)),
        total=code.reserve(code.number(panels() * row)),
        scores=code.reserve(block),
        copies=Copies.reserve(code, variant),
    )


def _write(code: Assembler, variant: Variant) -> None:
    params = code.params
    memory = _reserve(code, variant)
    scale = code.number_of_bits(params["scale"])
    with code.loop(code.begin, code.end) as step:
        tile = _tile(code, step)
        rows = tile.rows_of("q", variant.kind)
        last = code.difference(params["queries"], 1)
        fill(code, _LOWEST, tile.panels, memory.top)
        fill(code, 0, tile.panels, memory.total)
        fill(code, 0, code.product(tile.panels, params["value_width"]), memory.out)
        with code.loop(0, tile.panels) as panel:
            target = panel_at(code, memory.queries, panel, params["width"])
            first = tile.first_of(panel)
            gather(code, rows, first, last, params["width"], target, scale, variant.kind)
        start, stop = tile.keys_in_reach(variant)
        with code.loop(start, stop, BLOCK) as key:
            count = code.least(code.number(BLOCK), code.difference(stop, key))
            keys = block_rows(code, tile, "k", key, count, memory.copies.keys, variant)
            values = block_rows(code, tile, "v", key, count, memory.copies.values, variant)
            with code.loop(0, tile.panels) as panel:
                _visit(code, tile, panel, key, count, keys, values, memory, variant)
        with code.loop(0, tile.panels) as panel:
            _finish(code, tile, panel, memory, variant)


def _tile(code: Assembler, step: Value) -> Tile:
    """Return the tile of a step.

    Steps go from the last queries to the first: in causal attention the last ones take longest, and
    threads should end at the same time.
    """
    params = code.params
    jobs = code.product(params["batch"], params["heads"])
    number, job = code.divide(step, jobs)
    size = code.number(tile_size())
    tiles, _ = code.divide(code.sum(params["queries"], tile_size() - 1), size)
    first = code.product(code.difference(code.difference(tiles, 1), number), size)
    sample, head = code.divide(job, params["heads"])
    return Tile(code, sample, head, first)


def _visit(
    code: Assembler,
    tile: Tile,
    panel: Value,
    key: Value,
    count: Value,
    keys: Matrix,
    values: Matrix,
    memory: _Memory,
    variant: Variant,
) -> None:
    """Let the queries of a panel attend to a block of keys."""
    params, step = code.params, row_nbytes()
    count = tile.keys_of_panel(panel, key, count)
    queries = panel_at(code, memory.queries, panel, params["width"])
    multiply_to_panel(code, keys, count, params["width"], queries, memory.scores)
    scores = Scores(code, variant, memory.scores, memory.copies.mask)
    scores.cap(count)
    scores.hide(tile, panel, key, count)
    shrink = _weigh(code, scores, count, panel, memory)
    scores.drop(tile, panel, key, count)
    out = panel_at(code, memory.out, panel, params["value_width"])

    def start(row: Value) -> list[Value]:
        line = load_row(code, code.sum(out, code.product(row, step)))
        return [code.multiply(x, y) for x, y in zip(line, shrink, strict=True)]

    multiply(
        code,
        values.transposed,
        params["value_width"],
        count,
        Matrix(scores.at, step, FLOAT),
        start,
        lambda row, sums: store_row(code, sums, code.sum(out, code.product(row, step))),
    )


def _weigh(
    code: Assembler, scores: Scores, count: Value, panel: Value, memory: _Memory
) -> list[Value]:
    """Turn scores into weights; return the factors of all weights so far, for a larger maximum."""
    offset = code.product(panel, row_nbytes())
    top_at, total_at = code.sum(memory.top, offset), code.sum(memory.total, offset)
    before = load_row(code, top_at)

    def raise_tops(row: Value, tops: list[Value]) -> list[Value]:
        line = load_row(code, scores.line(row))
        return [code.larger(x, top) for x, top in zip(line, tops, strict=True)]

    tops = code.fold(0, count, 1, before, raise_tops)
    store_row(code, tops, top_at)
    shrink = [
        code.power_of_two(code.subtract(old, top)) for old, top in zip(before, tops, strict=True)
    ]
    totals = [code.multiply(x, y) for x, y in zip(load_row(code, total_at), shrink, strict=True)]

    def weigh(row: Value, sums: list[Value]) -> list[Value]:
        line = load_row(code, scores.line(row))
        weights = [
            code.power_of_two(code.subtract(x, top)) for x, top in zip(line, tops, strict=True)
        ]
        store_row(code, weights, scores.line(row))
        return [code.add(x, y) for x, y in zip(sums, weights, strict=True)]

    store_row(code, code.fold(0, count, 1, totals, weigh), total_at)
    return shrink


def _finish(code: Assembler, tile: Tile, panel: Value, memory: _Memory, variant: Variant) -> None:
    """Divide the sums of a panel by the sums of weights, and store them and the logarithms."""
    params, step = code.params, row_nbytes()
    offset = code.product(panel, step)
    totals = load_row(code, code.sum(memory.total, offset))
    tops = load_row(code, code.sum(memory.top, offset))
    inverse, logs = [], []
    for total, top in zip(totals, tops, strict=True):
        empty = code.is_equal(total, code.zeros())
        quotient = code.divide_vectors(code.constant(1), total)
        inverse.append(code.where(empty, code.zeros(), quotient))
        log = code.add(code.function("log2", total), top)
        log = code.multiply(log, code.constant(LN_2))
        logs.append(code.where(empty, code.constant(float("inf")), log))
    out = panel_at(code, memory.out, panel, params["value_width"])
    with code.loop(0, params["value_width"]) as column:
        at = code.sum(out, code.product(column, step))
        line = load_row(code, at)
        store_row(code, [code.multiply(x, y) for x, y in zip(line, inverse, strict=True)], at)
    first = tile.first_of(panel)
    rows = code.least(code.number(len(logs) * lanes()), code.difference(params["queries"], first))
    target = tile.rows_of("out", variant.kind)
    target = target._replace(at=code.sum(target.at, code.product(first, target.row)))
    scatter(code, out, params["value_width"], target, rows, variant.kind)
    store_row(code, logs, code.sum(memory.top, offset))
    start = code.sum(code.product(tile.job, params["queries"]), first)
    target = Matrix(code.sum(params["log_sum_at"], code.product(start, FLOAT)), FLOAT, FLOAT)
    scatter(code, code.sum(memory.top, offset), code.number(1), target, rows, "float32")
