import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.core.context import cpu
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    GraphError,
    NotSupportedError,
    OperatorError,
    ParameterError,
)
from gluonish.core.random_state import seed
from gluonish.engine import use_engine
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.nn import (
    Activation,
    BatchNorm,
    Conv2D,
    Dense,
    Dropout,
    Flatten,
    GlobalAvgPool2D,
    HybridSequential,
    LeakyReLU,
    MaxPool2D,
    Sequential,
)
from gluonish.ndarray import NDArray, array, ones
from gluonish.symbol import NameManager

GOLDEN = Path(__file__).parents[2] / "golden"
ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
TIMEOUT_S = 60


def _stack(*layers: HybridBlock) -> HybridSequential:
    net = HybridSequential()
    net.add(*layers)
    net.initialize()
    return net


def _data(*shape: int, seed: int = 0) -> NDArray:
    return array(np.random.default_rng(seed).standard_normal(shape))


def _train(net: HybridBlock, *inputs: Any) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Return outputs and gradients of one recorded call."""
    seed(1)
    with autograd.record():
        result = net(*inputs)
    outputs = list(result) if isinstance(result, list | tuple) else [result]
    autograd.backward(outputs)
    gradients = {
        name: p.grad().asnumpy() for name, p in net.collect_params().items() if p.grad_req != "null"
    }
    return [y.asnumpy() for y in outputs], gradients


def _assert_same_hybridized(net: HybridBlock, *inputs: Any, **options: Any) -> None:
    net(*inputs)  # settles shapes: initializers draw numbers, too
    want, want_gradients = _train(net, *inputs)
    net.hybridize(**options)
    for _ in range(2):
        got, gradients = _train(net, *inputs)
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
        for name, gradient in gradients.items():
            np.testing.assert_allclose(
                gradient, want_gradients[name], rtol=1e-4, atol=1e-5, err_msg=name
            )


class Forward(HybridBlock):
    """In the style of 2.0, with a parameter of its own, a branch on shapes, and a constant."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(0,), allow_deferred_init=True)
            self.dense = Dense(3)

    def infer_shape(self, x: Any, *args: Any) -> None:
        self.scale.shape = (x.shape[1],)

    def forward(self, x: Any, twice: bool = False) -> Any:
        y = nd.broadcast_mul(x, self.scale.data().expand_dims(0)) + nd.ones((1, 1), ctx=x.ctx)
        y = self.dense(y)
        return y * 2 if twice or x.shape[0] > 2 else y


