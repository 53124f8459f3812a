"""WandbHandler: logs a run with Weights & Biases."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.core.files import AnyPath, path_text
from gluonish.core.loading import IMPORT_FAILURES, import_text
from gluonish.gluon.contrib.estimator.value_logger import ValueLogger, check_settings


class WandbHandler(ValueLogger):
    """Logs metrics, the learning rate and settings of `Estimator.fit` as a run of Weights & Biases.

    A run that was killed and resumed from a checkpoint goes on under the same id. Needs wandb
    (extra ``wandb``).

    Args:
        project: Name of the project; None for wandb's own setting.
        name: Name of the run; None for a random one.
        dir: Folder for the run's files, which must exist; None for wandb's own setting.
        mode: ``"online"``, ``"offline"`` (files only, for ``wandb sync``) or ``"disabled"``; None
            for wandb's own setting, such as the variable ``WANDB_MODE``.
        config: More settings of the run, numbers and texts by name.
        log_interval: Number of batches between values within an epoch; None for epochs only.
        priority: Handlers of lower priority are called first.

    Raises:
        ArgumentError: ``log_interval`` is below 1.
        ArgumentTypeError: ``config`` is not a dict, or ``dir`` not a path.
    """

    def __init__(
        self,
        project: str | None = None,
        name: str | None = None,
        dir: AnyPath | None = None,  # noqa: A002  # wandb's name
        mode: str | None = None,
        config: Mapping[str, Any] | None = None,
        log_interval: int | None = 50,
        priority: float = 900,
    ) -> None:
        super().__init__(log_interval, priority)
        self.project = project
        self.name = name
        self.dir = None if dir is None else path_text(dir, "WandbHandler: dir")
        self.mode = mode
        self.config = check_settings("WandbHandler", config)
        self._run: Any = None

    def open(self, settings: dict[str, Any]) -> None:
        """Start a run, or continue the one of the checkpoint.

        Raises:
            NotSupportedError: wandb is not installed.
        """
        try:
            import wandb as package
        except IMPORT_FAILURES as error:
            raise NotSupportedError(
                f"WandbHandler: expected the package wandb, got {import_text(error)}; install it "
                "with `pip install wandb` (or gluonish[wandb])"
            ) from error
        wandb: Any = package  # whose types differ between its versions
        self._run = wandb.init(
            project=self.project,
            name=self.name,
            dir=self.dir,
            mode=self.mode,
            config={**settings, **self.config},
            id=self.run_id,
            resume=None if self.run_id is None else "allow",
        )
        self.run_id = self._run.id

    def write(self, values: dict[str, float], step: int) -> None:
        """Log values."""
        self._run.log(values, step=step)

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()
