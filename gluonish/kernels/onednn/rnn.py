"""The RNN operator as a few large products, plus a product and a kernel for each time step.

One product computes the input's contribution to all time steps, and one the gradient of a weight.
Each time step multiplies the previous state by a weight that is packed once, and runs a generated
kernel for the rest of the step.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import rnn_loops, rnn_runs
from gluonish.kernels.generated.rnn_steps import (
    MASK_TILE,
    ROW_ELEMENTS,
    dropout_mask,
    step_backward,
    step_forward,
)
from gluonish.kernels.generated.sums import add_rows
from gluonish.kernels.onednn.binding import require
from gluonish.kernels.onednn.rnn_products import PackedProduct, Scratch, product
from gluonish.ops.kernel import Array, address
from gluonish.ops.recurrent.fused_rnn import split, weights_of
from gluonish.ops.recurrent.layout import GATES, Dims, Reserve, Weights, dims_of, split_parameters
from gluonish.ops.recurrent.reference import Arguments, time_order
from gluonish.ops.recurrent.rnn import arguments, dropout_factors

_SMALL = 1 << 14  # gates over all time steps below which compiling does not pay
_MASK_GRAIN = 4  # minimum tiles of a dropout mask for each thread


_scratch = Scratch()


def supports(data: Spec, *rest: Spec, **attrs: Any) -> bool:
    """Whether the kernels support a call: it is large enough, and has no rare options.

    For bfloat16 only the products' operands are narrow; sums, gates and cells are float32.
    """
    gates = GATES[attrs["mode"]] * attrs["state_size"] * data.shape[0] * data.shape[1]
    return (
        data.dtype in (FLOAT32, BFLOAT16)
        and 0 not in data.shape
        and gates * attrs["num_layers"] >= _SMALL
        and not attrs["use_sequence_length"]
        and not attrs["projection_size"]
        and (attrs["mode"] != "lstm" or attrs["lstm_state_clip_min"] is None)
        and available()
    )


def supports_backward(*specs: Spec, heads: Shape, **attrs: Any) -> bool:
    """Whether the kernels support the gradient for these inputs."""
    return supports(*specs[len(heads) :], **attrs)


def rnn(xp: ModuleType, outputs: Sequence[Array], *arrays: Array, **attrs: Any) -> None:
    """Fill the outputs of RNN; see `gluonish.ops.recurrent.rnn`.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    inputs = arguments(_addressable("rnn", outputs[:-1], arrays), attrs)
    dims = dims_of(inputs.data.shape, attrs)
    _run_layers(dims, split_parameters(inputs.parameters, dims), outputs, inputs, attrs)


