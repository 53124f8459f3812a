"""Gather elements by an array of indices, and the adjoint, scatter-add.

Indices refer to the last axis; a negative index means no element, with value 0.
"""

from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.host import add_at
from gluonish.ops.support.precision import accumulator


def read_points(xp: ModuleType, data: Any, index: Any) -> Any:
    """Return ``data[n, :, index[n]]`` of data (N, C, S), index (N, P); 0 for index < 0."""
    if not data.shape[2]:
        return xp.zeros((*data.shape[:2], index.shape[1]), data.dtype)
    found = xp.take_along_axis(data, xp.maximum(index, 0)[:, None, :], axis=2)
    found[xp.broadcast_to((index < 0)[:, None, :], found.shape)] = 0
    return found


def add_points(xp: ModuleType, total: Any, index: Any, values: Any) -> None:
    """Add values (N, C, P) to ``total[n, :, index[n]]`` of a C-contiguous total (N, C, S)."""
    batch, channels, size = total.shape
    rows = xp.arange(batch * channels).reshape(batch, channels, 1) * size
    flat = xp.broadcast_to((rows + index[:, None, :]), values.shape)
    valid = xp.broadcast_to((index >= 0)[:, None, :], values.shape)
    add_at(xp, total.reshape(-1), flat[valid], values[valid])


def _gather_infer(data: Spec, index: Spec) -> tuple[Spec]:
    return (Spec((*data.shape[:2], index.shape[1]), data.dtype),)


def _gather_kernel(xp: ModuleType, out: Any, data: Any, index: Any) -> None:
    out[...] = read_points(xp, data, index)


def _gather_gradient(g: V, data: V, index: V) -> tuple[Any, None]:
    return lambda: scatter_points(g, index, data.shape[2]), None


_GATHER = register(
    Operator(
        "_gather_points",
        _gather_infer,
        _gather_kernel,
        _gather_gradient,
        doc="Gather data[n, :, index[n]] of data (N, C, S), index (N, P); 0 for index < 0.",
        inputs=("data", "index"),
    )
)


def _scatter_infer(data: Spec, index: Spec, *, size: int) -> tuple[Spec]:
    return (Spec((*data.shape[:2], size), data.dtype),)


def _scatter_kernel(xp: ModuleType, out: Any, data: Any, index: Any, *, size: int) -> None:
    total = xp.zeros(out.shape, accumulator(out.dtype))
    add_points(xp, total, index, data.astype(total.dtype))
    out[...] = total


def _scatter_gradient(g: V, data: V, index: V, *, size: int) -> tuple[Any, None]:
    return lambda: gather_points(g, index), None


_SCATTER = register(
    Operator(
        "_scatter_points",
        _scatter_infer,
        _scatter_kernel,
        _scatter_gradient,
        doc=(
            "Add data (N, C, P) to zeros (N, C, size) at index (N, P); negative indices are\n"
            "skipped."
        ),
        inputs=("data", "index"),
        schema=Schema(size=integer(low=0)),
    )
)


def gather_points(data: Any, index: Any) -> Any:
    """Return ``data[n, :, index[n]]`` of data (N, C, S) and index (N, P); 0 for index < 0."""
    return apply(_GATHER, (data, index), {})


def scatter_points(data: Any, index: Any, size: int) -> Any:
    """Return zeros (N, C, size) with data (N, C, P) added at ``index`` (N, P) where it is >= 0."""
    return apply(_SCATTER, (data, index), {"size": size})
