"""The reference kernels of the RNN operator, by layer, direction and time step.

They compute in the dtype of the reserve, which is float32 for 16-bit floats.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.ops.recurrent.cells import CELLS
from gluonish.ops.recurrent.layout import Dims, Reserve, Weights, split_parameters
from gluonish.ops.support.precision import product, total, widen


class Arguments(NamedTuple):
    """The array inputs of the RNN operator; the last two are None if not used."""

    data: Any
    parameters: Any
    state: Any
    state_cell: Any = None
    sequence_length: Any = None


def time_order(dims: Dims, run: int) -> range:
    """Return the time steps in the order of a run."""
    steps = dims.steps
    return range(steps) if run % dims.directions == 0 else range(steps - 1, -1, -1)


def valid_steps(xp: ModuleType, dims: Dims, lengths: Any) -> Any:
    """Return the mask (T, N, 1) of steps within their sequence; None if all steps are."""
    if lengths is None:
        return None
    return (xp.arange(dims.steps)[:, None] < lengths.astype(xp.int64)[None, :])[:, :, None]


def previous_hidden(xp: ModuleType, dims: Dims, run: int, hidden: Any, first: Any) -> Any:
    """Return the hidden state before each step (T, N, R).

    ``hidden`` holds the states after each step, ``first`` the initial state (N, R).
    """
    if not dims.steps:
        return hidden
    before = xp.empty_like(hidden)
    if run % dims.directions == 0:
        before[0], before[1:] = first, hidden[:-1]
    else:
        before[-1], before[:-1] = first, hidden[1:]
    return before


def forward(
    xp: ModuleType,
    dims: Dims,
    outputs: Sequence[Any],
    arrays: Arguments,
    draw: Callable[[tuple[int, ...]], Any],
) -> None:
    """Run all layers forward and fill the outputs.

    Args:
        dims: Extents and options.
        outputs: Output, last hidden states, last cells of an LSTM, and the reserve.
        draw: Returns the factors of dropout for a shape.
    """
    weights = split_parameters(widen(arrays.parameters), dims)
    reserve = Reserve(outputs[-1], dims)
    valid = valid_steps(xp, dims, arrays.sequence_length)
    mask = reserve.get("mask")
    if mask is not None:
        mask[...] = draw(mask.shape)
    x = widen(arrays.data)
    for layer in range(dims.layers):
        for run in range(layer * dims.directions, (layer + 1) * dims.directions):
            cell = None if arrays.state_cell is None else widen(arrays.state_cell[run])
            h, c = _run_forward(
                xp, dims, run, weights[run], x, widen(arrays.state[run]), cell, reserve, valid
            )
            outputs[1][run] = h
            if c is not None:
                outputs[2][run] = c
        x = _joined(xp, dims, layer, reserve, valid)
        if layer + 1 < dims.layers and dims.joined:
            x = x if mask is None else x * mask[layer]
            reserve.get("x", layer + 1)[...] = x
    outputs[0][...] = x


def _joined(xp: ModuleType, dims: Dims, layer: int, reserve: Reserve, valid: Any) -> Any:
    """Return a layer's output: its directions concatenated, 0 after the end of a sequence."""
    first = layer * dims.directions
    parts = [reserve.get("hidden", run) for run in range(first, first + dims.directions)]
    joined = parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=2)
    return joined if valid is None else joined * valid


def _run_forward(
    xp: ModuleType,
    dims: Dims,
    run: int,
    w: Weights,
    x: Any,
    h: Any,
    c: Any,
    reserve: Reserve,
    valid: Any,
) -> tuple[Any, Any]:
    """Run one layer in one direction; return the last hidden state and cell."""
    hidden, gates, cells = (reserve.get(name, run) for name in ("hidden", "gates", "cells"))
    step = CELLS[dims.mode].forward
    pre = product(xp, x.reshape(dims.steps * dims.batch, x.shape[2]), w.i2h.T) + w.i2h_bias
    pre = pre.reshape(dims.steps, dims.batch, w.i2h.shape[0])
    for t in time_order(dims, run):
        recurrent = product(xp, h, w.h2h.T) + w.h2h_bias
        saved = None if gates is None else gates[t]
        new_h, new_c = step(xp, dims, pre[t], recurrent, h, c, saved)
        if w.h2r is not None:
            new_h = product(xp, new_h, w.h2r.T)
        if valid is not None:
            new_h = xp.where(valid[t], new_h, h)
            new_c = None if new_c is None else xp.where(valid[t], new_c, c)
        hidden[t] = h = new_h
        if new_c is not None:
            cells[t] = c = new_c
    return h, c


