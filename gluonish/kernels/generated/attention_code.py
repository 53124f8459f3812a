"""The kernel of attention in tiles, whose matrix of weights never exists as a whole.

A *tile* of queries visits the keys in blocks, and keeps the largest score and the sum of
exponentials of each query so far (Dao, FlashAttention-2, 2023). `attention_panels` describes the
order of elements in memory.
"""

from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.amx_code import AmxAssembler
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.attention_amx import AmxProducts
from gluonish.kernels.generated.attention_panels import (
    BLOCK,
    FLOAT,
    LN_2,
    MODULES,
    OPTIONS,
    SIZES,
    Matrix,
    Scores,
    Tile,
    Variant,
    fill,
    load_row,
    panel_at,
    panels,
    row_nbytes,
    scatter,
    store_row,
    tile_size,
)
from gluonish.kernels.generated.attention_products import FloatProducts, Products

_LOWEST = -3.4e38  # no score in units of log 2 that is finite in float32 is much lower

_ARRAYS = "out_at log_sum_at q_at k_at v_at"
_STRIDES = " ".join(f"{name}_{axis}" for name in ("q", "k", "v", "out") for axis in "nht")
PARAMS = f"{_ARRAYS} {SIZES} {_STRIDES} {OPTIONS}"


def forward_kernel(variant: Variant) -> CompiledKernel:
    """Return the kernel of the output and the logarithms of sums; a step is a tile."""

    def text() -> str:
        if variant.amx:
            code = AmxAssembler(PARAMS)
            with code.registers():
                _write(code, variant, AmxProducts(code, variant))
            return code.finish()
        plain = Assembler(PARAMS)
        _write(plain, variant, FloatProducts(plain, variant))
        return plain.finish()

    return compile_assembly(f"attention {variant} {lanes()}", text, *MODULES)


class _Memory(NamedTuple):
    """Addresses of the panels of a tile, on the stack.

    Attributes:
        out: Panels of the weighted sums of values.
        top: For each panel, a row of the largest scores.
        total: For each panel, a row of the sums of weights.
        scores: A panel of the scores of a block.
        mask: A panel of the mask of a block; None without one.
    """

    out: Value
    top: Value
    total: Value
    scores: Value
    mask: Value | None


def _reserve(code: Assembler, variant: Variant) -> _Memory:
    row = row_nbytes()
    block = code.number(BLOCK * row)
    return _Memory(
        out=code.reserve(code.product(code.params["value_width"], panels() * row)),
        top=code.reserve(code.number(panels() * row)),
        total=code.reserve(code.number(panels() * row)),
        scores=code.reserve(block),
        mask=code.reserve(block) if variant.mask else None,
    )


def _write(code: Assembler, variant: Variant, products: Products) -> None:
    params = code.params
    memory = _reserve(code, variant)
    with code.loop(code.begin, code.end) as step:
        tile = _tile(code, step)
        fill(code, _LOWEST, tile.panels, memory.top)
        fill(code, 0, tile.panels, memory.total)
        fill(code, 0, code.product(tile.panels, params["value_width"]), memory.out)
        products.begin(tile)
        start, stop = tile.keys_in_reach(variant)
        with code.loop(start, stop, BLOCK) as key:
            count = code.least(code.number(BLOCK), code.difference(stop, key))
            products.begin_block(tile, key, count)
            with code.loop(0, tile.panels) as panel:
                _visit(code, tile, panel, key, count, products, memory, variant)
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
    products: Products,
    memory: _Memory,
    variant: Variant,
) -> None:
    """Let the queries of a panel attend to a block of keys."""
    count = tile.keys_of_panel(panel, key, count)
    scores = Scores(code, variant, memory.scores, memory.mask)
    products.multiply_keys(panel, count, scores)
    scores.cap(count)
    scores.hide(tile, panel, key, count)
    offset = code.product(panel, row_nbytes())
    top_at, total_at = code.sum(memory.top, offset), code.sum(memory.total, offset)
    before = load_row(code, top_at)
    tops = products.largest(scores, count, before)
    store_row(code, tops, top_at)
    shrink = [
        code.power_of_two(code.subtract(old, top)) for old, top in zip(before, tops, strict=True)
    ]
    totals = [code.multiply(x, y) for x, y in zip(load_row(code, total_at), shrink, strict=True)]
    store_row(code, products.weigh(scores, count, tops, totals), total_at)
    scores.drop(tile, panel, key, count)
    out = panel_at(code, memory.out, panel, code.params["value_width"])
    products.add_values(scores, count, shrink, out)


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
