"""Names of shards: paths, URLs, glob patterns, and braces: ``train-{000000..000009}.tar``."""

import os
import re
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, MissingFileError
from gluonish.core.files import local_path, path_text

MAX_SHARDS = 1_000_000

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})")
_URL = re.compile(r"https?://", re.IGNORECASE)


def is_url(name: str) -> bool:
    """Whether a name is an HTTP or HTTPS URL rather than a path."""
    return _URL.match(name) is not None


def shard_names(what: str, shards: Any) -> list[str]:
    """Return the paths and URLs of shards.

    Args:
        what: Function or class, for the beginning of a message.
        shards: A path, URL or pattern, or several; a `pathlib.Path` is no pattern.

    Raises:
        ArgumentError: There are no shards, or too many, or braces are not closed.
        ArgumentTypeError: A shard is neither a str nor a path.
        MissingFileError: A path does not exist, or no path matches a pattern.
        NotSupportedError: A shard has a protocol other than HTTP.
    """
    several = [shards] if isinstance(shards, str | bytes | os.PathLike) else shards
    if not isinstance(several, Iterable):
        raise ArgumentTypeError(
            f"{what}: expected a path, URL or pattern, or a list of them, got {shards!r:.100}"
        )
    names = [name for shard in several for name in _names_of(what, shard)]
    if not names:
        raise ArgumentError(f"{what}: expected at least one shard, got none")
    return names


def _names_of(what: str, shard: Any) -> list[str]:
    text = path_text(shard, f"{what}: shards")
    if isinstance(shard, os.PathLike):
        return [_existing(what, text)]
    if is_url(text):
        return list(expanded(what, text))
    if text.startswith("pipe:"):
        raise ArgumentError(f"{what}: expected a path or URL, got {text!r:.100}: no command is run")
    path = local_path(text, what)
    if Path(path).exists():  # a name may contain what patterns are made of
        return [path]
    return [name for pattern in expanded(what, path) for name in _matching(what, pattern)]


def _matching(what: str, pattern: str) -> list[str]:
    if not has_magic(pattern):
        return [_existing(what, pattern)]
    found = sorted(glob(os.path.expanduser(pattern), recursive=True))
    if not found:
        raise MissingFileError(f"{what}: expected files that match {pattern!r}, got none")
    return found


def _existing(what: str, path: str) -> str:
    path = os.path.expanduser(path)
    if not os.path.exists(path):
        raise MissingFileError(f"{what}: expected an existing file, got {path!r}")
    return path


def expanded(what: str, pattern: str) -> Iterator[str]:
    """Yield the names that a pattern with braces stands for, as the shell does.

    Args:
        what: Function or class, for the beginning of a message.
        pattern: ``{000..120}`` stands for numbers with leading zeros, ``{a,b}`` for texts.

    Raises:
        ArgumentError: Braces are not closed, or have neither numbers nor texts, or the pattern
            stands for more than a million names.
    """
    pieces = _BRACES.split(pattern)  # in turn a text, and what is in braces
    if any("{" in text or "}" in text for text in pieces[::2]):
        raise ArgumentError(f"{what}: expected closed braces, got {pattern!r:.200}")
    counts, choices = [], []
    for i, piece in enumerate(pieces):
        count, texts = _choices(what, piece, pattern) if i % 2 else (1, [piece])
        counts.append(count)
        choices.append(texts)
    if prod(counts) > MAX_SHARDS:  # known before any name is made
        raise ArgumentError(
            f"{what}: expected up to {MAX_SHARDS} shards, got {pattern!r:.200}, which stands for "
            "more"
        )
    yield from map("".join, product(*choices))


def _choices(what: str, inside: str, pattern: str) -> tuple[int, Iterable[str]]:
    """Return the number of texts that braces stand for, and the texts."""
    numbers = _RANGE.fullmatch(inside)
    if numbers is None:
        if "," not in inside:
            raise ArgumentError(
                f"{what}: expected braces such as {{000..120}} or {{a,b}}, got {{{inside}}} in "
                f"{pattern!r:.200}"
            )
        texts = inside.split(",")
        return len(texts), texts
    first, last = int(numbers[1]), int(numbers[2])
    if not first <= last < first + MAX_SHARDS:
        raise ArgumentError(
            f"{what}: expected up to {MAX_SHARDS} ascending numbers, got {{{inside}}} in "
            f"{pattern!r:.200}"
        )
    padded = any(len(text) > 1 and text.startswith("0") for text in numbers.groups())
    width = max(map(len, numbers.groups())) if padded else 0
    return last - first + 1, (f"{number:0{width}}" for number in range(first, last + 1))
