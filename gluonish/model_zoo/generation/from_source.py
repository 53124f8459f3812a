"""Generation by an encoder and a decoder: texts whose source the encoder reads once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.nn.attention import AttentionCache
from gluonish.model_zoo.generation.cache import Cache, Ring
from gluonish.model_zoo.generation.generate import Generates, rows_of
from gluonish.model_zoo.generation.network_graph import NetworkGraph
from gluonish.model_zoo.generation.options import GenerationOptions
from gluonish.model_zoo.generation.processors import Processor
from gluonish.model_zoo.generation.runner import Next, Runner, checked_prompts
from gluonish.model_zoo.generation.search import NewToken
from gluonish.model_zoo.generation.speculative import Guess
from gluonish.ndarray import NDArray

_LEAST_LENGTH = 16


class Memory(NamedTuple):
    """What a decoder needs of an encoder's output.

    Attributes:
        layers: Keys and values of each layer, (N, S, heads, head_units).
        valid_length: Number of positions of each row, (N,); None for S.
        groups: For each row, the number of its source; rows of one source are equal.
    """

    layers: tuple[AttentionCache, ...]
    valid_length: NDArray | None
    groups: tuple[int, ...]

    @property
    def length(self) -> int:
        """Number S of positions."""
        return int(self.layers[0].keys.shape[1]) if self.layers else 0

    def take(self, rows: Sequence[int]) -> "Memory":
        """Return that of some rows; it is this one if each row has the source that it had."""
        groups = tuple(self.groups[row] for row in rows)
        if groups == self.groups:
            return self
        keys = self.layers[0].keys
        index = nd.array(np.asarray(list(rows), np.int32), ctx=keys.context, dtype="int32")
        layers = tuple(
            AttentionCache(*(nd.take(x, index) for x in pair[:2])) for pair in self.layers
        )
        lengths = None if self.valid_length is None else nd.take(self.valid_length, index)
        return Memory(layers, lengths, groups)


class SourceCache(Cache):
    """A cache of a decoder: of tokens, and of their sources.

    Args:
        cache: That of tokens.
        memory: What there is of the sources, a row for each of the cache.
    """

    def __init__(self, cache: Cache, memory: Memory) -> None:
        super().__init__(cache._layers, cache.tokens, length=cache.length)
        self.memory = memory

    def arrays(self, positions: Sequence[int], count: int) -> Any:
        """Return the `DecoderCache` of rows that go on from some positions."""
        own = super().arrays(positions, count)
        return tuple(zip(own, self.memory.layers, strict=True)), self.memory.valid_length

    def take(self, rows: Sequence[int]) -> "SourceCache":
        """Return a cache of copies of some rows; a row may come several times."""
        return SourceCache(super().take(rows), self.memory.take(rows))


class _Encode(NetworkGraph):
    """Keys and values of an encoder's output, as one graph; see `runner._Step`."""

    def hybrid_forward(self, F: ModuleType, source: Any, valid_length: Any = None) -> Any:
        """Compute keys and values of each layer in turn.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            source: What the encoder reads.
            valid_length: (N,), or None.
        """
        return self.net.memory(F, source, valid_length)


class SourceRunner(Runner):
    """Computes sources, and the next scores of rows of tokens with a cache.

    Args:
        net: A network such as `Seq2SeqLM`.
    """

    def __init__(self, net: Any) -> None:
        super().__init__(net)
        self._encode = _Encode(net, "encode_")
        self._plans: set[tuple[Any, ...]] = set()

    @property
    def num_plans(self) -> int:
        """Number of plans: for sources by rows and length, for tokens by piece and cache, too."""
        return len(self._plans)

    @property
    def num_graphs(self) -> int:
        """Number of graphs that were traced; new shapes need no new one."""
        return super().num_graphs + len(self._encode._graphs)

    def _windows(self) -> Sequence[int | None]:
        return ()

    def _begin_layers(
        self, rows: int, length: int, rings: Sequence[Ring | None], dtype: Any
    ) -> Sequence[Any]:
        given = (rows, length, self.context(), dtype)
        return [layer.attention.begin_cache(*given) for layer in self.net.body.decoder.stack.layers]

    def encode(self, source: np.ndarray[Any, Any], lengths: Sequence[int] | None) -> Memory:
        """Compute sources.

        Args:
            source: What the encoder reads, padded.
            lengths: Number of positions of each row; None if there is no padding.
        """
        ctx = self.context()
        made = [nd.array(source, ctx=ctx, dtype=source.dtype)]
        if lengths is not None:
            made.append(nd.array(np.asarray(lengths, np.int32), ctx=ctx, dtype="int32"))
        self._plans.add(source.shape)
        heads = self._encode(*made)
        pairs = zip(heads[::2], heads[1::2], strict=True)
        valid = made[1] if lengths is not None else None
        return Memory(
            tuple(AttentionCache(*pair) for pair in pairs), valid, tuple(range(len(source)))
        )

    def cache_of(self, memory: Memory, length: int, dtype: Any = None) -> SourceCache:
        """Return a cache without tokens, with room for some.

        Args:
            memory: What `encode` returned.
            length: Most tokens of a row.
            dtype: Element type of what is computed of tokens.
        """
        return SourceCache(self.new_cache(len(memory.groups), length, dtype), memory)

    def _run(
        self, cache: Cache, tokens: Any, places: Sequence[int], piece: int, last: NDArray
    ) -> Next:
        assert isinstance(cache, SourceCache)
        self._plans.add((len(places), piece, cache.dtype, cache.length, cache.memory.length))
        return super()._run(cache, tokens, places, piece, last)


