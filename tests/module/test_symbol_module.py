import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.io import DataBatch
from gluonish.module import Module
from tests.module.networks import (
    DATA,
    LABEL,
    TWO,
    assert_same,
    batch,
    bound,
    mlp,
    numpy_of,
    trained,
    values,
    weights,
)


def test_missing_weights_are_refused_or_initialized() -> None:
    given = {name: x for name, x in weights().items() if name != "fc2_bias"}
    module = Module(mlp())
    module.bind(DATA, LABEL)
    with pytest.raises(RuntimeError, match="expected fc2_bias among the weights"):
        module.init_params(mx.init.One(), given, {})
    module.init_params(mx.init.Constant(7), given, {}, allow_missing=True)
    assert module.get_params()[0]["fc2_bias"].asnumpy().tolist() == [0, 0, 0]
    assert_same(
        numpy_of(module.get_params()[0]) | {"fc2_bias": 0}, numpy_of(weights()) | {"fc2_bias": 0}
    )


def test_a_variable_names_its_initializer() -> None:
    weight = mx.sym.var("w_weight", init=mx.init.Constant(3))
    module = Module(
        mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=2), label_names=None
    )
    module.bind([("data", (2, 3))], for_training=False)
    module.init_params()
    assert set(module.get_params()[0]["w_weight"].asnumpy().ravel()) == {3}


def test_no_initializer_initializes_nothing() -> None:
    module = Module(mlp())
    module.bind(DATA, LABEL)
    with pytest.raises(ArgumentError, match="expected an initializer for fc1_bias, got None"):
        module.init_params(None)


def test_weights_of_another_shape_are_refused() -> None:
    module = bound()
    with pytest.raises(ArgumentError, match=r"expected fc2_bias of shape \(3,\), got \(4,\)"):
        module.set_params(weights() | {"fc2_bias": mx.nd.ones(4)}, {})


def test_unknown_weights_are_refused_with_allow_missing_alone() -> None:
    module = bound()
    extra = weights() | {"fc9": mx.nd.ones(1)}
    with pytest.raises(ValueError, match="got 'fc9'; pass allow_extra=True"):
        module.set_params(extra, {}, allow_missing=True)
    module.set_params(extra, {}, allow_missing=True, allow_extra=True)
    # So does MXNet: programs hand all weights of a network to a part of it.
    module.set_params(extra, {})
    assert "fc9" not in module.get_params()[0]


def test_missing_weights_stay_as_they_were_trained() -> None:
    module = bound()
    wanted = trained(module)
    module.set_params({"fc2_bias": mx.nd.ones(3)}, {}, allow_missing=True)
    assert_same(numpy_of(module.get_params()[0]), wanted | {"fc2_bias": np.ones(3)}, 0)


@pytest.mark.parametrize("what", ["init_params", "set_params"])
def test_weights_that_are_there_are_kept_with_a_warning(what: str) -> None:
    module = bound()
    arguments = (None,) if what == "init_params" else ({}, {})  # type: ignore[var-annotated]
    with pytest.warns(UserWarning, match=f"Module.{what}: expected force_init=True"):
        getattr(module, what)(*arguments, force_init=False)
    assert_same(numpy_of(module.get_params()[0]), numpy_of(weights()), 0)


def test_weights_that_are_set_are_those_that_a_store_goes_on_from() -> None:
    """In MXNet the store goes on from its own, and what was set is lost at the next update."""
    module = bound(context=TWO)
    trained(module)
    module.set_params(weights(), {})
    module.forward_backward(batch())
    for arrays in module._exec_group.grad_arrays:
        for array in arrays:
            array[:] = 0
    module._optimizer.momentum = 0.0
    module._optimizer.wd = 0.0
    module.update()
    assert_same(numpy_of(module.get_params()[0]), numpy_of(weights()), 1e-6)


def test_weights_are_snapshots() -> None:
    module = bound()
    trained(module, 1)
    before = module.get_params()[0]["fc2_bias"]
    kept = before.asnumpy()
    module.forward_backward(batch(seed=9))
    module.update()
    assert abs(module.get_params()[0]["fc2_bias"].asnumpy() - kept).max() > 1e-4
    np.testing.assert_array_equal(before.asnumpy(), kept)


def test_moving_averages_are_those_of_the_last_pass_of_training() -> None:
    symbol = mx.sym.BatchNorm(mx.sym.var("data"), name="bn", momentum=0.5)
    module = Module(symbol, label_names=None)
    module.bind([("data", (4, 2))])
    module.init_params()
    data = values((4, 2), 1)
    module.get_params()
    module.forward(DataBatch([data], None), is_train=True)
    wanted = data.asnumpy().mean(axis=0) / 2
    np.testing.assert_allclose(
        module.get_params()[1]["bn_moving_mean"].asnumpy(), wanted, atol=1e-6
    )
