"""Checks of the options of ``gluonish train``, and their defaults by data source.

An option that was not specified is None until `complete` fills in the default of the data set, so
that an option without an effect can be rejected instead of ignored.
"""

import argparse
import math
from typing import Any

from gluonish.core.context import Context, gpu
from gluonish.core.device import gpu_count
from gluonish.core.errors import ArgumentError
from gluonish.tools.demo import parse_contexts
from gluonish.tools.train.defaults import (
    AUGMENTATION,
    DEFAULTS,
    FOR_RECORDS,
    FOR_TRAINING,
    IN_MEMORY,
    OF_PIPELINE,
    PIPELINE,
    POLICY,
    USUAL,
    WITH_MOMENTUM,
)
from gluonish.tools.train.flags import add_options
from gluonish.tools.train.recipe import apply_recipe
from gluonish.tools.train.regimen import check_regimen

__all__ = [
    "WITH_MOMENTUM",
    "add_options",
    "augmentation",
    "complete",
    "contexts_of",
    "recorded",
    "settings",
    "uses_pipeline",
]

# Options that do not affect the result, or may change when training resumes.
_NOT_RECORDED = {
    "run",
    "resume",
    "load_epoch",
    "model_prefix",
    "num_epochs",
    "save_period",
    "disp_batches",
    "progress",
    "tensorboard",
    "workers",
    "data_nthreads",
    "test_io",
    "hybridize",
    "top_k",
    "loss",
    "early_stop",
    "best_metric",
    "recipe",
    "write_recipe",
}
# Options that a written recipe does not have: they belong to one call, not to the training.
_OF_A_CALL = {
    "run",
    "json",
    "resume",
    "load_epoch",
    "model_prefix",
    "recipe",
    "write_recipe",
    "test_io",
    "all_commands",
}
_AREA = ("min_random_area", "max_random_area", "min_random_aspect_ratio", "max_random_aspect_ratio")
# Options of record files that make images of a published data set go through `ImageBatches`.
_RESHAPING = ("image_shape", "random_resized_crop", *_AREA)


def complete(arguments: argparse.Namespace) -> None:
    """Check the arguments for contradictions, fill in defaults, and parse numbers.

    Raises:
        ArgumentError: An option is out of range, or has no effect.
    """
    apply_recipe(arguments)
    kind = _kind(arguments)
    _refuse_what_cannot_act(arguments, kind)
    _refuse_contradictions(arguments)
    check_regimen(arguments)
    for name in ("image_shape", "test_image_shape"):
        shape = getattr(arguments, name)
        if isinstance(shape, str):
            parts = _numbers(_flag(name), shape, int)
            if len(parts) != 3 or min(parts) < 1:
                raise ArgumentError(f"{_flag(name)}: expected 3 positive numbers, got {shape!r}")
            setattr(arguments, name, parts)
    for name in ("rgb_mean", "rgb_std"):
        text = getattr(arguments, name)
        if isinstance(text, str):
            setattr(arguments, name, _numbers(_flag(name), text, float))
    usual = {"mom": 0.9, "workers": 0, "fill_value": 0, **USUAL, **DEFAULTS[kind]}
    if arguments.lr_schedule not in (None, "step"):
        usual["lr_step_epochs"] = ""
    if arguments.random_resized_crop and kind != "records":
        usual["random_crop"] = 0
    for name, value in usual.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    arguments.lr_step_epochs = _numbers("--lr-step-epochs", arguments.lr_step_epochs, int)
    arguments.top_k = _numbers("--top-k", arguments.top_k, int)
    arguments.warmup_strategy = arguments.warmup_strategy or "linear"
    if arguments.gc_threshold is None:
        arguments.gc_threshold = 0.5
    _check_ranges(arguments)


def _kind(arguments: argparse.Namespace) -> str:
    """Return the data source, which is a key of `DEFAULTS`."""
    chosen = [
        _flag(name) for name in ("dataset", "data_train", "benchmark") if getattr(arguments, name)
    ]
    if len(chosen) != 1:
        raise ArgumentError(
            "train: expected one of --dataset, --data-train and --benchmark 1, got "
            f"{' and '.join(chosen) or 'none'}"
        )
    if arguments.dataset:
        return str(arguments.dataset)
    return "records" if arguments.data_train else "benchmark"