def backward(
    xp: ModuleType,
    dims: Dims,
    outputs: Sequence[Any],
    heads: Sequence[Any],
    arrays: Arguments,
    flat: Any,
) -> None:
    """Run all layers backward and fill the gradients.

    Args:
        dims: Extents and options.
        outputs: Gradients of the data, the parameters, the states and, for an LSTM, the cells.
        heads: Gradients of the output, the last hidden states and the last cells; None for zero.
        flat: The reserve, as one vector.
    """
    d_data, d_parameters, *d_states = outputs
    dtype = flat.dtype
    weights = split_parameters(widen(arrays.parameters), dims)
    total = xp.empty(d_parameters.shape, dtype)
    d_weights = split_parameters(total, dims)
    reserve = Reserve(flat, dims)
    valid = valid_steps(xp, dims, arrays.sequence_length)
    mask = reserve.get("mask")
    dy = None if heads[0] is None else widen(heads[0])
    for layer in reversed(range(dims.layers)):
        x = _layer_input(dims, layer, reserve, arrays)
        dx = xp.zeros(x.shape, dtype)
        for direction in range(dims.directions):
            run = layer * dims.directions + direction
            part = None
            if dy is not None:
                part = dy[:, :, direction * dims.width : (direction + 1) * dims.width]
            last = [None if head is None else widen(head[run]) for head in heads[1:]]
            gradient = _Run(xp, dims, run, weights[run], arrays, reserve, valid)
            firsts = gradient.backward(part, last, x, dx, d_weights[run])
            for target, first in zip(d_states, firsts, strict=False):
                target[run] = first
        dy = dx * mask[layer - 1] if layer and mask is not None else dx
    d_data[...] = dy
    d_parameters[...] = total


def _layer_input(dims: Dims, layer: int, reserve: Reserve, arrays: Arguments) -> Any:
    if not layer:
        return widen(arrays.data)
    return reserve.get("x", layer) if dims.joined else reserve.get("hidden", layer - 1)


class _Run:
    """The backward pass of one layer in one direction."""

    def __init__(
        self,
        xp: ModuleType,
        dims: Dims,
        run: int,
        w: Weights,
        arrays: Arguments,
        reserve: Reserve,
        valid: Any,
    ) -> None:
        self.xp = xp
        self.dims = dims
        self.run = run
        self.w = w
        self.hidden = reserve.get("hidden", run)
        self.gates = reserve.get("gates", run)
        self.cells = reserve.get("cells", run)
        self.state = widen(arrays.state[run])
        self.cell = None if arrays.state_cell is None else widen(arrays.state_cell[run])
        self.valid = valid

    def backward(
        self, dy: Any, last: Sequence[Any], x: Any, dx: Any, dw: Weights
    ) -> tuple[Any, Any]:
        """Add to ``dx``, fill ``dw`` and return the gradients of the initial states.

        Args:
            dy: Gradient of the run's output (T, N, R), or None.
            last: Gradients of the last hidden state and cell, or None.
            x: The layer's input.
            dx: Gradient of ``x``.
            dw: Gradients of the parameters.
        """
        xp, dims, w = self.xp, self.dims, self.w
        rows = dims.steps * dims.batch
        shape = (dims.steps, dims.batch, w.i2h.shape[0])
        d_pre = xp.empty(shape, self.hidden.dtype)
        d_recurrent = xp.empty_like(d_pre) if dims.mode == "gru" else d_pre
        d_full = xp.empty((*shape[:2], dims.width), d_pre.dtype) if dims.projected else None
        dh, dc = self._through_time(dy, last, d_pre, d_recurrent, d_full)
        flat = d_pre.reshape(rows, shape[2])
        flat_recurrent = d_recurrent.reshape(rows, shape[2])
        dx += product(xp, flat, w.i2h).reshape(dx.shape)
        dw.i2h[...] = product(xp, flat.T, x.reshape(rows, x.shape[2]))
        before = previous_hidden(xp, dims, self.run, self.hidden, self.state)
        dw.h2h[...] = product(xp, flat_recurrent.T, before.reshape(rows, dims.width))
        dw.i2h_bias[...] = total(xp, flat, (0,))
        dw.h2h_bias[...] = total(xp, flat_recurrent, (0,))
        if d_full is not None:
            unprojected = self.gates[:, :, 3 * dims.units :] * xp.tanh(self.cells)
            dw.h2r[...] = product(
                xp, d_full.reshape(rows, dims.width).T, unprojected.reshape(rows, dims.units)
            )
        return dh, dc

    def _through_time(
        self, dy: Any, last: Sequence[Any], d_pre: Any, d_recurrent: Any, d_full: Any
    ) -> tuple[Any, Any]:
        """Fill the gradients of both products, and of the projection's input, at each step."""
        xp, dims, w = self.xp, self.dims, self.w
        step = CELLS[dims.mode].backward
        dh = xp.zeros_like(self.state) if last[0] is None else last[0]
        dc = None
        if self.cell is not None:
            dc = xp.zeros_like(self.cell) if last[1] is None else last[1]
        order = list(time_order(dims, self.run))
        for place in reversed(range(len(order))):
            t, before = order[place], order[place - 1] if place else None
            h = self.state if before is None else self.hidden[before]
            cells = (None, None)
            if self.cells is not None:
                cells = (self.cell if before is None else self.cells[before], self.cells[t])
            passed_h, passed_c = dh, dc
            total = dh if dy is None else dh + dy[t]
            dc_here = dc
            if self.valid is not None:
                total = total * self.valid[t]
                dc_here = None if dc is None else dc * self.valid[t]
            if d_full is not None:
                d_full[t] = total
                total = product(xp, total, w.h2r)
            saved = None if self.gates is None else self.gates[t]
            direct, dc = step(
                *(xp, dims, total, dc_here, h, cells[0], self.hidden[t], cells[1], saved),
                *(d_pre[t], d_recurrent[t]),
            )
            dh = product(xp, d_recurrent[t], w.h2h)
            dh = dh if direct is None else dh + direct
            if self.valid is not None:
                dh = xp.where(self.valid[t], dh, passed_h)
                dc = None if dc is None else xp.where(self.valid[t], dc, passed_c)
        return dh, dc
