"""Learning-rate and decay multipliers by regular expression, frozen norms, parameter groups."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn = mx.nd, mx.gluon, mx.gluon.nn
    x, y = nd.array(normal(1, 6, 2, 5, 5)), nd.array(classes(2, 3, 6))
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()

    def make(**norm: Any) -> Any:
        net = nn.HybridSequential(prefix="mult_")
        with net.name_scope():
            net.add(nn.Conv2D(3, 3), nn.BatchNorm(**norm), nn.Activation("relu"))
            net.add(nn.Conv2D(4, 3), nn.BatchNorm(**norm), nn.Flatten(), nn.Dense(3))
        net.initialize()
        net(x)
        fill(mx, net.collect_params(), 3)
        return net

    def train(net: Any, *trainers: Any) -> list[float]:
        if hybridize:
            net.hybridize()
        losses = []
        for _ in range(3):
            with mx.autograd.record():
                loss = loss_fn(net(x), y)
            loss.backward()
            for trainer in trainers:
                trainer.step(6)
            losses.append(loss.mean().asscalar())
        return losses

    out: dict[str, Any] = {}
    net = make()
    net.collect_params(".*conv.*weight").setattr("lr_mult", 0.1)
    net.collect_params(".*(bias|gamma|beta)").setattr("wd_mult", 0.0)
    net.collect_params("mult_dense0_|.*conv1_bias").setattr("lr_mult", 10)
    settings = {"learning_rate": 0.02, "momentum": 0.9, "wd": 0.05}
    out["multiplied"] = train(net, gluon.Trainer(net.collect_params(), "sgd", settings))
    out.update({f"multiplied {k}": v for k, v in values_of(net.collect_params()).items()})

    net = make(use_global_stats=True)
    for layer in net:
        if isinstance(layer, nn.BatchNorm):
            layer.collect_params().setattr("grad_req", "null")
    out["frozen"] = train(net, gluon.Trainer(net.collect_params(), "adam", {"wd": 0.1}))
    out.update({f"frozen {k}": v for k, v in values_of(net.collect_params()).items()})

    net = make()
    optimizer = mx.optimizer.NAG(learning_rate=0.05, momentum=0.8, wd=0.1)
    trainer = gluon.Trainer(net.collect_params(".*weight"), optimizer)
    optimizer.set_lr_mult({"mult_conv0_weight": 0.0})
    other = gluon.Trainer(
        net.collect_params(".*(bias|gamma|beta)"), "sgd", {"learning_rate": 0.5, "wd": 0.0}
    )
    out["groups"] = train(net, trainer, other)
    out.update({f"groups {k}": v for k, v in values_of(net.collect_params()).items()})
    out["selected"] = [*net.collect_params(".*weight"), *net.collect_params("mult_conv0.*")]
    out["multipliers"] = str({k: (p.lr_mult, p.wd_mult) for k, p in net.collect_params().items()})
    return out
