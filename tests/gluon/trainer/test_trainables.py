"""What a trainer keeps from step to step, and when it looks again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.autograd import backward, record
from gluonish.core.context import Context, cpu
from gluonish.core.errors import DeferredInitializationError
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer import Trainer
from gluonish.gluon.trainer.trainables import Trainables
from gluonish.initializer import Constant
from gluonish.ndarray import array

TWO = [cpu(0), cpu(1)]


def parameters(contexts: Any = None, count: int = 3) -> list[Parameter]:
    made = [Parameter(f"p{i}_weight", shape=(4,), init=Constant(1 + i)) for i in range(count)]
    for param in made:
        param.initialize(ctx=contexts)
    return made


def leave_gradients(params: list[Parameter], skip: tuple[int, ...] = ()) -> None:
    for context in params[0].list_ctx():
        with record():
            terms = [
                (param.data(context).astype("float32") ** 2).sum()
                for i, param in enumerate(params)
                if i not in skip and param.grad_req != "null"
            ]
        backward(terms)


def test_arrays_are_gathered_once() -> None:
    params = parameters()
    trainables = Trainables(params)
    leave_gradients(params)
    first, stale = trainables.updated()
    assert first.indices == (0, 1, 2)
    assert first.weights == (tuple(param.data() for param in params),)
    assert first.gradients == (tuple(param.grad() for param in params),)
    assert not stale
    first.mark_used()
    _, stale = trainables.updated()
    assert [x is param.data() for x, param in zip(stale, params, strict=True)] == [True] * 3
    leave_gradients(params)
    assert trainables.updated() == (first, [])


def test_selection_stays_while_the_same_gradients_are_new() -> None:
    params = parameters()
    trainables = Trainables(params)
    leave_gradients(params, skip=(1,))
    first, stale = trainables.updated()
    assert first.indices == (0, 2)
    assert len(stale) == 1
    first.mark_used()
    leave_gradients(params, skip=(1,))
    assert trainables.updated()[0] is first
    leave_gradients(params)
    assert trainables.updated()[0].indices == (0, 1, 2)


def test_one_device_with_a_new_gradient_is_enough() -> None:
    params = parameters(TWO)
    with record():
        loss = (params[1].data(cpu(1)) ** 2).sum()
    backward([loss])
    selection, stale = Trainables(params).updated()
    assert selection.indices == (1,)
    assert [x.context for x in selection.weights[1]] == [cpu(1)]
    assert len(stale) == 5


CHANGES: dict[str, Callable[[Parameter], Any]] = {
    "reset_ctx": lambda param: param.reset_ctx(cpu(0)),
    "force_reinit": lambda param: param.initialize(Constant(3.0), force_reinit=True),
    "grad_req add": lambda param: setattr(param, "grad_req", "add"),
    "attach_grad": lambda param: param.data().attach_grad(),
    "cast and back": lambda param: (param.cast("float64"), param.cast("float32")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_arrays_are_gathered_anew_when_a_parameter_got_others(
    change: Callable[[Parameter], Any],
) -> None:
    params = parameters()
    trainables = Trainables(params)
    first = trainables.all()
    assert trainables.all() is first
    change(params[1])
    second = trainables.all()
    assert second is not first
    assert second.weights[0][1] is params[1].data()
    assert second.gradients[0][1] is params[1].grad()


def test_parameter_without_gradient_drops_out_and_comes_back() -> None:
    params = parameters()
    trainables = Trainables(params)
    assert trainables.all().indices == (0, 1, 2)
    params[0].grad_req = "null"
    assert trainables.all().indices == (1, 2)
    params[0].grad_req = "write"
    assert trainables.all().indices == (0, 1, 2)


def test_parameter_that_waits_for_its_shape_is_refused_until_it_is_there() -> None:
    params = [*parameters(count=1), Parameter("w_weight", shape=(0,), allow_deferred_init=True)]
    params[1].initialize()
    trainables = Trainables(params)
    for _ in range(2):
        with pytest.raises(DeferredInitializationError):
            trainables.all()
    params[1].shape = (3,)
    params[1]._finish_deferred_init()
    assert trainables.all().indices == (0, 1)


def steps(contexts: Context | list[Context], *, anew: bool) -> list[np.ndarray]:
    """Train while everything changes that a user may change between steps."""
    params = parameters(contexts)
    trainer = Trainer(params, "adam", {"learning_rate": 0.1, "wd": 0.1})
    changes: list[Callable[[], Any]] = [
        lambda: None,
        lambda: None,
        lambda: params[0].set_data(array([5.0, 6.0, 7.0, 8.0])),
        lambda: setattr(params[1], "lr_mult", 0.5),
        lambda: setattr(params[2], "wd_mult", 3.0),
        lambda: trainer.set_learning_rate(0.3),
        lambda: setattr(params[1], "grad_req", "null"),
        lambda: [param.reset_ctx(contexts) for param in params],
        lambda: setattr(params[1], "grad_req", "write"),
        lambda: None,
    ]
    for change in changes:
        change()
        leave_gradients(params)
        if anew:
            trainer._trainables = Trainables(params)
        trainer.step(2)
    return [param.data(cpu(0)).asnumpy() for param in params]


@pytest.mark.parametrize("contexts", [cpu(0), TWO], ids=["one", "two"])
def test_what_is_kept_changes_no_result(contexts: Any) -> None:
    for x, y in zip(steps(contexts, anew=False), steps(contexts, anew=True), strict=True):
        np.testing.assert_array_equal(x, y)
