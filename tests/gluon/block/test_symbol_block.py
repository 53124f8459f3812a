from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.symbol as sym
from gluonish import autograd
from gluonish.autograd import record
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OperatorError, ParameterError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.nn import BatchNorm, Dense, HybridSequential
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.trainer import Trainer
from gluonish.initializer import Constant
from gluonish.model_zoo import vision
from gluonish.ndarray import array, load, ones
from gluonish.ndarray.random import uniform
from gluonish.numpy import array as np_array
from gluonish.numpy_extension import reset_np, set_np

GOLDEN = Path(__file__).parents[2] / "golden"


def _import(name: str, epoch: int, *inputs: str, **options: Any) -> SymbolBlock:
    return SymbolBlock.imports(
        GOLDEN / f"{name}-symbol.json",
        list(inputs),
        GOLDEN / f"{name}-{epoch:04d}.params",
        **options,
    )


def test_a_convolutional_network_of_mxnet_gives_what_it_gave_there() -> None:
    data = np.load(GOLDEN / "cnn.npz")
    output = _import("cnn", 3, "data")(array(data["data"]))
    np.testing.assert_allclose(output.asnumpy(), data["output"], rtol=1e-5, atol=1e-5)


def test_recurrent_cells_of_mxnet_give_what_they_gave_there() -> None:
    data = np.load(GOLDEN / "cells.npz")
    inputs = [array(data[f"data{i}"]) for i in range(2)]
    outputs = _import("cells", 12, "data0", "data1")(*inputs)
    listed = outputs if isinstance(outputs, list) else [outputs]
    for i, output in enumerate(listed):
        want = data[f"output{i}"] if len(listed) > 1 else data["output"]
        np.testing.assert_allclose(output.asnumpy(), want, rtol=1e-5, atol=1e-5)


def _network() -> SymbolBlock:
    x = sym.var("x")
    y = sym.FullyConnected(x, num_hidden=3, name="fc")
    block = SymbolBlock([y, sym.relu(y)], x)
    block.initialize()
    return block


def test_everything_that_is_no_input_is_a_parameter() -> None:
    block = _network()
    assert sorted(block.collect_params().keys()) == ["fc_bias", "fc_weight"]
    y, z = block(ones((2, 4)))
    assert block.collect_params()["fc_weight"].shape == (3, 4)
    np.testing.assert_array_equal(np.maximum(y.asnumpy(), 0), z.asnumpy())


def test_moving_statistics_have_no_gradient() -> None:
    block = SymbolBlock(sym.BatchNorm(sym.var("x"), name="bn"), sym.var("x"))
    reqs = {name: p.grad_req for name, p in block.collect_params().items()}
    assert reqs == {
        "bn_gamma": "write",
        "bn_beta": "write",
        "bn_moving_mean": "null",
        "bn_moving_var": "null",
    }


def test_arguments_come_before_auxiliary_states() -> None:
    x = sym.var("x")
    y = sym.FullyConnected(sym.BatchNorm(x, name="bn"), num_hidden=2, name="fc")
    assert list(SymbolBlock(y, x).collect_params()) == [
        *("bn_gamma", "bn_beta", "fc_weight", "fc_bias"),
        *("bn_moving_mean", "bn_moving_var"),
    ]


def test_it_trains() -> None:
    block = _network()
    with autograd.record():
        y, _ = block(ones((2, 4)))
    autograd.backward(y)
    grad = block.collect_params()["fc_weight"].grad()
    np.testing.assert_array_equal(grad.asnumpy(), np.full((3, 4), 2))


def test_it_is_a_part_of_a_hybridized_network() -> None:
    inner = _import("cnn", 3, "data")
    net = HybridSequential()
    net.add(inner, Dense(2))
    net[1].initialize()
    x = ones((2, 3, 10, 10))
    want = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-6)


def test_it_is_a_part_of_a_traced_forward() -> None:
    class Net(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.inner = _network()

        def forward(self, x: Any) -> Any:
            y, z = self.inner(x)
            return y + z * x.shape[0]

    net = Net()
    x = ones((2, 4))
    want = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-6)


def test_it_composes_with_symbols() -> None:
    y = _network()(sym.var("z"))
    assert [part.list_arguments() for part in y] == [["z", "fc_weight", "fc_bias"]] * 2


