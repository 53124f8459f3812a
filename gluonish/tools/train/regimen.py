"""How a network is trained: the optimizer's arguments, the schedule, the loss, the best epoch."""

import argparse
import ast
import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, nearest
from gluonish.gluon.loss import Loss, SigmoidBinaryCrossEntropyLoss, SoftmaxCrossEntropyLoss
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.utils import SAM
from gluonish.lr_scheduler import (
    CosineRestartScheduler,
    CosineScheduler,
    FactorScheduler,
    LinearScheduler,
    LRScheduler,
    MultiFactorScheduler,
    OneCycleScheduler,
    ReduceLROnPlateau,
)
from gluonish.optimizer import Lookahead, Optimizer, create
from gluonish.tools.train.defaults import WITH_MOMENTUM

# Arguments of optimizers that have flags of their own, or that the training sets.
_OWN = {
    "learning_rate": "--lr",
    "wd": "--wd",
    "momentum": "--mom",
    "clip_gradient": "--clip-grad-value",
    "lr_scheduler": "--lr-schedule",
    "multi_precision": "--dtype",
    "rescale_grad": "--batch-size",
}
# Parameters of several axes that are vectors of a position or a token, which decay leaves out.
_VECTORS = ("positions", "class_token", "distillation_token")
# Options that 0 on the command line switches off, if a recipe has them.
_OFF_BY_ZERO = (
    *("mixup", "cutmix", "random_erasing", "clip_grad_norm", "clip_grad_value"),
    *("sam", "asam", "lookahead"),
)
# Options that have no effect then, so that a sweep can try 0 with them.
_WITHOUT_EFFECT = {"lookahead_alpha": ("lookahead",), "mix_prob": ("mixup", "cutmix")}
_INITIAL_DIVISOR, _FINAL_DIVISOR = 25.0, 1e4  # of the one-cycle policy


def check_regimen(arguments: argparse.Namespace) -> None:
    """Check options of the training against each other, and their ranges, before defaults.

    Raises:
        ArgumentError: An option is out of range, or has no effect.
    """
    for name, switches in _WITHOUT_EFFECT.items():
        values = [getattr(arguments, switch) for switch in switches]
        if 0 in values and not any(values):
            setattr(arguments, name, None)
    for name in _OFF_BY_ZERO:
        if getattr(arguments, name) == 0:  # which switches off what a recipe has
            setattr(arguments, name, None)
    if arguments.augment == "none":
        arguments.augment = None
    optimizer_arguments(arguments.opt_set)
    schedule = arguments.lr_schedule or "step"
    of_schedule = {
        "lr_step_epochs": ("step",),
        "lr_factor": ("step", "plateau"),
        "min_lr": ("cosine", "linear", "one-cycle", "restarts", "plateau"),
        "cycle_epochs": ("restarts",),
        "cycle_mult": ("restarts",),
        "plateau_patience": ("plateau",),
    }
    for name, schedules in of_schedule.items():
        if getattr(arguments, name) is not None and schedule not in schedules:
            raise ArgumentError(
                f"{_flag(name)}: expected --lr-schedule {' or '.join(schedules)} with it, got "
                f"{schedule}"
            )
    if schedule == "restarts" and arguments.cycle_epochs is None:
        raise ArgumentError("--lr-schedule restarts: expected --cycle-epochs with it, got none")
    if arguments.warmup_lr is not None and not arguments.warmup_epochs:
        raise ArgumentError("--warmup-lr: expected --warmup-epochs of 1 or more with it")
    if arguments.amp is not None and arguments.dtype not in (None, "float32"):
        raise ArgumentError(f"--amp: expected --dtype float32 with it, got {arguments.dtype}")
    if arguments.bce_threshold is not None and arguments.train_loss != "bce":
        raise ArgumentError("--bce-threshold: expected --train-loss bce with it")
    _check_sharpness(arguments)
    _check_augmentation(arguments)
    _check_numbers(arguments)


def _check_sharpness(arguments: argparse.Namespace) -> None:
    if arguments.sam is not None and arguments.asam is not None:
        raise ArgumentError("--asam: expected one of --sam and --asam, got both")
    for name in ("sam", "asam"):
        if getattr(arguments, name) is not None and (arguments.accumulate or 1) > 1:
            raise ArgumentError(
                f"{_flag(name)}: expected --accumulate 1 with it, since it perturbs the weights by "
                f"the gradients of one batch, got {arguments.accumulate}; use a larger --batch-size"
            )
    if arguments.lookahead_alpha is not None:
        if arguments.lookahead is None:
            raise ArgumentError("--lookahead-alpha: expected --lookahead with it")
        if not 0 < arguments.lookahead_alpha <= 1:
            raise ArgumentError(
                "--lookahead-alpha: expected a number above 0 and up to 1, got "
                f"{arguments.lookahead_alpha}"
            )


