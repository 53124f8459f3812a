"""Checkpoints of a training run; the newest complete one remains, whenever the run is interrupted.

A checkpoint of epoch 7 consists of ``prefix-0007.params``, ``prefix-0007.states`` (the optimizer)
and the record ``prefix-0007.json``, with sizes and digests of the other files, the options of
the run, and the history. With an average of the weights (``--ema``) there is
``prefix-0007.average``, too. Each file is written atomically. An earlier record of the epoch is
removed first, and the new one is written last, so that a checkpoint without a record, or with files
that differ from the record, is not complete. ``prefix-symbol.json`` is the network, the same for
all epochs. Random numbers need no state: their seed is derived from the seed of the run and the
epoch.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError
from gluonish.core.file_records import check_record, held, read_json, write_json, write_record
from gluonish.ndarray.array_writer import split_prefix

__all__ = ["Checkpoints", "Record", "write_json"]

_FORMAT = 1


@dataclass
class Record:
    """The record of a checkpoint: what is stored in addition to parameters and states.

    Attributes:
        epoch: Number of trained epochs.
        options: The options of the training run.
        history: The results of each epoch (except epochs before a start from parameters alone):
            ``epoch``, ``lr``, ``seconds``, ``samples_per_second``, and ``training`` and
            ``validation``, which are dicts of metrics by name.
        loss_scale: The loss scale of mixed precision in float16, and its counts; else None.
    """

    epoch: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    loss_scale: list[float] | None = None


class Checkpoints:
    """The checkpoints of one prefix.

    Args:
        prefix: Prefix of the files' paths; a missing folder is created. The suffix ``.safetensors``
            or ``.npz`` selects the format of the parameters.
        has_average: Whether a checkpoint has an average of the weights.
    """

    def __init__(self, prefix: str, has_average: bool = False) -> None:
        self._has_average = has_average
        stem, self._ending = split_prefix(prefix)
        self.prefix = Path(stem)
        if not self.prefix.name:
            raise ArgumentError(f"--model-prefix: expected the beginning of a name, got {prefix!r}")
        self.prefix.parent.mkdir(parents=True, exist_ok=True)

    def path(self, ending: str) -> Path:
        """Return the path of a file with this prefix and ``ending``."""
        return self.prefix.with_name(f"{self.prefix.name}{ending}")

    @property
    def export_prefix(self) -> str:
        """The prefix with the suffix of the parameters' format, for `write_model`."""
        return f"{self.prefix}{self._ending if self._ending != '.params' else ''}"

    def params_path(self, epoch: int) -> Path:
        """Return the path of the parameters of an epoch."""
        return self.path(f"-{epoch:04d}{self._ending}")

    def states_path(self, epoch: int) -> Path:
        """Return the path of the optimizer's states of an epoch."""
        return self.path(f"-{epoch:04d}.states")

    def average_path(self, epoch: int) -> Path:
        """Return the path of the average of the weights of an epoch."""
        return self.path(f"-{epoch:04d}.average")

    @property
    def best_path(self) -> Path:
        """The path of the parameters of the best epoch."""
        return self.path(f"-best{self._ending}")

    def _files(self, epoch: int) -> list[Path]:
        paths = [self.params_path(epoch), self.states_path(epoch)]
        return [*paths, self.average_path(epoch)] if self._has_average else paths

    def _record_path(self, epoch: int) -> Path:
        return self.path(f"-{epoch:04d}.json")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the prefix against other runs, and remove incomplete files of killed runs.

        Raises:
            ArgumentError: Another process uses this prefix.
        """
        refusal = (
            f"--model-prefix: expected a prefix that no other training writes to, got "
            f"{str(self.prefix)!r}; wait for that process, or choose another prefix"
        )
        with held(self.prefix.parent, self.prefix.name, refusal):
            yield

    def save(self, record: Record, write: Callable[[int], object]) -> None:
        """Write a checkpoint.

        Args:
            record: The record; the files' names contain its epoch.
            write: Writes symbol, parameters and states; called with the epoch.
        """
        # Remove this and later epochs, so that `newest` finds the new checkpoint.
        for epoch in sorted(self._recorded(), reverse=True):
            if epoch >= record.epoch:
                self._record_path(epoch).unlink()
        write(record.epoch)
        path, content = self._record_path(record.epoch), {"format": _FORMAT, **asdict(record)}
        write_record(path, self._files(record.epoch), content, "train")

    def newest(self) -> int | None:
        """Return the epoch of the newest complete checkpoint, or None."""
        for epoch in sorted(self._recorded(), reverse=True):
            with suppress(FileFormatError, MissingFileError):
                self.read(epoch)
                return epoch
        return None

    def read(self, epoch: int) -> Record:
        """Read the record of a checkpoint, and check the other files of the checkpoint.

        Raises:
            MissingFileError: A file is missing.
            FileFormatError: A file differs from the record.
        """
        path = self._record_path(epoch)
        stored = read_json(path, "train")
        scale = stored.get("loss_scale")
        record = Record(epoch, stored.get("options", {}), stored.get("history", []), scale)
        known = (
            stored.get("format") == _FORMAT
            and stored.get("epoch") == epoch
            and isinstance(record.options, dict)
            and isinstance(record.history, list)
            and len(record.history) <= epoch
            and all(isinstance(entry, dict) for entry in record.history)
            and isinstance(stored.get("files"), dict)
            and (scale is None or (isinstance(scale, list) and len(scale) == 3))
        )
        if not known:
            raise FileFormatError(
                f"train: expected the record of a checkpoint of epoch {epoch} in {str(path)!r}, "
                "got something else"
            )
        check_record(path, self._files(epoch), stored, "train")
        return record

    def has_record(self, epoch: int) -> bool:
        """Whether an epoch has a record, and not only parameters."""
        return self._record_path(epoch).exists()

    def _recorded(self) -> list[int]:
        pattern = re.compile(rf"{re.escape(self.prefix.name)}-(\d{{4,}})\.json")
        matches = (pattern.fullmatch(path.name) for path in self.prefix.parent.iterdir())
        return [int(match[1]) for match in matches if match]