def test_arrays_and_symbols_do_not_mix() -> None:
    block = SymbolBlock(sym.var("a") + sym.var("b"), [sym.var("a"), sym.var("b")])
    with pytest.raises(ArgumentTypeError, match="expected Symbols"):
        block(sym.var("a"), ones((2,)))


def test_inputs_are_variables() -> None:
    x = sym.var("x")
    with pytest.raises(ArgumentError, match="expected inputs to be variables, got <Symbol"):
        SymbolBlock(sym.relu(x), sym.exp(x))


def test_input_names_are_checked() -> None:
    with pytest.raises(ArgumentError, match=r"expected input names among \['data', .*got 'image'"):
        _import("cnn", 3, "image")


def test_a_missing_parameter_is_refused_unless_allowed(tmp_path: Path) -> None:
    net = HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    net(ones((1, 3)))
    symbol_file, _ = net.export(tmp_path / "net")
    (tmp_path / "other").mkdir()
    empty = HybridSequential(prefix="net_")
    empty.initialize()
    params = tmp_path / "empty.params"
    empty.collect_params().save(str(params))
    with pytest.raises((ParameterError, ArgumentError)):
        SymbolBlock.imports(symbol_file, "data", params)
    block = SymbolBlock.imports(symbol_file, "data", params, allow_missing=True)
    block.collect_params().initialize()
    assert block(ones((1, 3))).shape == (1, 2)


def test_without_a_file_the_parameters_wait_for_initialize() -> None:
    block = SymbolBlock.imports(GOLDEN / "cnn-symbol.json", "data")
    block.initialize()
    assert block(ones((1, 3, 10, 10))).shape == (1, 3)


def test_parameters_may_go_to_several_devices() -> None:
    block = _import("cnn", 3, "data", ctx=[cpu(0), cpu(1)])
    one, other = (block(ones((1, 3, 10, 10), ctx=ctx)) for ctx in (cpu(0), cpu(1)))
    assert other.context == cpu(1)
    np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
    block.reset_ctx(cpu(1))
    assert block.collect_params()["cnn_conv0_weight"].list_ctx() == [cpu(1)]


def test_a_wrong_shape_names_the_node() -> None:
    with pytest.raises(OperatorError, match="cnn_conv0_fwd: Convolution: expected"):
        _import("cnn", 3, "data")(ones((1, 5, 10, 10)))


def test_hybridize_takes_options_and_it_stays_a_graph() -> None:
    block = _import("cnn", 3, "data")
    x = ones((1, 3, 10, 10))
    want = block(x).asnumpy()
    block.hybridize(static_alloc=True)
    np.testing.assert_array_equal(block(x).asnumpy(), want)
    block.hybridize(False)
    np.testing.assert_array_equal(block(x).asnumpy(), want)


def test_repr_shows_outputs_and_counts() -> None:
    assert "1 -> 2" in repr(_network())


def test_a_network_of_numpy_semantics_gives_what_it_gave_in_mxnet() -> None:
    data = np.load(GOLDEN / "np_net.npz")
    set_np()
    try:
        sums, mean = _import("np_net", 3, "data")(np_array(data["data"]))
        assert type(sums).__name__ == "ndarray"
        assert mean.shape == ()
        np.testing.assert_allclose(sums.asnumpy(), data["output0"], rtol=1e-5)
        np.testing.assert_allclose(mean.asnumpy(), data["output1"], rtol=1e-5)
    finally:
        reset_np()


