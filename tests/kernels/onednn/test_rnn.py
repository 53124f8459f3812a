"""The kernels of recurrent layers against the reference."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.config import MXNET_USE_MKLDNN_RNN
from gluonish.core.spec import Spec
from gluonish.gluon.rnn import LSTM
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import rnn_loops
from gluonish.kernels.onednn import register, rnn
from gluonish.ops.recurrent.fused_rnn import FUSED_RNN, FUSED_RNN_BACKWARD, param_shapes
from gluonish.ops.recurrent.layout import dims_of, parameter_count, segments
from gluonish.ops.recurrent.rnn import RNN, RNN_BACKWARD
from gluonish.ops.registry import Operator, find_operator
from tests.checking.values import run_kernel, spec_of

RUNTIME = {"train": True, "key": (3, 7)}

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


def call(
    mode: str, shape: tuple[int, int, int], units: int, layers: int, both: bool, p: float = 0.0
) -> tuple[list[Any], dict[str, Any]]:
    """Arrays and attributes of a call."""
    attrs = RNN.schema.parse(
        "RNN",
        {
            "mode": mode,
            "state_size": units,
            "num_layers": layers,
            "bidirectional": both,
            "p": p,
            "state_outputs": True,
        },
    )
    random = np.random.default_rng(units)
    states = (layers * (1 + both), shape[1], units)
    shapes = [shape, (parameter_count(dims_of(shape, attrs)),), states]
    if mode == "lstm":
        shapes.append(states)
    scale = np.float32(units**-0.5)
    return [random.standard_normal(s).astype(np.float32) * scale for s in shapes], attrs


def both_kernels(
    op: Operator, fast: Any, arrays: list[Any], attrs: Any, runtime: Any
) -> list[tuple[Any, Any]]:
    kernels = (op.kernel, fast)
    found = [run_kernel(op, kernel, arrays, attrs, {**attrs, **runtime}) for kernel in kernels]
    return list(zip(*found, strict=True))


def compare(arrays: list[Any], attrs: dict[str, Any], heads: tuple[int, ...] = (0, 1, 2)) -> None:
    """Hold forward to 1e-5 and gradients to 1e-4 of the largest element."""
    forward = both_kernels(RNN, rnn.rnn, arrays, attrs, RUNTIME)
    for want, got in forward:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    outputs = [want for want, _ in forward]
    heads = tuple(i for i in heads if i < len(outputs) - 1)
    random = np.random.default_rng(1)
    tops = [random.standard_normal(outputs[i].shape).astype(np.float32) for i in heads]
    given = [*tops, *arrays, outputs[-1]]
    named = {**attrs, "heads": heads}
    for want, got in both_kernels(RNN_BACKWARD, rnn.rnn_backward, given, named, {}):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_results_are_those_of_the_reference(mode: str, layers: int, both: bool) -> None:
    compare(*call(mode, (4, 3, 5), 6, layers, both, p=0.3))


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_time_steps_one_by_one_give_the_same(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rnn_loops, "is_fast", lambda: False)
    compare(*call(mode, (4, 3, 5), 6, 2, True, p=0.3))


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh"])
def test_separate_parameters_give_the_same(mode: str, both: bool) -> None:
    arrays, attrs = call(mode, (4, 3, 5), 6, 2, both, p=0.3)
    shapes = param_shapes(dims_of((4, 3, 5), attrs))
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    cut = [x.reshape(s) for x, s in zip(np.split(arrays[1], ends), shapes, strict=True)]
    given = [arrays[0], *arrays[2:], *cut]
    forward = both_kernels(FUSED_RNN, rnn.fused_rnn, given, attrs, RUNTIME)
    for want, got in forward:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    heads = [np.ones_like(want) for want, _ in forward[:-1]]
    back = [*heads, *given, forward[-1][0]]
    named = {**attrs, "heads": tuple(range(len(heads)))}
    for want, got in both_kernels(FUSED_RNN_BACKWARD, rnn.fused_rnn_backward, back, named, {}):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh"])
def test_sizes_that_fill_several_threads(mode: str) -> None:
    compare(*call(mode, (6, 33, 70), 130, 2, False))


@pytest.mark.parametrize("heads", [(0,), (1,), (2,), (1, 2)])
def test_gradients_of_some_outputs(heads: tuple[int, ...]) -> None:
    compare(*call("lstm", (3, 2, 4), 5, 2, True), heads)


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_relu"])
def test_a_single_step_of_a_single_unit(mode: str) -> None:
    compare(*call(mode, (1, 1, 1), 1, 1, True))


@pytest.mark.parametrize("key", [(3, 7), (2**64 - 1, 2**63 + 5)])
@pytest.mark.parametrize(("p", "train"), [(0.3, True), (0.3, False), (1.0, True), (1e-9, True)])
def test_dropout_draws_what_the_reference_draws(
    key: tuple[int, int], p: float, train: bool
) -> None:
    arrays, attrs = call("rnn_tanh", (5, 17, 3), 31, 2, True, p=p)
    runtime = {"train": train, "key": key}
    at, shape = segments(dims_of((5, 17, 3), attrs))["mask", 0]
    ((want, got),) = both_kernels(RNN, rnn.rnn, arrays, attrs, runtime)[-1:]
    end = at + int(np.prod(shape))
    np.testing.assert_array_equal(got[at:end], want[at:end])


def test_strided_arrays_are_taken() -> None:
    arrays, attrs = call("gru", (3, 4, 6), 8, 2, False)
    views = [np.repeat(x, 2, axis=-1)[..., ::2] for x in arrays]
    want = run_kernel(RNN, rnn.rnn, arrays, attrs, {**attrs, **RUNTIME})
    got = run_kernel(RNN, rnn.rnn, views, attrs, {**attrs, **RUNTIME})
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_calls_leave_nothing_behind_for_the_next_one() -> None:
    large, small = call("lstm", (5, 8, 9), 16, 2, False), call("lstm", (2, 3, 4), 5, 1, True)
    first = run_kernel(RNN, rnn.rnn, small[0], small[1], {**small[1], **RUNTIME})
    compare(*large)
    second = run_kernel(RNN, rnn.rnn, small[0], small[1], {**small[1], **RUNTIME})
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "change",
    [
        {"use_sequence_length": True},
        {"projection_size": 3},
        {"lstm_state_clip_min": -1.0, "lstm_state_clip_max": 1.0},
    ],
    ids=str,
)
def test_rarer_options_are_left_to_the_reference(change: dict[str, Any]) -> None:
    arrays, attrs = call("lstm", (30, 20, 4), 10, 1, False)
    specs = list(map(spec_of, arrays))
    assert rnn.supports(*specs, **attrs)
    assert not rnn.supports(*specs, **{**attrs, **change})


def test_other_dtypes_and_small_arrays_are_left_to_the_reference() -> None:
    arrays, attrs = call("lstm", (30, 20, 4), 10, 1, False)
    specs = list(map(spec_of, arrays))
    double = [Spec(spec.shape, np.dtype(np.float64)) for spec in specs]
    assert not rnn.supports(*double, **attrs)
    for steps in (0, 3):
        assert not rnn.supports(Spec((steps, 20, 4), specs[0].dtype), *specs[1:], **attrs)
    assert rnn.supports_backward(specs[0], *specs, heads=(0,), **attrs)


@pytest.mark.parametrize("switch", [True, False])
def test_recurrent_kernels_have_a_switch_of_their_own(switch: bool) -> None:
    if not register.enabled():
        pytest.skip("oneDNN is not there")
    arrays, attrs = call("lstm", (30, 20, 4), 10, 1, False)
    specs = list(map(spec_of, arrays))
    with MXNET_USE_MKLDNN_RNN.override(switch):
        found = RNN.select_fast("cpu", specs, attrs)
        dense = [Spec(shape, specs[0].dtype) for shape in ((256, 512), (512, 512))]
        other = find_operator("FullyConnected").select_fast(
            "cpu", dense, {"num_hidden": 512, "no_bias": True, "flatten": True}
        )
    assert (found is not None) is switch
    assert other is not None
    assert other.name.startswith("onednn.")


def test_a_recurrent_layer_trains_alike_without_its_kernels() -> None:
    results = []
    for switch in (True, False):
        layer = LSTM(16, num_layers=2, input_size=5, prefix="lstm_")
        layer.initialize()
        for i, parameter in enumerate(layer.collect_params().values()):
            values = np.random.default_rng(i).uniform(-0.3, 0.3, parameter.shape or (0,))
            if 0 not in values.shape:
                parameter.set_data(nd.array(values))
        layer.hybridize()
        x: Any = nd.array(np.random.default_rng(9).standard_normal((20, 8, 5)))
        x.attach_grad()
        with MXNET_USE_MKLDNN_RNN.override(switch):
            with autograd.record():
                y = layer(x)
            y.backward()
            results.append((y.asnumpy(), x.grad.asnumpy()))
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
