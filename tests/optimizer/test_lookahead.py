"""Lookahead over 200 steps as in timm, see tests/golden/optimizers_of_torch/make_wrappers.py."""

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError, OperatorError
from gluonish.optimizer import Lookahead, Optimizer, create

GOLDEN = np.load(Path(__file__).parents[1] / "golden/optimizers_of_torch/wrappers.npz")
SAVED = [0, 1, 4, 5, 6, 19, 99, 199]
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("sgd", {"momentum": 0.9, "wd": 0.1}),
    "radam": ("radam", {"wd": 0.1, "k": 6, "alpha": 0.8}),
    "adafactor": (
        "adafactor",
        {"k": 2, "alpha": 0.3, "rescale_grad": 0.5, "clip_gradient": 0.4},
    ),
}
# Muon takes no vectors; the others are no optimizers to look ahead with.
INNER = sorted(set(Optimizer.opt_registry) - {"muon", "lookahead", "test", "sgld", "ccsgd"})


def gradients() -> tuple[list[Any], list[list[Any]]]:
    """Return initial weights, and the gradients of each step."""
    shapes = [(4, 3), (5,), (2, 3, 2)]
    draw = np.random.RandomState(8)
    weights = [draw.randn(*shape).astype("float32") for shape in shapes]
    return weights, [[draw.randn(*s).astype("float32") for s in shapes] for _ in range(200)]


def train(
    name: str, dtype: str, together: bool = True, steps: int = 200, **changed: Any
) -> list[list[Any]]:
    """Return the weights after the saved steps, one list for each weight."""
    inner, kwargs = CASES[name]
    update = mx.optimizer.get_updater(Lookahead(inner, learning_rate=0.01, **kwargs, **changed))
    start, grads = gradients()
    weights = [mx.nd.array(w, dtype=dtype) for w in start]
    found: list[list[Any]] = [[] for _ in weights]
    for step, now in enumerate(grads[:steps]):
        arrays = [mx.nd.array(g, dtype=dtype) for g in now]
        for indices in [[0, 1, 2]] if together else [[0], [1], [2]]:
            update(indices, [arrays[i] for i in indices], [weights[i] for i in indices])
        if step in SAVED:
            for values, weight in zip(found, weights, strict=True):
                values.append(weight.asnumpy().astype("float64"))
    return found


