"""The kernel of attention's gradient in tiles: weights are computed again from the sums.

With weights P, their gradient dP and the sums D of each row of ``dP * P``, the gradient of the
scores is ``P * (dP - D)``, and D is also the sum of ``grad * output`` (Dao, FlashAttention-2,
2023). A step is a *share*: a range of the keys of some heads that read the same keys and values. It
adds to the gradients of its keys and values tile by tile; gradients of queries are one array for
each share, which are added up afterwards if there are several. `attention_panels` describes the
order of elements in memory.
"""

from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.attention_panels import (
    BLOCK,
    FLOAT,
    LOG2_E,
    OPTIONS,
    SIZES,
    Copies,
    Matrix,
    Scores,
    Tile,
    Variant,
    block_rows,
    convert_rows,
    fill,
    gather,
    load_row,
    multiply,
    multiply_to_panel,
    panel_at,
    panel_width,
    panels,
    row_nbytes,
    scatter,
    store_row,
    tile_size,
    vectors,
    version,
)

_NAMES = ("dq", "dk", "dv", "grad", "q", "k", "v", "out")
_STRIDES = " ".join(f"{name}_{axis}" for name in _NAMES for axis in "nht")
# `dq` is float32 (shares, N, H, T, C) with contiguous rows, `dk` and `dv` are float32 with rows of
# whole panels; `dq_share` is the step between the arrays of shares. `raw_scale` is the scale of the
# scores without the factor for units of log 2.
PARAMS = (
    "dq_at dk_at dv_at grad_at q_at k_at v_at out_at log_sum_at "
    f"{SIZES} {_STRIDES} {OPTIONS} raw_scale shares share_keys dq_share"
)


def backward_kernel(variant: Variant) -> CompiledKernel:
    """Return the kernel of the gradients; a step is a share."""

    def text() -> str:
        code = Assembler(PARAMS)
        _write(code, variant)
        return code.finish()

    return compile_assembly(f"attention backward {variant} {lanes()} {version()}", text)


class _Memory(NamedTuple):
    """Addresses of memory on the stack.

    Attributes:
        queries: Panels of the scaled queries of a tile.
        grads: Panels of the tile's gradient of the output.
        sums: Panels of the tile's gradient of the queries.
        query_rows: The scaled queries, as rows of whole panels.
        grad_rows: The gradient of the output, as such rows.
        logs: For each panel, a row of the logarithms of sums, in units of log 2.
        inner: For each panel, a row of the sums D.
        weights: A panel of the scores of a block, then its weights.
        slopes: A panel of the gradient of the weights, then of the scores.
        bends: A panel of the derivatives of a cap; None without one.
        factors: A panel of the factors of a dropout; None without one.
        copies: Memory for the mask, and for converted keys and values.
    """

    queries: Value
    grads: Value
    sums: Value
    query_rows: Matrix
    grad_rows: Matrix
    logs: Value
    inner: Value
    weights: Value
    slopes: Value
    bends: Value | None
    factors: Value | None
    copies: Copies


def _padded(code: Assembler, columns: Value) -> Value:
    """Return the columns of whole panels that hold some columns."""
    count, _ = code.divide(code.sum(columns, panel_width() - 1), code.number(panel_width()))
    return code.product(count, panel_width())


def _reserve(code: Assembler, variant: Variant) -> _Memory:
    params, row = code.params, row_nbytes()
    width, value_width = params["width"], params["value_width"]
    block = code.number(BLOCK * row)

    def rows(columns: Value) -> Matrix:
        line = code.product(_padded(code, columns), FLOAT)
        return Matrix(code.reserve(code.product(line, tile_size())), line, FLOAT)

    return _Memory(
        queries=code.reserve(code.product(width, panels() * row)),
        grads=code.reserve(code.product(value_width, panels() * row)),
        sums=code.reserve(code.product(width, panels() * row)),
        query_rows=rows(width),
        grad_rows=rows(value_width),
        logs=code.reserve(code.number(panels() * row)),
        inner=code.reserve(code.number(panels() * row)),
        weights=code.reserve(block),
        slopes=code.reserve(block),
        bends=code.reserve(block) if variant.capped else None,
        factors=code.reserve(block) if variant.dropout else None,
        copies=Copies.reserve(code, variant),
    )


def _write(code: Assembler, variant: Variant) -> None:
    params = code.params
    memory = _reserve(code, variant)
    shared_heads, _ = code.divide(params["heads"], params["group"])
    with code.loop(code.begin, code.end) as step:
        job, share = code.divide(step, params["shares"])
        sample, shared_head = code.divide(job, shared_heads)
        first_key = code.product(share, params["share_keys"])
        end_key = code.least(params["keys"], code.sum(first_key, params["share_keys"]))
        head = code.product(shared_head, params["group"])
        _clear(code, Tile(code, sample, head, code.number(0)), first_key, end_key)
        with (
            code.loop(head, code.sum(head, params["group"])) as number,
            code.loop(0, params["queries"], tile_size()) as first,
        ):
            tile = Tile(code, sample, number, first)
            _prepare(code, tile, memory, variant)
            start, stop = tile.keys_in_reach(variant)
            start, stop = code.greatest(start, first_key), code.least(stop, end_key)
            with code.loop(start, stop, BLOCK) as key:
                count = code.least(code.number(BLOCK), code.difference(stop, key))
                keys = block_rows(code, tile, "k", key, count, memory.copies.keys, variant)
                values = block_rows(code, tile, "v", key, count, memory.copies.values, variant)
                with code.loop(0, tile.panels) as panel:
                    _visit(code, tile, panel, key, count, keys, values, memory, variant)
            _finish(code, tile, share, memory)


