"""``gluonish zoo list``, ``fetch`` and ``verify``: published weights, and their folder."""

import argparse
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import gluonish.model_zoo.vision as _vision  # noqa: F401  # registers the networks
from gluonish.core.errors import ArgumentError, nearest
from gluonish.core.progress import progress_bar
from gluonish.model_zoo.foreign import input_shape
from gluonish.model_zoo.model_store import (
    WEIGHT_HASHES,
    get_model_file,
    models_folder,
    short_hash,
    weights_path,
)
from gluonish.model_zoo.other_weights import converted_weights
from gluonish.model_zoo.pretrained.timm_vit import vision_transformer_names
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.ndarray import zeros
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import table, terminal_width

Item = TypeVar("Item")

_HEADER = ("Network", "Parameters", "MB", "Published", "Cached")


def add_parsers(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``list``, ``fetch`` and ``verify`` to the subcommands of ``gluonish zoo``."""
    listing = parsers.add_parser(
        "list",
        help="print the networks, and which have published or cached weights",
        description="Print each network with its number of parameters, the size of its weights in"
        " MB of 10^6 bytes, the first digits of the SHA-1 of its published weights or a dash, and"
        " whether they are in the folder of the weights.",
    )
    listing.add_argument(
        "--timm",
        action="store_true",
        help="print the networks that have names and weights of timm, vision transformers included",
    )
    listing.set_defaults(run=list_networks)
    fetching = parsers.add_parser(
        "fetch",
        help="download published weights to the folder",
        description="Download published weights to the folder of the weights, unless they are "
        "there, check their SHA-1, and print their paths.",
    )
    fetching.add_argument("names", nargs="+", metavar="NAME", help="networks, such as alexnet")
    fetching.set_defaults(run=fetch)
    verifying = parsers.add_parser(
        "verify",
        help="check the SHA-1 of the weights in the folder",
        description="Check the weights in the folder: those of published networks by their SHA-1,"
        " others by the digits of it in their names. Exits with 1 if a file is damaged, or a"
        " network that was named has none.",
    )
    verifying.add_argument(
        "names", nargs="*", metavar="NAME", help="networks to check (default: all files)"
    )
    verifying.set_defaults(run=verify)
    for parser in (listing, fetching, verifying):
        parser.add_argument("--root", help="folder of the weights (default: $MXNET_HOME/models)")
        add_json_option(parser)


def shapes_of(name: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a network's parameters, by their paths, for images of the usual size.

    Raises:
        ArgumentError: There is no network of this name.
    """
    net = get_model(name)
    parameters = net._collect_params_with_prefix()
    if not all(p.shape and min(p.shape) > 0 for p in parameters.values()):
        net.infer_shape(zeros(input_shape(name)))
    return {path: tuple(p.shape or ()) for path, p in parameters.items()}


def list_networks(arguments: argparse.Namespace) -> int:
    """Print the networks of MXNet, or those of timm; returns 0."""
    rows: list[tuple[str, ...]] = [_HEADER]
    networks: list[dict[str, Any]] = []
    names = model_names("mxnet")
    if arguments.timm:
        names = sorted({*model_names("timm"), *vision_transformer_names()})
    for name in _progress(names, "list"):
        count = sum(math.prod(shape) for shape in shapes_of(name).values())
        published = name in WEIGHT_HASHES
        cached = published and (
            weights_path(name, arguments.root).is_file()
            or converted_weights(name, models_folder(arguments.root)) is not None
        )
        networks.append(
            {
                "name": name,
                "parameters": count,
                "bytes": 4 * count,
                "sha1": WEIGHT_HASHES.get(name),
                "cached": cached,
            }
        )
        rows.append(
            (
                name,
                str(count),
                f"{4 * count / 1e6:.1f}",
                short_hash(name) if published else "-",
                "yes" if cached else "no" if published else "-",
            )
        )
    folder = models_folder(arguments.root)
    if arguments.json:
        write_json({"networks": networks, "folder": folder})
    else:
        print(table(rows, terminal_width()))
        print(f"weights are in {folder}")
    return 0


def fetch(arguments: argparse.Namespace) -> int:
    """Download weights if they are missing, and print their paths; returns 0.

    Raises:
        ArgumentError: A network does not exist, or has no published weights.
        DownloadError: Weights cannot be downloaded.
    """
    names = [_published(name) for name in arguments.names]
    paths = {}
    for name in names:
        paths[name] = get_model_file(name, arguments.root)
        if not arguments.json:
            print(paths[name])
    if arguments.json:
        write_json({"files": paths})
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """Print the state of each file of weights; return 1 if one is damaged or missing, else 0.

    Raises:
        ArgumentError: A network does not exist, or has no published weights.
    """
    folder = models_folder(arguments.root)
    if arguments.names:
        files = [weights_path(_published(name), arguments.root) for name in arguments.names]
    else:
        files = sorted(folder.glob("*.params")) if folder.is_dir() else []
        if not files and not arguments.json:
            print(f"no weights in {folder}")
    failed = False
    states = []
    for path in _progress(files, "verify"):
        state, bad = _state(path)
        failed |= bad
        states.append({"file": path, "state": state})
        if not arguments.json:
            print(f"{state:8} {path}")
    if arguments.json:
        write_json({"folder": folder, "files": states})
    return 1 if failed else 0


def _state(path: Path) -> tuple[str, bool]:
    """Return the state of a file, and whether the file is damaged or missing."""
    if not path.is_file():
        return "missing", True
    match = re.fullmatch(r"(.+)-([0-9a-f]{8})", path.stem)
    if match is None:
        return "unknown", False
    name, digits = match.groups()
    published = WEIGHT_HASHES.get(name, "")
    expected = published if published.startswith(digits) else digits
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha1").hexdigest()
    if got.startswith(expected):
        return "ok", False
    return "damaged", True


def _published(name: str) -> str:
    if name.lower() in WEIGHT_HASHES:
        return name.lower()
    raise ArgumentError(
        f"zoo: expected a network with published weights, got {name!r}"
        f"{nearest(name.lower(), WEIGHT_HASHES)}; `gluonish zoo list` shows which have some"
    )


def _progress(items: Sequence[Item], what: str) -> Iterable[Item]:
    bar: Iterable[Item] = progress_bar(items, desc=what, leave=False)
    return bar
