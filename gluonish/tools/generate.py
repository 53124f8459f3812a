"""``gluonish generate``: goes on with a text."""

import argparse
import sys

from gluonish.core.errors import ArgumentError
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.text_network import (
    Interrupted,
    Speed,
    add_generation_arguments,
    add_model_arguments,
    generation_options,
    open_network,
    parameter_nbytes,
    read_rate,
    read_text,
    tokenizer_of,
)


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``generate`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "generate",
        help="continue a text with a language model",
        description="Continue a text with a language model. The speed is printed on standard "
        "error.",
    )
    parser.add_argument("prompt", help="the text; - reads standard input")
    add_model_arguments(parser)
    add_generation_arguments(parser)
    parser.add_argument(
        "--stop", action="append", metavar="TEXT", help="end before this text; can be repeated"
    )
    parser.add_argument("--quiet", action="store_true", help="do not print the speed")
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    prompt = read_text("-") if arguments.prompt == "-" else arguments.prompt
    net = open_network(arguments)
    tokens = tokenizer_of(net, "generate").encode(prompt)
    if not tokens:
        raise ArgumentError("generate: expected a prompt of at least one token, got none")
    options = generation_options(arguments)
    if arguments.stop:
        options["stop_strings"] = arguments.stop
    speed = Speed(len(tokens))
    pieces: list[str] = []
    with Interrupted(quiet=arguments.json) as ending:
        for piece in net.stream(prompt, on_token=speed.note, **options):
            pieces.append(piece)
            if not arguments.json:
                sys.stdout.write(piece)
                sys.stdout.flush()
        if not arguments.json:
            sys.stdout.write("\n")
    if arguments.json:
        write_json({"text": "".join(pieces), **speed.figures()})
        return ending.status
    if not arguments.quiet:
        sys.stderr.write(speed.text(parameter_nbytes(net), read_rate()) + "\n")
    return ending.status
