"""A small transformer encoder: masks, heads by reshape codes, positions kept as a Constant."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import classes, fill, values_of


def positions(length: int, size: int) -> Any:
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, size, 2) / size)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(1, length, size).astype("float32")


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Attention(mx.gluon.HybridBlock):
        def __init__(self, size: int, heads: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self._heads, self._scale = heads, (size // heads) ** -0.5
            with self.name_scope():
                self.query = nn.Dense(size, flatten=False, use_bias=False, prefix="query_")
                self.key = nn.Dense(size, flatten=False, use_bias=False, prefix="key_")
                self.value = nn.Dense(size, flatten=False, use_bias=False, prefix="value_")
                self.out = nn.Dense(size, flatten=False, prefix="out_")

        def split(self, F: Any, x: Any) -> Any:
            x = F.reshape(x, shape=(0, 0, -4, self._heads, -1))
            return F.reshape(F.transpose(x, axes=(0, 2, 1, 3)), shape=(-3, 0, 0))

        def hybrid_forward(self, F: Any, x: Any, mask: Any) -> Any:
            query = self.split(F, self.query(x)) * self._scale
            scores = F.batch_dot(query, self.split(F, self.key(x)), transpose_b=True)
            mask = F.repeat(F.expand_dims(mask, axis=1), self._heads, axis=0)
            scores = F.broadcast_add(scores, (1 - mask) * -1e9)
            weights = F.softmax(scores, axis=-1)
            mixed = F.batch_dot(weights, self.split(F, self.value(x)))
            mixed = F.reshape(mixed, shape=(-4, -1, self._heads, 0, 0))
            mixed = F.reshape(F.transpose(mixed, axes=(0, 2, 1, 3)), shape=(0, 0, -3))
            return self.out(mixed), weights

    class Layer(mx.gluon.HybridBlock):
        def __init__(self, size: int, heads: int, hidden: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.attention = Attention(size, heads)
                self.norm1 = nn.LayerNorm()
                self.ffn = nn.HybridSequential()
                self.ffn.add(nn.Dense(hidden, flatten=False), nn.GELU())
                self.ffn.add(nn.Dense(size, flatten=False), nn.Dropout(0.0))
                self.norm2 = nn.LayerNorm(epsilon=1e-12, in_channels=size)

        def hybrid_forward(self, F: Any, x: Any, mask: Any) -> Any:
            attended, weights = self.attention(x, mask)
            x = self.norm1(x + attended)
            return self.norm2(x + self.ffn(x)), weights

    class Encoder(mx.gluon.HybridBlock):
        def __init__(self, words: int, size: int, length: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self._size = size
            with self.name_scope():
                self.embed = nn.Embedding(words, size)
                self.position = self.params.get_constant("position", positions(length, size))
                self.layers = nn.HybridSequential()
                for number in range(2):
                    self.layers.add(Layer(size, 2, 2 * size, prefix=f"layer{number}_"))
                self.head = nn.Dense(3)

        def hybrid_forward(self, F: Any, tokens: Any, lengths: Any, position: Any) -> Any:
            x = self.embed(tokens) * self._size**0.5
            x = F.broadcast_add(x, F.slice_like(position, x, axes=(1,)))
            mask = F.SequenceMask(F.ones_like(tokens), lengths, True, axis=1)
            weights = []
            for layer in self.layers:
                x, w = layer(x, mask)
                weights.append(w)
            x = F.broadcast_mul(x, F.expand_dims(mask, axis=-1))
            pooled = F.broadcast_div(F.sum(x, axis=1), F.expand_dims(lengths, axis=-1))
            return self.head(pooled), weights

    return Encoder


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd = mx.nd
    net = make_classes(mx)(11, 8, 9, prefix="enc_")
    net.initialize()
    tokens, lengths = nd.array(classes(1, 11, 4, 7)), nd.array([7, 3, 5, 1])
    labels = nd.array(classes(2, 3, 4))
    net(tokens, lengths)
    fill(mx, net.collect_params(".*(weight|bias|gamma|beta)"), 4)
    if hybridize:
        net.hybridize()
    schedule = mx.lr_scheduler.PolyScheduler(8, 0.02, pwr=1, warmup_steps=2)
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": schedule})
    loss_fn = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for step in range(5):
        length = (7, 5, 7, 6, 5)[step]
        with mx.autograd.record():
            scores, _ = net(tokens[:, :length], nd.minimum(lengths, length))
            loss = loss_fn(scores, labels)
        loss.backward()
        trainer.step(4)
        losses.append(loss.asnumpy())
    scores, weights = net(tokens, lengths)
    return {
        "losses": losses,
        "scores": scores.asnumpy(),
        "weights": [w.asnumpy() for w in weights],
        "names": list(net.collect_params()),
        "select": sorted(net.collect_params(".*ffn|.*query")),
        **{k: v for k, v in values_of(net.collect_params()).items() if v.ndim == 1},
    }
