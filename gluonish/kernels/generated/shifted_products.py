"""Products of filters with shifted planes of images: convolutions, and their gradients.

As many sums as fit are in registers, of products over all terms (`products`) or over all positions
(`term_sums`); see `shifted_planes`. Sums are float32, in an order that depends on the sizes only.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from gluonish.kernels.compiler import CompiledKernel, compile_assembly, compile_kernel
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.shifted_planes import FLOAT, LINE, Planes, Sums
from gluonish.kernels.generated.window_columns import BOUNDS, COPY_ROW
from gluonish.ops.kernel import Array, address

_GRAIN = 1 << 14  # multiplications, or elements to copy, for each thread
_POSITIONS = 128  # whose gradients stay in the nearest cache
_TILES = 4  # of terms in a step of `term_sums`
_CACHED = 1 << 19  # bytes that stay in a core's cache
_BLOCKS = 4  # minimum blocks of a sample's panels, for threads to share
_SCRATCH = 1 << 20  # elements at a time
_BEHIND = 128  # elements that may be read after the last plane

# Params: image, columns (the planes); height, width, extents; steps, origins; elements of a plane;
# phases. A step is a channel of a sample.
_COPY = (
    """
def body(begin, end, params):
    image, columns = f32(params[0]), f32(params[1])
    height, width, high, wide = params[2], params[3], params[4], params[5]
    stride_h, stride_w, top, left = params[6], params[7], params[8], params[9]
    elements, phases = params[10], params[11]
    for plane in range(begin, end):
        for f in range(phases):
            start = (plane * phases + f) * elements
            for y in range(high):
                off = params[13 + 2 * f] - left
"""
    + BOUNDS
    + """
                line = y * stride_h + params[12 + 2 * f] - top
                at = start + y * wide
"""
    + COPY_ROW
    + """
            for x in range(start + high * wide, start + elements):
                independent()
                columns[x] = float32(0)
"""
)

# Params: weight, packed, taps; rows, tiles, channels, number of taps; elements of the weight from
# one group, row and channel to the next. Packed are (groups, tiles, channels, taps, rows of a
# tile); rows after the last are zeros. A step is a channel of a tile; they are in the order of the
# weight in memory.
_PACK = """
def body(begin, end, params):
    weight, packed, taps = f32(params[0]), f32(params[1]), i64(params[2])
    rows, tiles, channels, count = params[3], params[4], params[5], params[6]
    group_step, row_step, channel_step = params[7], params[8], params[9]
    for step in range(begin, end):
        rest, group = step % (tiles * channels), step // (tiles * channels)
        if row_step > channel_step:
            tile, channel = rest // channels, rest % channels
        else:
            channel, tile = rest // tiles, rest % tiles
        row = tile * {rows}
        made = ((group * tiles + tile) * channels + channel) * count
        start = group * group_step + row * row_step + channel * channel_step
        left = min(rows - row, int64({rows}))
        for t in range(count):
            source, target = start + taps[t], (made + t) * {rows}
            if left == {rows}:
                for i in range({rows}):
                    independent()
                    packed[target + i] = weight[source + i * row_step]
            else:
                for i in range(left):
                    packed[target + i] = weight[source + i * row_step]
                for i in range(left, {rows}):
                    packed[target + i] = float32(0)
