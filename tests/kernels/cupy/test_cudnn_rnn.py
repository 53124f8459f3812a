"""Recurrent layers by cuDNN, against the reference, on the double."""

import gc
from contextlib import ExitStack
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.config import (
    GLUONISH_CUDNN_RNN,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.core.errors import GluonishError
from gluonish.kernels.cupy import cudnn, cudnn_rnn_api
from gluonish.ops.recurrent import reserved_rnn
from gluonish.ops.recurrent.layout import dims_of, parameter_count
from gluonish.ops.recurrent.rnn import RNN
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED

pytestmark = COMPILED  # where kernels cannot be compiled, those that draw a mask are off
GPU = mx.gpu(0)
COMPUTING = ("cudnnRNNForward", "cudnnRNNBackwardData_v8", "cudnnRNNBackwardWeights_v8")
CASES: dict[str, dict[str, Any]] = {
    "lstm": {"mode": "lstm"},
    "lstm of three layers": {"mode": "lstm", "num_layers": 3},
    "lstm both ways": {"mode": "lstm", "num_layers": 2, "bidirectional": True},
    "lstm projected": {"mode": "lstm", "num_layers": 2, "projection_size": 2},
    "lstm projected both ways": {"mode": "lstm", "bidirectional": True, "projection_size": 3},
    "lstm that drops": {"mode": "lstm", "num_layers": 3, "p": 0.4, "bidirectional": True},
    "lstm with lengths": {"mode": "lstm", "num_layers": 2, "use_sequence_length": True},
    "gru": {"mode": "gru", "num_layers": 2},
    "gru both ways": {"mode": "gru", "num_layers": 2, "bidirectional": True},
    "gru that drops": {"mode": "gru", "num_layers": 2, "p": 0.3},
    "gru with lengths": {
        "mode": "gru",
        "num_layers": 2,
        "bidirectional": True,
        "use_sequence_length": True,
        "p": 0.3,
    },
    "tanh": {"mode": "rnn_tanh", "num_layers": 2, "bidirectional": True},
    "relu": {"mode": "rnn_relu", "num_layers": 3},
    "relu with lengths": {"mode": "rnn_relu", "bidirectional": True, "use_sequence_length": True},
}
BOUNDS = {np.float64: 1e-12, np.float32: 2e-5, np.float16: 2e-2, ml_dtypes.bfloat16: 1e-1}


def library(machine: Machine) -> Any:
    return machine.cudnn_rnn  # type: ignore[attr-defined]  # see `cudnn_rnn_double.install`


def computed(machine: Machine) -> list[str]:
    """The calls of cuDNN that computed."""
    return [name for name in library(machine).calls if name in COMPUTING]


def inputs_of(given: dict[str, Any], shape: tuple[int, int, int] = (5, 3, 4)) -> list[Any]:
    """RNN's inputs in float64, and its attributes."""
    attrs = {"state_size": 5, "num_layers": 1, "state_outputs": True, **given}
    dims = dims_of(shape, RNN.schema.parse("RNN", attrs))
    random, runs = np.random.default_rng(5), dims.layers * dims.directions
    sizes: list[tuple[int, ...]] = [shape, (parameter_count(dims),), (runs, shape[1], dims.width)]
    if dims.mode == "lstm":
        sizes.append((runs, shape[1], dims.units))
    arrays: list[Any] = [random.standard_normal(size) * 0.6 for size in sizes]
    if attrs.get("use_sequence_length"):
        arrays.append(np.array([5, 2, 4][: shape[1]], np.float64))
    return [arrays, attrs]


def call(
    given: dict[str, Any], ctx: Any, dtype: Any, heads: tuple[int, ...] = (0, 1, 2), **options: Any
) -> list[Any]:
    """Return outputs and gradients of RNN in float64."""
    arrays, attrs = inputs_of(given, **options)
    ragged = attrs.get("use_sequence_length")
    count = len(arrays) - bool(ragged)
    placed = [
        mx.nd.array(x.astype(dtype), ctx=ctx, dtype=dtype if i < count else np.float32)
        for i, x in enumerate(arrays)
    ]
    for x in placed[:count]:
        x.attach_grad()
    names = ["data", "parameters", "state", "state_cell"][:count]
    named = dict(zip([*names, "sequence_length"], placed, strict=False))
    random = np.random.default_rng(6)
    mx.random.seed(3)
    with mx.autograd.record():
        found = list(mx.nd.RNN(**named, **attrs))
        factors = [random.standard_normal(y.shape).astype(dtype) for y in found]
        loss = sum(
            (y * mx.nd.array(factors[i], ctx=ctx, dtype=dtype)).sum()
            for i, y in enumerate(found)
            if i in heads
        )
    loss.backward()
    results = [*found, *(x.grad for x in placed[:count])]
    return [y.asnumpy().astype(np.float64) for y in results]


def check(got: list[Any], wanted: list[Any], bound: float) -> None:
    for found, want in zip(got, wanted, strict=True):
        scale = max(1, np.abs(want).max(initial=0))
        np.testing.assert_allclose(found, want, rtol=0, atol=bound * scale)


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("name", CASES)
def test_outputs_and_gradients_are_those_of_the_reference(
    gpu: Machine, name: str, dtype: Any
) -> None:
    """In float64 on the CPU, which its own tests hold to numeric gradients."""
    given = CASES[name]
    layers = given.get("num_layers", 1)
    got = call(given, GPU, dtype)
    split = layers if given.get("p") else 1
    assert sorted(computed(gpu)) == sorted(COMPUTING * split)
    check(got, call(given, mx.cpu(), np.float64), BOUNDS[dtype])


@pytest.mark.parametrize("heads", [(0,), (1,), (2,), (0, 2)])
def test_any_output_may_be_the_only_one_with_a_gradient(
    gpu: Machine, heads: tuple[int, ...]
) -> None:
    given = CASES["lstm both ways"]
    got = call(given, GPU, np.float64, heads)
    check(got, call(given, mx.cpu(), np.float64, heads), 1e-12)
    assert len(computed(gpu)) == 3


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 1, 3), (2, 5, 9)])
def test_odd_extents(gpu: Machine, shape: tuple[int, int, int]) -> None:
    given = CASES["gru both ways"]
    got = call(given, GPU, np.float32, shape=shape)
    check(got, call(given, mx.cpu(), np.float64, shape=shape), 2e-5)
    assert len(computed(gpu)) == 3


