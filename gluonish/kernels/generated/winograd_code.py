"""The kernels of `gluonish.kernels.generated.winograd`.

A convolution of four data with a filter of three (and of four with a gradient of two) is four
products of sums of data and sums of the filter; in two dimensions sixteen, for a *tile* of 4 x 4
data. The sums are matrices (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray,
Fast Algorithms for Convolutional Neural Networks, 2016, section 4): with filter f, data d, gradient
g and elementwise products, the outputs are ``A (F f F' * D d D') A'`` and the gradient of the
filter is ``W (G g G' * D d D') W'``.

Arrays of images are (N, H, W, C). Transformed ones are sixteen *planes* of (rows, channels), the
rows being tiles or filters; a plane begins `GAP` elements behind the end of the one before, so that
planes do not compete for the same sets of a cache. The tiles are shared out in *parts*, one a
thread, which go through scratch memory of their own in *passes* of so many tiles that it stays in
the thread's cache from one transform over the products to the next.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes

POINTS = 16  # products of a tile
GAP = 16  # elements
# Rows of planes of filters that a thread fills at a time, and columns.
FILTER_ROWS = 16
_FILTER_COLUMNS = 32
_FLOAT = 4  # bytes

_Matrix = Sequence[Sequence[float]]
_D: _Matrix = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
_F: _Matrix = ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1))
_A: _Matrix = ((1, 1, 1, 0), (0, 1, -1, -1))
_G: _Matrix = ((1, 0), (0.5, 0.5), (0.5, -0.5), (0, 1))
_W: _Matrix = ((1, 1, 1, 0), (0, 1, -1, 0), (0, 1, 1, -1))

# The words of each kernel, in order: addresses end in `_at`. `space` is the bytes of scratch memory
# that a part has, and its left planes and products begin so many bytes into it. `calls` are, for
# each part, the stream and the arguments that `primitive` is executed with. Steps count elements.
_PARTS = (
    "status total share chunk rows columns scratch_at space left product "
    "execute_at primitive count calls_at "
)
OUTPUT_WORDS = (
    _PARTS + "data_at zeros_at out_at bias_at addend_at "
    "height width channels pad out_height out_width out_channels"
)
GRADIENT_WORDS = (
    _PARTS + "right grad_at data_at zeros_at "
    "height width channels pad grad_height grad_width grad_channels"
)
_FILTER_STEPS = "rows columns row_step column_step y_step x_step"
FILTER_WORDS = f"filters_at planes_at {_FILTER_STEPS}"
SUMS_WORDS = f"scratch_at space product parts out_at {_FILTER_STEPS}"


def output_kernel(*, with_bias: bool, with_addend: bool, relu: bool) -> CompiledKernel:
    """Return the convolution of data with planes of filters; the extent is the parts.

    Bias (channels,) is added, then an addend that lies as the outputs do and may be their memory;
    then negative outputs become zero.
    """
    kind = f"bias {with_bias} addend {with_addend} relu {relu}"
    finish = _Finish(with_bias, with_addend, relu)
    return _compiled(f"outputs {kind}", OUTPUT_WORDS, lambda code: _outputs(code, finish))


def gradient_kernel() -> CompiledKernel:
    """Return the products of transformed gradients and data, summed; the extent is the parts."""
    return _compiled("gradient", GRADIENT_WORDS, _gradient)


def filter_kernel() -> CompiledKernel:
    """Return the transform of filters to planes; the extent is blocks of `FILTER_ROWS` rows."""
    return _compiled("filters", FILTER_WORDS, _filters)


def sums_kernel() -> CompiledKernel:
    """Return the transform of what `gradient_kernel` sums, over all parts; the extent is rows."""
    return _compiled("sums", SUMS_WORDS, _sums)


def _compiled(name: str, words: str, write: Callable[[Assembler], None]) -> CompiledKernel:
    def text() -> str:
        code = Assembler(words)
        write(code)
        return code.finish()

    return compile_assembly(f"winograd {name} {lanes()} {_version()}", text)


@cache
def _version() -> str:
    """What stands in this module, which decides the texts."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


