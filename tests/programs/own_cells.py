"""LSTM and GRU cells written by hand, unrolled in Python, states carried from batch to batch."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class LSTM(mx.gluon.HybridBlock):
        def __init__(self, size: int, in_size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self._size = size
            with self.name_scope():
                self.i2h_weight = self.params.get(
                    "i2h_weight", shape=(4 * size, in_size), allow_deferred_init=True
                )
                self.h2h_weight = self.params.get("h2h_weight", shape=(4 * size, size))
                self.bias = self.params.get("bias", shape=(4 * size,), init="zeros")

        def hybrid_forward(
            self, F: Any, x: Any, h: Any, c: Any, i2h_weight: Any, h2h_weight: Any, bias: Any
        ) -> Any:
            count = 4 * self._size
            gates = F.FullyConnected(x, i2h_weight, bias, num_hidden=count)
            gates = gates + F.FullyConnected(h, h2h_weight, num_hidden=count, no_bias=True)
            i, f, g, o = F.SliceChannel(gates, num_outputs=4, axis=1)
            c = F.Activation(f + 1, act_type="sigmoid") * c + F.sigmoid(i) * F.tanh(g)
            return F.sigmoid(o) * F.tanh(c), c

    class GRU(mx.gluon.HybridBlock):
        def __init__(self, size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.gates = nn.Dense(2 * size, flatten=False)
                self.candidate = nn.Dense(size, activation="tanh", flatten=False)

        def hybrid_forward(self, F: Any, x: Any, h: Any) -> Any:
            reset, update = F.split(F.sigmoid(self.gates(F.concat(x, h))), num_outputs=2, axis=-1)
            return update * h + (1 - update) * self.candidate(F.concat(x, reset * h, dim=-1))

    class Model(mx.gluon.HybridBlock):
        def __init__(self, vocabulary: int, size: int, steps: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self._steps = steps
            with self.name_scope():
                self.embed = nn.Embedding(vocabulary, size)
                self.lstm = LSTM(size, 0, prefix="lstm_")
                self.gru = GRU(size)
                self.out = nn.Dense(vocabulary, flatten=False)

        def hybrid_forward(self, F: Any, tokens: Any, h: Any, c: Any, state: Any) -> Any:
            outputs = []
            xs = F.SliceChannel(
                self.embed(tokens), num_outputs=self._steps, axis=1, squeeze_axis=True
            )
            for x in xs:
                h, c = self.lstm(x, h, c)
                state = self.gru(h, state)
                outputs.append(state)
            return self.out(F.stack(*outputs, axis=1)), h, c, state

    return Model


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, steps, batch, size, count = mx.nd, 5, 3, 4, 7
    net = make_classes(mx)(count, size, steps, prefix="lm_")
    net.initialize()
    text = classes(1, count, batch, 4 * steps + 1)
    states = [nd.zeros((batch, size)) for _ in range(3)]
    try:
        net(nd.array(text[:, :steps]), *states)
        inferred = True
    except Exception:
        inferred = False
        net.lstm.i2h_weight.shape = (4 * size, size)
        net(nd.array(text[:, :steps]), *states)
    fill(mx, net.collect_params(), 2)
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0, "wd": 1e-4})
    loss_fn = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    losses, norms = [], []
    for _ in range(2):
        states = [nd.zeros((batch, size)) for _ in range(3)]
        for start in range(0, 4 * steps, steps):
            data = nd.array(text[:, start : start + steps])
            label = nd.array(text[:, start + 1 : start + 1 + steps])
            states = [s.detach() for s in states]
            with mx.autograd.record():
                scores, *states = net(data, *states)
                loss = loss_fn(scores.reshape((-3, 0)), label.reshape((-1,)))
            loss.backward()
            grads = [p.grad() for p in net.collect_params().values()]
            norms.append(float(mx.gluon.utils.clip_global_norm(grads, 0.25 * batch * steps)))
            trainer.step(batch * steps)
            losses.append(float(nd.exp(loss.mean()).asscalar()))
    return {
        "inferred": inferred,
        "losses": losses,
        "norms": norms,
        "states": [s.asnumpy() for s in states],
        "names": list(net.collect_params()),
        "repr": repr(net),
        **values_of(net.collect_params()),
    }
