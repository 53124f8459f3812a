"""How operators let variables start that feed them: MXNet 1.9.1's attributes."""

from typing import Any

import pytest

import gluonish as mx


def _prelu(**given: Any) -> Any:
    return mx.sym.LeakyReLU(mx.sym.var("data"), act_type="prelu", name="act", **given)


def _filled(symbol: Any, name: str) -> Any:
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 3))])
    module.init_params(mx.init.One())
    return module.get_params()[0][name].asnumpy().tolist()


def test_the_slopes_of_prelu_start_at_a_quarter() -> None:
    assert _filled(_prelu(), "act_gamma") == [0.25] * 3
    assert _prelu().attr_dict()["act_gamma"]["__init__"] == '["Constant", {"value": 0.25}]'


def test_so_do_those_of_a_variable_that_was_given() -> None:
    assert _filled(_prelu(gamma=mx.sym.var("own_gamma")), "own_gamma") == [0.25] * 3


def test_an_initializer_of_the_variable_wins() -> None:
    gamma = mx.sym.var("own_gamma", init=mx.init.Constant(3))
    assert _filled(_prelu(gamma=gamma), "own_gamma") == [3] * 3


@pytest.mark.parametrize("name", ["BatchNorm", "BatchNorm_v1"])
def test_moving_statistics_start_at_zero_and_one(name: str) -> None:
    attributes = getattr(mx.sym, name)(mx.sym.var("data"), name="z").attr_dict()
    assert attributes["z_moving_mean"]["__init__"] == '["zero", {}]'
    assert attributes["z_moving_var"]["__init__"] == '["one", {}]'


def test_other_moving_statistics_do_so_too() -> None:
    attributes = mx.sym.contrib.SyncBatchNorm(mx.sym.var("data"), key="a", name="z").attr_dict()
    assert attributes["z_moving_var"]["__init__"] == '["one", {}]'
    attributes = mx.sym.IdentityAttachKLSparseReg(mx.sym.var("data"), name="z").attr_dict()
    assert attributes["z_moving_avg"]["__init__"] == '["zero", {}]'
