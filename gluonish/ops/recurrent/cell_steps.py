"""_lstm_step and _gru_step: a recurrent cell's arithmetic after its two products, in one operator.

Imperative cells use them: each of a dozen operators on a small state takes longer to call than to
compute. Graphs, and so files, hold MXNet's operators, which are fused there. The gates are saved
for the gradient. The second derivative is computed with the unfused operators.

References:
    See `gluonish.ops.recurrent.cells`.
"""

from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.constant_like import ZEROS_LIKE
from gluonish.ops.elementwise.unary import SIGMOID, TANH
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.recurrent.cells import CELLS
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.support.work import remembered


class _Dims(NamedTuple):
    """The fields of `gluonish.ops.recurrent.layout.Dims` that a cell reads."""

    units: int
    clip: None = None


def _check(name: str, gates: int, i2h: Spec, h2h: Spec, state: Spec) -> None:
    n, units = state.shape if len(state.shape) == 2 else (-1, -1)
    expected = Spec((n, gates * units), state.dtype)
    if not is_floating(state.dtype) or i2h != expected or h2h != expected:
        raise OperatorError(
            f"{name}: expected floating products of shape (N, {gates} * H) for a state of shape "
            f"(N, H), got {i2h}, {h2h} and {state}"
        )


def _split_gates(x: V, count: int) -> list[Any]:
    units = x.shape[1] // count
    return [slice_axis(x, axis=1, begin=i * units, end=(i + 1) * units) for i in range(count)]


def _zero_for_none(g: tuple[V | None, ...], like: V) -> list[Any]:
    return [apply(ZEROS_LIKE, (like,), {}) if x is None else x for x in g]


@remembered
def _infer_lstm(i2h: Spec, h2h: Spec, cells: Spec) -> tuple[Spec, Spec, Spec]:
    _check("_lstm_step", 4, i2h, h2h, cells)
    return cells, cells, i2h


def _lstm(xp: ModuleType, out: tuple[Any, Any, Any], i2h: Any, h2h: Any, cells: Any) -> None:
    hidden, after, gates = out
    total = widen(i2h) + widen(h2h)
    saved = xp.empty_like(total)
    dims = _Dims(cells.shape[1])
    hidden[...], after[...] = CELLS["lstm"].forward(xp, dims, 0, total, None, widen(cells), saved)
    gates[...] = saved


def _lstm_in_operators(i2h: Any, h2h: Any, cells: Any) -> tuple[Any, Any]:
    i, f, g, o = _split_gates(i2h + h2h, 4)
    after = SIGMOID(f) * cells + SIGMOID(i) * TANH(g)
    return SIGMOID(o) * TANH(after), after


def _lstm_gradient(
    g: tuple[V | None, ...], i2h: V, h2h: V, cells: V, hidden: V, after: V, gates: V
) -> Any:
    heads = _zero_for_none(g[:2], after)
    both, before = apply(LSTM_STEP_BACKWARD, (*heads, i2h, h2h, cells, gates, after), {})
    return both, both, before


LSTM_STEP = register(
    Operator(
        "_lstm_step",
        _infer_lstm,
        _lstm,
        Gradient(_lstm_gradient, uses_output=True),
        doc=(
            "Hidden state and cell (N, H) of an LSTM after one step, from both products (N, 4 *\n"
            "H) and the cell before.\n\n"
            "The hidden output is the gates after their activations."
        ),
        inputs=("i2h", "h2h", "cells"),
        outputs=3,
        visible=2,
        output_names=("hidden", "cells", "gates"),
        execution=Execution(heavy=True),
    )
)


def _lstm_backward(
    xp: ModuleType,
    out: tuple[Any, Any],
    d_hidden: Any,
    d_after: Any,
    i2h: Any,
    h2h: Any,
    cells: Any,
    gates: Any,
    after: Any,
) -> None:
    both, before = out
    dh, dc, c, saved, new_c = (widen(x) for x in (d_hidden, d_after, cells, gates, after))
    d = xp.empty(both.shape, accumulator(both.dtype))
    dims = _Dims(before.shape[1])
    before[...] = CELLS["lstm"].backward(xp, dims, dh, dc, None, c, None, new_c, saved, d, d)[1]
    both[...] = d