@pytest.mark.parametrize("name", CASES)
def test_weights_are_those_of_timm_in_float64(name: str) -> None:
    for i, values in enumerate(train(name, "float64")):
        np.testing.assert_allclose(values, GOLDEN[f"lookahead_{name}-{i}"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_float32_is_near_and_the_same_one_by_one(name: str) -> None:
    together, alone = train(name, "float32"), train(name, "float32", together=False, steps=20)
    for i, values in enumerate(together):
        np.testing.assert_allclose(values, GOLDEN[f"lookahead_{name}-{i}"], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(values[: len(alone[i])], alone[i])


@pytest.mark.parametrize("name", CASES)
def test_float16_follows_its_float32_copy(name: str) -> None:
    for i, values in enumerate(train(name, "float16", multi_precision=True)):
        expected = GOLDEN[f"lookahead_{name}-{i}"]
        np.testing.assert_allclose(values, expected, rtol=0.02, atol=0.02)


def go(net: Any, trainer: Any, steps: range) -> None:
    x = mx.nd.arange(8).reshape((2, 4)) / 8
    for step in steps:
        with mx.autograd.record():
            value = (net(x - step / 5) ** 2).sum()
        value.backward()
        trainer.step(2)


def trained(inner: str, break_at: int | None, folder: Path, **kwargs: Any) -> Any:
    """Train for 7 steps, perhaps with a break in which all states go through a file."""
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize(mx.init.Constant(0.3))
    options = {"optimizer": inner, "learning_rate": 0.01, "k": 3}
    trainer = mx.gluon.Trainer(net.collect_params(), "lookahead", options, **kwargs)
    go(net, trainer, range(break_at or 7))
    if break_at is not None:
        trainer.save_states(folder / "states")
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", **kwargs)
        trainer.load_states(folder / "states")
        assert isinstance(trainer.optimizer, Lookahead)
        assert type(trainer.optimizer.optimizer).__name__.lower() == inner
        go(net, trainer, range(break_at, 7))
    return net.weight.data().asnumpy()


@pytest.mark.parametrize("inner", INNER)
def test_every_optimizer_resumes_between_two_slow_updates(inner: str, tmp_path: Path) -> None:
    whole, resumed = (trained(inner, at, tmp_path) for at in (None, 4))
    np.testing.assert_array_equal(whole, resumed)


def test_a_share_of_one_changes_nothing() -> None:
    found = []
    for optimizer in (Lookahead("adam", k=2, alpha=1.0, learning_rate=0.1), "adam"):
        net = mx.gluon.nn.Dense(3, in_units=4)
        net.initialize(mx.init.Constant(0.3))
        options = {"learning_rate": 0.1} if optimizer == "adam" else None
        go(net, mx.gluon.Trainer(net.collect_params(), optimizer, options), range(5))
        found.append(net.weight.data().asnumpy())
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_settings_are_those_of_the_inner_optimizer() -> None:
    schedule = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.8)
    outer = Lookahead(mx.optimizer.SGD(lr_scheduler=schedule, wd=0.1))
    trainer = mx.gluon.Trainer([mx.gluon.Parameter("w", shape=(1,))][:0], outer)
    assert trainer.learning_rate == 0.8
    outer.wd = 0.2
    assert outer.optimizer.wd == 0.2
    plain = Lookahead("adam", learning_rate=0.1)
    plain.set_learning_rate(0.3)
    assert (plain.learning_rate, plain.optimizer.learning_rate) == (0.3, 0.3)
    assert repr(plain).startswith("Lookahead(Adam(learning_rate=0.3,")
    other = copy.copy(plain)
    other.set_learning_rate(0.7)
    assert plain.learning_rate == 0.3
    assert pickle.loads(pickle.dumps(other)).learning_rate == 0.7


def test_a_step_that_overflows_is_skipped_and_not_counted() -> None:
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.One())
    options = {"optimizer": "sgd", "learning_rate": 0.25, "k": 2}
    trainer = mx.gluon.Trainer(net.collect_params(), "lookahead", options)
    mx.amp.init_trainer(trainer)
    for factor in (1.0, float("inf"), 1.0):
        with mx.autograd.record(), mx.amp.scale_loss(net(mx.nd.ones((1, 1))), trainer) as scaled:
            assert isinstance(scaled, mx.nd.NDArray)
            value = (scaled * factor).sum()
        value.backward()
        trainer.step(1)
    assert trainer.steps_done == 2
    np.testing.assert_array_equal(net.weight.data().asnumpy(), [[0.75]])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"k of 1 or more, got 0"):
        Lookahead("sgd", k=0)
    for alpha in (0.0, 1.5, float("nan")):
        with pytest.raises(ArgumentError, match=r"alpha in \(0, 1\], got"):
            Lookahead("sgd", alpha=alpha)
    with pytest.raises(ArgumentError, match="got a Lookahead"):
        Lookahead(Lookahead("sgd"))
    with pytest.raises(ArgumentError, match="expected no arguments besides an Optimizer, got wd"):
        Lookahead(mx.optimizer.SGD(), wd=0.1)
    with pytest.raises(ArgumentTypeError, match="an Optimizer or its name, got int"):
        Lookahead(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"got 'sdg'"):
        create("lookahead", optimizer="sdg")
    with pytest.raises(ArgumentError, match="expected a dense weight, got one of row_sparse"):
        create("lookahead").create_state(0, mx.nd.zeros((2, 2)).tostype("row_sparse"))


def test_states_of_the_inner_optimizer_alone_are_refused() -> None:
    weight, sgd = mx.nd.ones((2,)), mx.optimizer.SGD(momentum=0.9)
    outer = Lookahead("sgd", momentum=0.9)
    with pytest.raises(OperatorError, match="expected a pair of slow weight and state, got"):
        outer.update(0, weight, weight, sgd.create_state(0, weight))


def test_files_without_its_settings_are_refused() -> None:
    state = Lookahead("sgd").__getstate__()
    for change in ({"lookahead_k": None}, {"lookahead_optimizer": "nobody"}):
        wrong = {k: v for k, v in (state | change).items() if v is not None or k not in change}
        with pytest.raises(FileFormatError, match="expected"):
            Lookahead("sgd").__setstate__(wrong)


def test_an_optimizer_that_is_not_registered_is_refused_when_saved() -> None:
    class Own(mx.optimizer.SGD):
        """A step of its own."""

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        update = mx.optimizer.get_updater(Lookahead(Own()))
        update(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    with pytest.raises(ArgumentError, match="expected a registered optimizer to save, got Own"):
        update.get_states(dump_optimizer=True)