def uses_pipeline(arguments: argparse.Namespace) -> bool:
    """Whether images are made one by one, by `images.ImageBatches`."""
    names = [*PIPELINE] if arguments.data_train else [*PIPELINE, *_RESHAPING]
    if arguments.dataset and isinstance(arguments.image_shape, tuple):  # after `complete`
        usual = DEFAULTS[arguments.dataset]["image_shape"]
        if arguments.image_shape == usual:
            names = [name for name in names if name != "image_shape"]
    return any(getattr(arguments, name) is not None for name in names)


def _without_effect(arguments: argparse.Namespace, kind: str) -> list[str]:
    """Return the names of options that do not act on this data source."""
    all_names = [row[0].replace("-", "_") for row in AUGMENTATION]
    if kind == "benchmark":
        names = [*FOR_RECORDS, *all_names, *PIPELINE, *POLICY, *FOR_TRAINING]
        return [*names, "rgb_mean", "rgb_std", "workers"]
    if uses_pipeline(arguments):
        names = [name for name in all_names if name not in OF_PIPELINE]
        names += ["data_train_idx", "data_val_idx", "data_nthreads"]
        return names if kind == "records" else [*names, "data_val", "num_classes"]
    if kind == "records":
        return ["workers", *POLICY]
    names = [name for name in all_names if name not in IN_MEMORY]
    return [*FOR_RECORDS, *names, *POLICY, "image_shape", "num_classes"]


def _refuse_what_cannot_act(arguments: argparse.Namespace, kind: str) -> None:
    """Raise an error for options that have no effect on this data source."""
    for name in _without_effect(arguments, kind):
        if getattr(arguments, name) is not None:
            advice = ""
            if kind != "benchmark" and uses_pipeline(arguments):
                flags = ", ".join(_flag(x) for x in PIPELINE if getattr(arguments, x) is not None)
                advice = f" together with {flags}" if flags else ""
            raise ArgumentError(
                f"{_flag(name)}: expected data that it acts on, got {_data_flag(kind)}{advice}"
            )
    for name in FOR_TRAINING:
        if arguments.test_io and getattr(arguments, name) is not None:
            raise ArgumentError(f"{_flag(name)}: expected a training, got --test-io 1")


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    """Raise an error for options that exclude each other, or lack one that they need."""
    if arguments.gpus is not None and arguments.ctx is not None:
        raise ArgumentError("train: expected one of --gpus and --ctx, got both")
    if "async" in (arguments.kv_store or "").lower():
        raise ArgumentError(
            f"--kv-store: expected local, device or dist_sync, got {arguments.kv_store!r}; write a "
            "program with a Trainer, and start it with `gluonish launch`"
        )
    if arguments.resume and arguments.load_epoch is not None:
        raise ArgumentError("train: expected one of --resume and --load-epoch, got both")
    wants_prefix = arguments.resume or arguments.load_epoch is not None
    if wants_prefix and arguments.model_prefix is None:
        raise ArgumentError("train: expected --model-prefix with --resume and --load-epoch")
    if arguments.warmup_strategy is not None and not arguments.warmup_epochs:
        raise ArgumentError("--warmup-strategy: expected --warmup-epochs of 1 or more with it")
    if arguments.gc_threshold is not None and arguments.gc_type in (None, "none"):
        raise ArgumentError("--gc-threshold: expected --gc-type 2bit with it, got none")
    optimizer = (arguments.optimizer or USUAL["optimizer"]).lower()
    if arguments.mom is not None and optimizer not in WITH_MOMENTUM:
        raise ArgumentError(
            f"--mom: expected one of the optimizers {', '.join(WITH_MOMENTUM)}, got {optimizer}"
        )


def _data_flag(kind: str) -> str:
    if kind == "records":
        return "--data-train"
    return "--benchmark 1" if kind == "benchmark" else f"--dataset {kind}"


