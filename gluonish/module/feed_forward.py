"""FeedForward: MXNet's oldest interface to train a Symbol."""

import logging
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.context import Context, current_context
from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import default_repr
from gluonish.initializer import Initializer, Uniform
from gluonish.io.data_iter import DataIter
from gluonish.metric import create as create_metric
from gluonish.module.bucketing_module import BucketingModule
from gluonish.module.callback import (
    BatchEndParam,
    BatchEndParams,
    LogValidationMetricsCallback,
    call_back,
)
from gluonish.module.checkpoint import load_checkpoint, load_params, save_checkpoint
from gluonish.module.descriptions import described
from gluonish.module.feed_forward_data import epochs_of, evaluation_iterator, iterator_of, joined
from gluonish.module.module import Module
from gluonish.module.monitor import Monitor
from gluonish.module.store_updates import create_store as _create_kvstore  # noqa: F401  # programs
from gluonish.module.store_updates import initialize_store as _initialize_kvstore  # noqa: F401
from gluonish.module.store_updates import update_by_updater as _update_params  # noqa: F401  # import
from gluonish.module.store_updates import update_in_store as _update_params_on_kvstore  # noqa: F401
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

__all__ = [
    "BASE_ESTIMATOR",
    "SKLEARN_INSTALLED",
    "BatchEndParam",
    "BatchEndParams",
    "FeedForward",
    "load_checkpoint",
    "load_params",
    "save_checkpoint",
]

Params = Mapping[str, NDArray] | None

# FeedForward is not an estimator of scikit-learn, whether that is installed or not.
SKLEARN_INSTALLED = False
BASE_ESTIMATOR = object


