"""The events of a training run, for which an Estimator calls its handlers."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from gluonish.core.context import Context
from gluonish.core.object_repr import default_repr
from gluonish.gluon.block import Block
from gluonish.gluon.loss import Loss
from gluonish.gluon.trainer import Trainer
from gluonish.metric import EvalMetric


class Run(Protocol):
    """The attributes of an Estimator that handlers may use.

    Attributes:
        net: The network that is trained.
        loss: The loss that is minimized.
        val_net: The network that is evaluated.
        val_loss: The loss of evaluation.
        trainer: Trainer of ``net``.
        context: List of the devices that batches are split over.
        logger: Logger for the user.
        max_epoch: Number of epochs passed to `Estimator.fit`, or None.
        max_batch: Number of batches passed to `Estimator.fit`, or None.
        batch_axis: Axis of the samples in each batch.
        train_metrics: Metrics of the training.
        val_metrics: Metrics of evaluations.
        average_metrics: Metrics of evaluations with an average of the weights.
    """

    net: Block
    loss: Loss
    val_net: Block
    val_loss: Loss
    trainer: Trainer
    context: list[Context]
    logger: logging.Logger
    max_epoch: int | None
    max_batch: int | None
    batch_axis: int
    average_metrics: list[EvalMetric]

    @property
    def train_metrics(self) -> list[EvalMetric]:
        """Metrics of the training."""
        raise NotImplementedError

    @property
    def val_metrics(self) -> list[EvalMetric]:
        """Metrics of evaluations."""
        raise NotImplementedError


class EventHandler:
    """Base class of handlers; a lower ``priority`` (by default 0) is called first.

    Handlers of equal priority are called in list order, before the default handlers.

    Attributes:
        counters: Names of the attributes that change during training, for `state_dict`.
    """

    __repr__ = default_repr

    counters: ClassVar[tuple[str, ...]] = ()

    def state_dict(self) -> dict[str, Any]:
        """Return the values of ``counters``, which a checkpoint of `Estimator.fit` keeps.

        Values are numbers, texts, None, NumPy arrays, and lists, tuples and dicts of these.
        """
        return {name: getattr(self, name) for name in self.counters if hasattr(self, name)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a result of `state_dict`; called after ``train_begin``.

        Args:
            state: The state.
        """
        vars(self).update(state)


class TrainBegin(EventHandler):
    """A handler called once, before the first epoch."""

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Called once, before the first epoch.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """


class TrainEnd(EventHandler):
    """A handler called once, after the last epoch."""

    def train_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Called once, after the last epoch.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """


class EpochBegin(EventHandler):
    """A handler called before each epoch, and before an evaluation."""

    def epoch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Called before each epoch.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: Not used.
        """


class EpochEnd(EventHandler):
    """A handler called after each epoch, and after an evaluation."""

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool | None:
        """Called after each epoch.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: Not used.

        Returns:
            True to end the training.
        """


class BatchBegin(EventHandler):
    """A handler called before each batch."""

    def batch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Called before each batch.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: ``batch`` from the DataLoader.
        """


class BatchEnd(EventHandler):
    """A handler called after each batch."""

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool | None:
        """Called after each batch.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: ``batch`` from the DataLoader; ``pred``, ``label`` and ``loss`` from the
                BatchProcessor: lists with one array per device.

        Returns:
            True to end the epoch; ignored during evaluation.
        """
