"""Recurrent layers in NumPy for the double of cuDNN, written from cuDNN's formulas.

Everything is float64 but hidden states and outputs, which are rounded to the type of the data. A
step of a sequence that has ended changes nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

GATES = {0: 1, 1: 1, 2: 4, 3: 3}  # by cudnnRNNMode_t: relu, tanh, LSTM, GRU
RELU, TANH, LSTM, GRU = range(4)


class Shape(NamedTuple):
    """What a descriptor of layers and one of data say."""

    mode: int
    layers: int
    directions: int
    features: int
    hidden: int
    projected: int
    lengths: tuple[int, ...]
    steps: int

    @property
    def gates(self) -> int:
        return GATES[self.mode]

    @property
    def has_projection(self) -> bool:
        return self.projected != self.hidden

    def inputs(self, layer: int) -> int:
        """Features of a layer's input."""
        return self.projected * self.directions if layer else self.features

    def runs(self) -> Iterator[tuple[int, int]]:
        """Layers with their directions, as cuDNN counts pseudo layers."""
        return ((layer, way) for layer in range(self.layers) for way in range(self.directions))

    def active(self) -> Any:
        """Which samples have which steps: (steps, samples)."""
        return np.arange(self.steps)[:, None] < np.array(self.lengths)[None, :]

    def order(self, way: int) -> list[int]:
        """The steps as one direction takes them."""
        return list(range(self.steps))[:: -1 if way else 1]


class Weights(NamedTuple):
    """Of one layer in one direction: offsets in elements, or arrays."""

    matrices: list[Any]  # of the input, for each gate, then of the state
    projection: Any
    biases: list[Any]


def places(shape: Shape) -> tuple[list[Weights], int]:
    """Return where in the weight space each gate's matrix and bias is, with its shape; its size.

    Matrices of all layers come before all biases.
    """
    at, found = 0, []
    for layer, _ in shape.runs():
        matrices = []
        for wide in (shape.inputs(layer), shape.projected):
            for _ in range(shape.gates):
                matrices.append((at, (shape.hidden, wide)))
                at += shape.hidden * wide
        projection = None
        if shape.has_projection:
            projection = (at, (shape.projected, shape.hidden))
            at += shape.projected * shape.hidden
        found.append(Weights(matrices, projection, []))
    for weights in found:
        for _ in range(2 * shape.gates):
            weights.biases.append((at, (shape.hidden,)))
            at += shape.hidden
    return found, at


def cut(shape: Shape, space: Any) -> list[Weights]:
    """Return views of a weight space."""

    def view(place: Any) -> Any:
        start, extents = place
        return space[start : start + int(np.prod(extents))].reshape(extents)

    return [
        Weights(
            [view(x) for x in weights.matrices],
            None if weights.projection is None else view(weights.projection),
            [view(x) for x in weights.biases],
        )
        for weights in places(shape)[0]
    ]


def reserved(shape: Shape) -> int:
    """Return how many float64 numbers the forward pass leaves: rows of sequences' own steps."""
    row = 8 * shape.hidden + 2 * shape.projected  # activations or gradients, cell, output, state
    return sum(shape.lengths) * shape.layers * shape.directions * row


def unpack(shape: Shape, flat: Any) -> dict[tuple[str, int], Any]:
    """Return views (rows, features) of the numbers that the forward pass leaves."""
    rows, at, found = sum(shape.lengths), 0, {}
    for run, _ in enumerate(shape.runs()):
        for name, wide in (
            ("gates", 6 * shape.hidden),
            ("cell", shape.hidden),
            ("output", shape.hidden),
            ("state", shape.projected),
            ("gradient", shape.projected),
        ):
            found[name, run] = flat[at : at + rows * wide].reshape(rows, wide)
            at += rows * wide
    return found


def row_of(shape: Shape) -> Any:
    """Return the row of each step of each sample, -1 where there is none."""
    active = shape.active()
    return np.where(active, np.cumsum(active.reshape(-1)).reshape(active.shape) - 1, -1)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


Product = Callable[[Any, Any], Any]


