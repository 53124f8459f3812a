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
from gluonish.kernels.compiler.amx_code import AmxAssembler
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.attention_gradient_amx import AmxGradientProducts
from gluonish.kernels.generated.attention_gradient_products import (
    FloatGradientProducts,
    GradientProducts,
    padded,
)
from gluonish.kernels.generated.attention_panels import (
    BLOCK,
    FLOAT,
    LOG2_E,
    MODULES,
    OPTIONS,
    SIZES,
    Matrix,
    Scores,
    Tile,
    Variant,
    fill,
    gather,
    load_row,
    panel_at,
    panel_width,
    panels,
    row_nbytes,
    scatter,
    store_row,
    tile_size,
    vectors,
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
        if variant.amx:
            code = AmxAssembler(PARAMS)
            with code.registers():
                _write(code, variant, AmxGradientProducts(code, variant))
            return code.finish()
        plain = Assembler(PARAMS)
        _write(plain, variant, FloatGradientProducts(plain, variant))
        return plain.finish()

    return compile_assembly(f"attention backward {variant} {lanes()}", text, *MODULES)


class _Memory(NamedTuple):
    """Addresses of memory on the stack.

    Attributes:
        grads: Panels of the tile's gradient of the output.
        sums: Panels of the tile's gradient of the queries.
        logs: For each panel, a row of the logarithms of sums, in units of log 2.
        inner: For each panel, a row of the sums D.
        scores: A panel of the scores of a block.
        slopes: A panel of the gradient of the weights.
        bends: A panel of the derivatives of a cap; None without one.
        factors: A panel of the factors of a dropout; None without one.
        mask: A panel of the mask; None without one.
    """

    grads: Value
    sums: Value
    logs: Value
    inner: Value
    scores: Value
    slopes: Value
    bends: Value | None
    factors: Value | None
    mask: Value | None


def _reserve(code: Assembler, variant: Variant) -> _Memory:
    params, row = code.params, row_nbytes()
    block = code.number(BLOCK * row)
    return _Memory(
        grads=code.reserve(code.product(params["value_width"], panels() * row)),
        sums=code.reserve(code.product(params["width"], panels() * row)),
        logs=code.reserve(code.number(panels() * row)),
        inner=code.reserve(code.number(panels() * row)),
        scores=code.reserve(block),
        slopes=code.reserve(block),
        bends=code.reserve(block) if variant.capped else None,
        factors=code.reserve(block) if variant.dropout else None,
        mask=code.reserve(block) if variant.mask else None,
    )


def _write(code: Assembler, variant: Variant, products: GradientProducts) -> None:
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
            products.begin(tile)
            start, stop = tile.keys_in_reach(variant)
            start, stop = code.greatest(start, first_key), code.least(stop, end_key)
            with code.loop(start, stop, BLOCK) as key:
                count = code.least(code.number(BLOCK), code.difference(stop, key))
                products.begin_block(tile, key, count)
                with code.loop(0, tile.panels) as panel:
                    _visit(code, tile, panel, key, count, products, memory, variant)
            _finish(code, tile, share, products, memory)


def _clear(code: Assembler, tile: Tile, first_key: Value, end_key: Value) -> None:
    """Set the gradients of the share's keys and values to zero."""
    for name, width in (("dk", "width"), ("dv", "value_width")):
        rows = tile.rows_of(name, "float32", shared=True)
        columns = padded(code, code.params[width])
        with (
            code.loop(first_key, end_key) as row,
            code.loop(0, columns, panel_width()) as column,
        ):
            at = code.sum(rows.at, code.product(row, rows.row), code.product(column, FLOAT))
            store_row(code, [code.zeros()] * vectors(), at)


def _prepare(code: Assembler, tile: Tile, memory: _Memory, variant: Variant) -> None:
    """Read the gradients of a tile's outputs, and compute the sums D."""
    params, kind = code.params, variant.kind
    value_width = params["value_width"]
    grads, outs = (tile.rows_of(name, kind) for name in ("grad", "out"))
    last = code.difference(params["queries"], 1)
    fill(code, 0, code.product(tile.panels, params["width"]), memory.sums)
    with code.loop(0, tile.panels) as panel:
        out = panel_at(code, memory.grads, panel, value_width)
        gather(code, grads, tile.first_of(panel), last, value_width, out, None, kind)
        _sum_products(code, tile, panel, outs, memory, variant)


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
    products: GradientProducts,
    memory: _Memory,
    variant: Variant,
) -> None:
    """Add what a panel of queries and a block of keys contribute to the gradients."""
    params = code.params
    count = tile.keys_of_panel(panel, key, count)
    scores = Scores(code, variant, memory.scores, memory.mask)
    slopes = Scores(code, variant, memory.slopes, None)
    products.multiply_keys(panel, count, scores)
    scores.cap(count, memory.bends)
    scores.hide(tile, panel, key, count)
    grads = panel_at(code, memory.grads, panel, params["value_width"])
    products.multiply_values(panel, count, grads, slopes)
    bends = None if memory.bends is None else Scores(code, variant, memory.bends, None)
    factors = None
    if memory.factors is not None:
        factors = Scores(code, variant, memory.factors, None)
        fill(code, 1, code.number(BLOCK), factors.at)
        factors.drop(tile, panel, key, count)
    offset = code.product(panel, row_nbytes())
    logs = load_row(code, code.sum(memory.logs, offset))
    inner = load_row(code, code.sum(memory.inner, offset))

    def differentiate(row: Value) -> tuple[list[Value], list[Value]]:
        """Return a key's weights, and the gradient of its scores."""
        line = load_row(code, slopes.line(row))
        weights = products.weights(load_row(code, scores.line(row)), logs)
        used = weights
        if factors is not None:
            shares = load_row(code, factors.line(row))
            line = [code.multiply(x, y) for x, y in zip(line, shares, strict=True)]
            used = [code.multiply(x, y) for x, y in zip(weights, shares, strict=True)]
        made = [
            code.multiply(weight, code.subtract(x, total))
            for weight, x, total in zip(weights, line, inner, strict=True)
        ]
        if bends is not None:
            bent = load_row(code, bends.line(row))
            made = [code.multiply(x, y) for x, y in zip(made, bent, strict=True)]
        return used, made

    sums = panel_at(code, memory.sums, panel, params["width"])
    products.add(tile, panel, key, count, differentiate, scores, slopes, sums)


def _finish(
    code: Assembler, tile: Tile, share: Value, products: GradientProducts, memory: _Memory
) -> None:
    """Store the gradient of a tile's queries."""
    params = code.params
    target = tile.rows_of("dq", "float32")
    start = code.sum(target.at, code.product(share, params["dq_share"]))
    with code.loop(0, tile.panels) as panel:
        first = tile.first_of(panel)
        sums = panel_at(code, memory.sums, panel, params["width"])
        products.scale_queries(sums)
        rows = code.least(code.number(panel_width()), code.difference(params["queries"], first))
        part = target._replace(at=code.sum(start, code.product(first, target.row)))
        scatter(code, sums, params["width"], part, rows, "float32")
