"""``gluonish zoo import``: converts weights of PyTorch and Keras to a network's `.params` file."""

import argparse

import gluonish.model_zoo.vision as _vision  # noqa: F401  # registers the networks
from gluonish.model_zoo.foreign import Conversion, import_weights, save_conversion
from gluonish.tools.json_output import add_json_option, write_json


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``import`` to the subcommands of ``gluonish zoo``."""
    parser = parsers.add_parser(
        "import",
        help="convert a PyTorch or Keras checkpoint to weights of a network",
        description="Convert a checkpoint of torchvision, timm, Keras, or Hugging Face's ResNet"
        " (safetensors, in one file or by the index of several, a PyTorch file, or npz) into"
        " weights of a network of the model zoo. Outputs equal those of the original; otherwise the"
        " checkpoint is refused with the reason or a list of mismatches.",
    )
    parser.add_argument("file", metavar="FILE", help="the checkpoint, or a folder of timm")
    parser.add_argument("--network", required=True, help="such as resnet18_v1; see `zoo list`")
    parser.add_argument(
        "--output",
        default=".",
        help="the file to write, .safetensors, .npz or .params, or a folder, in which it is called"
        " NETWORK-SHA1.params with the first 8 digits of its SHA-1 (default: the working folder)",
    )
    parser.add_argument("--classes", type=int, help="number of outputs (default: the checkpoint's)")
    parser.add_argument(
        "--key",
        help="entry of a PyTorch checkpoint that has the weights (default: averaged weights, then"
        " state_dict, model and the like)",
    )
    parser.add_argument(
        "--epsilon", type=float, help="epsilon of the checkpoint's batch norm, if not the usual one"
    )
    parser.add_argument(
        "--allow-inexact",
        action="store_true",
        help="convert even if outputs differ from the original's in a known way, which is printed",
    )
    parser.add_argument(
        "--ignore-extra", action="store_true", help="ignore layers that the network does not have"
    )
    parser.add_argument(
        "--resize",
        action="store_true",
        help="resize tables of positions and kernels of patches of another size",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert, write and print a summary; returns 0."""
    conversion = import_weights(
        arguments.network,
        arguments.file,
        classes=arguments.classes,
        key=arguments.key,
        epsilon=arguments.epsilon,
        allow_inexact=arguments.allow_inexact,
        ignore_extra=arguments.ignore_extra,
        resize=arguments.resize,
    )
    path, sha1 = save_conversion(conversion, arguments.network.lower(), arguments.output)
    if arguments.json:
        write_json(
            {
                "file": path,
                "parameters": sum(values.size for values in conversion.arrays.values()),
                "arrays": len(conversion.arrays),
                "sha1": sha1,
                "source": conversion.path,
                "format": conversion.kind,
                "names_of": conversion.origin,
                "input": conversion.preprocessing,
                "notes": list(conversion.notes),
                "classes": conversion.classes,
            }
        )
        return 0
    print(_report(conversion, arguments.network.lower(), str(path), sha1))
    return 0


def _report(conversion: Conversion, name: str, path: str, sha1: str) -> str:
    count = sum(values.size for values in conversion.arrays.values())
    classes = "" if conversion.classes == 1000 else f", classes={conversion.classes}"
    lines = [
        f"{path}: {count} parameters in {len(conversion.arrays)} arrays, SHA-1 {sha1}",
        f"from: {conversion.path} ({conversion.kind}, names of {conversion.origin})",
        f"input: {conversion.preprocessing}",
        *(f"note: {note}" for note in conversion.notes),
        f"use: net = gluon.model_zoo.vision.get_model({name!r}{classes});"
        f" net.load_parameters({path!r})",
    ]
    return "\n".join(lines)