class GeneratesFromSource(Generates):
    """Base class of networks that generate a text for a source; see `Seq2SeqLM`.

    Prompts of `generate` and `stream` are the sources. The texts begin behind
    ``decoder_start_token_id``, and the tokens of ``decoder_input_ids``, which are no part of them.
    """

    _runner: Any = None
    _further_options = frozenset({"decoder_start_token_id", "decoder_input_ids"})

    @property
    def runner(self) -> SourceRunner:
        """What computes the next scores; it has the number of plans, ``num_plans``."""
        if self._runner is None:
            object.__setattr__(self, "_runner", SourceRunner(self))
        made: Any = self._runner
        return made  # type: ignore[no-any-return]

    @property
    def max_source_length(self) -> int:
        """Largest number of positions of a source."""
        raise NotImplementedError

    @property
    def max_prompt_length(self) -> int:
        """Largest number of tokens of a prompt, which is a source."""
        return self.max_source_length

    def new_cache(self, batch_size: int = 1, length: int = 1, dtype: Any = None) -> Cache:
        """Refuse to make an empty cache, as a decoder's cache begins with a source.

        Args:
            batch_size: Number of rows.
            length: Number of tokens.
            dtype: Element type.

        Raises:
            ArgumentError: Always; the message says what to call.
        """
        raise ArgumentError(
            f"{type(self).__name__}.new_cache: expected a network without an encoder, got one with "
            "an encoder, whose caches begin with a source; use encode, begin_cache and decode"
        )

    def _rows(self, prompts: Any, options: GenerationOptions) -> tuple[list[Any], bool, bool]:
        # An empty source stands for nothing.
        return rows_of(self, prompts, replace(options, bos_token_id=None))

    def _started(
        self, rows: list[Any], options: GenerationOptions, cache: Cache | None
    ) -> tuple[list[list[int]], Cache]:
        if cache is not None:
            raise ArgumentError(
                "generate: expected no cache for a network with an encoder, got one; its texts "
                "have sources, which are computed once for each call"
            )
        memory = self.runner.encode(*self._padded(rows))
        begins = self._begins(memory, options)
        new = max(self._room(row, options) for row in begins)
        room = self.runner.room(begins, new, [0] * len(begins))
        return begins, self.runner.cache_of(memory, room, options.cache_dtype)

    def _padded(self, rows: list[Any]) -> tuple[np.ndarray[Any, Any], list[int] | None]:
        """Return sources as one array, padded to one of few lengths, and their lengths."""
        lengths = [len(row) for row in rows]
        longest = max(lengths)
        room = _LEAST_LENGTH
        while room < longest:
            room *= 2
        made = np.zeros((len(rows), min(room, self.max_source_length)), np.int32)
        for to, row in zip(made, rows, strict=True):
            to[: len(row)] = row
        return made, lengths

    def _begins(self, memory: Memory, options: GenerationOptions) -> list[list[int]]:
        """Return the tokens that the texts of sources follow.

        Raises:
            ArgumentError: There are none, or they do not suit the vocabulary and the positions.
        """
        start, given = options.decoder_start_token_id, list(options.decoder_input_ids or [])
        start = options.bos_token_id if start is None else start
        if start is not None and given[:1] != [start]:
            given = [start, *given]
        if not given:
            raise ArgumentError(
                "generate: expected decoder_start_token_id, the token before the first one of a "
                "text, in the call or in generation_config, got none"
            )
        (begin,) = checked_prompts(self, [given], "decoder_input_ids", self.max_length)
        return [begin for _ in memory.groups]

    def _guessed(
        self,
        rows: list[list[int]],
        options: GenerationOptions,
        further: Sequence[Processor],
        cache: Cache | None,
        guess: Guess,
    ) -> Iterator[NewToken]:
        raise ArgumentError(
            "generate: expected no assistant_model and prompt_lookup for a network with an "
            "encoder, got one"
        )
