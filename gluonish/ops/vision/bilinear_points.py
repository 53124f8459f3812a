"""Bilinear interpolation of images at positions: the core of the samplers.

``border`` selects the values beyond the image. With ``zeros`` the image is padded with pixels of 0,
so that values fade over one pixel. With ``inside``, positions outside [0, extent) give 0, and
positions between the last pixel and the end give the last pixel.
"""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.schema import Schema, choice, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen
from gluonish.ops.vision.points import add_points, gather_points, read_points, scatter_points

_SCHEMA = Schema(border=choice("zeros", "inside"))
Read = Callable[[ModuleType, Any, Any, Any, str], Any]  # as `read_bilinear`
_CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def _axis(xp: ModuleType, x: Any, extent: int, border: str) -> tuple[Any, Any, Any]:
    """Return the pixel before each position, the fraction after it, and where that varies."""
    if border == "inside":
        inner = (x >= 0) & (x < extent)
        free = inner & (x < extent - 1)
        x = xp.where(inner, xp.minimum(x, extent - 1), -2)
    else:
        free = (x > -1) & (x < extent)
        x = xp.where(free, x, -2)  # NaN, too
    first = xp.floor(x)
    return first.astype(INT64), x - first, free


def _corner(
    xp: ModuleType, rows: Any, columns: Any, corner: tuple[int, int], extents: tuple[int, int]
) -> Any:
    """Return the flat index of one of the four pixels around a position, -1 outside the image."""
    row, column = rows + corner[0], columns + corner[1]
    height, width = extents
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    return xp.where(inside, row * width + column, -1)


