"""The kernels of `gluonish.kernels.generated.winograd`.

Convolving four data elements with three filter elements (or with a gradient of two) takes four
products of linear combinations; in two dimensions sixteen, for a *tile* of 4 x 4 data. The
combinations are matrices (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray,
Fast Algorithms for Convolutional Neural Networks, 2016, section 4): with filter f, data d, gradient
g and elementwise products, the outputs are ``A (F f F' * D d D') A'`` and the gradient of the
filter is ``W (G g G' * D d D') W'``.

Images are (N, H, W, C). Transformed arrays are sixteen *planes* of (rows, channels), whose rows are
tiles or filters. There is a gap of `GAP` elements between planes, so that they do not compete for
the same sets of a cache. The tiles are split into *shares*, one for each thread, with separate
scratch memory. A share is processed in *passes* of as many tiles as fit the core's cache.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes

POINTS = 16  # products per tile
GAP = 16  # elements
# Rows and columns of filter planes that a thread fills at a time.
FILTER_ROWS = 16
_FILTER_COLUMNS = 32
_FLOAT = 4  # bytes

_Matrix = Sequence[Sequence[float]]
_D: _Matrix = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
_F: _Matrix = ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1))
_A: _Matrix = ((1, 1, 1, 0), (0, 1, -1, -1))
_G: _Matrix = ((1, 0), (0.5, 0.5), (0.5, -0.5), (0, 1))
_W: _Matrix = ((1, 1, 1, 0), (0, 1, -1, 0), (0, 1, 1, -1))

# The params of each kernel, in order; addresses end in `_at`. `space` is the bytes of scratch
# memory of a share; `left` and `product` are the offsets of its left planes and products. `calls`
# are, for each share, the stream and the arguments to execute `primitive` with. Steps count
# elements.
_SHARES = (
    "status total share chunk rows columns scratch_at space left product "
    "execute_at primitive count calls_at "
)
OUTPUT_PARAMS = (
    _SHARES + "data_at zeros_at out_at bias_at addend_at "
    "height width channels pad out_height out_width out_channels"
)
GRADIENT_PARAMS = (
    _SHARES + "right grad_at data_at zeros_at "
    "height width channels pad grad_height grad_width grad_channels"
)
_FILTER_STEPS = "rows columns row_step column_step y_step x_step"
FILTER_PARAMS = f"filters_at planes_at {_FILTER_STEPS}"
SUMS_PARAMS = f"scratch_at space product shares out_at {_FILTER_STEPS}"


def output_kernel(*, with_bias: bool, with_addend: bool, relu: bool) -> CompiledKernel:
    """Return the kernel that convolves data with planes of filters; a step is a share.

    It then adds a bias (channels,), adds an addend with the layout of the outputs, which may be in
    the outputs' memory, and applies a ReLU.
    """
    kind = f"bias {with_bias} addend {with_addend} relu {relu}"
    epilogue = _Epilogue(with_bias, with_addend, relu)
    return _compiled(f"outputs {kind}", OUTPUT_PARAMS, lambda code: _outputs(code, epilogue))


def gradient_kernel() -> CompiledKernel:
    """Return the kernel that sums products of transformed gradients and data; a step is a share."""
    return _compiled("gradient", GRADIENT_PARAMS, _gradient)


def filter_kernel() -> CompiledKernel:
    """Return the kernel that transforms filters to planes; a step is `FILTER_ROWS` rows."""
    return _compiled("filters", FILTER_PARAMS, _filters)


def sums_kernel() -> CompiledKernel:
    """Return the kernel that adds and transforms `gradient_kernel`'s results; a step is a row."""
    return _compiled("sums", SUMS_PARAMS, _sums)


def _compiled(name: str, params: str, write: Callable[[Assembler], None]) -> CompiledKernel:
    def text() -> str:
        code = Assembler(params)
        write(code)
        return code.finish()

    return compile_assembly(f"winograd {name} {lanes()}", text, __name__)


class _Epilogue(NamedTuple):
    """The operations on outputs before they are stored."""

    with_bias: bool
    with_addend: bool
    relu: bool


class _Planes:
    """Planes of (rows, channels) at address ``at``."""

    def __init__(self, code: Assembler, at: Value, rows: Value, channels: Value) -> None:
        self._code = code
        self._at = at
        self._row = code.product(channels, _FLOAT)
        self._step = code.sum(code.product(rows, self._row), GAP * _FLOAT)

    def row(self, row: Value) -> list[Value]:
        """Return the address of a row in each plane."""
        start = self._code.sum(self._at, self._code.product(row, self._row))
        return [self._code.sum(start, self._code.product(self._step, i)) for i in range(POINTS)]


