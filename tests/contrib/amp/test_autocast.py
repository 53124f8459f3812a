"""amp.autocast and amp.init: which dtype operators compute in, eagerly and in graphs."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.spec import Spec
from gluonish.gluon import nn, rnn
from gluonish.gluon.mixed_precision.operator_lists import UNCAST, half_dtype
from gluonish.ops.autocast import set_everywhere
from gluonish.ops.registry import all_operators

HALVES = ["float16", "bfloat16"]


@pytest.fixture
def everywhere() -> Iterator[None]:
    yield
    set_everywhere(None)


def dense(x: mx.nd.NDArray) -> mx.nd.NDArray:
    return mx.nd.FullyConnected(x, mx.nd.ones((4, 3)), mx.nd.ones(4), num_hidden=4)


def convolutional(seed: int = 1) -> nn.HybridSequential:
    mx.random.seed(seed)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 3, padding=1),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.MaxPool2D(),
        nn.Conv2D(8, 3, padding=1),
        nn.LeakyReLU(0.1),
        nn.GlobalAvgPool2D(),
        nn.Dense(16, activation="tanh"),
        nn.LayerNorm(),
        nn.Dropout(0.0),
        nn.Dense(5),
    )
    net.initialize(mx.init.Xavier())
    return net


class Attention(nn.HybridBlock):
    """A transformer's layer."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.embed = nn.Embedding(11, 16)
            self.first = nn.LayerNorm()
            self.query, self.key, self.value = (nn.Dense(16, flatten=False) for _ in range(3))
            self.last = nn.LayerNorm()
            self.out = nn.Dense(11, flatten=False)

    def hybrid_forward(self, F, x):
        x = self.first(self.embed(x))
        weights = F.softmax(F.batch_dot(self.query(x), self.key(x), transpose_b=True) * 0.25)
        return self.out(self.last(x + F.batch_dot(weights, self.value(x))))