@pytest.mark.parametrize("version", [10500, 10600, 10700, 10800])
def test_files_of_earlier_releases_are_read(version: int, tmp_path: Path) -> None:
    text = (GOLDEN / "cnn-symbol.json").read_text("utf-8").replace("10901", str(version))
    assert str(version) in text
    (tmp_path / "cnn-symbol.json").write_text(text, "utf-8")
    data = np.load(GOLDEN / "cnn.npz")
    net = SymbolBlock.imports(str(tmp_path / "cnn-symbol.json"), "data", GOLDEN / "cnn-0003.params")
    output = net(array(data["data"]))
    np.testing.assert_allclose(output.asnumpy(), data["output"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("outputs", "inputs", "message"),
    [
        (3, sym.var("x"), "expected outputs to be Symbols, got int"),
        ([sym.var("x"), 3], sym.var("x"), "expected outputs to be Symbols, got int"),
        (sym.var("x"), "x", "expected inputs to be Symbols, got str"),
    ],
)
def test_what_is_no_symbol_is_refused(outputs: Any, inputs: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        SymbolBlock(outputs, inputs)


@pytest.mark.parametrize("outer", [False, True])
def test_inputs_are_counted(outer: bool) -> None:
    block: HybridBlock = _network()
    if outer:
        stack = HybridSequential()
        stack.add(block)

        class Wrong(HybridBlock):
            def __init__(self) -> None:
                super().__init__()
                self.stack = block

            def forward(self, x: Any) -> Any:
                return self.stack(x, x)

        block = Wrong()
        block.hybridize()
    with pytest.raises(ArgumentError, match=r"expected 1 inputs, \['x'\], got 2"):
        block(ones((2, 4)), *([] if outer else [ones((2, 4))]))


def test_input_names_are_words() -> None:
    with pytest.raises(ArgumentTypeError, match="expected input names as str, got Symbol"):
        SymbolBlock.imports(GOLDEN / "cnn-symbol.json", [sym.var("data")])  # type: ignore[list-item]


def test_a_data_variable_that_was_not_named_is_a_missing_parameter() -> None:
    with pytest.raises(ParameterError, match=r"expected .*cnn-0003\.params' to contain 'data'"):
        _import("cnn", 3)


def test_saved_names_lack_what_all_begin_with(tmp_path: Path) -> None:
    block = _network()
    block(ones((2, 4)))
    block.save_parameters(tmp_path / "x.params")
    assert sorted(load(tmp_path / "x.params")) == ["bias", "weight"]
    other = _network()
    other.load_parameters(tmp_path / "x.params")
    for y, z in zip(block(ones((2, 4))), other(ones((2, 4))), strict=True):
        np.testing.assert_array_equal(y.asnumpy(), z.asnumpy())


def test_it_is_trained_cast_and_exported_again(tmp_path: Path) -> None:
    net = _import("cnn", 3, "data")
    before = net.collect_params(".*weight")
    old = {name: p.data().asnumpy() for name, p in before.items()}
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    x = array(np.load(GOLDEN / "cnn.npz")["data"])
    with autograd.record():
        loss = (net(x) ** 2).mean()
    autograd.backward(loss)
    trainer.step(1)
    assert all((p.data().asnumpy() != old[name]).any() for name, p in before.items())
    net.hybridize(static_alloc=True)
    y = net(x)
    again = SymbolBlock.imports(*_with_input(net.export(tmp_path / "again", 9)))
    np.testing.assert_allclose(again(x).asnumpy(), y.asnumpy(), rtol=1e-6)
    again.cast("float64")
    assert again(x.astype("float64")).dtype == np.float64


@pytest.mark.parametrize("called", [False, True])
def test_an_exported_graph_keeps_the_names_of_its_inputs(called: bool, tmp_path: Path) -> None:
    x, y, w = sym.var("a"), sym.var("b"), sym.var("w", shape=(2,))
    block = SymbolBlock([x * y * w, x + y], [y, x])
    with pytest.raises(ParameterError, match="Parameter w: expected an initialized parameter"):
        block.export(tmp_path / "none")
    block.initialize()
    if called:
        block(ones((2,)), ones((2,)))
    symbol_file, params_file = block.export(tmp_path / "named")
    assert sym.load(symbol_file).list_arguments() == ["a", "b", "w"]
    assert list(load(params_file)) == ["arg:w"]


def test_a_list_of_inputs_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected 1 arrays, one for each of \['x'\]"):
        _network()([ones((2, 4))])


def _with_input(files: tuple[str, str]) -> tuple[str, str, str]:
    return files[0], "data", files[1]


def test_initializers_of_variables_are_those_of_modules_alone() -> None:
    """In MXNet, too: an operator that names Xavier for its weight names it for its bias as well."""
    x, xavier = mx.sym.var("data"), mx.init.Xavier().dumps()
    y = mx.sym.Convolution(x, num_filter=2, kernel=(1, 1), name="c", attr={"__init__": xavier})
    y = mx.sym.broadcast_add(mx.sym.BatchNorm(y, name="bn"), mx.sym.var("w", init=mx.init.One()))
    block = mx.gluon.SymbolBlock(y, [x])
    block.initialize(mx.init.Constant(3))
    params = block.collect_params()
    params["w"].shape = (1,)
    block(mx.nd.ones((1, 3, 2, 2)))
    found = {name: set(p.data().asnumpy().ravel().tolist()) for name, p in params.items()}
    own = {"bn_moving_mean": {0.0}, "bn_moving_var": {1.0}}
    assert found == {name: own.get(name, {3.0}) for name in params}


def test_nesting_of_arguments_and_results_may_be_set() -> None:
    """As programs do that keep it beside the files of `export`; forms are those of MXNet 1.9.1."""
    x, y, z = map(mx.sym.var, "xyz")
    block = SymbolBlock([x * y + z, x * 2, y * 1], [x, y, z])
    assert (block._in_format, block._out_format) == ([0, 0, 0], 3)
    block._in_format, block._out_format = [0, [0, 0]], [0, [0, 0]]
    a, b, c = (mx.nd.ones((2,)) * i for i in (1, 2, 3))
    found, (double, same) = block(a, [b, c])
    assert [v.asnumpy().tolist() for v in (found, double, same)] == [[5, 5], [2, 2], [2, 2]]
    with pytest.raises(ValueError, match=r"nested as \[0, \[0, 0\]\], got \[0, 0, 0\]"):
        block(a, b, c)


def fixed_network() -> HybridSequential:
    net = HybridSequential()
    net.add(
        Dense(3, in_units=2),
        BatchNorm(scale=False, in_channels=3, running_variance_initializer=Constant(4)),
        Dense(2, in_units=3),
    )
    net.initialize()
    net[0].weight.grad_req = "null"
    net[0].bias.lr_mult = 0.5
    net[2].weight.wd_mult = 0.0
    return net


def test_shared_parameters_are_taken_as_they_are() -> None:
    net, data = fixed_network(), sym.var("data")
    given = net.collect_params()
    facts = {p.name: (p.grad_req, p.lr_mult, p.wd_mult) for p in given.values()}
    block = SymbolBlock(net(data), data, params=given)
    donated = block.collect_params()
    assert all(donated[name] is given[name] for name in given)
    assert {p.name: (p.grad_req, p.lr_mult, p.wd_mult) for p in donated.values()} == facts
    x = ones((4, 2))
    with record():
        y, expected = block(x), net(x)
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), expected.asnumpy(), rtol=1e-6)