class _Images:
    """Images (N, H, W, C) in memory, for a kernel that reads or writes tiles of them.

    Args:
        name: Prefix of the param that has the address.
        prefix: Prefix of the params that have the extents.
        pad: Rows and columns of zeros around each image.
    """

    def __init__(self, code: Assembler, name: str, prefix: str, pad: Value | int = 0) -> None:
        params = code.params
        self._code = code
        self.at = params[f"{name}_at"]
        self.height, self.width = params[f"{prefix}height"], params[f"{prefix}width"]
        self.channels = params[f"{prefix}channels"]
        self.pixel = code.product(self.channels, _FLOAT)
        self.pad = pad

    def pixel_offset(self, n: Value, y: Value, x: Value) -> Value:
        """Return the offset of a pixel in bytes."""
        code = self._code
        line = code.sum(code.product(n, self.height), y)
        return code.product(code.sum(code.product(line, self.width), x), self.pixel)


class _Tile:
    """The image of tile ``first + t``, and the first row and column of its outputs."""

    def __init__(self, code: Assembler, first: Value, t: Value) -> None:
        params = code.params
        self.number = code.sum(first, t)
        self.image, rest = code.divide(self.number, code.product(params["rows"], params["columns"]))
        y, x = code.divide(rest, params["columns"])
        self.y, self.x = code.product(y, 2), code.product(x, 2)


def _outputs(code: Assembler, epilogue: _Epilogue) -> None:
    params = code.params
    data = _Images(code, "data", "", params["pad"])
    out = _Images(code, "out", "out_")
    with code.loop(code.begin, code.end) as share:
        base = code.sum(params["scratch_at"], code.product(share, params["space"]))
        planes = _Planes(code, code.sum(base, params["left"]), params["chunk"], data.channels)
        products = _Planes(code, code.sum(base, params["product"]), params["chunk"], out.channels)
        start, stop = _share_bounds(code, share)
        with code.loop(start, stop, params["chunk"]) as first:
            with code.loop(0, params["chunk"]) as t:
                _read(code, _D, data, planes, _Tile(code, first, t), t, stop)
            _multiply(code, share)
            count = code.least(params["chunk"], code.difference(stop, first))
            with code.loop(0, count) as t:
                _write(code, products, out, _Tile(code, first, t), t, epilogue)


def _gradient(code: Assembler) -> None:
    params = code.params
    data = _Images(code, "data", "", params["pad"])
    grad = _Images(code, "grad", "grad_")
    with code.loop(code.begin, code.end) as share:
        base = code.sum(params["scratch_at"], code.product(share, params["space"]))
        lefts = _Planes(code, code.sum(base, params["left"]), params["chunk"], grad.channels)
        rights = _Planes(code, code.sum(base, params["right"]), params["chunk"], data.channels)
        sums = code.sum(base, params["product"])
        size = code.sum(code.product(grad.channels, data.channels), GAP)
        with code.loop(0, code.product(size, POINTS * _FLOAT), _FLOAT * lanes()) as at:
            code.store(code.zeros(), code.sum(sums, at))
        start, stop = _share_bounds(code, share)
        with code.loop(start, stop, params["chunk"]) as first:
            with code.loop(0, params["chunk"]) as t:
                _read(code, _G, grad, lefts, _Tile(code, first, t), t, stop)
            with code.loop(0, params["chunk"]) as t:
                _read(code, _D, data, rights, _Tile(code, first, t), t, stop)
            _multiply(code, share)


def _share_bounds(code: Assembler, share: Value) -> tuple[Value, Value]:
    """Return the first tile of a share, and the end of the share."""
    start = code.product(share, code.params["share"])
    return start, code.least(code.sum(start, code.params["share"]), code.params["total"])


def _multiply(code: Assembler, share: Value) -> None:
    params = code.params
    call = code.sum(params["calls_at"], code.product(share, 16))
    stream, arguments = code.load_int64(call), code.load_int64(code.sum(call, 8))
    status = code.invoke(
        params["execute_at"], params["primitive"], stream, params["count"], arguments
    )
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
    """Transform a tile of images to row ``t`` of planes; tiles after the last become zeros."""
    extent = range(len(matrix[0]))
    y, x = code.difference(tile.y, images.pad), code.difference(tile.x, images.pad)
    corner = images.pixel_offset(tile.image, y, x)
    is_tile = code.less(tile.number, stop)
    rows = [code.both(is_tile, code.within(code.sum(y, i), images.height)) for i in extent]
    columns = [code.within(code.sum(x, j), images.width) for j in extent]
    zeros = code.params["zeros_at"]
    addresses = []
    for i in extent:
        line = code.sum(images.at, corner, code.product(images.width, images.pixel, i))
        pixels = [code.sum(line, code.product(images.pixel, j)) for j in extent]
        addresses.append(
            [code.select(code.both(rows[i], columns[j]), pixels[j], zeros) for j in extent]
        )
    targets = planes.row(t)
    with code.loop(0, images.pixel, _FLOAT * lanes()) as c:
        loaded = [[code.load(code.sum(pixel, c)) for pixel in line] for line in addresses]
        for vector, target in zip(_flat(_transform(code, matrix, loaded)), targets, strict=True):
            code.store(vector, code.sum(target, c))