def _lstm_backward_in_operators(
    d_hidden: Any, d_after: Any, i2h: Any, h2h: Any, cells: Any, gates: Any, after: Any
) -> tuple[Any, Any]:
    rule = composite_gradient(_lstm_in_operators)
    both, _, before = rule((d_hidden, d_after), i2h, h2h, cells)
    return both, before


LSTM_STEP_BACKWARD = register(
    Operator(
        "_lstm_step_backward",
        lambda d_hidden, d_after, i2h, h2h, cells, gates, after: (i2h, cells),
        _lstm_backward,
        composite_gradient(_lstm_backward_in_operators),
        doc="Gradients of _lstm_step's inputs: of both products, and of the cell.",
        inputs=("d_hidden", "d_after", "i2h", "h2h", "cells", "gates", "after"),
        outputs=2,
        execution=Execution(heavy=True),
    )
)


@remembered
def _infer_gru(i2h: Spec, h2h: Spec, hidden: Spec) -> tuple[Spec, Spec]:
    _check("_gru_step", 3, i2h, h2h, hidden)
    n, units = hidden.shape
    return hidden, Spec((n, 4 * units), hidden.dtype)


def _gru(xp: ModuleType, out: tuple[Any, Any], i2h: Any, h2h: Any, hidden: Any) -> None:
    after, gates = out
    saved = xp.empty(gates.shape, accumulator(gates.dtype))
    dims = _Dims(hidden.shape[1])
    after[...] = CELLS["gru"].forward(
        *(xp, dims, widen(i2h), widen(h2h), widen(hidden), None, saved)
    )[0]
    gates[...] = saved


def _gru_in_operators(i2h: Any, h2h: Any, hidden: Any) -> Any:
    (i_r, i_z, i_n), (h_r, h_z, h_n) = _split_gates(i2h, 3), _split_gates(h2h, 3)
    update = SIGMOID(i_z + h_z)
    new = TANH(i_n + SIGMOID(i_r + h_r) * h_n)
    return new + update * (hidden - new)


def _gru_gradient(g: tuple[V | None, ...], i2h: V, h2h: V, hidden: V, after: V, gates: V) -> Any:
    if g[0] is None:
        return None, None, None
    return apply(GRU_STEP_BACKWARD, (g[0], i2h, h2h, hidden, gates), {})


GRU_STEP = register(
    Operator(
        "_gru_step",
        _infer_gru,
        _gru,
        Gradient(_gru_gradient, uses_output=True),
        doc=(
            "Hidden state (N, H) of a GRU after one step, from both products (N, 3 * H) and the\n"
            "hidden state before.\n\n"
            "The hidden output is the gates after their activations, and the recurrent product\n"
            "of the new gate."
        ),
        inputs=("i2h", "h2h", "hidden"),
        outputs=2,
        visible=1,
        output_names=("hidden", "gates"),
        execution=Execution(heavy=True),
    )
)


def _gru_backward(
    xp: ModuleType,
    out: tuple[Any, Any, Any],
    d_after: Any,
    i2h: Any,
    h2h: Any,
    hidden: Any,
    gates: Any,
) -> None:
    d_i2h, d_h2h, before = out
    wide = accumulator(d_i2h.dtype)
    d, e = xp.empty(d_i2h.shape, wide), xp.empty(d_i2h.shape, wide)
    dims = _Dims(before.shape[1])
    before[...] = CELLS["gru"].backward(
        *(xp, dims, widen(d_after), None, widen(hidden), None, None, None, widen(gates), d, e)
    )[0]
    d_i2h[...], d_h2h[...] = d, e


def _gru_backward_in_operators(
    d_after: Any, i2h: Any, h2h: Any, hidden: Any, gates: Any
) -> tuple[Any, ...]:
    return composite_gradient(_gru_in_operators)(d_after, i2h, h2h, hidden)


GRU_STEP_BACKWARD = register(
    Operator(
        "_gru_step_backward",
        lambda d_after, i2h, h2h, hidden, gates: (i2h, h2h, hidden),
        _gru_backward,
        composite_gradient(_gru_backward_in_operators),
        doc="Gradients of _gru_step's inputs: of each product, and of the hidden state.",
        inputs=("d_after", "i2h", "h2h", "hidden", "gates"),
        outputs=3,
        execution=Execution(heavy=True),
    )
)