def test_second_order_gradients_are_those_of_the_cpu(gpu: Machine) -> None:
    def run(ctx: Any) -> list[Any]:
        arrays, attrs = inputs_of(CASES["gru that drops"])
        x, w, h = (mx.nd.array(a, ctx=ctx, dtype="float64") for a in arrays)
        for a in (x, w):
            a.attach_grad()
        mx.random.seed(4)
        with mx.autograd.record():
            y = mx.nd.RNN(x, w, h, **attrs)[0]
            (dx,) = mx.autograd.grad((y * y).sum(), [x], create_graph=True, retain_graph=True)
            loss = (dx * dx).sum()
        loss.backward()
        return [a.grad.asnumpy() for a in (x, w)]

    check(run(GPU), run(mx.cpu()), 1e-11)
    assert "cudnnRNNBackwardData_v8" in computed(gpu)


def test_a_gradient_may_be_computed_twice(gpu: Machine) -> None:
    """cuDNN overwrites the reserve, of which the gradient has a copy."""
    arrays, attrs = inputs_of(CASES["lstm"])
    placed = [mx.nd.array(a, ctx=GPU) for a in arrays]
    placed[0].attach_grad()
    with mx.autograd.record():
        y = mx.nd.RNN(*placed, **attrs)[0]
    y.backward(retain_graph=True)
    first = placed[0].grad.asnumpy()
    y.backward()
    np.testing.assert_array_equal(placed[0].grad.asnumpy(), first)
    assert len(computed(gpu)) == 5


def layer_of(kind: str, ctx: Any, **options: Any) -> Any:
    mx.random.seed(2)
    made = getattr(mx.gluon.rnn, kind)(6, input_size=4, **options)
    made.initialize(mx.init.Normal(0.4), ctx=ctx)
    return made


