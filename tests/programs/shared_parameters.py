"""Parameters shared by ``params=``, and an embedding tied to the output layer."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class LanguageModel(mx.gluon.HybridBlock):
        def __init__(self, words: int, size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.embed = nn.Embedding(words, size)
                self.hidden = nn.Dense(size, flatten=False, activation="tanh")
                self.out = nn.Dense(words, flatten=False, params=self.embed.params)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.out(self.hidden(self.embed(x)))

    return LanguageModel


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    first = nn.Dense(6, in_units=6, prefix="first_")
    second = nn.Dense(6, in_units=6, params=first.params, prefix="second_")
    net = nn.HybridSequential(prefix="pair_")
    net.add(first, second)
    net.initialize()
    fill(mx, net.collect_params(), 5)

    model = make_classes(mx)(11, 6, prefix="lm_")
    model.initialize()
    words = mx.nd.array(classes(6, 11, 3, 4))
    model(words)
    fill(mx, model.collect_params(), 7)
    if hybridize:
        net.hybridize()
        model.hybridize(static_alloc=True)
    x = mx.nd.array(normal(8, 4, 6))
    params = model.collect_params()
    params.update(net.collect_params())
    trainer = gluon.Trainer(params, "sgd", {"learning_rate": 0.1})
    losses = []
    for _ in range(3):
        with mx.autograd.record():
            a = gluon.loss.SoftmaxCrossEntropyLoss()(model(words), words)
            b = (net(x) ** 2).mean(axis=1)
        mx.autograd.backward([a, b])
        losses.append(a.sum().asscalar() + b.sum().asscalar())
        trainer.step(4)
    return {
        "losses": losses,
        "pair names": list(net.collect_params().keys()),
        "model names": list(model.collect_params().keys()),
        "same": first.weight is second.weight,
        "same embedding": model.embed.weight is model.out.weight,
        **values_of(params),
    }
