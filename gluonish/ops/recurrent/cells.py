"""One time step of each recurrent cell, forward and backward, on arrays.

References:
    S. Hochreiter, J. Schmidhuber, Long Short-Term Memory, 1997.
    F. Gers, J. Schmidhuber, F. Cummins, Learning to Forget: Continual Prediction with LSTM, 2000.
    K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014; the reset gate
    here multiplies the recurrent product, as in cuDNN.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.ops.recurrent.layout import Dims


class Cell(NamedTuple):
    """The forward and backward functions of a recurrent cell.

    Attributes:
        forward: ``forward(xp, dims, pre, recurrent, h, c, saved)`` returns the new hidden state
            before projection, and the new cell or None; fills ``saved``. ``pre`` and ``recurrent``
            are the products of input and hidden state, with biases; both may be overwritten.
        backward: ``backward(xp, dims, dh, dc, h, c, new_h, new_c, saved, d_pre, d_recurrent)``
            returns the gradients of ``h`` (the part that bypasses the products, or None) and ``c``;
            fills the gradients of both products, which are one array unless the cell is a GRU.
    """

    forward: Callable[..., tuple[Any, Any]]
    backward: Callable[..., tuple[Any, Any]]


def _sigmoid(xp: ModuleType, x: Any) -> Any:
    """Compute the sigmoid by tanh, which cannot overflow."""
    half = x.dtype.type(0.5)
    return half * xp.tanh(half * x) + half


def _split_gates(x: Any, units: int) -> list[Any]:
    return [x[:, i * units : (i + 1) * units] for i in range(x.shape[1] // units)]


def _lstm_forward(
    xp: ModuleType, dims: Dims, pre: Any, recurrent: Any, h: Any, c: Any, saved: Any
) -> tuple[Any, Any]:
    units = dims.units
    recurrent += pre
    i, f, g, o = _split_gates(saved, units)
    saved[:, : 2 * units] = _sigmoid(xp, recurrent[:, : 2 * units])
    g[...] = xp.tanh(recurrent[:, 2 * units : 3 * units])
    o[...] = _sigmoid(xp, recurrent[:, 3 * units :])
    new_c = f * c + i * g
    if dims.clip is not None:
        low, high, clip_nan = dims.clip
        clipped = xp.clip(new_c, low, high)
        new_c = xp.where(xp.isnan(new_c), low, clipped) if clip_nan else clipped
        new_c = new_c.astype(c.dtype, copy=False)
    return o * xp.tanh(new_c), new_c


def _lstm_backward(
    xp: ModuleType,
    dims: Dims,
    dh: Any,
    dc: Any,
    h: Any,
    c: Any,
    new_h: Any,
    new_c: Any,
    saved: Any,
    d_pre: Any,
    d_recurrent: Any,
) -> tuple[None, Any]:
    i, f, g, o = _split_gates(saved, dims.units)
    di, df, dg, do = _split_gates(d_pre, dims.units)
    bent = xp.tanh(new_c)
    dc = dc + dh * o * (1 - bent * bent)
    if dims.clip is not None:
        dc = dc * ((new_c > dims.clip[0]) & (new_c < dims.clip[1]))
    di[...] = dc * g * i * (1 - i)
    df[...] = dc * c * f * (1 - f)
    dg[...] = dc * i * (1 - g * g)
    do[...] = dh * bent * o * (1 - o)
    return None, dc * f


def _gru_forward(
    xp: ModuleType, dims: Dims, pre: Any, recurrent: Any, h: Any, c: Any, saved: Any
) -> tuple[Any, None]:
    units = dims.units
    r, z, n, b = _split_gates(saved, units)
    saved[:, : 2 * units] = _sigmoid(xp, pre[:, : 2 * units] + recurrent[:, : 2 * units])
    b[...] = recurrent[:, 2 * units :]
    n[...] = xp.tanh(pre[:, 2 * units :] + r * b)
    return n + z * (h - n), None


def _gru_backward(
    xp: ModuleType,
    dims: Dims,
    dh: Any,
    dc: Any,
    h: Any,
    c: Any,
    new_h: Any,
    new_c: Any,
    saved: Any,
    d_pre: Any,
    d_recurrent: Any,
) -> tuple[Any, None]:
    r, z, n, b = _split_gates(saved, dims.units)
    dr, dz, dn = _split_gates(d_pre, dims.units)
    dn[...] = dh * (1 - z) * (1 - n * n)
    dr[...] = dn * b * r * (1 - r)
    dz[...] = dh * (h - n) * z * (1 - z)
    d_recurrent[...] = d_pre
    d_recurrent[:, 2 * dims.units :] *= r
    return dh * z, None


def _tanh_forward(
    xp: ModuleType, dims: Dims, pre: Any, recurrent: Any, h: Any, c: Any, saved: Any
) -> tuple[Any, None]:
    return xp.tanh(pre + recurrent), None


def _relu_forward(
    xp: ModuleType, dims: Dims, pre: Any, recurrent: Any, h: Any, c: Any, saved: Any
) -> tuple[Any, None]:
    return xp.maximum(pre + recurrent, 0), None


def _of_output(slope: Callable[[Any], Any]) -> Callable[..., tuple[None, None]]:
    """Return the backward function of a cell whose derivative depends only on its output."""

    def backward(
        xp: ModuleType,
        dims: Dims,
        dh: Any,
        dc: Any,
        h: Any,
        c: Any,
        new_h: Any,
        new_c: Any,
        saved: Any,
        d_pre: Any,
        d_recurrent: Any,
    ) -> tuple[None, None]:
        d_pre[...] = dh * slope(new_h)
        return None, None

    return backward


CELLS = {
    "lstm": Cell(_lstm_forward, _lstm_backward),
    "gru": Cell(_gru_forward, _gru_backward),
    "rnn_tanh": Cell(_tanh_forward, _of_output(lambda y: 1 - y * y)),
    "rnn_relu": Cell(_relu_forward, _of_output(lambda y: y > 0)),
}
