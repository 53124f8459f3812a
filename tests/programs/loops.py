"""Recurrence by contrib.foreach, while_loop and cond inside a HybridBlock."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def make_class(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Recurrent(mx.gluon.HybridBlock):
        def __init__(self, size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.input = nn.Dense(2 * size, flatten=False)
                self.state = nn.Dense(2 * size, flatten=False, use_bias=False)
                self.head = nn.Dense(1)

        def hybrid_forward(self, F: Any, sequence: Any, start: Any) -> Any:
            def step(x: Any, states: Any) -> Any:
                (h,) = states
                new, gate = F.split(self.input(x) + self.state(h), num_outputs=2, axis=-1)
                gate = F.sigmoid(gate)
                h = gate * h + (1 - gate) * F.tanh(new)
                return h, [h]

            outputs, (last,) = F.contrib.foreach(step, sequence, [start])

            def small(count: Any, _value: Any) -> Any:
                return count < 3

            def grow(count: Any, value: Any) -> Any:
                return value.sum(), [count + 1, value + 0.5 * F.tanh(value)]

            _, (count, grown) = F.contrib.while_loop(
                small, grow, [F.zeros_like(start.sum()), last], max_iterations=5
            )
            mean = outputs.mean(axis=0)
            chosen = F.contrib.cond(
                grown.sum() > mean.sum(), lambda: grown * 2 - mean, lambda: mean * 2 - grown
            )
            return self.head(F.concat(mean, last, chosen, dim=1)), outputs, count

    return Recurrent


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_class(mx)(4, prefix="loops_")
    net.initialize()
    sequences = [mx.nd.array(normal(seed, 5, 3, 2)) for seed in range(2)]
    start = mx.nd.zeros((3, 4))
    net.input(sequences[0][0]), net.state(start), net.head(mx.nd.zeros((3, 12)))
    fill(mx, net.collect_params(), 3, scale=0.7)
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "rmsprop", {"learning_rate": 0.005})
    losses = []
    for number in range(6):
        with mx.autograd.record():
            y, outputs, count = net(sequences[number % 2], start)
            loss = mx.nd.square(y - 1).sum() + 0.1 * outputs.square().sum()
        loss.backward()
        trainer.step(3)
        losses.append(loss.asscalar())
    return {
        "losses": losses,
        "outputs": outputs.asnumpy(),
        "count": count.asnumpy(),
        **values_of(net.collect_params()),
    }
