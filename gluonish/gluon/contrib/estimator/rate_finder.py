"""The learning-rate range test: losses over exponentially growing learning rates."""

import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.autograd import pause
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.files import path_text
from gluonish.core.number_check import as_float, as_int
from gluonish.core.object_repr import object_repr
from gluonish.gluon.contrib.estimator.arguments import check_loader
from gluonish.gluon.contrib.estimator.estimator import Estimator
from gluonish.gluon.contrib.estimator.first_batch import listed
from gluonish.gluon.data import DataLoader
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray
from gluonish.optimizer import Updater, get_updater

__all__ = ["LearningRateCurve", "find_learning_rate"]


class LearningRateCurve:
    """The losses of a learning-rate range test.

    Attributes:
        rates: The learning rates, a list of floats.
        losses: For each rate the mean loss of its batch, before the step with this rate.
        smoothed: Exponential averages of the losses, corrected for their start.
    """

    def __init__(self, rates: list[float], losses: list[float], smoothed: list[float]) -> None:
        self.rates = rates
        self.losses = losses
        self.smoothed = smoothed

    def __repr__(self) -> str:
        return object_repr(
            self, f"{len(self.rates)} rates from {self.rates[0]:.3g} to {self.rates[-1]:.3g}"
        )

    @property
    def suggestion(self) -> float:
        """The learning rate where the smoothed loss falls fastest over the rate's logarithm.

        The first tenth of the rates is left out, since averages of few losses vary.

        Raises:
            ArgumentError: There are fewer than three rates, or the loss never falls.
        """
        if len(self.rates) < 3:
            raise ArgumentError(
                f"LearningRateCurve: expected at least 3 rates, got {len(self.rates)}; begin "
                "with a lower rate"
            )
        slopes = np.gradient(np.array(self.smoothed), np.log(self.rates))
        first = len(slopes) // 10
        steepest = first + int(slopes[first:].argmin())
        if slopes[steepest] >= 0:
            raise ArgumentError(
                "LearningRateCurve: expected a loss that falls at some rate, got one that never "
                "does; test other rates, or more steps"
            )
        return self.rates[steepest]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Draw the losses over the rates, with the suggestion if there is one, into a file.

        Args:
            path: Path of the file; its ending is the format: png, svg or pdf.

        Raises:
            NotSupportedError: Matplotlib is not installed.
            ArgumentTypeError: ``path`` is not a path.
        """
        file = path_text(path, "LearningRateCurve.save")
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise NotSupportedError(
                "LearningRateCurve.save: expected Matplotlib to be installed, got none; "
                "pip install matplotlib"
            ) from error
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        axes.plot(self.rates, self.losses, color="0.8", label="loss")
        axes.plot(self.rates, self.smoothed, label="smoothed loss")
        try:
            suggestion = self.suggestion
        except ArgumentError:
            pass
        else:
            axes.axvline(suggestion, color="C1", label=f"suggestion {suggestion:.2g}")
        axes.set_xscale("log")
        axes.set_xlabel("learning rate")
        axes.set_ylabel("loss")
        axes.legend()
        figure.savefig(file)


def find_learning_rate(
    estimator: Estimator,
    train_data: DataLoader,
    low: float = 1e-7,
    high: float = 10.0,
    steps: int = 100,
    smoothing: float = 0.9,
    stop_factor: float = 4.0,
    batch_axis: int = 0,
) -> LearningRateCurve:
    """Train for some batches with exponentially growing learning rates, and return the losses.

    Afterwards the parameters, with the running statistics of BatchNorm, are what they were; the
    Trainer, its optimizer, states and schedule are not used, but a copy of them. The copy has no
    schedule, and no ``accumulate``, ``clip_global_norm`` or loss scale of the Trainer. Handlers are
    not called. Several processes test each for itself. Random numbers are drawn, by Dropout and by
    a shuffling loader, as in training.

    Args:
        estimator: The `Estimator` with network, loss and Trainer.
        train_data: The training batches; they start again if there are fewer than ``steps``.
        low: The first learning rate.
        high: The last learning rate.
        steps: Number of rates, at least 3.
        smoothing: Weight of the earlier losses in the smoothed loss, in [0, 1).
        stop_factor: The test ends early where the smoothed loss is not finite, or exceeds this many
            times its minimum since a tenth of the steps.
        batch_axis: Axis of the samples.

    Raises:
        ArgumentError: A number is out of range, or ``train_data`` is not a DataLoader or has no
            batches.
        ArgumentTypeError: A number is not one.

    References:
        L. N. Smith, "Cyclical learning rates for training neural networks", 2017, whose rates grow
        linearly; they grow exponentially here, as in fastai.

    Example::

        curve = find_learning_rate(estimator, train_loader)
        curve.save("rates.png")
        estimator.trainer.set_learning_rate(curve.suggestion)
    """
    if not isinstance(estimator, Estimator):
        raise ArgumentError(
            f"find_learning_rate: expected an Estimator, got {type(estimator).__name__}"
        )
    check_loader("find_learning_rate", "train_data", train_data)
    rates = _rates(low, high, steps)
    steps = len(rates)
    smoothing = as_float("find_learning_rate", "smoothing", smoothing)
    stop_factor = as_float("find_learning_rate", "stop_factor", stop_factor)
    if not 0 <= smoothing < 1:
        raise ArgumentError(f"find_learning_rate: expected smoothing in [0, 1), got {smoothing}")
    if not stop_factor > 1:
        raise ArgumentError(f"find_learning_rate: expected stop_factor above 1, got {stop_factor}")
    batches = _endless(train_data)
    first = next(batches, None)
    if first is None:
        raise ArgumentError("find_learning_rate: expected train_data with batches, got none")
    params = list(estimator.net.collect_params().values())
    if any(param._deferred_init is not None for param in params):
        with pause():  # the first call initializes parameters whose shape is not known yet
            estimator.batch_processor.evaluate_batch(estimator, first, batch_axis)
    curve = LearningRateCurve([], [], [])
    average, lowest = 0.0, math.inf
    averaged = max(3, steps // 10)  # one batch alone may have a far lower loss than others
    with _restored(params):
        steps_of = _Steps(estimator)
        batch = first
        for number, rate in enumerate(rates, 1):
            *_, losses = estimator.batch_processor.fit_batch(estimator, batch, batch_axis)
            values = np.concatenate(
                [loss.asnumpy().astype(np.float64).reshape(-1) for loss in listed(losses)]
            )
            loss = float(values.mean())
            average = smoothing * average + (1 - smoothing) * loss
            smoothed = average / (1 - smoothing**number)
            if not math.isfinite(smoothed) or smoothed > stop_factor * lowest:
                break
            if number >= averaged:
                lowest = min(lowest, smoothed)
            curve.rates.append(rate)
            curve.losses.append(loss)
            curve.smoothed.append(smoothed)
            steps_of.step(rate, sum(x.shape[0] if x.ndim else 1 for x in listed(losses)))
            batch = next(batches)
    if not curve.rates:
        raise ArgumentError(
            "find_learning_rate: expected a finite loss of the first batch, got none"
        )
    return curve


def _rates(low: Any, high: Any, steps: Any) -> list[float]:
    low = as_float("find_learning_rate", "low", low)
    high = as_float("find_learning_rate", "high", high)
    steps = as_int("find_learning_rate", "steps", steps, 3)
    if not 0 < low < high < math.inf:
        raise ArgumentError(f"find_learning_rate: expected 0 < low < high, got {low} and {high}")
    return [float(rate) for rate in np.geomspace(low, high, steps)]


def _endless(data: DataLoader) -> Iterator[Any]:
    """Iterate over passes of a loader, until a pass has no batches."""
    found = True
    while found:
        found = False
        for batch in data:
            found = True
            yield batch


@contextmanager
def _restored(params: list[Parameter]) -> Iterator[None]:
    """Write the values of parameters, and gradients that add up, back at the end.

    The arrays are written in place, so that a store never learns of other values.
    """
    arrays: list[NDArray] = []
    for param in params:
        arrays += param.list_data()
        if param.grad_req == "add":
            arrays += param.list_grad()
    saved = [x.copy() for x in arrays]
    try:
        yield
    finally:
        for x, value in zip(arrays, saved, strict=True):
            value.copyto(x)


class _Steps:
    """Updates the weights with copies of a Trainer's optimizer and states."""

    def __init__(self, estimator: Estimator) -> None:
        trainer = estimator.trainer
        self._params = list(trainer._params)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trainer.states"
            trainer.save_states(path)
            states = path.read_bytes()
        devices = max(len(param.list_data()) for param in self._params)
        self._updaters: list[Updater] = []
        for _ in range(devices):
            updater = get_updater(trainer.optimizer)
            updater.set_states(states)  # also replaces the optimizer by the saved one
            updater.optimizer.lr_scheduler = None
            updater.optimizer.param_dict = dict(enumerate(self._params))
            self._updaters.append(updater)

    def step(self, rate: float, samples: int) -> None:
        """Update the weights once."""
        for updater in self._updaters:
            updater.optimizer.set_learning_rate(rate)
            updater.optimizer.rescale_grad = 1 / samples
        for index, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            gradients = param.list_grad()
            for updater, weight, gradient in zip(
                self._updaters, param.list_data(), gradients, strict=False
            ):
                if len(gradients) > 1:
                    gradient = reduce(add, [g.as_in_context(weight.context) for g in gradients])
                updater(index, gradient, weight)
