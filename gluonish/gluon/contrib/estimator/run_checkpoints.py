"""Checkpoints of `Estimator.fit`, from which a killed run goes on to the same bits.

A checkpoint after 120 batches consists of ``00000120.params`` (the network), ``00000120.states``
(the Trainer), ``00000120.npz`` (other arrays), with an average of weights
``00000120-average.params`` (`WeightAverage.save`), and the record ``00000120.json``, which is
written last: see `core.file_records`. ``best.params`` are the parameters with the best value so
far, and ``best.json`` is its record. With several processes, the first one writes what all give it.
"""

import io
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError
from gluonish.core.file_records import check_record, held, read_json, write_record
from gluonish.core.files import atomic_write, path_text
from gluonish.gluon.contrib.estimator.fit_options import FitScope
from gluonish.gluon.contrib.estimator.packed_values import Arrays
from gluonish.gluon.contrib.estimator.rank_batches import shared_store
from gluonish.gluon.contrib.estimator.run_state import RunState, State
from gluonish.gluon.contrib.estimator.utils import is_first_rank
from gluonish.kvstore.async_store import AsyncStore

_FORMAT = 1
_READER = "Estimator.fit"
_POSITION = ("epoch", "batches", "within", "stopped")  # what `TrainingLoop` records
_RECORD = re.compile(r"(\d{8,})\.json")


