"""BART.

References:
    M. Lewis et al., BART: Denoising Sequence-to-Sequence Pre-training for Natural Language
    Generation, Translation, and Comprehension, 2020.
"""

import math
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dropout, Embedding
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.positions import (
    PositionalEmbedding,
    cached_places_of_each,
)
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.gluon.nn.transformer import TransformerDecoder, TransformerEncoder
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    AnySetting,
    Fixed,
    Ignored,
    Setting,
    TokenSetting,
)
from gluonish.model_zoo.pretrained.families import (
    Family,
    Head,
    keeps_arguments,
    register_family,
)
from gluonish.model_zoo.pretrained.labels import LabelSetting
from gluonish.model_zoo.pretrained.weights import Names, rows, with_leading_axes
from gluonish.model_zoo.text.encoder_decoder import (
    EncoderDecoder,
    MemoryDecoder,
    layer_names,
    sizes_of,
)
from gluonish.model_zoo.text.heads import TIED
from gluonish.model_zoo.text.seq2seq import Seq2SeqLM
from gluonish.model_zoo.text.seq2seq_heads import (
    Seq2SeqQuestionAnswering,
    Seq2SeqSequenceClassifier,
)

__all__ = ["BART"]

_FIRST_PLACE = 2  # the row of the first position in a table


