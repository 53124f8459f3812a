import numpy
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.optimizer import Optimizer, create

_DRAW = numpy.random.RandomState(1)
WEIGHT = _DRAW.rand(4, 3).astype("float32")
GRADS = [(_DRAW.rand(4, 3) - 0.5).astype("float32") for _ in range(4)]


@pytest.mark.parametrize("correct_bias", [True, False])
@pytest.mark.parametrize("wd", [0.0, 0.1])
@pytest.mark.parametrize("clip", [None, 0.2])
def test_weights_follow_the_paper_s_formula(
    correct_bias: bool, wd: float, clip: float | None
) -> None:
    lr, beta1, beta2, epsilon = 0.01, 0.9, 0.999, 1e-6
    w = WEIGHT.astype("float64")
    m, s = numpy.zeros_like(w), numpy.zeros_like(w)
    for t, grad in enumerate(GRADS, 1):
        g = grad * 0.5 + wd * w
        g = g if clip is None else numpy.clip(g, -clip, clip)
        m = beta1 * m + (1 - beta1) * g
        s = beta2 * s + (1 - beta2) * (g - m) ** 2 + epsilon
        rate = lr * numpy.sqrt(1 - beta2**t) / (1 - beta1**t) if correct_bias else lr
        w -= rate * m / (numpy.sqrt(s) + epsilon)
    optimizer = create(
        "adabelief",
        learning_rate=lr,
        correct_bias=correct_bias,
        wd=wd,
        clip_gradient=clip,
        rescale_grad=0.5,
    )
    update, found = mx.optimizer.get_updater(optimizer), nd.array(WEIGHT)
    for grad in GRADS:
        update(0, nd.array(grad), found)
    numpy.testing.assert_allclose(found.asnumpy(), w, rtol=1e-5, atol=1e-6)


class Doubling(Optimizer):
    """An optimizer as programs of MXNet 2.0 define them."""

    def step(self, indices, weights, grads, states):  # type: ignore[no-untyped-def]  # 2.0's
        for index, weight, grad, _ in zip(indices, weights, grads, states, strict=True):
            self._update_count(index)
            weight[:] = weight - 2 * self._get_lr(index) * grad


class Changed(mx.optimizer.SGD):
    """One that changes the step of an existing one."""

    step = Doubling.step


class Fused(Doubling):
    """One with a fused step."""

    def fused_step(self, indices, weights, grads, states):  # type: ignore[no-untyped-def]  # 2.0's
        for weight in weights:
            weight[:] = 7


@pytest.mark.parametrize("kind", [Doubling, Changed])
def test_step_of_a_subclass_is_called_by_the_trainer(kind: type[Optimizer]) -> None:
    net = mx.gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(net.collect_params(), kind(learning_rate=0.1))
    with mx.autograd.record():
        loss = net(nd.ones((1, 2))).sum()
    loss.backward()
    trainer.step(1)
    assert net.weight.data().asnumpy() == pytest.approx(0.8)


@pytest.mark.parametrize(("fused", "expected"), [(True, 7.0), (False, 0.8)])
def test_fused_step_is_used_unless_it_is_switched_off(fused: bool, expected: float) -> None:
    optimizer = Fused(learning_rate=0.1, use_fused_step=fused)
    weight = nd.ones((2,))
    optimizer.update(0, weight, nd.ones((2,)), None)
    assert weight.asnumpy() == pytest.approx(expected)


def test_step_of_an_optimizer_here_updates_several_weights() -> None:
    sgd = create("sgd", learning_rate=0.5, aggregate_num=0)
    weights = [nd.ones((2,)), nd.zeros((3,))]
    sgd.step([0, 1], weights, [nd.ones((2,)), nd.ones((3,))], [None, None])
    assert [w.asnumpy().tolist() for w in weights] == [[0.5, 0.5], [-0.5, -0.5, -0.5]]


def test_names_of_arguments_of_2_0() -> None:
    assert create("rmsprop", rho=0.8, momentum=0.7).gamma1 == 0.8  # type: ignore[attr-defined]  # RMSProp's
    assert create("adagrad", epsilon=1e-3).float_stable_eps == 1e-3  # type: ignore[attr-defined]  # AdaGrad's
