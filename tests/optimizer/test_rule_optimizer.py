"""What optimizers share that update all their weights at once."""

import copy
from typing import Any

import numpy as np
import pytest

from gluonish.autograd import record
from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.core.errors import AutogradError, OperatorError
from gluonish.kernels.compiler import compile as compiler
from gluonish.lr_scheduler import FactorScheduler
from gluonish.ndarray import NDArray, array, waitall
from gluonish.optimizer import (
    LAMB,
    NAG,
    SGD,
    Adam,
    Ftrl,
    Optimizer,
    Updater,
    create,
    get_updater,
)
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import WeightUpdate

ALL: dict[str, dict[str, Any]] = {
    "sgd": {},
    "nag": {"momentum": 0.9},
    "adam": {},
    "adamw": {},
    "lamb": {},
    "rmsprop": {},
    "adagrad": {},
    "rmsprop centered": {"centered": True},
    "sgd momentum": {"momentum": 0.9},
    "adadelta": {},
    "adamax": {},
    "dcasgd": {"lamda": 0.5},
    "dcasgd momentum": {"momentum": 0.9},
    "ftml": {},
    "ftrl": {},
    "lans": {},
    "lars": {"eta": 1.0},
    "lars momentum": {"momentum": 0.9, "eta": 1.0},
    "nadam": {},
    "signum": {},
    "signum plain": {"momentum": 0.0},
}
SHAPES = [(3,), (200, 90), (1,), (4, 2)] + [(5,)] * 20

optimizers = pytest.mark.parametrize("name", ALL)


