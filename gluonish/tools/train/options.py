"""The options of ``gluonish train``: those of MXNet's image classification example, and more.

An option that was not specified is None until `complete` fills in the default of the data set, so
that an option without an effect can be rejected instead of ignored.
"""

import argparse
from typing import Any

from gluonish.core.context import Context, gpu
from gluonish.core.device import gpu_count
from gluonish.core.errors import ArgumentError
from gluonish.tools.demo import parse_contexts
from gluonish.tools.json_output import add_json_option
from gluonish.tools.train.defaults import (
    AUGMENTATION,
    DEFAULTS,
    FOR_RECORDS,
    FOR_TRAINING,
    IN_MEMORY,
    WITH_MOMENTUM,
)
from gluonish.tools.train.networks import INITIALIZERS
from gluonish.tools.train.pixels import DATASETS

__all__ = [
    "WITH_MOMENTUM",
    "add_options",
    "augmentation",
    "complete",
    "contexts_of",
    "recorded",
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
    "tensorboard",
    "workers",
    "data_nthreads",
    "test_io",
    "hybridize",
    "top_k",
    "loss",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to a parser."""
    _add_network(parser.add_argument_group("network"))
    _add_data(parser.add_argument_group("data"))
    _add_training(parser.add_argument_group("training"))
    _add_devices(parser.add_argument_group("devices"))
    outputs = parser.add_argument_group("checkpoints and reports")
    _add_outputs(outputs)
    add_json_option(outputs)
    group = parser.add_argument_group("augmentation, of record files; the marked ones of all data")
    for flag, _, kind, text in AUGMENTATION:
        mark = " (*)" if flag.replace("-", "_") in IN_MEMORY else ""
        group.add_argument(f"--{flag}", type=kind, help=text + mark)


def _add_network(group: Any) -> None:
    group.add_argument(
        "--network",
        help="mlp, lenet, a name of the model zoo such as resnet50_v1, resnet20 to resnet110 for "
        "small images, or resnet, resnet-v1, vgg, densenet with --num-layers",
    )
    group.add_argument("--num-layers", type=int, help="depth of --network resnet and the like")
    group.add_argument(
        "--initializer", choices=INITIALIZERS, default="default", help="initializer of the weights"
    )
    group.add_argument(
        "--dtype",
        choices=("float32", "float16", "bfloat16"),
        default="float32",
        help="dtype of the network; 16-bit ones also keep float32 weights, and a float32 loss",
    )
    group.add_argument(
        "--hybridize",
        action="store_true",
        default=True,
        help="compile the network, which is the default",
    )
    group.add_argument(
        "--imperative", dest="hybridize", action="store_false", help="do not hybridize"
    )


def _add_data(group: Any) -> None:
    group.add_argument("--dataset", choices=DATASETS, help="a published data set")
    group.add_argument("--data-train", help="a record file, instead of --dataset")
    group.add_argument("--data-train-idx", help="its index (default: the .idx file next to it)")
    group.add_argument("--data-val", help="a record file to evaluate with")
    group.add_argument("--data-val-idx", help="its index")
    group.add_argument("--benchmark", type=int, choices=(0, 1), default=0, help="1: random pixels")
    group.add_argument("--image-shape", help="channels,height,width, such as 3,224,224")
    group.add_argument("--num-classes", type=int, help="number of labels")
    group.add_argument("--num-examples", type=int, help="images in an epoch (default: all)")
    group.add_argument("--rgb-mean", help="mean of pixels (0 to 255) to subtract, one per channel")
    group.add_argument("--rgb-std", help="standard deviation to divide by, one per channel")
    group.add_argument("--data-nthreads", type=int, help="threads that decode record files")
    group.add_argument("--workers", type=int, help="processes that load a --dataset (default: 0)")
    group.add_argument(
        "--test-io",
        type=int,
        choices=(0, 1),
        default=0,
        help="1: only load data, and print the speed",
    )


def _add_training(group: Any) -> None:
    group.add_argument(
        "--num-epochs", type=int, help="total number of epochs, including those before a checkpoint"
    )
    group.add_argument(
        "--batch-size", type=int, help="images in a batch, over all devices and processes"
    )
    group.add_argument(
        "--optimizer",
        default="sgd",
        metavar="NAME",
        help="name of the optimizer (default: %(default)s)",
    )
    group.add_argument("--lr", type=float, help="learning rate")
    group.add_argument(
        "--lr-factor",
        type=float,
        default=0.1,
        metavar="X",
        help="what --lr-step-epochs multiplies the learning rate by (default: %(default)s)",
    )
    group.add_argument("--lr-step-epochs", help="epochs after which to multiply by --lr-factor")
    group.add_argument(
        "--warmup-epochs",
        type=int,
        default=0,
        metavar="N",
        help="epochs in which the learning rate rises (default: %(default)s)",
    )
    group.add_argument(
        "--warmup-strategy",
        choices=("linear", "constant"),
        help="how the learning rate rises (default: linear)",
    )
    group.add_argument("--mom", type=float, help="momentum, if used (default: 0.9)")
    group.add_argument("--wd", type=float, default=1e-4, help="weight decay (default: %(default)s)")
    group.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of weights, order and augmentation (default: %(default)s)",
    )


def _add_devices(group: Any) -> None:
    group.add_argument("--gpus", help="indices of GPUs, such as 0,1")
    group.add_argument("--ctx", help="devices, such as cpu:0,cpu:1 (default: cpu:0)")
    group.add_argument(
        "--kv-store",
        default="device",
        help="local, device (the default), or dist_sync for the processes of `gluonish launch`",
    )
    group.add_argument(
        "--gc-type", choices=("none", "2bit"), default="none", help="compression of gradients"
    )
    group.add_argument("--gc-threshold", type=float, help="its threshold (default: 0.5)")


def _add_outputs(group: Any) -> None:
    group.add_argument(
        "--model-prefix",
        help="prefix of checkpoints; an ending .safetensors or .npz sets the"
        " format of the parameters (default: no checkpoints)",
    )
    group.add_argument(
        "--save-period",
        type=int,
        default=1,
        metavar="N",
        help="epochs between checkpoints (default: %(default)s)",
    )
    group.add_argument("--load-epoch", type=int, help="continue from the checkpoint of this epoch")
    group.add_argument(
        "--resume",
        action="store_true",
        help="continue from the newest complete checkpoint, or start if there is none",
    )
    group.add_argument(
        "--disp-batches",
        type=int,
        default=20,
        metavar="N",
        help="batches between log lines (default: %(default)s)",
    )
    group.add_argument(
        "--top-k", default="", metavar="K", help="also report top-k accuracies, such as 5"
    )
    group.add_argument("--loss", default="", help="further losses to report: ce, nll_loss, or both")
    group.add_argument("--tensorboard", metavar="DIR", help="folder for events of TensorBoard")


def complete(arguments: argparse.Namespace) -> None:
    """Check the arguments for contradictions, fill in defaults, and parse numbers.

    Raises:
        ArgumentError: An option is out of range, or has no effect.
    """
    kind = _kind(arguments)
    _refuse_what_cannot_act(arguments, kind)
    _refuse_contradictions(arguments)
    shape = arguments.image_shape
    if isinstance(shape, str):
        parts = _numbers("--image-shape", shape, int)
        if len(parts) != 3 or min(parts) < 1:
            raise ArgumentError(f"--image-shape: expected 3 positive numbers, got {shape!r}")
        arguments.image_shape = parts
    for name in ("rgb_mean", "rgb_std"):
        text = getattr(arguments, name)
        if isinstance(text, str):
            setattr(arguments, name, _numbers(_flag(name), text, float))
    for name, value in {"mom": 0.9, "workers": 0, "fill_value": 0, **DEFAULTS[kind]}.items():
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


def _refuse_what_cannot_act(arguments: argparse.Namespace, kind: str) -> None:
    """Raise an error for options that have no effect on this data source."""
    names = [row[0].replace("-", "_") for row in AUGMENTATION]
    idle: list[str] = []
    if kind != "records":
        idle += [*FOR_RECORDS, *(name for name in names if name not in IN_MEMORY)]
    if kind == "benchmark":
        idle += [*IN_MEMORY, "rgb_mean", "rgb_std", "workers", *FOR_TRAINING]
    elif kind == "records":
        idle += ["workers"]
    else:
        idle += ["image_shape", "num_classes"]
    for name in idle:
        if getattr(arguments, name) is not None:
            raise ArgumentError(
                f"{_flag(name)}: expected data that it acts on, got {_data_flag(kind)}"
            )
    for name in FOR_TRAINING:
        if arguments.test_io and getattr(arguments, name) is not None:
            raise ArgumentError(f"{_flag(name)}: expected a training, got --test-io 1")


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    """Raise an error for options that exclude each other, or lack one that they need."""
    if arguments.gpus is not None and arguments.ctx is not None:
        raise ArgumentError("train: expected one of --gpus and --ctx, got both")
    if "async" in arguments.kv_store.lower():
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
    if arguments.gc_threshold is not None and arguments.gc_type == "none":
        raise ArgumentError("--gc-threshold: expected --gc-type 2bit with it, got none")
    if arguments.mom is not None and arguments.optimizer.lower() not in WITH_MOMENTUM:
        raise ArgumentError(
            f"--mom: expected one of the optimizers {', '.join(WITH_MOMENTUM)}, got "
            f"{arguments.optimizer}"
        )


def _data_flag(kind: str) -> str:
    if kind == "records":
        return "--data-train"
    return "--benchmark 1" if kind == "benchmark" else f"--dataset {kind}"


def _check_ranges(arguments: argparse.Namespace) -> None:
    least = {"num_epochs": 1, "batch_size": 1, "num_classes": 2, "save_period": 1}
    least |= {"workers": 0, "warmup_epochs": 0, "disp_batches": 0, "seed": 0, "wd": 0}
    least |= {"load_epoch": 0, "num_examples": 1, "data_nthreads": 1, "pad_size": 0}
    for name, bound in least.items():
        value = getattr(arguments, name)
        if value is not None and not value >= bound:
            raise ArgumentError(f"{_flag(name)}: expected at least {bound}, got {value}")
    if not arguments.lr > 0:
        raise ArgumentError(f"--lr: expected a positive number, got {arguments.lr}")
    channels = arguments.image_shape[0]
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
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in sorted(kept.items())
    }


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
