"""All time steps of a recurrent layer in one call, in any threads."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.compiler.amx_code import has_amx
from gluonish.kernels.generated import rnn_loops, rnn_runs
from gluonish.ops.recurrent.layout import GATES

pytestmark = pytest.mark.skipif(
    not available() or not rnn_loops.is_fast(), reason="llvmlite or AVX-512 is not there"
)

MODES = ["lstm", "gru", "rnn_tanh", "rnn_relu"]
# Time steps, batch size and units: less than a vector, parts of vectors and of blocks, and several
# blocks of rows and of units.
SIZES = [(1, 1, 1), (3, 2, 15), (2, 33, 17), (4, 32, 64), (3, 70, 100), (2, 5, 200), (60, 3, 130)]
EMPTY = [(0, 2, 8), (3, 0, 8)]


@pytest.fixture(autouse=True, params=[False, True], ids=["vectors", "amx"])
def split(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Products of float32 vectors, or of three bfloat16 by AMX."""
    if request.param and not has_amx():
        pytest.skip("the processor has no AMX")
    monkeypatch.setattr(rnn_runs, "_is_split", lambda *_: request.param)
    return bool(request.param)


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
    rnn_runs.run(form.mode, sizes, order, backward=form.backward, **operands)


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
    monkeypatch.setattr(rnn_runs, "_WORTH", 1)
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

    monkeypatch.setattr(rnn_runs, "kernel", First)
    monkeypatch.setattr(rnn_runs, "_threads", lambda *_: 4)
    found = _all_of(mode, sizes)
    for name, x in want.items():
        np.testing.assert_array_equal(found[name], x, err_msg=name)


def _launches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that gets the form and the number of time steps of each kernel that runs."""
    found: list[Any] = []
    launch = rnn_runs._launch

    def noted(form: Any, sizes: Any, *rest: Any) -> None:
        found.append((form.split, sizes[0]))
        launch(form, sizes, *rest)

    monkeypatch.setattr(rnn_runs, "_launch", noted)
    return found


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_first_state_far_below_what_has_exact_parts(
    mode: str, backwards: bool, split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = (6, 40, 70)
    order = range(6)[::-1] if backwards else range(6)
    operands = _forward_operands(mode, sizes)
    operands["hidden_first"] *= np.float32(1e-30)
    want = _exact_forward(mode, order, operands)
    found = _launches(monkeypatch)
    _run(rnn_loops.Form(mode, backward=False), sizes, order, operands)
    np.testing.assert_allclose(operands["hidden"], want, rtol=1e-5, atol=2e-6)
    assert found == [(True, 6), (False, 6)][not split :]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("mode", ["lstm", "rnn_relu"])
def test_a_later_state_whose_parts_are_not_exact(
    mode: str, backwards: bool, split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = (5, 40, 70)
    order = range(5)[::-1] if backwards else range(5)
    operands = _forward_operands(mode, sizes)
    if mode == "lstm":  # shut output gates: a state of 1e-26
        operands["pre"][order[3], :, 3 * 70 :] = -58
    else:
        operands["pre"][order[3]] = -70
        operands["pre"][order[3], :, 33] = 2.0**70
    want = _exact_forward(mode, order, operands)
    found = _launches(monkeypatch)
    _run(rnn_loops.Form(mode, backward=False), sizes, order, operands)
    np.testing.assert_allclose(operands["hidden"], want, rtol=1e-5, atol=2e-6)
    assert found == [(True, 5), (False, 1)] if split else [(False, 5)]


@pytest.mark.parametrize("mode", ["lstm", "gru"])
@pytest.mark.parametrize("power", [-100, 70])
@pytest.mark.parametrize("last", [0, 2, 5])
def test_gradients_whose_parts_are_not_exact(
    mode: str, power: int, last: int, split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradients that leave the range at a time step are those of products of float32."""
    sizes = (6, 40, 70)
    made = []
    for is_split in (False, split):
        monkeypatch.setattr(rnn_runs, "_is_split", lambda *_, value=is_split: value)
        operands = _backward_operands(mode, sizes)
        operands["dy"][last + 1 :] = 0
        operands["dy"][last] *= np.float32(2.0**power)
        operands["dy"][:last] = 0 if power < 0 else operands["dy"][:last]
        for name in ("dh", "dc"):
            operands[name][...] = 0
        with monkeypatch.context() as patch:
            found = _launches(patch)
            _run(rnn_loops.Form(mode, backward=True), sizes, range(6), operands)
        made.append(operands)
        if is_split:
            # Stages before the step are exact zeros; its own gradients are not exact.
            assert found == [(True, 6), (False, last)]
    scale = np.float32(2.0**power)
    for name in ("products", "dh", "dc", "sums"):
        want, got = (x[name] / scale for x in made)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=name)
