"""``gluonish zoo`` and its subcommands."""

import argparse

from gluonish.tools.zoo import cache, importing, info


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``zoo`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "zoo",
        help="networks of the model zoo: list, fetch, verify or import their weights",
        description="Networks of the model zoo and their weights: weights published by MXNet,"
        " PyTorch and Keras.",
    )
    zoo_parsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    importing.add_parser(zoo_parsers)
    cache.add_parsers(zoo_parsers)
    info.add_parser(zoo_parsers)