def train(net: Any, ctx: Any, times: int = 1, lengths: Any = None) -> list[Any]:
    """Return outputs and gradients of the last of some steps, which draw the same numbers."""
    random = np.random.default_rng(8)
    x = mx.nd.array(random.standard_normal((5, 3, 4)), ctx=ctx)
    x.attach_grad()
    states = [
        mx.nd.array(random.standard_normal(info["shape"]), ctx=ctx) for info in net.state_info(3)
    ]
    more = () if lengths is None else (mx.nd.array(lengths, ctx=ctx),)
    for _ in range(times):
        mx.random.seed(9)
        with mx.autograd.record():
            y, last = net(x, states, *more)
            loss = (y * y).sum() + sum((s * s).sum() for s in last)
        loss.backward()
    gradients = [p.grad(ctx) for p in net.collect_params().values()]
    return [a.asnumpy() for a in (y, *last, x.grad, *gradients)]


LAYERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LSTM", {"num_layers": 2}),
    ("LSTM", {"num_layers": 2, "projection_size": 3, "bidirectional": True}),
    ("GRU", {"num_layers": 3, "dropout": 0.4, "bidirectional": True}),
    ("RNN", {"num_layers": 2, "activation": "tanh"}),
)


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize(("kind", "options"), LAYERS)
def test_hybridized_layers_equal_imperative_ones(
    gpu: Machine, kind: str, options: dict[str, Any], graphs: bool
) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(graphs):
        eager = train(layer_of(kind, GPU, **options), GPU)
        net = layer_of(kind, GPU, **options)
        net.hybridize(static_alloc=True, static_shape=True)
        library(gpu).calls.clear()
        before = gpu.counts.graphs
        for got, want in zip(train(net, GPU, 5), eager, strict=True):
            np.testing.assert_array_equal(got, want)
    calls = len(computed(gpu))
    each = 3 * (options["num_layers"] if options.get("dropout") else 1)
    if graphs:  # two calls ran, the third one was captured, and both passes were replayed
        assert gpu.counts.graphs > before
        assert calls <= 3 * each
    else:
        assert calls == 5 * each


def test_replays_draw_other_numbers_each_time(gpu: Machine) -> None:
    net = layer_of("LSTM", GPU, num_layers=2, dropout=0.5)
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.ones((5, 3, 4), ctx=GPU)
    found = []
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        for _ in range(6):
            with mx.autograd.record():
                y = net(x)
            y.backward()
            found.append(y.asnumpy())
    assert gpu.counts.graphs
    assert len({values.tobytes() for values in found}) == 6


def test_lengths_are_read_outside_of_graphs(gpu: Machine) -> None:
    options = {"num_layers": 2, "use_sequence_length": True, "bidirectional": True}
    wanted = train(layer_of("GRU", mx.cpu(), **options), mx.cpu(), lengths=[5, 1, 3])
    net = layer_of("GRU", GPU, **options)
    net.hybridize(static_alloc=True, static_shape=True)
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        check(train(net, GPU, 5, [5, 1, 3]), wanted, 2e-5)
    assert len(computed(gpu)) == 15


@pytest.mark.parametrize("lengths", [[5, 0, 3], [5, 5, 5], [9, 2, 5]])
def test_empty_full_and_overlong_sequences(gpu: Machine, lengths: list[int]) -> None:
    """The reference runs for empty ones, in both directions."""
    options = {"num_layers": 2, "use_sequence_length": True, "bidirectional": True}
    wanted = train(layer_of("LSTM", mx.cpu(), **options), mx.cpu(), lengths=lengths)
    got = train(layer_of("LSTM", GPU, **options), GPU, lengths=lengths)
    check(got, wanted, 2e-5)
    assert len(computed(gpu)) == (0 if 0 in lengths else 3)


@pytest.mark.parametrize("hybridized", [False, True])
def test_inference_saves_nothing(gpu: Machine, hybridized: bool) -> None:
    net = layer_of("LSTM", GPU, num_layers=2, dropout=0.5)
    if hybridized:
        net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.array(np.random.default_rng(1).standard_normal((5, 3, 4)), ctx=GPU)
    got = [net(x).asnumpy() for _ in range(3)]
    cpu = layer_of("LSTM", mx.cpu(), num_layers=2, dropout=0.5)
    check(got, [cpu(x.as_in_context(mx.cpu())).asnumpy()] * 3, 2e-5)
    assert computed(gpu) == ["cudnnRNNForward"] * 3


def test_two_streams_run_in_order(machine: Machine) -> None:
    """The double's race detector has what each call reads and writes."""
    options = {"num_layers": 2, "bidirectional": True}
    wanted = train(layer_of("LSTM", mx.cpu(), **options), mx.cpu())
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(2),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        for hybridized in (False, True):
            net = layer_of("LSTM", GPU, **options)
            if hybridized:
                net.hybridize()
            check(train(net, GPU, 4), wanted, 2e-5)
        handles = machine.cudnn.handles.values()  # type: ignore[attr-defined]
        assert len({handle.stream for handle in handles}) == len(handles)