def _clear(code: Assembler, tile: Tile, first_key: Value, end_key: Value) -> None:
    """Set the gradients of the share's keys and values to zero."""
    for name, width in (("dk", "width"), ("dv", "value_width")):
        rows = tile.rows_of(name, "float32", shared=True)
        columns = _padded(code, code.params[width])
        with (
            code.loop(first_key, end_key) as row,
            code.loop(0, columns, panel_width()) as column,
        ):
            at = code.sum(rows.at, code.product(row, rows.row), code.product(column, FLOAT))
            store_row(code, [code.zeros()] * vectors(), at)


def _prepare(code: Assembler, tile: Tile, memory: _Memory, variant: Variant) -> None:
    """Read the queries and gradients of a tile, and compute the sums D."""
    params, kind = code.params, variant.kind
    width, value_width = params["width"], params["value_width"]
    scale, raw = (code.number_of_bits(params[name]) for name in ("scale", "raw_scale"))
    rows, grads, outs = (tile.rows_of(name, kind) for name in ("q", "grad", "out"))
    last = code.difference(params["queries"], 1)
    fill(code, 0, code.product(tile.panels, width), memory.sums)
    # Columns that fill up the rows of a panel are multiplied, and must not become NaN.
    _clear_rows(code, memory.query_rows, _padded(code, width))
    _clear_rows(code, memory.grad_rows, _padded(code, value_width))
    for source, target, columns, factor in (
        (rows, memory.query_rows, width, raw),
        (grads, memory.grad_rows, value_width, None),
    ):
        begin = source._replace(at=code.sum(source.at, code.product(tile.first, source.row)))
        convert_rows(code, begin, tile.rows, columns, target, kind, factor)
    with code.loop(0, tile.panels) as panel:
        first = tile.first_of(panel)
        queries = panel_at(code, memory.queries, panel, width)
        gather(code, rows, first, last, width, queries, scale, kind)
        out = panel_at(code, memory.grads, panel, value_width)
        gather(code, grads, first, last, value_width, out, None, kind)
        _sum_products(code, tile, panel, outs, memory, variant)


def _clear_rows(code: Assembler, rows: Matrix, columns: Value) -> None:
    with (
        code.loop(0, tile_size()) as row,
        code.loop(0, columns, panel_width()) as column,
    ):
        at = code.sum(rows.at, code.product(row, rows.row), code.product(column, FLOAT))
        store_row(code, [code.zeros()] * vectors(), at)


def _sum_products(
    code: Assembler, tile: Tile, panel: Value, outs: Matrix, memory: _Memory, variant: Variant
) -> None:
    """Store the sums D and the logarithms of a panel; queries after the last get weights of 0."""
    params, step = code.params, row_nbytes()
    value_width = params["value_width"]
    last = code.difference(params["queries"], 1)
    first = tile.first_of(panel)
    grads = panel_at(code, memory.grads, panel, value_width)
    offset = code.product(panel, step)
    store_row(code, [code.zeros()] * vectors(), code.sum(memory.inner, offset))
    # Some columns at a time, in the memory of a block.
    with code.loop(0, value_width, BLOCK) as column:
        count = code.least(code.number(BLOCK), code.difference(value_width, column))
        part = outs._replace(at=code.sum(outs.at, code.product(column, outs.column)))
        gather(code, part, first, last, count, memory.slopes, None, variant.kind)

        def add(row: Value, sums: list[Value], column: Value = column) -> list[Value]:
            at = code.product(code.sum(column, row), step)
            lefts = load_row(code, code.sum(grads, at))
            rights = load_row(code, code.sum(memory.slopes, code.product(row, step)))
            return [code.fma(x, y, z) for x, y, z in zip(lefts, rights, sums, strict=True)]

        before = load_row(code, code.sum(memory.inner, offset))
        store_row(code, code.fold(0, count, 1, before, add), code.sum(memory.inner, offset))
    start = code.sum(params["log_sum_at"], code.product(tile.job, params["queries"], FLOAT))
    logs = code.sum(memory.logs, offset)
    source = Matrix(start, code.number(FLOAT), FLOAT)
    units = code.constant(LOG2_E)
    gather(code, source, first, last, code.number(1), logs, units, "float32")
    line = []
    for i, x in enumerate(load_row(code, logs)):
        query = code.lane_numbers(code.sum(first, i * lanes()))
        inside = code.between(query, code.number(0), last)
        line.append(code.where(inside, x, code.constant(float("inf"))))
    store_row(code, line, logs)


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
    """Add what a panel of queries and a block of keys contribute to the gradients."""
    params, step = code.params, row_nbytes()
    width, value_width = params["width"], params["value_width"]
    count = tile.keys_of_panel(panel, key, count)
    scores = Scores(code, variant, memory.weights, memory.copies.mask)
    queries = panel_at(code, memory.queries, panel, width)
    multiply_to_panel(code, keys, count, width, queries, scores.at)
    scores.cap(count, memory.bends)
    scores.hide(tile, panel, key, count)
    grads = panel_at(code, memory.grads, panel, value_width)
    multiply_to_panel(code, values, count, value_width, grads, memory.slopes)
    _differentiate(code, tile, panel, key, count, scores, memory, variant)
    offset = code.product(panel, panel_width())
    for source, rows, name in (
        (memory.weights, memory.grad_rows, "dv"),
        (memory.slopes, memory.query_rows, "dk"),
    ):
        left = Matrix(source, step, FLOAT)
        right = rows._replace(at=code.sum(rows.at, code.product(offset, rows.row)))
        target = tile.rows_of(name, "float32", shared=True)
        target = target._replace(at=code.sum(target.at, code.product(key, target.row)))
        columns = value_width if name == "dv" else width
        _add_product(code, left, count, right, columns, target)
    sums = panel_at(code, memory.sums, panel, width)
    multiply(
        code,
        keys.transposed,
        width,
        count,
        Matrix(memory.slopes, step, FLOAT),
        lambda row: load_row(code, code.sum(sums, code.product(row, step))),
        lambda row, line: store_row(code, line, code.sum(sums, code.product(row, step))),
    )