class RunCheckpoints:
    """Writes and reads the checkpoints of one run.

    Args:
        estimator: The Estimator.
        scope: The options, with a folder for checkpoints.
        state: State of this process, besides parameters and optimizer.

    Raises:
        ArgumentError: The store's servers update the weights at any time (``dist_async``).
    """

    def __init__(self, estimator: Any, scope: FitScope, state: RunState) -> None:
        assert scope.options.checkpoints is not None
        self._folder = Path(path_text(scope.options.checkpoints, _READER))
        self._estimator = estimator
        self._scope = scope
        self._state = state
        self._store = shared_store(estimator.trainer)
        self._is_first = is_first_rank(estimator.trainer)
        self.best: float | None = None
        if isinstance(estimator.trainer._kvstore, AsyncStore):
            raise ArgumentError(
                "Estimator.fit: expected checkpoints with another store than dist_async, whose "
                "weights change at any time; use dist_sync, or a CheckpointHandler"
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the folder, and lock it against other runs.

        Raises:
            ArgumentError: Another process writes to it, or it cannot be made or written to.
        """
        with ExitStack() as stack:
            if self._is_first:
                self._make_folder()
                refusal = (
                    "Estimator.fit: expected checkpoints in a folder that no other run writes to, "
                    f"got {str(self._folder)!r}; wait for that process, or choose another folder"
                )
                stack.enter_context(held(self._folder, "fit", refusal))
            self._gather(None)
            yield

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            writable = os.access(self._folder, os.W_OK | os.X_OK)
            reason = "" if writable else "which may not be written to"
        except OSError as error:
            reason = f"which cannot be made: {error.strerror}"
        if reason:
            raise ArgumentError(
                "Estimator.fit: expected checkpoints to be a folder to write to, got "
                f"{str(self._folder)!r}, {reason}"
            )

    def _gather(self, value: Any) -> list[Any]:
        return [value] if self._store is None else self._store.gather(value)

    @property
    def _optimizer(self) -> str:
        return type(self._estimator.trainer.optimizer).__name__

    def _path(self, batches: int, ending: str) -> Path:
        return self._folder / f"{batches:08d}{ending}"

    def _files(self, batches: int) -> list[Path]:
        endings = [".params", ".states", ".npz"]
        if self._estimator.average is not None:
            endings.append("-average.params")
        return [self._path(batches, ending) for ending in endings]

    def restore(self) -> Mapping[str, Any] | None:
        """Load the newest complete checkpoint; return its position, or None if there is none.

        Raises:
            ArgumentError: There is one, and ``resume`` is False; the processes find different ones;
                or another number of processes or another optimizer wrote it.
            FileFormatError: The checkpoint is one of another program.
        """
        newest = self._newest()
        if len(set(self._gather(newest))) > 1:
            raise ArgumentError(
                f"Estimator.fit: expected checkpoints in a folder that all processes see, got "
                f"{str(self._folder)!r}, where they find different ones"
            )
        if newest is None:
            return None
        if not self._scope.options.resume:
            raise ArgumentError(
                f"Estimator.fit: expected checkpoints in a folder without earlier ones, got "
                f"{str(self._folder)!r}, which has one after {newest} batches; pass resume=True to "
                "go on from there, or choose another folder"
            )
        record = self._read(newest)
        states = record["ranks"]
        ranks = len(self._gather(None))
        if len(states) != ranks:
            raise ArgumentError(
                f"Estimator.fit: expected as many processes as the checkpoint in "
                f"{str(self._folder)!r}, {len(states)}, got {ranks}"
            )
        before, now = record.get("optimizer"), self._optimizer
        if before not in (None, now):
            raise ArgumentError(
                f"Estimator.fit: expected the optimizer of the checkpoint in "
                f"{str(self._folder)!r}, {before}, got a Trainer with {now}; choose another folder"
            )
        self._load(newest, states)
        self.best = record["best"]
        position: Mapping[str, Any] = record["position"]
        self._estimator.logger.info(
            f"Resumed from {self._path(newest, '.json')}: epoch {position['epoch']}, "
            f"{position['batches']} batches"
        )
        return position

    def _read(self, batches: int) -> dict[str, Any]:
        """Read a record and check its files."""
        path = self._path(batches, ".json")
        record = read_json(path, _READER)
        position, best = record.get("position"), record.get("best")
        known = (
            record.get("format") == _FORMAT
            and record.get("batches") == batches
            and isinstance(record.get("ranks"), list)
            and isinstance(best, int | float | None)
            and isinstance(position, dict)
            and all(isinstance(position.get(name), int) for name in _POSITION)
        )
        if not known:
            raise FileFormatError(
                f"Estimator.fit: expected the record of a checkpoint in {str(path)!r}, got another"
            )
        check_record(path, self._files(batches), record, _READER)
        return record

    def _newest(self) -> int | None:
        for batches in sorted(self._recorded(), reverse=True):
            with suppress(FileFormatError, MissingFileError):
                self._read(batches)
                return batches
        return None

    def _recorded(self) -> list[int]:
        matches = (_RECORD.fullmatch(path.name) for path in self._folder.iterdir())
        return [int(match[1]) for match in matches if match]

    def _load(self, batches: int, states: list[State]) -> None:
        estimator = self._estimator
        estimator.net.load_parameters(self._path(batches, ".params"), ctx=estimator.context)
        estimator.trainer.load_states(self._path(batches, ".states"))
        if estimator.average is not None:
            estimator.average.load(str(self._path(batches, "-average.params")))
        rank = 0 if self._store is None else self._store.rank
        with np.load(self._path(batches, ".npz"), allow_pickle=False) as file:
            prefix = f"{rank}/"
            arrays = {
                name.removeprefix(prefix): file[name]
                for name in file.files
                if name.startswith(prefix)
            }
        self._state.restore(states[rank], arrays)
        self._scope.attach()

    def save(self, position: Mapping[str, Any]) -> None:
        """Write a checkpoint; all processes call this together.

        Args:
            position: ``epoch``, ``batches`` in all, and other entries for `restore`'s caller.
        """
        estimator = self._estimator
        estimator.trainer._prepare()  # exchanges of the processes, if they are due
        of_ranks = self._gather(self._state.collect())
        if not self._is_first:
            estimator.trainer._gathered_updaters()  # contributes this process's share
            return
        batches = position["batches"]
        self._path(batches, ".json").unlink(missing_ok=True)
        estimator.net.save_parameters(self._path(batches, ".params"))
        with self._scope.detached():  # a schedule may be a function, which cannot be pickled
            estimator.trainer.save_states(self._path(batches, ".states"))
        if estimator.average is not None:
            estimator.average.save(str(self._path(batches, "-average.params")))
        arrays = [found for _, found in of_ranks]
        _write_arrays(self._path(batches, ".npz"), arrays)
        record = {
            "format": _FORMAT,
            "batches": batches,
            "best": self.best,
            "optimizer": self._optimizer,
            "position": position,
            "ranks": [state for state, _ in of_ranks],
        }
        write_record(self._path(batches, ".json"), self._files(batches), record, _READER)
        self._remove_others(batches)

    def _remove_others(self, newest: int) -> None:
        """Remove later checkpoints, which an earlier run left, and the oldest ones."""
        recorded = sorted(self._recorded())
        kept = [batches for batches in recorded if batches <= newest]
        for batches in recorded:
            if batches not in kept[-self._scope.options.max_checkpoints :]:
                self._path(batches, ".json").unlink(missing_ok=True)
        complete = {f"{batches:08d}" for batches in self._recorded()}
        for path in self._folder.iterdir():
            name = re.fullmatch(r"(\d{8,})(-average)?\.\w+", path.name)
            if name and name[1] not in complete:
                path.unlink(missing_ok=True)

    def save_best(self, epoch: int) -> None:
        """Write the parameters if the monitored metric is better than in the epochs before.

        Args:
            epoch: Number of the epoch that has ended, from 0.

        Warns:
            RuntimeWarning: The metric has no value.
        """
        scope, estimator = self._scope, self._estimator
        assert scope.monitor is not None
        name, value = scope.monitor.get()
        if math.isnan(value):
            warnings.warn(
                f"Estimator.fit: expected a value of {name}, got NaN, so that no best checkpoint "
                "is written",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        best = self.best
        if best is not None and not (value < best if scope.mode == "min" else value > best):
            return
        self.best = float(value)
        if not self._is_first:
            return
        averaged = any(scope.monitor is metric for metric in estimator.average_metrics)
        params, record = self._folder / "best.params", self._folder / "best.json"
        record.unlink(missing_ok=True)
        with estimator.average.applied() if averaged else nullcontext():
            estimator.net.save_parameters(params)
        content = {"format": _FORMAT, "monitor": name, "value": self.best, "epoch": epoch}
        write_record(record, [params], content, _READER)


def _write_arrays(path: Path, of_ranks: list[Arrays]) -> None:
    """Write the arrays of all processes into one file."""
    named = {
        f"{rank}/{name}": x for rank, found in enumerate(of_ranks) for name, x in found.items()
    }
    buffer = io.BytesIO()
    np.savez(buffer, **named)  # type: ignore[arg-type]  # mypy takes a name for allow_pickle
    with atomic_write(path) as file:
        file.write(buffer.getbuffer())