@pytest.mark.parametrize(
    ("switches", "math"),
    [
        ((), 3),
        ((MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,), 0),
        ((MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION, MXNET_CUDA_ALLOW_TENSOR_CORE), 3),
    ],
)
def test_float32_is_rounded_only_where_that_is_allowed(
    gpu: Machine, switches: tuple[Any, ...], math: int
) -> None:
    given = CASES["lstm"]
    wanted = call(given, mx.cpu(), np.float64)
    with ExitStack() as stack:
        for flag in switches:
            stack.enter_context(flag.override(not flag.value))
        got = call(given, GPU, np.float32)
    assert library(gpu).maths == [math] * 3
    difference = max(np.abs(a - b).max() for a, b in zip(got, wanted, strict=True))
    assert (difference > 1e-5) == (math == 0)
    check(got, wanted, 5e-3)


@pytest.mark.parametrize("flag", [GLUONISH_CUDNN_RNN, MXNET_CUDNN_ENABLED])
@pytest.mark.parametrize("hybridized", [False, True])
def test_switches_turn_it_off(gpu: Machine, flag: Any, hybridized: bool) -> None:
    with flag.override(False):
        net = layer_of("GRU", GPU)
        if hybridized:
            net.hybridize()
        got = train(net, GPU)
    assert not library(gpu).calls
    check(got, train(layer_of("GRU", mx.cpu()), mx.cpu()), 2e-5)


@pytest.mark.parametrize("missing", [cudnn, cudnn_rnn_api])
def test_reference_runs_without_the_library(machine: Machine, missing: Any) -> None:
    with gpu_contexts(machine, "ThreadedEnginePerDevice") as cupy:
        missing.adopt(cupy, None)
        got = train(layer_of("GRU", GPU), GPU)
    assert not library(machine).calls
    check(got, train(layer_of("GRU", mx.cpu()), mx.cpu()), 2e-5)


SETTING = (
    "cudnnCreateRNNDescriptor",
    "cudnnSetRNNDescriptor_v8",
    "cudnnCreateTensorDescriptor",
    "cudnnSetTensorNdDescriptor",
    "cudnnGetRNNWeightSpaceSize",
    "cudnnGetRNNWeightParams",
    "cudnnCreateRNNDataDescriptor",
    "cudnnSetRNNDataDescriptor",
    "cudnnGetRNNTempSpaceSizes",
)


@pytest.mark.parametrize("status", [2000, 3000, 5000])
@pytest.mark.parametrize("name", SETTING)
def test_reference_runs_where_no_network_can_be_made(gpu: Machine, name: str, status: int) -> None:
    net = layer_of("LSTM", GPU, num_layers=2)
    library(gpu).statuses[name] = status
    got = train(net, GPU)
    assert not computed(gpu)
    check(got, train(layer_of("LSTM", mx.cpu(), num_layers=2), mx.cpu()), 2e-5)


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("name", COMPUTING)
def test_reference_runs_where_a_first_call_is_refused(
    gpu: Machine, name: str, hybridized: bool, dropout: float
) -> None:
    """In the gradient as well, with the mask of the forward pass."""
    options = {"num_layers": 2, "dropout": dropout}
    wanted = train(layer_of("LSTM", mx.cpu(), **options), mx.cpu())
    net = layer_of("LSTM", GPU, **options)
    if hybridized:
        net.hybridize(static_alloc=True, static_shape=True)
    library(gpu).statuses[name] = 3000
    for _ in range(3):
        check(train(net, GPU), wanted, 2e-5)
    if name == "cudnnRNNForward":
        assert computed(gpu) == [name], "a refused network was tried again"


def test_a_call_that_succeeded_before_must_not_be_refused(gpu: Machine) -> None:
    """The gradient of the earlier call reads what cuDNN left."""
    given = CASES["lstm"]
    call(given, GPU, np.float32)
    library(gpu).statuses["cudnnRNNForward"] = 3000
    with pytest.raises(GluonishError, match="the same call succeeded before"):
        call(given, GPU, np.float32)


