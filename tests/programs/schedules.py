"""Learning rates from schedulers, and set by hand between epochs."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def schedulers(mx: ModuleType) -> dict[str, Any]:
    lr = mx.lr_scheduler
    return {
        "factor": lr.FactorScheduler(step=2, factor=0.5, stop_factor_lr=0.01, base_lr=0.4),
        "multi": lr.MultiFactorScheduler([2, 5], factor=0.1, base_lr=0.3, warmup_steps=1),
        "poly": lr.PolyScheduler(max_update=7, base_lr=0.2, pwr=2, final_lr=0.02),
        "cosine": lr.CosineScheduler(
            8, base_lr=0.5, final_lr=0.1, warmup_steps=3, warmup_begin_lr=0.05
        ),
    }


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon = mx.gluon
    x = mx.nd.array(normal(1, 4, 3))
    out: dict[str, Any] = {}

    def make(**settings: Any) -> tuple[Any, Any]:
        net = gluon.nn.Dense(2, in_units=3, prefix="lr_")
        net.initialize()
        fill(mx, net.collect_params(), 2)
        if hybridize:
            net.hybridize()
        return net, gluon.Trainer(net.collect_params(), "sgd", settings)

    def step(net: Any, trainer: Any) -> float:
        with mx.autograd.record():
            loss = gluon.loss.L2Loss()(net(x), mx.nd.ones((4, 2)))
        loss.backward()
        trainer.step(4)
        return trainer.learning_rate

    for name, scheduler in schedulers(mx).items():
        net, trainer = make(lr_scheduler=scheduler, momentum=0.9)
        out[f"{name} rates"] = [trainer.learning_rate, *(step(net, trainer) for _ in range(9))]
        out.update({f"{name} {k}": v for k, v in values_of(net.collect_params()).items()})
        try:
            trainer.set_learning_rate(0.1)
            out[f"{name} set"] = "no error"
        except UserWarning as error:
            out[f"{name} set"] = f"refused: {bool(str(error))}"
    net, trainer = make(learning_rate=0.1)
    rates = []
    for epoch in range(4):
        if epoch == 2:
            trainer.set_learning_rate(trainer.learning_rate * 0.1)
        rates.append(step(net, trainer))
    out["by hand rates"] = rates
    out.update({f"by hand {k}": v for k, v in values_of(net.collect_params()).items()})
    return out
