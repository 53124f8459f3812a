"""Callbacks that keep a training's metrics in tables of pandas, for plots in notebooks."""

import datetime
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NoReturn

from gluonish.core.errors import NotSupportedError
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
    """Keeps metrics of training and evaluation as tables; needs pandas.

    Args:
        batch_size: Examples in a batch, for ``records_per_sec``.
        frequent: How many batches there are from one row to the next.

    Raises:
        NotSupportedError: pandas is not installed.
    """

    def __init__(self, batch_size: int, frequent: int = 50) -> None:
        try:
            import pandas  # type: ignore[import-untyped,unused-ignore]  # no stubs for it
        except ImportError as error:
            raise NotSupportedError(
                "PandasLogger: expected pandas, which is not installed; pip install pandas, or "
                "use mx.callback.Speedometer"
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
        """Metrics of training, a row for each ``frequent`` batches."""
        return self._dataframes["train"]

    @property
    def eval_df(self) -> Any:
        """Metrics of evaluation, a row for each."""
        return self._dataframes["eval"]

    @property
    def epoch_df(self) -> Any:
        """How long each epoch took."""
        return self._dataframes["epoch"]

    @property
    def all_dataframes(self) -> dict[str, Any]:
        """The three tables by name: ``train``, ``eval``, ``epoch``."""
        return self._dataframes

    def elapsed(self) -> datetime.timedelta:
        """Return the time since this object was made."""
        return datetime.datetime.now() - self.start_time

    def append_metrics(self, metrics: dict[str, Any], df_name: str) -> None:
        """Add a row to a table; new columns are added, too.

        Args:
            metrics: The row's values by column.
            df_name: The table's name.
        """
        table = self._dataframes[df_name]
        row = self._pandas.DataFrame([metrics])
        parts = [row] if table.empty else [table, row]
        self._dataframes[df_name] = self._pandas.concat(parts, ignore_index=True)

    def train_cb(self, param: BatchEndParam) -> None:
        """Note a batch of training; a ``batch_end_callback``."""
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, "train")

    def eval_cb(self, param: BatchEndParam) -> None:
        """Note an evaluation; an ``eval_end_callback``."""
        self._process_batch(param, "eval")

    def epoch_cb(self, *args: Any) -> None:
        """Note the end of an epoch; an ``epoch_end_callback``."""
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
        """Return the callbacks, as arguments of `Module.fit`."""
        return {
            "batch_end_callback": self.train_cb,
            "eval_end_callback": self.eval_cb,
            "epoch_end_callback": self.epoch_cb,
        }


class LiveBokehChart:
    """A chart of Bokeh's that grows; making one refuses.

    MXNet draws with functions that Bokeh removed years ago, so that its charts work with no Bokeh
    of today.

    Args:
        *args: As for MXNet's.
        **kwargs: As for MXNet's.

    Raises:
        NotSupportedError: Always; `PandasLogger` has the numbers to plot.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse(type(self).__name__)


class LiveTimeSeries(LiveBokehChart):
    """A growing chart over time; making one refuses, as `LiveBokehChart` says."""


class LiveLearningCurve(LiveBokehChart):
    """A growing chart of a metric; making one refuses, as `LiveBokehChart` says."""


def _refuse(what: str) -> NoReturn:
    raise NotSupportedError(
        f"{what}: expected a PandasLogger, whose tables any plotting library shows, got a chart "
        "for an interface of Bokeh's that is gone"
    )


def args_wrapper(*args: Any) -> dict[str, list[Callable[..., None]]]:
    """Return the callbacks of several objects as arguments of `Module.fit`.

    Args:
        *args: Objects with ``callback_args``, such as `PandasLogger`.
    """
    out: defaultdict[str, list[Callable[..., None]]] = defaultdict(list)
    for callback in args:
        for name, function in callback.callback_args().items():
            out[name].append(function)
    return dict(out)
