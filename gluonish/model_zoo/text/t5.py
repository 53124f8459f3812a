"""T5, and its version 1.1 with gates.

References:
    C. Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text
    Transformer, 2020.
    N. Shazeer, GLU Variants Improve Transformer, 2020.
"""

from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dropout, Embedding
from gluonish.gluon.nn.feed_forward import GATES, GatedMLP
from gluonish.gluon.nn.positions import RelativePositionBias
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.gluon.nn.transformer import TransformerDecoder, TransformerEncoder
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST,
    MOST_LAYERS,
    AnySetting,
    Computed,
    Config,
    Fixed,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import (
    Family,
    Head,
    keeps_arguments,
    register_family,
)
from gluonish.model_zoo.pretrained.weights import Names, rows
from gluonish.model_zoo.text.encoder_decoder import EncoderDecoder, MemoryDecoder
from gluonish.model_zoo.text.seq2seq import Seq2SeqLM

__all__ = ["T5", "T5Encoder"]


class T5Encoder(HybridBlock):
    """The encoder of a T5: embedding, layers of self-attention with biases of distances, and norm.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers.
        num_heads: Number of heads.
        head_units: Size of a head.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        gated: Whether the feed-forward networks have gates; see `GatedMLP`.
        num_buckets: Number of buckets of distances; see `RelativePositionBias`.
        max_distance: Distance from which on all share a bucket.
        dropout: Probability of dropping an element of embeddings, hidden units, weights of
            attention, of the result, and before each sum, in [0, 1).
        epsilon: Small constant of the normalizations.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers from 0 to ``vocab_size`` - 1.
        mask: added to the bias of distances; broadcasts to (N, H, T, T), floating.
        valid_length: number of tokens of each sample, (N,); None for T. Later ones are hidden.

    Outputs:
        features: (N, T, units).

    Raises:
        ArgumentError: A number is out of range.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import T5Encoder
        >>> net = T5Encoder(32, units=8, hidden_units=16, num_layers=1, num_heads=2, head_units=4)
        >>> net.initialize()
        >>> net(mx.nd.array([[1, 2, 3]], dtype="int32")).shape
        (1, 3, 8)
    """

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int,
        units: int,
        hidden_units: int,
        num_layers: int,
        num_heads: int,
        head_units: int = 64,
        activation: str = "relu",
        gated: bool = False,
        num_buckets: int = 32,
        max_distance: int = 128,
        dropout: float = 0.1,
        epsilon: float = 1e-6,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive(type(self).__name__, vocab_size=vocab_size, units=units)
        self.vocab_size, self.units, self.max_length = vocab_size, units, MOST
        self.dropout_rate = dropout
        stack = _stack_options(
            units, hidden_units, head_units, activation, gated, dropout, epsilon, dtype
        )
        with self.name_scope():
            self.embedding = Embedding(vocab_size, units, dtype=dtype, prefix="embedding_")
            self.bias = RelativePositionBias(
                num_heads, num_buckets, max_distance, dtype=dtype, prefix="bias_"
            )
            self.dropout = Dropout(dropout) if dropout else None
            self.stack = TransformerEncoder(
                num_layers, units, hidden_units, num_heads, prefix="stack_", **stack
            )

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
    ) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            mask: Broadcasts to (N, H, T, T), or None.
            valid_length: (N,), or None.
        """
        x = _dropped(self.dropout, self.embedding(tokens))
        bias = self.bias(x)
        if mask is not None:
            bias = F.broadcast_add(bias, mask)
        return _dropped(self.dropout, self.stack(x, bias, valid_length))


class _T5Decoder(MemoryDecoder):
    """The decoder of a T5, with the arguments of `T5Encoder`; see `MemoryDecoder`."""

    def __init__(
        self,
        embedding: Embedding,
        units: int,
        hidden_units: int,
        num_layers: int,
        num_heads: int,
        head_units: int,
        activation: str,
        gated: bool,
        num_buckets: int,
        max_distance: int,
        dropout: float,
        epsilon: float,
        dtype: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        stack = _stack_options(
            units, hidden_units, head_units, activation, gated, dropout, epsilon, dtype
        )
        stack["memory_options"] = {**stack["attention_options"], "key_units": units}
        with self.name_scope():
            self.embedding = embedding
            self.bias = RelativePositionBias(
                num_heads, num_buckets, max_distance, False, dtype=dtype, prefix="bias_"
            )
            self.dropout = Dropout(dropout) if dropout else None
            self.stack = TransformerDecoder(
                num_layers, units, hidden_units, num_heads, prefix="stack_", **stack
            )

    def _embed(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        return _dropped(self.dropout, self.embedding(tokens))

    def _mask(self, x: Any, cache: Any) -> Any:
        return self.bias(x, None, cache)

    def _finish(self, x: Any) -> Any:
        return _dropped(self.dropout, x)


class T5(EncoderDecoder):
    """The body of a T5: an encoder and a decoder, with one embedding.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers of the encoder.
        num_heads: Number of heads.
        num_decoder_layers: Number of layers of the decoder; None for ``num_layers``.
        head_units: Size of a head.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        gated: Whether the feed-forward networks have gates, as in version 1.1; see `GatedMLP`.
        num_buckets: Number of buckets of distances; see `RelativePositionBias`.
        max_distance: Distance from which on all share a bucket.
        dropout: See `T5Encoder`.
        epsilon: Small constant of the normalizations.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        source: tokens (N, S) of the encoder, whole numbers from 0 to ``vocab_size`` - 1.
        target: tokens (N, T) of the decoder.
        source_valid_length: number of the source's tokens of each sample, (N,); None for S.

    Outputs:
        features: (N, T, units), of the decoder.

    Raises:
        ArgumentError: A number is out of range.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import T5, Seq2SeqLM
        >>> body = T5(32, units=8, hidden_units=16, num_layers=1, num_heads=2, head_units=4)
        >>> net = Seq2SeqLM(body, tied=True, scaled=True)
        >>> net.initialize()
        >>> source = mx.nd.array([[4, 5, 6, 7]], dtype="int32")
        >>> net(source, mx.nd.array([[0, 1, 2]], dtype="int32")).shape
        (1, 3, 32)
    """

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int,
        units: int,
        hidden_units: int,
        num_layers: int,
        num_heads: int,
        num_decoder_layers: int | None = None,
        head_units: int = 64,
        activation: str = "relu",
        gated: bool = False,
        num_buckets: int = 32,
        max_distance: int = 128,
        dropout: float = 0.1,
        epsilon: float = 1e-6,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive(type(self).__name__, vocab_size=vocab_size, units=units)
        self.vocab_size, self.units = vocab_size, units
        self.max_length = self.max_source_length = MOST  # distances have no limit
        both: dict[str, Any] = {"head_units": head_units, "activation": activation}
        both |= {"gated": gated, "num_buckets": num_buckets, "max_distance": max_distance}
        both |= {"dropout": dropout, "epsilon": epsilon, "dtype": dtype}
        sizes = (units, hidden_units, num_layers, num_heads)
        layers = num_layers if num_decoder_layers is None else num_decoder_layers
        with self.name_scope():
            self.encoder = T5Encoder(vocab_size, *sizes, prefix="encoder_", **both)
            self.shared = self.encoder.embedding
            self.decoder = _T5Decoder(
                self.shared, units, hidden_units, layers, num_heads, prefix="decoder_", **both
            )


def _stack_options(
    units: int,
    hidden_units: int,
    head_units: int,
    activation: str,
    gated: bool,
    dropout: float,
    epsilon: float,
    dtype: Any,
) -> dict[str, Any]:
    """Return options of the layers of encoder and decoder."""

    def feed_forward() -> HybridBlock:
        options: dict[str, Any] = {"dropout": dropout, "dtype": dtype, "in_units": units}
        return GatedMLP(units, hidden_units, activation, **options)

    return {
        "activation": activation,
        "attention_options": {"head_units": head_units, "scale": 1.0},
        "dropout": dropout,
        "dtype": dtype,
        "epsilon": epsilon,
        "feed_forward": feed_forward if gated else None,
        "norm": "rms",
        "norm_first": True,
        "use_bias": False,
    }


def _dropped(dropout: Dropout | None, x: Any) -> Any:
    return x if dropout is None else dropout(x)


_GATED = "gated-"


def _read_activation(config: Config) -> Mapping[str, Any]:
    known = {name: (name, False) for name in ACTIVATIONS}
    known |= {_GATED + name: (name, True) for name, ours in ACTIVATIONS.items() if ours in GATES}
    known[_GATED + "gelu"] = ("gelu_new", True)  # what version 1.1 means by it
    name, gated = config.take("feed_forward_proj", known, known["relu"])
    config.require("dense_act_fn", name, None)
    config.require("is_gated_act", gated, None)
    return {"activation": ACTIVATIONS[name], "gated": gated}


def _write_activation(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    activation, gated = arguments["activation"], arguments["gated"]
    name = next(theirs for theirs, ours in ACTIVATIONS.items() if ours == activation)
    short = "gelu" if gated and activation == "gelu_tanh" else name
    written = {"dense_act_fn": name, "is_gated_act": gated}
    return {"feed_forward_proj": _GATED + short if gated else name, **written}


_ENCODER_SETTINGS: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size"),
    Setting("units", "d_model"),
    Setting("hidden_units", "d_ff"),
    Setting("num_layers", "num_layers", most=MOST_LAYERS),
    Setting("num_heads", "num_heads"),
    Setting("head_units", "d_kv", int, 64),
    Computed(
        ("feed_forward_proj", "dense_act_fn", "is_gated_act"), _read_activation, _write_activation
    ),
    Setting("num_buckets", "relative_attention_num_buckets", int, 32),
    Setting("max_distance", "relative_attention_max_distance", int, 128),
    Setting("dropout", "dropout_rate", float, 0.1, least=0.0, most=1.0),
    Setting("epsilon", "layer_norm_epsilon", float, 1e-6, least=0.0),
    Ignored("classifier_dropout", "n_positions"),
)
_SETTINGS: tuple[AnySetting, ...] = (
    *_ENCODER_SETTINGS,
    Setting("num_decoder_layers", "num_decoder_layers", int | None, None, most=MOST_LAYERS),
    Fixed("is_encoder_decoder", True),
)


def _read_scores(config: Config) -> Mapping[str, Any]:
    tied = config.take("tie_word_embeddings", bool, True)
    # Files before version 5 of transformers have one setting for both.
    return {"tied": tied, "scaled": config.take("scale_decoder_outputs", bool, tied)}


def _write_scores(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    names = {"tied": "tie_word_embeddings", "scaled": "scale_decoder_outputs"}
    return {theirs: arguments[ours] for ours, theirs in names.items()}


def _tied_by_file(names: Collection[str], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return whether scores have a weight of their own, if config.json says that of any T5."""
    own = arguments["tied"] and not arguments["scaled"] and "lm_head.weight" in names
    return {"tied": False} if own else {}