class _Finish(NamedTuple):
    """What is done to outputs before they are written."""

    with_bias: bool
    with_addend: bool
    relu: bool


class _Planes:
    """Planes in memory.

    Args:
        code: What is written.
        at: Address of the first.
        rows: Of each.
        channels: Elements of a row.
    """

    def __init__(self, code: Assembler, at: Value, rows: Value, channels: Value) -> None:
        self._code = code
        self._at = at
        self._row = code.product(channels, _FLOAT)
        self._step = code.sum(code.product(rows, self._row), GAP * _FLOAT)

    def row(self, row: Value) -> list[Value]:
        """The address of a row in each plane."""
        start = self._code.sum(self._at, self._code.product(row, self._row))
        return [self._code.sum(start, self._code.product(self._step, i)) for i in range(POINTS)]


class _Images:
    """Images in memory.

    Args:
        code: What is written.
        name: Their words' names begin so; those of their extents, with a prefix.
        prefix: See ``name``.
        pad: Rows and columns of zeros around them.
    """

    def __init__(self, code: Assembler, name: str, prefix: str, pad: Value | int = 0) -> None:
        words = code.words
        self._code = code
        self.at = words[f"{name}_at"]
        self.height, self.width = words[f"{prefix}height"], words[f"{prefix}width"]
        self.channels = words[f"{prefix}channels"]
        self.pixel = code.product(self.channels, _FLOAT)
        self.pad = pad

    def pixel_offset(self, n: Value, y: Value, x: Value) -> Value:
        """Bytes from the first pixel to one."""
        code = self._code
        line = code.sum(code.product(n, self.height), y)
        return code.product(code.sum(code.product(line, self.width), x), self.pixel)


class _Tile:
    """Where the tile ``first + t`` lies: its image, and the first row and column of its outputs."""

    def __init__(self, code: Assembler, first: Value, t: Value) -> None:
        words = code.words
        self.number = code.sum(first, t)
        self.image, rest = code.divide(self.number, code.product(words["rows"], words["columns"]))
        y, x = code.divide(rest, words["columns"])
        self.y, self.x = code.product(y, 2), code.product(x, 2)


def _outputs(code: Assembler, finish: _Finish) -> None:
    words = code.words
    data = _Images(code, "data", "", words["pad"])
    out = _Images(code, "out", "out_")
    with code.loop(code.begin, code.end) as part:
        own = code.sum(words["scratch_at"], code.product(part, words["space"]))
        planes = _Planes(code, code.sum(own, words["left"]), words["chunk"], data.channels)
        products = _Planes(code, code.sum(own, words["product"]), words["chunk"], out.channels)
        start, stop = _share(code, part)
        with code.loop(start, stop, words["chunk"]) as first:
            with code.loop(0, words["chunk"]) as t:
                _read(code, _D, data, planes, _Tile(code, first, t), t, stop)
            _multiply(code, part)
            count = code.least(words["chunk"], code.difference(stop, first))
            with code.loop(0, count) as t:
                _write(code, products, out, _Tile(code, first, t), t, finish)


def _gradient(code: Assembler) -> None:
    words = code.words
    data = _Images(code, "data", "", words["pad"])
    grad = _Images(code, "grad", "grad_")
    with code.loop(code.begin, code.end) as part:
        own = code.sum(words["scratch_at"], code.product(part, words["space"]))
        lefts = _Planes(code, code.sum(own, words["left"]), words["chunk"], grad.channels)
        rights = _Planes(code, code.sum(own, words["right"]), words["chunk"], data.channels)
        sums = code.sum(own, words["product"])
        size = code.sum(code.product(grad.channels, data.channels), GAP)
        with code.loop(0, code.product(size, POINTS * _FLOAT), _FLOAT * lanes()) as at:
            code.store(code.zeros(), code.sum(sums, at))
        start, stop = _share(code, part)
        with code.loop(start, stop, words["chunk"]) as first:
            with code.loop(0, words["chunk"]) as t:
                _read(code, _G, grad, lefts, _Tile(code, first, t), t, stop)
            with code.loop(0, words["chunk"]) as t:
                _read(code, _D, data, rights, _Tile(code, first, t), t, stop)
            _multiply(code, part)


