"""Sampling of images at fractional coordinates: GridSample and RoiAlign."""

from itertools import product
from math import prod
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import INT64
from gluonish.onnx.importing.arrays import array_of, host, integers, is_known
from gluonish.onnx.importing.nodes import Call, Rule


def _unfolded(x: Any, low: float, high: float) -> Any:
    """Reflect coordinates into a range."""
    span = high - low
    if span <= 0:
        return mnp.zeros_like(x)
    away = mnp.abs(x - low)
    turns = mnp.floor(away / span)
    inside = away - turns * span
    odd = mnp.mod(turns, mnp.full_like(turns, 2)) == 1
    return mnp.where(odd, span - inside, inside) + low


def _bounded(x: Any, extent: int, padding: str, *, aligned: bool) -> Any:
    """Bring coordinates into the range of an axis, by the padding mode."""
    if padding == "reflection":
        ends = (0.0, extent - 1.0) if aligned else (-0.5, extent - 0.5)
        x = _unfolded(x, *ends)
    return mnp.clip(x, 0, extent - 1)


def _read(x: Any, indices: list[Any]) -> Any:
    """Return elements (N, C, P) at integer coordinates (N, P) of each axis."""
    spatial = x.shape[2:]
    flat: Any = None
    for index, extent in zip(indices, spatial, strict=True):
        flat = index if flat is None else flat * extent + index
    batch, channels, size = x.shape[0], x.shape[1], prod(spatial)
    first = array_of((np.arange(batch) * size).reshape(-1, 1))
    rows = mnp.reshape(mnp.moveaxis(x, 1, -1), (batch * size, channels))
    found = mnp.take(rows, flat.astype(INT64) + first, axis=0, mode="clip")
    return mnp.moveaxis(found, -1, 1)


def _corner(x: Any, indices: list[Any], padding: str, *, aligned: bool) -> Any:
    """Return elements at integer coordinates, which may be out of range."""
    inside = [
        _bounded(p, n, padding, aligned=aligned) for p, n in zip(indices, x.shape[2:], strict=True)
    ]
    found = _read(x, inside)
    if padding != "zeros":
        return found
    present: Any = 1
    for p, n in zip(indices, x.shape[2:], strict=True):
        present = present * ((p >= 0).astype(x.dtype) * (p <= n - 1).astype(x.dtype))
    return found * mnp.expand_dims(present, 1)


def _cubic_weights(t: Any) -> list[Any]:
    a = -0.75
    far, near = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (t + 1, 2 - t)], []
    for d in (t, 1 - t):
        near.append(((a + 2) * d - (a + 3)) * d * d + 1)
    return [far[0], near[0], near[1], far[1]]


def _grid_sample(call: Call, x: Any, grid: Any) -> Any:
    mode = call.attr("mode", "linear").replace("bilinear", "linear").replace("bicubic", "cubic")
    padding = call.attr("padding_mode", "zeros")
    aligned = bool(call.attr("align_corners", 0))
    rank, batch = len(x.shape) - 2, x.shape[0]
    points = mnp.reshape(grid, (batch, -1, rank)).astype(x.dtype)
    indices = []
    for i, extent in enumerate(x.shape[2:]):
        g = points[:, :, rank - 1 - i]  # the order of axes is reversed
        indices.append((g + 1) / 2 * (extent - 1) if aligned else ((g + 1) * extent - 1) / 2)
    found = _between(x, indices, mode, padding, aligned=aligned)
    return mnp.reshape(found, (*x.shape[:2], *grid.shape[1:-1]))


def _between(x: Any, indices: list[Any], mode: str, padding: str, *, aligned: bool) -> Any:
    """Interpolate elements at fractional coordinates."""
    if mode == "nearest":
        whole = [mnp.around(p) for p in indices]
        return _corner(x, whole, padding, aligned=aligned)
    if mode == "linear" and padding != "zeros":
        extents = x.shape[2:]
        indices = [
            _bounded(p, n, padding, aligned=aligned) for p, n in zip(indices, extents, strict=True)
        ]
    lower = [mnp.floor(p) for p in indices]
    rests = [p - low for p, low in zip(indices, lower, strict=True)]
    first = 0 if mode == "linear" else -1
    weights = [[1 - t, t] if mode == "linear" else _cubic_weights(t) for t in rests]
    total: Any = None
    for steps in product(range(len(weights[0])), repeat=len(indices)):
        corner = [low + (first + step) for low, step in zip(lower, steps, strict=True)]
        weight: Any = 1
        for own, step in zip(weights, steps, strict=True):
            weight = weight * own[step]
        chunk = _corner(x, corner, padding, aligned=aligned) * mnp.expand_dims(weight, 1)
        total = chunk if total is None else total + chunk
    return total