def _layers(side: str, feed_forward: int) -> Names:
    """Return the names of the weights of a side's layers.

    Args:
        side: ``encoder`` or ``decoder``.
        feed_forward: The number of the feed-forward network in a layer.
    """
    ours, theirs = f"{side}.stack.layers.{{}}.", f"{side}.block.{{}}.layer."
    attention, dense = f"{theirs}0.SelfAttention.", f"{theirs}{feed_forward}.DenseReluDense."
    memory = f"{theirs}1.EncDecAttention."
    parts = (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o"))
    return (
        (f"{side}.bias.weight",
         f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
        (ours + "attention_norm.gamma", f"{theirs}0.layer_norm.weight"),
        (ours + "attention.qkv.weight", rows(*(f"{attention}{x}.weight" for x in "qkv"))),
        (ours + "attention.output.weight", attention + "o.weight"),
        (ours + "memory_attention_norm.gamma", f"{theirs}1.layer_norm.weight"),
        *((f"{ours}memory_attention.{part}.weight", f"{memory}{x}.weight") for part, x in parts),
        (ours + "feed_forward_norm.gamma", f"{theirs}{feed_forward}.layer_norm.weight"),
        (ours + "feed_forward.hidden.weight", dense + "wi.weight"),
        (ours + "feed_forward.gate_value.weight", rows(*(f"{dense}wi_{i}.weight" for i in (0, 1)))),
        (ours + "feed_forward.output.weight", dense + "wo.weight"),
        (f"{side}.stack.norm.gamma", f"{side}.final_layer_norm.weight"),
    )  # fmt: skip


_NAMES: Names = (
    # Older files have the embedding three times.
    ("encoder.embedding.weight", "shared.weight"),
    ("shared.weight", "encoder.embed_tokens.weight"),
    ("decoder.embedding.weight", "decoder.embed_tokens.weight"),
    *_layers("encoder", 1),
    *_layers("decoder", 2),
)
_ENCODER = Family(
    "t5",
    "T5EncoderModel",
    T5Encoder,
    (
        *_ENCODER_SETTINGS,
        Ignored("num_decoder_layers", "is_encoder_decoder"),
        Ignored("tie_word_embeddings", "scale_decoder_outputs"),
    ),
    [("embedding.weight", "shared.weight")]
    + [(ours.removeprefix("encoder."), theirs) for ours, theirs in _layers("encoder", 1)],
    "",
    unused=("encoder.embed_tokens.weight",),
    others=("decoder.", "lm_head."),
)
register_family(
    Family(
        "t5",
        "T5Model",
        T5,
        _SETTINGS,
        _NAMES,
        "",
        {
            "T5ForConditionalGeneration": Head(
                Seq2SeqLM,
                [("head.weight", "lm_head.weight")],
                [
                    Computed(
                        ("tie_word_embeddings", "scale_decoder_outputs"),
                        _read_scores,
                        _write_scores,
                    )
                ],
                of_file=_tied_by_file,
            )
        },
        unused=("EncDecAttention.relative_attention_bias.weight",),
        variants=(_ENCODER,),
    )
)
