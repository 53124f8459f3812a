"""Whisper: text of speech.

References:
    A. Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, 2022.
"""

from types import ModuleType
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import GELU
from gluonish.gluon.nn.basic_layers import Dropout, Embedding
from gluonish.gluon.nn.conv_layers import Conv1D
from gluonish.gluon.nn.positions import PositionalEmbedding, cached_places_of_each
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.gluon.nn.transformer import TransformerDecoder, TransformerEncoder
from gluonish.initializer import Constant
from gluonish.model_zoo.pretrained.config import AnySetting, Fixed, Ignored, Setting
from gluonish.model_zoo.pretrained.families import (
    Family,
    Head,
    keeps_arguments,
    register_family,
)
from gluonish.model_zoo.pretrained.weights import Names, absent, outer_rows, rows
from gluonish.model_zoo.speech.speech_to_text import SpeechSeq2SeqLM
from gluonish.model_zoo.text.bart import SETTINGS, rate
from gluonish.model_zoo.text.encoder_decoder import EncoderDecoder, MemoryDecoder, layer_names
from gluonish.model_zoo.text.heads import TIED

__all__ = ["Whisper"]

_FRAMES = 2  # of features for each position of the encoder


class _Encoder(HybridBlock):
    """The encoder: two convolutions over frames, fixed positions, and layers of self-attention."""

    def __init__(
        self,
        num_mels: int,
        units: int,
        max_length: int,
        stack: TransformerEncoder,
        dropout: float,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        options: dict[str, Any] = {"kernel_size": 3, "padding": 1}
        with self.name_scope():
            self.conv1 = Conv1D(units, in_channels=num_mels, prefix="conv1_", **options)
            self.conv2 = Conv1D(units, strides=2, in_channels=units, prefix="conv2_", **options)
            self.activation = GELU()
            table = Constant(nd.array(_sinusoids(max_length, units)))
            self.positions = PositionalEmbedding(
                units, max_length, weight_initializer=table, prefix="positions_"
            )
            self.dropout = Dropout(dropout) if dropout else None
        self.positions.weight.grad_req = "null"
        self.stack = stack

    def hybrid_forward(self, F: ModuleType, features: Tensor) -> Any:
        """Compute the features (N, frames / 2, units).

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            features: (N, mels, frames).
        """
        x = self.activation(self.conv2(self.activation(self.conv1(features))))
        x = self.positions(F.transpose(x, axes=(0, 2, 1)))
        return self.stack(x if self.dropout is None else self.dropout(x))


def _sinusoids(length: int, units: int) -> np.ndarray[Any, Any]:
    """Return sines and cosines of positions, (length, units): 1 for the first, 10^-4 for the last.

    They are the factors of a position in the angles, in a geometric series.
    """
    factors = 10000.0 ** -(np.arange(units // 2) / max(units // 2 - 1, 1))
    angles = np.arange(length)[:, None] * factors
    table = np.zeros((length, units), np.float32)
    table[:, : 2 * len(factors)] = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    return table


class _Decoder(MemoryDecoder):
    """The decoder, with learned positions; see `MemoryDecoder`."""

    def __init__(
        self,
        vocab_size: int,
        units: int,
        max_length: int,
        stack: TransformerDecoder,
        dropout: float,
        dtype: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = Embedding(vocab_size, units, dtype=dtype, prefix="embedding_")
            self.positions = PositionalEmbedding(
                units, max_length, dtype=dtype, prefix="positions_"
            )
            self.dropout = Dropout(dropout) if dropout else None
        self.stack = stack
        layers: list[Any] = list(stack.layers)
        for layer in layers:
            # A bias of keys adds the same to all scores of a query, so that Whisper has none.
            layer.memory_attention.key.bias.grad_req = "null"

    def _embed(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        x = self.embedding(tokens)
        if positions is None and cache is not None:
            positions = cached_places_of_each(F, x, 1, cache[2])
        x = self.positions(x, positions)
        return x if self.dropout is None else self.dropout(x)


class Whisper(EncoderDecoder):
    """The body of a Whisper: an encoder of mel features of speech, and a decoder of text.

    Args:
        vocab_size: Number of words.
        num_mels: Number of mel bands of the features.
        units: Number of features.
        num_encoder_layers: Number of layers of the encoder.
        encoder_heads: Number of its heads, which divides ``units``.
        encoder_hidden_units: Number of hidden units of its feed-forward networks.
        num_decoder_layers: Number of layers of the decoder.
        decoder_heads: Number of its heads.
        decoder_hidden_units: Number of its hidden units.
        max_source_length: Number of the encoder's positions, of two frames each.
        max_length: Number of the decoder's positions; further ones are an error.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        dropout: Probability of dropping an element of embeddings, and before each sum, in [0, 1).
        attention_dropout: That of a weight of attention.
        activation_dropout: That of a hidden unit.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        source: logarithmic mel features (N, num_mels, ``2 * max_source_length``), of 10 ms a frame
            in published networks.
        target: tokens (N, T) of the decoder, whole numbers from 0 to ``vocab_size`` - 1.

    Outputs:
        features: (N, T, units), of the decoder.

    Raises:
        ArgumentError: A number of heads does not divide ``units``, a number is out of range, or
            features have another shape.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.speech import SpeechSeq2SeqLM, Whisper
        >>> body = Whisper(32, 4, 8, *(1, 2, 16), *(1, 2, 16), max_source_length=6, max_length=9)
        >>> net = SpeechSeq2SeqLM(body)
        >>> net.initialize()
        >>> net(mx.nd.ones((1, 4, 12)), mx.nd.array([[0, 1, 2]], dtype="int32")).shape
        (1, 3, 32)
    """

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int = 51865,
        num_mels: int = 80,
        units: int = 384,
        num_encoder_layers: int = 4,
        encoder_heads: int = 6,
        encoder_hidden_units: int = 1536,
        num_decoder_layers: int = 4,
        decoder_heads: int = 6,
        decoder_hidden_units: int = 1536,
        max_source_length: int = 1500,
        max_length: int = 448,
        activation: str = "gelu",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, vocab_size=vocab_size, units=units, num_mels=num_mels)
        check_positive(name, max_length=max_length, max_source_length=max_source_length)
        self.vocab_size, self.units, self.num_mels = vocab_size, units, num_mels
        self.max_length, self.max_source_length = max_length, max_source_length
        layer: dict[str, Any] = {"activation": activation, "dropout": dropout, "dtype": dtype}
        layer |= {"attention_dropout": attention_dropout, "activation_dropout": activation_dropout}
        layer |= {"norm_first": True}
        with self.name_scope():
            encoder = TransformerEncoder(
                num_encoder_layers, units, encoder_hidden_units, encoder_heads,
                prefix="encoder_stack_", **layer,
            )  # fmt: skip
            self.encoder = _Encoder(
                num_mels, units, max_source_length, encoder, dropout, prefix="encoder_"
            )
            decoder = TransformerDecoder(
                num_decoder_layers, units, decoder_hidden_units, decoder_heads,
                memory_options={"key_units": units}, prefix="decoder_stack_", **layer,
            )  # fmt: skip
            self.decoder = _Decoder(
                vocab_size, units, max_length, decoder, dropout, dtype, prefix="decoder_"
            )
        self.cast(dtype)

    def __call__(self, source: Any, *args: Any) -> Any:
        """Check the shape of the features, and compute the network."""
        self.check(source, type(self).__name__)
        return super().__call__(source, *args)

    def encode(self, source: Any, valid_length: Any = None) -> Any:
        """Return the encoder's output (N, max_source_length, units).

        Args:
            source: (N, num_mels, ``2 * max_source_length``).
            valid_length: None, as features are of one length.

        Raises:
            ArgumentError: The features have another shape, or there are lengths.
        """
        self.check(source, type(self).__name__)
        if valid_length is not None:
            raise ArgumentError(
                f"{type(self).__name__}: expected no lengths of features, which are all of "
                f"{_FRAMES * self.max_source_length} frames, got some; pad speech with silence"
            )
        return self.encoder(source)

    def check(self, features: Any, name: str) -> None:
        """Refuse features of another shape; those of a trace have none.

        Args:
            features: An array or a Symbol.
            name: The network, for the message.

        Raises:
            ArgumentError: They are not (N, num_mels, ``2 * max_source_length``).
        """
        shape = getattr(features, "shape", None)
        want = (self.num_mels, _FRAMES * self.max_source_length)
        if shape is not None and (len(shape) != 3 or shape[1:] != want):
            is_long = len(shape) == 3 and shape[1] == want[0] and shape[2] > want[1]
            advice = "; split the speech, and pass the features of its pieces as a batch"
            raise ArgumentError(
                f"{name}: expected mel features (N, {want[0]}, {want[1]}), got shape {shape}"
                f"{advice if is_long else ''}"
            )


_SETTINGS: tuple[AnySetting, ...] = (
    *(setting for setting in SETTINGS if "scale_embedding" not in setting.names),
    Fixed("scale_embedding", False),
    rate("dropout", 0.0),
    Setting("num_mels", "num_mel_bins", int, 80),
    Setting("max_source_length", "max_source_positions", int, 1500),
    Setting("max_length", "max_target_positions", int, 448),
    Fixed("apply_spec_augment", False),
    Fixed("use_weighted_layer_sum", False),
    Ignored("mask_time_prob", "mask_time_length", "mask_time_min_masks", "mask_feature_prob"),
    Ignored("mask_feature_length", "mask_feature_min_masks", "median_filter_width"),
    Ignored("classifier_proj_size"),
)
_QKV: Names = (
    ("qkv.weight", rows(*(f"self_attn.{x}_proj.weight" for x in "qkv"))),
    ("qkv.bias", outer_rows("self_attn.q_proj.bias", "self_attn.v_proj.bias")),
)
_MEMORY: Names = (
    *((f"{x}.weight", f"encoder_attn.{x[0]}_proj.weight") for x in ("query", "key", "value")),
    *((f"{x}.bias", f"encoder_attn.{x[0]}_proj.bias") for x in ("query", "value")),
    ("key.bias", absent()),
)
_NAMES: Names = (
    *(
        (f"encoder.{layer}.{kind}", f"encoder.{layer}.{kind}")
        for layer in ("conv1", "conv2")
        for kind in ("weight", "bias")
    ),
    ("decoder.embedding.weight", "decoder.embed_tokens.weight"),
    *layer_names("encoder", _QKV),
    *layer_names("decoder", _QKV, _MEMORY),
    *(
        (f"{side}.{ours}", f"{side}.{theirs}")
        for side in ("encoder", "decoder")
        for ours, theirs in (
            ("positions.weight", "embed_positions.weight"),
            ("stack.norm.gamma", "layer_norm.weight"),
            ("stack.norm.beta", "layer_norm.bias"),
        )
    ),
)
register_family(
    Family(
        "whisper",
        "WhisperModel",
        Whisper,
        _SETTINGS,
        _NAMES,
        "model.",
        {
            "WhisperForConditionalGeneration": Head(
                SpeechSeq2SeqLM, [("head.weight", "proj_out.weight")], [TIED]
            )
        },
    )
)
