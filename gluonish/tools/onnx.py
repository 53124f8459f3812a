"""``gluonish onnx``: exports networks to ONNX files, and imports and checks such files."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import open_to_read
from gluonish.gluon.block.files import write_model
from gluonish.ndarray import array, load, zeros
from gluonish.onnx import export_model
from gluonish.onnx.exporting.package import onnx_package
from gluonish.onnx.importing import get_model_metadata, import_model
from gluonish.symbol import load as load_symbol
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import terminal_width, wrapped


def add_import(commands: Any) -> None:
    """Add ``import`` to the subcommands of ``gluonish onnx``."""
    parser = commands.add_parser(
        "import",
        help="convert an ONNX file to a network: -symbol.json and .params",
        description="Convert an ONNX file to a network: PREFIX-symbol.json and PREFIX-0000.params.",
    )
    parser.add_argument("file", metavar="FILE", help="the ONNX file")
    parser.add_argument(
        "-o",
        "--output",
        default="model",
        metavar="PREFIX",
        help="prefix of the files to write (default: model)",
    )
    parser.add_argument(
        *("-s", "--shape"),
        action="append",
        default=[],
        metavar="NAME=N,C,..",
        help="dynamic sizes of an input; needed if a graph cannot support all sizes",
    )
    add_json_option(parser)
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
    if arguments.json:
        write_json(
            {
                "inputs": [{"name": name, "shape": shape} for name, shape in inputs],
                "outputs": symbol.list_outputs(),
                "arguments": len(values),
                "auxiliary_states": len(states),
                "files": written,
            }
        )
        return 0
    print(f"inputs: {', '.join(f'{name} {shape}' for name, shape in inputs)}")
    print(f"outputs: {', '.join(symbol.list_outputs())}")
    print(f"{len(values)} arguments, {len(states)} auxiliary states")
    print(f"wrote {written[0]} and {written[1]}")
    return 0


_LISTED = 30


def add_parser(parsers: Any) -> None:
    """Add ``onnx`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "onnx",
        help="export, check and import ONNX files",
        description="Export a network to an ONNX file, check an ONNX file, or import one.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_export(commands)
    _add_check(commands)
    add_import(commands)


def _add_export(commands: Any) -> None:
    parser = commands.add_parser(
        "export",
        help="export a network to an ONNX file",
        description="Export a network, a -symbol.json and a .params file, to an ONNX file.",
    )
    parser.add_argument("symbol", metavar="SYMBOL", help="the -symbol.json file")
    parser.add_argument("params", metavar="PARAMS", help="the .params file")
    parser.add_argument(
        *("-s", "--shape"),
        action="append",
        required=True,
        metavar="N,C,..",
        help="shape of an input, once for each input; a name instead of a size is a dynamic axis",
    )
    parser.add_argument(
        "-t",
        "--type",
        action="append",
        metavar="TYPE",
        help="dtype of all inputs, or once for each (default: float32)",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="model.onnx",
        metavar="FILE",
        help="file to write (default: %(default)s)",
    )
    parser.add_argument("--opset", type=int, metavar="N", help="version of the ONNX operator set")
    parser.add_argument(
        "--external", action="store_true", help="write the weights to a separate file"
    )
    add_json_option(parser)
    parser.set_defaults(run=export)


def _add_check(commands: Any) -> None:
    parser = commands.add_parser(
        "check",
        help="check an ONNX file and print what it contains",
        description="Check an ONNX file with the package onnx, and print what it contains.",
    )
    parser.add_argument("file", metavar="FILE", help="the ONNX file")
    parser.add_argument(
        "--against",
        nargs=2,
        metavar=("SYMBOL", "PARAMS"),
        help="also compare its outputs for random inputs with those of this network",
    )
    add_json_option(parser)
    parser.set_defaults(run=check)


def _onnx_shape(text: str) -> tuple[int | str, ...]:
    """Return a shape from the text ``N,C,..``.

    Raises:
        ArgumentError: An item is neither a size nor a name.
    """
    parts = [part.strip() for part in text.strip("()[] ").split(",")]
    if parts[-1] == "" and (len(parts) > 1 or text.strip() == "()"):
        parts.pop()  # (4,) and () as Python writes them
    sizes = tuple(int(part) if part.lstrip("-").isdecimal() else part for part in parts)
    if not all(isinstance(x, int) or x.replace("-", "_").isidentifier() for x in sizes):
        raise ArgumentError(
            "gluonish onnx export: expected --shape N,C,.. of sizes, and names for dynamic axes, "
            f"got {text!r}"
        )
    return sizes


def export(arguments: argparse.Namespace) -> int:
    """Run ``gluonish onnx export``; returns the exit status."""
    path = export_model(
        arguments.symbol,
        arguments.params,
        [_onnx_shape(text) for text in arguments.shape],
        arguments.type or np.float32,
        arguments.output,
        large_model=arguments.external,
        opset_version=arguments.opset,
    )
    if arguments.json:
        write_json({"file": path})
    else:
        print(f"wrote {path}")
    return 0


def check(arguments: argparse.Namespace) -> int:
    """Run ``gluonish onnx check``; returns the exit status."""
    onnx = onnx_package("gluonish onnx check")
    with open_to_read(arguments.file, "gluonish onnx check"):
        pass  # raises a clearer error than onnx if the path is wrong
    try:
        onnx.checker.check_model(arguments.file, full_check=True)
        model = onnx.load(arguments.file, load_external_data=False)
    except Exception as error:  # errors of protobuf and of the checker have no common class
        raise FileFormatError(
            f"{arguments.file}: expected a file that the checker of onnx accepts, got {error}"
        ) from error
    facts = _facts(model)
    status = 0
    if not arguments.json:
        width = terminal_width()
        for line in _described(facts):
            print(wrapped(line, width, " " * 10))
    if arguments.against:
        facts["compared"], status = _compared(arguments.file, model, *arguments.against)
    if arguments.json:
        write_json(facts)
        return status
    for name, difference in facts.get("compared", {}).items():
        print(f"compared  {name}: largest difference {difference:.3g}")
    return status


def _facts(model: Any) -> dict[str, Any]:
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    return {
        "producer": model.producer_name or "unknown",
        "opsets": {x.domain or "ai.onnx": x.version for x in model.opset_import},
        "inputs": [_typed(x) for x in graph.input if x.name not in weights],
        "outputs": [_typed(x) for x in graph.output],
        "weights": len(weights),
        "numbers": sum(int(np.prod(tensor.dims)) for tensor in graph.initializer),
        "operators": dict(Counter(node.op_type for node in graph.node).most_common()),
    }


def _described(facts: dict[str, Any]) -> list[str]:
    opsets = ", ".join(f"{domain} {version}" for domain, version in facts["opsets"].items())
    kinds = list(facts["operators"].items())[:_LISTED]
    return [
        f"made by   {facts['producer']}, opset {opsets}",
        *(f"input     {_text_of(x)}" for x in facts["inputs"]),
        *(f"output    {_text_of(x)}" for x in facts["outputs"]),
        f"weights   {facts['weights']} arrays, {facts['numbers']:,} numbers",
        f"operators {', '.join(f'{kind} {number}' for kind, number in kinds)}",
    ]


def _typed(info: Any) -> dict[str, Any]:
    helper = onnx_package("gluonish onnx check").helper
    kind = info.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type) if kind.elem_type else "?"
    shape = [dim.dim_param or dim.dim_value for dim in kind.shape.dim]
    return {"name": info.name, "dtype": str(dtype), "shape": shape}


def _text_of(info: dict[str, Any]) -> str:
    return f"{info['name']} {info['dtype']}({', '.join(map(str, info['shape']))})"


def _compared(
    path: str, model: Any, symbol_file: str, params_file: str
) -> tuple[dict[str, float], int]:
    """Compare the outputs of the file with those of a network.

    Returns:
        The largest difference of each output, and the exit status.
    """
    from onnx.reference import ReferenceEvaluator

    session = ReferenceEvaluator(path)
    weights = {tensor.name for tensor in model.graph.initializer}
    infos = [x for x in model.graph.input if x.name not in weights]
    arrays = _samples(infos)
    wanted = dict(zip(session.output_names, session.run(None, arrays), strict=True))
    network = load_symbol(symbol_file)
    given = {name.partition(":")[2] or name: x for name, x in _weights(params_file).items()}
    given |= {name: array(x, dtype=x.dtype) for name, x in arrays.items()}
    found = _outputs(network, given)
    worst = 0.0
    differences = {}
    for name, y in found.items():
        difference = float(np.max(np.abs(y - wanted[name]), initial=0.0))
        worst = max(worst, difference / max(1.0, float(np.max(np.abs(y), initial=0.0))))
        differences[name] = difference
    return differences, int(worst > 1e-4)


def _weights(path: str) -> dict[str, Any]:
    found = load(path)
    if not isinstance(found, dict):
        raise FileFormatError(f"{path}: expected arrays with names, got {len(found)} without")
    return found


def _samples(infos: Sequence[Any]) -> dict[str, Any]:
    helper = onnx_package("gluonish onnx check").helper
    random = np.random.default_rng(0)
    arrays = {}
    for info in infos:
        kind = info.type.tensor_type
        shape = [dim.dim_value or 2 for dim in kind.shape.dim]
        arrays[info.name] = random.random(shape).astype(
            helper.tensor_dtype_to_np_dtype(kind.elem_type)
        )
    return arrays


def _outputs(network: Any, given: dict[str, Any]) -> dict[str, Any]:
    auxiliary = set(network.list_auxiliary_states())
    shapes = {name: x.shape for name, x in given.items() if name in network.list_inputs()}
    missing = set(network.list_arguments()) - set(given)
    if missing:
        found = dict(zip(network.list_arguments(), network.infer_shape(**shapes)[0], strict=True))
        given = {**given, **{name: zeros(found[name]) for name in missing}}
    args = {name: x for name, x in given.items() if name in network.list_arguments()}
    aux = {name: x for name, x in given.items() if name in auxiliary}
    executor = network.bind(cpu(), args=args, aux_states=aux, grad_req="null")
    names = network.list_outputs()
    return {n: y.asnumpy() for n, y in zip(names, executor.forward(), strict=True)}