@pytest.mark.parametrize("name", COMPUTING)
@pytest.mark.parametrize("status", [2000, 5000])
def test_other_failures_are_told(gpu: Machine, name: str, status: int) -> None:
    library(gpu).statuses[name] = status
    message = rf"{name}: expected CUDNN_STATUS_SUCCESS, got \w+ \({status}\) reason of the double"
    with pytest.raises(GluonishError, match=message):
        call(CASES["lstm"], GPU, np.float32)


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "lstm", "projection_size": 5},  # as wide as the cell: cuDNN has no projection
        {"mode": "lstm", "projection_size": 7},
        {"mode": "lstm", "lstm_state_clip_min": -0.2, "lstm_state_clip_max": 0.2},
    ],
    ids=str,
)
def test_reference_runs_for_layers_that_cudnn_lacks(gpu: Machine, given: dict[str, Any]) -> None:
    got = call(given, GPU, np.float64)
    check(got, call(given, mx.cpu(), np.float64), 1e-12)
    assert not computed(gpu)


def test_a_reserve_that_another_device_planned_is_not_used(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = CASES["gru"]
    mx.nd.zeros((1,), ctx=GPU).wait_to_read()  # the first device registers its own rule
    monkeypatch.setattr(reserved_rnn, "_rules", [lambda *_: 9])
    got = call(given, GPU, np.float64)
    check(got, call(given, mx.cpu(), np.float64), 1e-12)
    assert not computed(gpu)


def test_views_that_are_not_aligned_are_copied(gpu: Machine) -> None:
    arrays, attrs = inputs_of(CASES["lstm both ways"])
    flat = [np.concatenate([[0.0], a.reshape(-1)]) for a in arrays]
    placed = [
        mx.nd.array(a, ctx=GPU)[1:].reshape(b.shape) for a, b in zip(flat, arrays, strict=True)
    ]
    got = [y.asnumpy() for y in mx.nd.RNN(*placed, **attrs)]
    wanted = mx.nd.RNN(*[mx.nd.array(a) for a in arrays], **attrs)
    check(got, [y.asnumpy() for y in wanted], 2e-5)
    assert computed(gpu) == ["cudnnRNNForward"]


def test_memory_and_descriptors_are_given_back(gpu: Machine) -> None:
    net = layer_of("LSTM", GPU, num_layers=2, use_sequence_length=True)
    for _ in range(4):  # the last results of repeated calls are kept, to be used again
        train(net, GPU, lengths=[5, 2, 3])
    mx.nd.waitall()
    gc.collect()
    used = mx.context.gpu_memory_info(0)[0]
    descriptors = len(library(gpu).descriptors)
    for n in range(1, 5):
        train(net, GPU, lengths=[5, 2, 3])
        train(net, GPU, lengths=[n, 5, 5])
    mx.nd.waitall()
    gc.collect()
    assert mx.context.gpu_memory_info(0)[0] == used
    # Input and output of each set of lengths that was new; at most 64 sets are kept.
    assert len(library(gpu).descriptors) == descriptors + 2 * 4


def test_lengths_that_are_kept_are_bounded(gpu: Machine) -> None:
    net = layer_of("RNN", GPU, use_sequence_length=True)
    x = mx.nd.ones((9, 3, 4), ctx=GPU)
    states = net.begin_state(3, ctx=GPU)
    for n in range(200):
        lengths = mx.nd.array([1 + n % 9, 1 + n // 9 % 9, 1 + n // 81], ctx=GPU)
        net(x, states, lengths)[0].wait_to_read()
    gc.collect()
    kinds = [found.kind for found in library(gpu).descriptors.values()]
    assert kinds.count("RNNData") <= 2 * 65


def test_launches_of_a_step(gpu: Machine) -> None:
    """Parameters are joined in one launch, and so is their gradient split."""
    net = layer_of("LSTM", GPU, num_layers=2)
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.ones((5, 3, 4), ctx=GPU)
    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        for _ in range(3):
            with mx.autograd.record():
                y = net(x)
            before = gpu.counts.launches
            y.backward()
            mx.nd.waitall()
        # Head, zeros for the parameters' gradient, a copy of the reserve, two calls, one split.
        assert gpu.counts.launches - before <= 8
        before = gpu.counts.launches
        with mx.autograd.record():
            net(x)
        assert gpu.counts.launches - before <= 5  # states, parameters, cuDNN
