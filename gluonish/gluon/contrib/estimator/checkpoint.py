"""CheckpointHandler: saves checkpoints, and resumes an interrupted training run."""

import math
import os
import re
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError, GraphError, MissingFileError
from gluonish.core.files import AnyPath, path_text, written_together
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib.estimator.events import BatchEnd, EpochEnd, Run, TrainBegin
from gluonish.gluon.contrib.estimator.step_handlers import (
    Comparison,
    check_monitor,
    comparison,
    worst,
)
from gluonish.gluon.contrib.estimator.utils import check_period, is_first_rank
from gluonish.metric import EvalMetric
from gluonish.ndarray.array_writer import split_prefix


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves the parameters and the trainer's states at the ends of epochs or batches.

    The files are ``<prefix>-epoch<E>batch<B>.params`` and ``.states``, and for a hybridized network
    ``<prefix>-symbol.json``, which is written once. E counts from 0. At the end of an epoch B is
    the number of batches trained so far, otherwise the index of the batch, from 0. Each file is
    written atomically, the parameters last, so that a crash leaves no incomplete checkpoint.

    When several processes train together, through a ``dist_sync`` store, the first one saves, and
    all of them load; training can continue with another number of processes.

    Args:
        model_dir: Folder of the files, which all processes can access; created if missing.
        model_prefix: Prefix of the files' names. If it ends with ``.safetensors`` or ``.npz``, the
            parameters are saved in that format, in files with that ending.
        monitor: One of the Estimator's metrics, for ``save_best``.
        verbose: Above 0, each save is logged.
        save_best: Whether to save ``<prefix>-best``, too, whenever ``monitor`` improves; the best
            value is not restored when training resumes.
        mode: ``"max"`` if higher is better, ``"min"`` if lower is. ``"auto"`` means ``"max"`` for
            every metric, with a warning: pass ``"min"`` for a loss.
        epoch_period: Number of epochs between checkpoints; None to save none after epochs.
        batch_period: Number of batches between checkpoints; None to save none after batches.
        max_checkpoints: Number of checkpoints to keep; the oldest are deleted, the best is kept.
        resume_from_checkpoint: Whether to load the newest checkpoint in the folder, and to train
            only the remaining epochs or batches of `Estimator.fit`.

    Raises:
        ArgumentError: ``save_best`` is set without a metric to monitor, a number is negative, or
            a path has a NUL.
        ArgumentTypeError: ``model_dir`` is not a path.
    """

    counters = (
        "current_batch",
        "current_epoch",
        "trained_epoch",
        "trained_batch",
        "saved_checkpoints",
        "best",
    )

    best: float

    def __init__(
        self,
        model_dir: AnyPath,
        model_prefix: str = "model",
        monitor: EvalMetric | None = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        self.model_dir = path_text(model_dir, "CheckpointHandler: model_dir")
        if max_checkpoints < 0:
            raise ArgumentError(
                f"CheckpointHandler: expected max_checkpoints of at least 0, got {max_checkpoints}"
            )
        self.monitor = monitor
        self.verbose = verbose
        self.model_prefix, self._ending = split_prefix(model_prefix)
        self.save_best = save_best
        self.epoch_period = check_period("CheckpointHandler", "epoch_period", epoch_period)
        self.batch_period = check_period("CheckpointHandler", "batch_period", batch_period)
        self.current_batch = 0
        self.current_epoch = 0
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints: list[str] = []
        self.trained_epoch = -1
        self.trained_batch = -1
        if save_best:
            metric = check_monitor("CheckpointHandler", monitor)
            self.monitor_op: Comparison = comparison("CheckpointHandler", metric, mode)
        os.makedirs(model_dir, exist_ok=True)

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Load the newest checkpoint, if ``resume_from_checkpoint`` is set.

        Raises:
            ArgumentError: The training is complete; or ``batch_period`` is set and `Estimator.fit`
                counts epochs, or ``epoch_period`` is set and it counts batches.
            MissingFileError: The checkpoint has no file of the trainer's states.
        """
        self.current_batch = 0
        self.current_epoch = 0
        self.trained_epoch = self.trained_batch = -1
        if self.save_best:
            self.best = worst(self.monitor_op)
        if self.resume_from_checkpoint:
            self._resume(estimator)

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Save a checkpoint if ``batch_period`` batches have passed."""
        if self.current_batch == 0:
            self._save_symbol(estimator)
        number = self.trained_batch + 1 + self.current_batch
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._checkpoint(estimator, number)

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Save a checkpoint if ``epoch_period`` epochs have passed."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            earlier = self.trained_batch if self.resume_from_checkpoint else 0
            self._checkpoint(estimator, earlier + self.current_batch)
        self.current_epoch += 1

    def _path(self, name: str, ending: str) -> Path:
        return Path(self.model_dir, f"{name}{ending}")

    def _checkpoint(self, estimator: Run, batch: int) -> None:
        name = f"{self.model_prefix}-epoch{self.trained_epoch + 1 + self.current_epoch}batch{batch}"
        self._log_if_verbose(
            estimator,
            f"trained total {self.current_batch} batches, saving model at {self.model_dir} with "
            f"prefix: {name}",
        )
        self._save(estimator, name)
        if name in self.saved_checkpoints:  # overwritten by a later training run: now the newest
            self.saved_checkpoints.remove(name)
        self.saved_checkpoints.append(name)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = self.saved_checkpoints.pop(0)
            if is_first_rank(estimator.trainer):
                self._remove(oldest)
        if self.save_best:
            self._save_best(estimator)

    def _save(self, estimator: Run, name: str) -> None:
        """Write parameters and states together, as `_resume` needs both files."""
        if not is_first_rank(estimator.trainer):
            estimator.trainer._gathered_updaters()  # contributes this process's share
            return
        params, states = self._path(name, self._ending), self._path(name, ".states")
        with written_together(params, states):
            estimator.net.save_parameters(params)
            estimator.trainer.save_states(states)

    def _remove(self, name: str) -> None:
        for ending in (self._ending, ".states"):
            with suppress(FileNotFoundError):
                self._path(name, ending).unlink()

    def _save_best(self, estimator: Run) -> None:
        monitor = check_monitor("CheckpointHandler", self.monitor)
        name, value = monitor.get()
        if math.isnan(value):
            warnings.warn(
                f"CheckpointHandler: expected a value of {name}, got NaN, so that no best model is "
                "saved; monitor one of estimator.train_metrics or estimator.val_metrics",
                RuntimeWarning,
                stacklevel=3,
            )
        elif self.monitor_op(value, self.best):
            prefix = f"{self.model_prefix}-best"
            self._log_if_verbose(
                estimator,
                f"{name} improved from {self.best:.5f} to {value:.5f}, updating best model at "
                f"{self.model_dir} with prefix: {prefix}",
            )
            self._save(estimator, prefix)
            self.best = value
        else:
            self._log_if_verbose(
                estimator,
                f"{name} did not improve from {self.best:.5f}, skipping updating best model",
            )

    def _log_if_verbose(self, estimator: Run, message: str) -> None:
        if self.verbose > 0:
            estimator.logger.info(f"[Epoch {self.current_epoch}] CheckpointHandler: {message}")

    def _save_symbol(self, estimator: Run) -> None:
        """Write the graph of a hybridized network, which exists after the first batch."""
        if not is_first_rank(estimator.trainer):
            return
        path = self._path(self.model_prefix, "-symbol.json")
        net = estimator.net
        graph = net._cached_op if isinstance(net, HybridBlock) else None
        if graph is None:
            estimator.logger.info(
                "Model architecture(symbol file) is not saved, please use HybridBlock to construct "
                "your model, and call net.hybridize() before passing to Estimator in order to save "
                f"model architecture as {path}."
            )
            return
        try:
            symbol = graph.symbol()
        except GraphError as error:  # a shape depends on values; training is not affected
            estimator.logger.info(f"Model architecture(symbol file) is not saved: {error}")
            return
        symbol.save(path)

    def _resume(self, estimator: Run) -> None:
        kind, total = ("epoch", estimator.max_epoch)
        if total is None:
            kind, total = "batch", estimator.max_batch
        if (self.batch_period if kind == "epoch" else self.epoch_period) or total is None:
            other = "batch" if kind == "epoch" else "epoch"
            raise ArgumentError(
                f"CheckpointHandler: expected {other}_period=None to resume training by {kind}, "
                f"got {self.batch_period if kind == 'epoch' else self.epoch_period}"
            )
        found = self._newest()
        plural = "epochs" if kind == "epoch" else "batches"
        if found is None:
            self._log(estimator, f"No checkpoint found, training from scratch for {total} {plural}")
            return
        self.trained_epoch, self.trained_batch = found
        trained = self.trained_epoch if kind == "epoch" else self.trained_batch
        remaining = total - trained - 1
        if remaining <= 0:
            raise ArgumentError(
                f"CheckpointHandler: expected more than the {trained + 1} {plural} of the "
                f"checkpoint in {self.model_dir}, got {total}; train for more, or set "
                "resume_from_checkpoint=False to start from scratch"
            )
        self._load(estimator)
        if kind == "epoch":
            estimator.max_epoch = remaining
        else:
            estimator.max_batch = remaining
        self._log(
            estimator,
            f"Checkpoint resumed from epoch {self.trained_epoch} batch {self.trained_batch}, "
            f"continue to train for {remaining} {plural} ",
        )

    def _log(self, estimator: Run, message: str) -> None:
        estimator.logger.info(f"CheckpointHandler: {message}")

    def _newest(self) -> tuple[int, int] | None:
        """Return epoch and batch of the last checkpoint in the folder."""
        pattern = re.compile(
            rf"{re.escape(self.model_prefix)}-epoch(\d+)batch(\d+){re.escape(self._ending)}"
        )
        matches = map(pattern.fullmatch, os.listdir(self.model_dir))
        return max(((int(m[1]), int(m[2])) for m in matches if m), default=None)

    def _load(self, estimator: Run) -> None:
        name = f"{self.model_prefix}-epoch{self.trained_epoch}batch{self.trained_batch}"
        states = self._path(name, ".states")
        if not states.exists():
            raise MissingFileError(
                f"CheckpointHandler: expected the trainer's states next to the parameters, got no "
                f"file {os.fspath(states)!r}; remove {name}{self._ending} to resume from an older "
                "checkpoint"
            )
        estimator.net.load_parameters(self._path(name, self._ending), ctx=estimator.context)
        estimator.trainer.load_states(states)
