"""``gluonish onnx import``: a file of ONNX as a network of gluonish's."""

import argparse
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.export_files import write_model
from gluonish.onnx.importing import get_model_metadata, import_model

__all__ = ["add_import", "import_file"]


def add_import(commands: Any) -> None:
    """Add the subcommand to those of ``gluonish onnx``."""
    parser = commands.add_parser(
        "import",
        help="convert an ONNX file to a network: -symbol.json and .params",
        description="Convert an ONNX file to a network: PREFIX-symbol.json and PREFIX-0000.params.",
    )
    parser.add_argument("file", help="the ONNX file")
    parser.add_argument(
        "-o", "--output", default="model", metavar="PREFIX", help="(default: model)"
    )
    parser.add_argument(
        *("-s", "--shape"),
        action="append",
        default=[],
        metavar="NAME=N,C,..",
        help="sizes of an input that the file leaves open; needed if one graph cannot take all",
    )
    parser.set_defaults(run=import_file)


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, _, extents = text.rpartition("=")
    try:
        if not name:
            raise ValueError
        return name, tuple(int(part) for part in extents.split(",") if part.strip())
    except ValueError:
        raise ArgumentError(
            f"gluonish onnx import: expected --shape NAME=N,C,.. in numbers, got {text!r}"
        ) from None


def import_file(arguments: argparse.Namespace) -> int:
    """Run ``gluonish onnx import``; returns the exit status."""
    shapes = dict(map(_shape, arguments.shape))
    symbol, values, states = import_model(arguments.file, shapes)
    stored = {f"arg:{name}": x for name, x in values.items()}
    stored |= {f"aux:{name}": x for name, x in states.items()}
    what = "gluonish onnx import"
    written = write_model(what, symbol, stored, arguments.output, 0, remove_amp_cast=True)
    inputs = get_model_metadata(arguments.file)["input_tensor_data"]
    print(f"inputs: {', '.join(f'{name} {shape}' for name, shape in inputs)}")
    print(f"outputs: {', '.join(symbol.list_outputs())}")
    print(f"{len(values)} arguments, {len(states)} auxiliary states")
    print(f"wrote {written[0]} and {written[1]}")
    return 0
