"""All time steps of a recurrent layer in one call, in any threads."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import rnn_loops
from gluonish.kernels.onednn.memory import aligned_bytes
from gluonish.ops.recurrent.layout import GATES

pytestmark = pytest.mark.skipif(
    not available() or not rnn_loops.is_fast(), reason="llvmlite or AVX-512 is not there"
)

MODES = ["lstm", "gru", "rnn_tanh", "rnn_relu"]
# Time steps, batch size and units: less than a vector, parts of vectors and of blocks, and several
# blocks of rows and of units.
SIZES = [(1, 1, 1), (3, 2, 15), (2, 33, 17), (4, 32, 64), (3, 70, 100), (2, 5, 200), (60, 3, 130)]
EMPTY = [(0, 2, 8), (3, 0, 8)]


def _random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32) * 0.3


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _forward_operands(mode: str, sizes: tuple[int, int, int]) -> dict[str, Any]:
    steps, batch, units = sizes
    rows = GATES[mode] * units
    found = {
        "weight": _random(rows, units) * np.float32(units**-0.5),
        "hidden": np.full(sizes, np.nan, np.float32),
        "hidden_first": _random(batch, units),
        "bias": _random(rows),
    }
    pre = _random(steps, batch, rows)
    if mode == "lstm":
        cells = np.full(sizes, np.nan, np.float32)
        found.update(gates=pre, cells=cells, cells_first=_random(batch, units))
    elif mode == "gru":
        found.update(gates=np.full((steps, batch, 4 * units), np.nan, np.float32))
    else:
        found.update(hidden=pre)
    return {**found, "pre": pre}


def _run(form: Any, sizes: tuple[int, int, int], order: range, operands: dict[str, Any]) -> None:
    packed = aligned_bytes(form.packed_nbytes(sizes[2]))
    rnn_loops.run(form, sizes, order, packed, **operands)


def _exact_forward(mode: str, order: range, operands: dict[str, Any]) -> Any:
    """Return the hidden states in float64."""
    wide = {name: x.astype(np.float64) for name, x in operands.items()}
    h, c = wide["hidden_first"], wide.get("cells_first")
    out = np.empty_like(wide["hidden"])
    for t in order:
        sums, pre = h @ wide["weight"].T, wide["pre"][t]
        if mode == "lstm":
            i, f, g, o = np.split(sums + pre, 4, axis=1)
            c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
            h = _sigmoid(o) * np.tanh(c)
        elif mode == "gru":
            a, b = np.split(pre, 3, axis=1), np.split(sums + wide["bias"], 3, axis=1)
            r, z = _sigmoid(a[0] + b[0]), _sigmoid(a[1] + b[1])
            h = (1 - z) * np.tanh(a[2] + r * b[2]) + z * h
        else:
            h = np.tanh(sums + pre) if mode == "rnn_tanh" else np.maximum(sums + pre, 0)
        out[t] = h
    return out


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("sizes", SIZES + EMPTY, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_hidden_states_are_those_of_float64(
    mode: str, sizes: tuple[int, int, int], backwards: bool
) -> None:
    operands = _forward_operands(mode, sizes)
    order = range(sizes[0])[::-1] if backwards else range(sizes[0])
    want = _exact_forward(mode, order, operands)
    _run(rnn_loops.Form(mode, backward=False), sizes, order, operands)
    np.testing.assert_allclose(operands["hidden"], want, rtol=1e-5, atol=2e-6)


def _backward_operands(mode: str, sizes: tuple[int, int, int]) -> dict[str, Any]:
    forward = _forward_operands(mode, sizes)
    _run(rnn_loops.Form(mode, backward=False), sizes, range(sizes[0]), forward)
    steps, batch, units = sizes
    form = rnn_loops.Form(mode, backward=True)
    dy = _random(steps, batch, units)
    products = np.full((steps, batch, form.gates * units), np.nan, np.float32)
    blocks = -(-batch // rnn_loops.ROWS)
    return {
        **{name: x for name, x in forward.items() if name not in ("pre", "bias")},
        "dy": dy,
        "dy_step": dy.strides[0],
        "dy_row": dy.strides[1],
        "dh": _random(batch, units),
        "dc": _random(batch, units),
        "products": products,
        "other": products.copy() if mode == "gru" else products,
        "sums": np.zeros((blocks, form.sums, units), np.float32),
    }


def _all_of(mode: str, sizes: tuple[int, int, int]) -> dict[str, Any]:
    operands = _backward_operands(mode, sizes)
    _run(rnn_loops.Form(mode, backward=True), sizes, range(sizes[0]), operands)
    return operands


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("mode", MODES)
def test_what_is_no_number_is_seen_from_its_time_step_on(mode: str, number: float) -> None:
    sizes = (4, 2, 20)
    operands = _forward_operands(mode, sizes)
    operands["pre"][1, 0, 7] = number
    with np.errstate(all="ignore"):
        want = _exact_forward(mode, range(4), operands)
    _run(rnn_loops.Form(mode, backward=False), sizes, range(4), operands)
    np.testing.assert_allclose(operands["hidden"], want, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("sizes", SIZES + EMPTY, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_sums_are_those_of_the_gradients_of_products(
    mode: str, sizes: tuple[int, int, int]
) -> None:
    found = _all_of(mode, sizes)
    gates, units = GATES[mode], sizes[2]
    want = found["products"].sum((0, 1), np.float64).reshape(gates, units)
    if mode == "gru":
        want = np.concatenate([want, found["other"].sum((0, 1), np.float64)[None, 2 * units :]])
    np.testing.assert_allclose(found["sums"].sum(0), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_threads_change_no_bit(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = (5, 70, 200)
    monkeypatch.setattr(rnn_loops, "_WORTH", 1)
    found = _all_of(mode, sizes)
    openmp.disable_team()
    try:
        alone = _all_of(mode, sizes)
    finally:
        openmp.enable_teams()
    for name, x in found.items():
        np.testing.assert_array_equal(x, alone[name], err_msg=name)


@pytest.mark.parametrize("mode", MODES)
def test_one_thread_computes_what_others_leave(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of four threads runs alone, and two late ones find nothing to do."""
    sizes = (5, 70, 100)
    want = _all_of(mode, sizes)
    kernel = rnn_loops.kernel

    class First:
        def __init__(self, form: rnn_loops.Form) -> None:
            self._kernel = kernel(form)

        def run_threads(self, threads: int, params: int) -> None:
            assert threads == 4
            for _ in range(3):
                self._kernel.run_alone(1, params)

    monkeypatch.setattr(rnn_loops, "kernel", First)
    monkeypatch.setattr(rnn_loops, "_threads", lambda *_: 4)
    found = _all_of(mode, sizes)
    for name, x in want.items():
        np.testing.assert_array_equal(found[name], x, err_msg=name)
