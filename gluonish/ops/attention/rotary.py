"""rotary_embedding: rotate pairs of elements of queries and keys by angles of their positions.

The gradient is the rotation back, which is the same operator. Cosines and sines are computed in
float64, and rounded to the dtype of sums.

References:
    J. Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, optional
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.attention.rotary_frequencies import ATTRIBUTES, check_scaling, tables
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.precision import widen

_NAME = "rotary_embedding"

# The axes of samples and of positions, by layout.
AXES = {"NHTC": (0, -2), "NTHC": (0, 1), "TNHC": (1, 0)}


def width_of(shape: Shape, attrs: Attrs) -> int:
    """Return the number of elements that are rotated."""
    width: int = shape[-1] if attrs["dim"] is None else attrs["dim"]
    return width


def _infer(data: Spec, *positions: Spec, **attrs: Any) -> tuple[Spec]:
    shape, layout = data.shape, attrs["layout"]
    if not is_floating(data.dtype):
        raise OperatorError(f"{_NAME}: expected floating data, got {data.dtype.name}")
    if len(shape) < 2 or (layout != "NHTC" and len(shape) != 4):
        axes = "(..., T, C)" if layout == "NHTC" else f"({', '.join(layout)})"
        raise OperatorError(f"{_NAME}: expected data {axes}, got shape {shape}")
    dim = width_of(shape, attrs)
    if dim % 2 or not 0 < dim <= shape[-1]:
        raise OperatorError(
            f"{_NAME}: expected an even dim up to the width {shape[-1]} of data, got {dim}"
        )
    check_scaling(_NAME, dim, attrs)
    for spec in positions:
        samples, steps = (shape[axis] for axis in AXES[layout])
        allowed = ((steps,), (samples, steps)) if len(shape) > 2 else ((steps,),)
        if spec.shape not in allowed or not (spec.dtype.kind in "iu" or is_floating(spec.dtype)):
            raise OperatorError(
                f"{_NAME}: expected positions {' or '.join(map(str, allowed))} of numbers, got "
                f"{spec}"
            )
    return (data,)


def positions_of(xp: ModuleType, data: Any, positions: tuple[Any, ...], attrs: Attrs) -> Any:
    """Return the positions, int64 (T,) or (N, T).

    Raises:
        OperatorError: A position is negative; arrays on devices are not checked.
    """
    if not positions:
        first, count = attrs["offset"], data.shape[AXES[attrs["layout"]][1]]
        return xp.arange(first, first + count, dtype=np.int64)
    found = positions[0].astype(np.int64) + attrs["offset"]
    if xp is np and found.size and found.min() < 0:
        raise OperatorError(f"{_NAME}: expected positions of at least 0, got {found.min()}")
    return found


def _length(xp: ModuleType, found: Any, positions: tuple[Any, ...], attrs: Attrs) -> Any:
    """Return the longest position plus 1: an int, or an array of shape ()."""
    if not positions:
        return attrs["offset"] + len(found)
    return int(found.max()) + 1 if xp is np else found.max() + 1


def _by_data(table: Any, rank: int, layout: str) -> Any:
    """Reshape a table (T, D) or (N, T, D) so that it broadcasts to data."""
    if table.ndim == 2:
        if layout == "NHTC":
            return table
        return table[:, None] if layout == "NTHC" else table[:, None, None]
    if layout == "NHTC":
        return table.reshape(len(table), *(1,) * (rank - 3), *table.shape[1:])
    return table[:, :, None] if layout == "NTHC" else table.swapaxes(0, 1)[:, :, None]


def pairs(array: Any, dim: int, pairing: str) -> tuple[Any, Any]:
    """Return views of the first and the second elements of all pairs."""
    if pairing == "neighbours":
        return array[..., 0:dim:2], array[..., 1:dim:2]
    return array[..., : dim // 2], array[..., dim // 2 : dim]


def _kernel(xp: ModuleType, out: Any, data: Any, *positions: Any, **attrs: Any) -> None:
    if not out.size:
        return
    dim, pairing = width_of(data.shape, attrs), attrs["pairing"]
    found = positions_of(xp, data, positions, attrs)
    made = tables(xp, found, dim, attrs, _length(xp, found, positions, attrs))
    wide = widen(data)
    cos, sin = (_by_data(x.astype(wide.dtype), data.ndim, attrs["layout"]) for x in made)
    if attrs["transposed"]:
        sin = -sin
    first, second = pairs(wide, dim, pairing)
    to_first, to_second = pairs(out, dim, pairing)
    to_first[...] = first * cos - second * sin
    to_second[...] = second * cos + first * sin
    out[..., dim:] = data[..., dim:]


def _gradient(g: V, _data: V, *positions: V, **attrs: Any) -> tuple[Any, ...]:
    back = {**attrs, "transposed": not attrs["transposed"]}
    return apply(ROTARY_EMBEDDING, (g, *positions), back), *(None for _ in positions)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data = inputs[:1]
    complete_same(data, outputs, attrs, _NAME)
    inputs[0] = data[0]


ROTARY_EMBEDDING = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        Gradient(_gradient),
        doc=(
            "Rotate pairs of elements by the angle position * base^(-2 i / dim) of pair i.\n\n"
            "The first dim elements of the last axis form pairs: element i with i + dim / 2\n"
            "(pairing 'halves'), or 2 i with 2 i + 1 ('neighbours'); the others stay. Positions\n"
            "count from offset, or are given. scaling changes the angles for sequences that are\n"
            "longer than those of the training: 'linear', 'dynamic', 'llama3' or 'yarn', whose\n"
            "parameters have the names of transformers' configurations.\n\n"
            "Shapes: data (N, H, T, C), or (..., T, C); with layout NTHC or TNHC the axes are in\n"
            "that order. positions (T,) or (N, T), of at least 0; output that of data."
        ),
        inputs=("data", "positions"),
        active_inputs=lambda attrs: ("data", "positions")[: 1 + attrs["use_positions"]],
        optional={"positions": "use_positions"},
        schema=Schema(
            offset=integer(0, low=0),
            dim=optional(integer(low=1)),
            pairing=choice("halves", "neighbours", default="halves"),
            layout=choice(*AXES, default="NHTC"),
            **ATTRIBUTES,
            use_positions=boolean(False),
            transposed=boolean(False),
        ),
        aliases=("_npx_rotary_embedding",),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(several_passes=True),
    )
)
