"""The flags of ``gluonish train``: those of MXNet's image classification example, and more.

Each default is None until `options.complete` fills it in. So an option without an effect can be
refused instead of ignored, and a recipe (`recipe.py`) sets what the command line does not.
"""

import argparse
from typing import Any

from gluonish.tools.json_output import add_json_option
from gluonish.tools.train.defaults import AUGMENTATION, IN_MEMORY, USUAL
from gluonish.tools.train.networks import INITIALIZERS
from gluonish.tools.train.pixels import DATASETS

AUGMENTS = ("none", "randaugment", "randaugment-timm", "trivialaugment", "augmix")
SCHEDULES = ("step", "cosine", "linear", "one-cycle", "restarts", "plateau", "constant")
PROGRESS = ("auto", "bar", "lines", "none")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to a parser."""
    _add_network(parser.add_argument_group("network"))
    _add_data(parser.add_argument_group("data"))
    _add_training(parser.add_argument_group("training"))
    _add_schedule(parser.add_argument_group("learning rate"))
    _add_devices(parser.add_argument_group("devices"))
    outputs = parser.add_argument_group("checkpoints and reports")
    _add_outputs(outputs)
    add_json_option(outputs)
    _add_recipes(parser.add_argument_group("recipes: files of options"))
    group = parser.add_argument_group("augmentation of record files; the marked ones of all data")
    for flag, _, kind, text in AUGMENTATION:
        mark = " (*)" if flag.replace("-", "_") in IN_MEMORY else ""
        group.add_argument(f"--{flag}", type=kind, help=text + mark)
    _add_policies(parser.add_argument_group("augmentation of all data, by processes of --workers"))


def _add(group: Any, flag: str, text: str, **options: Any) -> None:
    """Add an option whose default is in `USUAL`, and in its help."""
    usual = USUAL.get(flag.lstrip("-").replace("-", "_"))
    if usual not in (None, ""):
        text += f" (default: {usual})"
    group.add_argument(flag, help=text, **options)


def _add_network(group: Any) -> None:
    group.add_argument(
        "--network",
        help="mlp, lenet, a name of the model zoo such as resnet50_v1, resnet20 to resnet110 for "
        "small images, or resnet, resnet-v1, vgg, densenet with --num-layers",
    )
    group.add_argument("--num-layers", type=int, help="depth of --network resnet and the like")
    _add(group, "--initializer", "initializer of the weights", choices=INITIALIZERS)
    _add(
        group,
        "--dtype",
        "dtype of the network; 16-bit ones also keep float32 weights, and a float32 loss",
        choices=("float32", "float16", "bfloat16"),
    )
    group.add_argument(
        "--amp",
        choices=("float16", "bfloat16"),
        help="compute in mixed precision: operators that gain by it in this dtype, the others and "
        "the weights in float32; float16 with a dynamic loss scale",
    )
    group.add_argument(
        "--drop-path",
        type=float,
        metavar="P",
        help="stochastic depth: probability of dropping the last residual unit, 0 to 1; that of "
        "the others rises linearly from 0 (networks with units of this kind)",
    )
    group.add_argument(
        "--dropout", type=float, metavar="P", help="dropout, 0 to 1 (networks that have it)"
    )
    group.add_argument(
        "--hybridize",
        action="store_true",
        default=None,
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
    _add(group, "--benchmark", "1: random pixels", type=int, choices=(0, 1))
    group.add_argument("--image-shape", help="channels,height,width, such as 3,224,224")
    group.add_argument(
        "--test-image-shape", help="that of evaluation, if another (default: --image-shape)"
    )
    group.add_argument(
        "--test-crop",
        type=float,
        metavar="RATIO",
        help="evaluate the center of images whose shorter side was resized to the side / RATIO",
    )
    group.add_argument("--num-classes", type=int, help="number of labels")
    group.add_argument("--num-examples", type=int, help="images in an epoch (default: all)")
    group.add_argument("--rgb-mean", help="mean of pixels (0 to 255) to subtract, one per channel")
    group.add_argument("--rgb-std", help="standard deviation to divide by, one per channel")
    group.add_argument("--data-nthreads", type=int, help="threads that decode record files")
    group.add_argument(
        "--workers",
        type=int,
        help="processes that load a --dataset, or record files with the augmentation of all data "
        "(default: 0)",
    )
    _add(group, "--test-io", "1: only load data, and print the speed", type=int, choices=(0, 1))


def _add_training(group: Any) -> None:
    group.add_argument(
        "--num-epochs", type=int, help="total number of epochs, including those before a checkpoint"
    )
    group.add_argument(
        "--batch-size", type=int, help="images in a batch, over all devices and processes"
    )
    _add(
        group,
        "--accumulate",
        "batches whose gradients are added for an update; an epoch's last one may have fewer",
        type=int,
        metavar="N",
    )
    _add(group, "--optimizer", "name of the optimizer", metavar="NAME")
    group.add_argument(
        "--opt-set",
        action="append",
        metavar="NAME=VALUE",
        help="a further argument of the optimizer, such as beta2=0.95; can be repeated",
    )
    group.add_argument("--mom", type=float, help="momentum, if used (default: 0.9)")
    _add(group, "--wd", "weight decay", type=float)
    group.add_argument(
        "--wd-matrices-only",
        action="store_true",
        default=None,
        help="weight decay of matrices and kernels only: not of biases, normalizations, positions "
        "and tokens",
    )
    group.add_argument(
        "--clip-grad-norm", type=float, metavar="X", help="largest 2-norm of all gradients together"
    )
    group.add_argument(
        "--clip-grad-value", type=float, metavar="X", help="largest value of a gradient's element"
    )
    _add(
        group,
        "--train-loss",
        "loss to minimize: cross entropy of a softmax, or binary ones of sigmoids (bce), whose "
        "targets are each class by itself",
        choices=("softmax", "bce"),
    )
    _add(
        group,
        "--label-smoothing",
        "part of the target that all classes share, 0 to 1",
        type=float,
        metavar="S",
    )
    group.add_argument(
        "--bce-threshold",
        type=float,
        metavar="T",
        help="--train-loss bce: targets above T become 1 and others 0, as of mixed labels",
    )
    group.add_argument(
        "--ema",
        type=float,
        metavar="DECAY",
        help="keep an exponential moving average of the weights, which is what is evaluated, such "
        "as 0.9999",
    )
    group.add_argument(
        "--early-stop",
        type=int,
        metavar="N",
        help="end after N epochs in which --best-metric did not improve",
    )
    group.add_argument(
        "--best-metric",
        metavar="NAME",
        help="metric by which prefix-best.params is kept, such as validation-loss or "
        "training-accuracy (default: validation-accuracy)",
    )
    group.add_argument(
        "--sam",
        type=float,
        metavar="RHO",
        help="sharpness-aware minimization: gradients at weights that are RHO away along a first "
        "gradient, such as 0.05; a batch takes twice the time",
    )
    group.add_argument(
        "--asam",
        type=float,
        metavar="RHO",
        help="the same with a distance relative to each weight (ASAM), such as 0.5",
    )
    group.add_argument(
        "--lookahead",
        type=int,
        metavar="K",
        help="Lookahead around the optimizer: after each K updates, the weights are set to a mean "
        "of themselves and of those after the last such mean",
    )
    group.add_argument(
        "--lookahead-alpha",
        type=float,
        metavar="X",
        help="--lookahead: share of the updated weights in the mean, above 0 and up to 1 "
        "(default: 0.5)",
    )
    _add(group, "--seed", "seed of weights, order and augmentation", type=int, metavar="N")


def _add_schedule(group: Any) -> None:
    group.add_argument("--lr", type=float, help="learning rate")
    group.add_argument(
        "--lr-base-batch",
        type=int,
        metavar="N",
        help="batch that --lr is for: it is multiplied by the images of an update / N",
    )
    group.add_argument(
        "--lr-schedule",
        choices=SCHEDULES,
        help="how the rate changes after the warm-up: in steps (the default), along a cosine or a "
        "line to --min-lr, in one cycle (whose rise is the warm-up), in cosines with warm "
        "restarts, when --best-metric does not improve, or not at all",
    )
    _add(
        group,
        "--lr-factor",
        "what --lr-step-epochs and plateau multiply the learning rate by",
        type=float,
        metavar="X",
    )
    group.add_argument("--lr-step-epochs", help="epochs after which to multiply by --lr-factor")
    group.add_argument("--min-lr", type=float, metavar="X", help="least rate (default: 0)")
    _add(group, "--warmup-epochs", "epochs in which the learning rate rises", type=int, metavar="N")
    group.add_argument(
        "--warmup-strategy",
        choices=("linear", "constant"),
        help="how the learning rate rises (default: linear)",
    )
    group.add_argument(
        "--warmup-lr",
        type=float,
        metavar="X",
        help="rate at the begin of the warm-up (default: 0; a tenth of --lr if constant)",
    )
    group.add_argument(
        "--cycle-epochs", type=int, metavar="N", help="restarts: epochs of the first cycle"
    )
    group.add_argument(
        "--cycle-mult",
        type=int,
        metavar="N",
        help="restarts: length of a cycle divided by that of the one before (default: 1)",
    )
    group.add_argument(
        "--plateau-patience",
        type=int,
        metavar="N",
        help="plateau: epochs without improvement before the rate is lowered (default: 10)",
    )


def _add_policies(group: Any) -> None:
    group.add_argument(
        "--augment",
        choices=AUGMENTS,
        help="random operations on each image: of torchvision's RandAugment, of timm's "
        "(rand-m-mstd-inc1), TrivialAugment (wide), AugMix, or none",
    )
    group.add_argument(
        "--augment-magnitude",
        type=int,
        metavar="M",
        help="strength: RandAugment 0 to 30 (default: 9), timm's 0 to 10 (default: 9), AugMix's "
        "severity 1 to 10 (default: 3)",
    )
    group.add_argument(
        "--augment-std",
        type=float,
        metavar="S",
        help="standard deviation of RandAugment's magnitude (default: 0, timm's 0.5)",
    )
    group.add_argument(
        "--augment-ops",
        type=int,
        metavar="N",
        help="operations on an image (RandAugment; default: 2)",
    )
    group.add_argument(
        "--random-erasing",
        type=float,
        metavar="P",
        help="probability of replacing a rectangle by noise",
    )
    group.add_argument("--mixup", type=float, metavar="ALPHA", help="mix pairs of images")
    group.add_argument(
        "--cutmix",
        type=float,
        metavar="ALPHA",
        help="paste a rectangle of another image; with --mixup, half of the batches each",
    )
    group.add_argument(
        "--mix-prob",
        type=float,
        metavar="P",
        help="probability that a batch is mixed (default: 1)",
    )
    group.add_argument(
        "--repeated-aug",
        type=int,
        metavar="N",
        help="have each image N times in a batch, with other augmentation; an epoch has as many "
        "images as before",
    )
    group.add_argument(
        "--interpolation",
        choices=("bilinear", "bicubic"),
        help="how images are resized (default: bilinear)",
    )


def _add_devices(group: Any) -> None:
    group.add_argument("--gpus", help="indices of GPUs, such as 0,1")
    group.add_argument("--ctx", help="devices, such as cpu:0,cpu:1 (default: cpu:0)")
    _add(
        group,
        "--kv-store",
        "local, device, or dist_sync for the processes of `gluonish launch`",
    )
    _add(group, "--gc-type", "compression of gradients", choices=("none", "2bit"))
    group.add_argument("--gc-threshold", type=float, help="its threshold (default: 0.5)")


def _add_outputs(group: Any) -> None:
    group.add_argument(
        "--model-prefix",
        help="prefix of checkpoints; an ending .safetensors or .npz sets the"
        " format of the parameters (default: no checkpoints)",
    )
    _add(group, "--save-period", "epochs between checkpoints", type=int, metavar="N")
    group.add_argument("--load-epoch", type=int, help="continue from the checkpoint of this epoch")
    group.add_argument(
        "--resume",
        action="store_true",
        help="continue from the newest complete checkpoint, or start if there is none",
    )
    _add(group, "--disp-batches", "batches between log lines", type=int, metavar="N")
    _add(
        group,
        "--progress",
        "a bar, log lines, neither, or what suits: a bar on a terminal",
        choices=PROGRESS,
    )
    _add(group, "--top-k", "also report top-k accuracies, such as 5", metavar="K")
    _add(group, "--loss", "further losses to report: ce, nll_loss, or both")
    group.add_argument("--tensorboard", metavar="DIR", help="folder for events of TensorBoard")


def _add_recipes(group: Any) -> None:
    group.add_argument(
        "--recipe",
        metavar="NAME|FILE",
        help="options of a YAML file, or of a published training: timm-a1, timm-a2, timm-a3, deit; "
        "those of the command line win",
    )
    group.add_argument(
        "--write-recipe",
        metavar="FILE",
        help="write all options to a file for --recipe, and do not train",
    )
