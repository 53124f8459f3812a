"""Fused steps of Adafactor on a GPU: five launches for as many weights as fit their parameters.

All data about the weights are parameters of the launches, as for `gluonish.kernels.cupy.optimizer`;
the kernels are in ``adafactor.cu``. Results equal the reference bit for bit, as far as sums in
float64 in another order do.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape
from gluonish.kernels.cupy.optimizer_source import OPTIONS
from gluonish.kernels.cupy.source import compiled, source_text
from gluonish.kernels.fused_updates import Column, Groups
from gluonish.ops.updates.matrices import least_divisor

_THREADS = 256  # as in lanes.cuh
_CHUNK = 1 << 14  # elements of a block
_LEAST_ROWS = 16  # of a block, whose sums of columns are memory beside the weights
_MOST = 37  # weights per launch, whose parameters CUDA limits to 4 KB
_ADDRESSES = ("out", "weight", "grad", "row", "column")
_TABLE = np.dtype(
    [
        *((name, np.uint64, (_MOST,)) for name in (*_ADDRESSES, "sums", "middles")),
        ("rates", np.float64, (_MOST,)),
        ("rows", np.int64, (_MOST,)),
        *((name, np.uint32, (_MOST,)) for name in ("m", "n", "chunk", "ends")),
        ("shares", np.float32, (_MOST,)),
        ("kept", np.float32, (_MOST,)),
        ("epsilon2", np.float64),
        ("threshold", np.float64),
        *((name, np.float32) for name in ("rescale", "clip", "epsilon", "least")),
        ("count", np.uint32),
        ("vectors", np.uint32),
    ],
    align=True,
)
MACROS = (("MOST", _MOST),)


class AdafactorStep:
    """Implements `gluonish.kernels.fused_updates.FusedStep` for Adafactor on CuPy arrays.

    Args:
        xp: The array module.
        outs: Arrays for the updated weights; may be the weights themselves.
        groups: For each weight, its contiguous arrays.
    """

    __slots__ = ("_arrays", "_columns", "_launches")

    def __init__(self, xp: ModuleType, outs: Sequence[Any], groups: Groups) -> None:
        self._arrays = (tuple(outs), tuple(map(tuple, groups)))
        # Vectors last, so that the kernels need no flag for each weight.
        order = [i for i, out in enumerate(outs) if out.size]
        order.sort(key=lambda i: outs[i].ndim < 2)
        self._launches = [
            _Launch(xp, order[i : i + _MOST], outs, groups) for i in range(0, len(order), _MOST)
        ]
        self._columns: list[Column | None] = [None] * 3

    def run(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Update the weights."""
        for i, column in enumerate(columns):
            if column is not self._columns[i]:
                self._columns[i] = column
                for launch in self._launches:
                    launch.set_rates(i, column)
        for launch in self._launches:
            launch.run(scalars)


class _Launch:
    """The launches of a step for the weights that fit their parameters.

    Args:
        xp: The array module.
        indices: The weights' indices.
        outs: Arrays for the updated weights.
        groups: The arrays of the weights.
    """

    __slots__ = ("_blocks", "_dtype", "_indices", "_middles", "_sums", "_table", "_xp")

    def __init__(
        self, xp: ModuleType, indices: Sequence[int], outs: Sequence[Any], groups: Groups
    ) -> None:
        self._xp, self._indices, self._dtype = xp, indices, outs[0].dtype
        self._table = np.zeros(1, _TABLE)  # CuPy passes an array of size 1 by value
        fields, count = self._table[0], len(indices)
        for place, i in enumerate(indices):
            weight, grad, row, column, *master = groups[i]
            if outs[i].ndim < 2:
                column = row
            arrays = (outs[i], *(master or (weight,)), grad, row, column)
            for name, array in zip(_ADDRESSES, arrays, strict=True):
                fields[name][place] = array.data.ptr
        shapes = [_matrices(outs[i].shape) for i in indices]
        chunks = [_chunk(*shape) for shape in shapes]
        blocks = [_blocks(*shape, chunk) for shape, chunk in zip(shapes, chunks, strict=True)]
        sums = [
            number * n if chunk < m else 0
            for (_, m, n), chunk, number in zip(shapes, chunks, blocks, strict=True)
        ]
        is_matrix = [outs[i].ndim >= 2 for i in indices]
        middles = [shape[0] * flag for shape, flag in zip(shapes, is_matrix, strict=True)]
        fields["sums"][:count], self._sums = _starts(sums)
        fields["middles"][:count], self._middles = _starts(middles)
        fields["rows"][:count] = [batch * m for batch, m, _ in shapes]
        for k, name in ((1, "m"), (2, "n")):
            fields[name][:count] = [shape[k] for shape in shapes]
        fields["chunk"][:count] = chunks
        fields["ends"][:count] = np.cumsum(blocks)
        fields["count"] = count
        fields["vectors"] = sum(is_matrix)
        self._blocks = sum(blocks)

    def set_rates(self, number: int, column: Column) -> None:
        """Set rate ``number`` of this launch's weights; ``column`` has the rate of all weights."""
        if isinstance(column, Sequence):
            column = [column[i] for i in self._indices]
        name = ("rates", "shares", "kept")[number]
        self._table[0][name][: len(self._indices)] = column

    def run(self, scalars: Mapping[str, float]) -> None:
        """Update the weights."""
        fields, xp, blocks = self._table[0], self._xp, self._blocks
        epsilon, clip = least_divisor(FLOAT32, scalars), scalars["clip_gradient"]
        fields["rescale"], fields["clip"] = scalars["rescale_grad"], clip if clip >= 0 else np.inf
        fields["epsilon"], fields["least"] = epsilon, epsilon * epsilon
        fields["epsilon2"], fields["threshold"] = scalars["epsilon2"], scalars["clip_threshold"]
        sums = xp.empty(max(1, self._sums), np.float64)
        middles = xp.empty(max(1, self._middles), np.float32)
        squares = xp.empty(2 * blocks, np.float64)
        factors = xp.empty(len(self._indices), np.float32)
        self._launch("means", blocks, sums, middles)
        if self._sums:
            self._launch("join", blocks, sums, middles)
        self._launch("lengths", blocks, middles, squares)
        self._launch("sizes", len(self._indices), squares, factors, np.uint32(blocks))
        self._launch("update", blocks, middles, factors)

    def _launch(self, name: str, blocks: int, *arguments: Any) -> None:
        dtype = self._dtype
        kernel = compiled(
            self._xp,
            ("adafactor", name, dtype),
            name,
            lambda: source_text("adafactor", dtype, False, MACROS),
            OPTIONS,
        )
        kernel((blocks,), (_THREADS,), (self._table, *arguments))


def _matrices(shape: Shape) -> tuple[int, int, int]:
    """Return number, rows and columns of a weight's matrices: of a vector, one by one."""
    if len(shape) < 2:
        return prod(shape), 1, 1
    return prod(shape[:-2]), shape[-2], shape[-1]


def _chunk(batch: int, m: int, n: int) -> int:
    """Return the rows of a block: those of whole matrices, or fewer than a matrix has."""
    rows = max(_LEAST_ROWS, _CHUNK // n)
    return rows // m * m or rows


def _blocks(batch: int, m: int, n: int, chunk: int) -> int:
    return -(-batch * m // chunk) if chunk >= m else batch * -(-m // chunk)


def _starts(counts: Sequence[int]) -> tuple[list[int], int]:
    """Return where each of several arrays begins in one array, and its length."""
    *starts, total = accumulate(counts, initial=0)
    return starts, total
