"""The training loop and its sources of batches.

The batches of an epoch depend only on the seed and the epoch, never on earlier batches: a resumed
run sees the same batches as an uninterrupted one.

The host runs ahead of the device by a few batches at most, as the queue of pending operations would
otherwise grow without bound.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

import gluonish.autograd as autograd
from gluonish.contrib import amp
from gluonish.core.context import Context
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib.estimator.first_batch import first_batch_problems
from gluonish.gluon.data.split import split_and_load
from gluonish.gluon.loss import SoftmaxCrossEntropyLoss
from gluonish.gluon.trainer import Trainer
from gluonish.gluon.utils import WeightAverage
from gluonish.metric import CompositeEvalMetric, EvalMetric, create
from gluonish.metric import Loss as LossMetric
from gluonish.ndarray import NDArray, array, softmax, waitall
from gluonish.tools.train.progress import Progress
from gluonish.tools.train.ranks import Ranks


class Batch(NamedTuple):
    """Images and labels.

    Attributes:
        data: (N, C, H, W).
        label: (N,), classes; of mixed images those of the larger part.
        padding: Number of samples at the end that only fill the batch.
        target: (N, classes), soft labels of mixed images; None if the labels are the targets.
    """

    data: NDArray
    label: NDArray
    padding: int = 0
    target: NDArray | None = None


class Batches(Protocol):
    """Interface of sources of batches.

    Attributes:
        image_shape: (channels, height, width).
        batches_per_epoch: Number of training batches in an epoch.
    """

    image_shape: tuple[int, int, int]
    batches_per_epoch: int

    def training(self, epoch: int) -> Iterator[Batch]:
        """Yield the training batches of an epoch; epochs count from 0."""
        raise NotImplementedError

    def validation(self) -> Iterator[Batch] | None:
        """Yield the batches for evaluation, or return None."""

    def close(self) -> None:
        """Stop workers."""


def derived_seed(*numbers: int) -> int:
    """Derive a seed of 31 bits from numbers, such as a seed and an epoch."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0] >> 1)