class Hybrid(HybridBlock):
    """In the style of 1.x, around one in the style of 2.0."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.inner = Forward()
            self.shift = self.params.get("shift", shape=(3,))

    def hybrid_forward(self, F: ModuleType, x: Any, shift: Any) -> Any:
        return F.broadcast_add(self.inner(x), F.expand_dims(shift, axis=0))


NETWORKS: dict[str, tuple[Callable[[], HybridBlock], tuple[int, ...]]] = {
    "dense": (lambda: _stack(Dense(4, activation="tanh"), Dense(2)), (3, 5)),
    "convolution": (
        lambda: _stack(Conv2D(4, 3), BatchNorm(), Activation("relu"), MaxPool2D(), Dense(2)),
        (2, 3, 8, 8),
    ),
    "dropout": (lambda: _stack(Dense(50), Dropout(0.5), Dense(2)), (3, 5)),
    "forward": (Forward, (2, 5)),
    "forward with a branch": (Forward, (3, 5)),
    "mixed": (Hybrid, (2, 5)),
}


@pytest.mark.parametrize("static_alloc", [True, False])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_hybridized_network_gives_what_it_gives_eagerly(name: str, static_alloc: bool) -> None:
    make, shape = NETWORKS[name]
    net = make()
    net.initialize(force_reinit=True)
    _assert_same_hybridized(net, _data(*shape), static_alloc=static_alloc)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bulk_size", [1, 3])
def test_engine_and_bulk_size_change_nothing(engine: str, bulk_size: int) -> None:
    with use_engine(engine):
        make, shape = NETWORKS["convolution"]
        _assert_same_hybridized(
            make(), _data(*shape), forward_bulk_size=bulk_size, backward_bulk_size=bulk_size
        )


class Many(HybridBlock):
    """Several inputs in nested lists, a constant, None, and several outputs."""

    def hybrid_forward(
        self, F: ModuleType, x: Any, pair: Any, factor: Any = 1, none: Any = None
    ) -> Any:
        assert none is None
        a, (b,) = pair
        return x + a, [F.dot(x, b) * factor, (a,)]


def test_nested_inputs_and_outputs_keep_their_structure() -> None:
    net = Many()
    args = (ones((2, 2)), [ones((2, 2)) * 3, (ones((2, 2)),)], 5, None)
    want = net(*args)
    net.hybridize()
    first, (second, (third,)) = net(*args)
    np.testing.assert_array_equal(first.asnumpy(), want[0].asnumpy())
    np.testing.assert_array_equal(second.asnumpy(), want[1][0].asnumpy())
    np.testing.assert_array_equal(third.asnumpy(), want[1][1][0].asnumpy())
    assert isinstance(net(*args)[1], list)
    assert isinstance(net(*args)[1][1], tuple)


def test_another_constant_is_another_graph() -> None:
    net = Many()
    net.hybridize()
    x = ones((2, 2))
    results = [net(x, [x, (x,)], factor)[1][0].asnumpy()[0, 0] for factor in (1, 3, 1, True)]
    assert results == [2, 6, 2, 2]


def test_an_argument_that_cannot_be_hashed_is_refused() -> None:
    net = Many()
    net.hybridize()
    x = ones((2, 2))
    with pytest.raises(ArgumentTypeError, match="expected arguments that are arrays or hashable"):
        net(x, [x, (x,)], {1})


def test_a_call_without_arrays_is_refused() -> None:
    net = Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    with pytest.raises(ArgumentTypeError, match="expected an NDArray"):
        net(3)


def test_outputs_that_are_one_symbol_of_several_come_as_a_list() -> None:
    class Split(HybridBlock):
        def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
            return F.split(x, num_outputs=2)

    net = Split()
    net.hybridize()
    first, second = net(array([[1, 2]]))
    assert (first.asscalar(), second.asscalar()) == (1, 2)


class Noise(HybridBlock):
    def __init__(self, style: str) -> None:
        super().__init__()
        self.style = style

    def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
        if self.style == "shape":
            return x + F.random.uniform(shape=(100,))
        return x + F.random.normal_like(x)


class ForwardNoise(HybridBlock):
    def forward(self, x: Any) -> Any:
        return x + nd.random.uniform(shape=x.shape)


@pytest.mark.parametrize("net", [Noise("shape"), Noise("like"), ForwardNoise()])
def test_random_numbers_are_drawn_anew_by_each_call(net: HybridBlock) -> None:
    net.hybridize()
    x = ones((100,))
    one, other = net(x).asnumpy(), net(x).asnumpy()
    assert (one != other).any()
    seed(4)
    first = net(x).asnumpy()
    seed(4)
    np.testing.assert_array_equal(net(x).asnumpy(), first)


def test_dropout_draws_anew_and_its_backward_uses_the_same_mask() -> None:
    net = _stack(Dropout(0.5))
    net.hybridize(static_alloc=True)
    x = ones((200,))
    x.attach_grad()
    masks = []
    for _ in range(2):
        with autograd.record():
            y = net(x)
        autograd.backward(y)
        np.testing.assert_array_equal(x.grad.asnumpy(), y.asnumpy())
        masks.append(y.asnumpy())
    assert (masks[0] != masks[1]).any()


def test_two_recorded_calls_keep_their_masks_apart() -> None:
    net = _stack(Dropout(0.5))
    net.hybridize(static_alloc=True)
    xs = [ones((200,)) for _ in range(3)]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        ys = [net(x) for x in xs]
    for x, y in reversed(list(zip(xs, ys, strict=True))):
        autograd.backward(y)
        np.testing.assert_array_equal(x.grad.asnumpy(), y.asnumpy())


def test_training_and_prediction_are_told_apart() -> None:
    net = _stack(Dropout(0.5))
    net.hybridize()
    x = ones((200,))
    assert (net(x).asnumpy() == 1).all()
    with autograd.record():
        assert (net(x).asnumpy() == 0).any()
    with autograd.record(train_mode=False):
        assert (net(x).asnumpy() == 1).all()
    with autograd.train_mode():
        assert (net(x).asnumpy() == 0).any()


def test_moving_statistics_move_once_a_training_call() -> None:
    net = _stack(BatchNorm(momentum=0.5, in_channels=1))
    net.hybridize(static_alloc=True)
    x = array([[0], [2], [4], [6]])
    for expected in (1.5, 2.25, 2.625):
        with autograd.record():
            y = net(x)
        autograd.backward(y)
        assert net[0].running_mean.data().asscalar() == expected
    net(x)
    assert net[0].running_mean.data().asscalar() == 2.625


def test_outputs_never_change_under_later_calls() -> None:
    net = _stack(Dense(4), Dense(3))
    net.hybridize(static_alloc=True, static_shape=True)
    outputs = [net(_data(2, 5, seed=i)) for i in range(10)]
    values = [y.asnumpy() for y in outputs]
    for i in range(10):
        net(_data(2, 5, seed=50 + i)).wait_to_read()
    for y, value in zip(outputs, values, strict=True):
        np.testing.assert_array_equal(y.asnumpy(), value)


def test_gradients_add_up_where_told() -> None:
    net = _stack(Dense(3, in_units=5))
    net.collect_params().setattr("grad_req", "add")
    net.hybridize()
    x = _data(2, 5)
    for count in (1, 2, 3):
        with autograd.record():
            y = net(x)
        autograd.backward(y)
        want = count * np.tile(x.asnumpy().sum(0), (3, 1))
        np.testing.assert_allclose(net[0].weight.grad().asnumpy(), want, rtol=1e-5)


def test_a_parameter_may_be_frozen_and_freed_again() -> None:
    net = _stack(Dense(3, in_units=5))
    net.hybridize()
    x = _data(2, 5)
    _train(net, x)
    net[0].weight.grad_req = "null"
    assert list(_train(net, x)[1]) == [net[0].bias.name]
    net[0].weight.grad_req = "write"
    gradient = _train(net, x)[1][net[0].weight.name]
    np.testing.assert_allclose(gradient, np.tile(x.asnumpy().sum(0), (3, 1)), rtol=1e-5)


def test_second_order_gradients_are_the_imperative_ones() -> None:
    net = _stack(Dense(4, activation="tanh", in_units=3), Dense(1, in_units=4))
    x = _data(2, 3)

    def penalty() -> tuple[np.ndarray, dict[str, np.ndarray]]:
        x.attach_grad()
        with autograd.record():
            y = net(x)
            (g,) = autograd.grad(y, [x], create_graph=True, retain_graph=True)
            z = (g * g).sum()
        autograd.backward(z)
        params = net.collect_params()
        return x.grad.asnumpy(), {name: p.grad().asnumpy() for name, p in params.items()}

    want, want_gradients = penalty()
    net.hybridize()
    got, gradients = penalty()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    for name in ("weight",):
        for layer in net:
            key = getattr(layer, name).name
            np.testing.assert_allclose(gradients[key], want_gradients[key], rtol=1e-4, atol=1e-6)


def test_shapes_change_between_calls_and_plans_are_bounded() -> None:
    net = _stack(Dense(3, flatten=False))
    net.hybridize(static_alloc=True)
    for n in range(1, 101):
        assert net(ones((n, 4))).shape == (n, 3)
    (graph,) = net._graphs.values()
    assert len(graph._cached._plans) <= 64


def test_graphs_of_a_forward_style_block_are_bounded() -> None:
    net = Forward()
    net.initialize()
    net.hybridize()
    for n in range(1, 81):
        assert net(ones((n, 4))).shape == (n, 3)
    assert len(net._graphs) <= 32


def test_switching_off_again_gives_the_eager_block() -> None:
    net = _stack(Dense(3))
    x = _data(2, 4)
    want = net(x).asnumpy()
    net.hybridize()
    net(x)
    net.hybridize(False)
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-6)
    assert not net._graphs


def test_parameters_may_be_initialized_again_elsewhere() -> None:
    net = _stack(Dense(3, in_units=4))
    net.hybridize()
    x = _data(2, 4)
    first = net(x).asnumpy()
    net.initialize(ctx=cpu(1), force_reinit=True)
    y = net(x.as_in_context(cpu(1)))
    assert y.context == cpu(1)
    assert (y.asnumpy() != first).any()
    net.collect_params().reset_ctx(cpu(0))
    np.testing.assert_array_equal(net(x).asnumpy(), y.asnumpy())


def test_values_set_later_are_used() -> None:
    net = _stack(Dense(3, in_units=4))
    net.hybridize()
    net(ones((2, 4)))
    net[0].weight.set_data(nd.zeros((3, 4)))
    assert (net(ones((2, 4))).asnumpy() == 0).all()


@pytest.mark.parametrize("name", ["forward", "mixed", "convolution"])
def test_two_devices_run_one_graph_each(name: str) -> None:
    make, shape = NETWORKS[name]
    net = make()
    net.initialize(ctx=[cpu(0), cpu(1)], force_reinit=True)
    x = _data(*shape)
    eager = [net(x.as_in_context(cpu(i))).asnumpy() for i in range(2)]
    net.hybridize()
    for i in range(2):
        y = net(x.as_in_context(cpu(i)))
        assert y.context == cpu(i)
        np.testing.assert_allclose(y.asnumpy(), eager[i], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(eager[0], eager[1])


def test_inputs_on_two_devices_are_refused() -> None:
    net = Many()
    net.hybridize()
    x, y = ones((2, 2)), ones((2, 2), ctx=cpu(1))
    with pytest.raises(DeviceError, match=r"expected all arrays on cpu\(0\), got data1 on cpu"):
        net(x, [y, (y,)])


def test_a_device_without_parameters_is_refused() -> None:
    net = _stack(Dense(3, in_units=4))
    net.hybridize()
    with pytest.raises(ParameterError, match=r"got cpu\(1\)"):
        net(ones((2, 4), ctx=cpu(1)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_a_network_is_cast(dtype: str) -> None:
    net = _stack(Conv2D(4, 3), BatchNorm(), Activation("relu"), Dense(2))
    x = _data(2, 3, 6, 6)
    want = net(x).asnumpy()
    net.hybridize()
    net(x)
    net.cast(dtype)
    y = net(x.astype(dtype))
    assert y.dtype == x.astype(dtype).dtype
    np.testing.assert_allclose(
        y.astype("float32").asnumpy(), want, rtol=0.1, atol=0.05 if "16" in dtype else 1e-5
    )
    with autograd.record():
        z = net(x.astype(dtype))
    autograd.backward(z)
    assert net[0].weight.grad().dtype == y.dtype


def test_deferred_shapes_are_settled_by_the_first_hybridized_call() -> None:
    net = _stack(Conv2D(4, 3), BatchNorm(), Dense(2))
    net.hybridize()
    assert net(ones((2, 3, 6, 6))).shape == (2, 2)
    assert net[0].weight.shape == (4, 3, 3, 3)
    assert net[2].weight.shape == (2, 64)


def test_shared_parameters_get_one_gradient() -> None:
    first = Dense(4, in_units=4)
    net = HybridSequential()
    net.add(first, Dense(4, in_units=4, params=first.params))
    net.initialize()
    assert len(list(net.collect_params().keys())) == 2
    _assert_same_hybridized(net, _data(2, 4))


def test_a_block_used_twice_is_one_graph() -> None:
    class Twice(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.layer = Dense(4, in_units=4)

        def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
            return self.layer(F.tanh(self.layer(x)))

    net = Twice()
    net.initialize()
    _assert_same_hybridized(net, _data(2, 4))


def test_eight_threads_get_what_one_gets() -> None:
    net = _stack(Dense(16), Activation("relu"), Dense(3))
    net.hybridize(static_alloc=True)

    def run(i: int) -> bytes:
        return bytes(net(_data(4, 8, seed=i)).asnumpy().tobytes())

    with ThreadPoolExecutor(8) as pool:  # the first calls trace, settle shapes and plan
        got = list(pool.map(run, range(64), timeout=TIMEOUT_S))
    assert got == [run(i) for i in range(64)]


def test_a_wrong_shape_names_the_node_of_the_layer() -> None:
    net = HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(Dense(4, in_units=3), Dense(2, in_units=4))
    net.initialize()
    net.hybridize()
    with pytest.raises(
        OperatorError,
        match=r"^Dense net_dense0 \(net\[0\]\): .*: expected data with 3 features, got 5",
    ):
        net(ones((2, 5)))
    assert net(ones((2, 3))).shape == (2, 2)


def test_a_wrong_shape_in_a_forward_style_block_names_the_node() -> None:
    net = Forward(prefix="net_")
    net.initialize()
    net.hybridize()
    net(ones((2, 5)))
    with pytest.raises(OperatorError, match=r"net_broadcast_mul0: broadcast_mul: expected .* got"):
        net(ones((2, 6)))


def test_a_branch_on_values_is_refused_with_advice() -> None:
    class Branch(HybridBlock):
        def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
            return x if x > 0 else -x

    net = Branch()
    net.hybridize()
    with pytest.raises(NotSupportedError, match=r"truth value.*do not hybridize"):
        net(ones((1,)))


def test_a_parameter_of_a_stranger_is_refused() -> None:
    stranger = Dense(3, in_units=3)
    stranger.initialize()

    class Net(HybridBlock):
        def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
            return stranger(x)

    net = Net()
    net.hybridize()
    with pytest.raises(GraphError, match="assign the block or Parameter as an attribute"):
        net(ones((2, 3)))


def test_a_class_that_computes_nothing_is_refused() -> None:
    class Nothing(HybridBlock):
        pass

    with pytest.raises(NotSupportedError, match="Nothing: expected a class that defines"):
        Nothing()(ones((1,)))


def test_children_are_hybrid_blocks() -> None:
    with pytest.raises(ArgumentTypeError, match="use Sequential instead of HybridSequential"):
        HybridSequential().add(Sequential())


def test_a_child_added_later_is_traced() -> None:
    net = _stack(Dense(3, in_units=3))
    net.hybridize()
    net(ones((2, 3)))
    net.add(Activation("relu"))
    assert (net(ones((2, 3)) * -5).asnumpy() >= 0).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"static_shape": True}, ArgumentError, "expected static_alloc=True"),
        ({"backend": "TensorRT"}, NotSupportedError, "expected backend None, 'MKLDNN'"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Dense(2).hybridize(**options)


def test_optimize_for_hybridizes_and_plans() -> None:
    net = Dense(2)
    net.initialize()
    net.optimize_for(ones((3, 4)), static_alloc=True)
    assert len(net._graphs) == 1
    assert net.weight.shape == (2, 4)


def test_infer_shape_and_infer_type_settle_parameters() -> None:
    net = _stack(Conv2D(4, 3), Dense(2))
    net.infer_shape(ones((2, 3, 6, 6)))
    assert net[0].weight.shape == (4, 3, 3, 3)
    assert net[1].weight.shape == (2, 64)
    net.infer_type(ones((2, 3, 6, 6), dtype="float16"))
    assert net[0].weight.dtype == np.float16


def test_hooks_run_around_a_hybridized_call() -> None:
    net = _stack(Dense(2))
    seen = []
    net.register_forward_hook(lambda block, inputs, output: seen.append(output.shape))
    with pytest.warns(UserWarning, match="hybridized with forward hooks"):
        net.hybridize()
    net(ones((3, 4)))
    assert seen == [(3, 2)]


def test_an_operator_hook_sees_every_operator() -> None:
    net = HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(Dense(2), Activation("relu"))
    net.initialize()
    net.hybridize()
    seen = []
    net.register_op_hook(lambda name, op, x: seen.append((name, op, x.shape)))
    net(ones((3, 4)))
    assert seen == [
        ("net_dense0_fwd_output", "FullyConnected", (3, 2)),
        ("net_relu0_fwd_output", "Activation", (3, 2)),
    ]


def test_an_operator_hook_names_several_outputs_as_the_operator_does() -> None:
    class Statistics(HybridBlock):
        def hybrid_forward(self, F: ModuleType, x: Any, scale: Any) -> Any:
            return F.LayerNorm(x, scale, scale, output_mean_var=True, name="norm")

    net = Statistics(prefix="net_")
    net.hybridize()
    seen = []
    net.register_op_hook(lambda name, op, x: seen.append(name))
    net(ones((2, 3)), ones((3,)))
    assert seen == ["net_norm_output", "net_norm_mean", "net_norm_std"]


def test_a_pickled_block_goes_on(tmp_path: Path) -> None:
    net = _stack(Dense(2, in_units=3))
    net.hybridize()
    x = _data(2, 3)
    want = net(x).asnumpy()
    again = pickle.loads(pickle.dumps(net))
    np.testing.assert_allclose(again(x).asnumpy(), want, rtol=1e-6)


def test_export_wants_a_graph() -> None:
    with pytest.raises(GraphError, match="call hybridize\\(\\) and then the block, or infer_shape"):
        Dense(2).export("nowhere")


@pytest.mark.parametrize("deferred", [True, False])
@pytest.mark.parametrize("infer", ["infer_shape", "infer_type"])
@pytest.mark.parametrize("active", [False, True])
def test_a_graph_of_inference_is_exported_as_that_of_a_call_is(
    active: bool, infer: str, deferred: bool, tmp_path: Path
) -> None:
    files = []
    for inferred in (True, False):
        with NameManager():
            net = HybridSequential(prefix="net_")
            with net.name_scope():
                net.add(Dense(3, in_units=4 * (not deferred), activation="relu"), Dense(2))
        net.initialize("ones")
        net.hybridize(active or not inferred)
        if inferred:
            net.infer_shape(ones((1, 4)))
            getattr(net, infer)(ones((1, 4)))
        else:
            net(ones((1, 4)))
        files.append([Path(name).read_bytes() for name in net.export(tmp_path / "net")])
    assert files[0] == files[1]


def test_hybridize_forgets_the_graph_of_inference() -> None:
    net = Dense(2, in_units=3)
    net.initialize()
    net.infer_shape(ones((1, 3)))
    net.hybridize()
    with pytest.raises(GraphError, match="or infer_shape, on an input"):
        net.export("nowhere")


def test_a_layer_whose_shape_was_deferred_is_exported_after_an_imperative_call(
    tmp_path: Path,
) -> None:
    net = Dense(2)
    net.initialize()
    net(ones((1, 3)))
    symbol, params = net.export(tmp_path / "net")
    again = SymbolBlock.imports(symbol, "data", params)
    np.testing.assert_array_equal(again(ones((1, 3))).asnumpy(), net(ones((1, 3))).asnumpy())


def test_an_exported_network_is_the_file_that_mxnet_writes(tmp_path: Path) -> None:
    with NameManager():
        net = HybridSequential(prefix="cnn_")
        with net.name_scope():
            net.add(
                Conv2D(4, 3, padding=1, activation="relu"),
                BatchNorm(),
                MaxPool2D(2),
                Conv2D(8, 3, groups=2, use_bias=False),
                BatchNorm(scale=False),
                LeakyReLU(0.1),
                GlobalAvgPool2D(),
                Flatten(),
                Dense(6, activation="tanh"),
                Dropout(0.5),
                Dense(3),
            )
        net.initialize()
        net.hybridize()
        net(ones((2, 3, 10, 10)))
        symbol_file, params_file = net.export(tmp_path / "cnn", 3)
    assert Path(symbol_file).read_text() == (GOLDEN / "cnn-symbol.json").read_text()
    assert Path(params_file).name == "cnn-0003.params"
    assert list(nd.load(params_file)) == list(nd.load(str(GOLDEN / "cnn-0003.params")))


def test_inner_facts_have_mxnets_names() -> None:
    net = Dense(3)
    net.initialize()
    assert net._cached_op is None
    inputs, output = net._get_graph(nd.ones((2, 4)))
    assert [x.name for x in inputs] == ["data"]
    assert len(output.list_outputs()) == 1
    net = Dense(3)
    net.initialize()
    net._deferred_infer_shape(nd.ones((2, 4)))
    assert net.weight.shape == (3, 4)
    net.hybridize(static_alloc=True)
    net._build_cache(nd.ones((2, 4)))
    assert net._cached_op is not None
    assert ("static_alloc", True) in net._flags
    np.testing.assert_array_equal(
        net._call_cached_op(nd.ones((2, 4))).asnumpy(), net(nd.ones((2, 4))).asnumpy()
    )
