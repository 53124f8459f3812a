"""Embedding, layer norm, masked mean over words, and a classifier; row-sparse off."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Classifier(mx.gluon.HybridBlock):
        def __init__(self, words: int, size: int, count: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.embed = nn.Embedding(words, size, weight_initializer=mx.init.Uniform(0.1))
                self.norm = nn.LayerNorm(epsilon=1e-6)
                self.attention = nn.Dense(1, flatten=False, use_bias=False)
                self.out = nn.Dense(count)

        def hybrid_forward(self, F: Any, tokens: Any, lengths: Any) -> Any:
            x = self.norm(self.embed(tokens))
            scores = self.attention(x).squeeze(axis=-1)
            scores = F.SequenceMask(
                scores.swapaxes(0, 1), lengths, use_sequence_length=True, value=-1e9
            ).swapaxes(0, 1)
            weights = F.softmax(scores, axis=1)
            pooled = F.batch_dot(weights.expand_dims(1), x).reshape((0, -1))
            return self.out(pooled), weights

    return Classifier


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_classes(mx)(13, 6, 3, prefix="text_")
    net.initialize(mx.init.Xavier())
    tokens, lengths = mx.nd.array(classes(1, 13, 4, 7)), mx.nd.array([7, 3, 1, 5])
    label = mx.nd.array(classes(2, 3, 4), dtype="int32")
    net(tokens, lengths)
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "nag", {"learning_rate": 0.1})
    losses = []
    for _ in range(3):
        with mx.autograd.record():
            scores, weights = net(tokens, lengths)
            loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()(scores, label)
        loss.backward()
        trainer.step(4)
        losses.append(loss.asnumpy())
    return {"losses": losses, "weights": weights.asnumpy(), **values_of(net.collect_params())}