@pytest.fixture
def pushes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many weights each operation updates that is pushed from now on."""
    found: list[int] = []
    push = WeightUpdate.push

    def counted(self: WeightUpdate, *args: Any) -> None:
        found.append(len(self._arrays))
        push(self, *args)

    monkeypatch.setattr(WeightUpdate, "push", counted)
    return found


def made(name: str, **arguments: Any) -> RuleOptimizer:
    optimizer = create(name.split()[0], **{**ALL[name], "wd": 0.01, **arguments})
    assert isinstance(optimizer, RuleOptimizer)
    return optimizer


def weights(dtype: str = "float32") -> list[NDArray]:
    rng = np.random.default_rng(0)
    return [array(rng.normal(size=shape), dtype=dtype) for shape in SHAPES]


def train(updater: Updater, trained: list[NDArray], steps: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    for step in range(steps):
        grads = [array(rng.normal(size=w.shape), dtype=w.dtype) for w in trained]
        used = [i for i in range(len(trained)) if step != 1 or i % 3]
        updater(used, [grads[i] for i in used], [trained[i] for i in used])
    return [w.asnumpy() for w in trained]


def check_same(ours: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for x, y in zip(ours, wanted, strict=True):
        np.testing.assert_array_equal(x, y)


@optimizers
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_number_of_operations_changes_no_bit(name: str, dtype: str, pushes: list[int]) -> None:
    arguments = {"multi_precision": True, "lr_scheduler": FactorScheduler(2, 0.5, base_lr=0.1)}
    together = train(get_updater(made(name, **copy.deepcopy(arguments))), weights(dtype))
    assert pushes == [24, 16, 24]
    pushes.clear()
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(7):
        optimizer = made(name, **copy.deepcopy(arguments))
    check_same(train(get_updater(optimizer), weights(dtype)), together)
    assert pushes == [7, 7, 7, 3, 7, 7, 2, 7, 7, 7, 3]
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(1):
        optimizer = made(name, **copy.deepcopy(arguments))
    check_same(train(get_updater(optimizer), weights(dtype)), together)


@optimizers
def test_update_of_one_weight_is_that_of_many(name: str) -> None:
    many, single, optimizer = weights(), weights(), made(name)
    train(get_updater(made(name)), many, steps=1)
    rng = np.random.default_rng(1)
    for i, weight in enumerate(single):
        state = optimizer.create_state_multi_precision(i, weight)
        optimizer.update_multi_precision(i, weight, array(rng.normal(size=weight.shape)), state)
    check_same([w.asnumpy() for w in single], [w.asnumpy() for w in many])


@optimizers
def test_float32_weights_make_up_for_16_bits(name: str) -> None:
    """Steps too small for bfloat16 add up in the float32 weight."""
    optimizer = made(name, learning_rate=3e-4, wd=0.0, multi_precision=True)
    narrow, wide = array([1.0] * 8, dtype="bfloat16"), array([1.0] * 8)
    updater, other = get_updater(optimizer), get_updater(made(name, learning_rate=3e-4, wd=0.0))
    for _ in range(60):
        updater(0, array([1.0] * 8, dtype="bfloat16"), narrow)
        other(0, array([1.0] * 8), wide)
    rounded = wide.astype("bfloat16").asnumpy()
    assert rounded[0] < 1
    np.testing.assert_array_equal(narrow.asnumpy(), rounded)


@pytest.mark.parametrize(
    ("name", "order"), [("sgd", "sw"), ("nag", "sw"), ("adam", "ws"), ("lamb", "ws")]
)
def test_float32_weight_stands_in_the_state_where_mxnet_has_it(name: str, order: str) -> None:
    arguments = {"momentum": 0.9} if order == "sw" else {}
    optimizer = create(name, multi_precision=True, **arguments)
    state = optimizer.create_state_multi_precision(0, array([2.0], dtype="float16"))
    master = state[order.index("w")]
    assert master.dtype == np.float32
    assert master.asnumpy()[0] == 2.0


@optimizers
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_new_learning_rate_builds_nothing(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimizer = made(name, multi_precision=True)
    updater, trained = Updater(optimizer), tuple(weights(dtype))
    grads = tuple(array(np.ones(w.shape), dtype=dtype) for w in trained)
    every = tuple(range(len(trained)))
    updater(every, grads, trained)
    before = [w.asnumpy().astype(np.float32) for w in trained]

    def refuse(*_: Any) -> None:
        raise AssertionError("expected what was built for the first step")

    monkeypatch.setattr(WeightUpdate, "__init__", refuse)
    monkeypatch.setattr(compiler, "_new_kernel", refuse)
    for rate in (0.5, 0.25):
        optimizer.set_learning_rate(rate)
        optimizer.wd = rate / 10
        optimizer.rescale_grad = rate
        updater(every, grads, trained)
    assert all((w.asnumpy() != old).any() for w, old in zip(trained, before, strict=True))


def test_settings_of_a_moment_hold_in_the_next_step() -> None:
    """Also where the arrays are the same tuples as before, so that everything is bound."""
    optimizer = SGD(learning_rate=1.0)
    updater = get_updater(optimizer)
    arguments = ((0, 1), (array([1.0]), array([1.0])), (array([0.0]), array([0.0])))
    first, second = arguments[2]

    def step() -> list[Any]:
        before = [first.asscalar(), second.asscalar()]
        updater(*arguments)
        return [old - x.asscalar() for old, x in zip(before, (first, second), strict=True)]

    assert step() == [1.0, 1.0]
    optimizer.set_learning_rate(2.0)
    assert step() == [2.0, 2.0]
    optimizer.set_lr_mult({1: 0.5})
    assert step() == [2.0, 1.0]
    optimizer.rescale_grad = 0.25
    assert step() == [0.5, 0.25]
    optimizer.wd = 1.0
    optimizer.set_wd_mult({0: 0.0})
    assert step() == [0.5, 1.0 * (0.25 + -4.25)]
    optimizer.momentum = 0.5
    updater.states = {}
    assert step()[0] == 0.5
    assert step()[0] == 0.75
    updater.states[0] = array([0.0])
    assert step()[0] == 0.5


def test_scheduler_sees_the_counts_one_after_the_other() -> None:
    asked: list[int] = []

    def scheduler(count: int) -> float:
        asked.append(count)
        return float(count)

    optimizer = SGD(lr_scheduler=scheduler)
    updater = get_updater(optimizer)
    old, new = array([0.0]), array([0.0])
    for _ in range(3):
        updater(0, array([1.0]), old)
    updater([1, 0], [array([1.0]), array([1.0])], [new, old])
    assert (new.asscalar(), old.asscalar()) == (-3.0, -1.0 - 2.0 - 3.0 - 4.0)
    assert max(asked) == 4


def test_weight_named_twice_is_updated_twice() -> None:
    optimizer = SGD(learning_rate=1.0)
    weight, grad = array([0.0]), array([1.0])
    get_updater(optimizer)([0, 0], [grad, grad], [weight, weight])
    assert weight.asscalar() == -2.0
    assert optimizer.num_update == 2
    shared = array([0.0] * 20000)
    ones = array([1.0] * 20000)
    get_updater(SGD(learning_rate=1.0))([0, 1], [ones, ones], [shared, shared])
    np.testing.assert_array_equal(shared.asnumpy(), np.full(20000, -2.0))


def test_class_with_an_update_of_its_own_is_asked_for_each_weight() -> None:
    calls: list[Any] = []

    class Own(Adam):
        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            calls.append((index, weight.dtype))
            super().update(index, weight, grad, state)

    for dtype in ("float32", "float16"):
        calls.clear()
        own, plain = weights(dtype), weights(dtype)
        train(get_updater(Own(multi_precision=True)), own, steps=1)
        train(get_updater(Adam(multi_precision=True)), plain, steps=1)
        assert calls == [(i, np.float32) for i in range(24)]
        check_same([w.asnumpy() for w in own], [w.asnumpy() for w in plain])


@pytest.mark.parametrize("base", [SGD, NAG, LAMB])
def test_some_updaters_do_not_ask_an_update_of_ones_own_as_in_mxnet(base: Any) -> None:
    class Own(base):  # type: ignore[misc]  # a class given by value
        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            raise AssertionError("update was called")

    own, plain = weights(), weights()
    check_same(train(get_updater(Own()), own), train(get_updater(base()), plain))


def test_class_with_rates_of_its_own_is_asked_for_them() -> None:
    class Own(SGD):
        def _get_lr(self, index: Any) -> float:
            return 2.0 + index

    trained = [array([0.0]), array([0.0])]
    get_updater(Own())([0, 1], [array([1.0]), array([1.0])], trained)
    assert [w.asscalar() for w in trained] == [-2.0, -3.0]


def test_class_beside_an_optimizer_is_asked_for_rates() -> None:
    class Halved(Optimizer):  # as the optimizers of Keras are made
        def _get_lr(self, index: Any) -> float:
            return 0.5

        def _get_lrs(self, indices: Any) -> list[float]:
            return [0.5 for _ in indices]

    class Own(Halved, SGD):
        pass

    optimizer = Own(learning_rate=1.0)
    optimizer.lr = None  # what the class keeps there is its own affair
    trained = [array([0.0]), array([0.0])]
    get_updater(optimizer)([0, 1], [array([1.0]), array([1.0])], trained)
    assert [w.asscalar() for w in trained] == [-0.5, -0.5]


def test_number_of_weights_of_an_operation_may_be_an_argument(pushes: list[int]) -> None:
    together = train(get_updater(Adam()), weights(), steps=1)
    check_same(train(get_updater(Adam(aggregate_num=7)), weights(), steps=1), together)
    assert pushes == [24, 7, 7, 7, 3]


def test_files_do_not_say_how_many_weights_go_together() -> None:
    updater = get_updater(SGD(momentum=0.9))
    updater(0, array([1.0]), array([1.0]))
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(3):
        other = get_updater(SGD())
        other.set_states(updater.get_states(dump_optimizer=True))
    assert "group_limit" not in updater.optimizer.__getstate__()
    assert vars(other.optimizer)["group_limit"] == 3
    assert vars(updater.optimizer)["group_limit"] is None


def test_wrong_gradient_is_refused_and_named() -> None:
    with pytest.raises(OperatorError, match=r"multi_sgd_update: .* shape \(1,\), got \(2,\)"):
        get_updater(SGD())(0, array([1.0, 2.0]), array([1.0]))
    with pytest.raises(OperatorError, match=r"_multi_adam_update: .* dtype float32, got float16"):
        get_updater(Adam())(0, array([1.0], dtype="float16"), array([1.0]))
    with pytest.raises(OperatorError, match=r"_multi_ftrl_update: .* dtype float32, got float16"):
        get_updater(Ftrl())(0, array([1.0], dtype="float16"), array([1.0]))


def test_weight_in_a_recorded_graph_is_not_updated() -> None:
    weight = array([1.0])
    weight.attach_grad()
    with record(), pytest.raises(AutogradError, match="multi_sgd_update"):
        get_updater(SGD())(0, array([1.0]), weight)


def test_update_waits_for_its_gradient_and_carries_its_error() -> None:
    weight, bad = array([1.0]), array([1.0])

    def fail(raw: Any) -> None:
        raise ValueError("no gradient")

    bad._write(fail)
    get_updater(SGD(learning_rate=1.0))(0, bad, weight)
    with pytest.raises(OperatorError, match="no gradient"):
        weight.wait_to_read()
    waitall()
    assert weight.asscalar() == 1.0
