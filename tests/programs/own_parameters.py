"""A block with parameters and a constant of its own, a sub-block, and a deferred shape."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    class Mixture(mx.gluon.HybridBlock):
        def __init__(self, units: int, in_units: int = 0, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self._units = units
            with self.name_scope():
                self.weight = self.params.get(
                    "weight", shape=(units, in_units), allow_deferred_init=True, init="xavier"
                )
                self.scale = self.params.get("scale", shape=(1,), init=mx.init.Constant(2.0))
                self.shift = self.params.get_constant("shift", np.arange(units, dtype="float32"))
                self.gate = mx.gluon.nn.Dense(units, flatten=False, prefix="gate_")

        def hybrid_forward(self, F: Any, x: Any, weight: Any, scale: Any, shift: Any) -> Any:
            y = F.FullyConnected(x, weight, no_bias=True, num_hidden=self._units)
            y = F.broadcast_add(F.broadcast_mul(y, scale), shift.reshape((1, -1)))
            return y * F.sigmoid(self.gate(x))

    return Mixture


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    block = make_classes(mx)(3, prefix="mix_")
    before = str(block.weight), repr(block.params)
    block.initialize()
    x = mx.nd.array(normal(1, 5, 4))
    if hybridize:
        block.hybridize()
    block(x)
    initial_scale = block.scale.data().asnumpy()
    fill(mx, block.collect_params(".*weight|.*bias|.*scale"), 2)
    trainer = mx.gluon.Trainer(block.collect_params(), "adam", {"learning_rate": 0.05})
    losses = []
    for _ in range(4):
        with mx.autograd.record():
            loss = (block(x) - 1).abs().mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    return {
        "losses": losses,
        "initial scale": initial_scale,
        "before": before,
        "shift grad_req": block.shift.grad_req,
        "kinds": [type(p).__name__ for p in block.collect_params().values()],
        **values_of(block.collect_params()),
    }