def _check_augmentation(arguments: argparse.Namespace) -> None:
    kind = arguments.augment
    of_augment = {
        "augment_magnitude": ("randaugment", "randaugment-timm", "augmix"),
        "augment_std": ("randaugment", "randaugment-timm"),
        "augment_ops": ("randaugment", "randaugment-timm"),
    }
    for name, kinds in of_augment.items():
        if getattr(arguments, name) is not None and kind not in kinds:
            raise ArgumentError(
                f"{_flag(name)}: expected --augment {' or '.join(kinds)} with it, got {kind}"
            )
    if arguments.mix_prob is not None and arguments.mixup is None and arguments.cutmix is None:
        raise ArgumentError("--mix-prob: expected --mixup or --cutmix with it, got neither")


def _check_numbers(arguments: argparse.Namespace) -> None:
    least = {"accumulate": 1, "early_stop": 1, "cycle_epochs": 1, "cycle_mult": 1}
    least |= {"plateau_patience": 0, "lr_base_batch": 1, "lookahead": 1}
    for name, bound in least.items():
        value = getattr(arguments, name)
        if value is not None and value < bound:
            raise ArgumentError(f"{_flag(name)}: expected at least {bound}, got {value}")
    for name in ("clip_grad_norm", "clip_grad_value", "mixup", "cutmix", "sam", "asam"):
        value = getattr(arguments, name)
        if value is not None and not 0 < value < math.inf:
            raise ArgumentError(f"{_flag(name)}: expected a positive number, got {value}")
    for name in ("min_lr", "warmup_lr"):
        value = getattr(arguments, name)
        if value is not None and not 0 <= value < math.inf:
            raise ArgumentError(f"{_flag(name)}: expected a number of 0 or more, got {value}")
    for name in ("label_smoothing", "mix_prob", "random_erasing", "bce_threshold"):
        value = getattr(arguments, name)
        if value is not None and not 0 <= value <= 1:
            raise ArgumentError(f"{_flag(name)}: expected a number from 0 to 1, got {value}")
    for name in ("ema", "drop_path", "dropout"):
        value = getattr(arguments, name)
        if value is not None and not 0 <= value < 1:
            raise ArgumentError(f"{_flag(name)}: expected a number from 0 to below 1, got {value}")


def optimizer_arguments(given: list[str] | None) -> dict[str, Any]:
    """Return the arguments of ``--opt-set``, with numbers, booleans and None as such.

    Args:
        given: Texts ``NAME=VALUE``; None for none.

    Raises:
        ArgumentError: A text has another form, or the argument has a flag of its own.
    """
    found: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name.isidentifier():
            raise ArgumentError(f"--opt-set: expected NAME=VALUE, got {text!r}")
        if name in _OWN:
            raise ArgumentError(f"--opt-set: expected {_OWN[name]} for {name}, got {text!r}")
        if name in found:
            raise ArgumentError(f"--opt-set: expected one value for {name}, got two")
        found[name] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def effective_rate(arguments: argparse.Namespace) -> float:
    """Return the learning rate, scaled by the batch if ``--lr-base-batch`` is given."""
    rate = float(arguments.lr)
    if arguments.lr_base_batch is not None:
        rate *= arguments.batch_size * arguments.accumulate / arguments.lr_base_batch
    return rate


def optimizer_settings(
    arguments: argparse.Namespace, schedule: LRScheduler | None
) -> dict[str, Any]:
    """Return the optimizer's arguments."""
    settings: dict[str, Any] = {
        "learning_rate": effective_rate(arguments),
        "wd": arguments.wd,
        "lr_scheduler": schedule,
        "multi_precision": arguments.dtype != "float32",
        **optimizer_arguments(arguments.opt_set),
    }
    if arguments.optimizer.lower() in WITH_MOMENTUM:
        settings["momentum"] = arguments.mom
    return settings


def make_optimizer(arguments: argparse.Namespace, schedule: LRScheduler | None) -> Optimizer:
    """Return the optimizer, with ``--lookahead`` inside `Lookahead`."""
    made = create(arguments.optimizer, **optimizer_settings(arguments, schedule))
    assert isinstance(made, Optimizer)
    if arguments.lookahead is None:
        return made
    alpha = arguments.lookahead_alpha
    return Lookahead(made, arguments.lookahead, 0.5 if alpha is None else alpha)


