"""Seq2SeqLM: scores of the next word of a text that an encoder's input is the source of."""

from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.tensor import Tensor
from gluonish.model_zoo.generation.from_source import GeneratesFromSource
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.text.encoder_decoder import DecoderCache, EncoderDecoder
from gluonish.ndarray import NDArray

__all__ = ["Seq2SeqLM"]


class Seq2SeqLM(GeneratesFromSource, HybridBlock):
    """Scores of the next word of a text, such as a translation of its source; see `generate`.

    Scores are ``y = body(source, target) W^T + b``.

    Args:
        body: Encoder and decoder, such as `T5`.
        tied: Whether W is the weight of the decoder's embedding.
        scaled: Whether features are divided by the root of ``units`` before the product, as those
            of a `T5` with ``tied`` are.
        fixed_bias: Whether there is a bias b, which is not trained.
        **kwargs: See `HybridBlock`.

    Inputs:
        source: what the body's encoder reads, such as tokens (N, S).
        target: tokens (N, T) that the decoder reads: those before the ones that are scored.
        source_valid_length: number of the source's tokens of each sample, (N,); None for S.

    Outputs:
        scores: (N, T, vocab_size).

    Raises:
        ArgumentError: The body is none.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import BART, Seq2SeqLM
        >>> net = Seq2SeqLM(BART(32, 8, *(1, 2, 16), *(1, 2, 16), max_length=9))
        >>> net.initialize()
        >>> source = mx.nd.array([[4, 5, 6, 7]], dtype="int32")
        >>> cache = net.begin_cache(net.encode(source), length=9)
        >>> scores = net.decode(mx.nd.array([[0]], dtype="int32"), cache)
        >>> cache.layers[0][0].position[:] += 1
        >>> scores.shape
        (1, 1, 32)
        >>> len(net.generate([4, 5, 6, 7], 3, decoder_start_token_id=0))
        3
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        tied: bool = True,
        scaled: bool = False,
        fixed_bias: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(body, EncoderDecoder):
            raise ArgumentError(
                f"{type(self).__name__}: expected a body with encoder and decoder, got "
                f"{type(body).__name__}"
            )
        self.body: Any = body
        self._scale = body.units**-0.5 if scaled else 1.0
        words, units = body.embedding.weight.shape
        options = {"flatten": False, "use_bias": fixed_bias, "in_units": units}
        with self.name_scope():
            shared = body.embedding.params if tied else None
            self.head = Dense(words, prefix="head_", params=shared, **options)
        if self.head.bias is not None:
            self.head.bias.grad_req = "null"

    def hybrid_forward(
        self,
        F: ModuleType,
        source: Tensor,
        target: Tensor,
        source_valid_length: Tensor | None = None,
    ) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            source: See the body.
            target: (N, T).
            source_valid_length: (N,), or None.
        """
        return self.scores(F, self.body(source, target, source_valid_length))

    @property
    def max_length(self) -> int:
        """Largest number of positions of the decoder."""
        return int(self.body.max_length)

    @property
    def max_source_length(self) -> int:
        """Largest number of positions of the encoder."""
        return int(self.body.max_source_length)

    @property
    def vocab_size(self) -> int:
        """Number of words."""
        return int(self.body.vocab_size)

    def encode(self, source: Any, valid_length: Any = None) -> Any:
        """Return the encoder's output (N, S, units); see `EncoderDecoder.encode`.

        Args:
            source: See the body.
            valid_length: Number of the source's tokens of each sample, (N,); None for S.
        """
        return self.body.encode(source, valid_length)

    def begin_cache(
        self, memory: NDArray, length: int, valid_length: Any = None, dtype: Any = None
    ) -> DecoderCache:
        """Return a cache for `decode`; see `EncoderDecoder.begin_cache`.

        Args:
            memory: Output of `encode`, (N, S, units).
            length: Largest number of the decoder's tokens.
            valid_length: See `encode`.
            dtype: Element type of the keys and values of tokens; that of the parameters by
                default.
        """
        made: DecoderCache = self.body.begin_cache(memory, length, valid_length, dtype)
        return made

    def decode(self, tokens: Any, cache: Any, positions: Any = None) -> Any:
        """Return the scores (N, T, vocab_size) behind the tokens that follow those in a cache.

        Args:
            tokens: (N, T).
            cache: See `begin_cache`; the caller adds T to its position.
            positions: (N, T); None for those behind the cache.
        """
        return self.scores(nd, self.body.decode(tokens, cache, positions))

    def features(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        """Return features (N, T, units) of the decoder, for generation.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            tokens: (N, T).
            cache: `DecoderCache`.
            positions: (N, T).
        """
        return self.body.decode(tokens, cache, positions)

    def scores(self, F: ModuleType, features: Any) -> Any:
        """Return the scores (..., vocab_size) of features (..., units) of the decoder.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            features: What the decoder computed.
        """
        return self.head(features if self._scale == 1.0 else features * self._scale)

    def memory(self, F: ModuleType, source: Any, valid_length: Any) -> list[Any]:
        """Return keys and values of the encoder's output, for each layer of the decoder in turn.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            source: See the body.
            valid_length: (N,), or None.
        """
        return list(self.body.decoder.project_memory(F, self.body.encode(source, valid_length)))