"""

# Params: sums, out, bias; rows and columns; elements of the sums from one row to the next; rows of
# a group, and of its sums; elements of the sums of a group's row; those of the output from one
# channel, row and column to the next. A step is a channel of a sample.
_STORE = """
def body(begin, end, params):
    sums, out, bias = f32(params[0]), f32(params[1]), f32(params[2])
    high, wide, line, rows, padded = params[3], params[4], params[5], params[6], params[7]
    elements, channel_step, row_step, column_step = params[8], params[9], params[10], params[11]
    channels = params[12]
    for step in range(begin, end):
        b = bias[step % channels]
        start = (step // rows * padded + step % rows) * elements
        for y in range(high):
            source, target = start + y * line, step * channel_step + y * row_step
            if column_step == 1:
                for x in range(wide):
                    independent()
                    out[target + x] = sums[source + x] + b
            else:
                for x in range(wide):
                    independent()
                    out[target + x * column_step] = sums[source + x] + b
"""

# Params: gradient, transposed; positions, channels of a group, and their number with those of the
# padding. The transposed gradient is (N, groups, positions, padded channels). A step is 16
# positions of a group.
_TRANSPOSE = """
def body(begin, end, params):
    grad, transposed = f32(params[0]), f32(params[1])
    positions, channels, padded = params[2], params[3], params[4]
    blocks = (positions + 15) // 16
    for step in range(begin, end):
        group, first = step // blocks, step % blocks * 16
        last = min(first + 16, positions)
        source, target = group * channels * positions, group * positions * padded
        for c in range(channels):
            for p in range(first, last):
                independent()
                transposed[target + p * padded + c] = grad[source + c * positions + p]
        for p in range(first, last):
            for c in range(channels, padded):
                transposed[target + p * padded + c] = float32(0)
"""


# Params: totals, out; filters and terms of a group; parts, rows of a part's totals. Totals are
# (groups, parts, terms, filters of a part). A step is `LINE` filters of a group.
_GATHER_TOTALS = """
def body(begin, end, params):
    totals, out = f32(params[0]), f32(params[1])
    filters, terms, parts, rows = params[2], params[3], params[4], params[5]
    blocks = (filters + {line} - 1) // {line}
    for step in range(begin, end):
        group, first = step // blocks, step % blocks * {line}
        last = min(first + {line}, filters)
        source = (group * parts + first // {width}) * rows * {width} + first % {width}
        target = (group * filters + first) * terms
        for t in range(terms):
            for f in range(last - first):
                independent()
                out[target + f * terms + t] = totals[source + t * {width} + f]
"""


class _Tile(NamedTuple):
    """Sums in registers: rows, of which each has some vectors."""

    rows: int
    vectors: int

    @property
    def width(self) -> int:
        """Elements of a row."""
        return self.vectors * lanes()


def row_tile(rows: int) -> _Tile:
    """Return the tile of `products` for a number of rows."""
    if lanes() == 16:
        return _Tile(8, 3) if rows > 4 else _Tile(4, 6)
    return _Tile(4, 3)


def products_share(rows: int, every: Sequence[Sums]) -> float:
    """Return the share of the products of `products` that its results contain."""
    tile = row_tile(rows)
    made = sum(-(-sums.positions // tile.width) * tile.width for sums in every)
    used = sum(math.prod(sums.counts) for sums in every)
    return used / made * rows / (-(-rows // tile.rows) * tile.rows)


def term_sums_share(filters: int) -> float:
    """Return the share of the products of `term_sums` that its results contain."""
    width = _term_tile(filters).width
    return filters / (-(-filters // width) * width)


def _term_tile(filters: int) -> _Tile:
    """Return the tile of `term_sums` for a number of filters: that with the fewest empty lanes."""
    rows = {4: 6, 3: 8, 2: 12, 1: 12} if lanes() == 16 else {3: 4, 2: 6, 1: 6}

    def wasted(vectors: int) -> int:
        return -filters % (vectors * lanes())

    vectors = min(rows, key=lambda n: (wasted(n), -n))
    return _Tile(rows[vectors], vectors)


_PRODUCTS = (
    "planes weights offsets out terms panels blocks some groups tiles "
    "plane_step weight_step out_step out_row"
)


@cache
def _products_kernel(tile: _Tile) -> CompiledKernel:
    return _compiled("shifted planes", _PRODUCTS, _write_products, tile)


def _compiled(
    name: str, params: str, write: Callable[[Assembler, _Tile], None], tile: _Tile
) -> CompiledKernel:
    def text() -> str:
        code = Assembler(params)
        write(code, tile)
        return code.finish()

    return compile_assembly(f"{name} {tile} {lanes()}", text, __name__)


def _write_products(code: Assembler, tile: _Tile) -> None:
    """Write the loop over blocks of panels, each `_Tile.width` positions of a group of a sample."""
    params = code.params
    nbytes = tile.width * FLOAT
    term = tile.rows * FLOAT
    with code.loop(code.begin, code.end) as step:
        sample_group, block = code.divide(step, params["blocks"])
        _, group = code.divide(sample_group, params["groups"])
        image = code.sum(params["planes"], code.product(sample_group, params["plane_step"]))
        weights = code.sum(params["weights"], code.product(group, params["weight_step"]))
        out = code.sum(params["out"], code.product(sample_group, params["out_step"]))
        first = code.product(block, params["some"])
        last = code.least(code.sum(first, params["some"]), params["panels"])
        with code.loop(0, params["tiles"]) as number:
            left = code.sum(weights, code.product(number, params["terms"], term))
            rows = code.sum(out, code.product(number, tile.rows, params["out_row"]))
            with code.loop(first, last) as panel:
                across = code.product(panel, nbytes)
                sums = _sums_of_terms(code, tile, code.sum(image, across), left)
                for row, vectors in enumerate(_by_row(tile, sums)):
                    to = code.sum(rows, code.product(params["out_row"], row), across)
                    _store_row(code, vectors, to)


def _sums_of_terms(code: Assembler, tile: _Tile, source: Value, left: Value) -> list[Value]:
    """Return the sums of a tile's rows, at the positions from an address on."""
    params = code.params

    def add(k: Value, sums: list[Value]) -> list[Value]:
        at = code.load_int64(code.sum(params["offsets"], code.product(k, 8)))
        factors = code.sum(left, code.product(k, tile.rows * FLOAT))
        return _added(code, tile, code.sum(source, at), factors, sums)

    return code.fold(0, params["terms"], 1, [code.zeros()] * (tile.rows * tile.vectors), add)


def _by_row(tile: _Tile, sums: Sequence[Value]) -> Iterator[Sequence[Value]]:
    for row in range(tile.rows):
        yield sums[row * tile.vectors : (row + 1) * tile.vectors]


def _load_row(code: Assembler, count: int, at: Value) -> list[Value]:
    return [code.load(code.sum(at, i * lanes() * FLOAT)) for i in range(count)]


def _store_row(code: Assembler, row: Sequence[Value], at: Value) -> None:
    for i, vector in enumerate(row):
        code.store(vector, code.sum(at, i * lanes() * FLOAT))


def _added(
    code: Assembler, tile: _Tile, line: Value, factors: Value | list[Value], sums: list[Value]
) -> list[Value]:
    """Return sums with the products of each row's factor and a line."""
    vectors = _load_row(code, tile.vectors, line)
    made = []
    for i, row in enumerate(_by_row(tile, sums)):
        at = factors[i] if isinstance(factors, list) else code.sum(factors, i * FLOAT)
        factor = code.load_element(at)
        made += [code.fma(factor, x, y) for x, y in zip(vectors, row, strict=True)]
    return made


_TERM_SUMS = (
    "planes transposed offsets totals tiles blocks groups samples rows columns line some "
    "plane_step transposed_step transposed_row parts"
)


@cache
def _term_sums_kernel(tile: _Tile) -> CompiledKernel:
    return _compiled("sums of terms", _TERM_SUMS, _write_term_sums, tile)


def _write_term_sums(code: Assembler, tile: _Tile) -> None:
    """Write the loop over blocks of tiles, for a row of vectors of filters and all samples.

    The gradients of ``some`` rows of the output are in the nearest cache while all tiles of a block
    use them.
    """
    params = code.params
    nbytes = tile.width * FLOAT
    with code.loop(code.begin, code.end) as step:
        part, block = code.divide(step, params["blocks"])
        group, across = code.divide(part, params["parts"])
        first = code.product(block, _TILES)
        end = code.least(code.sum(first, _TILES), params["tiles"])
        with code.loop(0, params["samples"]) as sample:
            sample_group = code.sum(code.product(sample, params["groups"]), group)
            planes = code.sum(params["planes"], code.product(sample_group, params["plane_step"]))
            transposed = code.sum(
                params["transposed"],
                code.product(sample_group, params["transposed_step"]),
                code.product(across, nbytes),
            )
            with code.loop(0, params["rows"], params["some"]) as y:
                last = code.least(code.sum(y, params["some"]), params["rows"])
                with code.loop(first, end) as number:
                    terms = code.product(number, tile.rows)
                    at = code.sum(params["offsets"], code.product(terms, 8))
                    offsets = [code.load_int64(code.sum(at, i * 8)) for i in range(tile.rows)]
                    total = code.sum(code.product(part, params["tiles"]), number)
                    total = code.sum(params["totals"], code.product(total, tile.rows, nbytes))
                    lines = [code.sum(planes, offset) for offset in offsets]
                    _add_rows(code, tile, (y, last), lines, transposed, total)


def _add_rows(
    code: Assembler,
    tile: _Tile,
    rows: tuple[Value, Value],
    lines: list[Value],
    transposed: Value,
    total: Value,
) -> None:
    """Add the products of some rows of an output to the sums at an address."""
    params = code.params
    nbytes = tile.width * FLOAT

    def row(y: Value, sums: list[Value]) -> list[Value]:
        down = code.product(y, params["line"])
        starts = [code.sum(line, down) for line in lines]
        source = code.sum(transposed, code.product(y, params["columns"], params["transposed_row"]))

        def column(x: Value, sums: list[Value]) -> list[Value]:
            line = code.sum(source, code.product(x, params["transposed_row"]))
            right = code.product(x, FLOAT)
            return _added(code, tile, line, [code.sum(at, right) for at in starts], sums)

        return code.fold(0, params["columns"], 1, sums, column)

    sums = code.fold(*rows, 1, [code.zeros()] * (tile.rows * tile.vectors), row)
    for i, vectors in enumerate(_by_row(tile, sums)):
        at = code.sum(total, i * nbytes)
        before = _load_row(code, tile.vectors, at)
        _store_row(code, [code.add(x, y) for x, y in zip(before, vectors, strict=True)], at)


@cache
def _kernel(source: str) -> CompiledKernel:
    return compile_kernel(source)


def _run(kernel: CompiledKernel, steps: int, work: int, *params: int) -> None:
    """Run a kernel, with the work of a step for the choice of threads."""
    kernel(steps, np.array(params, np.int64), max(1, _GRAIN // max(1, work)))


def _chunks(samples: int, elements: int) -> Iterator[slice]:
    step = max(1, _SCRATCH // max(1, elements))
    for start in range(0, samples, step):
        yield slice(start, min(start + step, samples))


class _Image:
    """Memory for the planes of some samples."""

    def __init__(self, planes: Planes, samples: int, channels: int) -> None:
        self._planes = planes
        self.channel = len(planes.phases) * planes.elements
        self.memory = np.empty(samples * channels * self.channel + _BEHIND, np.float32)

    def copy(self, image: Array) -> None:
        """Copy samples."""
        planes = self._planes
        steps = image.shape[0] * image.shape[1]
        self.memory[steps * self.channel :] = 0
        sizes = (*planes.size, *planes.extent, *planes.step, *planes.origin)
        phases = (n for pair in planes.phases for n in pair)
        _run(
            *(_kernel(_COPY), steps, self.channel, address(image), address(self.memory)),
            *(*sizes, planes.elements, len(planes.phases), *phases),
        )


class Filters(NamedTuple):
    """How the weight is read: as (groups, rows, channels, window), from any steps.

    Attributes:
        weight: The weight, contiguous.
        groups: Number of groups.
        rows: Channels of a group's output.
        channels: Channels of a group's image.
        steps: Elements from one group, row and channel to the next.
    """

    weight: Array
    groups: int
    rows: int
    channels: int
    steps: tuple[int, int, int]

    def packed(self, taps: Array, tile: _Tile) -> Array:
        """Return the factors of each tile of rows, in the order of the terms."""
        tiles = -(-self.rows // tile.rows)
        packed = np.empty((self.groups, tiles, self.channels * len(taps) * tile.rows), np.float32)
        _run(
            _kernel(_PACK.replace("{rows}", str(tile.rows))),
            *(self.groups * tiles * self.channels, len(taps) * tile.rows),
            *(address(self.weight), address(packed), address(taps)),
            *(self.rows, tiles, self.channels, len(taps), *self.steps),
        )
        return packed


def filters_forward(weight: Array, groups: int) -> Filters:
    """Return how a convolution reads a weight (filters, channels per group, *window)."""
    channels, window = weight.shape[1], math.prod(weight.shape[2:])
    rows = weight.shape[0] // groups
    return Filters(
        weight, groups, rows, channels, (rows * channels * window, channels * window, window)
    )


def filters_backward(weight: Array, groups: int) -> Filters:
    """Return how the gradient of a convolution's data reads the weight."""
    _, _, rows, channels, (group_step, channel_step, row_step) = filters_forward(weight, groups)
    return Filters(weight, groups, channels, rows, (group_step, row_step, channel_step))


def products(
    image: Array, filters: Filters, out: Array, every: Sequence[Sums], bias: Array | None = None
) -> None:
    """Set the output to sums of products of filters and pixels.

    Args:
        image: Array (N, C, H, W), as all of these float32 and contiguous.
        filters: The filters.
        out: Array (N, rows of all groups, H, W).
        every: The sums, of one image.
        bias: What is added to each row.
    """
    tile = row_tile(filters.rows)
    samples, channels, groups = len(image), image.shape[1], filters.groups
    tiles = -(-filters.rows // tile.rows)
    panels = [-(-sums.positions // tile.width) for sums in every]
    elements = (max(panels) * tile.width // LINE | 1) * LINE
    bias = np.zeros(out.shape[1], np.float32) if bias is None else bias
    packed = [filters.packed(sums.taps, tile) for sums in every]
    made = len(every[0].planes.phases) * every[0].planes.elements * channels
    sums_of = groups * tiles * tile.rows * elements
    chunks = list(_chunks(samples, made + sums_of))
    most = chunks[0].stop
    planes = _Image(every[0].planes, most, channels)
    results = np.empty(most * sums_of, np.float32)
    for chunk in chunks:
        planes.copy(image[chunk])
        for sums, factors, count in zip(every, packed, panels, strict=True):
            sample_groups = (chunk.stop - chunk.start) * groups
            terms = len(sums.offsets)
            some = _panels_together(factors.nbytes, planes.channel * filters.channels, count)
            blocks = -(-count // some)
            _run(
                *(_products_kernel(tile), sample_groups * blocks),
                some * terms * tiles * tile.rows * tile.vectors,
                *(address(planes.memory), address(factors), address(sums.offsets)),
                *(address(results), terms, count, blocks, some, groups, tiles),
                planes.channel * filters.channels * FLOAT,
                factors.nbytes // groups,
                *(tiles * tile.rows * elements * FLOAT, elements * FLOAT),
            )
            _store(results, out[chunk], bias, sums, elements, (filters.rows, tiles * tile.rows))


def _panels_together(weights: int, image: int, panels: int) -> int:
    """Return how many panels use a tile of weights in turn: several if a cache holds not all."""
    if weights <= _CACHED:
        return 1
    return max(1, min(_CACHED * panels // (FLOAT * image), -(-panels // _BLOCKS)))


def _store(
    results: Array, out: Array, bias: Array, sums: Sums, elements: int, rows: tuple[int, int]
) -> None:
    samples, channels, height, width = out.shape
    start = address(out) + (sums.first[0] * width + sums.first[1]) * FLOAT
    _run(
        *(_kernel(_STORE), samples * channels, sums.counts[0] * sums.counts[1]),
        *(address(results), start, address(bias), *sums.counts, sums.planes.extent[1]),
        *(*rows, elements, height * width, sums.step[0] * width, sums.step[1], channels),
    )


def term_sums(image: Array, grad: Array, out: Array, sums: Sums, groups: int) -> None:
    """Set the output to the gradient of a convolution's weight.

    Args:
        image: Array (N, C, H, W), as all of these float32 and contiguous.
        grad: Array (N, filters, *counts), the gradient of the output.
        out: Array (filters, channels per group, *window).
        sums: The sums of the output.
        groups: Number of groups.
    """
    samples, channels = image.shape[:2]
    filters, terms = grad.shape[1] // groups, len(sums.offsets)
    tile = _term_tile(filters)
    parts, tiles = -(-filters // tile.width), -(-terms // tile.rows)
    padded, blocks = parts * tile.width, -(-tiles // _TILES)
    offsets = np.resize(sums.offsets, tiles * tile.rows)
    positions = math.prod(sums.counts)
    totals = np.zeros((groups, parts, tiles * tile.rows, tile.width), np.float32)
    made = len(sums.planes.phases) * sums.planes.elements * channels
    chunks = list(_chunks(samples, made + groups * positions * padded))
    planes = _Image(sums.planes, chunks[0].stop, channels)
    transposed = np.empty(chunks[0].stop * groups * positions * padded, np.float32)
    for chunk in chunks:
        count = chunk.stop - chunk.start
        planes.copy(image[chunk])
        _run(
            *(_kernel(_TRANSPOSE), count * groups * -(-positions // 16), 16 * padded),
            *(address(grad[chunk]), address(transposed), positions, filters, padded),
        )
        _run(
            *(_term_sums_kernel(tile), groups * parts * blocks),
            _TILES * tile.rows * tile.vectors * positions * count,
            *(address(planes.memory), address(transposed), address(offsets), address(totals)),
            *(tiles, blocks, groups, count, *sums.counts, sums.planes.extent[1] * FLOAT),
            max(1, _POSITIONS // sums.counts[1]),
            planes.channel * (channels // groups) * FLOAT,
            *(positions * padded * FLOAT, padded * FLOAT, parts),
        )
    _run(
        _kernel(_GATHER_TOTALS.format(line=LINE, width=tile.width)),
        *(groups * -(-filters // LINE), LINE * terms),
        *(address(totals), address(out), filters, terms, parts, tiles * tile.rows),
    )
