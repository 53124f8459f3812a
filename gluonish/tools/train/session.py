"""A training run: creates network, optimizer and data from options, then trains all epochs."""

import argparse
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.contrib.tensorboard import summary_writer
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.files import values_by_name, write_model
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib.estimator.event_handler import EpochBegin, EpochEnd
from gluonish.gluon.mixed_precision.loss_scaler import LossScaler
from gluonish.gluon.trainer import Trainer
from gluonish.gluon.utils import WeightAverage
from gluonish.lr_scheduler import LRScheduler, ReduceLROnPlateau
from gluonish.ndarray import save as save_arrays
from gluonish.symbol.name import NameManager
from gluonish.tools.train.batches import Batches, EpochLoader, EvaluationLoader, derived_seed
from gluonish.tools.train.checkpoint import Checkpoints, Record, write_json
from gluonish.tools.train.estimation import (
    AheadHandler,
    Processor,
    ProgressHandler,
    ScoresHandler,
    StepHandler,
    Training,
    make_metrics,
)
from gluonish.tools.train.networks import make_initializer, make_network
from gluonish.tools.train.options import recorded, settings
from gluonish.tools.train.progress import plot_history, shown
from gluonish.tools.train.ranks import Ranks
from gluonish.tools.train.recipe import write_recipe
from gluonish.tools.train.regimen import (
    Best,
    leave_out_of_decay,
    make_loss,
    make_optimizer,
    make_sam,
    make_schedule,
    mixes,
    optimizer_arguments,
    take_settings,
)

_DRAW_AFTER_S = 60  # minimum seconds between plots during training
_STATISTICS = ("running_mean", "running_var")
_INITIAL = 0xFFFFFFFF  # in place of the epoch in the seed of the initial weights


