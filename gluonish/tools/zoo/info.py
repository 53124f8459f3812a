"""``gluonish zoo info``: the contents of a network, a file of weights or a foreign checkpoint."""

import argparse
import hashlib
import math
from pathlib import Path
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import ArgumentError, nearest
from gluonish.model_zoo.foreign import open_checkpoint
from gluonish.model_zoo.model_store import (
    WEIGHT_HASHES,
    models_folder,
    weights_path,
    weights_url,
)
from gluonish.model_zoo.other_weights import TORCHVISION, converted_weights
from gluonish.model_zoo.registry import model_names
from gluonish.ndarray.array_file import kind_of, read_array_list
from gluonish.ndarray.array_writer import PARAMS
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import table, terminal_width
from gluonish.tools.zoo.cache import shapes_of

# Name, shape and dtype of an array in a file.
Array = tuple[str, tuple[int, ...], Any]


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``info`` to the subcommands of ``gluonish zoo``."""
    parser = parsers.add_parser(
        "info",
        help="print what a network's weights or a file contain",
        description="Print parameters, arrays, bytes, SHA-1 and source of a network's weights, or"
        " of a file: .params, safetensors, a PyTorch checkpoint, npz.",
    )
    parser.add_argument("what", metavar="NAME|FILE", help="a network of the zoo, or a file")
    parser.add_argument("--arrays", action="store_true", help="also print each array")
    parser.add_argument("--root", help="folder of the weights (default: $MXNET_HOME/models)")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the description; returns 0.

    Raises:
        ArgumentError: There is no network or file of this name.
        FileFormatError: The file is truncated, corrupt or malicious.
    """
    name = arguments.what.lower()
    path = Path(arguments.what).expanduser()
    if name in model_names():
        arrays, facts = _network(name, arguments.root)
    elif path.exists():
        arrays, facts = _file(path)
    else:
        raise ArgumentError(
            f"zoo info: expected a network or a file, got {arguments.what!r}"
            f"{nearest(name, model_names())}"
        )
    count = sum(math.prod(shape) for _, shape, _ in arrays)
    nbytes = sum(math.prod(shape) * dtype.itemsize for _, shape, dtype in arrays)
    facts = {"parameters": count, "arrays": len(arrays), "bytes": nbytes, **facts}
    if arguments.json:
        listed = [
            {"name": key, "shape": shape, "dtype": str(dtype)} for key, shape, dtype in arrays
        ]
        write_json({**facts, "listed": listed} if arguments.arrays else facts)
        return 0
    if arguments.arrays:
        rows = [("Array", "Shape", "Type")]
        rows += [(key, "x".join(map(str, shape)), str(dtype)) for key, shape, dtype in arrays]
        print(table(rows, terminal_width()) + "\n")
    for key, value in facts.items():
        print(f"{key}: {value}")
    return 0


def _network(name: str, root: str | None) -> tuple[list[Array], dict[str, object]]:
    arrays = [(path, shape, FLOAT32) for path, shape in shapes_of(name).items()]
    if name not in WEIGHT_HASHES:
        return arrays, {"published": "no weights"}
    path = weights_path(name, root)
    where = str(path) if path.is_file() else f"no; expected at {path}"
    facts = {"sha1": WEIGHT_HASHES[name], "source": weights_url(name), "cached": where}
    if name in TORCHVISION:
        converted = converted_weights(name, models_folder(root))
        facts["other source"] = f"{TORCHVISION[name].url} (torchvision), with other values"
        facts["cached from it"] = str(converted or "no")
    return arrays, facts


def _file(path: Path) -> tuple[list[Array], dict[str, object]]:
    with path.open("rb") as file:
        kind = kind_of(file.read(9))
        file.seek(0)
        facts: dict[str, object] = {"sha1": hashlib.file_digest(file, "sha1").hexdigest()}
    if kind == PARAMS:
        records, names = read_array_list(path)
        labels = names or [str(index) for index in range(len(records))]
        found = [
            (label, tuple(record.shape or ()), record.dtype or FLOAT32)
            for label, record in zip(labels, records, strict=True)
        ]
        return found, {"format": ".params", **facts}
    with open_checkpoint(path) as checkpoint:
        found = [(key, stored.shape, stored.dtype) for key, stored in checkpoint.arrays.items()]
        notes = {"note": "; ".join(checkpoint.notes)} if checkpoint.notes else {}
        return found, {"format": checkpoint.kind, **facts, **notes}
