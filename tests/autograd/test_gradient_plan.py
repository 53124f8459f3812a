from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.autograd import gradient_plan, tape
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.kernels.generated import elementwise
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE

SMALL, LARGE = (3, 4), (2, LIGHT_INLINE_SIZE)
CALLS: dict[str, Callable[..., Any]] = {
    "elu": lambda x, y: nd.LeakyReLU(x, act_type="elu", slope=0.5),
    "maximum": lambda x, y: nd.broadcast_maximum(x, y),
    "division by a row": lambda x, y: nd.broadcast_div(x, nd.slice_axis(y, axis=0, begin=0, end=1)),
    "largest": lambda x, y: nd.max(x, axis=1),
    "mean": lambda x, y: nd.mean(x, axis=0),
    "norm": lambda x, y: nd.norm(x, axis=1),
    "second of two": lambda x, y: nd.split(x, num_outputs=2, axis=1)[1] * 2,
    "sum": lambda x, y: x + y,
}


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """What is large is compiled at once."""
    gradient_plan._plans.clear()
    with elementwise.compiled_at_once():
        yield
    gradient_plan._plans.clear()


def arrays(shape: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(0)
    found = [nd.array(random.uniform(0.5, 2, shape).astype(np.float32)) for _ in range(2)]
    for x in found:
        x.attach_grad()
    return found


def gradients(call: Callable[..., Any], shape: tuple[int, ...]) -> list[Any]:
    found = arrays(shape)
    with autograd.record():
        out = call(*found)
    out.backward()
    return [x.grad.asnumpy() for x in found]


@pytest.mark.parametrize("shape", [SMALL, LARGE])
@pytest.mark.parametrize("name", CALLS)
def test_plans_give_what_rules_give(
    name: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    got = gradients(CALLS[name], shape)
    assert gradient_plan._plans
    monkeypatch.setattr(tape, "planned_gradients", lambda *_: None)
    for a, b in zip(got, gradients(CALLS[name], shape), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_plan_writes_where_the_gradient_is_kept() -> None:
    x, _ = arrays(SMALL)
    before = x.grad._data
    with autograd.record():
        y = nd.exp(x)
    y.backward()
    assert x.grad._data is before
    np.testing.assert_allclose(x.grad.asnumpy(), y.asnumpy())


def test_gradients_are_added_where_that_is_asked_for() -> None:
    x, _ = arrays(SMALL)
    x.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = nd.exp(x)
        y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * y.asnumpy(), rtol=1e-6)


def test_an_old_gradient_that_is_yet_to_be_read_stays() -> None:
    x, w = arrays(SMALL)
    x.grad[:] = 3
    with autograd.record():
        out = nd.add_n(nd.exp(x), w * x.grad)
    out.backward()
    assert (w.grad.asnumpy() == 3).all()


def test_gradients_that_are_differentiated_again_have_no_plan() -> None:
    x, _ = arrays(SMALL)
    with autograd.record():
        y = nd.exp(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
    assert not gradient_plan._plans
    first.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), y.asnumpy(), rtol=1e-6)


def test_rules_with_random_numbers_have_no_plan() -> None:
    x, _ = arrays(SMALL)
    with autograd.record():
        y = nd.Dropout(x, p=0.5)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy() * x.asnumpy(), y.asnumpy(), rtol=1e-6)


ZEROS: dict[str, tuple[Callable[[Any, float], Any], float]] = {
    "x * zero": (lambda x, zero: x * zero, 0.0),
    "x / zero": (lambda x, zero: x / zero, np.inf),
    "zero / x": (lambda x, zero: zero / x, -0.0),
}


@pytest.mark.parametrize("name", ZEROS)
def test_plans_tell_the_two_zeros_apart(name: str) -> None:
    call, expected = ZEROS[name]
    for zero in (0.0, -0.0, 0.0, -0.0):
        x = nd.ones((2, 3))
        x.attach_grad()
        with autograd.record():
            out = call(x, zero)
        out.backward()
        signed = np.full((2, 3), expected * np.copysign(1, zero), np.float32)
        assert x.grad.asnumpy().tobytes() == signed.tobytes()


def test_plans_follow_the_rules_of_each_backward_pass() -> None:
    singular = [[[1.0, 2.0], [2.0, 4.0]]]
    for rules in (Rules.GLUONISH, Rules.MXNET1, Rules.GLUONISH, Rules.MXNET2):
        x = nd.array(singular)
        x.attach_grad()
        before = follow_mxnet(rules)
        try:
            with autograd.record():
                out = nd.linalg.det(x)
            out.backward()
        finally:
            follow_mxnet(before)
        cofactors = [[[4.0, -2.0], [-2.0, 1.0]]]
        expected = np.zeros((1, 2, 2)) if rules == Rules.MXNET1 else np.array(cofactors)
        np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-6)