def _differentiate(
    code: Assembler,
    tile: Tile,
    panel: Value,
    key: Value,
    count: Value,
    scores: Scores,
    memory: _Memory,
    variant: Variant,
) -> None:
    """Turn scores into weights, and the gradient of weights into that of scores."""
    offset = code.product(panel, row_nbytes())
    logs = load_row(code, code.sum(memory.logs, offset))
    inner = load_row(code, code.sum(memory.inner, offset))
    slopes = Scores(code, variant, memory.slopes, None)
    factors = None
    if memory.factors is not None:
        factors = Scores(code, variant, memory.factors, None)
        fill(code, 1, code.number(BLOCK), factors.at)
        factors.drop(tile, panel, key, count)
    with code.loop(0, count) as row:
        weights = [
            code.power_of_two(code.subtract(x, log))
            for x, log in zip(load_row(code, scores.line(row)), logs, strict=True)
        ]
        line = load_row(code, slopes.line(row))
        used = weights
        if factors is not None:
            shares = load_row(code, factors.line(row))
            line = [code.multiply(x, y) for x, y in zip(line, shares, strict=True)]
            used = [code.multiply(x, y) for x, y in zip(weights, shares, strict=True)]
        store_row(code, used, scores.line(row))
        made = [
            code.multiply(weight, code.subtract(x, total))
            for weight, x, total in zip(weights, line, inner, strict=True)
        ]
        if memory.bends is not None:
            at = code.sum(memory.bends, code.product(row, row_nbytes()))
            made = [code.multiply(x, y) for x, y in zip(made, load_row(code, at), strict=True)]
        store_row(code, made, slopes.line(row))


def _add_product(
    code: Assembler, left: Matrix, rows: Value, right: Matrix, columns: Value, target: Matrix
) -> None:
    """Add the product of a panel of a block and rows of a tile to rows of an array."""
    with code.loop(0, columns, panel_width()) as column:
        offset = code.product(column, FLOAT)
        part = right._replace(at=code.sum(right.at, offset))

        start = code.sum(target.at, offset)

        def load(row: Value, start: Value = start) -> list[Value]:
            return load_row(code, code.sum(start, code.product(row, target.row)))

        def store(row: Value, sums: list[Value], start: Value = start) -> None:
            store_row(code, sums, code.sum(start, code.product(row, target.row)))

        multiply(code, left, rows, code.number(panel_width()), part, load, store)


def _finish(code: Assembler, tile: Tile, share: Value, memory: _Memory) -> None:
    """Store the gradient of a tile's queries."""
    params = code.params
    raw = code.number_of_bits(params["raw_scale"])
    target = tile.rows_of("dq", "float32")
    start = code.sum(target.at, code.product(share, params["dq_share"]))
    with code.loop(0, tile.panels) as panel:
        first = tile.first_of(panel)
        sums = panel_at(code, memory.sums, panel, params["width"])
        with code.loop(0, params["width"]) as column:
            at = code.sum(sums, code.product(column, row_nbytes()))
            store_row(code, [code.multiply(x, raw) for x in load_row(code, at)], at)
        rows = code.least(code.number(panel_width()), code.difference(params["queries"], first))
        part = target._replace(at=code.sum(start, code.product(first, target.row)))
        scatter(code, sums, params["width"], part, rows, "float32")
