"""BatchProcessor: the computation of an Estimator on one batch."""

from collections.abc import Sequence
from typing import Any

from gluonish.autograd import backward, record
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import default_repr
from gluonish.gluon.contrib.estimator.events import Run
from gluonish.gluon.data.split import split_and_load
from gluonish.gluon.mixed_precision.training import scale_loss
from gluonish.ndarray import NDArray

__all__ = ["BatchProcessor"]

# Data, labels, predictions and losses: lists with one array per device.
Results = tuple[list[NDArray], list[NDArray], list[Any], list[NDArray]]


class BatchProcessor:
    """Runs a network on the (data, label) batches of a DataLoader, each split over the devices.

    For batches of another form override `fit_batch` or `evaluate_batch`. Both return the same four
    values, and `fit_batch` also computes the gradients. GradientUpdateHandler updates the weights
    afterwards.
    """

    __repr__ = default_repr

    def _get_data_and_label(
        self, batch: Any, ctx: Sequence[Context], batch_axis: int = 0
    ) -> tuple[list[NDArray], list[NDArray]]:
        """Split data and label of a batch over devices."""
        if not isinstance(batch, list | tuple) or len(batch) < 2:
            found = (
                f"{type(batch).__name__} of {len(batch)}" if hasattr(batch, "__len__") else batch
            )
            raise ArgumentError(
                f"BatchProcessor: expected a batch [data, label], got {found}; pass a "
                "batch_processor for such batches to the Estimator"
            )
        data, label = batch[0], batch[1]
        return (
            split_and_load(data, ctx, batch_axis=batch_axis),
            split_and_load(label, ctx, batch_axis=batch_axis),
        )

    def evaluate_batch(self, estimator: Run, val_batch: Any, batch_axis: int = 0) -> Results:
        """Compute outputs and losses of ``val_net`` and ``val_loss``, without gradients.

        Args:
            estimator: The Estimator that evaluates.
            val_batch: Data and label from the DataLoader.
            batch_axis: Axis of the samples.

        Returns:
            Data, labels, outputs and losses, each a list with one array per device.

        Raises:
            ArgumentError: The batch is not a pair, or the samples do not divide evenly.
        """
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        pairs = zip(pred, label, strict=True)
        return data, label, pred, [estimator.val_loss(yhat, y) for yhat, y in pairs]

    def backward(self, estimator: Run, losses: list[NDArray]) -> None:
        """Compute gradients, of losses times the loss scale if `Estimator.fit` has float16.

        A `fit_batch` of a subclass calls it, so that it serves all precisions.

        Args:
            estimator: The Estimator that trains.
            losses: The loss on each device.
        """
        if not getattr(estimator, "_scales_losses", False):
            backward(losses)
            return
        with record(), scale_loss(losses, estimator.trainer) as scaled:
            backward(scaled)

    def fit_batch(self, estimator: Run, train_batch: Any, batch_axis: int = 0) -> Results:
        """Compute outputs, losses and the gradients of ``net``.

        Args:
            estimator: The Estimator that trains.
            train_batch: Data and label from the DataLoader.
            batch_axis: Axis of the samples.

        Returns:
            Data, labels, outputs and losses, each a list with one array per device.

        Raises:
            ArgumentError: The batch is not a pair, or the samples do not divide evenly.
        """
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(yhat, y) for yhat, y in zip(pred, label, strict=True)]
        self.backward(estimator, loss)
        return data, label, pred, loss
