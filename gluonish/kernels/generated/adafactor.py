"""Fused steps of Adafactor: three passes over all weights, by threads on chunks of rows.

A weight of shape (..., m, n) is a batch of matrices (m, n). The first pass adds the squares of
gradients to means of rows and columns, the second one sums the squares of weights and steps, and
the third one updates the weights. A chunk has whole matrices, or some rows of one matrix: then a
pass in between adds the chunks' sums of columns. All sums are in float64, in an order that does not
depend on the number of threads.

A weight of one axis is a matrix of one row, whose mean squares are its means of columns; the means
of rows are 1.

Params of all kernels: addresses of the weights' table, of the chunks' table, of rates, scalars,
sums of columns, and sums of squares (for the weight and the step of each chunk).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape
from gluonish.kernels.compiler import CompiledKernel, compile_kernel
from gluonish.kernels.fused_updates import Column, Groups
from gluonish.ops.kernel import address
from gluonish.ops.updates.matrices import adafactor_size, least_divisor

_CHUNK = 1 << 17  # elements of a chunk
_LEAST_ROWS = 32  # of a chunk, whose sums of columns are memory beside the weights
_SUMS = ("reassoc",)  # in float64, of which the order does not matter

# Columns of the weights' and the chunks' tables.
_WEIGHT = ("out", "weight", "grad", "row", "column", "middle", "m", "n", "vector")
_UNIT = ("owner", "first", "count", "whole", "sums")

_HEAD = f"""\
def body(begin, end, params):
    weights, units = i64(params[0]), i64(params[1])
    rates, scalars = f32(params[2]), f32(params[3])
    rescale, clip, epsilon, least = scalars[0], scalars[1], scalars[2], scalars[3]
    squares = f64(params[5])
    for unit in range(begin, end):
        at = unit * {len(_UNIT)}
        owner, first, count = units[at], units[at + 1], units[at + 2]
        whole, sums = units[at + 3], f64(params[4] + units[at + 4] * 8)
        base = owner * {len(_WEIGHT)}
        m, n, vector = weights[base + 6], weights[base + 7], weights[base + 8]
        outs = narrow(weights[base] + first * n * itemsize)
        weight = f32(weights[base + 1] + first * n * 4)
        grads = narrow(weights[base + 2] + first * n * itemsize)
        matrix = first // m
        rows = f32(weights[base + 3] + (0 if vector else first * 4))
        columns = f32(weights[base + 4] + matrix * n * 4)
        middles = f32(weights[base + 5] + (0 if vector else matrix * 4))
        share, kept, factor = rates[owner * 3], rates[owner * 3 + 1], rates[owner * 3 + 2]
        step = min(count, m)
"""
_MEANS = """\
        if m * n + vector == 1:
            for i in range(count):
                independent()
                g = minimum(maximum(widen(grads[i]) * rescale, -clip), clip)
                row = rows[i]
                column = columns[i]
                row = row + (g * g - row) * share
                columns[i] = column + (g * g - column) * share
                rows[i] = row
                middles[i] = maximum(row, epsilon)
        else:
            for start in range(0, count, step):
                for j in range(n):
                    independent()
                    sums[j] = 0.0
                middle = 0.0
                for i in range(start, start + step):
                    total = 0.0
                    for j in range(n):
                        independent()
                        g = minimum(maximum(widen(grads[i * n + j]) * rescale, -clip), clip)
                        square = float64(g * g)
                        total += square
                        sums[j] = sums[j] + square
                    if vector == 0:
                        row = rows[i]
                        row = row + (float32(total / float64(n)) - row) * share
                        rows[i] = row
                        middle += float64(row)
                if whole:
                    place = start // m
                    if vector == 0:
                        middles[place] = maximum(float32(middle / float64(m)), epsilon)
                    for j in range(n):
                        independent()
                        old = columns[place * n + j]
                        mean = float32(sums[j] / float64(m))
                        columns[place * n + j] = old + (mean - old) * share
