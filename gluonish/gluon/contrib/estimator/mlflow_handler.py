"""MLflowHandler: logs a run with MLflow."""

import time
from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import IMPORT_FAILURES, import_text
from gluonish.gluon.contrib.estimator.value_logger import ValueLogger, check_settings


class MLflowHandler(ValueLogger):
    """Logs metrics, the learning rate and settings of `Estimator.fit` as a run of MLflow.

    A run that was killed and resumed from a checkpoint goes on in the same run of MLflow. Needs
    mlflow-skinny or mlflow (extra ``mlflow``).

    Args:
        tracking_uri: Address of a server, or a store such as ``"sqlite:///runs.db"`` or a folder;
            None for MLflow's own setting, such as the variable ``MLFLOW_TRACKING_URI``.
        experiment: Name of the experiment, which is created if it is missing.
        run_name: Name of the run; None for a random one.
        params: More settings of the run, numbers and texts by name.
        log_interval: Number of batches between values within an epoch; None for epochs only.
        priority: Handlers of lower priority are called first.

    Raises:
        ArgumentError: ``log_interval`` is below 1.
        ArgumentTypeError: ``params`` is not a dict.
    """

    def __init__(
        self,
        tracking_uri: str | None = None,
        experiment: str = "Default",
        run_name: str | None = None,
        params: Mapping[str, Any] | None = None,
        log_interval: int | None = 50,
        priority: float = 900,
    ) -> None:
        super().__init__(log_interval, priority)
        self.tracking_uri = tracking_uri
        self.experiment = experiment
        self.run_name = run_name
        self.params = check_settings("MLflowHandler", params)
        self._client: Any = None

    def open(self, settings: dict[str, Any]) -> None:
        """Start a run, or continue the one of the checkpoint.

        Raises:
            NotSupportedError: MLflow is not installed.
        """
        try:
            from mlflow import MlflowClient
        except IMPORT_FAILURES as error:
            raise NotSupportedError(
                f"MLflowHandler: expected the package mlflow, got {import_text(error)}; install it "
                "with `pip install mlflow-skinny` (or gluonish[mlflow])"
            ) from error
        client: Any = MlflowClient(tracking_uri=self.tracking_uri)
        self._client = client
        if self.run_id is not None:
            client.update_run(self.run_id, status="RUNNING")
            return
        found = client.get_experiment_by_name(self.experiment)
        experiment = client.create_experiment(self.experiment) if found is None else None
        number = experiment if found is None else found.experiment_id
        self.run_id = client.create_run(number, run_name=self.run_name).info.run_id
        for name, value in {**settings, **self.params}.items():
            client.log_param(self.run_id, name, value)

    def write(self, values: dict[str, float], step: int) -> None:
        """Log values in one request."""
        from mlflow.entities import Metric

        now_ms = int(time.time() * 1000)
        metrics = [Metric(name, value, now_ms, step) for name, value in values.items()]
        self._client.log_batch(self.run_id, metrics=metrics)

    def close(self) -> None:
        """Mark the run as finished."""
        self._client.set_terminated(self.run_id)
