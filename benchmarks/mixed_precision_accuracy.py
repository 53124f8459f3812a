"""Whether networks learn as much in mixed precision as in float32: seeds, means and deviations.

    python benchmarks/mixed_precision_accuracy.py --network resnet20|lstm|transformer [--seeds 5]

ResNet-20 (He et al., 2015) learns the digits of the package, or CIFAR-10 with ``--cifar FOLDER``
(the ``.bin`` files); reported is the accuracy on held-out images, in percent. An LSTM and a
transformer learn the words of ``tutorials/moby_dick.txt``; reported is the loss of the part that
they did not learn from. Every seed runs in each dtype, with equal initial weights and batches, and
a learning rate that falls to 0, so that the last steps decide little.
``--examples N`` learns from the first N images or windows of words only, where time is short; what
is held out stays whole. float16 has a dynamic loss scale.
"""

import argparse
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gluonish as mx
from gluonish.gluon import nn, rnn

ROOT = Path(__file__).resolve().parents[1]
WORDS, LENGTH = 2000, 24
Batch = tuple[Any, Any]


class Block(nn.HybridBlock):
    """Two convolutions and a way around them."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        with self.name_scope():
            self.body = nn.HybridSequential()
            for own in (stride, 1):
                self.body.add(nn.Conv2D(channels, 3, own, 1, use_bias=False), nn.BatchNorm())
                if own is stride and len(self.body) == 2:
                    self.body.add(nn.Activation("relu"))
            self.around = nn.HybridSequential()
            if stride > 1:
                self.around.add(nn.Conv2D(channels, 1, stride, use_bias=False), nn.BatchNorm())

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Compute."""
        return F.relu(self.body(x) + self.around(x))