def _share(code: Assembler, part: Value) -> tuple[Value, Value]:
    """The first tile of a part, and the one behind its last."""
    start = code.product(part, code.words["share"])
    return start, code.least(code.sum(start, code.words["share"]), code.words["total"])


def _multiply(code: Assembler, part: Value) -> None:
    words = code.words
    call = code.sum(words["calls_at"], code.product(part, 16))
    stream, arguments = code.load_word(call), code.load_word(code.sum(call, 8))
    status = code.invoke(words["execute_at"], words["primitive"], stream, words["count"], arguments)
    code.note("status", status)


def _read(
    code: Assembler,
    matrix: _Matrix,
    images: _Images,
    planes: _Planes,
    tile: _Tile,
    t: Value,
    stop: Value,
) -> None:
    """Transform a tile to row ``t`` of planes; one behind the last becomes zeros."""
    extent = range(len(matrix[0]))
    y, x = code.difference(tile.y, images.pad), code.difference(tile.x, images.pad)
    corner = images.pixel_offset(tile.image, y, x)
    is_tile = code.less(tile.number, stop)
    rows = [code.both(is_tile, code.within(code.sum(y, i), images.height)) for i in extent]
    columns = [code.within(code.sum(x, j), images.width) for j in extent]
    zeros = code.words["zeros_at"]
    places = []
    for i in extent:
        line = code.sum(images.at, corner, code.product(images.width, images.pixel, i))
        pixels = [code.sum(line, code.product(images.pixel, j)) for j in extent]
        places.append(
            [code.select(code.both(rows[i], columns[j]), pixels[j], zeros) for j in extent]
        )
    targets = planes.row(t)
    with code.loop(0, images.pixel, _FLOAT * lanes()) as c:
        loaded = [[code.load(code.sum(place, c)) for place in line] for line in places]
        for vector, target in zip(_flat(_transform(code, matrix, loaded)), targets, strict=True):
            code.store(vector, code.sum(target, c))


def _write(
    code: Assembler, products: _Planes, out: _Images, tile: _Tile, t: Value, finish: _Finish
) -> None:
    """Transform row ``t`` of products to the outputs of a tile.

    Outputs outside the image are written where one is that is inside, and that comes later.
    """
    corner = out.pixel_offset(tile.image, tile.y, tile.x)
    right = code.select(code.less(code.sum(tile.x, 1), out.width), out.pixel, 0)
    line = code.product(out.width, out.pixel)
    below = code.select(code.less(code.sum(tile.y, 1), out.height), line, 0)
    # Where only one of both is outside, the last output's place is that of another, not the first.
    is_inside = code.both(code.less(0, right), code.less(0, below))
    last = code.select(is_inside, code.sum(right, below), 0)
    offsets = [code.sum(corner, offset) for offset in (0, right, below, last)]
    sources = products.row(t)
    with code.loop(0, out.pixel, _FLOAT * lanes()) as c:
        loaded = [code.load(code.sum(source, c)) for source in sources]
        results = _flat(_transform(code, _A, _square(loaded)))
        places = [code.sum(offset, c) for offset in offsets]
        if finish.with_bias:
            bias = code.load(code.sum(code.words["bias_at"], c))
            results = [code.add(result, bias) for result in results]
        if finish.with_addend:
            more = [code.load(code.sum(code.words["addend_at"], place)) for place in places]
            results = [code.add(result, x) for result, x in zip(results, more, strict=True)]
        if finish.relu:
            results = [code.relu(result) for result in results]
        for result, place in reversed(list(zip(results, places, strict=True))):
            code.store(result, code.sum(out.at, place))


