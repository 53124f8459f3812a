"""A Block that is not hybrid, with Python control flow on values, and lists of arrays."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Recurrent(mx.gluon.Block):
        def __init__(self, size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.step = nn.Dense(size, activation="tanh")
                self.halt = nn.Dense(1)
                self.heads = nn.Sequential()
                for _ in range(2):
                    self.heads.add(nn.Dense(2))

        def forward(self, sequence: Any, state: Any) -> Any:
            states = []
            for x in sequence:
                state = self.step(mx.nd.concat(x, state, dim=1))
                states.append(state)
                if self.halt(state).mean().asscalar() > 0.4:
                    break
            head = self.heads[len(states) % 2]
            return head(mx.nd.stack(*states, axis=0).mean(axis=0)), states

    return Recurrent


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_classes(mx)(4, prefix="flow_")
    net.initialize()
    batches = [list(mx.nd.array(normal(s, 5, 3, 2))) for s in range(6)]
    zeros = mx.nd.zeros((3, 4))
    for head in net.heads:
        head(zeros)
    net(batches[0], zeros)
    fill(mx, net.collect_params(), 3, scale=0.8)
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    losses, lengths = [], []
    for batch in batches:
        with mx.autograd.record():
            y, states = net(batch, zeros)
            loss = (y**2).sum() if y.sum() > 0 else y.abs().sum()
        loss.backward()
        trainer.step(3, ignore_stale_grad=True)
        losses.append(loss.asscalar())
        lengths.append(len(states))
    return {
        "losses": losses,
        "lengths": lengths,
        "repr": repr(net),
        **values_of(net.collect_params()),
    }