class _Embeddings(HybridBlock):
    """Embeddings of words and positions, normalized: (N, T) to (N, T, units)."""

    def __init__(
        self,
        words: Embedding,
        units: int,
        max_length: int,
        scale: float,
        dropout: float,
        dtype: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._scale = scale
        with self.name_scope():
            self.words = words
            self.positions = PositionalEmbedding(
                units, max_length, dtype=dtype, first_row=_FIRST_PLACE, prefix="positions_"
            )
            self.norm = LayerNorm(in_channels=units, prefix="norm_")
            self.dropout = Dropout(dropout) if dropout else None

    def hybrid_forward(
        self, F: ModuleType, tokens: Tensor, positions: Tensor | None = None, cache: Any = None
    ) -> Any:
        """Compute the embeddings.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            positions: (1, T) or (N, T); None for 0, 1, ..., or those behind a cache.
            cache: A growing `AttentionCache`, or None.
        """
        x = self.words(tokens)
        x = x if self._scale == 1.0 else x * self._scale
        places: Any = positions
        if positions is None and cache is not None:
            places = cached_places_of_each(F, x, 1, cache[2])
        x = self.norm(self.positions(x, places))
        return x if self.dropout is None else self.dropout(x)


class _BARTEncoder(HybridBlock):
    """The encoder: embeddings, and layers of self-attention."""

    def __init__(self, embeddings: _Embeddings, stack: TransformerEncoder, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.embeddings, self.stack = embeddings, stack

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
    ) -> Any:
        """Compute the features (N, T, units).

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            mask: See `MultiHeadAttention`; None for none.
            valid_length: (N,), or None.
        """
        return self.stack(self.embeddings(tokens), mask, valid_length)


class _BARTDecoder(MemoryDecoder):
    """The decoder; see `MemoryDecoder`."""

    def __init__(self, embeddings: _Embeddings, stack: TransformerDecoder, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.embeddings, self.stack = embeddings, stack

    @property
    def embedding(self) -> Any:
        """The embedding of words."""
        return self.embeddings.words

    def _embed(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        return self.embeddings(tokens, positions, cache)


class BART(EncoderDecoder):
    """The body of a BART: an encoder and a decoder, with one embedding of words.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        num_encoder_layers: Number of layers of the encoder.
        encoder_heads: Number of its heads, which divides ``units``.
        encoder_hidden_units: Number of hidden units of its feed-forward networks.
        num_decoder_layers: Number of layers of the decoder.
        decoder_heads: Number of its heads.
        decoder_hidden_units: Number of its hidden units.
        max_length: Number of positions; further ones are an error.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        scale_embedding: Whether embeddings of words are multiplied by the root of ``units``.
        shared_embedding: Whether encoder and decoder have one embedding of words.
        dropout: Probability of dropping an element of embeddings, and before each sum, in [0, 1).
        attention_dropout: That of a weight of attention.
        activation_dropout: That of a hidden unit.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        source: tokens (N, S) of the encoder, whole numbers from 0 to ``vocab_size`` - 1.
        target: tokens (N, T) of the decoder.
        source_valid_length: number of the source's tokens of each sample, (N,); None for S.

    Outputs:
        features: (N, T, units), of the decoder.

    Raises:
        ArgumentError: A number of heads does not divide ``units``, or a number is out of range.
        OperatorError: In the call, if S or T is above ``max_length``.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import BART, Seq2SeqLM
        >>> body = BART(32, 8, *(1, 2, 16), *(1, 2, 16), max_length=9)
        >>> net = Seq2SeqLM(body, tied=True)
        >>> net.initialize()
        >>> source = mx.nd.array([[4, 5, 6, 7]], dtype="int32")
        >>> net(source, mx.nd.array([[0, 1, 2]], dtype="int32")).shape
        (1, 3, 32)
    """

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int = 50265,
        units: int = 1024,
        num_encoder_layers: int = 12,
        encoder_heads: int = 16,
        encoder_hidden_units: int = 4096,
        num_decoder_layers: int = 12,
        decoder_heads: int = 16,
        decoder_hidden_units: int = 4096,
        max_length: int = 1024,
        activation: str = "gelu",
        scale_embedding: bool = False,
        shared_embedding: bool = True,
        dropout: float = 0.1,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, vocab_size=vocab_size, units=units, max_length=max_length)
        self.vocab_size, self.units = vocab_size, units
        self.max_length = self.max_source_length = max_length
        layer: dict[str, Any] = {"activation": activation, "dropout": dropout, "dtype": dtype}
        layer |= {"attention_dropout": attention_dropout, "activation_dropout": activation_dropout}
        scale = math.sqrt(units) if scale_embedding else 1.0
        sides: list[HybridBlock] = []
        with self.name_scope():
            # It has no effect with embeddings of each side, but files have it.
            self.shared = Embedding(vocab_size, units, dtype=dtype, prefix="shared_")
            table = (units, max_length, scale, dropout, dtype)
            for side, kind in (("encoder", _BARTEncoder), ("decoder", _BARTDecoder)):
                sizes = (num_encoder_layers, units, encoder_hidden_units, encoder_heads)
                if kind is _BARTDecoder:
                    sizes = (num_decoder_layers, units, decoder_hidden_units, decoder_heads)
                stack = TransformerEncoder if kind is _BARTEncoder else TransformerDecoder
                words = self.shared
                if not shared_embedding:
                    words = Embedding(vocab_size, units, dtype=dtype, prefix=f"{side}_words_")
                embeddings = _Embeddings(words, *table, prefix=f"{side}_embeddings_")
                if kind is _BARTDecoder:
                    layer["memory_options"] = {"key_units": units}
                layers: Any = stack(*sizes, prefix=f"{side}_stack_", **layer)
                sides.append(kind(embeddings, layers, prefix=f"{side}_"))
        self.encoder, self.decoder = sides
        if not shared_embedding:
            self.shared.weight.grad_req = "null"


def rate(argument: str, default: float) -> Setting:
    """Return the setting of a probability of dropout."""
    return Setting(argument, argument, float, default, least=0.0, most=1.0)


SETTINGS: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size"),
    Setting("units", "d_model"),
    *sizes_of("encoder"),
    *sizes_of("decoder"),
    Setting("activation", "activation_function", ACTIVATIONS, "gelu"),
    Setting("scale_embedding", "scale_embedding", bool, False),
    rate("attention_dropout", 0.0),
    rate("activation_dropout", 0.0),
    Fixed("is_encoder_decoder", True),
    Ignored("init_std", "num_hidden_layers", "classif_dropout", "classifier_dropout"),
)
_SETTINGS: tuple[AnySetting, ...] = (
    *SETTINGS,
    Setting("shared_embedding", "tie_word_embeddings", bool, True),
    rate("dropout", 0.1),
    Setting("max_length", "max_position_embeddings", int, 1024),
    Fixed("add_final_layer_norm", False),
    Fixed("add_bias_logits", False),
    Fixed("normalize_embedding", True),
    Fixed("static_position_embeddings", False),
    Fixed("extra_pos_embeddings", 2, 0),
    Ignored("force_bos_token_to_be_generated", "gradient_checkpointing", "_num_labels"),
)
_QKV: Names = tuple(
    (f"qkv.{kind}", rows(*(f"self_attn.{x}_proj.{kind}" for x in "qkv")))
    for kind in ("weight", "bias")
)
_MEMORY: Names = tuple(
    (f"{part}.{kind}", f"encoder_attn.{part[0]}_proj.{kind}")
    for part in ("query", "key", "value")
    for kind in ("weight", "bias")
)
_NAMES: Names = (
    ("shared.weight", "shared.weight"),
    *layer_names("encoder", _QKV),
    *layer_names("decoder", _QKV, _MEMORY),
    *(
        (f"{side}.embeddings.{ours}", f"{side}.{theirs}")
        for side in ("encoder", "decoder")
        for ours, theirs in (
            ("words.weight", "embed_tokens.weight"),
            ("positions.weight", "embed_positions.weight"),
            ("norm.gamma", "layernorm_embedding.weight"),
            ("norm.beta", "layernorm_embedding.bias"),
        )
    ),
)


def _shared_by_file(names: Collection[str], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return that a file has one embedding, as before version 5 of transformers all have."""
    own = any(name.endswith("encoder.embed_tokens.weight") for name in names)
    return {} if own or arguments["shared_embedding"] else {"shared_embedding": True}


register_family(
    Family(
        "bart",
        "BartModel",
        BART,
        _SETTINGS,
        _NAMES,
        "model.",
        {
            "BartForConditionalGeneration": Head(
                Seq2SeqLM,
                [
                    ("head.weight", "lm_head.weight"),
                    ("head.bias", with_leading_axes("final_logits_bias")),
                ],
                [TIED],
                {"fixed_bias": True},
            ),
            "BartForSequenceClassification": Head(
                Seq2SeqSequenceClassifier,
                [
                    (f"{ours}.{kind}", f"classification_head.{theirs}.{kind}")
                    for ours, theirs in (("hidden", "dense"), ("output", "out_proj"))
                    for kind in ("weight", "bias")
                ],
                (
                    LabelSetting(default=3),
                    Setting("dropout", "classifier_dropout", float, 0.0, least=0.0, most=1.0),
                    TokenSetting("eos_token_id", 2),
                    TokenSetting("decoder_start_token_id", 2),
                ),
            ),
            "BartForQuestionAnswering": Head(
                Seq2SeqQuestionAnswering,
                [(f"output.{kind}", f"qa_outputs.{kind}") for kind in ("weight", "bias")],
                [TokenSetting("decoder_start_token_id", 2)],
            ),
        },
        unused=("encoder.version", "decoder.version"),
        of_file=_shared_by_file,
    )
)
