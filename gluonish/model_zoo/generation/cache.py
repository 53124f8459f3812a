"""Cache: keys and values of prompts, which can be kept, cut, copied and saved."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.object_repr import object_repr
from gluonish.gluon.nn.attention import AttentionCache
from gluonish.gluon.nn.tensor import check_ints
from gluonish.ndarray import NDArray, load, load_metadata, save

__all__ = ["Cache"]

_KINDS = ("keys", "values", "key_scales", "value_scales")
_LEAST_LENGTH = 256
_BLOCK = 64
LONGEST_PIECE = 512  # tokens that a network computes at once


class Ring(NamedTuple):
    """How a layer with a window keeps what is in its reach: row p mod length for position p.

    Attributes:
        window: Positions that a query attends to, its own included.
        length: Rows: those that the queries of a piece of text attend to, and a few. A shorter
            cache has a row for each position.
    """

    window: int
    length: int

    @classmethod
    def of(cls, window: int) -> "Ring":
        """Return the ring of a window."""
        # Padding of a piece replaces rows, too, and the last token may be computed again.
        return cls(window, -(-(window + LONGEST_PIECE) // _BLOCK) * _BLOCK)


class Cache:
    """What a network has computed of some rows of tokens, for texts that go on from there.

    ``net.generate(..., cache=cache)`` computes only the tokens behind those that it has. A network
    makes one by ``net.new_cache()``. Layers with a window have rows for the tokens in its reach
    only, and for those of the next piece of text.

    Args:
        layers: For each layer, keys and values (N, heads, length, head_units), and of int8 their
            scales (N, heads, length).
        tokens: The tokens of each row.
        rings: The ring of each layer, None of one without a window; None for none.
        length: Most tokens that a row has room for; None for what the layers have.

    Attributes:
        tokens: The tokens of each row.
    """

    def __init__(
        self,
        layers: Sequence[tuple[NDArray, ...]],
        tokens: Sequence[Sequence[int]],
        rings: Sequence[Ring | None] | None = None,
        length: int | None = None,
    ) -> None:
        self._layers = [tuple(layer) for layer in layers]
        self.tokens = [list(row) for row in tokens]
        self._rings = [None] * len(self._layers) if rings is None else list(rings)
        self._ends = [len(row) for row in self.tokens]  # positions before which rows were written
        self._length = self._room() if length is None else length

    def __repr__(self) -> str:
        counts = [len(row) for row in self.tokens]
        return object_repr(self, f"{len(self._layers)} layers", tokens=counts, length=self._length)

    def _room(self) -> int:
        """Return the tokens that all layers have room for."""
        pairs = zip(self.lengths, self._rings, strict=True)
        limits = [n for n, ring in pairs if ring is None or n < ring.length]
        return min(limits or self.lengths, default=0)

    @property
    def batch_size(self) -> int:
        """Number N of rows."""
        return len(self.tokens)

    @property
    def length(self) -> int:
        """Most tokens that a row has room for."""
        return self._length

    @property
    def lengths(self) -> tuple[int, ...]:
        """Rows of keys and values of each layer."""
        return tuple(int(layer[0].shape[2]) for layer in self._layers)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of keys and values."""
        found: np.dtype[Any] = np.dtype(self._layers[0][0].dtype)
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values, and of their scales."""
        return sum(x.size * np.dtype(x.dtype).itemsize for layer in self._layers for x in layer)

    def arrays(self, positions: Sequence[int], count: int) -> Any:
        """Return what layers read and write, where each row goes on from a position.

        Args:
            positions: Of each row.
            count: Number of rows of keys that are written there, those of padding included.
        """
        self._ends = [max(end, p + count) for end, p in zip(self._ends, positions, strict=True)]
        keys = self._layers[0][0]
        place = nd.array(np.asarray(positions, np.int32), ctx=keys.context, dtype="int32")
        return tuple(
            AttentionCache(keys, values, place, *scales) for keys, values, *scales in self._layers
        )

    def least(self, row: int) -> int:
        """Return the fewest tokens, more than none, that a row can be cut to.

        Fewer would need keys that rings have dropped.
        """
        least = 1
        for rows, ring in zip(self.lengths, self._rings, strict=True):
            if ring is not None and self._ends[row] > rows:
                least = max(least, self._ends[row] - rows + ring.window - 1)
        return least

    def cut(self, length: int) -> "Cache":
        """Forget what is behind the first tokens of each row, in place.

        Args:
            length: Number of tokens that stay.

        Raises:
            ArgumentError: The length is below 0, or layers with a window no longer have what they
                attend to behind so few tokens.
            ArgumentTypeError: The length is not an int.
        """
        check_ints("Cache.cut", length=length)
        if length < 0:
            raise ArgumentError(f"Cache.cut: expected length of 0 or more, got {length}")
        for row, tokens in enumerate(self.tokens):
            if 0 < length < len(tokens) and length < self.least(row):
                raise ArgumentError(
                    f"Cache.cut: expected length of 0, or of {self.least(row)} or more for row "
                    f"{row}, whose layers with a window keep what is in reach only, got {length}; "
                    "copy the cache while it has so few tokens"
                )
        for row, tokens in enumerate(self.tokens):
            self._keep(row, tokens[:length])
        return self

    def keep_beginnings(self, rows: Sequence[Sequence[int]]) -> None:
        """Forget what is not the beginning of rows of tokens, and their last token.

        A row whose rings have dropped what the rest of the beginning needs has nothing afterwards.

        Args:
            rows: Tokens, for each row of the cache.
        """
        for i, (held, row) in enumerate(zip(self.tokens, rows, strict=True)):
            count = min(_common(held, row), len(row) - 1)
            self._keep(i, held[:count] if count >= self.least(i) else [])

    def _keep(self, row: int, tokens: list[int]) -> None:
        self.tokens[row] = tokens
        if not tokens:
            self._ends[row] = 0

    def copy(self) -> "Cache":
        """Return a cache of its own with the same content."""
        return self.take(range(self.batch_size))

    def take(self, rows: Sequence[int]) -> "Cache":
        """Return a cache of copies of some rows; a row may come several times.

        Raises:
            ArgumentError: There is no such row.
        """
        other = [row for row in rows if row not in range(self.batch_size)]
        if other:
            raise ArgumentError(
                f"Cache.take: expected rows from 0 to {self.batch_size - 1}, got {other[0]!r:.60}"
            )
        indices = nd.array(np.asarray(list(rows), np.int32), dtype="int32")
        layers = []
        for layer in self._layers:
            place = indices.as_in_context(layer[0].context)
            layers.append(tuple(nd.take(x, place, axis=0) for x in layer))
        made = Cache(layers, [self.tokens[row] for row in rows], self._rings, self._length)
        made._ends = [self._ends[row] for row in rows]
        return made

    def grow(self, length: int) -> None:
        """Make room for rows of some tokens."""
        if length <= self.length:
            return
        self._length = rounded_length(length)
        for i, ring in enumerate(self._rings):
            room = self._length if ring is None else min(self._length, ring.length)
            self._layers[i] = tuple(_widened(x, room) for x in self._layers[i])

    def write_row(self, row: int, other: "Cache", source: int = 0) -> None:
        """Copy a row of another cache of the same network, which is not longer, into this one."""
        count = len(other.tokens[source])
        for mine, theirs in zip(self._layers, other._layers, strict=True):
            for to, x in zip(mine, theirs, strict=True):
                rows = x.shape[2]
                filled = count if other._ends[source] <= rows else rows  # a ring is copied whole
                to[row, :, :filled] = x[source, :, :filled]
        self.tokens[row] = list(other.tokens[source])
        self._ends[row] = other._ends[source]

    def save(self, filename: str | os.PathLike[str]) -> None:
        """Write the cache to a safetensors file, atomically; see `load`.

        Args:
            filename: Path of the file, which ends with ``.safetensors``.
        """
        ends = self._ends
        if all(end <= rows for end in ends for rows in self.lengths):  # padding is not saved
            ends = [len(row) for row in self.tokens]
        most = max(1, *ends)
        arrays = {
            f"{i}.{kind}": x[:, :, :most] if x.shape[2] > most else x
            for i, layer in enumerate(self._layers)
            for kind, x in zip(_KINDS, layer, strict=False)
        }
        metadata = {"tokens": json.dumps(self.tokens)}
        if any(self._rings):
            metadata |= {"rings": json.dumps(self._rings), "ends": json.dumps(ends)}
        save(filename, arrays, metadata=metadata)

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
        metadata = load_metadata(filename)
        tokens = _of_metadata(name, metadata, "tokens", None)
        if not (isinstance(tokens, list) and tokens and all(map(_is_integers, tokens))):
            raise FileFormatError(f"{name}: expected a file of Cache.save, got another one")
        layers = _layers_of(name, arrays, len(tokens))
        given = _of_metadata(name, metadata, "rings", [None] * len(layers))
        ends = _of_metadata(name, metadata, "ends", [len(row) for row in tokens])
        rings = _rings_of(name, given, len(layers))
        _check_ends(name, ends, tokens, layers, rings)
        if ctx is not None:
            layers = [tuple(x.as_in_context(ctx) for x in layer) for layer in layers]
        made = Cache(layers, tokens, rings)
        made._ends = ends
        return made


def rounded_length(length: int) -> int:
    """Return the room of a cache for some tokens: 256, 512, 1024 ..., so that plans are few."""
    room = _LEAST_LENGTH
    while room < length:
        room *= 2
    return room


def _widened(array: NDArray, length: int) -> NDArray:
    """Return an array with more rows along axis 2."""
    if array.shape[2] >= length:
        return array
    shape = (*array.shape[:2], length, *array.shape[3:])
    made: NDArray = nd.zeros(shape, ctx=array.context, dtype=array.dtype)
    made[:, :, : array.shape[2]] = array
    return made


def _of_metadata(name: str, metadata: Mapping[str, str], key: str, default: Any) -> Any:
    """Return a value of a file's metadata, which is JSON.

    Raises:
        FileFormatError: It is not.
    """
    if key not in metadata:
        return default
    try:
        return json.loads(metadata[key])
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{name}: expected {key} as JSON, got {error}") from error


def _is_integers(value: object) -> bool:
    return isinstance(value, list) and all(type(one) is int for one in value)


def _layers_of(name: str, arrays: Any, rows: int) -> list[tuple[NDArray, ...]]:
    """Return the arrays of each layer in a file.

    Raises:
        FileFormatError: They are not those of a cache of some rows.
    """
    has_scales = isinstance(arrays, dict) and "0.key_scales" in arrays
    kinds = _KINDS if has_scales else _KINDS[:2]
    count = len(arrays) // len(kinds)
    names = {f"{i}.{kind}" for i in range(count) for kind in kinds}
    if not isinstance(arrays, dict) or set(arrays) != names or not count:
        raise FileFormatError(f"{name}: expected a file of Cache.save, got another one")
    layers = [tuple(arrays[f"{i}.{kind}"] for kind in kinds) for i in range(count)]
    for i, (keys, values, *scales) in enumerate(layers):
        for kind, x in zip(kinds, (keys, values), strict=False):
            is_right = x.dtype == np.int8 if scales else is_floating(np.dtype(x.dtype))
            if x.ndim != 4 or x.shape[0] != rows or x.shape[:3] != keys.shape[:3] or not is_right:
                raise FileFormatError(
                    f"{name}: expected '{i}.{kind}' of shape ({rows}, heads, length, units), "
                    f"{'int8' if scales else 'floating'}, got {np.dtype(x.dtype).name}{x.shape}"
                )
        for kind, x in zip(kinds[2:], scales, strict=True):
            if x.shape != keys.shape[:3] or x.dtype != np.float32:
                raise FileFormatError(
                    f"{name}: expected '{i}.{kind}' float32{keys.shape[:3]}, got "
                    f"{np.dtype(x.dtype).name}{x.shape}"
                )
    return layers


def _rings_of(name: str, given: Any, layers: int) -> list[Ring | None]:
    """Return the rings of a file.

    Raises:
        FileFormatError: There is not one for each layer, or one is too short.
    """
    if not isinstance(given, list) or len(given) != layers:
        raise FileFormatError(f"{name}: expected rings of {layers} layers, got {given!r:.60}")
    for one in given:
        is_pair = _is_integers(one) and len(one) == 2
        if one is not None and not (is_pair and 1 <= one[0] <= one[1] - LONGEST_PIECE):
            raise FileFormatError(
                f"{name}: expected rings of window and length, {LONGEST_PIECE} longer or more, "
                f"got {one!r:.60}"
            )
    return [None if one is None else Ring(*one) for one in given]


def _check_ends(
    name: str,
    ends: Any,
    tokens: Sequence[Sequence[int]],
    layers: Sequence[tuple[NDArray, ...]],
    rings: Sequence[Ring | None],
) -> None:
    """Refuse a file whose layers do not have the rows of its tokens.

    Raises:
        FileFormatError: The message says which.
    """
    if not _is_integers(ends) or len(ends) != len(tokens):
        raise FileFormatError(f"{name}: expected ends of {len(tokens)} rows, got {ends!r:.60}")
    for end, row in zip(ends, tokens, strict=True):
        if not len(row) <= end < 1 << 31:
            raise FileFormatError(
                f"{name}: expected an end of {len(row)} tokens or more, got {end!r:.60}"
            )
    longest, most = max(map(len, tokens)), max(ends)
    for i, (layer, ring) in enumerate(zip(layers, rings, strict=True)):
        rows = layer[0].shape[2]
        is_ring = ring is not None and rows == ring.length
        if rows < (longest if ring is None else most) and not is_ring:
            raise FileFormatError(
                f"{name}: expected layer {i} with {longest} rows or more, got {rows}"
            )


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two rows have in common at their beginnings."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