def forward(
    shape: Shape, x: Any, first: list[Any], space: Any, kept: Any, product: Product, dtype: Any
) -> tuple[Any, Any, Any]:
    """Return the outputs (steps, samples, features), last states and last cells.

    Args:
        shape: Extents.
        space: The weight space.
        x: The input (steps, samples, features).
        first: States and cells (runs, samples, features).
        kept: float64 numbers for the gradient, of `reserved` elements, or None.
        product: Multiplies matrices.
        dtype: What states are rounded to.
    """
    weights, rows = cut(shape, space), row_of(shape)
    saved = {} if kept is None else unpack(shape, kept)
    states, cells = first[0].copy(), None if first[1] is None else first[1].copy()
    for layer in range(shape.layers):
        parts = []
        for way in range(shape.directions):
            run = layer * shape.directions + way
            y = np.zeros((*x.shape[:2], shape.projected))
            for t in shape.order(way):
                on = rows[t] >= 0
                h = states[run][on]
                c = None if cells is None else cells[run][on]
                made = _step(shape, weights[run], x[t][on], h, c, product)
                new = made.output
                if shape.has_projection:
                    new = product(new, weights[run].projection.T)
                new = new.astype(dtype).astype(float)
                states[run][on] = new
                y[t, on] = new
                if cells is not None:
                    cells[run][on] = made.cell
                if saved:
                    at = rows[t][on]
                    saved["gates", run][at, : made.gates.shape[1]] = made.gates
                    saved["output", run][at], saved["state", run][at] = made.output, new
                    if cells is not None:
                        saved["cell", run][at] = made.cell
            parts.append(y)
        x = np.concatenate(parts, axis=2)
    return x, states, cells


class _Made(NamedTuple):
    """Of one step: activations of the gates, the output before projection, the cell."""

    gates: Any
    output: Any
    cell: Any


def _step(shape: Shape, w: Weights, x: Any, h: Any, c: Any, product: Product) -> _Made:
    n = shape.gates
    own = [product(x, w.matrices[k].T) + w.biases[k] for k in range(n)]
    back = [product(h, w.matrices[n + k].T) + w.biases[n + k] for k in range(n)]
    if shape.mode == LSTM:
        i, f, o = (_sigmoid(own[k] + back[k]) for k in (0, 1, 3))
        g = np.tanh(own[2] + back[2])
        cell = f * c + i * g
        return _Made(np.concatenate([i, f, g, o], 1), o * np.tanh(cell), cell)
    if shape.mode == GRU:
        r, z = (_sigmoid(own[k] + back[k]) for k in (0, 1))
        n_ = np.tanh(own[2] + r * back[2])
        return _Made(np.concatenate([r, z, n_, back[2]], 1), (1 - z) * n_ + z * h, None)
    total = own[0] + back[0]
    y = np.maximum(total, 0) if shape.mode == RELU else np.tanh(total)
    return _Made(y, y, None)


