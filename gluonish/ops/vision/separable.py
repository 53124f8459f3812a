"""Linear maps of images that treat rows and columns apart: resizing and adaptive means.

Along an axis every element of the result sums a few elements of the image, each with a weight.
The adjoint is a map of the same kind, with the roles of both exchanged.
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
    """What each element of a result reads along an axis.

    Attributes:
        places: Positions (taps, result extent).
        weight: What they are multiplied by; same shape.
    """

    places: Matrix
    weight: Matrix

    def transposed(self, extent: int) -> "Taps":
        """Return the taps of the adjoint, whose result has the given extent."""
        (used,) = np.nonzero(self.weight.reshape(-1))
        sources = self.places.reshape(-1)[used]
        used = used[np.argsort(sources, kind="stable")]
        sources = np.sort(sources, kind="stable")
        counts = np.bincount(sources, minlength=extent)
        rank = np.arange(len(sources)) - np.repeat(np.cumsum(counts) - counts, counts)
        most = int(counts.max(initial=0))
        places, weight = np.zeros((most, extent), np.int64), np.zeros((most, extent))
        places[rank, sources] = used % max(1, self.places.shape[1])
        weight[rank, sources] = self.weight.reshape(-1)[used]
        return Taps(places, weight)


def _map_axis(xp: ModuleType, data: Any, taps: Taps, axis: int) -> Any:
    shape = list(data.shape)
    shape[axis] = taps.places.shape[1]
    total = xp.zeros(shape, data.dtype)
    if not data.shape[axis]:
        return total
    across = (-1,) + (1,) * (data.ndim - 1 - axis)
    for places, weight in zip(taps.places, taps.weight, strict=True):
        factors = xp.asarray(weight.astype(data.dtype)).reshape(across)
        total += xp.take(data, xp.asarray(places), axis=axis) * factors
    return total


def map_images(xp: ModuleType, out: Any, data: Any, rows: Taps, columns: Taps) -> None:
    """Fill ``out`` (N, C, H', W') with what rows and columns read of images (N, C, H, W)."""
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
    """Register the adjoint of a family, and return the function that applies it.

    Args:
        names: Of the family as an operator, and of its adjoint.
        taps: ``taps(extent, out_extent, **attributes)`` gives what one axis reads.
        **attributes: What ``taps`` takes besides.

    Returns:
        ``adjoint(g, size, attributes)``: the gradient of images of a size, from that of the output.
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
        Operator(names[1], infer, kernel, gradient, doc=f"The adjoint of: {doc}", schema=schema)
    )

    def apply_adjoint(g: V, size: Shape, attrs: Any) -> Any:
        return apply(adjoint, (g,), {"size": size, **attrs})

    return apply_adjoint
