"""Random numbers without a shape take it from who reads them; which readers do is MXNet 1.9.1's."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import GraphError, OperatorError

R = mx.sym.random
SHAPE = (40, 50)


def x() -> mx.sym.Symbol:
    return mx.sym.var("x")


def run(symbol: mx.sym.Symbol, **shapes: tuple[int, ...]) -> Any:
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    return executor.forward()[0].asnumpy()


SAMPLERS: dict[str, tuple[Callable[[], mx.sym.Symbol], float, float]] = {  # mean, deviation
    "normal": (lambda: R.normal(10, 0.5), 10, 0.5),
    "randn": (lambda: R.randn(loc=1, scale=2), 1, 2),
    "uniform": (lambda: R.uniform(0, 6), 3, 12**0.5 / 2),
    "gamma": (lambda: R.gamma(4, 0.5), 2, 1),
    "exponential": (lambda: R.exponential(2), 2, 2),
    "poisson": (lambda: R.poisson(4), 4, 2),
    "negative_binomial": (lambda: R.negative_binomial(3, 0.5), 3, 6**0.5),
    "generalized": (lambda: R.generalized_negative_binomial(2, 0.5), 2, 2),
    "randint": (lambda: mx.sym.cast(R.randint(0, 12), "float32"), 5.5, (143 / 12) ** 0.5),
    "operator": (lambda: mx.sym.random_normal(loc=10, scale=0.5), 10, 0.5),
    "empty shape": (lambda: R.normal(10, 0.5, shape=()), 10, 0.5),
    "per element": (lambda: R.normal(mx.sym.var("mu"), mx.sym.var("sigma")), 0, 0),
    "like": (lambda: R.normal_like(R.normal(), loc=10, scale=0.5), 10, 0.5),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_each_element_of_the_reader_gets_a_draw(name: str) -> None:
    draw, mean, deviation = SAMPLERS[name]
    symbol = draw() + x()
    assert symbol.infer_shape(x=SHAPE)[1] == [SHAPE]
    values = run(symbol, x=SHAPE)
    error = 6 / values.size**0.5
    assert values.mean() == pytest.approx(mean, abs=error * max(deviation, 0.1))
    assert values.std() == pytest.approx(deviation, rel=error * 2, abs=1e-6)


READERS: dict[str, Callable[[mx.sym.Symbol], mx.sym.Symbol]] = {
    "on the right": lambda r: x() + r,
    "maximum": lambda r: mx.sym.maximum(x(), r),
    "comparison": lambda r: r + (x() > r),
    "add_n": lambda r: mx.sym.add_n(x(), r),
    "unary": lambda r: mx.sym.relu(r) + x(),
    "scalar": lambda r: (r * 2 + 1) + x(),
    "cast": lambda r: x() + mx.sym.cast(mx.sym.cast(r, "float64"), "float32"),
    "expand_dims": lambda r: mx.sym.expand_dims(r, axis=0) + mx.sym.expand_dims(x(), axis=0),
    "stop gradient": lambda r: mx.sym.BlockGrad(r) + x(),
    "two": lambda r: (r + x()) + mx.sym.exp(r),
    "another draw": lambda r: r + (R.normal() + x()),
    "like": lambda r: mx.sym._internal._identity_with_attr_like_rhs(r, x()),
    "bias": lambda r: mx.sym.FullyConnected(x(), mx.sym.var("w"), r, num_hidden=300),
    "gamma": lambda r: mx.sym.LayerNorm(x(), mx.sym.var("g"), r),
}


@pytest.mark.parametrize("name", READERS)
def test_reader_tells_the_shape(name: str) -> None:
    symbol = READERS[name](R.uniform())
    assert len(np.unique(run(symbol, x=SHAPE))) > 45
    loaded = mx.sym.load_json(symbol.tojson())
    assert len(np.unique(run(loaded, x=SHAPE))) > 45


@pytest.mark.parametrize(
    ("reader", "shape"),
    [
        (lambda r: mx.sym.FullyConnected(x(), r, num_hidden=3, no_bias=True), (3, 50)),
        (lambda r: mx.sym.Embedding(x(), r, input_dim=10, output_dim=4), (10, 4)),
        (lambda r: mx.sym.BatchNorm(x(), gamma=r, fix_gamma=False), (50,)),
        (lambda r: mx.sym.LeakyReLU(x(), r, act_type="prelu"), (50,)),
    ],
)
def test_layer_tells_the_shape_of_its_weight(reader: Any, shape: tuple[int, ...]) -> None:
    drawn = R.normal()
    inferred = reader(drawn).get_internals()
    shapes = dict(zip(inferred.list_outputs(), inferred.infer_shape(x=SHAPE)[1], strict=True))
    assert shapes[drawn.list_outputs()[0]] == shape


def test_convolution_tells_the_shape_of_its_weight() -> None:
    weight = R.normal()
    y = mx.sym.Convolution(x(), weight, kernel=(3, 3), num_filter=4, no_bias=True)
    assert y.infer_shape(x=(2, 3, 8, 8))[1] == [(2, 4, 6, 6)]


def test_parameters_of_samplers_have_the_first_axes_of_the_reader() -> None:
    symbol = mx.sym.sample_normal(mx.sym.var("mu"), mx.sym.var("s"), shape=(50,)) + x()
    assert symbol.infer_shape(x=SHAPE)[0] == [(40,), (40,), SHAPE]


@pytest.mark.parametrize(
    "symbol",
    [
        R.normal(),
        R.normal() * 2,
        mx.sym.broadcast_add(R.normal(), x()),
        mx.sym.concat(x(), R.normal(), dim=0),
        mx.sym.dot(x(), R.normal()),
        mx.sym.sum(R.normal()) + mx.sym.sum(x()),
        mx.sym.Group([x() + 1, R.uniform()]),
    ],
)
def test_without_a_reader_that_tells_it_the_graph_is_refused(symbol: mx.sym.Symbol) -> None:
    shapes = dict.fromkeys(symbol.list_arguments(), SHAPE)
    assert symbol.infer_shape(**shapes) == (None, None, None)
    message = "bind: expected a shape for _random_.*; pass shape="
    with pytest.raises(GraphError, match=message):
        symbol.simple_bind(mx.cpu(), **shapes)
    with pytest.raises(GraphError, match="eval: expected a shape for _random_"):
        symbol.eval(**{name: mx.nd.zeros(shape) for name, shape in shapes.items()})


def test_readers_of_two_shapes_contradict_each_other() -> None:
    drawn = R.normal()
    symbol = mx.sym.Group([drawn + x(), mx.sym.add_n(drawn, mx.sym.var("y"))])
    with pytest.raises(OperatorError):
        symbol.simple_bind(mx.cpu(), x=(2, 3), y=(4,))


def test_unknown_extents_of_integers_keep_their_dtype() -> None:
    drawn = R.randint(0, 1000, shape=(0, 50)) + mx.sym.cast(x(), "int32")
    assert run(drawn, x=SHAPE).dtype == np.int32


def test_hybridized_block_draws_for_each_element() -> None:
    class Noisy(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return x + F.random.normal(10, 0.5)

    net = Noisy()
    net.hybridize()
    assert len(np.unique(net(mx.nd.zeros(SHAPE)).asnumpy())) > 1900
    block = mx.gluon.SymbolBlock(R.uniform() + x(), [x()])
    assert len(np.unique(block(mx.nd.zeros(SHAPE)).asnumpy())) > 1900


def test_hybridized_draw_that_broadcasts_is_the_eager_one() -> None:
    class Scaled(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.broadcast_mul(x, F.random.uniform(1, 2))

    net = Scaled()
    net.hybridize()
    assert len(np.unique(net(mx.nd.ones(SHAPE)).asnumpy())) == 1


def test_traced_forward_draws_what_the_eager_call_does() -> None:
    class Noisy(mx.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x + mx.nd.random.normal(10, 0.5)

    net = Noisy()
    eager = net(mx.nd.zeros(SHAPE))
    net.hybridize()
    assert len(np.unique(eager.asnumpy())) == len(np.unique(net(mx.nd.zeros(SHAPE)).asnumpy())) == 1


def test_draws_in_a_loop_have_the_shape_of_an_iteration() -> None:
    def step(data: Any, state: Any) -> Any:
        return data + R.normal(), state

    outputs, _ = mx.sym.contrib.foreach(step, x(), x())
    assert run(mx.sym.Group([outputs]), x=SHAPE).shape == SHAPE


def test_graph_that_runs_operator_by_operator_tells_the_shape() -> None:
    kept = mx.sym.contrib.boolean_mask(R.uniform() + x(), mx.sym.var("m"))
    arrays = {"x": mx.nd.zeros(SHAPE), "m": mx.nd.ones(40)}
    out = kept.bind(mx.cpu(), arrays).forward()[0].asnumpy()
    assert len(np.unique(out)) > 1900


def test_reader_on_another_device_tells_the_shape() -> None:
    with mx.AttrScope(ctx_group="a"):
        drawn = R.uniform()
    with mx.AttrScope(ctx_group="b"):
        symbol = drawn + x()
    groups = {"a": mx.cpu(0), "b": mx.cpu(1)}
    executor = symbol.simple_bind(mx.cpu(), group2ctx=groups, x=SHAPE)
    assert len(np.unique(executor.forward()[0].asnumpy())) > 1900
    larger = executor.reshape(x=(60, 50), allow_up_sizing=True)
    assert larger.forward()[0].shape == (60, 50)


def test_module_draws_for_each_element() -> None:
    module = mx.mod.Module(R.normal() + mx.sym.var("data"), label_names=None)
    module.bind([("data", SHAPE)], for_training=False)
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.zeros(SHAPE)]), is_train=False)
    assert len(np.unique(module.get_outputs()[0].asnumpy())) > 1900


def test_file_names_no_shape() -> None:
    nodes = json.loads((R.normal() + x()).tojson())["nodes"]
    assert "shape" not in nodes[0]["attrs"]