def take_settings(optimizer: Any, fresh: Any, names: Sequence[str]) -> None:
    """Set attributes of an optimizer to those of another of its class; Lookahead's own, too."""
    for name in names:
        if hasattr(fresh, name):
            setattr(optimizer, name, getattr(fresh, name))
    if isinstance(fresh, Lookahead):
        take_settings(optimizer.optimizer, fresh.optimizer, names)
        optimizer.k, optimizer.alpha = fresh.k, fresh.alpha


def make_sam(arguments: argparse.Namespace, parameters: ParameterDict) -> SAM | None:
    """Return the perturbation of ``--sam`` or ``--asam``; None without."""
    if arguments.asam is not None:
        return SAM(parameters, arguments.asam, adaptive=True)
    return None if arguments.sam is None else SAM(parameters, arguments.sam)


def leave_out_of_decay(parameters: dict[str, Parameter]) -> None:
    """Set no weight decay for vectors: biases, normalizations, positions and tokens."""
    for name, parameter in parameters.items():
        if len(parameter.shape or ()) < 2 or name.rsplit(".", 1)[-1].endswith(_VECTORS):
            parameter.wd_mult = 0.0


def make_schedule(
    arguments: argparse.Namespace, updates_per_epoch: int, mode: str = "max"
) -> LRScheduler | None:
    """Return the schedule of the learning rate, or None if it is constant.

    Args:
        arguments: The options.
        updates_per_epoch: Number of updates in an epoch.
        mode: Whether the metric of ``--lr-schedule plateau`` should rise, ``"max"``, or fall.

    Raises:
        ArgumentError: The warm-up is as long as the training, or a rate is above ``--lr``.
    """
    rate = effective_rate(arguments)
    for name in ("min_lr", "warmup_lr"):
        if (getattr(arguments, name) or 0) > rate:
            raise ArgumentError(
                f"{_flag(name)}: expected up to the learning rate {rate:g}, got "
                f"{getattr(arguments, name):g}"
            )
    kind = arguments.lr_schedule or "step"
    total = arguments.num_epochs * updates_per_epoch
    rises = arguments.warmup_epochs * updates_per_epoch
    ends = kind in ("cosine", "linear", "one-cycle")
    if ends and rises >= total:
        raise ArgumentError(
            f"--warmup-epochs: expected fewer than the {arguments.num_epochs} epochs of the "
            f"training, got {arguments.warmup_epochs}"
        )
    lowest = arguments.min_lr or 0.0
    if kind == "one-cycle":
        return _one_cycle(arguments, rate, total, rises)
    begin = arguments.warmup_lr
    if begin is None:
        # A constant warm-up keeps this value, so 0 would mean no training.
        begin = 0 if arguments.warmup_strategy == "linear" else rate / 10
    warmup: dict[str, Any] = {
        "base_lr": rate,
        "warmup_steps": rises,
        "warmup_begin_lr": begin,
        "warmup_mode": arguments.warmup_strategy,
    }
    if kind == "cosine":
        return CosineScheduler(total, final_lr=lowest, **warmup)
    if kind == "linear":
        return LinearScheduler(total, final_lr=lowest, **warmup)
    if kind == "restarts":
        length = arguments.cycle_epochs * updates_per_epoch
        mult = arguments.cycle_mult or 1
        return CosineRestartScheduler(length, final_lr=lowest, cycle_mult=mult, **warmup)
    if kind == "plateau":
        patience = 10 if arguments.plateau_patience is None else arguments.plateau_patience
        return ReduceLROnPlateau(mode, arguments.lr_factor, patience, min_lr=lowest, **warmup)
    if kind == "step" and arguments.lr_step_epochs:
        steps = [epoch * updates_per_epoch for epoch in arguments.lr_step_epochs]
        return MultiFactorScheduler(steps, arguments.lr_factor, **warmup)
    if arguments.warmup_epochs:
        return FactorScheduler(rises, 1, **warmup)
    return None


def _one_cycle(
    arguments: argparse.Namespace, rate: float, total: int, rises: int
) -> OneCycleScheduler:
    divisors = _INITIAL_DIVISOR, _FINAL_DIVISOR
    initial = arguments.warmup_lr or rate / divisors[0]
    final = arguments.min_lr or initial / divisors[1]
    return OneCycleScheduler(
        total,
        rate,
        pct_start=rises / total if rises else 0.3,
        div_factor=rate / initial,
        final_div_factor=initial / final,
    )


