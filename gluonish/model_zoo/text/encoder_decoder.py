"""Networks of an encoder and a decoder: what T5, BART and Whisper have in common.

References:
    A. Vaswani et al., Attention Is All You Need, 2017.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor
from gluonish.model_zoo.pretrained.config import MOST_LAYERS, AnySetting, Fixed, Setting
from gluonish.model_zoo.pretrained.families import prefixed
from gluonish.model_zoo.pretrained.weights import Names
from gluonish.ndarray import NDArray

__all__ = ["DecoderCache", "EncoderDecoder", "MemoryDecoder"]


class DecoderCache(NamedTuple):
    """What a decoder has computed: of earlier tokens, and of the encoder's output.

    The caller adds the number of tokens of each call to ``layers[0][0].position``, which all
    layers share.

    Attributes:
        layers: For each layer, the growing cache of its self-attention and the complete one of the
            encoder's output.
        memory_valid_length: Number of positions of the encoder's output of each sample, (N,); None
            for all.
    """

    layers: Any
    memory_valid_length: Any = None


class MemoryDecoder(HybridBlock):
    """Base class of decoders: an embedding, and layers that attend to an encoder's output.

    A subclass has the children ``embedding`` and ``stack``, a `TransformerDecoder`.

    Inputs:
        tokens: (N, T), whole numbers below the size of the vocabulary.
        memory: output of an encoder, (N, S, units); None with a cache.
        memory_valid_length: number of its positions of each sample, (N,); None for S.
        cache: `DecoderCache`, instead of ``memory``.
        positions: of the tokens, (N, T); None for 0, 1, ..., from the position of the cache on.

    Outputs:
        features: (N, T, units).
    """

    embedding: Any
    stack: Any

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        memory: Tensor | None = None,
        memory_valid_length: Tensor | None = None,
        cache: Any = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            memory: (N, S, units), or None.
            memory_valid_length: (N,), or None.
            cache: `DecoderCache`, or None.
            positions: (N, T), or None.
        """
        layers, own = None, None
        if cache is not None:
            layers, memory_valid_length = cache[0], cache[1]
            own = layers[0][0]
        x = self._embed(F, tokens, own, positions)
        mask = self._mask(x, own)
        x = self.stack(x, memory, mask, None, None, memory_valid_length, layers)
        return self._finish(x)

    def _embed(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        """Return the features (N, T, units) that the first layer reads.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            tokens: (N, T).
            cache: That of the first layer's self-attention, or None.
            positions: (N, T), or None.
        """
        raise NotImplementedError

    def _mask(self, x: Any, cache: Any) -> Any:
        """Return a mask of self-attention in addition to the causal one; None for none."""
        return None

    def _finish(self, x: Any) -> Any:
        """Return the decoder's features of those of its last layer."""
        return x

    def project_memory(self, F: ModuleType, memory: Any) -> Iterator[Any]:
        """Yield keys and values of the encoder's output for each layer in turn.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            memory: (N, S, units).
        """
        for layer in self.stack.layers:
            yield from layer.memory_attention.project_memory(F, memory)


class EncoderDecoder(HybridBlock):
    """Base class of bodies: an encoder, and a decoder that attends to the encoder's output.

    Inputs:
        source: what the encoder reads, such as tokens (N, S).
        target: tokens (N, T) that the decoder reads.
        source_valid_length: number of the source's tokens of each sample, (N,); None for S.

    Outputs:
        features: (N, T, units), of the decoder.

    Attributes:
        vocab_size: Number of words.
        units: Number of features.
        max_length: Largest number of the decoder's positions.
        max_source_length: Largest number of the encoder's positions.
    """

    encoder: Any
    decoder: Any
    vocab_size: int
    units: int
    max_length: int
    max_source_length: int

    @property
    def embedding(self) -> Any:
        """The decoder's embedding, whose weight scores may share."""
        return self.decoder.embedding

    def hybrid_forward(
        self,
        F: ModuleType,
        source: Tensor,
        target: Tensor,
        source_valid_length: Tensor | None = None,
    ) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            source: See the class.
            target: (N, T).
            source_valid_length: (N,), or None.
        """
        memory = self.encode(source, source_valid_length)
        return self.decoder(target, memory, source_valid_length)

    def encode(self, source: Any, valid_length: Any = None) -> Any:
        """Return the encoder's output (N, S, units).

        Args:
            source: See the class.
            valid_length: Number of the source's tokens of each sample, (N,); None for S.
        """
        return self.encoder(source, None, valid_length)

    def begin_cache(
        self, memory: NDArray, length: int, valid_length: Any = None, dtype: Any = None
    ) -> DecoderCache:
        """Return a cache for `decode`, with keys and values of the encoder's output.

        Args:
            memory: Output of `encode`, (N, S, units).
            length: Largest number of the decoder's tokens.
            valid_length: See `encode`.
            dtype: Element type of the keys and values of tokens; that of the parameters by
                default.

        Raises:
            ArgumentError: ``length`` is below 1 or above the number of positions.
        """
        if length > self.max_length:
            raise ArgumentError(
                f"{type(self).__name__}.begin_cache: expected length of at most "
                f"{self.max_length}, which are the positions, got {length}"
            )
        return DecoderCache(self.decoder.stack.begin_cache(memory, length, dtype), valid_length)

    def decode(self, tokens: Any, cache: Any, positions: Any = None) -> Any:
        """Return the decoder's features (N, T, units) of the tokens behind those in a cache.

        Args:
            tokens: (N, T).
            cache: See `begin_cache`; the caller adds T to its position.
            positions: (N, T); None for those behind the cache.
        """
        return self.decoder(tokens, None, None, cache, positions)


# Settings of BART and Whisper; of encoder and decoder each.
def sizes_of(side: str) -> tuple[AnySetting, ...]:
    """Return the settings of the layers of a side, ``encoder`` or ``decoder``."""
    return (
        Setting(f"num_{side}_layers", f"{side}_layers", most=MOST_LAYERS),
        Setting(f"{side}_heads", f"{side}_attention_heads"),
        Setting(f"{side}_hidden_units", f"{side}_ffn_dim"),
        Fixed(f"{side}_layerdrop", 0.0, 0),
    )


def layer_names(side: str, qkv: Names, memory_qkv: Names = ()) -> Names:
    """Return the names of the weights of the layers that BART and Whisper have in files.

    Args:
        side: ``encoder`` or ``decoder``.
        qkv: Names of the projections of self-attention, relative to the layer.
        memory_qkv: Those of the attention to the encoder's output.
    """
    own = [(f"attention.{ours}", theirs) for ours, theirs in qkv]
    own += [(f"memory_attention.{ours}", theirs) for ours, theirs in memory_qkv]
    for ours, theirs in (
        ("attention.output", "self_attn.out_proj"),
        ("memory_attention.output", "encoder_attn.out_proj"),
        ("feed_forward.hidden", "fc1"),
        ("feed_forward.output", "fc2"),
    ):
        own += [(f"{ours}.{kind}", f"{theirs}.{kind}") for kind in ("weight", "bias")]
    for ours, theirs in (
        ("attention_norm", "self_attn_layer_norm"),
        ("memory_attention_norm", "encoder_attn_layer_norm"),
        ("feed_forward_norm", "final_layer_norm"),
    ):
        own += [(f"{ours}.gamma", f"{theirs}.weight"), (f"{ours}.beta", f"{theirs}.bias")]
    return tuple(
        (f"{side}.stack.layers.{{}}.{ours}", prefixed(theirs, f"{side}.layers.{{}}."))
        for ours, theirs in own
    )
