"""Cache: keys and values of prompts, which can be kept, cut, copied and saved."""

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.gluon.nn.attention import AttentionCache
from gluonish.ndarray import NDArray, load, load_metadata, save

__all__ = ["Cache"]

_LEAST_LENGTH = 256
_TOKENS = "tokens"


class Cache:
    """What a network has computed of some rows of tokens, for texts that go on from there.

    ``net.generate(..., cache=cache)`` computes only the tokens behind those that it has. A network
    makes one by ``net.new_cache()``.

    Args:
        layers: For each layer, keys and values (N, heads, length, head_units).
        tokens: The tokens of each row.

    Attributes:
        tokens: The tokens of each row.
    """

    def __init__(
        self, layers: Sequence[tuple[NDArray, NDArray]], tokens: Sequence[Sequence[int]]
    ) -> None:
        self._layers = [(keys, values) for keys, values in layers]
        self.tokens = [list(row) for row in tokens]

    @property
    def batch_size(self) -> int:
        """Number N of rows."""
        return len(self.tokens)

    @property
    def length(self) -> int:
        """Most tokens that a row has room for."""
        return int(self._layers[0][0].shape[2]) if self._layers else 0

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values."""
        return sum(x.size * np.dtype(x.dtype).itemsize for pair in self._layers for x in pair)

    def arrays(self, positions: Sequence[int]) -> tuple[AttentionCache, ...]:
        """Return what layers read and write, where each row goes on from a position."""
        keys = self._layers[0][0]
        place = nd.array(np.asarray(positions, np.int32), ctx=keys.context, dtype="int32")
        return tuple(AttentionCache(keys, values, place) for keys, values in self._layers)

    def cut(self, length: int) -> "Cache":
        """Forget what is behind the first tokens of each row, in place.

        Args:
            length: Number of tokens that stay.

        Raises:
            ArgumentError: The length is below 0.
        """
        if length < 0:
            raise ArgumentError(f"Cache.cut: expected length of 0 or more, got {length}")
        self.tokens = [row[:length] for row in self.tokens]
        return self

    def copy(self) -> "Cache":
        """Return a cache of its own with the same content."""
        return self.take(range(self.batch_size))

    def take(self, rows: Sequence[int]) -> "Cache":
        """Return a cache of copies of some rows; a row may come several times."""
        indices = nd.array(np.asarray(list(rows), np.int32), dtype="int32")
        layers = []
        for keys, values in self._layers:
            place = indices.as_in_context(keys.context)
            layers.append((nd.take(keys, place, axis=0), nd.take(values, place, axis=0)))
        return Cache(layers, [self.tokens[row] for row in rows])

    def grow(self, length: int) -> None:
        """Make room for rows of some tokens."""
        if length <= self.length:
            return
        layers = []
        for pair in self._layers:
            wider = []
            for x in pair:
                shape = (*x.shape[:2], rounded_length(length), x.shape[3])
                made = nd.zeros(shape, ctx=x.context, dtype=x.dtype)
                made[:, :, : x.shape[2]] = x
                wider.append(made)
            layers.append((wider[0], wider[1]))
        self._layers = layers

    def write_row(self, row: int, other: "Cache", source: int = 0) -> None:
        """Copy a row of another cache, which is not longer, into this one."""
        count = len(other.tokens[source])
        for mine, theirs in zip(self._layers, other._layers, strict=True):
            for to, x in zip(mine, theirs, strict=True):
                to[row, :, :count] = x[source, :, :count]
        self.tokens[row] = list(other.tokens[source])

    def save(self, filename: str | os.PathLike[str]) -> None:
        """Write the cache to a safetensors file, atomically; see `load`.

        Args:
            filename: Path of the file, which ends with ``.safetensors``.
        """
        arrays = {}
        count = max((len(row) for row in self.tokens), default=0)
        for i, (keys, values) in enumerate(self._layers):
            arrays[f"{i}.keys"] = keys[:, :, : max(count, 1)]
            arrays[f"{i}.values"] = values[:, :, : max(count, 1)]
        save(filename, arrays, metadata={_TOKENS: json.dumps(self.tokens)})

    @staticmethod
    def load(filename: str | os.PathLike[str], ctx: Any = None) -> "Cache":
        """Return the cache in a file that `save` wrote.

        Args:
            filename: Path of the file.
            ctx: Device; the current one by default.

        Raises:
            FileFormatError: The file is no cache.
        """
        name = os.fspath(filename)
        arrays = load(filename)
        text = load_metadata(filename).get(_TOKENS, "null")
        try:
            tokens = json.loads(text)
        except ValueError as error:
            raise FileFormatError(f"{name}: expected tokens as JSON, got {error}") from error
        right = isinstance(tokens, list) and all(
            isinstance(row, list) and all(type(one) is int for one in row) for row in tokens
        )
        count = len(arrays) // 2
        names = {f"{i}.{kind}" for i in range(count) for kind in ("keys", "values")}
        if not right or not isinstance(arrays, dict) or set(arrays) != names or not count:
            raise FileFormatError(f"{name}: expected a file of Cache.save, got another one")
        longest = max((len(row) for row in tokens), default=0)
        for key, array in arrays.items():
            if array.ndim != 4 or len(array) != len(tokens) or array.shape[2] < longest:
                raise FileFormatError(
                    f"{name}: expected {key!r} of shape ({len(tokens)}, heads, {longest} or more, "
                    f"units), got {array.shape}"
                )
        if ctx is not None:
            arrays = {key: array.as_in_context(ctx) for key, array in arrays.items()}
        return Cache([(arrays[f"{i}.keys"], arrays[f"{i}.values"]) for i in range(count)], tokens)


def rounded_length(length: int) -> int:
    """Return the room of a cache for some tokens: 256, 512, 1024 ..., so that plans are few."""
    room = _LEAST_LENGTH
    while room < length:
        room *= 2
    return room