class BinaryTargetsLoss(Loss):
    """Mean of the binary cross entropies of sigmoids, one for each class.

    Args:
        classes: Number of classes.
        soft: Whether labels are probabilities of all classes, and not class numbers.
        label_smoothing: Part of the target that all classes share.
        threshold: Targets above become 1 and others 0; None to keep them.

    Inputs:
        scores: (N, classes).
        label: (N,), or (N, classes) with ``soft``.

    Outputs:
        loss: (N,).

    References:
        R. Wightman, H. Touvron, H. Jégou, ResNet Strikes Back, 2021.
    """

    def __init__(
        self,
        classes: int,
        soft: bool = False,
        label_smoothing: float = 0.0,
        threshold: float | None = None,
    ) -> None:
        super().__init__(None, 0)
        self._classes, self._soft = classes, soft
        self._smoothing, self._threshold = label_smoothing, threshold
        self.of_targets = SigmoidBinaryCrossEntropyLoss()

    def hybrid_forward(self, F: ModuleType, scores: Any, label: Any) -> Any:
        """Compute the loss.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            scores: (N, classes).
            label: (N,) or (N, classes).
        """
        target = label if self._soft else F.one_hot(label, self._classes)
        if self._smoothing:
            target = target * (1 - self._smoothing) + self._smoothing / self._classes
        if self._threshold is not None:
            target = target > self._threshold
        return self.of_targets(scores, target)


def mixes(arguments: argparse.Namespace) -> bool:
    """Whether the batches of a training have soft labels, of mixed images."""
    return arguments.mixup is not None or arguments.cutmix is not None


def make_loss(arguments: argparse.Namespace, training: bool) -> Any:
    """Return the loss; that of evaluation has no smoothing and no threshold.

    Args:
        arguments: The options.
        training: Whether it is the loss to minimize.
    """
    soft = training and mixes(arguments)
    smoothing = arguments.label_smoothing if training else 0.0
    if arguments.train_loss == "bce":
        threshold = arguments.bce_threshold if training else None
        return BinaryTargetsLoss(arguments.num_classes, soft, smoothing, threshold)
    return SoftmaxCrossEntropyLoss(sparse_label=not soft, label_smoothing=smoothing)


class Best:
    """The best epoch by a metric, and the number of epochs since.

    Args:
        name: ``validation-`` or ``training-`` and the name of a metric, such as
            ``validation-accuracy``.
        flag: The option that has it, for messages.

    Attributes:
        epoch: The best epoch, from 1; 0 if there is none.
        value: Its metric.
        waited: Number of epochs since then.
    """

    def __init__(self, name: str, flag: str = "--best-metric") -> None:
        self.name = name
        self.part, _, self.metric = name.partition("-")
        if self.part not in ("training", "validation") or not self.metric:
            raise ArgumentError(
                f"{flag}: expected training- or validation- and a metric, such as "
                f"validation-accuracy, got {name!r}"
            )
        is_loss = any(word in self.metric for word in ("loss", "entropy", "nll"))
        self.mode = "min" if is_loss else "max"
        self.epoch, self.value, self.waited = 0, math.nan, 0

    def check(self, known: Sequence[str]) -> None:
        """Check the name of the metric.

        Args:
            known: Names of all metrics that epochs have, such as ``validation-accuracy``.

        Raises:
            ArgumentError: The metric is none of them.
        """
        if self.name not in known:
            raise ArgumentError(
                f"--best-metric: expected one of {', '.join(known)}, got {self.name!r}"
                f"{nearest(self.name, known)}"
            )

    def of(self, entry: dict[str, Any]) -> float:
        """Return the metric of an epoch's results.

        Raises:
            ArgumentError: There is no such metric.
        """
        if self.metric not in entry[self.part]:
            parts = ("validation", "training")
            self.check([f"{part}-{name}" for part in parts for name in entry[part]])
        return float(entry[self.part][self.metric])

    def add(self, entry: dict[str, Any]) -> bool:
        """Take account of an epoch; return whether it is the best so far."""
        value = self.of(entry)
        better = value < self.value if self.mode == "min" else value > self.value
        if better or (not self.epoch and not math.isnan(value)):
            self.epoch, self.value, self.waited = entry["epoch"], value, 0
            return True
        self.waited += 1
        return False


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
