"""Settings that Optuna chooses by the results so far."""

from collections.abc import Iterator
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import IMPORT_FAILURES, import_text, load
from gluonish.tools.sweep.space import Setting, Space


class Guided:
    """A study of Optuna's tree-structured Parzen estimator.

    It has no file: a sweep that goes on tells it the results that there are, in their order, and
    gets the same settings again.

    Args:
        space: The settings to choose from.
        seed: Seed of the estimator.
        mode: Whether the metric should rise, ``"max"``, or fall, ``"min"``.

    Raises:
        NotSupportedError: Optuna is not installed.

    References:
        T. Akiba et al., "Optuna: A Next-generation Hyperparameter Optimization Framework", 2019.
    """

    def __init__(self, space: Space, seed: int, mode: str) -> None:
        try:
            self._optuna: Any = load("optuna")
        except IMPORT_FAILURES as error:
            raise NotSupportedError(
                f"--sampler optuna: expected the package optuna, got {import_text(error)}; install "
                "it with `pip install optuna` (or gluonish[sweep])"
            ) from error
        optuna = self._optuna
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        direction = "maximize" if mode == "max" else "minimize"
        self._study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=seed), direction=direction
        )
        self._distributions = {name: self._distribution(x) for name, x in space.items()}
        self._trial: Any = None

    def _distribution(self, values: Any) -> Any:
        kinds = self._optuna.distributions
        if isinstance(values, list):
            return kinds.CategoricalDistribution(values)
        if values.whole:
            return kinds.IntDistribution(int(values.low), int(values.high), log=values.log)
        return kinds.FloatDistribution(values.low, values.high, log=values.log)

    def settings(self) -> Iterator[Setting]:
        """Yield settings without end; `tell` the result of each before the next."""
        while True:
            self._trial = self._study.ask(self._distributions)
            yield dict(self._trial.params)

    def tell(self, value: float | None) -> None:
        """Take account of the result of the last setting; None for a trial that failed."""
        if value is None:
            self._study.tell(self._trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(self._trial, value)
