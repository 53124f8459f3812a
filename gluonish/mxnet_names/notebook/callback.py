"""Callbacks that collect training metrics in pandas tables, for plots in notebooks."""

import datetime
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NoReturn

from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import IMPORT_FAILURES, import_text
from gluonish.core.object_repr import default_repr
from gluonish.module.feed_forward import BatchEndParam

__all__ = [
    "LiveBokehChart",
    "LiveLearningCurve",
    "LiveTimeSeries",
    "PandasLogger",
    "args_wrapper",
]

Callbacks = dict[str, Callable[..., None]]


class PandasLogger:
    """Collects metrics of training and evaluation in pandas tables.

    Args:
        batch_size: Number of samples in a batch, for ``records_per_sec``.
        frequent: Number of batches between rows.

    Raises:
        NotSupportedError: pandas is not installed.
    """

    __repr__ = default_repr

    def __init__(self, batch_size: int, frequent: int = 50) -> None:
        try:
            import pandas  # type: ignore[import-untyped,unused-ignore]  # no stubs
        except IMPORT_FAILURES as error:
            raise NotSupportedError(
                f"PandasLogger: expected pandas, which is not installed, got {import_text(error)}; "
                "pip install pandas, or use mx.callback.Speedometer"
            ) from error
        self.batch_size = batch_size
        self.frequent = frequent
        self._pandas = pandas
        self._dataframes = {name: pandas.DataFrame() for name in ("train", "eval", "epoch")}
        self.last_time = time.time()
        self.start_time = datetime.datetime.now()
        self.last_epoch_time = datetime.datetime.now()

    @property
    def train_df(self) -> Any:
        """DataFrame of the training metrics, one row for every ``frequent`` batches."""
        return self._dataframes["train"]

    @property
    def eval_df(self) -> Any:
        """DataFrame of the evaluation metrics, one row for each evaluation."""
        return self._dataframes["eval"]

    @property
    def epoch_df(self) -> Any:
        """DataFrame of the duration of each epoch."""
        return self._dataframes["epoch"]

    @property
    def all_dataframes(self) -> dict[str, Any]:
        """The three tables by name: ``train``, ``eval``, ``epoch``."""
        return self._dataframes

    def elapsed(self) -> datetime.timedelta:
        """Return the time since this object was created."""
        return datetime.datetime.now() - self.start_time

    def append_metrics(self, metrics: dict[str, Any], df_name: str) -> None:
        """Append a row to a table; new columns are added.

        Args:
            metrics: Values of the row by column.
            df_name: Name of the table.
        """
        table = self._dataframes[df_name]
        row = self._pandas.DataFrame([metrics])
        tables = [row] if table.empty else [table, row]
        self._dataframes[df_name] = self._pandas.concat(tables, ignore_index=True)

    def train_cb(self, param: BatchEndParam) -> None:
        """Record a training batch; used as ``batch_end_callback``.

        Args:
            param: A `BatchEndParam`.
        """
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, "train")

    def eval_cb(self, param: BatchEndParam) -> None:
        """Record an evaluation; used as ``eval_end_callback``.

        Args:
            param: A `BatchEndParam`.
        """
        self._process_batch(param, "eval")

    def epoch_cb(self, *args: Any) -> None:
        """Record the end of an epoch; used as ``epoch_end_callback``.

        Args:
            *args: Accepted and ignored.
        """
        now = datetime.datetime.now()
        self.append_metrics(
            {"elapsed": self.elapsed(), "epoch_time": now - self.last_epoch_time}, "epoch"
        )
        self.last_epoch_time = now

    def _process_batch(self, param: BatchEndParam, dataframe: str) -> None:
        now = time.time()
        metrics: dict[str, Any] = {}
        if param.eval_metric is not None:
            metrics.update(param.eval_metric.get_name_value())
            param.eval_metric.reset()
        seconds = now - self.last_time
        metrics["batches_per_sec"] = self.frequent / seconds if seconds else float("inf")
        metrics["records_per_sec"] = metrics["batches_per_sec"] * self.batch_size
        metrics["elapsed"] = self.elapsed()
        metrics["minibatch_count"] = param.nbatch
        metrics["epoch"] = param.epoch
        self.append_metrics(metrics, dataframe)
        self.last_time = now

    def callback_args(self) -> Callbacks:
        """Return the callbacks as a dict of keyword arguments for `Module.fit`."""
        return {
            "batch_end_callback": self.train_cb,
            "eval_end_callback": self.eval_cb,
            "epoch_end_callback": self.epoch_cb,
        }


class LiveBokehChart:
    """Not available: a chart that Bokeh updates while a network trains.

    MXNet uses functions that Bokeh has removed, so its charts do not work with current versions.

    Args:
        *args: Accepted for MXNet's programs.
        **kwargs: Accepted for MXNet's programs.

    Raises:
        NotSupportedError: Always; `PandasLogger` collects the numbers to plot.
    """

    __repr__ = default_repr

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _raise_not_supported(type(self).__name__)


class LiveTimeSeries(LiveBokehChart):
    """Not available: a chart over time; see `LiveBokehChart`."""


class LiveLearningCurve(LiveBokehChart):
    """Not available: a chart of a metric; see `LiveBokehChart`."""


def _raise_not_supported(what: str) -> NoReturn:
    raise NotSupportedError(
        f"{what}: expected a PandasLogger, whose tables work with any plotting library, got a "
        "chart for a removed interface of Bokeh"
    )


def args_wrapper(*args: Any) -> dict[str, list[Callable[..., None]]]:
    """Combine the callbacks of several objects into keyword arguments for `Module.fit`.

    Args:
        *args: Objects with a method ``callback_args``, such as `PandasLogger`.
    """
    out: defaultdict[str, list[Callable[..., None]]] = defaultdict(list)
    for callback in args:
        for name, function in callback.callback_args().items():
            out[name].append(function)
    return dict(out)