class SyntheticBatches:
    """A source that repeats one batch of random pixels, to measure computation without loading.

    Args:
        batch_size: Number of images in a batch.
        image_shape: (channels, height, width).
        classes: Number of classes.
        samples: Number of images in an epoch.
        seed: Seed for pixels and labels.
    """

    def __init__(
        self,
        batch_size: int,
        image_shape: tuple[int, int, int],
        classes: int,
        samples: int,
        seed: int,
    ) -> None:
        self.image_shape = image_shape
        self.batches_per_epoch = max(1, samples // batch_size)
        generator = np.random.default_rng(seed)
        pixels = generator.uniform(-1, 1, (batch_size, *image_shape)).astype(np.float32)
        self._batch = Batch(array(pixels), array(generator.integers(0, classes, batch_size)))

    def training(self, epoch: int) -> Iterator[Batch]:
        """Yield the batch repeatedly for one epoch."""
        return (self._batch for _ in range(self.batches_per_epoch))

    def validation(self) -> None:
        """Return None: there is no evaluation."""

    def close(self) -> None:
        """Do nothing: there are no workers."""


_AHEAD = 3  # number of batches that the host may be ahead of the device
# Metrics computed from probabilities, by their names on the command line.
PROBABILITY_METRICS = ("ce", "nll_loss")

Values = dict[str, float]


class Scores:
    """The metrics of one pass over the data.

    Args:
        top_k: Values of k for top-k accuracy.
        losses: Names from `PROBABILITY_METRICS`, computed from the softmax of the scores.
    """

    def __init__(self, top_k: Sequence[int] = (), losses: Sequence[str] = ()) -> None:
        self._of_scores = [create("acc"), *(create("top_k_accuracy", top_k=k) for k in top_k)]
        self._of_probabilities: list[EvalMetric] = [create(name) for name in losses]
        self._loss = LossMetric()
        self.all = CompositeEvalMetric([*self._of_scores, self._loss, *self._of_probabilities])

    def update(self, labels: list[NDArray], outputs: list[NDArray], losses: list[NDArray]) -> None:
        """Add a batch, with an array for each device, without waiting for results."""
        for metric in self._of_scores:
            metric.update(labels, outputs)
        self._loss.update(None, losses)
        if self._of_probabilities:
            probabilities = [softmax(scores) for scores in outputs]
            for metric in self._of_probabilities:
                metric.update(labels, probabilities)

    def lately(self) -> Values:
        """Wait for and return the metrics since the last call."""
        values = dict(self.all.get_name_value())
        self.all.reset_local()
        return values

    def values(self, ranks: Ranks) -> Values:
        """Wait for and return the metrics of the epoch over all processes."""
        found = self.all if ranks.store is None else self.all.over_ranks(ranks.store)
        return dict(found.get_global_name_value())


class _Queue:
    """The queue of batches whose computation may not be complete."""

    def __init__(self) -> None:
        self._losses: deque[list[NDArray]] = deque()

    def add(self, losses: list[NDArray]) -> None:
        """Add a batch, and wait for an earlier one if the queue is too long."""
        self._losses.append(losses)
        if len(self._losses) > _AHEAD:
            for loss in self._losses.popleft():
                loss.wait_to_read()


class Precision:
    """Mixed precision of a training, or none.

    Args:
        trainer: The trainer, which gets a loss scale for float16.
        dtype: ``"float16"``, ``"bfloat16"``, or None for the dtype of the network.
    """

    def __init__(self, trainer: Trainer, dtype: str | None) -> None:
        self._trainer = trainer
        self._dtype = dtype
        self._scales = dtype == "float16"
        if self._scales:
            amp.init_trainer(trainer)

    def scope(self) -> Any:
        """Return the scope of the network and the loss."""
        return nullcontext() if self._dtype is None else amp.autocast(self._dtype)

    def backward(self, losses: list[NDArray]) -> None:
        """Compute the gradients, of losses times the loss scale if there is one."""
        if not self._scales:
            autograd.backward(losses)
            return
        with autograd.record(), amp.scale_loss(losses, self._trainer) as scaled:
            autograd.backward(scaled)

    def state(self) -> list[float] | None:
        """Return the loss scale as numbers, which `set_state` takes."""
        scaler: Any = self._trainer._amp_loss_scaler
        if scaler is None:
            return None
        return [scaler._loss_scale, scaler._next_loss_scale, scaler._unskipped]

    def set_state(self, numbers: list[float] | None) -> None:
        """Continue with a loss scale."""
        scaler: Any = self._trainer._amp_loss_scaler
        if scaler is not None and numbers is not None:
            scaler._loss_scale, scaler._next_loss_scale = numbers[:2]
            scaler._unskipped = int(numbers[2])


class Learner:
    """Trains and evaluates a network.

    Args:
        net: The network, initialized on ``contexts``.
        trainer: Updates the network's parameters.
        contexts: The devices; each batch is split among them.
        dtype: Dtype of the images; scores are always converted to float32 for the loss.
        hybridize: Whether to hybridize the losses.
        ranks: The processes that share each batch.
        losses: The loss to minimize, and that of evaluation; None for a softmax cross entropy.
        amp_dtype: Dtype of mixed precision; None for none.
        accumulate: Number of batches of an update, as of the trainer.
        average: Average of the weights to update; None for none.

    Attributes:
        net: The network.
        trainer: The trainer.
        precision: The mixed precision.
    """

    def __init__(
        self,
        net: HybridBlock,
        trainer: Trainer,
        contexts: Sequence[Context],
        dtype: str,
        hybridize: bool,
        ranks: Ranks,
        losses: tuple[Any, Any] | None = None,
        amp_dtype: str | None = None,
        accumulate: int = 1,
        average: WeightAverage | None = None,
    ) -> None:
        self._ranks = ranks
        self.net = net
        self.trainer = trainer
        self.precision = Precision(trainer, amp_dtype)
        self._contexts = contexts
        self._dtype = dtype
        usual: Any = SoftmaxCrossEntropyLoss()
        self._loss, self._evaluation_loss = losses or (usual, usual)
        self._accumulate = accumulate
        self._average = average
        self._is_first_batch = True
        if hybridize:
            for loss in {self._loss, self._evaluation_loss}:
                loss.hybridize(static_alloc=True)

    def train(self, batches: Iterable[Batch], scores: Scores, progress: Progress) -> Values:
        """Train with one pass over the data, with a trainer step for each batch.

        Returns:
            A dict with ``seconds`` and ``samples_per_second``.
        """
        start = perf_counter()
        samples = 0
        queue = _Queue()
        for number, batch in enumerate(batches, 1):
            data, labels, targets = self._split(batch)
            with autograd.record(), self.precision.scope():
                outputs = [self._scores(part) for part in data]
                losses = [self._loss(*pair) for pair in zip(outputs, targets, strict=True)]
            self.precision.backward(losses)
            if self._is_first_batch:
                self._is_first_batch = False
                for problem in first_batch_problems(data, targets, outputs, losses, self._loss):
                    print(f"warning: {problem}", file=sys.stderr)  # for the user
            count = batch.data.shape[0] * self._ranks.size
            self.trainer.step(count)
            if self._average is not None and number % self._accumulate == 0:
                self._average.update()
            scores.update(labels, outputs, losses)
            samples += count
            if progress.batch(count):
                progress.report(scores.lately())
            queue.add(losses)
        waitall()
        seconds = perf_counter() - start
        return {"seconds": seconds, "samples_per_second": samples / max(seconds, 1e-9)}

    def evaluate(self, batches: Iterable[Batch], scores: Scores) -> Values:
        """Return the metrics of the network on data."""
        queue = _Queue()
        for batch in batches:
            data, labels, _ = self._split(batch)
            with self.precision.scope():
                outputs = [self._scores(part) for part in data]
                pairs = zip(outputs, labels, strict=True)
                losses = [self._evaluation_loss(*pair) for pair in pairs]
            scores.update(labels, outputs, losses)
            queue.add(losses)
        return scores.values(self._ranks)

    def _scores(self, data: NDArray) -> Any:
        return self.net(data).astype("float32", copy=False)

    def _split(self, batch: Batch) -> tuple[list[NDArray], list[NDArray], list[NDArray]]:
        """Return each device's slice of data, labels and targets, without padding.

        Devices without samples are omitted.
        """
        data, label, target = batch.data, batch.label, batch.target
        if batch.padding:
            real = data.shape[0] - batch.padding
            data, label = data[:real], label[:real]
        contexts = self._contexts[: data.shape[0]]
        parts = split_and_load(data, contexts, even_split=False)
        labels = split_and_load(label, contexts, even_split=False)
        targets = labels
        if target is not None:
            targets = split_and_load(target, contexts, even_split=False)
        return [part.astype(self._dtype, copy=False) for part in parts], labels, targets
