from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.io import NDArrayIter
from gluonish.module import Module, SequentialModule
from gluonish.module.descriptions import ModuleStateError
from tests.module.networks import (
    DATA,
    INPUTS,
    LABEL,
    ROWS,
    assert_same,
    batch,
    bound,
    numpy_of,
    weights,
)


def halves(**settings: Any) -> SequentialModule:
    """The MLP of `networks` in two modules."""
    first = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=6, name="fc1")
    first = mx.sym.Activation(first, act_type="tanh", name="act")
    second = mx.sym.FullyConnected(mx.sym.var("hidden"), num_hidden=3, name="fc2")
    second = mx.sym.SoftmaxOutput(second, name="softmax")
    return (
        SequentialModule()
        .add(Module(first, label_names=None, **settings))
        .add(Module(second, ["hidden"], **settings), take_labels=True, auto_wiring=True)
    )


def bound_halves(**settings: Any) -> SequentialModule:
    module = halves(**settings)
    module.bind(DATA, LABEL, inputs_need_grad=True)
    module.init_params(None, weights(), {}, allow_missing=True)
    return module


@pytest.mark.parametrize("context", [mx.cpu(0), [mx.cpu(0), mx.cpu(1)]], ids=["one", "two"])
def test_two_halves_train_as_the_whole(context: Any) -> None:
    chain, whole = bound_halves(context=context), bound(inputs_need_grad=True)
    for module in (chain, whole):
        module.init_optimizer(optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
        for seed in range(3):
            module.forward_backward(batch(seed=seed))
            module.update()
    assert_same(numpy_of(chain.get_params()[0]), numpy_of(whole.get_params()[0]), 1e-5)
    # MXNet's chain refuses to give these.
    np.testing.assert_allclose(
        chain.get_input_grads()[0].asnumpy(), whole.get_input_grads()[0].asnumpy(), atol=1e-6
    )


def test_a_chain_is_fitted_and_scored() -> None:
    data = NDArrayIter(
        np.random.default_rng(0).normal(size=(20, INPUTS)), np.arange(20) % 3, batch_size=ROWS
    )
    module = halves()
    module.fit(data, num_epoch=2, initializer=mx.init.Xavier())
    assert module.predict(data).shape == (20, 3)
    assert 0 <= dict(module.score(data, "acc"))["accuracy"] <= 1


def test_names_and_shapes_are_those_of_the_ends() -> None:
    module = bound_halves()
    assert list(module.data_names) == ["data"]
    assert list(module.output_names) == ["softmax_output"]
    assert module.data_shapes[0].shape == (ROWS, INPUTS)
    assert module.label_shapes == LABEL
    assert module.output_shapes == [("softmax_output", (ROWS, 3))]


def test_weights_are_set_and_unknown_ones_ignored() -> None:
    module = bound_halves()
    module.set_params({"fc2_bias": mx.nd.ones(3)}, {}, allow_missing=True)
    assert module.get_params()[0]["fc2_bias"].asnumpy().tolist() == [1, 1, 1]
    module.set_params({"fc9": mx.nd.ones(3)}, {}, allow_missing=True)
    assert "fc9" not in module.get_params()[0]


def test_a_name_in_two_modules_is_refused() -> None:
    layer = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=5, name="fc")
    module = SequentialModule()
    module.add(Module(layer, label_names=None)).add(
        Module(layer, label_names=None), auto_wiring=True
    )
    module.bind(DATA)
    with pytest.raises(ArgumentError, match="got 'fc_weight' in modules 0 and 1"):
        module.init_params()


def test_outputs_without_wiring_must_have_the_names_of_the_data() -> None:
    layer = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=5, name="fc")
    module = SequentialModule()
    module.add(Module(layer, label_names=None)).add(Module(layer, label_names=None))
    with pytest.raises(ArgumentError, match=r"expected data_shapes for \['data'\], got them for"):
        module.bind(DATA)


def test_what_is_no_module_or_no_option_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a module, got int"):
        SequentialModule().add(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"expected options among .* got 'wiring'"):
        SequentialModule().add(bound(), wiring=True)


def test_an_empty_chain_is_refused() -> None:
    with pytest.raises(ArgumentError, match="call add first"):
        SequentialModule().bind(DATA)


def test_adding_a_module_unbinds_the_chain() -> None:
    module = bound_halves()
    module.add(bound())
    with pytest.raises(ModuleStateError, match="call bind first"):
        module.forward(batch())


def test_a_monitor_watches_all() -> None:
    module = bound_halves()
    monitor = mx.mon.Monitor(1, pattern="fc._output")
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(batch())
    assert [name for _, name, _ in monitor.toc()] == ["fc1_output", "fc2_output"]