def _write(
    code: Assembler, products: _Planes, out: _Images, tile: _Tile, t: Value, epilogue: _Epilogue
) -> None:
    """Transform row ``t`` of the products to the outputs of a tile.

    Outputs outside the image are stored at the address of an output inside, and overwritten by it.
    """
    corner = out.pixel_offset(tile.image, tile.y, tile.x)
    right = code.select(code.less(code.sum(tile.x, 1), out.width), out.pixel, 0)
    line = code.product(out.width, out.pixel)
    below = code.select(code.less(code.sum(tile.y, 1), out.height), line, 0)
    # If only one is outside, `right + below` would be the address of another output than the first.
    is_inside = code.both(code.less(0, right), code.less(0, below))
    last = code.select(is_inside, code.sum(right, below), 0)
    offsets = [code.sum(corner, offset) for offset in (0, right, below, last)]
    sources = products.row(t)
    with code.loop(0, out.pixel, _FLOAT * lanes()) as c:
        loaded = [code.load(code.sum(source, c)) for source in sources]
        results = _flat(_transform(code, _A, _square(loaded)))
        positions = [code.sum(offset, c) for offset in offsets]
        if epilogue.with_bias:
            bias = code.load(code.sum(code.params["bias_at"], c))
            results = [code.add(result, bias) for result in results]
        if epilogue.with_addend:
            more = [code.load(code.sum(code.params["addend_at"], x)) for x in positions]
            results = [code.add(result, x) for result, x in zip(results, more, strict=True)]
        if epilogue.relu:
            results = [code.relu(result) for result in results]
        for result, position in reversed(list(zip(results, positions, strict=True))):
            code.store(result, code.sum(out.at, position))


def _filters(code: Assembler) -> None:
    """Transform filters (contiguous elements) to planes (contiguous columns).

    Elements are first copied one by one to the first nine planes, as gather instructions would take
    several times as long.
    """
    params = code.params
    planes = _Planes(code, params["planes_at"], params["rows"], params["columns"])
    with code.loop(code.begin, code.end) as block:
        top = code.product(block, FILTER_ROWS)
        bottom = code.least(code.sum(top, FILTER_ROWS), params["rows"])
        with code.loop(0, params["columns"], _FILTER_COLUMNS) as left:
            right = code.least(code.sum(left, _FILTER_COLUMNS), params["columns"])
            with code.loop(left, right) as c, code.loop(top, bottom) as row:
                sources = _elements(code, params["filters_at"], row, c)
                for source, target in zip(sources, planes.row(row)[:9], strict=True):
                    code.copy(source, code.sum(target, code.product(c, _FLOAT)))
            with code.loop(top, bottom) as row:
                _transform_row(code, _F, planes.row(row), left, right)


def _sums(code: Assembler) -> None:
    """Add the shares' sums, and transform them back to filters."""
    params = code.params
    columns = params["columns"]
    first = code.sum(params["scratch_at"], params["product"])
    planes = _Planes(code, first, params["rows"], columns)
    with code.loop(code.begin, code.end) as row:
        totals = planes.row(row)
        with code.loop(1, params["shares"]) as share:
            at = code.sum(first, code.product(share, params["space"]))
            others = _Planes(code, at, params["rows"], columns).row(row)
            with code.loop(0, code.product(columns, _FLOAT), _FLOAT * lanes()) as c:
                for x, y in zip(totals, others, strict=True):
                    total = code.add(code.load(code.sum(x, c)), code.load(code.sum(y, c)))
                    code.store(total, code.sum(x, c))
        _transform_row(code, _W, totals, code.number(0), columns)
        with code.loop(0, columns) as c:
            targets = _elements(code, params["out_at"], row, c)
            for source, target in zip(totals[:9], targets, strict=True):
                code.copy(code.sum(source, code.product(c, _FLOAT)), target)


def _elements(code: Assembler, at: Value, row: Value, column: Value) -> list[Value]:
    """Return the addresses of the nine elements of a filter."""
    params = code.params
    start = code.sum(
        code.product(row, params["row_step"]), code.product(column, params["column_step"])
    )
    steps = [
        code.sum(start, code.product(params["y_step"], i), code.product(params["x_step"], j))
        for i in range(3)
        for j in range(3)
    ]
    return [code.sum(at, code.product(step, _FLOAT)) for step in steps]


def _transform_row(
    code: Assembler, matrix: _Matrix, planes: Sequence[Value], left: Value, right: Value
) -> None:
    """Transform columns of a row in place; the matrix determines how many planes that changes."""
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
    """Return ``matrix tile matrix'``."""
    columns = [[code.combine(row, column) for row in matrix] for column in zip(*tile, strict=True)]
    lines = zip(*columns, strict=True)
    return [[code.combine(row, line) for row in matrix] for line in lines]


def _square(vectors: Sequence[Value]) -> list[Sequence[Value]]:
    extent = math.isqrt(len(vectors))
    return [vectors[i : i + extent] for i in range(0, len(vectors), extent)]


def _flat(lines: Sequence[Sequence[Value]]) -> list[Value]:
    return [value for line in lines for value in line]
