"""A language model of two LSTM layers, in gluonish's layers and in PyTorch's."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.gpu_run.comparisons import OurStep, compare, our_precision, static
from benchmarks.gpu_run.peers import TorchStep, contenders_of, precision_of
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note

_LAYERS = 2
# Units, words, steps in time, and samples: on the device, and in a rehearsal.
_SIZES = ((650, 10000, 35, 20), (4, 11, 3, 2))


def _texts(sizes: tuple[int, int, int, int]) -> tuple[Any, Any]:
    _, vocabulary, length, count = sizes
    words, target = np.random.default_rng(8).integers(0, vocabulary, (2, length, count))
    return words, target.reshape(-1)


def _our_step(place: Place, sizes: tuple[int, int, int, int], precision: str) -> OurStep:
    mx = place.mx
    units, vocabulary, _, count = sizes

    class Model(mx.gluon.HybridBlock):  # type: ignore[misc, name-defined]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.embedding = mx.gluon.nn.Embedding(vocabulary, units)
                self.lstm = mx.gluon.rnn.LSTM(units, _LAYERS, input_size=units)
                self.decoder = mx.gluon.nn.Dense(vocabulary, in_units=units)

        def hybrid_forward(self, F: Any, words: Any, states: Any) -> Any:
            output, states = self.lstm(self.embedding(words), states)
            return self.decoder(F.reshape(output, shape=(-1, units))), states

    net = Model()
    net.initialize(mx.init.Xavier(), ctx=mx.gpu(0))
    net.hybridize(**static)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(**static)
    words, target = (mx.nd.array(x, ctx=mx.gpu(0)) for x in _texts(sizes))
    states = net.lstm.begin_state(batch_size=count, ctx=mx.gpu(0))
    sgd = ("sgd", {"learning_rate": 1.0})
    return OurStep(
        mx, lambda: loss_of(net(words, states)[0], target), net.collect_params(), sgd,
        target.size, precision,
    )  # fmt: skip


def _torch_step(place: Place, sizes: tuple[int, int, int, int], precision: str) -> TorchStep:
    torch, device = place.torch, place.torch_device
    units, vocabulary, _, count = sizes
    scope = precision_of(torch, precision, device)
    embedding = torch.nn.Embedding(vocabulary, units).to(device)
    lstm = torch.nn.LSTM(units, units, _LAYERS).to(device)
    decoder = torch.nn.Linear(units, vocabulary).to(device)
    parameters = [p for part in (embedding, lstm, decoder) for p in part.parameters()]
    words, target = (torch.from_numpy(x).to(device) for x in _texts(sizes))
    states = tuple(torch.zeros((_LAYERS, count, units), device=device) for _ in range(2))

    def loss(words: Any, target: Any) -> Any:
        output, _ = lstm(embedding(words), states)
        return torch.nn.functional.cross_entropy(decoder(output.flatten(0, 1)), target)

    optimizer = torch.optim.SGD(parameters, lr=1.0, foreach=True)
    return TorchStep(torch, loss, (words, target), scope, optimizer)


def training(place: Place, note: Note, *, precision: str) -> Iterator[None]:
    """Compare training steps; PyTorch runs cuDNN's LSTM, eager and as a graph."""
    sizes = place.pick(*_SIZES)

    def peers() -> Any:
        return contenders_of(place, _torch_step(place, sizes, precision), note)

    with our_precision(precision):
        ours = _our_step(place, sizes, precision)
        yield from compare(place, note, ours, peers, per_step=sizes[2] * sizes[3], seconds=0.3)