def _check_ranges(arguments: argparse.Namespace) -> None:
    least = {"num_epochs": 1, "batch_size": 1, "num_classes": 2, "save_period": 1}
    least |= {"workers": 0, "warmup_epochs": 0, "disp_batches": 0, "seed": 0, "wd": 0}
    least |= {"load_epoch": 0, "num_examples": 1, "data_nthreads": 1, "pad_size": 0}
    least |= {"repeated_aug": 1, "augment_ops": 0, "augment_magnitude": 0, "augment_std": 0}
    for name, bound in least.items():
        value = getattr(arguments, name)
        if value is not None and not value >= bound:
            raise ArgumentError(f"{_flag(name)}: expected at least {bound}, got {value}")
    if not 0 < arguments.lr < math.inf:
        raise ArgumentError(f"--lr: expected a positive number, got {arguments.lr}")
    channels = arguments.image_shape[0]
    test_shape = arguments.test_image_shape
    if test_shape is not None and test_shape[0] != channels:
        raise ArgumentError(
            f"--test-image-shape: expected {channels} channels, as of --image-shape, got "
            f"{test_shape[0]}"
        )
    if arguments.test_crop is not None and not 0 < arguments.test_crop <= 1:
        raise ArgumentError(
            f"--test-crop: expected a number above 0 and up to 1, got {arguments.test_crop}"
        )
    for name in ("rgb_mean", "rgb_std"):
        values = getattr(arguments, name)
        if len(values) != channels:
            raise ArgumentError(
                f"{_flag(name)}: expected a number for each of {channels} channels, got "
                f"{','.join(map(str, values))}"
            )
    if not all(value > 0 for value in arguments.rgb_std):
        raise ArgumentError(f"--rgb-std: expected positive numbers, got {arguments.rgb_std}")
    steps = arguments.lr_step_epochs
    if any(later <= earlier for earlier, later in zip((0, *steps), steps, strict=False)):
        raise ArgumentError(f"--lr-step-epochs: expected increasing epochs, got {steps}")
    for name in arguments.loss.split(",") if arguments.loss else ():
        if name not in ("ce", "nll_loss"):
            raise ArgumentError(f"--loss: expected ce, nll_loss or both, got {arguments.loss!r}")


def _numbers(flag: str, text: str, kind: type) -> tuple[Any, ...]:
    """Parse numbers separated by commas.

    Raises:
        ArgumentError: An item is not a number.
    """
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise ArgumentError(f"{flag}: expected numbers with commas, got {text!r}") from error


def contexts_of(arguments: argparse.Namespace, processes: int = 1) -> list[Context]:
    """Return the devices of each process.

    Args:
        arguments: The options.
        processes: Number of processes that train together.

    Raises:
        ArgumentError: A GPU does not exist, or there are more devices than images in a batch.
    """
    if arguments.gpus is None:
        contexts = parse_contexts(arguments.ctx or "cpu:0")
    else:
        wanted = _numbers("--gpus", arguments.gpus, int)
        there = gpu_count()
        if not wanted or not all(0 <= number < there for number in wanted):
            numbered = f", which count from 0 to {there - 1}" if there else ""
            raise ArgumentError(
                f"--gpus: expected numbers of the {there} GPUs that there are{numbered}, got "
                f"{arguments.gpus!r}; leave it out to train on the CPU"
            )
        contexts = [gpu(number) for number in wanted]
    if len(set(contexts)) < len(contexts):
        raise ArgumentError(f"train: expected devices once each, got {contexts}")
    devices = len(contexts) * processes
    if arguments.batch_size < devices:
        raise ArgumentError(
            f"--batch-size: expected an image or more for each of {devices} devices, got "
            f"{arguments.batch_size}"
        )
    if arguments.gc_type != "none" and devices == 1:
        raise ArgumentError("--gc-type: expected several devices, between which gradients are sent")
    return contexts


def augmentation(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of ImageRecordIter from the command line."""
    given = {
        argument: getattr(arguments, flag.replace("-", "_")) for flag, argument, *_ in AUGMENTATION
    }
    flags = ("rand_crop", "rand_mirror", "random_resized_crop")
    return {
        name: bool(value) if name in flags else value
        for name, value in given.items()
        if value is not None
    }


def recorded(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that a checkpoint stores, as JSON values."""
    kept = {name: value for name, value in vars(arguments).items() if name not in _NOT_RECORDED}
    if arguments.lr_schedule in ("cosine", "linear", "one-cycle"):  # which end with the training
        kept["num_epochs"] = arguments.num_epochs
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in sorted(kept.items())
    }


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return all options of a training after `complete`, as a recipe states them.

    Those without an effect and without a value are left out.
    """
    kind = _kind(arguments)
    idle = {*_OF_A_CALL, *_without_effect(arguments, kind)}
    if arguments.optimizer.lower() not in WITH_MOMENTUM:
        idle.add("mom")
    if not arguments.warmup_epochs:
        idle.add("warmup_strategy")
    if arguments.gc_type == "none":
        idle.add("gc_threshold")
    if not arguments.benchmark:
        idle.add("benchmark")
    schedule = arguments.lr_schedule or "step"
    if schedule != "plateau" and not (schedule == "step" and arguments.lr_step_epochs):
        idle.add("lr_factor")
    if kind in DEFAULTS and arguments.dataset and not uses_pipeline(arguments):
        idle.add("image_shape")
    return {
        name: value
        for name, value in vars(arguments).items()
        if name not in idle and value not in (None, "", ())
    }


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