class LanguageModel(nn.HybridBlock):
    """An LSTM over words."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.embed = nn.Embedding(11, 8)
            self.layer = rnn.LSTM(12, layout="NTC")
            self.out = nn.Dense(11, flatten=False)

    def hybrid_forward(self, F, x):
        return self.out(self.layer(self.embed(x)))


def words() -> mx.nd.NDArray:
    return mx.nd.array(np.random.RandomState(2).randint(0, 11, (4, 6)))


def pixels() -> mx.nd.NDArray:
    return mx.nd.array(np.random.RandomState(2).randn(4, 3, 8, 8))


NETWORKS: dict[str, tuple[Any, Any]] = {
    "convolutional": (convolutional, pixels),
    "attention": (Attention, words),
    "language model": (LanguageModel, words),
}


def trained(net: nn.HybridBlock, x: mx.nd.NDArray, dtype: str) -> dict[str, np.ndarray]:
    with mx.autograd.record(), amp.autocast(dtype):
        out = net(x)
        loss = (mx.nd.log_softmax(out) ** 2).mean()
    loss.backward()
    found = {
        name: p.grad().asnumpy()
        for name, p in net._collect_params_with_prefix().items()
        if p.grad_req != "null"
    }
    return {"out": out.asnumpy().astype("float32"), **found}


def closeness(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """Return the largest difference of outputs and gradients, relative to the largest of each.

    Some gradients are 0 but for rounding, such as that of a bias before batch normalization.
    """
    largest = max(float(np.abs(other[name]).max()) for name in other if name != "out")
    return max(
        float(np.abs(one[name] - other[name]).max())
        / (float(np.abs(other[name]).max()) if name == "out" else largest)
        for name in other
    )


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", NETWORKS)
def test_hybridized_equals_eager_and_gradients_are_float32(name: str, dtype: str) -> None:
    make, data = NETWORKS[name]
    mx.random.seed(3)
    net = make()
    if make is not convolutional:
        net.initialize(mx.init.Xavier())
    x = data()
    net(x)
    exact = trained_in_float32(net, x)
    eager = trained(net, x, dtype)
    net.hybridize()
    hybrid = trained(net, x, dtype)
    again = trained(net, x, dtype)
    assert all(np.dtype(p.dtype) == np.float32 for p in net.collect_params().values())
    assert all(value.dtype == np.float32 for value in hybrid.values())
    # Fused kernels round less often.
    assert closeness(hybrid, eager) < (0.1 if dtype == "bfloat16" else 0.02)
    assert closeness(hybrid, exact) < (0.15 if dtype == "bfloat16" else 0.03)
    assert closeness(hybrid, exact) > 0
    assert all(np.array_equal(hybrid[name], again[name]) for name in hybrid)


def trained_in_float32(net: nn.HybridBlock, x: mx.nd.NDArray) -> dict[str, np.ndarray]:
    with mx.autograd.record():
        out = net(x)
        loss = (mx.nd.log_softmax(out) ** 2).mean()
    loss.backward()
    found = {
        name: p.grad().asnumpy()
        for name, p in net._collect_params_with_prefix().items()
        if p.grad_req != "null"
    }
    return {"out": out.asnumpy(), **found}


def test_a_scope_casts_and_ends() -> None:
    x = mx.nd.ones((2, 3))
    with amp.autocast("bfloat16"):
        assert dense(x).dtype == BFLOAT16
        with amp.autocast("float16"):
            assert dense(x).dtype == FLOAT16
        with amp.autocast("bfloat16", enabled=False):
            assert dense(x).dtype == FLOAT32
    assert dense(x).dtype == FLOAT32


def test_a_network_has_one_graph_in_a_scope_and_another_outside() -> None:
    net = nn.Dense(4, in_units=3)
    net.initialize()
    net.hybridize()
    x = mx.nd.ones((2, 3))
    for _ in range(3):
        assert net(x).dtype == FLOAT32
        with amp.autocast("bfloat16"):
            assert net(x).dtype == BFLOAT16
        with amp.autocast("float16"):
            assert net(x).dtype == FLOAT16


def test_a_scope_inside_of_forward_acts_in_graphs() -> None:
    class Half(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.outer = nn.Dense(4, in_units=3), nn.Dense(2, in_units=4)

        def forward(self, x):
            with amp.autocast("bfloat16"):
                x = self.inner(x)
            return x, self.outer(x.astype("float32"))

    net = Half()
    net.initialize()
    eager = [y.dtype for y in net(mx.nd.ones((2, 3)))]
    net.hybridize()
    assert eager == [y.dtype for y in net(mx.nd.ones((2, 3)))] == [BFLOAT16, FLOAT32]


def test_other_threads_are_not_in_a_scope_but_in_init(everywhere: None) -> None:
    found = []

    def compute() -> None:
        found.append(dense(mx.nd.ones((2, 3))).dtype)

    def run() -> None:
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join(60)

    with amp.autocast("bfloat16"):
        run()
    amp.init("bfloat16")
    run()
    assert found == [FLOAT32, BFLOAT16]


def test_init_casts_symbols_that_are_composed(everywhere: None) -> None:
    amp.init("float16")
    made = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    assert made.list_arguments() == ["data", "fc_weight", "fc_bias"]
    _, (out,), _ = made.infer_type(data="float32", fc_weight="float32", fc_bias="float32")
    assert out == np.float16
    assert made.tojson() == mx.sym.load_json(made.tojson()).tojson()
    assert "amp_cast" not in made.tojson()
    assert made.tojson(remove_amp_cast=False).count('"amp_cast"') == 3


def test_out_keeps_its_dtype() -> None:
    out = mx.nd.zeros((2, 4))
    with amp.autocast("bfloat16"):
        mx.nd.FullyConnected(
            mx.nd.ones((2, 3)), mx.nd.ones((4, 3)), mx.nd.ones(4), num_hidden=4, out=out
        )
    assert out.dtype == FLOAT32
    assert (out.asnumpy() == 4).all()


def test_float64_is_left_alone() -> None:
    x, w, b = (mx.nd.ones(shape, dtype="float64") for shape in ((2, 3), (4, 3), (4,)))
    with amp.autocast("bfloat16"):
        assert mx.nd.FullyConnected(x, w, b, num_hidden=4).dtype == np.float64
        assert mx.nd.exp(x).dtype == np.float64


def test_backward_in_the_scope_computes_what_it_computes_outside() -> None:
    net = convolutional()
    x = pixels()
    net(x)
    outside = trained(net, x, "bfloat16")
    with amp.autocast("bfloat16"):
        inside = trained(net, x, "bfloat16")
    assert all(np.array_equal(outside[name], inside[name]) for name in outside)


def test_conditional_operators_compute_in_float32() -> None:
    half = mx.nd.ones((2, 3)).astype("bfloat16")
    with amp.autocast("bfloat16"):
        assert mx.nd.Activation(half, act_type="softrelu").dtype == FLOAT32
        assert mx.nd.Activation(half, act_type="relu").dtype == BFLOAT16
    with amp.autocast("bfloat16", conditional_fp32_ops=[("Activation", "act_type", ["relu"])]):
        assert mx.nd.Activation(half, act_type="relu").dtype == FLOAT32


def test_lists_of_a_program_take_the_place_of_ours() -> None:
    x = mx.nd.ones((2, 3))
    with amp.autocast("bfloat16", target_precision_ops=["exp"], fp32_ops=["FullyConnected"]):
        assert mx.nd.exp(x).dtype == BFLOAT16
        assert dense(x).dtype == FLOAT32


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target_dtype": "float32"}, "expected target_dtype float16 or bfloat16, got 'float32'"),
        ({"fp32_ops": "exp"}, "expected fp32_ops to be a list of str"),
        ({"fp32_ops": ["exq"]}, r"expected names of operators in fp32_ops, got \['exq'\]"),
        ({"fp32_ops": ["exp"], "target_precision_ops": ["exp"]}, "expected each operator in one"),
        ({"conditional_fp32_ops": [("exp", "a")]}, r"expected .* \(operator, attribute, values\)"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        amp.autocast(**given)


@pytest.mark.parametrize("dtype", HALVES)
def test_every_operator_gets_the_dtype_that_its_list_says(dtype: str) -> None:
    policy = amp.autocast(dtype)._policy
    half = half_dtype("test", dtype)
    low, full = set(amp.list_lp16_ops(dtype)), set(amp.list_fp32_ops(dtype))
    wide = set(amp.list_widest_type_cast(dtype))
    kept = {**UNCAST, **(amp.list_lp16_use_fp32_params(dtype) or {})}
    conditional = {name for name, _, _ in amp.list_conditional_fp32_ops(dtype)}
    counts = dict.fromkeys(("low", "full", "wide", "none"), 0)
    for op in all_operators():
        if op.name in conditional or op.variadic is not None or callable(op.mutates):
            continue
        attrs = {name: attribute.default for name, attribute in op.schema.attributes.items()}
        names = op.inputs if kept.get(op.name) else ()
        if op.optional:
            attrs |= dict.fromkeys(op.optional.values(), True)
        given = [(FLOAT32, half)[i % 2] for i in range(len(op.inputs))]
        told = policy.target_dtypes(op, attrs, given)
        got = [before if now is None else now for before, now in zip(given, told, strict=True)]
        lists = [low, full, wide, set(amp.list_lp16_fp32_ops(dtype))]
        where = next(
            (
                i
                for called in (op.name, *op.aliases)
                for i, listed in enumerate(lists)
                if called in listed
            ),
            3,
        )
        target_dtypes = [
            [half] * len(given),
            [FLOAT32] * len(given),
            [FLOAT32 if FLOAT32 in given else half] * len(given),
            given,
        ][where]
        for i, name in enumerate(names):
            if name in kept[op.name]:
                target_dtypes[i] = given[i]
        for i in op.mutates:
            target_dtypes[i] = given[i]
        assert got == target_dtypes, op.name
        counts[("low", "full", "wide", "none")[where]] += 1
    assert all(counts.values()), counts


def test_no_operator_in_two_lists() -> None:
    for dtype in HALVES:
        lists = [
            amp.list_lp16_ops(dtype),
            amp.list_fp32_ops(dtype),
            amp.list_lp16_fp32_ops(dtype),
            amp.list_widest_type_cast(dtype),
        ]
        names = [name for listed in lists for name in listed]
        assert len(names) == len(set(names))


def test_layer_norm_keeps_its_parameters_in_float32() -> None:
    x = mx.nd.array(np.random.RandomState(1).randn(64, 64)).astype("bfloat16")
    gamma, beta = mx.nd.ones(64) * 1.0001, mx.nd.ones(64) * 0.5
    out = mx.nd.LayerNorm(x, gamma, beta)
    exact = mx.nd.LayerNorm(x.astype("float32"), gamma, beta)
    assert out.dtype == BFLOAT16
    np.testing.assert_allclose(out.astype("float32").asnumpy(), exact.asnumpy(), atol=0.02)
    assert Spec((64,), FLOAT32) == gamma._spec


@pytest.mark.parametrize("hybrid", [False, True])
def test_losses_are_float32_and_gradients_of_scores_16_bits(hybrid: bool) -> None:
    scores = mx.nd.array(np.random.RandomState(0).randn(40, 100)).astype("bfloat16")
    labels = mx.nd.array(np.arange(40))
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_function.hybridize(hybrid)
    scores.attach_grad()
    with mx.autograd.record(), amp.autocast("bfloat16"):
        loss = loss_function(scores, labels)
    loss.backward()
    exact = mx.gluon.loss.SoftmaxCrossEntropyLoss()(scores.astype("float32"), labels)
    assert loss.dtype == FLOAT32
    assert scores.grad.dtype == BFLOAT16
    np.testing.assert_allclose(loss.asnumpy(), exact.asnumpy(), rtol=1e-5)
