"""Sequences in buckets by length: many shapes through one hybridized block, in random order."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import fill, values_of


def make_class(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Convolutional(mx.gluon.HybridBlock):
        def __init__(self, words: int, size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.embed = nn.Embedding(words, size)
                self.narrow = nn.Conv1D(4, 3, padding=1, activation="relu")
                self.wide = nn.Conv1D(4, 5, padding=2, activation="tanh")
                self.pool = nn.GlobalMaxPool1D()
                self.out = nn.Dense(1)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            x = F.transpose(self.embed(x), axes=(0, 2, 1))
            x = F.concat(self.pool(self.narrow(x)), self.pool(self.wide(x)), dim=1)
            return self.out(x).reshape((-1,))

    return Convolutional


class Sentences:
    """A dataset of pairs of ragged token lists and whether they hold word 3."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(7)
        lengths = rng.integers(2, 14, count)
        self.samples = [rng.integers(0, 9, n).astype("float32") for n in lengths]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Any, float]:
        return self.samples[index], float((self.samples[index] == 3).any())


class Buckets:
    """Yields indices of samples of similar length, as a batch sampler does."""

    def __init__(self, lengths: list[int], edges: list[int], size: int) -> None:
        self.batches = []
        for low, high in zip([0, *edges[:-1]], edges, strict=True):
            members = [i for i, n in enumerate(lengths) if low < n <= high]
            self.batches += [members[i : i + size] for i in range(0, len(members), size)]
        order = np.random.default_rng(8).permutation(len(self.batches))
        self.batches = [self.batches[i] for i in order]

    def __iter__(self) -> Any:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon = mx.nd, mx.gluon
    data = Sentences(40)

    def pad(samples: list[Any]) -> tuple[Any, Any]:
        longest = max(len(s[0]) for s in samples)
        rows = [np.pad(s[0], (0, longest - len(s[0]))) for s in samples]
        return nd.array(np.stack(rows)), nd.array([s[1] for s in samples])

    sampler = Buckets([len(s) for s in data.samples], [4, 8, 11, 14], 6)
    loader = gluon.data.DataLoader(data, batch_sampler=sampler, batchify_fn=pad)
    net = make_class(mx)(9, 5, prefix="bucket_")
    net.initialize()
    net(nd.zeros((1, 5)))
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    loss_fn = gluon.loss.LogisticLoss(label_format="binary")
    accuracy = mx.metric.Accuracy()
    losses, shapes = [], []
    for _ in range(3):
        accuracy.reset()
        for x, y in loader:
            with mx.autograd.record():
                scores = net(x)
                loss = loss_fn(scores, y)
            loss.backward()
            trainer.step(x.shape[0])
            accuracy.update(y, scores > 0)
            losses.append(loss.mean().asscalar())
            shapes.append(str(x.shape))
    return {
        "losses": losses,
        "shapes": shapes,
        "accuracy": accuracy.get()[1],
        **values_of(net.collect_params()),
    }
