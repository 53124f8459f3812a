"""The language networks of commands: where they come from, and how fast they are."""

import argparse
import sys
from time import perf_counter
from typing import Any

import numpy as np

from gluonish.core.command import INTERRUPTED
from gluonish.core.errors import ArgumentError
from gluonish.core.files import open_to_read
from gluonish.model_zoo import from_gguf, from_pretrained
from gluonish.model_zoo.generation.generate import Generates
from gluonish.model_zoo.generation.options import CACHE_DTYPES
from gluonish.tools.demo import parse_contexts

_PROBE_NBYTES = 1 << 28
_PROBES = 5
_DTYPES = ("float32", "float16", "bfloat16", "float64")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says which network a command uses."""
    parser.add_argument(
        "--model",
        required=True,
        metavar="MODEL",
        help="a folder of config.json and model.safetensors, a .gguf file, or org/name of the hub",
    )
    parser.add_argument("--revision", help="branch, tag or commit of a network of the hub")
    parser.add_argument(
        "--dtype", choices=_DTYPES, help="element type of the weights; that of the file by default"
    )
    parser.add_argument(
        "--ctx",
        default="cpu",
        metavar="DEVICE",
        help="the device, such as cpu (the default) or gpu:0",
    )


def add_generation_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of generation."""
    parser.add_argument("--max-new-tokens", type=int, metavar="N", help="most tokens of a text")
    parser.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        help="0 takes the most probable token; 1 draws by the network's probabilities",
    )
    parser.add_argument(
        "--top-k", type=int, metavar="K", help="draw among the K most probable tokens"
    )
    parser.add_argument(
        "--top-p",
        type=float,
        metavar="P",
        help="draw among the fewest tokens that are P of the probability",
    )
    parser.add_argument(
        "--min-p",
        type=float,
        metavar="P",
        help="leave out tokens below P of the greatest probability",
    )
    parser.add_argument(
        "--repetition-penalty", type=float, metavar="X", help="above 1: repeat less"
    )
    parser.add_argument("--seed", type=int, help="number that decides what is drawn")
    parser.add_argument(
        "--cache-dtype",
        choices=CACHE_DTYPES,
        help="element type of the cache of keys and values; that of the weights by default. int8 "
        "takes the least memory, and has a scale for each row",
    )


def generation_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of generation that a command line gives.

    A temperature or another option of drawing means that tokens are drawn.
    """
    drawn = ("temperature", "top_k", "top_p", "min_p", "seed")
    names = ("max_new_tokens", "repetition_penalty", "cache_dtype", *drawn)
    given = {name: getattr(arguments, name) for name in names}
    found = {name: value for name, value in given.items() if value is not None}
    if found.get("temperature") == 0:
        found |= {"do_sample": False}
    elif found.keys() & drawn:
        found |= {"do_sample": True}
    return found


def load_network(arguments: argparse.Namespace) -> Any:
    """Return the network that a command line names.

    Args:
        arguments: See `add_model_arguments`.

    Raises:
        ArgumentError: There is more than one device, or a GGUF file is asked for by revision.
    """
    contexts = parse_contexts(arguments.ctx)
    if len(contexts) != 1:
        raise ArgumentError(f"--ctx: expected one device, got {arguments.ctx!r}")
    given: dict[str, Any] = {"ctx": contexts[0], "dtype": arguments.dtype}
    is_gguf = arguments.model.lower().endswith(".gguf")
    if arguments.revision is not None:
        if is_gguf:
            raise ArgumentError(
                f"--revision: expected a name of the hub as --model, got {arguments.model!r}"
            )
        given["revision"] = arguments.revision
    return (from_gguf if is_gguf else from_pretrained)(arguments.model, **given)


def open_network(arguments: argparse.Namespace) -> Any:
    """Return the language model that a command line names.

    Args:
        arguments: See `add_model_arguments`.

    Raises:
        ArgumentError: The network generates no text, or see `load_network`.
    """
    net = load_network(arguments)
    if not isinstance(net, Generates):
        raise ArgumentError(
            f"--model: expected a language model that generates text, got {type(net).__name__}"
        )
    return net


def read_text(name: str | None) -> str:
    """Return the text of a file; of standard input for ``-`` or None.

    Raises:
        ArgumentError: It is not UTF-8.
        OSError: The file cannot be read.
    """
    if name in ("-", None):
        return decoded(sys.stdin.buffer.read(), "standard input")
    with open_to_read(str(name), "gluonish") as file:
        return decoded(file.read(), str(name))


def decoded(content: bytes, source: str) -> str:
    """Return the text of bytes, without a byte order mark.

    Raises:
        ArgumentError: They are not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError(
            f"{source}: expected text in UTF-8, got byte {content[error.start]:#x} at {error.start}"
        ) from None