def fused_rnn(xp: ModuleType, outputs: Sequence[Array], *arrays: Array, **attrs: Any) -> None:
    """Fill the outputs of _fused_rnn; see `gluonish.ops.recurrent.fused_rnn`.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    operands = split(_addressable("fused_rnn", outputs[:-1], arrays), attrs)
    inputs = arguments(operands.joined(None), attrs)
    dims = dims_of(inputs.data.shape, attrs)
    _run_layers(dims, weights_of(operands.parts, dims), outputs, inputs, attrs)


def _addressable(name: str, outputs: Sequence[Array], arrays: Sequence[Array]) -> list[Array]:
    """Return contiguous inputs, after checking that the library can address the arrays."""
    contiguous = [np.ascontiguousarray(x) for x in arrays]
    require(name, *outputs, *contiguous)
    return contiguous


def _run_layers(
    dims: Dims,
    weights: Sequence[Weights],
    outputs: Sequence[Array],
    inputs: Arguments,
    attrs: Mapping[str, Any],
) -> None:
    """Run the forward pass of all layers."""
    reserve = Reserve(outputs[-1], dims)
    mask = reserve.get("mask")
    if mask is not None:
        _draw(mask, attrs["key"], attrs["p"], train=attrs["train"])
    x = inputs.data
    for layer in range(dims.layers):
        for run in range(layer * dims.directions, (layer + 1) * dims.directions):
            cell = None if inputs.state_cell is None else inputs.state_cell[run]
            _forward(dims, run, weights[run], x, inputs.state[run], cell, reserve)
            last = time_order(dims, run)[-1]
            outputs[1][run] = reserve.get("hidden", run)[last]
            if cell is not None:
                outputs[2][run] = reserve.get("cells", run)[last]
        above = layer + 1 < dims.layers
        if not above or dims.joined:
            x = outputs[0] if not above else reserve.get("x", layer + 1)
            _join(dims, layer, reserve, x)
            if above and mask is not None:
                np.multiply(x, mask[layer], out=x)
        else:
            x = reserve.get("hidden", layer)
        x = _scratch.converted("x", x, inputs.data.dtype)


def _draw(mask: Array, key: tuple[int, int], p: float, *, train: bool) -> None:
    """Fill a mask with the factors of dropout."""
    if not train or p >= 1:
        mask[...] = dropout_factors(np, key, (), p=p, train=train)
        return
    numbers = np.array([np.float32(p), np.float32(1 / (1 - p))], np.float64).view(np.int64)
    draw = np.array(key, np.uint64).view(np.int64)
    params = np.array([address(mask), mask.size, *draw, *numbers], np.int64)
    dropout_mask()(-(-mask.size // MASK_TILE), params, _MASK_GRAIN)


def _join(dims: Dims, layer: int, reserve: Reserve, out: Array) -> None:
    for direction in range(dims.directions):
        target = out[:, :, direction * dims.units : (direction + 1) * dims.units]
        target[...] = reserve.get("hidden", layer * dims.directions + direction)


class _Params:
    """The params of a kernel's calls, one row per time step.

    Args:
        order: The time steps, in the order of the forward pass.
        *columns: For each param: an array whose first axis is time, from which a step gets its own
            slice; or a pair of such an array, from which a step gets the previous slice, and an
            array for the first step; or a number.
    """

    def __init__(self, order: range, *columns: Any) -> None:
        steps = np.array(order, np.int64)
        self._table = np.empty((len(order), len(columns)), np.int64)
        for k, column in enumerate(columns):
            if isinstance(column, tuple):
                array, first = column
                self._table[1:, k] = address(array) + steps[:-1] * array.strides[0]
                self._table[0, k] = address(first)
            elif isinstance(column, np.ndarray):
                self._table[:, k] = address(column) + steps * column.strides[0]
            else:
                self._table[:, k] = column
        self._address, self._stride = address(self._table), self._table.strides[0]

    def at(self, index: int) -> int:
        """Return the address of a step's params; ``index`` is the step's index in the order."""
        return self._address + index * self._stride


def _fixed(array: Array) -> int:
    """Return the param for an array that all steps share."""
    return address(array)


def _matrix(array: Array) -> Array:
    """Reshape an array (T, N, features) to a matrix (T N, features)."""
    return array.reshape(-1, array.shape[-1])


def _grain(dims: Dims) -> int:
    return max(1, ROW_ELEMENTS // dims.units)


def _forward(
    dims: Dims, run: int, w: Weights, x: Array, h: Array, c: Array | None, reserve: Reserve
) -> None:
    """Run the forward pass of one layer in one direction."""
    order, narrow = time_order(dims, run), x.dtype != FLOAT32
    hidden, gates = reserve.get("hidden", run), reserve.get("gates", run)
    if not narrow and rnn_loops.is_fast():
        _forward_loop(dims, run, w, x, h, c, reserve)
        return
    kernel, units = step_forward(dims.mode, narrow=narrow), dims.units
    before: tuple[Array, Array] = (hidden, _scratch.converted("before", h, FLOAT32))
    # The hidden state that the products read.
    half = _scratch.get("half", hidden.shape, x.dtype) if narrow else hidden
    more = (half,) if narrow else ()
    if dims.mode == "gru":
        rows = (dims.steps, dims.batch, 3 * units)
        target, recurrent = _scratch.get("pre", rows), _scratch.get("recurrent", rows[1:])
        step = PackedProduct(recurrent, h, w.h2h.T, w.h2h_bias[None])
        params = _Params(order, target, _fixed(recurrent), gates, before, hidden, units, *more)
        targets = [recurrent] * dims.steps
        bias = w.i2h_bias
    else:
        target = hidden if gates is None else gates
        step = PackedProduct(target[0], h, w.h2h.T, add=True)
        if dims.mode == "lstm":
            cells = reserve.get("cells", run)
            assert c is not None
            c = _scratch.converted("c", c, FLOAT32)
            params = _Params(order, gates, (cells, c), cells, hidden, units, *more)
        else:
            params = _Params(order, hidden, units, *more)
        targets = list(target)
        bias = w.i2h_bias.astype(FLOAT32) + w.h2h_bias.astype(FLOAT32)
    product(_matrix(target), _matrix(x), w.i2h.T, bias[None])
    grain = _grain(dims)
    for i, t in enumerate(order):
        step(targets[t], h)
        kernel.run_at(dims.batch, params.at(i), grain)
        h = half[t]


def _forward_loop(
    dims: Dims, run: int, w: Weights, x: Array, h: Array, c: Array | None, reserve: Reserve
) -> None:
    """Do the same with all time steps in one call."""
    hidden, gates = reserve.get("hidden", run), reserve.get("gates", run)
    pre, bias = hidden if gates is None else gates, w.i2h_bias + w.h2h_bias
    if dims.mode == "gru":
        pre = _scratch.get("pre", (dims.steps, dims.batch, 3 * dims.units))
        bias = w.i2h_bias
    product(_matrix(pre), _matrix(x), w.i2h.T, bias[None])
    operands = {"pre": pre, "hidden": hidden, "hidden_first": h, "bias": w.h2h_bias}
    if gates is not None:
        operands["gates"] = gates
    if c is not None:
        operands.update(cells=reserve.get("cells", run), cells_first=c)
    _run_loop(dims, run, w, backward=False, **operands)


def _run_loop(dims: Dims, run: int, w: Weights, *, backward: bool, **operands: Array | int) -> None:
    sizes = (dims.steps, dims.batch, dims.units)
    order = time_order(dims, run)
    rnn_runs.run(dims.mode, sizes, order, backward=backward, weight=w.h2h, **operands)


def rnn_backward(
    xp: ModuleType, outputs: Sequence[Array], *arrays: Array, heads: Shape, **attrs: Any
) -> None:
    """Fill the outputs of RNN's gradient; see `gluonish.ops.recurrent.rnn`.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    operands = [*_addressable("rnn_backward", outputs, arrays[:-1]), arrays[-1]]
    inputs = arguments(operands[len(heads) : -1], attrs)
    dims = dims_of(inputs.data.shape, attrs)
    weights = split_parameters(inputs.parameters, dims)
    d_weights = split_parameters(outputs[1], dims)
    found = (outputs[0], *outputs[2:])
    tops = dict(zip(heads, operands, strict=False))
    reserve = Reserve(operands[-1], dims)
    _run_layers_back(dims, weights, d_weights, found, tops, inputs, reserve)