def resnet20() -> Any:
    """Return ResNet-20."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, 1, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for channels in (16, 32, 64):
        for i in range(3):
            net.add(Block(channels, 2 if channels > 16 and not i else 1))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    return net


class Language(nn.HybridBlock):
    """Words from the words before, by an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.words, self.lstm = nn.Embedding(WORDS, 128), rnn.LSTM(128, layout="NTC")
            self.out = nn.Dense(WORDS, flatten=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Compute."""
        return self.out(self.lstm(self.words(x)))


class Transformer(nn.HybridBlock):
    """The same by attention to the words before."""

    def __init__(self, layers: int = 2, units: int = 128, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.scale = heads, (units / heads) ** -0.5
        with self.name_scope():
            self.words = nn.Embedding(WORDS, units)
            self.places = self.params.get("places", shape=(1, LENGTH, units), init=mx.init.Normal())
            mask = np.triu(np.full((1, LENGTH, LENGTH), -1e4, np.float32), 1)
            self.mask = self.params.get_constant("mask", mask)
            self.parts = nn.HybridSequential()
            for _ in range(layers):
                self.parts.add(
                    nn.LayerNorm(),
                    nn.Dense(3 * units, flatten=False),
                    nn.Dense(units, flatten=False),
                    nn.LayerNorm(),
                    nn.Dense(4 * units, activation="relu", flatten=False),
                    nn.Dense(units, flatten=False),
                )
            self.norm, self.out = nn.LayerNorm(), nn.Dense(WORDS, flatten=False)

    def hybrid_forward(self, F: Any, x: Any, places: Any, mask: Any) -> Any:
        """Compute."""
        x = F.broadcast_add(self.words(x), places)
        parts = list(self.parts)
        for i in range(0, len(parts), 6):
            first, qkv, out, last, wide, narrow = parts[i : i + 6]
            joined = qkv(first(x)).reshape((0, 0, 3, self.heads, -1)).transpose((2, 0, 3, 1, 4))
            query, key, value = (
                part.reshape((-3, 0, 0))
                for part in F.split(joined, num_outputs=3, axis=0, squeeze_axis=True)
            )
            scores = F.batch_dot(query, key, transpose_b=True) * self.scale
            found = F.batch_dot(F.softmax(F.broadcast_add(scores, mask)), value)
            found = found.reshape((-4, -1, self.heads, 0, 0)).transpose((0, 2, 1, 3))
            x = x + out(found.reshape((0, 0, -3)))
            x = x + narrow(wide(last(x)))
        return self.out(self.norm(x))


def images(cifar: Path | None) -> tuple[Batch, Batch]:
    """Return images and labels to learn from, and others."""
    if cifar is None:
        from gluonish.gluon.data.digits import load_digits

        return load_digits(train=True), load_digits(train=False)

    def read(names: list[str]) -> Batch:
        rows = np.concatenate([np.fromfile(cifar / name, np.uint8) for name in names])
        rows = rows.reshape(-1, 3073)
        pixels = rows[:, 1:].reshape(-1, 3, 32, 32).astype("float32") / 128 - 1
        return pixels, rows[:, 0].astype(np.int32)

    return read([f"data_batch_{i}.bin" for i in range(1, 6)]), read(["test_batch.bin"])


def sentences() -> tuple[Batch, Batch]:
    """Return windows of words and the words that follow them; the last tenth is held out."""
    text = (ROOT / "tutorials" / "moby_dick.txt").read_text("utf-8").lower()
    words = re.findall(r"[a-z']+|[^a-z' \n]+", text)
    names, numbers, counts = np.unique(words, return_inverse=True, return_counts=True)
    ranks = np.empty(len(names), np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(names))
    stream = np.minimum(ranks[numbers], WORDS - 1)
    rows = (len(stream) - 1) // LENGTH
    x = stream[: rows * LENGTH].reshape(rows, LENGTH)
    y = stream[1 : rows * LENGTH + 1].reshape(rows, LENGTH)
    border = rows * 9 // 10
    return (x[:border], y[:border]), (x[border:], y[border:])


def batches(data: Batch, size: int, epochs: int, seed: int) -> Iterator[Batch]:
    """Yield shuffled batches."""
    for epoch in range(epochs):
        order = np.random.RandomState(seed * 1000 + epoch).permutation(len(data[0]))
        for start in range(0, len(order) - size + 1, size):
            rows = order[start : start + size]
            yield data[0][rows], data[1][rows]


def learned(
    make: Callable[[], Any],
    parts: tuple[Batch, Batch],
    dtype: str,
    seed: int,
    arguments: argparse.Namespace,
) -> float:
    """Train a network, and return its accuracy in percent, or its loss on words."""
    mx.random.seed(seed)
    net = make()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_function.hybridize(static_alloc=True)
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": arguments.rate})
    half = {"target_dtype": dtype} if dtype != "float32" else {"enabled": False}
    if dtype == "float16":
        mx.amp.init_trainer(trainer)
    steps = arguments.epochs * (len(parts[0][0]) // arguments.batch_size)
    order = batches(parts[0], arguments.batch_size, arguments.epochs, seed)
    for step, (x, y) in enumerate(order):
        trainer.set_learning_rate(arguments.rate * (1 - step / steps))
        x, y = mx.nd.array(x), mx.nd.array(y)
        with mx.autograd.record():
            with mx.amp.autocast(**half):
                loss = loss_function(net(x), y)
            if dtype == "float16":
                with mx.amp.scale_loss(loss, trainer) as scaled:
                    mx.autograd.backward(scaled)
        if dtype != "float16":
            loss.backward()
        trainer.step(len(x))
    total = right = count = 0.0
    for x, y in batches(parts[1], 40, 1, 0):
        with mx.amp.autocast(**half):
            out = net(mx.nd.array(x))
            total += float(loss_function(out, mx.nd.array(y)).sum().asscalar())
        right += float((out.astype("float32").asnumpy().argmax(-1) == y).sum())
        count += len(x)
    return 100 * right / count if arguments.network == "resnet20" else total / count


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--network", choices=("resnet20", "lstm", "transformer"), required=True)
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0.003)
    parser.add_argument("--examples", type=int, help="learn from the first so many; default: all")
    parser.add_argument("--cifar", type=Path, help="folder of CIFAR-10's .bin files")
    arguments = parser.parse_args()
    make = {"resnet20": resnet20, "lstm": Language, "transformer": Transformer}[arguments.network]
    parts = images(arguments.cifar) if arguments.network == "resnet20" else sentences()
    x, y = parts[0]
    parts = (x[: arguments.examples], y[: arguments.examples]), parts[1]
    found: dict[str, list[float]] = {dtype: [] for dtype in arguments.dtypes.split(",")}
    for seed in range(arguments.seeds):
        for dtype, values in found.items():
            values.append(learned(make, parts, dtype, seed, arguments))
            print(f"seed {seed}, {dtype}: {values[-1]:.3f}", flush=True)
    print(f"\n{arguments.network}\n\n| dtype | mean | deviation |\n|---|---|---|")
    for dtype, values in found.items():
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        print(f"| {dtype} | {statistics.mean(values):.3f} | {spread:.3f} |")


if __name__ == "__main__":
    main()
