"""Rows at positions: take, Embedding and gather_nd in one launch, 16 bytes at a time.

Data are (outer, count, width), and positions index the middle axis. Positions of any dtype are
converted by the kernel. Mode ``raise``, and the coordinates of gather_nd, are checked by the host,
as by reference kernels.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import GLUONISH_CUDA_SCATTER
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.copies import contiguous, contiguous_target, division
from gluonish.kernels.cupy.memory_layout import access_length, vector_length
from gluonish.kernels.cupy.source import KINDS, Macros, launch_blocks
from gluonish.ops.indexing.gather_nd import GATHER_ND, flat_points
from gluonish.ops.indexing.take import TAKE, integer_indices
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.embedding import EMBEDDING
from gluonish.ops.registry import Operator

_THREADS = 256  # as in gather.cu
_UNROLLED = 4  # units of a thread
_MANY = 1 << 18  # units from which a thread copies several
_LIMIT = (1 << 31) - (1 << 16)
_ITEMSIZES = (1, 2, 4, 8)
_PLAIN = 100  # more than any cudaDataType, as in elements.cuh
# The macro POSITION.
_POSITIONS: dict[np.dtype[Any], int] = {
    **KINDS,
    **{np.dtype(name): 300 + np.dtype(name).itemsize for name in ("int8", "int32", "int64")},
    np.dtype(np.uint8): 311,
}


def positions_of(xp: Any, positions: Any, mode: str) -> tuple[Any, Macros]:
    """Return positions that kernels can read, and the macros that say how.

    Args:
        positions: Array of any shape and dtype.
        mode: ``clip`` or ``wrap``.
    """
    if positions.dtype not in _POSITIONS:
        positions = positions.astype(np.int64)
    macros = (("POSITION", _POSITIONS[positions.dtype]), ("WRAP", int(mode == "wrap")))
    return contiguous(xp, positions), macros


def checked(xp: Any, name: str, positions: Any, count: int, mode: str) -> tuple[Any, str]:
    """Return positions and ``clip`` or ``wrap``; those of mode ``raise`` are checked now.

    Raises:
        OperatorIndexError: A position is out of range in mode ``raise``.
    """
    if mode == "raise":
        return integer_indices(xp, name, positions, count, mode), "clip"
    return positions, mode


def flat_positions(xp: Any, name: str, points: Any, shape: Shape) -> Any:
    """Return flat positions along the first axes of ``shape`` of points, which are not empty.

    Args:
        points: Coordinates (axes, ...).

    Raises:
        OperatorIndexError: A coordinate is out of range.
    """
    axes = points.shape[0]
    given, macros = positions_of(xp, points, "clip")
    many = points.size // axes
    flat = xp.empty(points.shape[1:], np.int64)
    wrong = xp.zeros(1, np.uint32)
    extents = np.zeros(1, [("of", np.int64, (axes,))])
    extents["of"] = shape[:axes]
    launch_blocks(
        *(xp, "points", "flatten_points", FLOAT32, (given, flat, wrong, np.uint32(many), extents)),
        *((-(-many // _THREADS),), _THREADS, (*macros, ("AXES", axes))),
    )
    if int(wrong[0]):
        return flat_points(xp, name, points, shape)  # raises the error
    return flat


def numbers_of(*numbers: int) -> tuple[Any, ...]:
    """Return 32-bit arguments of a kernel."""
    return tuple([np.uint32(n) for n in numbers])


def _gather(xp: Any, out: Any, data: Any, positions: Any, mode: str, axis: int, axes: int) -> None:
    """Fill ``out`` with the rows of data at positions along ``axes`` axes from ``axis`` on."""
    count = math.prod(data.shape[axis : axis + axes])
    width = math.prod(data.shape[axis + axes :])
    data = contiguous(xp, data)
    positions, macros = positions_of(xp, positions, mode)
    with contiguous_target(xp, out) as target:
        vector = access_length(vector_length(width, out.itemsize), data, target)
        units, total = width // vector, out.size // vector
        unrolled = _UNROLLED if total >= _MANY else 1
        code = _PLAIN + out.itemsize
        macros = (("FROM", code), ("TO", code), ("VECTOR", vector), *macros)
        numbers = numbers_of(total, units, *division(units))
        many = numbers_of(positions.size, *division(positions.size))
        launch_blocks(
            *(xp, "gather", "gather_rows", FLOAT32),
            (data, positions, target, *numbers, *many, np.int64(count)),
            (-(-total // (_THREADS * unrolled)),),
            _THREADS,
            (*macros, ("UNROLLED", unrolled)),
        )


def _take(xp: ModuleType, out: Any, a: Any, indices: Any, *, axis: int, mode: str) -> None:
    axis %= a.ndim
    indices, mode = checked(xp, "take", indices, a.shape[axis], mode)
    _gather(xp, out, a, indices, mode, axis, 1)


def _embedding(xp: ModuleType, out: Any, data: Any, weight: Any, **_: object) -> None:
    _gather(xp, out, weight, data, "clip", 0, 1)


def _gather_nd(xp: ModuleType, out: Any, data: Any, indices: Any) -> None:
    positions = flat_positions(xp, "gather_nd", indices, data.shape)
    _gather(xp, out, data, positions, "clip", 0, indices.shape[0])


def put_last(xp: Any, out: Any, data: Any, order: tuple[Any, Any], width: int) -> None:
    """Write rows of data to rows of ``out``; of equal ones, the last.

    Args:
        out: Contiguous array of rows of ``width`` elements.
        data: The same, contiguous; a row for each position.
        order: Rows and places of the positions in order (`gluonish.kernels.cupy.scatter`).
    """
    rows, places = order
    vector = access_length(vector_length(width, out.itemsize), data, out)
    units, total = width // vector, data.size // vector
    code = _PLAIN + out.itemsize
    macros = (("FROM", code), ("TO", code), ("VECTOR", vector), ("POSITION", 0))
    numbers = numbers_of(total, places.size, units, *division(units))
    launch_blocks(
        *(xp, "gather", "put_rows", FLOAT32, (data, rows, places, out, *numbers)),
        *((-(-total // _THREADS),), _THREADS),
        (*macros, ("WRAP", 0), ("UNROLLED", 1)),
    )


def enabled() -> bool:
    """Whether kernels that gather and scatter rows are switched on."""
    return GLUONISH_CUDA_SCATTER.value


class _Gathering:
    """Decides which calls of an operator are supported."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def supports(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether there are rows, of as many elements as kernels can count."""
        (made,) = self._op.infer(*specs, **attrs)
        return made.dtype.itemsize in _ITEMSIZES and 0 < made.size < _LIMIT


def _row(op: Operator, run: Any) -> tuple[Operator, FastKernel]:
    return op, FastKernel(
        *(BackEnd.CUPY, f"gather_{op.name}", _Gathering(op).supports), run=run, enabled=enabled
    )


KERNELS = (_row(TAKE, _take), _row(EMBEDDING, _embedding), _row(GATHER_ND, _gather_nd))
