"""Gradients with respect to inputs: adversarial examples, saliency, style by optimizing pixels."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn, autograd = mx.nd, mx.gluon, mx.gluon.nn, mx.autograd
    net = nn.HybridSequential(prefix="adv_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, padding=1, activation="relu"), nn.AvgPool2D(), nn.Dropout(0.5))
        net.add(nn.BatchNorm(use_global_stats=True), nn.Dense(3))
    net.initialize()
    x, y = nd.array(normal(1, 4, 1, 6, 6)), nd.array(classes(2, 3, 4))
    net(x)
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize()
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()

    def gradient(images: Any) -> tuple[Any, Any]:
        images = images.copy()
        images.attach_grad()
        with autograd.record(train_mode=False):
            loss = loss_fn(net(images), y)
        loss.backward()
        return images.grad, loss

    out: dict[str, Any] = {}
    grad, loss = gradient(x)
    out["signed"] = (x + 0.1 * nd.sign(grad)).asnumpy()
    out["loss"] = loss.asnumpy()
    attacked = x.copy()
    for step in range(4):
        grad, loss = gradient(attacked)
        attacked = attacked + 0.05 * grad.sign()
        attacked = nd.maximum(nd.minimum(attacked, x + 0.12), x - 0.12).clip(-2, 2)
        out[f"attack {step}"] = loss.asnumpy()
    out["attacked"] = attacked.asnumpy()
    x.attach_grad()
    with autograd.record(train_mode=False):
        scores = net(x).pick(y).sum()
    scores.backward()
    out["saliency"] = x.grad.abs().max(axis=1).asnumpy()

    pixels = gluon.Parameter("pixels", shape=(1, 1, 6, 6), init=mx.init.Zero())
    pixels.initialize()
    net.collect_params().setattr("grad_req", "null")
    target = net[0](x[:1])
    trainer = gluon.Trainer([pixels], "adam", {"learning_rate": 0.3})
    losses = []
    for _ in range(5):
        with autograd.record(train_mode=False):
            loss = (net[0](pixels.data()) - target).square().mean()
            loss = loss + 0.01 * (pixels.data()[:, :, 1:] - pixels.data()[:, :, :-1]).abs().sum()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    out["style"] = losses
    out["pixels"] = pixels.data().asnumpy()
    net.collect_params().setattr("grad_req", "write")
    with autograd.record(train_mode=False):
        loss = loss_fn(net(nd.concat(x, attacked, dim=0)), nd.tile(y, 2)).mean()
    loss.backward()
    out["both"] = net[0].weight.grad().asnumpy()
    return {**out, **values_of(net.collect_params(".*bias"))}