def backward_data(
    shape: Shape, dy: Any, first: list[Any], last: list[Any], space: Any, kept: Any,
    product: Product,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the gradients of the input, first states and first cells.

    Args:
        shape: Extents.
        space: The weight space.
        product: Multiplies matrices.
        dy: Gradient of the outputs.
        first: States and cells that the layers began with.
        last: Gradients of the last states and cells.
        kept: What the forward pass left; the gates' gradients take the place of activations.
    """
    weights, rows = cut(shape, space), row_of(shape)
    saved = unpack(shape, kept)
    dh, dc = last[0].copy(), None if last[1] is None else last[1].copy()
    for layer in reversed(range(shape.layers)):
        dx = np.zeros((shape.steps, len(shape.lengths), shape.inputs(layer)))
        for way in range(shape.directions):
            run, w = layer * shape.directions + way, weights[layer * shape.directions + way]
            wide = slice(way * shape.projected, (way + 1) * shape.projected)
            order = shape.order(way)
            for place in reversed(range(len(order))):
                t = order[place]
                on = rows[t] >= 0
                at = rows[t][on]
                older = _before(shape, rows, way, t)[on]
                starts = older < 0
                h = np.where(starts[:, None], first[0][run][on], saved["state", run][older])
                c = None
                if shape.mode == LSTM:
                    c = np.where(starts[:, None], first[1][run][on], saved["cell", run][older])
                total = dh[run][on] + dy[t][on][:, wide]
                saved["gradient", run][at] = total
                if shape.has_projection:
                    total = product(total, w.projection)
                cell = (None, None) if dc is None else (dc[run][on], saved["cell", run][at])
                own, back, direct, earlier = _step_back(
                    shape, saved["gates", run][at], saved["output", run][at], total, h, c, cell
                )
                count = shape.gates
                dx[t, on] += sum(product(own[k], w.matrices[k]) for k in range(count))
                passed = sum(product(back[k], w.matrices[count + k]) for k in range(count))
                dh[run][on] = passed if direct is None else passed + direct
                if dc is not None:
                    dc[run][on] = earlier
                grads = np.concatenate([*own, *([back[2]] if shape.mode == GRU else [])], 1)
                saved["gates", run][at, : grads.shape[1]] = grads
        dy = dx
    return dy, dh, dc


def _before(shape: Shape, rows: Any, way: int, t: int) -> Any:
    """Return the row of each sample's step before ``t`` in a direction, -1 before the first."""
    other = t + 1 if way else t - 1
    return rows[other] if 0 <= other < shape.steps else np.full(len(shape.lengths), -1)


def _step_back(
    shape: Shape, gates: Any, y: Any, dy: Any, h: Any, c: Any, cell: tuple[Any, Any]
) -> tuple[list[Any], list[Any], Any, Any]:
    """Return gradients of both products' gates, of the state beside them, and of the cell."""
    H = shape.hidden
    parts = [gates[:, k * H : (k + 1) * H] for k in range(4)]
    if shape.mode == LSTM:
        i, f, g, o = parts
        bent = np.tanh(cell[1])
        d = cell[0] + dy * o * (1 - bent**2)
        found = [d * g * i * (1 - i), d * c * f * (1 - f), d * i * (1 - g**2)]
        found.append(dy * bent * o * (1 - o))
        return found, found, None, d * f
    if shape.mode == GRU:
        r, z, n, b = parts
        dn = dy * (1 - z) * (1 - n**2)
        own = [dn * b * r * (1 - r), dy * (h - n) * z * (1 - z), dn]
        return own, [own[0], own[1], dn * r], dy * z, None
    one = dy * (y > 0) if shape.mode == RELU else dy * (1 - y**2)
    return [one], [one], None, None


def backward_weights(shape: Shape, x: Any, first: Any, kept: Any, product: Product) -> Any:
    """Return the gradient of the weight space, from what `backward_data` left."""
    rows, saved = row_of(shape), unpack(shape, kept)
    total = np.zeros(places(shape)[1])
    grads, n, H = cut(shape, total), shape.gates, shape.hidden
    active = shape.active()
    for layer in range(shape.layers):
        for way in range(shape.directions):
            run = layer * shape.directions + way
            older = np.stack([_before(shape, rows, way, t) for t in range(shape.steps)])[active]
            samples = np.broadcast_to(np.arange(len(shape.lengths)), active.shape)[active]
            h = np.where(older[:, None] < 0, first[run][samples], saved["state", run][older])
            gates = saved["gates", run]
            own = [gates[:, k * H : (k + 1) * H] for k in range(n)]
            back = [*own[:2], gates[:, 3 * H : 4 * H]] if shape.mode == GRU else own
            for k in range(n):
                grads[run].matrices[k][...] = product(own[k].T, x[active])
                grads[run].matrices[n + k][...] = product(back[k].T, h)
                grads[run].biases[k][...] = own[k].sum(axis=0)
                grads[run].biases[n + k][...] = back[k].sum(axis=0)
            if shape.has_projection:
                d = saved["gradient", run]
                grads[run].projection[...] = product(d.T, saved["output", run])
        above = np.zeros((*active.shape, shape.projected * shape.directions))
        for way in range(shape.directions):
            wide = slice(way * shape.projected, (way + 1) * shape.projected)
            above[active, wide] = saved["state", layer * shape.directions + way]
        x = above
    return total