def fused_rnn_backward(
    xp: ModuleType, outputs: Sequence[Array], *arrays: Array, **attrs: Any
) -> None:
    """Fill the outputs of _fused_rnn's gradient; see `gluonish.ops.recurrent.fused_rnn`.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    contiguous = _addressable("fused_rnn_backward", outputs, arrays[:-1])
    operands = split([*contiguous, arrays[-1]], attrs)
    inputs = arguments(operands.joined(None), attrs)
    dims = dims_of(inputs.data.shape, attrs)
    count = len(outputs) - len(operands.parts)
    weights, d_weights = weights_of(operands.parts, dims), weights_of(outputs[count:], dims)
    tops = dict(zip(attrs["heads"], operands.heads, strict=True))
    reserve = Reserve(operands.reserve, dims)
    _run_layers_back(dims, weights, d_weights, outputs[:count], tops, inputs, reserve)


def _run_layers_back(
    dims: Dims,
    weights: Sequence[Weights],
    d_weights: Sequence[Weights],
    outputs: Sequence[Array],
    tops: Mapping[int, Array],
    inputs: Arguments,
    reserve: Reserve,
) -> None:
    """Run the backward pass of all layers.

    Args:
        d_weights: Arrays for the gradients of the weights.
        outputs: Arrays for the gradients of the data and the initial states.
        tops: Gradients of the output (0), the last hidden states (1) and the last cells (2).
        inputs: The data and the initial states.
        reserve: Arrays saved by the forward pass.
    """
    mask = reserve.get("mask")
    dy = tops.get(0)
    if dy is None:
        dy = np.zeros((dims.steps, dims.batch, dims.directions * dims.units), np.float32)
    dy, dtype = _scratch.converted("dy", dy, FLOAT32), inputs.data.dtype
    for layer in reversed(range(dims.layers)):
        x = inputs.data
        if layer:
            x = reserve.get("x", layer) if dims.joined else reserve.get("hidden", layer - 1)
            x = _scratch.converted("x", x, dtype)
        dx = outputs[0] if not layer else _scratch.get(f"dx{layer % 2}", x.shape)
        for direction in range(dims.directions):
            run = layer * dims.directions + direction
            d_hidden = dy[:, :, direction * dims.units : (direction + 1) * dims.units]
            firsts = [
                None if first is None else _scratch.converted(f"first{i}", first[run], FLOAT32)
                for i, first in enumerate((inputs.state, inputs.state_cell))
            ]
            lasts = [tops[i][run] if i in tops else None for i in (1, 2)]
            ends = _backward(
                *(dims, run, weights[run], d_hidden, firsts, lasts, reserve, d_weights[run])
            )
            for target, end in zip(outputs[1:], ends, strict=False):
                target[run] = end
            rows = (dims.steps, dims.batch, len(weights[run].i2h))
            pre = _matrix(_scratch.get("d_pre", rows, dtype))
            product(_matrix(dx), pre, weights[run].i2h, add=direction > 0)
            product(d_weights[run].i2h, pre.T, _matrix(x))
        if layer and mask is not None:
            np.multiply(dx, mask[layer - 1], out=dx)
        dy = dx


def _backward(
    dims: Dims,
    run: int,
    w: Weights,
    dy: Array,
    firsts: Sequence[Array | None],
    lasts: Sequence[Array | None],
    reserve: Reserve,
    dw: Weights,
) -> tuple[Array, Array]:
    """Run a layer's backward pass in one direction; return the gradients of the initial states.

    Also fill the gradients of the recurrent weight, of the biases and, in scratch memory, of the
    products of the input.
    """
    order = time_order(dims, run)
    hidden, gates = reserve.get("hidden", run), reserve.get("gates", run)
    states = (dims.batch, dims.units)
    dh, dc = _start("dh", states, lasts[0]), _start("dc", states, lasts[1])
    if w.i2h.dtype == FLOAT32 and rnn_loops.is_fast():
        _backward_loop(dims, run, w, dy, firsts, (dh, dc), reserve, dw)
        return dh, dc
    rows, dtype = (dims.steps, dims.batch, w.i2h.shape[0]), w.i2h.dtype
    d_pre = d_recurrent = _scratch.get("d_pre", rows, dtype)
    kernel = step_backward(dims.mode, narrow=dtype != FLOAT32)
    stride = dy.strides[1] // dy.itemsize
    tail = (_fixed(dh), d_pre, dims.units)
    if dims.mode == "lstm":
        cells = reserve.get("cells", run)
        params = _Params(
            *(order, gates, (cells, firsts[1]), cells, dy, stride),
            *(_fixed(dh), _fixed(dc), d_pre, dims.units),
        )
    elif dims.mode == "gru":
        d_recurrent = _scratch.get("d_recurrent", rows, dtype)
        before = (hidden, firsts[0])
        params = _Params(
            *(order, gates, before, dy, stride, _fixed(dh), d_pre, d_recurrent, dims.units)
        )
    else:
        params = _Params(order, hidden, dy, stride, *tail)
    step = PackedProduct(dh, d_recurrent[0], w.h2h, add=dims.mode == "gru")
    grain = _grain(dims)
    for i in reversed(range(dims.steps)):
        kernel.run_at(dims.batch, params.at(i), grain)
        step(dh, d_recurrent[order[i]])
    earlier = _scratch.get("earlier", hidden.shape, dtype)
    _shift(earlier, hidden, firsts[0], backward=order.step < 0)
    product(dw.h2h, _matrix(d_recurrent).T, _matrix(earlier))
    _add_rows(dw.i2h_bias, _matrix(d_pre))
    if dims.mode == "gru":
        _add_rows(dw.h2h_bias, _matrix(d_recurrent))
    else:
        dw.h2h_bias[...] = dw.i2h_bias
    return dh, dc


def _backward_loop(
    dims: Dims,
    run: int,
    w: Weights,
    dy: Array,
    firsts: Sequence[Array | None],
    ends: tuple[Array, Array],
    reserve: Reserve,
    dw: Weights,
) -> None:
    """Do the same with all time steps in one call; ``ends`` become the gradients of the states."""
    hidden, rows = reserve.get("hidden", run), w.i2h.shape[0]
    products = other = _scratch.get("d_pre", (dims.steps, dims.batch, rows))
    if dims.mode == "gru":
        other = _scratch.get("d_recurrent", products.shape)
    form = rnn_loops.Form(dims.mode, backward=True)
    sums = np.zeros((-(-dims.batch // rnn_loops.ROWS), form.sums, dims.units), FLOAT32)
    operands = {"hidden": hidden, "dy": dy, "dh": ends[0], "dc": ends[1], "sums": sums}
    operands.update(products=products, other=other)
    for name, first in zip(("hidden", "cells"), firsts, strict=True):
        if first is not None:
            operands.update({name: reserve.get(name, run), f"{name}_first": first})
    if form.gates > 1:
        operands["gates"] = reserve.get("gates", run)
    steps = {"dy_step": dy.strides[0], "dy_row": dy.strides[1]}
    _run_loop(dims, run, w, backward=True, **operands, **steps)
    earlier = _scratch.get("earlier", hidden.shape)
    _shift(earlier, hidden, firsts[0], backward=time_order(dims, run).step < 0)
    product(dw.h2h, _matrix(other).T, _matrix(earlier))
    total = sums.sum(axis=0)
    dw.i2h_bias[...] = total[: form.gates].reshape(-1)
    dw.h2h_bias[...] = dw.i2h_bias
    if dims.mode == "gru":
        dw.h2h_bias[2 * dims.units :] = total[3]


def _add_rows(out: Array, rows: Array) -> None:
    """Fill ``out`` with the sum of rows, accumulated in float32."""
    if rows.dtype == FLOAT32:
        add_rows(out, rows)
        return
    ones = np.ones((1, len(rows)), rows.dtype)
    total = _scratch.get("rows", (1, rows.shape[1]))
    product(total, ones, rows)
    out[...] = total[0]


def _start(name: str, shape: Shape, last: Array | None) -> Array:
    array = _scratch.get(name, shape)
    array[...] = 0 if last is None else last
    return array


def _shift(out: Array, hidden: Array, first: Array | None, *, backward: bool) -> None:
    """Fill ``out`` with the hidden state before each step."""
    if backward:
        out[-1], out[:-1] = first, hidden[1:]
    else:
        out[0], out[1:] = first, hidden[:-1]