class Interrupted:
    """Ends what Ctrl-C interrupts with a line feed, and has the exit status in ``status``.

    Example:
        >>> with Interrupted() as ending:
        ...     raise KeyboardInterrupt
        <BLANKLINE>
        >>> ending.status
        130

    Args:
        quiet: Whether to write no line feed.
    """

    status = 0

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def __enter__(self) -> "Interrupted":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            return False
        if not self._quiet:
            sys.stdout.write("\n")
        self.status = INTERRUPTED
        return True


def tokenizer_of(net: Any, command: str) -> Any:
    """Return the tokenizer of a network.

    Raises:
        ArgumentError: There is none.
    """
    tokenizer = getattr(net, "tokenizer", None)
    if tokenizer is None:
        raise ArgumentError(f"{command}: expected a model with tokenizer.json, got none")
    return tokenizer


def read_rate() -> float:
    """Return the bytes a second at which this machine reads its memory, by sums of integers."""
    values = np.zeros(_PROBE_NBYTES // 8, np.int64)
    times = []
    for _ in range(_PROBES):
        begin = perf_counter()
        np.bitwise_or.reduce(values)
        times.append(perf_counter() - begin)
    return _PROBE_NBYTES / min(times)


def parameter_nbytes(net: Any) -> int:
    """Return the bytes of the parameters that a step reads: all but an embedding of its own."""
    parameters = {id(p): p for p in net.collect_params().values()}
    embedding = net.body.embedding.weight
    if net.head.weight is not embedding:
        parameters.pop(id(embedding), None)
    sizes = (int(np.prod(p.shape)) * np.dtype(p.dtype).itemsize for p in parameters.values())
    return sum(sizes)


class Speed:
    """Tokens a second of a text: of its prompt, and of its steps.

    Args:
        prompt: Number of tokens of the prompt that are computed.
    """

    def __init__(self, prompt: int) -> None:
        self._prompt, self._steps = prompt, 0
        self._begin = self._first = self._last = perf_counter()

    def note(self) -> None:
        """Note that a token was made."""
        self._last = perf_counter()
        if self._steps == 0:
            self._first = self._last
        self._steps += 1

    def figures(self) -> dict[str, float | None]:
        """Return numbers of tokens, and tokens a second (None where nothing was measured)."""
        first, step = self._first - self._begin, self._last - self._first
        return {
            "prompt_tokens": self._prompt,
            "text_tokens": self._steps,
            "prompt_tokens_per_s": self._prompt / first if first > 0 else None,
            "text_tokens_per_s": (self._steps - 1) / step if step > 0 else None,
        }

    def text(self, nbytes: int, rate: float) -> str:
        """Return a line of the speeds.

        Args:
            nbytes: Bytes that a step reads.
            rate: Bytes that memory gives in a second.
        """
        if self._steps == 0:
            return f"prompt {self._prompt} tokens; no text"
        first = max(self._first - self._begin, 1e-9)
        line = f"prompt {self._prompt} tokens, {self._prompt / first:.1f}/s"
        if self._steps > 1:
            step = max(self._last - self._first, 1e-9) / (self._steps - 1)
            share = nbytes / step / rate
            line += f"; text {self._steps} tokens, {1 / step:.1f}/s, {share:.0%} of what one core"
            line += " reads from memory"
        return line