def _corners(
    xp: ModuleType, rows: Any, columns: Any, extents: tuple[int, int], border: str
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield each corner pixel's index, weight, and derivatives along rows and columns."""
    row, below, row_free = _axis(xp, rows, extents[0], border)
    column, right, column_free = _axis(xp, columns, extents[1], border)
    for corner in _CORNERS:
        i, j = corner
        along_rows = below if i else 1 - below
        along_columns = right if j else 1 - right
        index = _corner(xp, row, column, corner, extents)
        yield (
            index,
            along_rows * along_columns,
            xp.where(row_free, along_columns if i else -along_columns, 0),
            xp.where(column_free, along_rows if j else -along_rows, 0),
        )


def _flat(images: Any) -> Any:
    return images.reshape(*images.shape[:2], images.shape[2] * images.shape[3])


def read_bilinear(xp: ModuleType, data: Any, rows: Any, columns: Any, border: str) -> Any:
    """Return the values (N, C, P) of images (N, C, H, W) at positions (N, P)."""
    data, rows, columns = widen(data), widen(rows), widen(columns)
    flat = _flat(data)
    total = xp.zeros((*data.shape[:2], rows.shape[1]), data.dtype)
    for index, weight, _, _ in _corners(xp, rows, columns, data.shape[2:], border):
        total += read_points(xp, flat, index) * weight[:, None]
    return total


def _infer(data: Spec, rows: Spec, columns: Spec, *, border: str) -> tuple[Spec]:
    return (Spec((*data.shape[:2], rows.shape[1]), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, rows: Any, columns: Any, *, border: str) -> None:
    out[...] = read_bilinear(xp, data, rows, columns, border)


def _gradient(g: V, data: V, rows: V, columns: V, *, border: str) -> tuple[Any, ...]:
    return bilinear_points_gradients(g, data, rows, columns, border)


BILINEAR_POINTS = register(
    Operator(
        "_bilinear_points",
        _infer,
        _kernel,
        _gradient,
        doc="Sample images (N, C, H, W) bilinearly at rows and columns (N, P), as (N, C, P).",
        inputs=("data", "rows", "columns"),
        schema=_SCHEMA,
        execution=Execution(heavy=True),
    )
)


def bilinear_points(data: Any, rows: Any, columns: Any, border: str = "zeros") -> Any:
    """Return values (N, C, P) of images (N, C, H, W) at rows and columns (N, P)."""
    return apply(BILINEAR_POINTS, (data, rows, columns), {"border": border})


def _backward_kernel(
    xp: ModuleType, out: Any, grad: Any, data: Any, rows: Any, columns: Any, *, border: str
) -> None:
    grad, data, rows, columns = widen(grad), widen(data), widen(rows), widen(columns)
    flat = _flat(data)
    images = xp.zeros(flat.shape, flat.dtype)
    row_slopes, column_slopes = xp.zeros(rows.shape, rows.dtype), xp.zeros(rows.shape, rows.dtype)
    corners = _corners(xp, rows, columns, data.shape[2:], border)
    for index, weight, along_rows, along_columns in corners:
        add_points(xp, images, index, (grad * weight[:, None]).astype(images.dtype))
        projected = xp.add.reduce(grad * read_points(xp, flat, index), axis=1)
        row_slopes += projected * along_rows
        column_slopes += projected * along_columns
    out[0][...] = images.reshape(data.shape)
    out[1][...] = row_slopes
    out[2][...] = column_slopes


def _corners_kernel(
    xp: ModuleType, out: Any, rows: Any, columns: Any, *, height: int, width: int, border: str
) -> None:
    row, _, out[6][...] = _axis(xp, widen(rows), height, border)
    column, _, out[7][...] = _axis(xp, widen(columns), width, border)
    out[4][...], out[5][...] = row, column
    for i in range(4):
        out[i][...] = _corner(xp, row, column, _CORNERS[i], (height, width))


_CORNERS_OF = register(
    Operator(
        "_bilinear_corners",
        lambda rows, columns, **_: (*[Spec(rows.shape, INT64)] * 4, *[rows] * 4),
        _corners_kernel,
        zero_gradient,
        doc=(
            "Return the flat indices of the four pixels around each position, the row and\n"
            "column of the first one, and 1 where the weights depend on the row and the column."
        ),
        inputs=("rows", "columns"),
        schema=Schema(height=integer(), width=integer(), border=_SCHEMA.attributes["border"]),
        outputs=8,
        output_names=(*(f"index{i}" for i in range(4)), "row", "column", "row_free", "column_free"),
    )
)


def _composite(grad: Any, data: Any, rows: Any, columns: Any, *, border: str) -> tuple[Any, ...]:
    """Compute `_backward_kernel` with operators."""
    batch, channels, height, width = data.shape
    flat = reshape(data, (batch, channels, height * width))
    extents = {"height": height, "width": width, "border": border}
    *index, first_row, first_column, row_free, column_free = apply(
        _CORNERS_OF, (rows, columns), extents
    )
    # Outside the image the fractions are 0 and constant.
    below, right = (rows - first_row) * row_free, (columns - first_column) * column_free
    points = (batch, 1, rows.shape[1])
    images = d_rows = d_columns = None
    for corner in range(4):
        i, j = _CORNERS[corner]
        along_rows = below if i else below * -1.0 + 1.0
        along_columns = right if j else right * -1.0 + 1.0
        weighted = grad * reshape(along_rows * along_columns, points)
        image = scatter_points(weighted, index[corner], height * width)
        projected = sum_(grad * gather_points(flat, index[corner]), axis=(1,))
        d_row = projected * along_columns * row_free * (1.0 if i else -1.0)
        d_column = projected * along_rows * column_free * (1.0 if j else -1.0)
        images = image if images is None else images + image
        d_rows = d_row if d_rows is None else d_rows + d_row
        d_columns = d_column if d_columns is None else d_columns + d_column
    return reshape(images, data.shape), d_rows, d_columns


BILINEAR_POINTS_BACKWARD = register(
    Operator(
        "_bilinear_points_backward",
        lambda grad, data, rows, columns, **_: (data, rows, columns),
        _backward_kernel,
        composite_gradient(_composite),
        doc="Compute the gradients of images, rows and columns in _bilinear_points.",
        inputs=("grad", "data", "rows", "columns"),
        schema=_SCHEMA,
        outputs=3,
        output_names=("data", "rows", "columns"),
        execution=Execution(heavy=True),
    )
)


def bilinear_points_gradients(
    g: Any, data: Any, rows: Any, columns: Any, border: str = "zeros"
) -> tuple[Any, Any, Any]:
    """Return the gradients of ``bilinear_points(data, rows, columns, border)``."""
    found = apply(BILINEAR_POINTS_BACKWARD, (g, data, rows, columns), {"border": border})
    return found[0], found[1], found[2]
