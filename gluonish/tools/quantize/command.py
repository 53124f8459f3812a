"""The command line of ``gluonish quantize``."""

import argparse

from gluonish.core.loading import load
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import terminal_width

_WORK = "gluonish.tools.quantize.work"


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``quantize``, with two subcommands, to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "quantize",
        help="quantize a network to 8 bits, and report its errors",
        description="Quantize an exported network to 8 bits with examples of its input, and report "
        "the error of each layer. `gluonish quantize convert --help` explains more.",
    )
    kinds = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    convert = kinds.add_parser(
        "convert",
        help="quantize a network with calibration data",
        description="Quantize an exported network, and write the new one as two files with the "
        "given prefix. The examples set the ranges of its values.",
    )
    _add_network(convert)
    convert.add_argument(
        "--output", required=True, metavar="PREFIX", help="prefix of the files to write"
    )
    convert.add_argument(
        "--mode",
        choices=("naive", "entropy"),
        default="entropy",
        help="how ranges are calibrated (default: %(default)s)",
    )
    convert.add_argument(
        "--quantize-mode",
        choices=("full", "smart"),
        default="smart",
        help="full: all operators that can be quantized; smart: only layers and what lies "
        "between them (default: %(default)s)",
    )
    convert.add_argument(
        "--channel-wise",
        action="store_true",
        help="one scale per channel for weights of dense layers, too",
    )
    convert.add_argument(
        "--exclude", nargs="*", default=[], metavar="NAME", help="names of layers not to quantize"
    )
    add_json_option(convert)
    convert.set_defaults(run=run_convert)
    report = kinds.add_parser(
        "report",
        help="report the error of each layer of a quantized network",
        description="Run both networks on the first batch of the examples, and print the error of "
        "each quantized layer; SNR is its signal-to-noise ratio.",
    )
    _add_network(report)
    report.add_argument(
        "--quantized",
        nargs=2,
        required=True,
        metavar=("SYMBOL", "PARAMS"),
        help="the files of the quantized network",
    )
    report.add_argument("--plot", metavar="FILE", help="also plot the errors to this .png file")
    add_json_option(report)
    report.set_defaults(run=run_report)


def _add_network(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("symbol", help="the network: its -symbol.json file")
    parser.add_argument("params", help="its .params file")
    parser.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help="examples in a .npy file, along its first axis",
    )
    parser.add_argument(
        "--input", default="data", metavar="NAME", help="name of the input (default: %(default)s)"
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        default=32,
        metavar="N",
        help="examples in a batch (default: %(default)s)",
    )


def run_convert(arguments: argparse.Namespace) -> int:
    """Quantize a network and write it; return the exit status."""
    paths = load(_WORK).convert(arguments)
    if arguments.json:
        write_json({"files": paths})
        return 0
    for path in paths:
        print(path)
    return 0


def run_report(arguments: argparse.Namespace) -> int:
    """Print the error of each layer, and plot the errors if requested."""
    work = load(_WORK)
    found = work.report(arguments)
    if arguments.json:
        write_json({"layers": found, "plot": arguments.plot})
    else:
        print(work.layer_table(found, terminal_width()))
    return 0