def _filters(code: Assembler) -> None:
    """Filters lie with their elements next to each other, planes with their columns.

    The copy between them, element by element, goes through the first nine planes: instructions that
    gather elements take several times as long.
    """
    words = code.words
    planes = _Planes(code, words["planes_at"], words["rows"], words["columns"])
    with code.loop(code.begin, code.end) as block:
        top = code.product(block, FILTER_ROWS)
        bottom = code.least(code.sum(top, FILTER_ROWS), words["rows"])
        with code.loop(0, words["columns"], _FILTER_COLUMNS) as left:
            right = code.least(code.sum(left, _FILTER_COLUMNS), words["columns"])
            with code.loop(left, right) as c, code.loop(top, bottom) as row:
                sources = _elements(code, words["filters_at"], row, c)
                for source, target in zip(sources, planes.row(row)[:9], strict=True):
                    code.copy(source, code.sum(target, code.product(c, _FLOAT)))
            with code.loop(top, bottom) as row:
                _transform_row(code, _F, planes.row(row), left, right)


def _sums(code: Assembler) -> None:
    """Add up the parts, and go the way of `_filters` back."""
    words = code.words
    columns = words["columns"]
    first = code.sum(words["scratch_at"], words["product"])
    planes = _Planes(code, first, words["rows"], columns)
    with code.loop(code.begin, code.end) as row:
        own = planes.row(row)
        with code.loop(1, words["parts"]) as part:
            at = code.sum(first, code.product(part, words["space"]))
            others = _Planes(code, at, words["rows"], columns).row(row)
            with code.loop(0, code.product(columns, _FLOAT), _FLOAT * lanes()) as c:
                for x, y in zip(own, others, strict=True):
                    total = code.add(code.load(code.sum(x, c)), code.load(code.sum(y, c)))
                    code.store(total, code.sum(x, c))
        _transform_row(code, _W, own, code.number(0), columns)
        with code.loop(0, columns) as c:
            targets = _elements(code, words["out_at"], row, c)
            for source, target in zip(own[:9], targets, strict=True):
                code.copy(code.sum(source, code.product(c, _FLOAT)), target)


def _elements(code: Assembler, at: Value, row: Value, column: Value) -> list[Value]:
    """The addresses of the nine elements of a filter."""
    words = code.words
    start = code.sum(
        code.product(row, words["row_step"]), code.product(column, words["column_step"])
    )
    steps = [
        code.sum(start, code.product(words["y_step"], i), code.product(words["x_step"], j))
        for i in range(3)
        for j in range(3)
    ]
    return [code.sum(at, code.product(step, _FLOAT)) for step in steps]


def _transform_row(
    code: Assembler, matrix: _Matrix, planes: Sequence[Value], left: Value, right: Value
) -> None:
    """Transform columns of a row in place: as many planes as the matrix takes to those it gives."""
    start, stop = code.product(left, _FLOAT), code.product(right, _FLOAT)
    count = len(matrix[0]) ** 2
    with code.loop(start, stop, _FLOAT * lanes()) as c:
        loaded = [code.load(code.sum(plane, c)) for plane in planes[:count]]
        results = _flat(_transform(code, matrix, _square(loaded)))
        for result, plane in zip(results, planes, strict=False):
            code.store(result, code.sum(plane, c))


def _transform(
    code: Assembler, matrix: _Matrix, tile: Sequence[Sequence[Value]]
) -> list[list[Value]]:
    """``matrix tile matrix'``."""
    columns = [[code.combine(row, column) for row in matrix] for column in zip(*tile, strict=True)]
    lines = zip(*columns, strict=True)
    return [[code.combine(row, line) for row in matrix] for line in lines]


def _square(vectors: Sequence[Value]) -> list[Sequence[Value]]:
    extent = math.isqrt(len(vectors))
    return [vectors[i : i + extent] for i in range(0, len(vectors), extent)]


def _flat(lines: Sequence[Sequence[Value]]) -> list[Value]:
    return [value for line in lines for value in line]
