"""The RNN operator: results, gradients to order 2, layout of the parameters, and refusals."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec
from gluonish.ops.recurrent.layout import dims_of, parameter_count, reserve_size, segments
from gluonish.ops.recurrent.rnn import RNN
from gluonish.ops.registry import find_operator
from tests.checking.check_operator import check_operator
from tests.checking.values import run_kernel, run_operator, runtime_attrs

GOLDEN = dict(np.load(Path(__file__).parents[2] / "golden" / "rnn.npz"))
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def cell(mode: str, a: Any, b: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """One step from the textbook's formulas."""
    if mode == "lstm":
        i, f, g, o = np.split(a + b, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    if mode == "gru":
        a, b = np.split(a, 3, 1), np.split(b, 3, 1)
        z = sigmoid(a[1] + b[1])
        return (1 - z) * np.tanh(a[2] + sigmoid(a[0] + b[0]) * b[2]) + z * h, c
    return (np.tanh(a + b) if mode == "rnn_tanh" else np.maximum(a + b, 0)), c


def expected(
    x: Any, flat: Any, state: Any, state_cell: Any = None, *, mode: str, layers: int, both: bool
) -> list[Any]:
    """Output and last states, read off the packed vector step by step."""
    units, directions, at = state.shape[2], 2 if both else 1, 0

    def take(*shape: int) -> Any:
        nonlocal at
        at += int(np.prod(shape))
        return flat[at - int(np.prod(shape)) : at].reshape(shape)

    rows = GATES[mode] * units
    weights = []
    for layer in range(layers):
        width = directions * units if layer else x.shape[2]
        weights += [(take(rows, width), take(rows, units)) for _ in range(directions)]
    biases = [(take(rows), take(rows)) for _ in weights]
    last_h, last_c = state.copy(), None if state_cell is None else state_cell.copy()
    for layer in range(layers):
        parts = []
        for direction in range(directions):
            run = layer * directions + direction
            (wi, wh), (bi, bh) = weights[run], biases[run]
            h, c = state[run], None if state_cell is None else state_cell[run]
            y = np.empty((*x.shape[:2], units))
            for t in range(len(x))[:: -1 if direction else 1]:
                h, c = cell(mode, x[t] @ wi.T + bi, h @ wh.T + bh, h, c)
                y[t] = h
            last_h[run] = h
            if last_c is not None:
                last_c[run] = c
            parts.append(y)
        x = np.concatenate(parts, 2)
    return [x, last_h] if last_c is None else [x, last_h, last_c]


def call(
    mode: str,
    *,
    steps: int = 3,
    batch: int = 2,
    inputs: int = 3,
    units: int = 4,
    layers: int = 1,
    both: bool = False,
    **attrs: Any,
) -> tuple[list[Any], dict[str, Any]]:
    """Arrays and attributes of a call."""
    random = np.random.default_rng(3)
    given = {"state_size": units, "num_layers": layers, "bidirectional": both, "mode": mode}
    parsed = RNN.schema.parse("RNN", {**given, **attrs})
    dims = dims_of((steps, batch, inputs), parsed)
    runs = layers * (2 if both else 1)
    shapes = [(steps, batch, inputs), (parameter_count(dims),), (runs, batch, dims.width)]
    if mode == "lstm":
        shapes.append((runs, batch, units))
    arrays = [random.standard_normal(shape).astype(np.float32) * 0.6 for shape in shapes]
    if attrs.get("use_sequence_length"):
        arrays.append(np.array([steps, 1, 2][:batch], np.int32))
    return arrays, {**given, "state_outputs": True, **attrs}


@pytest.mark.parametrize(
    ("mode", "layers", "both"), [*itertools.product(GATES, (1, 2), (False, True))]
)
def test_output_states_and_gradients(mode: str, layers: int, both: bool) -> None:
    arrays, attrs = call(mode, layers=layers, both=both)
    check_operator(
        "RNN",
        arrays,
        attrs,
        lambda *values: expected(*values, mode=mode, layers=layers, both=both),
        second_order=layers == 1 or not both,
        half_tolerance=3e-2,
    )


@pytest.mark.parametrize("name", sorted({key.split(".")[0] for key in GOLDEN}))
def test_results_and_gradients_are_mxnets(name: str) -> None:
    mode, both, projection = name.split("-")
    arrays = [GOLDEN[f"{name}.input{i}"] for i in range(4) if f"{name}.input{i}" in GOLDEN]
    given = {"mode": mode, "num_layers": 2, "state_size": 4, "bidirectional": int(both)}
    attrs = {**given, "state_outputs": True, "projection_size": int(projection) or None}
    outputs = run_operator("RNN", *arrays, **attrs)
    for i, output in enumerate(outputs):
        np.testing.assert_allclose(output, GOLDEN[f"{name}.output{i}"], rtol=1e-5, atol=1e-6)
    if f"{name}.gradient0" not in GOLDEN:
        return  # MXNet cannot train projections
    parsed = RNN.schema.parse("RNN", attrs)
    kept = run_kernel(RNN, RNN.kernel, arrays, parsed, runtime_attrs(RNN, parsed))
    heads = [np.cos(np.arange(y.size)).reshape(y.shape).astype(np.float32) for y in outputs]
    named = {**attrs, "heads": tuple(range(len(heads)))}
    found = run_operator("_rnn_backward", *heads, *arrays, kept[-1], **named)
    for i, gradient in enumerate(found):
        want = GOLDEN[f"{name}.gradient{i}"]
        np.testing.assert_allclose(gradient, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "attrs",
    [
        {"projection_size": 3},
        {"projection_size": 2, "both": True, "layers": 2},
        {"lstm_state_clip_min": -0.2, "lstm_state_clip_max": 0.3},
        {"p": 0.4, "layers": 3},
        {"p": 0.4, "layers": 2, "both": True},
        {"use_sequence_length": True, "layers": 2, "both": True, "batch": 3},
        {"use_sequence_length": True, "p": 0.3, "layers": 2, "batch": 3, "projection_size": 2},
        {"state_outputs": False},
    ],
    ids=str,
)
def test_gradients_of_the_options(attrs: dict[str, Any]) -> None:
    arrays, given = call("lstm", **attrs)
    check_operator("RNN", arrays, given, half_tolerance=3e-2, wrt=range(4))


@pytest.mark.parametrize("mode", ["gru", "rnn_tanh", "rnn_relu"])
def test_gradients_with_sequence_lengths(mode: str) -> None:
    arrays, given = call(mode, use_sequence_length=True, layers=2, both=True, batch=3)
    check_operator("RNN", arrays, given, half_tolerance=3e-2, wrt=range(3))


@pytest.mark.parametrize("mode", GATES)
def test_each_sequence_ends_at_its_length(mode: str) -> None:
    arrays, attrs = call(mode, use_sequence_length=True, layers=2, both=True, batch=3)
    *plain, lengths = arrays
    found = run_operator("RNN", *arrays, **attrs)
    attrs["use_sequence_length"] = False
    for n, length in enumerate(lengths):
        one = [plain[0][:length, n : n + 1], plain[1], *(s[:, n : n + 1] for s in plain[2:])]
        want = run_operator("RNN", *one, **attrs)
        np.testing.assert_allclose(found[0][:length, n], want[0][:, 0], atol=1e-6)
        assert not found[0][length:, n].any()
        for got, state in zip(found[1:], want[1:], strict=True):
            np.testing.assert_allclose(got[:, n], state[:, 0], atol=1e-6)


def test_a_length_beyond_the_steps_means_all_of_them() -> None:
    arrays, attrs = call("gru", use_sequence_length=True)
    arrays[-1] = np.array([30, 3], np.float32)
    found = run_operator("RNN", *arrays, **attrs)
    want = run_operator("RNN", *arrays[:-1], **{**attrs, "use_sequence_length": False})
    for got, exact in zip(found, want, strict=True):
        np.testing.assert_allclose(got, exact, atol=1e-6)


def test_projected_states_are_narrow_and_cells_are_not() -> None:
    arrays, attrs = call("lstm", projection_size=3, both=True)
    shapes = [y.shape for y in run_operator("RNN", *arrays, **attrs)]
    assert shapes == [(3, 2, 6), (2, 2, 3), (2, 2, 4)]


def test_cells_stay_between_the_clip_limits() -> None:
    arrays, attrs = call("lstm", lstm_state_clip_min=-0.1, lstm_state_clip_max=0.2)
    cells = run_operator("RNN", *arrays, **attrs)[2]
    assert cells.min() >= np.float32(-0.1)
    assert cells.max() <= np.float32(0.2)


@pytest.mark.parametrize(("stopped", "result"), [(False, np.nan), (True, -1.0)])
def test_nan_in_a_cell_passes_unless_it_is_to_be_clipped(stopped: bool, result: float) -> None:
    limits: dict[str, Any] = {"lstm_state_clip_min": -1, "lstm_state_clip_max": 1}
    limits["lstm_state_clip_nan"] = stopped
    arrays, attrs = call("lstm", steps=1, **limits)
    arrays[3][:] = np.nan
    np.testing.assert_array_equal(run_operator("RNN", *arrays, **attrs)[2], np.float32(result))


def test_dropout_acts_between_layers_in_training_only() -> None:
    arrays, attrs = call("gru", layers=2, units=40, p=0.5)
    parsed = RNN.schema.parse("RNN", attrs)
    dims = dims_of(arrays[0].shape, parsed)
    at, shape = segments(dims)["mask", 0]
    masks = []
    for train in (True, False):
        specs = RNN.infer(*(Spec(x.shape, x.dtype) for x in arrays), **parsed)
        outputs = tuple(np.empty(*spec) for spec in specs)
        RNN.kernel(np, outputs, *arrays, train=train, key=(5, 0), **parsed)
        masks.append(outputs[-1][at : at + int(np.prod(shape))])
    assert set(np.unique(masks[0])) == {0.0, 2.0}
    assert 0.35 < np.mean(masks[0] == 0) < 0.65
    assert set(masks[1]) == {1.0}


def test_dropout_of_a_single_layer_changes_nothing() -> None:
    arrays, attrs = call("rnn_tanh", p=0.9)
    plain = run_operator("RNN", *arrays, **{**attrs, "p": 0.0})
    np.testing.assert_array_equal(run_operator("RNN", *arrays, **attrs)[0], plain[0])


def test_no_steps_leave_the_states_alone() -> None:
    arrays, attrs = call("lstm", layers=2, both=True, steps=0)
    output, state, state_cell = run_operator("RNN", *arrays, **attrs)
    assert output.shape == (0, 2, 8)
    np.testing.assert_array_equal(state, arrays[2])
    np.testing.assert_array_equal(state_cell, arrays[3])


def test_shapes_of_parameters_and_states_follow_from_the_data() -> None:
    _, attrs = call("lstm", layers=2, both=True, projection_size=3)
    parsed = RNN.schema.parse("RNN", attrs)
    inputs = [PartialSpec((UNKNOWN, 2, 5), np.dtype(np.float32)), *[PartialSpec()] * 3]
    outputs = [PartialSpec((7, UNKNOWN, UNKNOWN)), *[PartialSpec()] * 3]
    assert RNN.complete is not None
    RNN.complete(inputs, outputs, parsed)
    count = 2 * (16 * (5 + 3) + 12 + 16 * (6 + 3) + 12) + 4 * 32
    assert [spec.shape for spec in inputs] == [(7, 2, 5), (count,), (4, 2, 3), (4, 2, 4)]
    assert [spec.shape for spec in outputs[:3]] == [(7, 2, 6), (4, 2, 3), (4, 2, 4)]
    assert all(spec.dtype == np.float32 for spec in (*inputs, *outputs[:3]))


def test_reserve_holds_each_array_once() -> None:
    _, attrs = call("lstm", layers=3, both=True, p=0.1)
    dims = dims_of((3, 2, 5), RNN.schema.parse("RNN", attrs))
    ends = sorted((at, at + int(np.prod(shape))) for at, shape in segments(dims).values())
    assert ends[0][0] == 0
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
    assert ends[-1][1] == reserve_size(dims)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": (1, 3, 4)}, r"expected state \(1, 2, 4\) for data \(3, 2, 3\), got \(1, 3, 4\)"),
        ({"parameters": (5,)}, r"expected parameters \(144,\)"),
        ({"data": (3, 2)}, r"expected floating data \(time, batch, features\)"),
        ({"num_layers": 0}, "expected state_size and num_layers of 1 or more, got 4 and 0"),
        ({"p": 1.5}, r"expected p in \[0, 1\], got 1.5"),
        ({"projection_size": 0}, "expected projection_size of 1 or more"),
        ({"lstm_state_clip_min": 1.0}, "expected lstm_state_clip_min and .* together"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    arrays, attrs = call("lstm")
    for i, name in enumerate(("data", "parameters", "state")):
        if name in change:
            arrays[i] = np.zeros(change[name], np.float32)
    attrs.update({k: v for k, v in change.items() if k in RNN.schema.attributes})
    with pytest.raises(OperatorError, match=f"^RNN: {message}"):
        run_operator("RNN", *arrays, **attrs)


def test_projection_of_another_cell_than_lstm_is_refused() -> None:
    arrays, attrs = call("gru")
    with pytest.raises(OperatorError, match="with mode 'lstm' only, got 3 with 'gru'"):
        run_operator("RNN", *arrays, **attrs, projection_size=3)


def test_missing_cells_are_refused() -> None:
    arrays, attrs = call("lstm")
    with pytest.raises(OperatorError, match="expected parameters, state, state_cell after data"):
        run_operator("RNN", *arrays[:3], **attrs)


def test_one_missing_length_of_the_joined_parameters_is_found() -> None:
    op = find_operator("_rnn_param_concat")
    inputs = [PartialSpec((4,), np.dtype(np.float32)), PartialSpec()]
    outputs = [PartialSpec((10,))]
    assert op.complete is not None
    op.complete(inputs, outputs, {"num_args": 2, "dim": 0})
    assert [spec.shape for spec in inputs] == [(4,), (6,)]
    assert outputs[0].dtype == np.float32
