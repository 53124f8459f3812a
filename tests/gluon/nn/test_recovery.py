"""A bad batch costs itself: the wait raises, and then the net is as if the batch had not been."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.core.context import cpu
from gluonish.core.errors import OperatorError
from gluonish.engine import use_engine
from gluonish.gluon import nn
from gluonish.gluon.trainer import Trainer
from gluonish.ndarray import NDArray, array
from gluonish.ops.registry import find_operator

pytestmark = pytest.mark.timeout(120)

MODES: dict[str, dict[str, Any] | None] = {
    "imperative": None,
    "hybridized": {},
    "static": {"static_alloc": True},
    "in segments": {"forward_bulk_size": 1, "backward_bulk_size": 1},
}
# The first is so small that operators run in the calling thread, the second runs in lanes.
SHAPES = ((4, 5), (80, 64))


@pytest.fixture(params=["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"], autouse=True)
def _engine(request: pytest.FixtureRequest) -> Iterator[None]:
    with use_engine(request.param):
        yield


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, int]:
    found: tuple[int, int] = request.param
    return found


def good(shape: tuple[int, int], seed: int = 0) -> NDArray:
    return array(np.random.default_rng(seed).standard_normal(shape))


def broken(shape: tuple[int, int]) -> NDArray:
    """Return an array whose operation failed."""

    def fail(out: Any) -> None:
        raise ArithmeticError("no data")

    x = nd.zeros(shape)
    x._write(fail, name="broken")
    return x


def make_net(mode: str, x: NDArray) -> nn.HybridSequential:
    """Return a net of the same values each time, which has seen ``x`` once."""
    net = nn.HybridSequential()
    net.add(nn.Dense(6), nn.BatchNorm(), nn.Activation("relu"), nn.Dense(3), nn.BatchNorm())
    net.initialize()
    net(x)
    rng = np.random.default_rng(7)
    for parameter in net.collect_params().values():
        parameter.set_data(array(rng.uniform(0.5, 1.5, parameter.shape)))
    options = MODES[mode]
    if options is not None:
        net.hybridize(**options)
    return net


def values(net: nn.HybridSequential) -> list[np.ndarray]:
    return [parameter.data().asnumpy() for parameter in net.collect_params().values()]


def assert_same(got: list[np.ndarray], want: list[np.ndarray]) -> None:
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def train(net: nn.HybridSequential, trainer: Trainer, x: NDArray) -> NDArray:
    with autograd.record():
        loss = (net(x) ** 2).mean()
    loss.backward()
    trainer.step(1)
    return loss


@pytest.mark.parametrize("training", [False, True])
def test_net_gives_after_a_broken_input_what_a_fresh_one_gives(
    mode: str, shape: tuple[int, int], training: bool
) -> None:
    x = good(shape)
    net, fresh = make_net(mode, x), make_net(mode, x)
    scope = autograd.train_mode if training else autograd.predict_mode
    with scope():
        for _ in range(2):
            result = net(broken(shape))
            with pytest.raises(OperatorError, match=r"^broken: failed with ArithmeticError"):
                result.asnumpy()
        for _ in range(2):
            np.testing.assert_array_equal(net(x).asnumpy(), fresh(x).asnumpy())
    assert_same(values(net), values(fresh))


@pytest.mark.parametrize("training", [False, True])
def test_statistics_raise_only_where_a_call_would_have_moved_them(
    mode: str, shape: tuple[int, int], training: bool
) -> None:
    net = make_net(mode, good(shape))
    mean = next(p for name, p in net.collect_params().items() if name.endswith("running_mean"))
    before = mean.data().asnumpy()
    with autograd.train_mode() if training else autograd.predict_mode():
        net(broken(shape))
    if training:
        with pytest.raises(OperatorError, match=r"^broken"):
            mean.data().asnumpy()
    np.testing.assert_array_equal(mean.data().asnumpy(), before)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_only_training_by_the_batch_writes_statistics(
    mode: str, training: bool, frozen: bool
) -> None:
    net = nn.HybridSequential()
    net.add(nn.BatchNorm(use_global_stats=frozen, in_channels=5), nn.Dense(2, in_units=5))
    net.initialize()
    options = MODES[mode]
    if options is not None:
        net.hybridize(**options)
    statistics = [p.data() for name, p in net.collect_params().items() if "running" in name]
    versions = [x._var.version for x in statistics]
    with autograd.train_mode() if training else autograd.predict_mode():
        net(good((4, 5))).wait_to_read()
    wrote = [x._var.version > version for x, version in zip(statistics, versions, strict=True)]
    assert wrote == [training and not frozen] * 2


def test_step_after_a_broken_batch_is_the_step_that_was_left_out(
    mode: str, shape: tuple[int, int]
) -> None:
    x = good(shape)
    nets = [make_net(mode, x) for _ in range(2)]
    trainers = [
        Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
        for net in nets
    ]
    for net, trainer in zip(nets, trainers, strict=True):
        train(net, trainer, good(shape, seed=1)).wait_to_read()
    before = values(nets[0])
    loss = train(nets[0], trainers[0], broken(shape))
    with pytest.raises(OperatorError, match=r"^broken"):
        loss.asnumpy()
    assert_same(values(nets[0]), before)
    for seed in (2, 3):
        losses = [
            train(net, trainer, good(shape, seed)).asnumpy()
            for net, trainer in zip(nets, trainers, strict=True)
        ]
        np.testing.assert_array_equal(*losses)
    assert_same(values(nets[0]), values(nets[1]))


def test_steps_before_the_wait_are_all_left_out(mode: str) -> None:
    shape = SHAPES[0]
    net = make_net(mode, good(shape))
    trainer = Trainer(net.collect_params(), "adam")
    before = values(net)
    train(net, trainer, broken(shape))
    train(net, trainer, good(shape))
    with pytest.raises(OperatorError, match=r"^broken"):
        nd.waitall()
    assert_same(values(net), before)
    train(net, trainer, good(shape)).wait_to_read()
    assert any(np.any(a != b) for a, b in zip(values(net), before, strict=True))


@pytest.mark.parametrize("name", ["BatchNorm", "_contrib_BatchNormWithReLU"])
def test_operator_without_a_mode_lists_the_statistics_it_may_write(name: str) -> None:
    op = find_operator(name)
    for frozen in (False, True):
        attrs = op.schema.parse(name, {"use_global_stats": frozen})
        assert op.mutated_inputs(attrs) == (3, 4)
        assert op.mutated_inputs({**attrs, "train": False}) == ()
        assert op.mutated_inputs({**attrs, "train": True}) == (() if frozen else (3, 4))


@pytest.mark.parametrize("update_on_kvstore", [False, True])
@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_two_devices_go_on_after_a_broken_batch_on_one(
    kvstore: str, update_on_kvstore: bool
) -> None:
    contexts = [cpu(0), cpu(1)]
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3), nn.BatchNorm(in_channels=4), nn.Dense(2, in_units=4))
    net.initialize(ctx=contexts)
    net.hybridize()
    options = {"learning_rate": 0.1, "momentum": 0.9}
    trainer = Trainer(
        net.collect_params(), "sgd", options, kvstore, update_on_kvstore=update_on_kvstore
    )

    def step(batches: list[NDArray]) -> list[NDArray]:
        with autograd.record():
            parts = zip(batches, contexts, strict=True)
            losses = [(net(x.as_in_context(context)) ** 2).mean() for x, context in parts]
        autograd.backward(losses)
        trainer.step(1)
        return losses

    for loss in step([good((5, 3)), good((5, 3), 1)]):
        loss.wait_to_read()
    weights = [p for name, p in net.collect_params().items() if "running" not in name]
    before = [[x.asnumpy() for x in parameter.list_data()] for parameter in weights]
    step([good((5, 3), 2), broken((5, 3))])
    with pytest.raises(OperatorError, match=r"^broken"):
        nd.waitall()
    for parameter, old in zip(weights, before, strict=True):
        assert_same([x.asnumpy() for x in parameter.list_data()], old)
    for loss in step([good((5, 3), 3), good((5, 3), 4)]):
        assert np.isfinite(loss.asnumpy()).all()
    moved = [
        np.any(x.asnumpy() != old[0])
        for parameter, old in zip(weights, before, strict=True)
        for x in parameter.list_data()
    ]
    assert any(moved)