class Session:
    """A training run: a network with its trainer, data and checkpoints.

    Args:
        arguments: The options, after `complete`.
        contexts: The devices.
        source: The source of batches.
        ranks: The processes that train together; the first one writes files.

    Attributes:
        estimator: Network, losses, metrics and trainer.
        record: The progress so far.

    Raises:
        ArgumentError: Options contradict each other.
    """

    def __init__(
        self,
        arguments: argparse.Namespace,
        contexts: Sequence[Context],
        source: Batches,
        ranks: Ranks,
    ) -> None:
        self._ranks = ranks
        self._arguments = arguments
        self._contexts = list(contexts)
        self._source = source
        prefix = arguments.model_prefix
        self._checkpoints = None if prefix is None else Checkpoints(prefix, bool(arguments.ema))
        self.record = Record(options=recorded(arguments))
        self._drawn_s = perf_counter()  # time of the last plot
        self._writers: dict[str, Any] = {}
        self._measures = False  # whether speed is all that is wanted
        updates = -(-source.batches_per_epoch // arguments.accumulate)
        usual = "validation" if arguments.dataset or arguments.data_val else "training"
        # Written on demand, since each improvement costs a file.
        wanted = (arguments.best_metric, arguments.early_stop, arguments.ema)
        self._keeps_best = any(x is not None for x in wanted)
        self._best = Best(arguments.best_metric or f"{usual}-accuracy")
        seed_all(derived_seed(arguments.seed, _INITIAL))
        net = self._make_network()
        self._schedule = make_schedule(arguments, updates, self._best.mode)
        trainer = self._make_trainer(net, self._schedule)
        self._average = None if arguments.ema is None else WeightAverage(net, arguments.ema)
        self.estimator = self._make_estimator(net, trainer)
        if arguments.best_metric is not None:
            names = [name for x in self.estimator.train_metrics for name, _ in x.get_name_value()]
            parts = dict.fromkeys((usual, "training"))
            self._best.check([f"{x}-{name.partition(' ')[2]}" for x in parts for name in names])
        self._scores = ScoresHandler(self.estimator.train_metrics)
        self._progress = ProgressHandler(
            self._scores,
            arguments.num_epochs,
            source.batches_per_epoch,
            (arguments.disp_batches, arguments.progress),
            ranks.size,
        )
        self._loader = EpochLoader(source)
        self._statistics = [
            parameter
            for parameter in net.collect_params().values()
            if parameter.name.endswith(_STATISTICS)
        ]

    def _make_network(self) -> HybridBlock:
        arguments = self._arguments
        with NameManager():  # so that names do not depend on earlier blocks
            net = make_network(
                arguments.network,
                arguments.num_layers,
                self._source.image_shape,
                arguments.num_classes,
                {"drop_path": arguments.drop_path, "dropout": arguments.dropout},
            )
        net.initialize(make_initializer(arguments.initializer), ctx=self._contexts)
        net.cast(arguments.dtype)
        net.infer_shape(nd.zeros((1, *self._source.image_shape), dtype=arguments.dtype))
        for parameter in net.collect_params().values():
            parameter._finish_deferred_init()
        if arguments.hybridize:
            net.hybridize(static_alloc=True)
        return net

    def _make_estimator(self, net: HybridBlock, trainer: Trainer) -> Training:
        arguments = self._arguments
        loss = make_loss(arguments, True)
        same = arguments.label_smoothing == 0 and not mixes(arguments)
        same &= arguments.bce_threshold is None
        losses = (loss, loss if same else make_loss(arguments, False))
        if arguments.hybridize:
            for one in set(losses):
                one.hybridize(static_alloc=True)
        further = arguments.loss.split(",") if arguments.loss else []
        estimator = Training(
            net,
            losses[0],
            make_metrics(arguments.top_k, further),
            trainer=trainer,
            context=self._contexts,
            val_loss=losses[1],
            batch_processor=Processor(arguments.dtype),
        )
        estimator.logger.setLevel("WARNING")  # the session has its own messages
        return estimator

    def _make_trainer(self, net: HybridBlock, schedule: LRScheduler | None) -> Trainer:
        arguments = self._arguments
        if arguments.wd_matrices_only:
            leave_out_of_decay(net._collect_params_with_prefix())
        compression = None
        if arguments.gc_type != "none":
            compression = {"type": arguments.gc_type, "threshold": arguments.gc_threshold}
        return Trainer(
            net.collect_params(),
            make_optimizer(arguments, schedule),
            kvstore=arguments.kv_store if self._ranks.store is None else self._ranks.store,
            compression_params=compression,
            update_on_kvstore=False if self._changes_steps() else None,
        )

    def _changes_steps(self) -> bool:
        """Whether `Estimator.fit` has options for which the store cannot update the weights."""
        arguments = self._arguments
        limits = (arguments.clip_grad_norm, arguments.clip_grad_value)
        return arguments.accumulate > 1 or any(x is not None for x in limits)

    def fit(self, epochs: int | None, batches: int | None = None) -> None:
        """Train with the options of the command line.

        Args:
            epochs: Number of epochs, or None.
            batches: Number of batches, or None.
        """
        arguments = self._arguments
        try:
            self.estimator.fit(
                self._loader,
                epochs=epochs,
                batches=batches,
                event_handlers=[
                    _Epochs(self),
                    StepHandler(self._ranks.size),
                    self._scores,
                    self._progress,
                    AheadHandler(),
                ],
                precision=arguments.amp,
                accumulate=arguments.accumulate,
                clip_grad_norm=arguments.clip_grad_norm,
                clip_grad_value=arguments.clip_grad_value,
                average=self._average,
                sam=make_sam(arguments, self.estimator.net.collect_params()),
            )
        finally:
            self._progress.close()

    def measure(self, warm_ups: int) -> Iterator[float]:
        """Train without results, and yield the samples per second of each epoch.

        Args:
            warm_ups: Number of batches before.
        """
        self._measures = True
        self.fit(None, warm_ups)
        for epoch in range(self._arguments.num_epochs):
            self._progress.epoch = epoch
            self.fit(1)
            yield self._progress.speed["samples_per_second"]

    def restore(self) -> None:
        """Resume from a checkpoint, if requested.

        Raises:
            ArgumentError: There are checkpoints under the prefix, and --resume was not set.
            MissingFileError: The checkpoint is missing.
            FileFormatError: The checkpoint's files differ from its record.
        """
        arguments, checkpoints = self._arguments, self._checkpoints
        if checkpoints is None:
            return
        epoch = arguments.load_epoch
        newest = checkpoints.newest() if epoch is None else epoch
        if len(set(self._ranks.gather(newest))) > 1:
            raise ArgumentError(
                f"--model-prefix: expected a folder that all processes see, got "
                f"{str(checkpoints.prefix)!r}, where they find different checkpoints"
            )
        if newest is None:
            return
        if epoch is None and not arguments.resume:
            raise ArgumentError(
                "--model-prefix: expected a prefix without checkpoints, got "
                f"{str(checkpoints.prefix)!r}, which has one of epoch {newest}; add --resume to go "
                "on from there, or choose another"
            )
        if not checkpoints.has_record(newest):
            self._load_parameters(newest)
            return
        record = checkpoints.read(newest)
        self._tell_changes(record.options)
        before = record.options.get("lookahead")
        if (before is None) != (arguments.lookahead is None):
            raise ArgumentError(
                f"--lookahead: expected the one of the training that is resumed, {before}, got "
                f"{arguments.lookahead}; the optimizer's states have slow weights only with it"
            )
        self.record.epoch, self.record.history = newest, record.history
        net, trainer = self.estimator.net, self.estimator.trainer
        net.load_parameters(checkpoints.params_path(newest), ctx=self._contexts)
        fresh = trainer.optimizer
        schedule = fresh.lr_scheduler
        trainer.load_states(checkpoints.states_path(newest))
        # The command line takes precedence over the options in the states.
        optimizer = trainer.optimizer
        optimizer.lr_scheduler = schedule
        given = optimizer_arguments(arguments.opt_set)
        take_settings(optimizer, fresh, ("lr", "wd", "momentum", "clip_gradient", *given))
        if record.loss_scale is not None:
            self.estimator._loss_scaler = _scaler(record.loss_scale)
        if self._average is not None:
            self._average.load(str(checkpoints.average_path(newest)))
        for entry in record.history:
            self._judge(entry)
        print(f"goes on after epoch {newest} of {checkpoints.prefix}", flush=True)

    def _load_parameters(self, epoch: int) -> None:
        """Start from parameters without a record, such as MXNet's."""
        assert self._checkpoints is not None
        path = self._checkpoints.params_path(epoch)
        self.estimator.net.load_parameters(path, ctx=self._contexts)
        self.record.epoch = epoch
        optimizer = self.estimator.trainer.optimizer
        updates = -(-self._source.batches_per_epoch // self._arguments.accumulate)
        optimizer.begin_num_update = optimizer.num_update = epoch * updates
        print(f"starts from the parameters in {path}, with a new optimizer", flush=True)

    def _tell_changes(self, before: dict[str, Any]) -> None:
        now = self.record.options
        for name in sorted(now.keys() | before.keys()):
            if now.get(name) != before.get(name):
                flag = name.replace("_", "-")
                print(f"--{flag} is now {now.get(name)}, and was {before.get(name)}", flush=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the checkpoints' prefix against other runs, if there is one."""
        with ExitStack() as stack:
            if self._checkpoints is not None and self._ranks.is_first:
                stack.enter_context(self._checkpoints.held())
            yield

    def run(self) -> None:
        """Train the remaining epochs."""
        arguments = self._arguments
        if self._checkpoints is not None and self._ranks.is_first:
            path = self._checkpoints.path("-recipe.yaml")
            write_recipe(path, settings(arguments), f"the training of {path.name}")
        with ExitStack() as stack:
            if arguments.tensorboard is not None and self._ranks.is_first:
                for part in ("training", "validation"):
                    self._writers[part] = summary_writer(
                        Path(arguments.tensorboard, part), purge_step=self.record.epoch + 1
                    )
                    stack.callback(self._writers[part].close)
            left = arguments.num_epochs - self.record.epoch
            if left > 0 and not self._has_stopped():
                self.fit(left)
        self._draw()
        best = self._best
        if self._has_stopped():
            print(f"ends early: {best.name} has not improved for {best.waited} epochs", flush=True)
        if self._checkpoints is not None and self.record.history:
            if best.epoch and self._keeps_best:
                print(
                    f"best {best.name}: {best.value:.6f} after epoch {best.epoch}: "
                    f"{self._checkpoints.best_path}",
                    flush=True,
                )
            print(f"learning curves: {self._checkpoints.path('-curves.png')}", flush=True)

    def _judge(self, entry: dict[str, Any]) -> bool:
        """Show an epoch's metric to what depends on it; return whether it is the best."""
        if isinstance(self._schedule, ReduceLROnPlateau):
            self._schedule.step(self._best.of(entry))
        return self._best.add(entry)

    def _has_stopped(self) -> bool:
        patience = self._arguments.early_stop
        return patience is not None and self._best.waited >= patience

    def files(self) -> dict[str, Any]:
        """Return the best epoch, and the paths of parameters and of the plot; None without."""
        checkpoints = self._checkpoints if self.record.history else None
        best = self._best
        kept = (checkpoints and self._keeps_best and checkpoints.best_path) or None
        found = {"metric": best.name, "epoch": best.epoch, "value": best.value}
        return {
            "best": {**found, "parameters": kept},
            "parameters": checkpoints and checkpoints.params_path(self.record.epoch),
            "curves": checkpoints and checkpoints.path("-curves.png"),
        }

    def begin_epoch(self) -> None:
        """Choose the batches and the random numbers of the next epoch."""
        if self._measures:
            return
        epoch = self._loader.epoch = self._progress.epoch = self.record.epoch
        # Each process has different dropout masks.
        others = (self._ranks.rank,) if self._ranks.rank else ()
        seed_all(derived_seed(self._arguments.seed, epoch, *others))

    def end_epoch(self) -> bool:
        """Evaluate, report and save; return whether the training ends early."""
        if self._measures:
            return False
        arguments, trainer = self._arguments, self.estimator.trainer
        epoch = self.record.epoch
        entry: dict[str, Any] = {
            "epoch": epoch + 1,
            "lr": trainer.learning_rate,
            **self._progress.speed,
            "training": self._scores.values(),
            "validation": {},
        }
        self._ranks.average(self._statistics)
        if self._average is not None:
            values = self._average.values
            self._ranks.average_arrays([values[x] for x in values if x.endswith(_STATISTICS)])
        scaler: Any = trainer._amp_loss_scaler
        if scaler is not None:
            numbers = (scaler._loss_scale, scaler._next_loss_scale, scaler._unskipped)
            self.record.loss_scale = list(map(float, numbers))
        with self._evaluated_weights():
            batches = self._source.validation()
            if batches is not None:
                scores = ScoresHandler(self.estimator.val_metrics)
                loader = EvaluationLoader(batches)
                self.estimator.evaluate(loader, event_handlers=[scores, AheadHandler()])
                entry["validation"] = scores.values()
        self.record.epoch = epoch + 1
        self.record.history.append(entry)
        self._report(entry, self._writers)
        if self._judge(entry) and self._keeps_best:
            self._save_best()
        last = epoch + 1 == arguments.num_epochs or self._has_stopped()
        if last or (epoch + 1) % arguments.save_period == 0:
            self._save()
        return self._has_stopped()

    @contextmanager
    def _evaluated_weights(self) -> Iterator[None]:
        """Give the network the averages of its weights, if there are any."""
        if self._average is None:
            yield
            return
        with self._average.applied():
            yield

    def _report(self, entry: dict[str, Any], writers: dict[str, Any]) -> None:
        number = entry["epoch"] - 1  # MXNet counts from 0
        print(f"Epoch[{number}] {shown(entry['training'], 'Train-')}")
        print(
            f"Epoch[{number}] Time cost={entry['seconds']:.3f}\t"
            f"Speed: {entry['samples_per_second']:.2f} samples/sec\tlr={entry['lr']:.6g}"
        )
        if entry["validation"]:
            print(f"Epoch[{number}] {shown(entry['validation'], 'Validation-')}", flush=True)
        for part, writer in writers.items():
            for name, value in entry[part].items():
                writer.add_scalar(name, value, global_step=entry["epoch"])
            if part == "training":
                for name in ("lr", "samples_per_second"):
                    writer.add_scalar(name, entry[name], global_step=entry["epoch"])
            writer.flush()

    def _save(self) -> None:
        checkpoints = self._checkpoints
        if checkpoints is None or not self._ranks.is_first:
            return
        checkpoints.save(self.record, self._write)
        write_json(checkpoints.path("-history.json"), {"history": self.record.history})
        if perf_counter() - self._drawn_s > _DRAW_AFTER_S:
            self._draw()
        print(f'Saved checkpoint to "{checkpoints.params_path(self.record.epoch)}"', flush=True)

    def _save_best(self) -> None:
        """Write the weights that were evaluated, after the best epoch so far."""
        checkpoints = self._checkpoints
        if checkpoints is None or not self._ranks.is_first:
            return
        with self._evaluated_weights():
            _, values = self._symbol_and_values()
            save_arrays(str(checkpoints.best_path), values)

    def _symbol_and_values(self) -> tuple[Any, dict[str, Any]]:
        net = self.estimator.net
        symbol = net(sym.var("data"))
        parameters = {
            parameter._full_name: parameter for parameter in net.collect_params().values()
        }
        return symbol, values_by_name(parameters, symbol.list_auxiliary_states())

    def _write(self, epoch: int) -> None:
        """Write symbol and parameters, which MXNet can read, and the states."""
        assert self._checkpoints is not None
        symbol, values = self._symbol_and_values()
        write_model("train", symbol, values, self._checkpoints.export_prefix, epoch, True)
        self.estimator.trainer.save_states(self._checkpoints.states_path(epoch))
        if self._average is not None:
            self._average.save(str(self._checkpoints.average_path(epoch)))

    def _draw(self) -> None:
        if self._checkpoints is not None and self.record.history and self._ranks.is_first:
            plot_history(self.record.history, self._checkpoints.path("-curves.png"))
            self._drawn_s = perf_counter()


class _Epochs(EpochBegin, EpochEnd):
    """Calls a session before and after each epoch."""

    priority = 10  # after the updates, the average of weights and the timing

    def __init__(self, session: Session) -> None:
        self._session = session

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Begin an epoch."""
        self._session.begin_epoch()

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """End an epoch; return whether it is the last."""
        return self._session.end_epoch()


def _scaler(numbers: list[float]) -> LossScaler:
    """Return a loss scale with the numbers of a record."""
    made: Any = LossScaler()
    made._loss_scale, made._next_loss_scale = numbers[:2]
    made._unskipped = int(numbers[2])
    return made  # type: ignore[no-any-return]  # the attributes are those that MXNet has


def seed_all(seed: int) -> None:
    """Seed all random number generators of this process: Python's, NumPy's and the devices'."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # samplers and transforms draw from it
    nd.random.seed(seed)