def test_a_shared_parameter_of_another_shape_is_refused() -> None:
    net, data = fixed_network(), sym.var("data")
    outputs = net(data)
    other = ParameterDict()
    name = net[0].weight.name
    other.get(name, shape=(4, 2))
    with pytest.raises(ParameterError, match="expected shape"):
        SymbolBlock(outputs, data, params=other)


@pytest.mark.parametrize(
    "name",
    [
        "resnet18_v2",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                "resnet18_v1",
                "vgg11_bn",
                "alexnet",
                "densenet121",
                "squeezenet1.0",
                "inceptionv3",
                "mobilenet0.25",
                "mobilenetv2_0.25",
            )
        ),
    ],
)
def test_features_of_a_network_of_the_zoo_are_a_block(name: str, tmp_path: Path) -> None:
    net: Any = vision.get_model(name, classes=3)
    data = sym.var("data")
    net.initialize()
    features = SymbolBlock(net.features(data), data, params=net.collect_params())
    requests = {p.name: p.grad_req for p in net.collect_params().values()}
    assert all(p.grad_req == requests[p.name] for p in features.collect_params().values())
    side = {"inceptionv3": 299, "alexnet": 224, "densenet121": 224}.get(name, 32)
    x = uniform(shape=(1, 3, side, side))
    expected = net.features(x).asnumpy()
    np.testing.assert_allclose(features(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)
    symbol_file, parameter_file = features.export(tmp_path / "features")
    loaded = SymbolBlock.imports(symbol_file, ["data"], parameter_file)
    np.testing.assert_allclose(loaded(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)
