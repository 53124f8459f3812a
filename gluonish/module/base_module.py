"""BaseModule: the training and evaluation loops of modules.

A module is bound to shapes and initialized with weights and an optimizer; then it runs forward,
backward and update. `fit`, `score` and `predict` do so for the batches of an iterator.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
)
from gluonish.initializer import Initializer, Uniform
from gluonish.io.data_iter import DataBatch, DataIter
from gluonish.io.ndarray_iter import NDArrayIter
from gluonish.metric import EvalMetric
from gluonish.metric import create as create_metric
from gluonish.module.callback import BatchEndParam, call_back
from gluonish.module.checkpoint import split_params
from gluonish.module.descriptions import check_input_names as _check_input_names  # noqa: F401
from gluonish.module.descriptions import parsed_descriptions as _parse_data_desc  # noqa: F401
from gluonish.module.interface import RATE, ModuleInterface, OptimizerParams, Params
from gluonish.module.monitor import Monitor
from gluonish.ndarray import NDArray, concat
from gluonish.ndarray import load as load_arrays
from gluonish.ndarray import save as save_arrays

__all__ = ["BaseModule"]


class BaseModule(ModuleInterface):
    """Base class of modules, with the loops for training and evaluation.

    Arguments and attributes are those of `ModuleInterface`.
    """

    def forward_backward(self, data_batch: Any) -> None:
        """Compute outputs and gradients for a batch, in training mode.

        Args:
            data_batch: The `DataBatch`.
        """
        self.forward(data_batch, is_train=True)
        self.backward()

    def score(
        self,
        eval_data: DataIter,
        eval_metric: Any,
        num_batch: int | None = None,
        batch_end_callback: Any = None,
        score_end_callback: Any = None,
        reset: bool = True,
        epoch: int = 0,
        sparse_row_id_fn: Any = None,
    ) -> list[tuple[str, float]]:
        """Evaluate metrics on the batches of an iterator; padding samples count, as in MXNet.

        Args:
            eval_data: The iterator.
            eval_metric: An EvalMetric, or a name or list that `metric.create` accepts.
            num_batch: Maximum number of batches; None for all.
            batch_end_callback: Function, or list of functions, called after each batch with a
                `BatchEndParam`.
            score_end_callback: Function, or list of functions, called at the end with a
                `BatchEndParam`.
            reset: Whether to reset the iterator first.
            epoch: Number of the epoch, passed to the callbacks.
            sparse_row_id_fn: See `prepare`.

        Returns:
            List of pairs (name, value).

        Raises:
            ModuleStateError: The module is not bound or has no weights.
        """
        self._expect_weights("score")
        if reset:
            eval_data.reset()
        eval_metric = _metric(eval_metric)
        eval_metric.reset()
        count = 0
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            self._update_metric(eval_metric, eval_batch)
            call_back(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            count = nbatch + 1
        call_back(score_end_callback, BatchEndParam(epoch, count, eval_metric, locals()))
        found: list[tuple[str, float]] = eval_metric.get_global_name_value()
        return found

    def _update_metric(self, eval_metric: EvalMetric, batch: Any) -> None:
        """Update a metric with the last outputs; a list ``batch`` has a batch for each device."""
        if isinstance(batch, list):
            self.update_metric(eval_metric, [one.label for one in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def iter_predict(
        self,
        eval_data: DataIter,
        num_batch: int | None = None,
        reset: bool = True,
        sparse_row_id_fn: Any = None,
    ) -> Iterator[tuple[list[NDArray], int, DataBatch]]:
        """Yield the outputs of each batch without padding, its number, and the batch itself.

        Args:
            eval_data: The iterator.
            num_batch: Maximum number of batches; None for all.
            reset: Whether to reset the iterator first.
            sparse_row_id_fn: See `prepare`.

        Raises:
            ModuleStateError: The module is not bound or has no weights.
        """
        self._expect_weights("iter_predict")
        if reset:
            eval_data.reset()
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            pad = eval_batch.pad or 0
            yield [y[: y.shape[0] - pad] for y in self.get_outputs()], nbatch, eval_batch

    def predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        sparse_row_id_fn: Any = None,
    ) -> Any:
        """Return the outputs for all batches of an iterator, without padding.

        Args:
            eval_data: The iterator; or an array, which is one batch.
            num_batch: Maximum number of batches; None for all.
            merge_batches: Whether to concatenate the batches; otherwise the result is a list with
                the outputs of each batch.
            reset: Whether to reset the iterator first.
            always_output_list: Whether to return a list even for a single output.
            sparse_row_id_fn: See `prepare`.

        Returns:
            An array, or a list of one array for each output; without ``merge_batches`` a list of
            such lists.

        Raises:
            ModuleStateError: The module is not bound or has no weights.
            ArgumentTypeError: ``eval_data`` is neither an iterator nor an array.
            ArgumentError: Batches have different numbers of outputs and cannot be merged.
        """
        self._expect_weights("predict")
        if isinstance(eval_data, NDArray | np.ndarray):
            eval_data = NDArrayIter(eval_data, batch_size=eval_data.shape[0])
        if not isinstance(eval_data, DataIter):
            raise _NoDataError(
                f"predict: expected a DataIter, an NDArray or a NumPy array, got "
                f"{type(eval_data).__name__}"
            )
        found = [
            [y.copy() for y in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not merge_batches or not found:
            return found
        if len({len(outputs) for outputs in found}) > 1:
            raise ArgumentError(
                "predict: expected the same number of outputs in each batch, got "
                f"{[len(outputs) for outputs in found]}; pass merge_batches=False"
            )
        merged = [
            batches[0] if len(batches) == 1 else concat(*batches, dim=0)
            for batches in zip(*found, strict=True)
        ]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    def _before_epoch(self, epoch: int, train_data: Any) -> None:
        """Hook that `fit` calls before each epoch."""

    def fit(
        self,
        train_data: Any,
        eval_data: DataIter | None = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = RATE,
        eval_end_callback: Any = None,
        eval_batch_end_callback: Any = None,
        initializer: Initializer | None = Uniform(0.01),  # noqa: B008  # holds no state
        arg_params: Params = None,
        aux_params: Params = None,
        allow_missing: bool = False,
        force_rebind: bool = False,
        force_init: bool = False,
        begin_epoch: int = 0,
        num_epoch: int | None = None,
        validation_metric: Any = None,
        monitor: Monitor | None = None,
        sparse_row_id_fn: Any = None,
    ) -> None:
        """Train: bind and initialize the module, then forward, backward and update on each batch.

        Args:
            train_data: Iterator of the training data.
            eval_data: Iterator to evaluate on after each epoch; None for none.
            eval_metric: Metric of the training data: an EvalMetric, or what `metric.create`
                accepts.
            epoch_end_callback: Function, or list of functions, called after each epoch with its
                number, the network, the weights and the auxiliary states.
            batch_end_callback: Function, or list of functions, called after each batch with a
                `BatchEndParam`.
            kvstore: See `init_optimizer`.
            optimizer: See `init_optimizer`.
            optimizer_params: See `init_optimizer`.
            eval_end_callback: Function, or list of functions, called after each evaluation with a
                `BatchEndParam`.
            eval_batch_end_callback: The same, called after each batch of an evaluation.
            initializer: See `init_params`.
            arg_params: Initial weights by name; a module that is initialized already ignores them,
                with a warning.
            aux_params: Initial auxiliary states by name.
            allow_missing: Whether ``initializer`` creates missing weights; otherwise they are an
                error.
            force_rebind: Whether to bind again if the module is bound already.
            force_init: Whether to initialize the weights again if they already are initialized.
            begin_epoch: Number of the first epoch.
            num_epoch: Number of the epoch at which to stop, exclusive.
            validation_metric: Metric for ``eval_data``; None uses ``eval_metric``.
            monitor: `Monitor` to install; None for none.
            sparse_row_id_fn: See `prepare`.

        Raises:
            ArgumentError: ``num_epoch`` is None.
        """
        if num_epoch is None:
            raise ArgumentError("fit: expected num_epoch, the number of epochs, got None")
        self.bind(
            data_shapes=train_data.provide_data,
            label_shapes=train_data.provide_label,
            for_training=True,
            force_rebind=force_rebind,
        )
        if monitor is not None:
            self.install_monitor(monitor)
        if not self.params_initialized or force_init or arg_params or aux_params:
            self.init_params(initializer, arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        if validation_metric is None:
            validation_metric = eval_metric
        eval_metric = _metric(eval_metric)
        for epoch in range(begin_epoch, num_epoch):
            tic = time.time()
            eval_metric.reset()
            self._before_epoch(epoch, train_data)
            data_iter = iter(train_data)
            next_data_batch = next(data_iter, None)
            nbatch = 0
            totals: list[tuple[str, float]] = []
            while next_data_batch is not None:
                data_batch = next_data_batch
                if monitor is not None:
                    monitor.tic()
                self.forward_backward(data_batch)
                self.update()
                self._update_metric(eval_metric, data_batch)
                # The next batch is fetched while the devices compute this one.
                next_data_batch = next(data_iter, None)
                if next_data_batch is not None:
                    self.prepare(next_data_batch, sparse_row_id_fn=sparse_row_id_fn)
                else:
                    # Callbacks may reset the metric.
                    totals = eval_metric.get_global_name_value()
                if monitor is not None:
                    monitor.toc_print()
                call_back(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
                nbatch += 1
            self._log(epoch, "Train", totals)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            # Auxiliary states differ between devices: replace them by their mean.
            weights, states = self.get_params()
            self.set_params(weights, states)
            call_back(epoch_end_callback, epoch, self.symbol, weights, states)
            if eval_data is not None:
                found = self.score(
                    eval_data,
                    validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )
                self._log(epoch, "Validation", found)
            train_data.reset()

    def _log(self, epoch: int, kind: str, found: Sequence[tuple[str, float]]) -> None:
        for name, value in found:
            self.logger.info("Epoch[%d] %s-%s=%f", epoch, kind, name, value)

    def save_params(self, fname: str) -> None:
        """Save weights and auxiliary states to a file.

        Args:
            fname: Path of the file; its ending selects the format, as in `nd.save`.
        """
        arguments, auxiliary = self.get_params()
        kinds = (("arg", arguments), ("aux", auxiliary))
        save_arrays(
            fname, {f"{kind}:{name}": x for kind, named in kinds for name, x in named.items()}
        )

    def load_params(self, fname: str) -> None:
        """Load weights and auxiliary states from a file of any format that `nd.load` reads.

        Args:
            fname: Path of the file.

        Raises:
            MissingFileError: The file does not exist.
            FileFormatError: The arrays' names do not start with ``arg:`` or ``aux:``.
        """
        arrays = load_arrays(fname, mmap=False)
        if not isinstance(arrays, dict):
            raise FileFormatError(
                f"load_params: expected arrays with names in {fname!r}, got {len(arrays)} without"
            )
        self.set_params(*split_params(arrays, fname))


class _NoDataError(ArgumentTypeError, ValueError):
    """Raised if the data for `predict` have the wrong type; a ValueError, too, as in MXNet."""


def _metric(metric: Any) -> EvalMetric:
    return metric if isinstance(metric, EvalMetric) else create_metric(metric)
