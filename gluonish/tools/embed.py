"""``gluonish embed``: vectors of texts, near those of texts with a similar meaning."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.files import atomic_write, path_text
from gluonish.core.progress import progress_bar, shows_progress
from gluonish.model_zoo.pretrained.families import body_of
from gluonish.model_zoo.text.embedder import Embedder
from gluonish.model_zoo.text.pooling import POOLINGS
from gluonish.model_zoo.text.tokenizer import Tokenizer
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.text_network import add_model_arguments, load_network, read_text

_STEP = 16  # lengths of batches are multiples of it, so that few plans are made
_BATCH_SIZE = 32


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``embed`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "embed",
        help="write a vector for each text, to compare texts by meaning",
        description="Write a vector for each text, of the arguments, or of the lines of a file or "
        "of standard input. The product of two vectors of unit length is the greater the more "
        "similar the texts' meanings are. Folders of sentence-transformers say how tokens become "
        "one vector; of other networks for text it is their mean.",
    )
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="a text; none for a file's lines")
    add_model_arguments(parser)
    parser.add_argument(
        *("-o", "--output"),
        required=True,
        metavar="FILE",
        help="file to write: .npy, an array (texts, units) in float32; .npz, the same as "
        "'vectors'; .jsonl, a line with 'text' and 'vector' for each text",
    )
    parser.add_argument(
        "--file", metavar="FILE", help="file of texts, one on a line; standard input by default"
    )
    parser.add_argument("--pooling", choices=POOLINGS, help="how tokens become one vector")
    parser.add_argument(
        "--normalize",
        action=argparse.BooleanOptionalAction,
        help="whether vectors have unit length; by default as the folder says, or yes",
    )
    parser.add_argument(
        "--max-length", type=int, metavar="N", help="tokens of a text; longer ones are cut"
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        default=_BATCH_SIZE,
        metavar="N",
        help="texts in a call (default: %(default)s)",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress and no cuts")
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    write = _writer(arguments.output)
    if arguments.batch_size < 1:
        raise ArgumentError(f"--batch-size: expected 1 or more, got {arguments.batch_size}")
    if arguments.texts and arguments.file:
        raise ArgumentError(f"embed: expected texts or --file, got both, {arguments.file!r}")
    texts = arguments.texts or _lines(read_text(arguments.file))
    if not texts:
        raise ArgumentError("embed: expected at least one text, got none")
    for name in arguments.texts:
        if not arguments.quiet and Path(name).is_file():
            sys.stderr.write(f"{name!r} is read as a text; for the lines of the file give --file\n")
    net = _embedder(arguments)
    tokenizer = Tokenizer.from_pretrained(arguments.model, arguments.revision)
    vectors = _vectors(net, tokenizer, texts, arguments)
    with atomic_write(arguments.output) as file:
        write(file, texts, vectors)
    if arguments.json:
        write_json({"file": arguments.output, "texts": len(texts), "units": vectors.shape[1]})
    return 0


def _lines(text: str) -> list[str]:
    """Return the lines of a text, of which only line feeds part them."""
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _embedder(arguments: argparse.Namespace) -> Embedder:
    """Return the network that gives vectors.

    Raises:
        ArgumentError: It is none for text, or ``--max-length`` is out of range.
    """
    if arguments.model.lower().endswith(".gguf"):
        raise ArgumentError(
            f"--model: expected a folder or a name of the hub, got {arguments.model!r}"
        )
    net = load_network(arguments)
    own = isinstance(net, Embedder)
    body = body_of(net)
    if not hasattr(body, "vocab_size"):
        raise ArgumentError(f"--model: expected a network for text, got {type(net).__name__}")
    pooling = arguments.pooling or (net.pooling if own else "mean")
    normalize = arguments.normalize
    if normalize is None:
        normalize = net.normalize if own else True
    made = Embedder(body, pooling, normalize, net.max_length if own else None)
    length = arguments.max_length
    if length is not None and not 1 <= length <= body.max_length:
        raise ArgumentError(
            f"--max-length: expected 1 to {body.max_length}, the positions of "
            f"{type(body).__name__}, got {length}"
        )
    made.max_length = length or made.max_length
    made.hybridize(static_alloc=True)
    return made


def _vectors(
    net: Embedder, tokenizer: Tokenizer, texts: Sequence[str], arguments: argparse.Namespace
) -> np.ndarray:
    """Return the vectors (texts, units) in float32.

    Raises:
        ArgumentError: A text has no tokens, or a vector is not finite.
    """
    tokenizer.check_vocab_size(net.body.vocab_size, type(net.body).__name__)
    lengths = np.array([len(tokenizer.encode(text)) for text in texts])
    if not lengths.all():
        raise ArgumentError(
            f"embed: expected texts of at least one token, got none in text {lengths.argmin() + 1}"
        )
    order = np.argsort(lengths, kind="stable")[::-1]  # the longest first, which take most memory
    made: list[np.ndarray] = [np.empty(0)] * len(texts)
    off = arguments.quiet or not shows_progress()
    with progress_bar(total=len(texts), unit="text", desc="embed", disable=off) as bar:
        for rows in _batches(order, arguments.batch_size):
            found = _computed(net, tokenizer, [texts[row] for row in rows], arguments)
            for row, vector in zip(rows, found, strict=True):
                made[row] = vector
            bar.update(len(rows))
    cut = int((lengths > net.max_length).sum())
    if cut and not arguments.quiet:
        sys.stderr.write(f"{cut} of {len(texts)} texts were cut to {net.max_length} tokens\n")
    vectors = np.stack(made)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ArgumentError(
            f"embed: expected finite vectors, got others for text {finite.argmin() + 1}; "
            "use --dtype float32"
        )
    return vectors


def _batches(order: np.ndarray, size: int) -> Iterator[list[int]]:
    for begin in range(0, len(order), size):
        yield [int(row) for row in order[begin : begin + size]]


def _computed(
    net: Embedder, tokenizer: Tokenizer, texts: list[str], arguments: argparse.Namespace
) -> np.ndarray:
    """Return the vectors of a batch."""
    step = min(_STEP, net.max_length)
    ctx = next(iter(net.collect_params().values())).list_ctx()[0]
    batch = tokenizer.batch(
        texts, max_length=net.max_length, padding_side="right", multiple=step, ctx=ctx
    )
    width = min(batch.tokens.shape[1], net.body.max_length)
    tokens = batch.tokens[:, :width]
    made: np.ndarray = net(tokens, None, batch.valid_length).astype("float32").asnumpy()
    return made


def _write_array(file: BinaryIO, texts: Sequence[str], vectors: np.ndarray) -> None:
    np.save(file, vectors)


def _write_archive(file: BinaryIO, texts: Sequence[str], vectors: np.ndarray) -> None:
    np.savez(file, vectors=vectors)


def _write_lines(file: BinaryIO, texts: Sequence[str], vectors: np.ndarray) -> None:
    for text, vector in zip(texts, vectors, strict=True):
        row = ", ".join(map(str, vector))  # the fewest digits that are this float32
        file.write(f'{{"text": {json.dumps(text)}, "vector": [{row}]}}\n'.encode())


_Write = Callable[[BinaryIO, Sequence[str], np.ndarray], Any]
_WRITERS: dict[str, _Write] = {
    ".npy": _write_array,
    ".npz": _write_archive,
    ".jsonl": _write_lines,
}


def _writer(name: str) -> _Write:
    """Return what writes a file of this name.

    Raises:
        ArgumentError: Its ending is not known, or its folder does not exist.
    """
    path = Path(path_text(name, "--output"))
    if path.suffix.lower() not in _WRITERS:
        raise ArgumentError(
            f"--output: expected a name ending in {', '.join(_WRITERS)}, got {name!r}"
        )
    if not path.absolute().parent.is_dir():
        raise ArgumentError(f"--output: expected a folder that exists, got {str(path.parent)!r}")
    return _WRITERS[path.suffix.lower()]
