"""Gradients of gradients: a penalty on a function's slope, and derivatives of a sine."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    autograd, nd = mx.autograd, mx.nd
    weight, x = nd.array(normal(1, 5, 3)), nd.array(normal(2, 5, 3))
    weight.attach_grad()
    losses, penalties = [], []
    for _ in range(4):
        x.attach_grad()
        with autograd.record():
            scores = nd.sigmoid(nd.elemwise_add(x, weight))
            slope = autograd.grad(scores, x, create_graph=True, retain_graph=True)[0]
            penalty = (nd.sqrt(nd.square(slope) + 1e-3) - 1).square()
            loss = scores.mean() + 10 * penalty.mean()
        loss.backward()
        weight[:] = weight - 0.1 * weight.grad
        losses.append(loss.asscalar())
        penalties.append(penalty.asnumpy())
    t = nd.array([0.3, -1.2, 2.0])
    t.attach_grad()
    derivatives = []
    with autograd.record():
        y = nd.sin(t)
        for _ in range(2):
            y = autograd.grad(y, [t], create_graph=True)[0]
            derivatives.append(y.asnumpy())
        z = y * y
    z.backward()
    return {
        "losses": losses,
        "penalties": penalties,
        "derivatives": derivatives,
        "by the square": t.grad.asnumpy(),
        "weight": weight.asnumpy(),
    }
