"""Gradients that overflow: what a skipped step leaves alone, and what does not skip a step."""

import datetime
import math

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from tests.attack.overflow_runs import faults

Parameter = mx.gluon.Parameter


def made(*names: str) -> list[Parameter]:
    params = [Parameter(name, shape=(2,)) for name in names]
    for param in params:
        param.initialize(mx.init.One())
    return params


def trainer_of(params: list[Parameter], name: str = "sgd") -> mx.gluon.Trainer:
    trainer = mx.gluon.Trainer(params, name, {"learning_rate": 0.5})
    amp.init_trainer(trainer)
    return trainer


def backward(trainer: mx.gluon.Trainer, *terms: tuple[Parameter, float]) -> None:
    with mx.autograd.record():
        loss = sum((param.data() * factor).sum() for param, factor in terms)
        with amp.scale_loss(loss, trainer) as scaled:
            scaled.backward()


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*updating 16-bit weights:UserWarning")
def test_runs_of_today_skip_the_step_that_overflows() -> None:
    seed = datetime.datetime.now(datetime.UTC).toordinal()  # other runs each day
    found = {number: faults(number * 7919, number) for number in range(seed, seed + 24)}
    assert not {number: words for number, words in found.items() if words}


def test_a_stale_gradient_that_overflowed_skips_no_later_step() -> None:
    used, left_out = made("used", "left_out")
    trainer = trainer_of([used, left_out])
    backward(trainer, (used, 1), (left_out, math.inf))
    trainer.step(1)
    for _ in range(3):
        backward(trainer, (used, 1))
        trainer.step(1, ignore_stale_grad=True)
    assert used.data().asnumpy().tolist() == [-0.5, -0.5]
    assert left_out.data().asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("store", "in_store", "expected"),
    [("device", True, (0, 0)), ("device", False, (0, 0)), (None, None, (0, 1))],
)
def test_a_stale_gradient_of_one_device_skips_no_later_step(
    store: str | None, in_store: bool | None, expected: tuple[int, int]
) -> None:
    contexts = [mx.cpu(0), mx.cpu(1)]
    weight = Parameter("weight", shape=(2,))
    weight.initialize(mx.init.One(), ctx=contexts)
    given = {"learning_rate": 0.5}
    trainer = mx.gluon.Trainer([weight], "sgd", given, store, update_on_kvstore=in_store)
    amp.init_trainer(trainer)
    for factors in ((1, math.inf), (1,), (1,)):
        with mx.autograd.record():
            pairs = zip(weight.list_data(), factors, strict=False)
            losses = [(data * factor).sum() for data, factor in pairs]
            with amp.scale_loss(losses, trainer) as scaled:
                mx.autograd.backward(scaled)
        trainer.step(1, ignore_stale_grad=True)
    for data, value in zip(weight.list_data(), expected, strict=True):
        assert data.asnumpy().tolist() == [value, value]


def test_a_second_init_trainer_keeps_the_size_of_steps() -> None:
    (weight,) = made("weight")
    trainer = trainer_of([weight])
    for _ in range(2):
        backward(trainer, (weight, 1))
        trainer.step(1)
        amp.init_trainer(trainer)
    assert weight.data().asnumpy().tolist() == [0, 0]


def test_the_scale_has_a_smallest_value() -> None:
    (weight,) = made("weight")
    trainer = trainer_of([weight])
    for _ in range(1200):
        trainer._amp_loss_scaler.has_overflow([])  # type: ignore[union-attr]  # there is one
        weight.grad()[:] = math.nan
        assert trainer._amp_loss_scaler.has_overflow([weight])  # type: ignore[union-attr]
    assert trainer._amp_loss_scaler.loss_scale == 2.0**-24  # type: ignore[union-attr, attr-defined]
    backward(trainer, (weight, 1))
    trainer.step(1)
    assert weight.data().asnumpy().tolist() == [0.5, 0.5]


def test_a_scope_that_fails_scales_nothing() -> None:
    (weight,) = made("weight")
    trainer = trainer_of([weight])
    with pytest.raises(KeyError), amp.scale_loss(weight.data().sum(), trainer):
        raise KeyError
    with mx.autograd.record():
        loss = weight.data().sum()
    loss.backward()
    trainer.step(1)
    assert weight.data().asnumpy().tolist() == [0.5, 0.5]


@pytest.mark.filterwarnings("ignore:clip_global_norm:UserWarning")
def test_clipping_unscaled_gradients_clips_those_of_the_loss_and_hides_no_overflow() -> None:
    (weight,) = made("weight")
    trainer = trainer_of([weight])
    for factor, expected in ((3, 1 - 0.5 / math.sqrt(2)), (math.inf, 1 - 0.5 / math.sqrt(2))):
        backward(trainer, (weight, factor))
        amp.unscale(trainer)
        norm = mx.gluon.utils.clip_global_norm([weight.grad()], 1)
        np.testing.assert_allclose(norm, factor * math.sqrt(2), rtol=1e-6)
        trainer.step(1)
        np.testing.assert_allclose(weight.data().asnumpy(), expected, rtol=1e-6)


def test_dtypes_side_by_side_are_all_looked_at() -> None:
    dtypes = ("float32", "float16", "bfloat16", "float64")
    params = [Parameter(dtype, shape=(2,), dtype=dtype) for dtype in dtypes]
    for param in params:
        param.initialize(mx.init.One())
    options = {"learning_rate": 0.5, "multi_precision": True}
    trainer = mx.gluon.Trainer(params, "sgd", options)
    amp.init_trainer(trainer)
    scaler = trainer._amp_loss_scaler
    for spoiled in params:
        for param in params:
            param.grad()[:] = 1
        assert not scaler.has_overflow(params)  # type: ignore[union-attr]
        spoiled.grad()[:] = mx.nd.array([1, math.inf], dtype=spoiled.dtype)
        assert scaler.has_overflow(params)  # type: ignore[union-attr]


@pytest.mark.parametrize("spoiled", [False, True])
def test_rows_of_a_sparse_gradient_are_looked_at(spoiled: bool) -> None:
    block = mx.gluon.nn.Embedding(5, 2, sparse_grad=True)
    block.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.5})
    amp.init_trainer(trainer)
    factor = mx.nd.array([[math.nan if spoiled else 1], [1]])
    with mx.autograd.record():
        loss = (block(mx.nd.array([1, 2])) * factor).sum()
        with amp.scale_loss(loss, trainer) as scaled:
            scaled.backward()
    amp.unscale(trainer)
    trainer.step(1)
    expected = np.ones((5, 2))
    expected[1:3] -= 0 if spoiled else 0.5
    np.testing.assert_array_equal(block.weight.data().asnumpy(), expected)
