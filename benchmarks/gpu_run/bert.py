"""BERT-base, trained to name each word, in gluonish's layers and in PyTorch's."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gpu_run.comparisons import OurStep, compare, our_precision, static
from benchmarks.gpu_run.peers import TorchStep, contenders_of, precision_of
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note

_COMPILE_S = 100
_RATE = 1e-5


class Sizes(NamedTuple):
    """Extents of the network and of a batch.

    Attributes:
        masked: Whether the network takes lengths, and masks as GluonNLP's before 0.10.
    """

    layers: int
    units: int
    heads: int
    words: int
    batch: int
    length: int
    dropout: float = 0.1
    masked: bool = False


BASE = Sizes(12, 768, 12, 30522, 32, 128)
TINY = Sizes(2, 8, 2, 11, 2, 4)


def our_layer(mx: Any, sizes: Sizes) -> Any:
    """Return one layer: attention and two dense ones, each with a shortcut and a layer norm."""
    nn, heads = mx.gluon.nn, sizes.heads
    scale = 1 / math.sqrt(sizes.units / heads)

    class Layer(mx.gluon.HybridBlock):  # type: ignore[misc]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            units = sizes.units
            with self.name_scope():
                self.project = nn.Dense(3 * units, flatten=False, in_units=units)
                self.join = nn.Dense(units, flatten=False, in_units=units)
                self.widen = nn.Dense(4 * units, flatten=False, in_units=units)
                self.narrow = nn.Dense(units, flatten=False, in_units=4 * units)
                self.norm = nn.LayerNorm(in_channels=units)
                self.last_norm = nn.LayerNorm(in_channels=units)
                self.activation = nn.GELU()
                self.drop = nn.Dropout(sizes.dropout)

        def hybrid_forward(self, F: Any, x: Any, mask: Any = None) -> Any:
            parts = F.split(self.project(x), num_outputs=3, axis=2)
            q, k, v = (self._split(F, part) for part in parts)
            scores = F.batch_dot(q, k, transpose_b=True) * scale
            if mask is None:
                weights = F.softmax(scores)
            else:
                hidden = F.where(mask, scores, -1e4 * F.ones_like(scores))
                weights = F.broadcast_mul(F.softmax(hidden), mask)
            mixed = F.batch_dot(self.drop(weights), v)
            mixed = F.reshape(mixed, shape=(-4, -1, heads, 0, 0))
            mixed = F.reshape(F.transpose(mixed, axes=(0, 2, 1, 3)), shape=(0, 0, -3))
            x = self.norm(x + self.drop(self.join(mixed)))
            return self.last_norm(x + self.drop(self.narrow(self.activation(self.widen(x)))))

        def _split(self, F: Any, x: Any) -> Any:
            """(N, T, C) to (N heads, T, C / heads)."""
            x = F.transpose(F.reshape(x, shape=(0, 0, heads, -1)), axes=(0, 2, 1, 3))
            return F.reshape(x, shape=(-3, 0, 0))

    return Layer()


def our_bert(mx: Any, sizes: Sizes) -> Any:
    """Return the network: words (N, T) to (N, T, words)."""
    nn = mx.gluon.nn

    class Bert(mx.gluon.HybridBlock):  # type: ignore[misc]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.words = nn.Embedding(sizes.words, sizes.units)
                self.places = nn.Embedding(sizes.length, sizes.units)
                self.norm = nn.LayerNorm(in_channels=sizes.units)
                self.drop = nn.Dropout(sizes.dropout)
                self.layers = nn.HybridSequential()
                for _ in range(sizes.layers):
                    self.layers.add(our_layer(mx, sizes))
                self.decode = nn.Dense(sizes.words, flatten=False, in_units=sizes.units)

        def hybrid_forward(self, F: Any, words: Any, places: Any, lengths: Any = None) -> Any:
            x = F.broadcast_add(self.words(words), self.places(places))
            x = self.drop(self.norm(x))
            if lengths is None:
                return self.decode(self.layers(x))
            mask = self._mask(F, F.reshape(places, shape=(1, -1)), lengths)
            for layer in self.layers:
                x = layer(x, mask)
            return self.decode(x)

        def _mask(self, F: Any, places: Any, lengths: Any) -> Any:
            """Return which keys are before the lengths (N,), as 0 and 1 (N heads, T, T)."""
            steps = F.contrib.arange_like(places, axis=1)
            seen = F.broadcast_lesser(
                F.reshape(steps, shape=(1, -1)), F.reshape(lengths, shape=(-1, 1))
            )
            seen = F.cast(seen, "bfloat16" if self.decode.weight.dtype != "float32" else "float32")
            square = F.broadcast_axis(F.expand_dims(seen, axis=1), axis=1, size=sizes.length)
            each = F.broadcast_axis(F.expand_dims(square, axis=1), axis=1, size=sizes.heads)
            return F.reshape(each, shape=(-3, 0, 0))

    return Bert()


def our_loss(mx: Any, net: Any) -> Any:
    """Return network and loss as one block: words, places and words to name, to losses (N,).

    Lengths may come behind.
    """
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()

    class Loss(mx.gluon.HybridBlock):  # type: ignore[misc]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            self.net, self.loss_of = net, loss_of

        def hybrid_forward(
            self, F: Any, words: Any, places: Any, target: Any, *lengths: Any
        ) -> Any:
            return self.loss_of(F.cast(self.net(words, places, *lengths), "float32"), target)

    return Loss()


def torch_layer(torch: Any, sizes: Sizes) -> Any:
    """Return the same layer of PyTorch, with its own attention."""
    nn = torch.nn
    functional, heads = nn.functional, sizes.heads

    class Layer(nn.Module):  # type: ignore[misc, name-defined]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            units = sizes.units
            self.project = nn.Linear(units, 3 * units)
            self.join = nn.Linear(units, units)
            self.widen = nn.Linear(units, 4 * units)
            self.narrow = nn.Linear(4 * units, units)
            self.norm, self.last_norm = nn.LayerNorm(units), nn.LayerNorm(units)
            self.drop = nn.Dropout(sizes.dropout)

        def forward(self, x: Any) -> Any:
            parts = self.project(x).chunk(3, 2)
            q, k, v = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in parts)
            rate = sizes.dropout if self.training else 0.0
            mixed = functional.scaled_dot_product_attention(q, k, v, dropout_p=rate)
            mixed = mixed.transpose(1, 2).flatten(2)
            x = self.norm(x + self.drop(self.join(mixed)))
            inner = functional.gelu(self.widen(x))
            return self.last_norm(x + self.drop(self.narrow(inner)))

    return Layer()


def _torch_bert(torch: Any, sizes: Sizes) -> Any:
    nn = torch.nn

    class Bert(nn.Module):  # type: ignore[misc, name-defined]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(sizes.words, sizes.units)
            self.places = nn.Embedding(sizes.length, sizes.units)
            self.norm, self.drop = nn.LayerNorm(sizes.units), nn.Dropout(sizes.dropout)
            self.layers = nn.Sequential(*(torch_layer(torch, sizes) for _ in range(sizes.layers)))
            self.decode = nn.Linear(sizes.units, sizes.words)

        def forward(self, words: Any, places: Any) -> Any:
            x = self.drop(self.norm(self.words(words) + self.places(places)))
            return self.decode(self.layers(x))

    return Bert()


def _texts(sizes: Sizes) -> tuple[Any, Any, Any]:
    """Return words, places and the words to name."""
    random = np.random.default_rng(7)
    words, target = random.integers(0, sizes.words, (2, sizes.batch, sizes.length))
    return words, np.arange(sizes.length)[None], target


def _our_step(place: Place, sizes: Sizes, precision: str) -> tuple[OurStep, int]:
    mx = place.mx
    net = our_bert(mx, sizes)
    net.initialize(mx.init.Normal(0.02), ctx=mx.gpu(0))
    if precision == "AMP":
        net.cast("bfloat16")
    losses = our_loss(mx, net)
    losses.hybridize(**static)
    arrays = [mx.nd.array(x, ctx=mx.gpu(0)) for x in _texts(sizes)]
    if sizes.masked:
        lengths = np.arange(sizes.batch) % sizes.length + 1
        arrays.append(mx.nd.array(lengths, ctx=mx.gpu(0)))

    def loss() -> Any:
        return losses(*arrays)

    parameters = net.collect_params()
    count = sum(int(np.prod(p.shape)) for p in parameters.values())
    adam = ("adam", {"learning_rate": _RATE})
    return OurStep(mx, loss, parameters, adam, sizes.batch * sizes.length, precision), count


def training(place: Place, note: Note, *, precision: str) -> Iterator[None]:
    """Compare training steps."""
    sizes = place.pick(BASE, TINY)

    def peers() -> Any:
        torch, device = place.torch, place.torch_device
        scope = precision_of(torch, precision, device)
        net = _torch_bert(torch, sizes).to(device).train()
        parameters = list(net.parameters())
        theirs = sum(p.numel() for p in parameters)
        assert theirs == count, f"expected as many parameters as ours, {count}, got {theirs}"
        data = [torch.from_numpy(x).to(device) for x in _texts(sizes)]

        def loss(words: Any, places: Any, target: Any) -> Any:
            scores = net(words, places).float().flatten(0, 1)
            return torch.nn.functional.cross_entropy(scores, target.flatten())

        how = place.pick({"fused": True, "capturable": True}, {})
        optimizer = torch.optim.Adam(parameters, lr=_RATE, **how)
        step = TorchStep(torch, loss, data, scope, optimizer)
        return contenders_of(place, step, note, compile_s=_COMPILE_S)

    with our_precision(precision):
        ours, count = _our_step(place, sizes, precision)
        words = sizes.batch * sizes.length
        yield from compare(place, note, ours, peers, per_step=words, seconds=0.4)