def _roi_align(call: Call, x: Any, rois: Any, batches: Any) -> Any:
    """Return the means or maxima of samples in each cell of a grid over each region."""
    height, width = call.attr("output_height", 1), call.attr("output_width", 1)
    ratio, scale = call.attr("sampling_ratio", 0), call.attr("spatial_scale", 1.0)
    default = "half_pixel" if call.version >= 16 else "output_half_pixel"
    shifted = call.attr("coordinate_transformation_mode", default) == "half_pixel"
    boxes = rois * scale - (0.5 if shifted else 0.0)
    sizes = [boxes[:, 3] - boxes[:, 1], boxes[:, 2] - boxes[:, 0]]
    if not shifted:
        sizes = [mnp.maximum(size, 1) for size in sizes]
    if ratio:
        return _aligned(call, x, boxes, sizes, batches, [(ratio, ratio)] * rois.shape[0])
    counts = [np.ceil(host(s) / n).astype(int) for s, n in zip(sizes, (height, width), strict=True)]
    return _aligned(call, x, boxes, sizes, batches, list(zip(*map(list, counts), strict=True)))


def _aligned(
    call: Call, x: Any, boxes: Any, sizes: list[Any], batches: Any, counts: list[tuple[int, int]]
) -> Any:
    out = call.attr("output_height", 1), call.attr("output_width", 1)
    found = []
    for i, (rows, columns) in enumerate(counts):
        image = x[integers(batches)[i]] if is_known(batches) else mnp.take(x, batches[i], axis=0)
        axes = [
            _steps(boxes[i, 1], sizes[0][i], out[0], max(1, int(rows))),
            _steps(boxes[i, 0], sizes[1][i], out[1], max(1, int(columns))),
        ]
        samples = _samples(mnp.expand_dims(image, 0), axes[0], axes[1], call.attr("mode", "avg"))
        cells = mnp.reshape(samples, (x.shape[1], out[0], axes[0].shape[0] // out[0], out[1], -1))
        reduce = mnp.max if call.attr("mode", "avg") == "max" else mnp.mean
        found.append(reduce(cells, axis=(2, 4)))
    if not found:
        return mnp.zeros((0, x.shape[1], *out), dtype=x.dtype)
    return mnp.stack(found, axis=0)


def _steps(start: Any, size: Any, cells: int, count: int) -> Any:
    """Return the coordinates of all cells' samples along an axis."""
    shares = (np.arange(cells * count) + 0.5) / (cells * count)
    return start + size * array_of(shares.astype(np.float32))


def _samples(image: Any, ys: Any, xs: Any, mode: str) -> Any:
    """Return samples (C, rows, columns): the sum or maximum of four weighted elements."""
    rows, columns = ys.shape[0], xs.shape[0]
    extents = image.shape[2:]
    grid = [
        mnp.reshape(mnp.broadcast_to(mnp.expand_dims(ys, 1), (rows, columns)), (1, -1)),
        mnp.reshape(mnp.broadcast_to(mnp.expand_dims(xs, 0), (rows, columns)), (1, -1)),
    ]
    inside: Any = 1
    for p, n in zip(grid, extents, strict=True):
        inside = inside * ((p >= -1).astype(image.dtype) * (p <= n).astype(image.dtype))
    indices = [mnp.clip(p, 0, n - 1) for p, n in zip(grid, extents, strict=True)]
    lower = [mnp.floor(p) for p in indices]
    rests = [p - low for p, low in zip(indices, lower, strict=True)]
    chunks = []
    for down, right in product((0, 1), repeat=2):
        corner = [
            mnp.clip(low + s, 0, n - 1)
            for low, s, n in zip(lower, (down, right), extents, strict=True)
        ]
        share = (rests[0] if down else 1 - rests[0]) * (rests[1] if right else 1 - rests[1])
        chunks.append(_read(image, corner) * mnp.expand_dims(share, 1))
    if mode == "max":
        found = mnp.maximum(mnp.maximum(chunks[0], chunks[1]), mnp.maximum(chunks[2], chunks[3]))
    else:
        found = chunks[0] + chunks[1] + chunks[2] + chunks[3]
    found = found * mnp.expand_dims(inside, 1)
    return mnp.reshape(found, (image.shape[1], rows, columns))


RULES: dict[str, Rule] = {"GridSample": _grid_sample, "RoiAlign": _roi_align}
