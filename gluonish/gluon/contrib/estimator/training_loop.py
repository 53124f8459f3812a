"""The loop of `Estimator.fit` over epochs and batches, with checkpoints."""

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import default_repr
from gluonish.gluon.contrib.estimator.events import (
    EpochBegin,
    EpochEnd,
    EventHandler,
    TrainBegin,
    TrainEnd,
)
from gluonish.gluon.contrib.estimator.fit_options import FitScope
from gluonish.gluon.contrib.estimator.logging_handler import with_progress
from gluonish.gluon.contrib.estimator.rank_batches import RankBatches
from gluonish.gluon.contrib.estimator.run_checkpoints import RunCheckpoints
from gluonish.gluon.contrib.estimator.run_state import RunState
from gluonish.gluon.contrib.estimator.step_handlers import StoppingHandler
from gluonish.gluon.contrib.estimator.utils import gather_metrics, is_first_rank
from gluonish.gluon.data import DataLoader
from gluonish.metric import Loss as LossMetric


class TrainingLoop:
    """One call of `Estimator.fit`.

    Args:
        estimator: The Estimator.
        scope: The options, which are in effect.
        handlers: The handlers in calling order.
        train_data: The training batches.
        val_data: The batches of evaluation, or None.

    Attributes:
        epoch: Number of complete epochs.
        batches: Number of batches in all.
    """

    __repr__ = default_repr

    def __init__(
        self,
        estimator: Any,
        scope: FitScope,
        handlers: Sequence[EventHandler],
        train_data: DataLoader,
        val_data: DataLoader | None,
    ) -> None:
        self._estimator = estimator
        self._scope = scope
        self._handlers = handlers
        self._data = train_data
        self.epoch = self.batches = 0
        self._is_resumed_within = False  # the next epoch has begun before
        self._checkpoints: RunCheckpoints | None = None
        if scope.options.checkpoints is not None:
            loaders = [train_data] if val_data is None else [train_data, val_data]
            state = RunState(estimator, handlers, loaders)
            self._checkpoints = RunCheckpoints(estimator, scope, state)

    def run(self) -> None:
        """Train until a handler ends it."""
        for handler in self._handlers:
            if isinstance(handler, TrainBegin):
                handler.train_begin(self._estimator)
        with nullcontext() if self._checkpoints is None else self._checkpoints.held():
            is_over = self._restore()
            try:
                while not is_over:
                    is_over = self._run_epoch()
            finally:
                self._estimator.trainer._mean_samples = None
        for handler in self._handlers:
            if isinstance(handler, TrainEnd):
                handler.train_end(self._estimator)

    def _restore(self) -> bool:
        """Continue from the newest checkpoint; return whether the training was complete."""
        position = None if self._checkpoints is None else self._checkpoints.restore()
        if position is None:
            return False
        self.epoch, self.batches = position["epoch"], position["batches"]
        self._is_resumed_within = position["within"]
        estimator = self._estimator
        is_over = (
            position["stopped"]
            or (estimator.max_epoch is not None and self.epoch >= estimator.max_epoch)
            or (estimator.max_batch is not None and self.batches >= estimator.max_batch)
        )
        if is_over:
            estimator.logger.info("The training was complete.")
        return bool(is_over)

    def _run_epoch(self) -> bool:
        """Train for one epoch or until a handler stops it; return whether it was the last."""
        estimator = self._estimator
        ran, self._is_resumed_within = self._is_resumed_within, False
        if not ran:
            for handler in self._handlers:
                if isinstance(handler, EpochBegin):
                    handler.epoch_begin(estimator)
        most = "" if estimator.max_epoch is None else f"/{estimator.max_epoch}"
        ranks = RankBatches(estimator.trainer, self._data)
        with with_progress(
            self._data,
            f"epoch {self.epoch}{most}",
            estimator.max_batch,
            estimator._progress(),
            estimator.train_metrics,
        ) as batches:
            for batch in ranks.shared(batches):
                ran = True
                is_last = estimator._run_batch(batch, self._handlers, self._scope.fit_batch)
                self.batches += 1
                if is_last:
                    break
                self._save_within()
        if not ran:
            raise ArgumentError("Estimator.fit: expected train_data with batches, got none")
        return self._end_epoch()

    def _check_loss(self) -> None:
        """Warn once if the training loss is not finite."""
        estimator = self._estimator
        if estimator._has_warned or not is_first_rank(estimator.trainer):
            return
        for metric in estimator.train_metrics:
            value = metric.get()[1] if type(metric) is LossMetric and metric.num_inst else 0.0
            if not math.isfinite(value):
                estimator._has_warned = True
                estimator.warn(
                    f"epoch {self.epoch}: expected a finite training loss, got {value}; lower the "
                    f"learning rate ({estimator.trainer.learning_rate:g}) or clip gradients; "
                    "MXNET_CHECK_VALUES=1 names the first operator with such a result, and its "
                    "layer"
                )

    def _end_epoch(self) -> bool:
        estimator = self._estimator
        self._finish_group()
        gather_metrics(estimator.trainer, estimator.train_metrics)
        self._check_loss()
        stops = [
            (handler, handler.epoch_end(estimator))
            for handler in self._handlers
            if isinstance(handler, EpochEnd)
        ]
        self.epoch += 1
        if self._checkpoints is not None:
            self._checkpoints.save_best(self.epoch - 1)
            # More epochs may follow a StoppingHandler in a later call.
            others = any(stop for x, stop in stops if not isinstance(x, StoppingHandler))
            self._checkpoints.save(self._position(within=False, stopped=others))
        return any(stop for _, stop in stops)

    def _finish_group(self) -> None:
        """Update the weights with the last gradients of an epoch, fewer than ``accumulate``."""
        scope = self._scope
        if scope.options.accumulate == 1:
            return
        if self._estimator.trainer._finish_group() and scope.average is not None:
            scope.average.weights_updated()

    def _save_within(self) -> None:
        interval = self._scope.options.checkpoint_interval
        if self._checkpoints is not None and interval and self.batches % interval == 0:
            self._checkpoints.save(self._position(within=True, stopped=False))

    def _position(self, within: bool, stopped: bool) -> Mapping[str, Any]:
        return {
            "epoch": self.epoch,
            "batches": self.batches,
            "within": within,
            "stopped": stopped,
        }
