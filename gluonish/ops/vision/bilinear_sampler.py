"""GridGenerator, BilinearSampler and SpatialTransformer: sample images on a grid.

A grid (N, 2, H, W) holds x and y of every output pixel: -1 is the first pixel of the source image
and 1 the last one. Values outside the image are 0.

References:
    M. Jaderberg, K. Simonyan, A. Zisserman, K. Kavukcuoglu, Spatial Transformer Networks, 2015.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, optional, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.linalg.matmul import batch_dot
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.concat import concat
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.bilinear_points import Read, bilinear_points_gradients, read_bilinear
from gluonish.ops.vision.regions import check_floating, check_pair, check_rank


def _no_elements(spec: Spec) -> Spec:
    """Return the spec of a placeholder for an output that only MXNet's kernels need."""
    return Spec((0,), spec.dtype)


def _even(xp: ModuleType, count: int, dtype: Any) -> Any:
    """Return the coordinates of ``count`` pixels from -1 to 1; a single pixel is at -1."""
    return -1 + xp.arange(count, dtype=dtype) * (2 / (count - 1) if count > 1 else 0)


def _target_grid(xp: ModuleType, target: Shape, dtype: Any) -> Any:
    """Return x, y and 1 of every pixel, (3, H * W)."""
    height, width = target
    grid = xp.ones((3, height, width), dtype)
    grid[0] = _even(xp, width, dtype)
    grid[1] = _even(xp, height, dtype)[:, None]
    return grid.reshape(3, height * width)


def _check_affine(operator: str, parameters: Spec, target: Shape) -> None:
    check_pair(operator, "target_shape", target)
    if len(parameters.shape) != 2 or parameters.shape[1] != 6:
        raise OperatorError(
            f"{operator}: expected affine parameters (N, 6), got {parameters.shape}"
        )


def _grid_infer(data: Spec, *, transform_type: str, target_shape: Shape) -> tuple[Spec, Spec]:
    check_floating("GridGenerator", data)
    if transform_type == "affine":
        _check_affine("GridGenerator", data, target_shape)
        out = limited("GridGenerator", (data.shape[0], 2, *target_shape))
        return Spec(out, data.dtype), _no_elements(data)
    check_rank("GridGenerator", "data", data, "N 2 H W")
    if data.shape[1] != 2:
        raise OperatorError(f"GridGenerator: expected data (N, 2, H, W), got {data.shape}")
    return data, _no_elements(data)


def _affine_grid(xp: ModuleType, parameters: Any, target: Shape) -> Any:
    wide = widen(parameters).reshape(-1, 2, 3)
    return (wide @ _target_grid(xp, target, wide.dtype)).reshape(-1, 2, *target)


def _grid_kernel(
    xp: ModuleType, out: Any, data: Any, *, transform_type: str, target_shape: Shape
) -> None:
    if transform_type == "affine":
        out[0][...] = _affine_grid(xp, data, target_shape)
        return
    flow = widen(data)
    height, width = data.shape[2:]
    for i, (extent, base) in enumerate(
        ((width, xp.arange(width)), (height, xp.arange(height)[:, None]))
    ):
        half = (extent - 1) / 2
        out[0][:, i] = (flow[:, i] + base.astype(flow.dtype)) / flow.dtype.type(half) - 1


def _warp_gradient(g: V) -> Any:
    height, width = g.shape[2:]
    flow = [
        slice_axis(g, 1, i, i + 1) * (2 / (extent - 1) if extent > 1 else 0.0)
        for i, extent in enumerate((width, height))
    ]
    return concat(flow, 1)


def _affine_gradient(g: V, parameters: V, target: Shape) -> Any:
    base = apply(_GRID_BASE, (parameters,), {"target_shape": target})
    flat = reshape(g, (g.shape[0], 2, target[0] * target[1]))
    return reshape(batch_dot(flat, base, transpose_b=True), parameters.shape)


def _grid_gradient(
    g: tuple[V | None, ...], data: V, *, transform_type: str, target_shape: Shape
) -> tuple[Any]:
    head = g[0]
    if head is None:
        return (None,)
    if transform_type == "warp":
        return (lambda: _warp_gradient(head),)
    return (lambda: _affine_gradient(head, data, target_shape),)


def _base_kernel(xp: ModuleType, out: Any, like: Any, *, target_shape: Shape) -> None:
    out[...] = _target_grid(xp, target_shape, widen(like).dtype)


_GRID_BASE = register(
    Operator(
        "_grid_generator_base",
        lambda like, *, target_shape: (
            Spec((like.shape[0], 3, target_shape[0] * target_shape[1]), like.dtype),
        ),
        _base_kernel,
        zero_gradient,
        doc="Return x, y and 1 for every pixel of a grid, for each sample of like.",
        inputs=("like",),
        schema=Schema(target_shape=shape()),
    )
)

GRID_GENERATOR = register(
    Operator(
        "GridGenerator",
        _grid_infer,
        _grid_kernel,
        _grid_gradient,
        doc=(
            "Generate sampling grids for BilinearSampler.\n\n"
            "'affine': each row of data is a matrix (2, 3) that multiplies (x, y, 1) of the\n"
            "pixels of target_shape. 'warp': data is a flow in pixels, added to each pixel's\n"
            "position.\n\n"
            "Shapes: data (N, 6) or (N, 2, H, W), output (N, 2, *target_shape) or (N, 2, H, W)."
        ),
        schema=Schema(transform_type=choice("affine", "warp"), target_shape=shape((0, 0))),
        outputs=2,
        visible=1,
        output_names=("output", "grid_dst"),
    )
)


