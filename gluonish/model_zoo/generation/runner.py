"""Runner: scores of the next token, by one plan for each length of a piece of text."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.model_zoo.generation.cache import LONGEST_PIECE, Cache, Ring, rounded_length
from gluonish.model_zoo.generation.network_graph import NetworkGraph
from gluonish.ndarray import NDArray

# Lengths of the pieces in which prompts are computed; longer prompts take several.
PIECES = (1, 16, 64, 128, 256, LONGEST_PIECE)


class Next(NamedTuple):
    """What a network gives for the next token of each row.

    Attributes:
        scores: (N, vocab_size) in float32.
        best: The token with the greatest score, (N,), in int32.
    """

    scores: NDArray
    best: NDArray


class _Step(NetworkGraph):
    """Scores behind one token of each row, as one graph.

    The network is not hybridized by it: this block is, before the network becomes its child.
    """

    def hybrid_forward(
        self, F: ModuleType, tokens: Any, positions: Any, rows: Any, cache: Any
    ) -> Any:
        """Compute scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            positions: Of the tokens, (N, T).
            rows: Which of N * T tokens is the last one of each row, (N,).
            cache: See `Cache.arrays`.
        """
        features = self.net.features(F, tokens, cache, positions)
        last = F.take(F.reshape(features, shape=(-3, 0)), rows, axis=0)
        scores = F.cast(self.net.scores(F, last), dtype="float32")
        return scores, F.cast(F.argmax(scores, axis=-1), dtype="int32")


class Runner:
    """Computes the next scores of rows of tokens with a cache.

    Args:
        net: A language model, with ``features(F, tokens, cache, positions)``,
            ``scores(F, features)`` and ``begin_cache``.
    """

    def __init__(self, net: Any) -> None:
        self.net = net
        self._step = _Step(net, "step_")
        self._shapes: set[tuple[Any, ...]] = set()
        self._spare: tuple[Any, Cache] | None = None  # with what was asked for
        self._each: NDArray | None = None  # 0, 1, ... for the rows of a step
        self._requests: WeakKeyDictionary[Cache, Any] = WeakKeyDictionary()

    @property
    def num_plans(self) -> int:
        """Number of plans that were made: one for each number of rows, piece and cache."""
        return len(self._shapes)

    @property
    def num_graphs(self) -> int:
        """Number of graphs that were traced; new shapes need no new one."""
        return len(self._step._graphs)

    def context(self) -> Any:
        """Return the device of the parameters."""
        return _first_parameter(self.net).list_ctx()[0]

    def new_cache(self, rows: int, length: int, dtype: Any = None) -> Cache:
        """Return an empty cache for some rows with room for some tokens."""
        room = rounded_length(length)
        rings = [None if window is None else Ring.of(window) for window in self._windows()]
        made = self._begin_layers(rows, room, rings, dtype)
        rings = rings or [None] * len(made)
        layers = [(*layer[:2], *(x for x in layer[3:] if x is not None)) for layer in made]
        return Cache(layers, [[] for _ in range(rows)], rings, room)

    def spare_cache(self, rows: int, length: int, dtype: Any = None) -> Cache:
        """Return an empty cache: the one that was put aside, if it has the same size and dtype.

        To fill new memory with zeros takes longer than a token, and a twentieth of a prompt.
        """
        request = (
            self.context(),
            _first_parameter(self.net).dtype,
            rows,
            rounded_length(length),
            dtype,
        )
        found, self._spare = self._spare, None
        if found is None or found[0] != request:
            found = request, self.new_cache(rows, length, dtype)
        self._requests[found[1]] = request
        return found[1]

    def put_aside(self, cache: Cache) -> None:
        """Keep a cache that nobody needs any more for the next text.

        What it has of the last text stays in memory: on CPUs nothing behind the newest key is read.
        """
        request = self._requests.pop(cache, None)
        if request is not None and request[0].device_type == "cpu":
            self._spare = request, cache.cut(0)

    def _windows(self) -> Sequence[int | None]:
        """Return the window of each layer; none if no layer has one."""
        windows: Sequence[int | None] = self.net.attention_windows
        return windows if any(window is not None for window in windows) else ()

    def _begin_layers(
        self, rows: int, length: int, rings: Sequence[Ring | None], dtype: Any
    ) -> Sequence[Any]:
        """Return an empty cache of each layer."""
        each = [length if ring is None else min(length, ring.length) for ring in rings]
        made: Sequence[Any] = self.net.begin_cache(rows, each or length, self.context(), dtype)
        return made

    def room(self, prompts: Sequence[Sequence[int]], new: int, start: Sequence[int]) -> int:
        """Return the tokens that a cache needs room for, the padding of pieces included.

        Args:
            prompts: Tokens of each row.
            new: Most tokens that follow each prompt.
            start: How many tokens of each row are in the cache.
        """
        most = max(len(prompt) for prompt in prompts) + new
        places = list(start)
        while any(place < len(row) for place, row in zip(places, prompts, strict=True)):
            piece = _piece(prompts, places)
            most = max(most, max(places) + piece)
            places = [min(p + piece, len(row)) for p, row in zip(places, prompts, strict=True)]
        return most

    def read(self, cache: Cache, prompts: Sequence[Sequence[int]]) -> Next:
        """Compute what is not in the cache of some rows, and return the next scores.

        Args:
            cache: With room for the prompts; each of its rows is the beginning of a prompt.
            prompts: Tokens of each row, at least one more than the cache has.
        """
        found: dict[int, Next] = {}
        while len(found) < len(prompts):
            places = [len(row) for row in cache.tokens]
            piece = _piece(prompts, places)
            parts = [
                list(row[place : place + piece]) for row, place in zip(prompts, places, strict=True)
            ]
            made = self._compute(cache, parts, places, piece)
            for i, part in enumerate(parts):
                if part and len(cache.tokens[i]) == len(prompts[i]):
                    found[i] = made
        if len({id(made) for made in found.values()}) == 1:
            return found[0]
        scores = nd.stack(*(found[i].scores[i] for i in range(len(prompts))), axis=0)
        return Next(scores, nd.argmax(scores, axis=-1).astype("int32"))

    def step(self, cache: Cache, tokens: Sequence[int]) -> Next:
        """Add a token to each row, and return the next scores."""
        places = [len(row) for row in cache.tokens]
        return self._compute(cache, [[token] for token in tokens], places, 1)

    def step_ahead(self, cache: Cache, made: Next) -> Next:
        """Return the next scores behind the best tokens, which the host has not read.

        The caller adds the tokens to the rows of the cache when it has read them. Meanwhile the
        host prepares what follows, and the device does not wait for it.
        """
        places = [len(row) for row in cache.tokens]
        ctx, each = made.best.context, self._each
        if each is None or each.shape != (len(places),) or each.context != ctx:
            self._each = each = nd.arange(len(places), ctx=ctx, dtype="int32")
        return self._run(cache, made.best.reshape((-1, 1)), places, 1, each)

    def _compute(
        self, cache: Cache, parts: Sequence[list[int]], places: Sequence[int], piece: int
    ) -> Next:
        """Compute one piece of each row, which is padded behind its tokens.

        What padding writes into the cache is behind all tokens, which do not see it, and the next
        piece writes over it.
        """
        count = len(parts)
        tokens = np.zeros((count, piece), np.int32)
        last = np.zeros(count, np.int32)
        for i, part in enumerate(parts):
            tokens[i, : len(part)] = part
            last[i] = i * piece + max(len(part) - 1, 0)
        given = [nd.array(x, ctx=self.context(), dtype="int32") for x in (tokens, last)]
        made = self._run(cache, given[0], places, piece, given[1])
        for row, part in zip(cache.tokens, parts, strict=True):
            row += part
        return made

    def _run(
        self, cache: Cache, tokens: Any, places: Sequence[int], piece: int, last: NDArray
    ) -> Next:
        """Run the graph of a step on tokens (N, piece) at places of the rows."""
        positions = np.asarray(places, np.int32)[:, None] + np.arange(piece, dtype=np.int32)
        np.minimum(positions, self.net.max_length - 1, out=positions)
        numbers = nd.array(positions, ctx=tokens.context, dtype="int32")
        self._shapes.add((len(places), piece, cache.dtype, *cache.lengths))
        return Next(*self._step(tokens, numbers, last, cache.arrays(places, piece)))


def _first_parameter(block: Any) -> Any:
    """Return the first parameter of a network; `collect_params` would visit all."""
    for parameter in block._reg_params.values():
        return parameter
    found = (_first_parameter(child) for child in block._children.values())
    return next((one for one in found if one is not None), None)


def _piece(prompts: Sequence[Sequence[int]], places: Sequence[int]) -> int:
    """Return the length of the next piece of rows that are computed up to some places."""
    left = max(len(row) - place for row, place in zip(prompts, places, strict=True))
    return next((piece for piece in PIECES if piece >= left), PIECES[-1])


def checked_prompts(
    net: Any,
    prompts: Sequence[Sequence[int]],
    what: str = "prompt",
    most: int | None = None,
) -> list[list[int]]:
    """Return prompts as lists of tokens.

    Args:
        net: The network.
        prompts: Tokens of each.
        what: Name of a prompt in messages.
        most: Most tokens of one; None for those of a prompt of the network.

    Raises:
        ArgumentError: A prompt is empty, longer than the network's positions, or has a token out of
            the vocabulary.
    """
    limit: int = net.max_prompt_length if most is None else most
    checked = []
    for i, prompt in enumerate(prompts):
        name = f"{what} {i}" if what == "prompt" else what
        row = np.asarray(prompt)
        if row.ndim != 1 or not row.size or row.dtype.kind not in "iu":
            raise ArgumentError(
                f"generate: expected {name} of at least one token, whole numbers, got "
                f"{prompt!r:.60}"
            )
        if row.min() < 0 or row.max() >= net.vocab_size:
            raise ArgumentError(
                f"generate: expected tokens of {name} from 0 to {net.vocab_size - 1}, got "
                f"{row.min() if row.min() < 0 else row.max()}"
            )
        if row.size > limit:
            raise ArgumentError(
                f"generate: expected {name} of at most {limit} tokens, which are the "
                f"positions of {type(net).__name__}, got {row.size}; cut or split the text"
            )
        checked.append([int(token) for token in row])
    return checked
