"""TensorBoardHandler: logs a run for TensorBoard."""

from typing import Any

from gluonish.core.files import AnyPath, path_text
from gluonish.core.summary_writer import summary_writer
from gluonish.gluon.contrib.estimator.value_logger import ValueLogger


class TensorBoardHandler(ValueLogger):
    """Logs metrics and the learning rate of `Estimator.fit` for TensorBoard.

    After a run was killed and resumed, TensorBoard no longer shows what the killed run logged after
    its last checkpoint. Needs tensorboardX (extra ``tensorboard``).

    Args:
        logdir: Folder of the event files; created if missing.
        log_interval: Number of batches between values within an epoch; None for epochs only.
        priority: Handlers of lower priority are called first.

    Raises:
        ArgumentError: ``log_interval`` is below 1.
        ArgumentTypeError: ``logdir`` is not a path.

    Example::

        estimator.fit(train_loader, val_loader, epochs=5, event_handlers=TensorBoardHandler("logs"))
    """

    def __init__(
        self, logdir: AnyPath, log_interval: int | None = 50, priority: float = 900
    ) -> None:
        super().__init__(log_interval, priority)
        self.logdir = path_text(logdir, "TensorBoardHandler: logdir")
        self._writer: Any = None

    def open(self, settings: dict[str, Any]) -> None:
        """Open an event file, and log the settings as a text."""
        self._writer = summary_writer(self.logdir, purge_step=self.step)
        lines = [f"- {name}: {value}" for name, value in settings.items()]
        self._writer.add_text("settings", "\n".join(lines), self.step)

    def write(self, values: dict[str, float], step: int) -> None:
        """Write values to the event file."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, global_step=step)
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()