def _sampler_infer(data: Spec, grid: Spec, *, cudnn_off: bool | None) -> tuple[Spec, Spec]:
    check_floating("BilinearSampler", data, grid)
    check_rank("BilinearSampler", "data", data, "N C H W")
    if len(grid.shape) != 4 or grid.shape[:2] != (data.shape[0], 2):
        raise OperatorError(
            f"BilinearSampler: expected grid ({data.shape[0]}, 2, H, W), got {grid.shape}"
        )
    out = limited("BilinearSampler", (*data.shape[:2], *grid.shape[2:]))
    return Spec(out, data.dtype), _no_elements(data)


def _sample(xp: ModuleType, out: Any, data: Any, grid: Any, read: Read) -> None:
    """Fill ``out`` with images sampled at a grid of the accumulator's dtype."""
    points = grid.reshape(len(grid), 2, math.prod(grid.shape[2:]))
    height, width = data.shape[2:]
    rows = (points[:, 1] + 1) * ((height - 1) / 2)
    columns = (points[:, 0] + 1) * ((width - 1) / 2)
    out[...] = read(xp, data, rows, columns, "zeros").reshape(out.shape)


def sampler_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    grid: Any,
    *,
    cudnn_off: bool | None,
    read: Read = read_bilinear,
) -> None:
    """Fill the output; ``read`` samples the images."""
    _sample(xp, out[0], data, widen(grid), read)


def _sampler_gradients(g: V, data: V, grid: V) -> tuple[Any, Any]:
    """Return the gradients of images and grid."""
    batch, _, *size = grid.shape
    count = size[0] * size[1]
    halves = [(extent - 1) / 2 for extent in data.shape[2:]]
    points = reshape(grid, (batch, 2, count))
    columns, rows = (reshape(slice_axis(points, 1, i, i + 1), (batch, count)) for i in range(2))
    images, d_rows, d_columns = bilinear_points_gradients(
        reshape(g, (batch, g.shape[1], count)),
        data,
        (rows + 1.0) * halves[0],
        (columns + 1.0) * halves[1],
    )
    slopes = [d_columns * halves[1], d_rows * halves[0]]
    return images, reshape(
        concat([reshape(slope, (batch, 1, count)) for slope in slopes], 1), grid.shape
    )


def _sampler_gradient(
    g: tuple[V | None, ...], data: V, grid: V, *, cudnn_off: bool | None
) -> tuple[Any, Any]:
    return (None, None) if g[0] is None else _sampler_gradients(g[0], data, grid)


BILINEAR_SAMPLER = register(
    Operator(
        "BilinearSampler",
        _sampler_infer,
        sampler_kernel,
        _sampler_gradient,
        doc=(
            "Sample images at the positions in a grid with bilinear interpolation.\n\n"
            "grid holds x and y: -1 is the center of the first pixel, and 1 the center of the\n"
            "last. Pixels outside the image are 0. cudnn_off is accepted and ignored.\n\n"
            "Shapes: data (N, C, H, W), grid (N, 2, H', W'), output (N, C, H', W')."
        ),
        inputs=("data", "grid"),
        schema=Schema(cudnn_off=optional(boolean())),
        outputs=2,
        visible=1,
        output_names=("output", "tmp"),
        execution=Execution(heavy=True),
    )
)


def _transformer_infer(data: Spec, loc: Spec, **attrs: Any) -> tuple[Spec, ...]:
    check_floating("SpatialTransformer", data, loc)
    check_rank("SpatialTransformer", "data", data, "N C H W")
    _check_affine("SpatialTransformer", loc, attrs["target_shape"])
    if loc.shape[0] != data.shape[0]:
        raise OperatorError(
            f"SpatialTransformer: expected loc ({data.shape[0]}, 6), got {loc.shape}"
        )
    out = limited("SpatialTransformer", (*data.shape[:2], *attrs["target_shape"]))
    return Spec(out, data.dtype), _no_elements(data), _no_elements(data)


def transformer_kernel(
    xp: ModuleType, out: Any, data: Any, loc: Any, *, read: Read = read_bilinear, **attrs: Any
) -> None:
    """Fill the output; ``read`` samples the images."""
    _sample(xp, out[0], data, _affine_grid(xp, loc, attrs["target_shape"]), read)


def _transformer_gradient(
    g: tuple[V | None, ...], data: V, loc: V, **attrs: Any
) -> tuple[Any, ...]:
    if g[0] is None:
        return None, None
    grid_attrs = {"transform_type": "affine", "target_shape": attrs["target_shape"]}
    grid = apply(GRID_GENERATOR, (loc,), grid_attrs)
    images, of_grid = _sampler_gradients(g[0], data, grid)
    return images, lambda: _affine_gradient(of_grid, loc, attrs["target_shape"])


SPATIAL_TRANSFORMER = register(
    Operator(
        "SpatialTransformer",
        _transformer_infer,
        transformer_kernel,
        _transformer_gradient,
        doc=(
            "Apply affine transformations to images, with bilinear interpolation.\n\n"
            "Each row of loc is a matrix (2, 3) that maps (x, y, 1) of an output pixel to x and\n"
            "y of the sample; -1 and 1 are the first and last pixel. Pixels outside the image\n"
            "are 0. cudnn_off is accepted and ignored.\n\n"
            "Shapes: data (N, C, H, W), loc (N, 6), output (N, C, *target_shape)."
        ),
        inputs=("data", "loc"),
        schema=Schema(
            target_shape=shape((0, 0)),
            transform_type=choice("affine"),
            sampler_type=choice("bilinear"),
            cudnn_off=optional(boolean()),
        ),
        outputs=3,
        visible=1,
        output_names=("output", "grid_dst", "grid_src"),
        execution=Execution(heavy=True),
    )
)
