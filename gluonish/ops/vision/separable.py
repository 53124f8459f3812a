"""Separable linear maps of images: resizing and adaptive means.

Along an axis, every element of the result is a weighted sum of a few elements of the image. The
adjoint is a map of the same kind, with image and result exchanged.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.schema import Attribute, Schema, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.precision import widen

Matrix = np.ndarray[Any, Any]


class Taps(NamedTuple):
    """The source elements of each element of a result along an axis.

    Attributes:
        indices: Source indices (taps, result extent).
        weight: Weights of the source elements, of the same shape.
    """

    indices: Matrix
    weight: Matrix

    def transposed(self, extent: int) -> "Taps":
        """Return the taps of the adjoint, for a result of ``extent`` elements."""
        (used,) = np.nonzero(self.weight.reshape(-1))
        sources = self.indices.reshape(-1)[used]
        used = used[np.argsort(sources, kind="stable")]
        sources = np.sort(sources, kind="stable")
        counts = np.bincount(sources, minlength=extent)
        rank = np.arange(len(sources)) - np.repeat(np.cumsum(counts) - counts, counts)
        depth = int(counts.max(initial=0))
        indices, weight = np.zeros((depth, extent), np.int64), np.zeros((depth, extent))
        indices[rank, sources] = used % max(1, self.indices.shape[1])
        weight[rank, sources] = self.weight.reshape(-1)[used]
        return Taps(indices, weight)


def _map_axis(xp: ModuleType, data: Any, taps: Taps, axis: int) -> Any:
    shape = list(data.shape)
    shape[axis] = taps.indices.shape[1]
    total = xp.zeros(shape, data.dtype)
    if not data.shape[axis]:
        return total
    across = (-1,) + (1,) * (data.ndim - 1 - axis)
    for indices, weight in zip(taps.indices, taps.weight, strict=True):
        factors = xp.asarray(weight.astype(data.dtype)).reshape(across)
        total += xp.take(data, xp.asarray(indices), axis=axis) * factors
    return total


def map_images(xp: ModuleType, out: Any, data: Any, rows: Taps, columns: Taps) -> None:
    """Map images (N, C, H, W) to ``out`` (N, C, H', W') with the taps of rows and columns."""
    wide = widen(data)
    if out.shape[2] <= data.shape[2]:  # the cheaper order: shrink first
        out[...] = _map_axis(xp, _map_axis(xp, wide, rows, 2), columns, 3)
    else:
        out[...] = _map_axis(xp, _map_axis(xp, wide, columns, 3), rows, 2)


def adjoint_operator(
    names: tuple[str, str],
    taps: Callable[..., Taps],
    doc: str,
    **attributes: Attribute,
) -> Callable[[V, Shape, Any], Any]:
    """Register a family of maps and its adjoint, and return a function that applies the adjoint.

    Args:
        names: Operator names of the family and of its adjoint.
        taps: ``taps(extent, out_extent, **attributes)`` returns the taps of one axis.
        **attributes: Additional attributes of ``taps``.

    Returns:
        ``adjoint(g, size, attributes)``: the gradient of images of a size, from the output's.
    """

    def both(size: Shape, out_size: Shape, attrs: Any) -> list[Taps]:
        return [taps(n, m, **attrs) for n, m in zip(size, out_size, strict=True)]

    def infer(data: Spec, *, size: Shape, **_: Any) -> tuple[Spec]:
        return (Spec((*data.shape[:2], *size), data.dtype),)

    def kernel(xp: ModuleType, out: Any, data: Any, *, size: Shape, **attrs: Any) -> None:
        rows, columns = both(size, data.shape[2:], attrs)
        map_images(xp, out, data, rows.transposed(size[0]), columns.transposed(size[1]))

    def gradient(g: V, data: V, *, size: Shape, **attrs: Any) -> tuple[Any]:
        return (lambda: apply(forward, (g,), {"size": data.shape[2:], **attrs}),)

    def forward_kernel(xp: ModuleType, out: Any, data: Any, *, size: Shape, **attrs: Any) -> None:
        map_images(xp, out, data, *both(data.shape[2:], size, attrs))

    def forward_gradient(g: V, data: V, *, size: Shape, **attrs: Any) -> tuple[Any]:
        return (lambda: apply(adjoint, (g,), {"size": data.shape[2:], **attrs}),)

    schema = Schema(size=shape(), **attributes)
    forward = register(
        Operator(names[0], infer, forward_kernel, forward_gradient, doc=doc, schema=schema)
    )
    adjoint = register(
        Operator(names[1], infer, kernel, gradient, doc=f"Adjoint of: {doc}", schema=schema)
    )

    def apply_adjoint(g: V, size: Shape, attrs: Any) -> Any:
        return apply(adjoint, (g,), {"size": size, **attrs})

    return apply_adjoint
