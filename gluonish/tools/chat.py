"""``gluonish chat``: a conversation with a network."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from gluonish.tools.text_network import (
    Interrupted,
    add_generation_arguments,
    add_model_arguments,
    decoded,
    generation_options,
    open_network,
    tokenizer_of,
)

_MOST_NEW_TOKENS = 512


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``chat`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "chat",
        help="talk with a network",
        description="Read messages from standard input, a line each, and answer by the network's "
        "chat template. What was said is not computed again. An empty line, the end of the input, "
        "or Ctrl-C ends the conversation.",
    )
    add_model_arguments(parser)
    add_generation_arguments(parser)
    parser.add_argument("--system", metavar="TEXT", help="message that comes before all others")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    net = open_network(arguments)
    tokenizer = tokenizer_of(net, "chat")
    options = {"max_new_tokens": _MOST_NEW_TOKENS, **generation_options(arguments)}
    messages = []
    if arguments.system:
        messages.append({"role": "system", "content": arguments.system})
    cache = net.new_cache(dtype=options.get("cache_dtype"))
    with Interrupted() as ending:
        for line in _lines():
            messages.append({"role": "user", "content": line})
            text = tokenizer.apply_chat_template(messages)
            tokens = tokenizer.encode(text, add_special_tokens=False)
            answer = "".join(_shown(tokenizer, net, tokens, cache, options))
            messages.append({"role": "assistant", "content": answer.strip()})
            sys.stdout.write("\n")
            sys.stdout.flush()  # somebody may read answers from a pipe
    return ending.status


def _lines() -> Iterator[str]:
    """Yield the lines of standard input, with a prompt where somebody types them."""
    while True:
        if sys.stdin.isatty():
            sys.stdout.write("> ")
            sys.stdout.flush()
        line = decoded(sys.stdin.buffer.readline(), "standard input").strip()
        if not line:
            return
        yield line


def _shown(
    tokenizer: Any, net: Any, tokens: list[int], cache: Any, options: dict[str, Any]
) -> Iterator[str]:
    """Yield the pieces of an answer, and print them."""
    for piece in tokenizer.stream(net.stream(tokens, cache=cache, **options)):
        sys.stdout.write(piece)
        sys.stdout.flush()
        yield piece