class FeedForward(BASE_ESTIMATOR):
    """A network with `fit`, `predict` and `score`; deprecated, use `Module`.

    Args:
        symbol: The network; or a function that maps a bucket key to a network, for iterators with
            ``default_bucket_key``.
        ctx: Device, or list of devices; None for the current device.
        num_epoch: Number of the epoch at which to stop, exclusive.
        epoch_size: Number of batches in an epoch; None for one pass over the data.
        optimizer: Name of an optimizer, or an Optimizer.
        initializer: Initializer of the weights.
        numpy_batch_size: Batch size for data passed as arrays.
        arg_params: Initial weights by name.
        aux_params: Initial auxiliary states by name.
        allow_extra_params: Has no effect: names that the network does not have are ignored.
        begin_epoch: Number of the first epoch.
        **kwargs: Arguments of the optimizer.

    Attributes:
        arg_params: Weights by name; None before training or loading.
        aux_params: Auxiliary states by name; None before training or loading.
        symbol: The network.
        sym_gen: The function passed in place of a network, or None.
        argument_checked: Whether weights were checked; for MXNet programs.
        kwargs: Arguments of the optimizer. The other arguments are attributes, too.
    """

    __repr__ = default_repr

    def __init__(
        self,
        symbol: Symbol | Callable[[Any], Symbol],
        ctx: Context | Sequence[Context] | None = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Initializer = Uniform(0.01),  # noqa: B008  # holds no state
        numpy_batch_size: int = 128,
        arg_params: Params = None,
        aux_params: Params = None,
        allow_extra_params: bool = False,
        begin_epoch: int = 0,
        **kwargs: Any,
    ) -> None:
        warnings.warn(
            "FeedForward is deprecated; use gluonish.module.Module",
            DeprecationWarning,
            stacklevel=2,
        )
        self.symbol: Symbol | None = None
        self.sym_gen: Callable[[Any], Symbol] | None = None
        if isinstance(symbol, Symbol):
            self.symbol = symbol
        else:
            self.sym_gen = symbol
        context = current_context() if ctx is None else ctx
        self.ctx = [context] if isinstance(context, Context) else list(context)
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.optimizer = optimizer
        self.initializer = initializer
        self.numpy_batch_size = numpy_batch_size
        self.arg_params: Any = arg_params
        self.aux_params: Any = aux_params
        self.allow_extra_params = allow_extra_params
        self.argument_checked = False
        self.begin_epoch = begin_epoch
        self.kwargs = kwargs
        self._predictor: tuple[Symbol, Module] | None = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Sequence[float] | None = None,
        monitor: Monitor | None = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008  # holds no state
        eval_batch_end_callback: Any = None,
    ) -> None:
        """Train the network.

        Args:
            X: An iterator; or data as an array, which is shuffled.
            y: Labels, if ``X`` is an array.
            eval_data: Iterator, or pair of arrays, to evaluate on after each epoch.
            eval_metric: An EvalMetric, or what `metric.create` accepts.
            epoch_end_callback: Function or list of functions, called after each epoch with its
                number, the network, the weights and the auxiliary states.
            batch_end_callback: Function or list of functions, called after each batch with a
                `BatchEndParam`, whose ``nbatch`` counts from 1.
            kvstore: See `Module.init_optimizer`.
            logger: Logger for messages; None for the module `logging`.
            work_load_list: Relative share of the batch for each device.
            monitor: `Monitor` to install; None for none.
            eval_end_callback: Like ``batch_end_callback``, called after each evaluation.
            eval_batch_end_callback: The same, called after each batch of an evaluation.

        Raises:
            ArgumentError: ``num_epoch`` is None, or the arrays do not match.
            ArgumentTypeError: ``X`` or ``eval_data`` is neither an iterator nor arrays.
        """
        if self.num_epoch is None:
            raise ArgumentError(
                "FeedForward.fit: expected num_epoch, got None; pass it to FeedForward()"
            )
        logger = logging if logger is None else logger
        data = iterator_of("fit", X, y, self.numpy_batch_size, is_train=True)
        evaluated = evaluation_iterator(eval_data, self.numpy_batch_size)
        metric = create_metric(eval_metric)
        module = self._trained(data, kvstore, work_load_list, logger)
        if monitor is not None:
            module.install_monitor(monitor)
        logger.info("Start training with %s", str(self.ctx))
        batches = epochs_of(data, self.begin_epoch, self.epoch_size, logger)
        for epoch in range(self.begin_epoch, self.num_epoch):
            tic = time.time()
            metric.reset()
            for nbatch, data_batch in enumerate(next(batches), 1):
                if monitor is not None:
                    monitor.tic()
                module.forward_backward(data_batch)
                module.update()
                if monitor is not None:
                    monitor.toc_print()
                module.update_metric(metric, data_batch.label)
                call_back(batch_end_callback, BatchEndParam(epoch, nbatch, metric, locals()))
            logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            self.arg_params, self.aux_params = module.get_params()
            module.set_params(self.arg_params, self.aux_params)
            call_back(epoch_end_callback, epoch, self.symbol, self.arg_params, self.aux_params)
            if evaluated is not None:
                module.score(
                    *(evaluated, metric),
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )

    def _trained(
        self, data: DataIter, kvstore: Any, work_load_list: Sequence[float] | None, logger: Any
    ) -> Module | BucketingModule:
        """Return a bound module with weights and an optimizer, ready to be trained."""
        provided = described(data.provide_data), described(data.provide_label)  # type: ignore[attr-defined]
        data_names, label_names = ([desc.name for desc in descs] for descs in provided)
        settings = {"context": self.ctx, "work_load_list": work_load_list, "logger": logger}
        module: Module | BucketingModule
        if self.sym_gen is None:
            assert self.symbol is not None
            module = Module(self.symbol, data_names, label_names, **settings)
        else:
            sym_gen = self.sym_gen
            key = data.default_bucket_key  # type: ignore[attr-defined]  # iterators of buckets
            self.symbol = sym_gen(key)
            module = BucketingModule(
                lambda key: (sym_gen(key), data_names, label_names), key, **settings
            )
        module.bind(*provided)
        module.init_params(self.initializer, self.arg_params, self.aux_params, allow_missing=True)
        module.init_optimizer(kvstore, self.optimizer, self.kwargs)
        self.argument_checked = True
        return module

    def predict(
        self, X: Any, num_batch: int | None = None, return_data: bool = False, reset: bool = True
    ) -> Any:
        """Return the outputs as NumPy arrays, without padding.

        Args:
            X: An iterator, or an array.
            num_batch: Maximum number of batches; None for all.
            return_data: Whether to return data and labels, too.
            reset: Whether to reset the iterator first.

        Returns:
            An array, or a list with an array for each output; with ``return_data`` a tuple of the
            outputs, the data and the labels, each in this form.

        Raises:
            ArgumentError: There are no weights.
        """
        data = iterator_of("predict", X, None, self.numpy_batch_size, is_train=False)
        module = self._bound_predictor("predict", data)
        rows: list[tuple[list[Any], list[Any], list[Any]]] = []
        for outputs, _, batch in module.iter_predict(data, num_batch, reset):
            size = outputs[0].shape[0]
            inputs = (batch.data, batch.label or []) if return_data else ([], [])
            found = (outputs, *([x[:size] for x in arrays] for arrays in inputs))
            rows.append(tuple([x.asnumpy() for x in arrays] for arrays in found))  # type: ignore[arg-type]
        columns = [joined([row[i] for row in rows]) for i in range(3)]
        return tuple(columns) if return_data else columns[0]

    def score(
        self,
        X: Any,
        eval_metric: Any = "acc",
        num_batch: int | None = None,
        batch_end_callback: Any = None,
        reset: bool = True,
    ) -> Any:
        """Evaluate a metric on the outputs, and return its value.

        Args:
            X: An iterator with labels; or an array, whose labels are then 0.
            eval_metric: An EvalMetric, or what `metric.create` accepts.
            num_batch: Maximum number of batches; None for all.
            batch_end_callback: Function or list, called after each batch with a `BatchEndParam`.
            reset: Whether to reset the iterator first.

        Raises:
            ArgumentError: There are no weights.
        """
        data = iterator_of("score", X, None, self.numpy_batch_size, is_train=False)
        module = self._bound_predictor("score", data)
        metric = create_metric(eval_metric)
        module.score(data, metric, num_batch, batch_end_callback, reset=reset)
        return metric.get()[1]

    def _bound_predictor(self, what: str, data: DataIter) -> Module:
        """Return a module on the first device, with the current weights."""
        if self.arg_params is None or self.symbol is None:
            raise ArgumentError(
                f"FeedForward.{what}: expected weights, got none; call fit, or load"
            )
        shapes = described(data.provide_data)  # type: ignore[attr-defined]
        names = [desc.name for desc in shapes]
        cached = self._predictor
        # Symbols are compared by identity: == creates a Symbol.
        if cached is None or cached[0] is not self.symbol or cached[1].data_names != names:
            labels = described(getattr(data, "provide_label", None))
            arguments = self.symbol.list_arguments()
            inputs = [desc.name for desc in labels if desc.name in arguments]
            module = Module(self.symbol, names, inputs, context=self.ctx[0])
            module.bind(shapes, labels if inputs else None, for_training=False)
            self._predictor = cached = self.symbol, module
        module = cached[1]
        module.init_params(
            self.initializer,
            self.arg_params,
            self.aux_params or {},
            allow_missing=True,
            force_init=True,
        )
        return module

    def save(
        self,
        prefix: str | os.PathLike[str],
        epoch: int | None = None,
        remove_amp_cast: bool = True,
    ) -> None:
        """Save a checkpoint; see `save_checkpoint`.

        Args:
            prefix: Prefix of the files' paths.
            epoch: Number of the epoch; None for ``num_epoch``.
            remove_amp_cast: Whether to leave out casts that mixed precision inserted.

        Raises:
            ArgumentError: There are no weights, or ``epoch`` and ``num_epoch`` are None.
        """
        epoch = self.num_epoch if epoch is None else epoch
        if epoch is None or self.arg_params is None:
            raise ArgumentError(
                f"FeedForward.save: expected an epoch and weights, got epoch={epoch} and "
                f"{'none' if self.arg_params is None else 'weights'}"
            )
        save_checkpoint(
            os.fspath(prefix),
            epoch,
            self.symbol,
            self.arg_params,
            self.aux_params or {},
            remove_amp_cast,
        )

    @staticmethod
    def load(
        prefix: str, epoch: int, ctx: Context | Sequence[Context] | None = None, **kwargs: Any
    ) -> "FeedForward":
        """Load a checkpoint; `fit` continues with epoch ``epoch``.

        Args:
            prefix: Prefix of the files' paths.
            epoch: Number of the epoch.
            ctx: Device, or list of devices.
            **kwargs: Other arguments of `FeedForward`.

        Raises:
            MissingFileError: A file does not exist.
            FileFormatError: A file is damaged or of another kind.
        """
        symbol, arguments, auxiliary = load_checkpoint(prefix, epoch)
        return FeedForward(
            symbol,
            ctx=ctx,
            arg_params=arguments,
            aux_params=auxiliary,
            begin_epoch=epoch,
            **kwargs,
        )

    @staticmethod
    def create(
        symbol: Symbol | Callable[[Any], Symbol],
        X: Any,
        y: Any = None,
        ctx: Context | Sequence[Context] | None = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Initializer = Uniform(0.01),  # noqa: B008  # holds no state
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Sequence[float] | None = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008  # holds no state
        eval_batch_end_callback: Any = None,
        **kwargs: Any,
    ) -> "FeedForward":
        """Create and train a network; the arguments are those of the class and of `fit`."""
        model = FeedForward(
            symbol,
            ctx=ctx,
            num_epoch=num_epoch,
            epoch_size=epoch_size,
            optimizer=optimizer,
            initializer=initializer,
            **kwargs,
        )
        model.fit(
            *(X, y, eval_data, eval_metric, epoch_end_callback, batch_end_callback),
            kvstore=kvstore,
            logger=logger,
            work_load_list=work_load_list,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
        )
        return model
