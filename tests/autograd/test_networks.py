"""Gradients through whole networks, to third order, against numeric differences in float64.

Along one direction in the space of all parameters and the input, each derivative is compared with
the difference quotient of the one before it.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import HybridBlock, nn, rnn

STEP = 1e-5
Arrays = Sequence[nd.NDArray]


class Attention(HybridBlock):
    """One head of dot-product attention over (batch, time, features)."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.query = nn.Dense(units, flatten=False, use_bias=False)
            self.key = nn.Dense(units, flatten=False, use_bias=False)
            self.value = nn.Dense(units, flatten=False)
            self.norm = nn.LayerNorm()
        self._scale = 1 / math.sqrt(units)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        scores = F.batch_dot(self.query(x), self.key(x), transpose_b=True) * self._scale
        mixed = F.batch_dot(F.softmax(scores, axis=-1), self.value(x))
        return self.norm(mixed + x)


class Forward(HybridBlock):
    """A network in the style of 2.0."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = nn.Dense(4, activation="tanh")
        self.second = nn.Dense(2)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x) * nd.sigmoid(x.sum(axis=1, keepdims=True)))


class Unrolled(HybridBlock):
    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.cell.unroll(3, x, merge_outputs=True)[0]


def _mlp() -> HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Dense(5, activation="tanh"), nn.Dense(4, activation="softrelu"), nn.Dense(2))
    return net


def _cnn() -> HybridBlock:
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(3, 3, padding=1),
        nn.BatchNorm(),
        nn.Activation("sigmoid"),
        nn.AvgPool2D(2),
        nn.Conv2D(2, 2, activation="tanh"),
        nn.Dense(2),
    )
    return net


NETWORKS: dict[str, tuple[Callable[[], HybridBlock], tuple[int, ...]]] = {
    "mlp": (_mlp, (3, 4)),
    "cnn": (_cnn, (2, 2, 4, 4)),
    "lstm": (lambda: rnn.LSTM(3, layout="NTC", num_layers=1), (2, 3, 2)),
    "gru": (lambda: rnn.GRU(3, layout="NTC", num_layers=1), (2, 3, 2)),
    "lstm cell": (lambda: Unrolled(rnn.LSTMCell(3, input_size=2)), (2, 3, 2)),
    "attention": (lambda: Attention(3), (2, 4, 3)),
    "forward": (Forward, (3, 4)),
}


class Problem:
    """A network, its loss as a function of all its arrays, and a direction."""

    def __init__(self, name: str, hybridize: bool) -> None:
        make, shape = NETWORKS[name]
        mx.random.seed(3)
        random = np.random.default_rng(7)
        self.net = make()
        self.net.initialize(mx.init.Normal(0.4))
        self.net.cast("float64")
        self.x = nd.array(random.standard_normal(shape), dtype="float64")
        self.net(self.x)
        if hybridize:
            self.net.hybridize()
        params = [p for p in self.net.collect_params().values() if p.grad_req != "null"]
        self.x.attach_grad()
        self.arrays = [self.x, *(p.data() for p in params)]
        self.direction = [
            nd.array(random.standard_normal(x.shape), dtype="float64") for x in self.arrays
        ]
        self.weights = nd.array(random.standard_normal(self.net(self.x).shape), dtype="float64")

    def loss(self) -> nd.NDArray:
        y = self.net(self.x)
        return (self.weights * y * y).sum()

    def along(self, gradients: Arrays) -> nd.NDArray:
        parts = [(g * v).sum() for g, v in zip(gradients, self.direction, strict=True)]
        return nd.add_n(*parts)

    def derivatives(self, order: int) -> list[float]:
        """Return the loss and its derivatives along the direction."""
        with autograd.record():
            found = [self.loss()]
            for i in range(order):
                last = i == order - 1
                gradients = autograd.grad(found[-1], self.arrays, create_graph=not last)
                found.append(self.along(gradients))
        return [x.asscalar() for x in found]

    def moved(self, step: float, order: int) -> list[float]:
        before = [x.copy() for x in self.arrays]
        for x, v in zip(self.arrays, self.direction, strict=True):
            x[:] = x + step * v
        found = self.derivatives(order)
        for x, old in zip(self.arrays, before, strict=True):
            x[:] = old
        return found


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_derivatives_to_third_order_equal_difference_quotients(name: str, hybridize: bool) -> None:
    problem = Problem(name, hybridize)
    found = problem.derivatives(3)
    above, below = problem.moved(STEP, 2), problem.moved(-STEP, 2)
    quotients = [(a - b) / (2 * STEP) for a, b in zip(above, below, strict=True)]
    np.testing.assert_allclose(found[1:], quotients, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NETWORKS)
def test_hybridized_derivatives_equal_eager_ones(name: str) -> None:
    eager, hybrid = (Problem(name, hybridize).derivatives(3) for hybridize in (False, True))
    np.testing.assert_allclose(hybrid, eager, rtol=1e-9)


@pytest.mark.parametrize("name", NETWORKS)
def test_derivatives_are_not_trivial(name: str) -> None:
    assert all(abs(x) > 1e-3 for x in Problem(name, True).derivatives(3))


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_hessian_vector_product_is_the_difference_of_gradients(name: str, hybridize: bool) -> None:
    problem = Problem(name, hybridize)

    def gradients() -> Arrays:
        with autograd.record():
            loss = problem.loss()
        return autograd.grad(loss, problem.arrays)

    with autograd.record():
        first = autograd.grad(problem.loss(), problem.arrays, create_graph=True)
        product = problem.along(first)
    product.backward()
    found = [x.grad.asnumpy() for x in problem.arrays]
    sides = []
    for step in (STEP, -STEP):
        before = [x.copy() for x in problem.arrays]
        for x, v in zip(problem.arrays, problem.direction, strict=True):
            x[:] = x + step * v
        sides.append([g.asnumpy() for g in gradients()])
        for x, old in zip(problem.arrays, before, strict=True):
            x[:] = old
    for product_of, above, below in zip(found, *sides, strict=True):
        np.testing.assert_allclose(product_of, (above - below) / (2 * STEP), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
def test_gradient_penalty_trains(hybridize: bool) -> None:
    """The loss of a critic and how far the norm of its gradient is from 1, by a Trainer."""
    mx.random.seed(1)
    net = _mlp()
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    x = nd.array(np.random.default_rng(0).standard_normal((16, 4)))
    penalties = []
    for _ in range(30):
        x.attach_grad()
        with autograd.record():
            score = net(x).sum()
            (gradient,) = autograd.grad(score, x, create_graph=True)
            penalty = nd.square(nd.norm(gradient, axis=1) - 1).mean()
        penalty.backward()
        trainer.step(1, ignore_stale_grad=True)  # the last bias moves no gradient
        penalties.append(penalty.asscalar())
    assert penalties[-1] < 0.05 * penalties[0]


def test_gradient_penalty_adds_to_the_loss_in_one_backward_pass() -> None:
    problem = Problem("mlp", True)
    with autograd.record():
        loss = problem.loss()
        (gradient,) = autograd.grad(loss, problem.x, create_graph=True)
        total = loss + nd.square(gradient).sum()
    total.backward()
    found = sum(
        (x.grad * v).sum().asscalar()
        for x, v in zip(problem.arrays, problem.direction, strict=True)
    )

    def total_at(step: float) -> float:
        for x, v in zip(problem.arrays, problem.direction, strict=True):
            x[:] = x + step * v
        with autograd.record():
            loss = problem.loss()
        (gradient,) = autograd.grad(loss, problem.x)
        for x, v in zip(problem.arrays, problem.direction, strict=True):
            x[:] = x - step * v
        return float((loss + nd.square(gradient).sum()).asscalar())

    assert found == pytest.approx((total_at(STEP) - total_at(-STEP)) / (2 * STEP), rel=1e-5)


def test_meta_gradient_goes_through_a_step_of_sgd() -> None:
    """The derivative of a loss after a step by the rate and by where the step began."""
    random = np.random.default_rng(2)
    data, labels, other = (nd.array(random.standard_normal((3, 3)), dtype="float64") for _ in "abc")
    weight = nd.array(random.standard_normal((3, 3)), dtype="float64")
    rate = nd.array([0.1], dtype="float64")
    for x in (weight, rate):
        x.attach_grad()

    def outer() -> nd.NDArray:
        with autograd.record():
            inner = nd.square(nd.tanh(nd.dot(data, weight)) - labels).sum()
            (gradient,) = autograd.grad(inner, weight, create_graph=True)
            trained = weight - nd.broadcast_mul(rate.reshape((1, 1)), gradient)
            return nd.square(nd.tanh(nd.dot(other, trained)) - labels).mean()

    outer().backward()
    for x in (rate, weight):
        found, sides = float(x.grad.sum().asscalar()), []
        for step in (STEP, -2 * STEP):
            x[:] = x + step
            sides.append(float(outer().asscalar()))
        x[:] = x + STEP
        assert found == pytest.approx((sides[0] - sides[1]) / (2 * STEP), rel=1e-5)
