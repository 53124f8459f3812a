"""Twelve small networks with their data and losses, written as users of MXNet 1.9 write them.

Each `Task` runs under gluonish and under MXNet 1.9.1: it imports neither, and is given the package.
"""

from typing import Any, ClassVar

import numpy as np


class Task:
    """One network and what it learns.

    A subclass makes ``self.net`` (or overrides `blocks`) and gives `batch` and `losses`.
    """

    batch_size: ClassVar[int] = 8

    def __init__(self, mx: Any) -> None:
        self.mx = mx
        self.net = self.build(mx.gluon.nn)

    def build(self, nn: Any) -> Any:
        raise NotImplementedError

    def blocks(self) -> list[Any]:
        """The blocks that train, each by a Trainer of its own."""
        return [self.net]

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        """NumPy arrays of one batch."""
        raise NotImplementedError

    def losses(self, *batch: Any) -> list[Any]:
        """Arrays whose sum is minimized, from the arrays of a batch; called while recording."""
        raise NotImplementedError

    def step(self, batch: tuple[Any, ...], trainers: list[Any]) -> list[float]:
        """One step of training; the mean of each loss."""
        with self.mx.autograd.record():
            losses = self.losses(*batch)
        self.mx.autograd.backward(losses)
        trainers[0].step(self.batch_size)
        return [float(loss.mean().asscalar()) for loss in losses]


def normal(rng: np.random.RandomState, *shape: int) -> Any:
    return rng.standard_normal(shape).astype("float32")


def classes(rng: np.random.RandomState, count: int, *shape: int) -> Any:
    return rng.randint(0, count, shape).astype("float32")


class Mlp(Task):
    def build(self, nn: Any) -> Any:
        net = nn.HybridSequential(prefix="mlp_")
        with net.name_scope():
            net.add(nn.Dense(16, activation="relu"), nn.Dense(12, activation="tanh"), nn.Dense(4))
        return net

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return normal(rng, 8, 10), classes(rng, 4, 8)

    def losses(self, *batch: Any) -> list[Any]:
        x, label = batch
        return [self.mx.gluon.loss.SoftmaxCrossEntropyLoss()(self.net(x), label)]


class Cnn(Task):
    def build(self, nn: Any) -> Any:
        net = nn.HybridSequential(prefix="cnn_")
        with net.name_scope():
            net.add(nn.Conv2D(6, 3, padding=1, use_bias=False))
            net.add(nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2))
            net.add(nn.Conv2D(8, 3, activation="relu"), nn.AvgPool2D(2), nn.Dense(5))
        return net

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return normal(rng, 8, 3, 12, 12), classes(rng, 5, 8)

    def losses(self, *batch: Any) -> list[Any]:
        x, label = batch
        return [self.mx.gluon.loss.SoftmaxCrossEntropyLoss()(self.net(x), label)]


