"""Optimizers by the rules of MXNet 2.0, compared with golden data of it."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentTypeError
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.gluon import Trainer, nn
from gluonish.optimizer import SGD, Optimizer, create

GOLDEN = Path(__file__).parents[1] / "golden/optimizer2"


def _cases() -> Any:
    spec = importlib.util.spec_from_file_location(
        "optimizer2_cases", GOLDEN / "optimizer2_cases.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = _cases()
VALUES = np.load(GOLDEN / "optimizer2.npz")
# MXNet computes 1 - beta2 of these in float32.
COARSE = {"adam", "adamw", "adabelief"}
# In MXNet LAMB counts each of these steps twice, and LANS adds its second direction at the weight
# that the first one has reached.
FAULTS = {
    "lamb/zero_group/None",
    "lamb/zero_group/True",
    "lans/all/False",
}


@pytest.fixture(autouse=True)
def _mxnet2() -> Iterator[None]:
    before = follow_mxnet(Rules.MXNET2)
    yield
    follow_mxnet(before)


@pytest.mark.parametrize(
    ("name", "optimizer", "args"),
    [case for case in CASES.cases() if case[0] in VALUES.files and case[0] not in FAULTS],
)
def test_weights_are_those_of_mxnet(name: str, optimizer: str, args: dict[str, Any]) -> None:
    half = args.get("dtype") == "float16"
    coarse = optimizer in COARSE and args.get("use_fused_step") is not False
    tolerance = 2e-3 if half else 3e-5 if coarse else 3e-6
    found = CASES.train(mx, optimizer, args)
    np.testing.assert_allclose(found, VALUES[name], rtol=tolerance, atol=tolerance)


def test_refused_cases_are_the_fused_steps_that_mxnet_lacks() -> None:
    refused = json.loads((GOLDEN / "refused.json").read_text())
    assert {name.split("/")[0] for name in refused} == {"adadelta", "adamax", "dcasgd", "nadam"}
    assert {name.split("/")[2] for name in refused} == {"True"}


def test_positional_arguments_begin_with_the_learning_rate() -> None:
    first = [create(name).__class__(0.3) for name in ("sgd", "nag", "lars", "ftrl", "adagrad")]
    assert [optimizer.lr for optimizer in first] == [0.3] * 5
    second = SGD(0.3, 0.5)
    assert (second.lr, second.momentum) == (0.3, 0.5)
    with pytest.raises(ArgumentTypeError, match="one value for learning_rate, got two"):
        SGD(0.3, learning_rate=0.3)
    follow_mxnet(Rules.GLUONISH)
    assert SGD(0.3).momentum == 0.3


class _Steps(Optimizer):
    """A user's optimizer, as programs for MXNet 2.0 define them."""

    calls: list[list[int]]

    def step(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        self.calls.append(list(indices))
        self._update_count(indices)
        for weight, grad, lr in zip(weights, grads, self._get_lrs(indices), strict=True):
            weight -= lr * grad


class _Updates(Optimizer):
    calls: list[Any]

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self.calls.append(index)


@pytest.mark.parametrize(
    ("kind", "args", "calls"),
    [
        (_Steps, {}, [[0], [1]]),
        (_Steps, {"aggregate_num": 0}, [[0], [1]]),
        (_Steps, {"aggregate_num": 3}, [[0, 1]]),
        (_Updates, {}, [[0], [1]]),
        (_Updates, {"aggregate_num": 0}, [[0], [1]]),
    ],
)
def test_calls_of_a_users_optimizer(kind: Any, args: dict[str, Any], calls: list[Any]) -> None:
    optimizer = kind(learning_rate=0.5, **args)
    optimizer.calls = []
    net = nn.Dense(2, in_units=2)
    net.initialize()
    trainer = Trainer(net.collect_params(), optimizer)
    with mx.autograd.record():
        loss = net(mx.np.ones((1, 2))).sum()
    loss.backward()
    trainer.step(1)
    assert optimizer.calls == calls


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_step_of_a_subclass_can_call_that_of_its_base(dtype: str) -> None:
    class Loud(SGD):
        calls = 0

        def step(self, *lists: Any) -> None:
            self.calls += 1
            super().step(*lists)

    optimizer = Loud(learning_rate=0.5, momentum=0.9, multi_precision=dtype == "float16")
    updater = mx.optimizer.get_updater(optimizer)
    weights = [mx.np.ones((2, 2), dtype=dtype) for _ in range(2)]
    grads = [mx.np.ones((2, 2), dtype=dtype) for _ in range(2)]
    for _ in range(2):
        updater([0, 1], grads, weights)
    assert optimizer.calls == 4
    for weight in weights:  # steps of 0.5 and 0.95
        np.testing.assert_allclose(weight.asnumpy(), np.full((2, 2), -0.45), atol=1e-3)


def test_all_weights_decay_and_attributes_are_those_of_mxnet() -> None:
    optimizer = create("sgd", param_idx2name={0: "a_weight", 1: "bias"}, wd=0.1)
    assert optimizer.wd_mult == {}
    groups = {"sgd": 1, "adam": 1, "adamw": 4, "lamb": 4, "lans": 4, "adabelief": 4, "lars": 1}
    assert {name: create(name).aggregate_num for name in groups} == groups
    rmsprop, grads = mx.optimizer.RMSProp(), mx.optimizer.AdaGrad()
    assert rmsprop.rho == rmsprop.momentum == 0.9
    rmsprop.rho, rmsprop.momentum, grads.epsilon = 0.5, 0.25, 0.125
    found = (rmsprop.gamma1, rmsprop.gamma2, grads.float_stable_eps)
    assert found == (0.5, 0.25, 0.125)