"""
# A step is a matrix in several chunks, whose sums are one after the other; its ``count`` is their
# number.
_JOINED = """\
        for i in range(1, count):
            for j in range(n):
                independent()
                sums[j] = sums[j] + sums[i * n + j]
        for j in range(n):
            independent()
            old = columns[j]
            columns[j] = old + (float32(sums[j] / float64(m)) - old) * share
        middle = 0.0
        for i in range(m):
            middle += float64(rows[i])
        middles[0] = maximum(float32(middle / float64(m)), epsilon)
"""
# For both kinds of chunks; {at} is the index of the element, {column} that of its column.
_STEP = """\
{spaces}g = minimum(maximum(widen(grads[{at}]) * rescale, -clip), clip)
{spaces}var = row * columns[{column}] / middle
{spaces}g = g / sqrt(maximum(var, least))
"""
_ROWS = """\
        if m * n + vector == 1:
            for i in range(count):
                independent()
                row = rows[i]
                middle = middles[i]
{points}
        else:
            for start in range(0, count, step):
                place = start // m * n
                for i in range(start, start + step):
                    row = rows[0 if vector else i]
                    middle = middles[0 if vector else start // m]
                    for j in range(n):
                        independent()
{elements}
"""
_ADD = """\
{spaces}w = weight[{at}]
{spaces}of_weight += float64(w) * float64(w)
{spaces}of_step += float64(g) * float64(g)
"""
_STORE = """\
{spaces}w = weight[{at}] * kept - g * factor
{spaces}outs[{at}] = rounded(w)
"""
_MASTER = "{spaces}weight[{at}] = w\n"


def _pass(lines: str) -> str:
    """Return a loop over the elements of a chunk, with lines for each after its step ``g``."""
    text = _STEP + lines
    return _ROWS.format(
        points=text.format(spaces=" " * 16, at="i", column="i"),
        elements=text.format(spaces=" " * 24, at="i * n + j", column="place + j"),
    )


_SQUARES = f"""\
        of_weight = 0.0
        of_step = 0.0
{_pass(_ADD)}
        squares[unit * 2] = of_weight
        squares[unit * 2 + 1] = of_step
"""

# By dtype of weights and gradients: view, itemsize, load and store.
_WORDS = {
    "float32": ("f32(", "4", "(", "("),
    "bfloat16": ("u16(", "2", "load_bf16(", "store_bf16("),
    "float16": ("u16(", "2", "load_f16(", "store_f16("),
}


@cache
def _kernel(body: str, dtype: str, fastmath: tuple[str, ...]) -> CompiledKernel:
    text = _HEAD + body
    words = zip(("narrow(", "itemsize", "widen(", "rounded("), _WORDS[dtype], strict=True)
    for word, meaning in words:
        text = text.replace(word, meaning)
    return compile_kernel(text, fastmath)


class AdafactorStep:
    """Implements `gluonish.kernels.fused_updates.FusedStep` for Adafactor on NumPy arrays.

    Args:
        outs: Arrays for the updated weights; may be the weights themselves.
        groups: For each weight, its contiguous arrays.
    """

    __slots__ = (
        "_arrays",
        "_columns",
        "_firsts",
        "_indices",
        "_joined",
        "_joined_params",
        "_kernels",
        "_params",
        "_rate",
        "_rates",
        "_scalars",
        "_sizes",
        "_squares",
        "_units",
    )

    def __init__(self, outs: Sequence[Any], groups: Groups) -> None:
        indices = [i for i, out in enumerate(outs) if out.size]
        shapes = [_matrices(outs[i].shape) for i in indices]
        units, joined, total = _units(shapes)
        one, middles = np.ones(1, np.float32), []
        table = np.zeros((len(indices), len(_WEIGHT)), np.int64)
        for line, i, (batch, m, n, vector) in zip(table, indices, shapes, strict=True):
            weight, grad, row, column, *master = groups[i]
            if vector:
                row, column = one, row
            middles.append(one if vector else np.ones(batch, np.float32))
            arrays = (outs[i], *(master or (weight,)), grad, row, column, middles[-1])
            line[:] = (*map(address, arrays), m, n, vector)
        self._sizes = np.array([outs[i].size for i in indices], np.float64)
        self._units, self._joined = units, joined
        self._firsts = np.searchsorted(units[:, 0], np.arange(len(indices)))
        self._squares = np.zeros((len(units), 2))
        # The relative step, which is a factor in float64, is no rate of the kernels.
        self._rate: Any = np.zeros(len(indices))
        self._rates = np.zeros((len(indices), 3), np.float32)
        self._scalars = np.zeros(4, np.float32)
        self._columns: list[Column | None] = [None] * 3
        sums = np.zeros(total)
        self._arrays = (tuple(outs), tuple(map(tuple, groups)), table, middles, one, sums)
        self._indices = indices
        arrays = (table, units, self._rates, self._scalars, sums, self._squares)
        self._params = np.array([address(x) for x in arrays], np.int64)
        self._joined_params = self._params.copy()
        self._joined_params[1] = address(joined)
        dtype = outs[0].dtype
        update = _pass(_STORE if dtype == FLOAT32 else _STORE + _MASTER)
        bodies = {_MEANS: _SUMS, _JOINED: (), _SQUARES: _SUMS, update: ()}
        self._kernels = [_kernel(body, dtype.name, flags) for body, flags in bodies.items()]

    def run(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Update the weights."""
        if not len(self._units):
            return
        for i, column in enumerate(columns):
            if column is not self._columns[i]:
                self._columns[i] = column
                values = (
                    [column[k] for k in self._indices] if isinstance(column, Sequence) else column
                )
                (self._rates[:, i - 1] if i else self._rate)[...] = values
        epsilon, clip = least_divisor(np.dtype(np.float32), scalars), scalars["clip_gradient"]
        clip = clip if clip >= 0 else np.inf
        self._scalars[:] = scalars["rescale_grad"], clip, epsilon, epsilon * epsilon
        means, join, squares, update = self._kernels
        means(len(self._units), self._params, 1)
        join(len(self._joined), self._joined_params, 1)
        squares(len(self._units), self._params, 1)
        roots = (
            np.sqrt(np.add.reduceat(self._squares, self._firsts)) / np.sqrt(self._sizes)[:, None]
        )
        self._rates[:, 2] = adafactor_size(np, roots[:, 0], roots[:, 1], self._rate, scalars)
        update(len(self._units), self._params, 1)


def _matrices(shape: Shape) -> tuple[int, int, int, bool]:
    """Return number, rows and columns of a weight's matrices, and whether it is a vector."""
    if len(shape) < 2:
        return 1, 1, prod(shape), True
    return prod(shape[:-2]), shape[-2], shape[-1], False


def _units(shapes: Sequence[tuple[int, int, int, bool]]) -> tuple[Any, Any, int]:
    """Divide weights into chunks.

    Returns:
        The table of chunks, that of the matrices in several chunks, and the number of sums.
    """
    units, joined, sums = [], [], 0
    for owner, (batch, m, n, _) in enumerate(shapes):
        rows = max(_LEAST_ROWS, _CHUNK // n)
        if rows >= m:
            step = rows // m * m
            for first in range(0, batch * m, step):
                units.append((owner, first, min(step, batch * m - first), 1, sums))
                sums += n
            continue
        count = -(-m // rows)
        for first in range(0, batch * m, m):
            joined.append((owner, first, count, 0, sums))
            for row in range(0, m, rows):
                units.append((owner, first + row, min(rows, m - row), 0, sums))
                sums += n
    chunks, several = (np.array(x, np.int64).reshape(-1, len(_UNIT)) for x in (units, joined))
    return chunks, several, sums