class ResNet(Task):
    def build(self, nn: Any) -> Any:
        class Unit(self.mx.gluon.HybridBlock):  # type: ignore[name-defined,misc]  # any package's
            def __init__(self, channels: int, stride: int, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                with self.name_scope():
                    self.body = nn.HybridSequential()
                    self.body.add(
                        nn.Conv2D(channels, 3, stride, 1, use_bias=False),
                        nn.BatchNorm(),
                        nn.Activation("relu"),
                        nn.Conv2D(channels, 3, 1, 1, use_bias=False),
                        nn.BatchNorm(),
                    )
                    self.shortcut = nn.Conv2D(channels, 1, stride, use_bias=False)

            def hybrid_forward(self, F: Any, x: Any) -> Any:
                return F.relu(self.body(x) + self.shortcut(x))

        net = nn.HybridSequential(prefix="resnet_")
        with net.name_scope():
            net.add(nn.Conv2D(6, 3, padding=1, use_bias=False), nn.BatchNorm())
            net.add(Unit(6, 1), Unit(8, 2), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(4))
        return net

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return normal(rng, 8, 3, 8, 8), classes(rng, 4, 8)

    def losses(self, *batch: Any) -> list[Any]:
        x, label = batch
        return [self.mx.gluon.loss.SoftmaxCrossEntropyLoss()(self.net(x), label)]


class LanguageModel(Task):
    """Two LSTM layers over words, with the state carried from batch to batch."""

    def build(self, nn: Any) -> Any:
        class Model(self.mx.gluon.HybridBlock):  # type: ignore[name-defined,misc]  # any package's
            def __init__(self, rnn: Any, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                with self.name_scope():
                    self.encoder = nn.Embedding(20, 8)
                    self.rnn = rnn.LSTM(8, num_layers=2, input_size=8)
                    self.decoder = nn.Dense(20, flatten=False)

            def hybrid_forward(self, F: Any, words: Any, h: Any, c: Any) -> Any:
                out, state = self.rnn(self.encoder(words), [h, c])
                return self.decoder(out), state[0], state[1]

        self.state = [self.mx.nd.zeros((2, 8, 8)) for _ in range(2)]
        return Model(self.mx.gluon.rnn, prefix="lm_")

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        words = classes(rng, 20, 7, 8)
        return words[:-1], words[1:]

    def losses(self, *batch: Any) -> list[Any]:
        words, following = batch
        out, *state = self.net(words, *(s.detach() for s in self.state))
        self.state = state
        loss = self.mx.gluon.loss.SoftmaxCrossEntropyLoss(batch_axis=1)
        return [loss(out, following)]


class Tagger(Task):
    """A bidirectional GRU that tags each word; what is beyond a sentence's length has no weight."""

    def build(self, nn: Any) -> Any:
        net = nn.HybridSequential(prefix="tagger_")
        with net.name_scope():
            net.add(nn.Embedding(15, 6))
            net.add(self.mx.gluon.rnn.GRU(5, layout="NTC", bidirectional=True, input_size=6))
            net.add(nn.Dense(4, flatten=False))
        return net

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        lengths = rng.randint(2, 7, (8,))
        valid = (np.arange(6) < lengths[:, None]).astype("float32")[:, :, None]
        return classes(rng, 15, 8, 6), classes(rng, 4, 8, 6), valid

    def losses(self, *batch: Any) -> list[Any]:
        words, tags, valid = batch
        return [self.mx.gluon.loss.SoftmaxCrossEntropyLoss()(self.net(words), tags, valid)]


class Autoencoder(Task):
    def build(self, nn: Any) -> Any:
        net = nn.HybridSequential(prefix="autoencoder_")
        with net.name_scope():
            net.add(nn.Conv2D(4, 4, 2, 1), nn.LeakyReLU(0.1), nn.Dense(6), nn.PReLU())
            net.add(nn.Dense(36, activation="softrelu"))
            net.add(nn.HybridLambda(lambda F, x: F.reshape(x, (-1, 4, 3, 3))))
            net.add(nn.Conv2DTranspose(1, 4, 2, 1, activation="sigmoid"))
        return net

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return (rng.uniform(size=(8, 1, 6, 6)).astype("float32"),)

    def losses(self, *batch: Any) -> list[Any]:
        return [self.mx.gluon.loss.L2Loss()(self.net(batch[0]), batch[0])]


class Gan(Task):
    """One step of the discriminator, then one of the generator, each by its own Trainer."""

    def build(self, nn: Any) -> Any:
        generator = nn.HybridSequential(prefix="generator_")
        with generator.name_scope():
            generator.add(nn.Dense(10, activation="relu"), nn.Dense(6))
        discriminator = nn.HybridSequential(prefix="discriminator_")
        with discriminator.name_scope():
            discriminator.add(nn.Dense(10), nn.LeakyReLU(0.2), nn.Dense(1))
        self.generator, self.discriminator = generator, discriminator
        return None

    def blocks(self) -> list[Any]:
        return [self.generator, self.discriminator]

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return normal(rng, 8, 6) + 1, normal(rng, 8, 4)

    def losses(self, *batch: Any) -> list[Any]:
        real, noise = batch
        loss = self.mx.gluon.loss.SigmoidBinaryCrossEntropyLoss()
        ones, zeros = self.mx.nd.ones((8, 1)), self.mx.nd.zeros((8, 1))
        fake = self.generator(noise)
        told = loss(self.discriminator(real), ones) + loss(self.discriminator(fake.detach()), zeros)
        return [told, loss(self.discriminator(fake), ones)]

    def step(self, batch: tuple[Any, ...], trainers: list[Any]) -> list[float]:
        means = []
        for turn in (1, 0):
            with self.mx.autograd.record():
                losses = self.losses(*batch)
            losses[1 - turn].backward()
            trainers[turn].step(self.batch_size)
            means.append(float(losses[1 - turn].mean().asscalar()))
        return means


class Speech(Task):
    """Characters from frames, by connectionist temporal classification."""

    def build(self, nn: Any) -> Any:
        net = nn.HybridSequential(prefix="speech_")
        with net.name_scope():
            net.add(self.mx.gluon.rnn.RNN(8, activation="tanh", layout="NTC", input_size=5))
            net.add(nn.Dense(6, flatten=False))
        return net

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        frames = np.full((8,), 9, "float32")
        return normal(rng, 8, 10, 5), classes(rng, 5, 8, 3), frames, np.full((8,), 3, "float32")

    def losses(self, *batch: Any) -> list[Any]:
        x, label, frames, characters = batch
        loss = self.mx.gluon.loss.CTCLoss(layout="NTC", label_layout="NT")
        return [loss(self.net(x), label, frames, characters)]


class Attention(Task):
    """One layer of attention with two heads, a norm and a residual."""

    def build(self, nn: Any) -> Any:
        class Model(self.mx.gluon.HybridBlock):  # type: ignore[name-defined,misc]  # any package's
            def __init__(self, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                with self.name_scope():
                    self.query = nn.Dense(8, flatten=False, use_bias=False)
                    self.key = nn.Dense(8, flatten=False, use_bias=False)
                    self.value = nn.Dense(8, flatten=False)
                    self.norm = nn.LayerNorm()
                    self.out = nn.Dense(3)

            def heads(self, F: Any, x: Any) -> Any:
                x = F.transpose(F.reshape(x, (0, 0, 2, -1)), (0, 2, 1, 3))
                return F.reshape(x, (-3, 0, 0))

            def hybrid_forward(self, F: Any, x: Any) -> Any:
                query, key, value = (
                    self.heads(F, layer(x)) for layer in (self.query, self.key, self.value)
                )
                scores = F.softmax(F.batch_dot(query, key, transpose_b=True) / 2.0, axis=-1)
                mixed = F.reshape(F.batch_dot(scores, value), (-4, -1, 2, 0, 0))
                mixed = F.reshape(F.transpose(mixed, (0, 2, 1, 3)), (0, 0, -3))
                return self.out(self.norm(x + mixed))

        return Model(prefix="attention_")

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return normal(rng, 8, 5, 8), classes(rng, 3, 8)

    def losses(self, *batch: Any) -> list[Any]:
        x, label = batch
        return [self.mx.gluon.loss.SoftmaxCrossEntropyLoss()(self.net(x), label)]


class SparseEmbedding(Task):
    """A bag of words over an embedding whose gradient holds the rows that a batch reads."""

    def build(self, nn: Any) -> Any:
        net = nn.HybridSequential(prefix="sparse_")
        with net.name_scope():
            net.add(nn.Embedding(30, 6, sparse_grad=True))
            net.add(nn.HybridLambda(lambda F, x: F.mean(x, axis=1)), nn.Dense(3))
        return net

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return classes(rng, 30, 8, 5), classes(rng, 3, 8)

    def losses(self, *batch: Any) -> list[Any]:
        words, label = batch
        return [self.mx.gluon.loss.SoftmaxCrossEntropyLoss()(self.net(words), label)]


class MultiLoss(Task):
    """A body with two heads, a classifier and a regression, whose losses weigh differently."""

    def build(self, nn: Any) -> Any:
        class Model(self.mx.gluon.HybridBlock):  # type: ignore[name-defined,misc]  # any package's
            def __init__(self, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                with self.name_scope():
                    self.body = nn.Dense(10, activation="sigmoid")
                    self.classes = nn.Dense(4)
                    self.amount = nn.Dense(2)

            def hybrid_forward(self, F: Any, x: Any) -> Any:
                x = self.body(x)
                return self.classes(x), self.amount(x)

        return Model(prefix="two_")

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return normal(rng, 8, 7), classes(rng, 4, 8), normal(rng, 8, 2)

    def losses(self, *batch: Any) -> list[Any]:
        x, label, amount = batch
        found, much = self.net(x)
        loss = self.mx.gluon.loss
        return [
            loss.SoftmaxCrossEntropyLoss(weight=0.7)(found, label),
            loss.HuberLoss(rho=0.5)(much, amount),
        ]


class SharedWeights(Task):
    """Two towers with one set of weights, and a layer that is used twice."""

    def build(self, nn: Any) -> Any:
        class Model(self.mx.gluon.HybridBlock):  # type: ignore[name-defined,misc]  # any package's
            def __init__(self, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                with self.name_scope():
                    self.left = nn.Dense(8, in_units=8, activation="tanh")
                    self.right = nn.Dense(8, in_units=8, activation="tanh", params=self.left.params)
                    self.out = nn.Dense(1)

            def hybrid_forward(self, F: Any, a: Any, b: Any) -> Any:
                return self.out(F.abs(self.left(self.left(a)) - self.right(b)))

        return Model(prefix="shared_")

    def batch(self, rng: np.random.RandomState) -> tuple[Any, ...]:
        return normal(rng, 8, 8), normal(rng, 8, 8), classes(rng, 2, 8, 1)

    def losses(self, *batch: Any) -> list[Any]:
        a, b, same = batch
        return [self.mx.gluon.loss.LogisticLoss(label_format="binary")(self.net(a, b), same)]


TASKS: dict[str, type[Task]] = {
    "mlp": Mlp,
    "cnn": Cnn,
    "resnet": ResNet,
    "language_model": LanguageModel,
    "tagger": Tagger,
    "autoencoder": Autoencoder,
    "gan": Gan,
    "speech": Speech,
    "attention": Attention,
    "sparse_embedding": SparseEmbedding,
    "multi_loss": MultiLoss,
    "shared_weights": SharedWeights,
}
