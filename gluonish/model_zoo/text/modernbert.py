"""ModernBERT: an encoder with rotary embeddings, gated feed-forward networks, and windows.

References:
    B. Warner et al., Smarter, Better, Faster, Longer: A Modern Bidirectional Encoder for Fast,
    Memory Efficient, and Long Context Finetuning and Inference, 2024.
"""

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dropout, Embedding
from gluonish.gluon.nn.feed_forward import GATES, GatedMLP
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.gluon.nn.transformer_layers import TransformerEncoderLayer
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST_LAYERS,
    Computed,
    Config,
    Fixed,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import Family, Head, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.labels import LabelSetting
from gluonish.model_zoo.pretrained.rotary import TwoRotaries
from gluonish.model_zoo.pretrained.weights import Names, absent
from gluonish.model_zoo.pretrained.windows import Windows
from gluonish.model_zoo.text.bert import both, rate
from gluonish.model_zoo.text.decoder import each_window
from gluonish.model_zoo.text.encoder_heads import (
    MaskedLM,
    QuestionAnswering,
    SequenceClassifier,
    TokenClassifier,
)
from gluonish.model_zoo.text.heads import TIED

__all__ = ["ModernBERT"]

_LOCAL: Mapping[str, Any] = MappingProxyType({"base": 10000.0})
_GLOBAL: Mapping[str, Any] = MappingProxyType({"base": 160000.0})


class ModernBERT(HybridBlock):
    """The body of a ModernBERT: an embedding, layers of self-attention and gated MLPs, and a norm.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the gated MLPs.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        activation: Function of the gates; see `GatedMLP`.
        windows: A token attends to those less than this many positions away, before and after it,
            in each layer or, as one number, in all; None for all tokens.
        rotary: Options of `RotaryEmbedding` in layers without a window.
        window_rotary: The same in layers with a window.
        use_bias: Whether the dense layers of attention have a bias.
        mlp_bias: Whether those of the MLPs have one.
        norm_bias: Whether normalizations have one.
        dropout: Probability of dropping an element of the embedding, in [0, 1).
        attention_dropout: That of a weight of attention, and of an element of what attention adds.
        activation_dropout: That of a hidden unit.
        epsilon: Small constant of the normalizations.
        max_length: Largest number of tokens that the network was made for.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers from 0 to ``vocab_size`` - 1.
        token_types: None; it has no types.
        valid_length: number of tokens of each sample, (N,); None for T. Later ones are hidden.
        mask, positions: see `MultiHeadAttention`.

    Outputs:
        features: (N, T, units).

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, a number is out of range, or types
            are passed.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import ModernBERT
        >>> net = ModernBERT(32, units=8, hidden_units=16, num_layers=1, num_heads=2)
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
        activation: str = "gelu",
        windows: Windows = None,
        rotary: Mapping[str, Any] = _GLOBAL,
        window_rotary: Mapping[str, Any] = _LOCAL,
        use_bias: bool = False,
        mlp_bias: bool = False,
        norm_bias: bool = False,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        epsilon: float = 1e-5,
        max_length: int = 8192,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, vocab_size=vocab_size, units=units, max_length=max_length)
        check_rate(name, "dropout", dropout)
        self.vocab_size, self.units, self.max_length = vocab_size, units, max_length
        self.dropout_rate = dropout
        norm: dict[str, Any] = {"epsilon": epsilon, "center": norm_bias, "in_channels": units}
        mlp: dict[str, Any] = {"use_bias": mlp_bias, "dropout": activation_dropout, "dtype": dtype}
        with self.name_scope():
            self.embedding = Embedding(vocab_size, units, dtype=dtype, prefix="embedding_")
            self.embedding_norm = LayerNorm(prefix="embedding_norm_", **norm)
            self.dropout = Dropout(dropout) if dropout else None
            self.layers = HybridSequential(prefix="layers_")
            with self.layers.name_scope():
                for i, window in enumerate(each_window(name, windows, num_layers)):
                    turned = dict(rotary if window is None else window_rotary)
                    network = GatedMLP(units, hidden_units, activation, in_units=units, **mlp)
                    self.layers.add(
                        TransformerEncoderLayer(
                            units,
                            hidden_units,
                            num_heads,
                            dropout=0.0,
                            attention_dropout=attention_dropout,
                            norm_first=True,
                            normalize_attention=i > 0,
                            norm_bias=norm_bias,
                            epsilon=epsilon,
                            use_bias=use_bias,
                            attention_options={"window": window, "rotary": turned},
                            feed_forward=network,
                            dtype=dtype,
                        )
                    )
            self.norm = LayerNorm(prefix="norm_", **norm)

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        token_types: Tensor | None = None,
        valid_length: Tensor | None = None,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            token_types: None.
            valid_length: (N,), or None.
            mask: Broadcasts to (N, H, T, T), or None.
            positions: (T,) or (N, T), or None.
        """
        if token_types is not None:
            raise ArgumentError(f"{self.name}: expected no token_types, as it has none, got some")
        x = self.embedding_norm(self.embedding(tokens))
        if self.dropout is not None:
            x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, mask, valid_length, None, positions)
        return self.norm(x)


_TYPES = ("full_attention", "sliding_attention")


def _read_windows(config: Config) -> Mapping[str, Any]:
    """Return the window of each layer, half of ``local_attention`` to each side."""
    layers = int(config.take("num_hidden_layers", int, most=MOST_LAYERS))
    window = config.take("local_attention", int, 128) // 2 + 1
    every = config.take("global_attn_every_n_layers", int, 3)
    types = config.take("layer_types", list | None, None)
    if types is None:
        types = [_TYPES[i % every > 0] for i in range(layers)]
    if len(types) != layers:
        raise FileFormatError(
            f"{config.source}: expected 'layer_types' of {layers} layers, got {len(types)}"
        )
    other = [kind for kind in types if kind not in _TYPES]
    if other:
        raise NotSupportedError(
            f"{config.source}: expected 'layer_types' among {', '.join(_TYPES)}, got "
            f"{other[0]!r:.60}"
        )
    return {"windows": tuple(None if kind == _TYPES[0] else window for kind in types)}


def _write_windows(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    windows = each_window("save_pretrained", arguments["windows"], arguments["num_layers"])
    sizes = {window for window in windows if window is not None}
    if len(sizes) > 1:
        raise NotSupportedError(
            f"save_pretrained: expected windows of one size, got {sorted(sizes)}"
        )
    found: dict[str, Any] = {"layer_types": [_TYPES[window is not None] for window in windows]}
    if sizes:
        found["local_attention"] = 2 * (sizes.pop() - 1)
    return found


def _norm(ours: str, theirs: str, bias: bool) -> Names:
    beta = f"{theirs}.bias" if bias else absent()
    return [(f"{ours}.gamma", f"{theirs}.weight"), (f"{ours}.beta", beta)]


def _names(arguments: Mapping[str, Any]) -> Names:
    layer, bias = "layers.{}.", bool(arguments["norm_bias"])
    return [
        ("embedding.weight", "embeddings.tok_embeddings.weight"),
        *_norm("embedding_norm", "embeddings.norm", bias),
        *_norm(layer + "attention_norm", layer + "attn_norm", bias),
        *both(layer + "attention.qkv", layer + "attn.Wqkv"),
        *both(layer + "attention.output", layer + "attn.Wo"),
        *_norm(layer + "feed_forward_norm", layer + "mlp_norm", bias),
        *both(layer + "feed_forward.gate_value", layer + "mlp.Wi"),
        *both(layer + "feed_forward.output", layer + "mlp.Wo"),
        *_norm("norm", "final_norm", bias),
    ]


_NORM_BIAS = Setting("norm_bias", "norm_bias", bool, False)
_EPSILON = Setting("epsilon", "norm_eps", float, 1e-5, least=0.0)
# The dense layer and the norm that all heads begin with.
_TRANSFORM = (
    Setting("activation", "classifier_activation", ACTIVATIONS, "gelu"),
    Setting("use_bias", "classifier_bias", bool, False),
    _NORM_BIAS,
    _EPSILON,
)
_CLASSES = (LabelSetting(), rate("dropout", "classifier_dropout", 0.0))
_POOLINGS = {"cls": "cls", "mean": "mean"}


def _head(network: type[HybridBlock], output: Names, *settings: Any, **arguments: Any) -> Head:
    """Return a head of a dense layer with a norm, and a further one."""

    def names(given: Mapping[str, Any]) -> Names:
        bias = bool(given.get("norm_bias", False))
        norm = _norm("transform.norm", "head.norm", bias)
        return [*both("transform.hidden", "head.dense"), *norm, *output]

    return Head(network, names, (*settings, *_TRANSFORM), arguments)


register_family(
    Family(
        "modernbert",
        "ModernBertModel",
        ModernBERT,
        (
            Setting("vocab_size", "vocab_size"),
            Setting("units", "hidden_size"),
            Setting("hidden_units", "intermediate_size"),
            Setting("num_layers", "num_hidden_layers", most=MOST_LAYERS),
            Setting("num_heads", "num_attention_heads"),
            Setting(
                "activation",
                "hidden_activation",
                {theirs: ours for theirs, ours in ACTIVATIONS.items() if ours in GATES},
                "gelu",
            ),
            Computed(
                ("layer_types", "local_attention", "global_attn_every_n_layers"),
                _read_windows,
                _write_windows,
            ),
            TwoRotaries(160000.0, 10000.0, "global_rope_theta", "local_rope_theta"),
            Setting("use_bias", "attention_bias", bool, False),
            Setting("mlp_bias", "mlp_bias", bool, False),
            _NORM_BIAS,
            rate("dropout", "embedding_dropout", 0.0),
            rate("attention_dropout", "attention_dropout", 0.0),
            rate("activation_dropout", "mlp_dropout", 0.0),
            _EPSILON,
            Setting("max_length", "max_position_embeddings", int, 8192),
            Fixed("position_embedding_type", "absolute", "sans_pos"),
            # Of training and of other kernels; `layer_norm_eps` is of older files, beside
            # `norm_eps`.
            Ignored("initializer_cutoff_factor", "deterministic_flash_attn", "sparse_prediction",
                    "sparse_pred_ignore_index", "reference_compile", "repad_logits_with_grad",
                    "layer_norm_eps"),
        ),
        _names,
        "model.",
        {
            "ModernBertForMaskedLM": _head(
                MaskedLM,
                both("decoder", "decoder"),
                TIED,
                Setting("decoder_bias", "decoder_bias", bool, True),
            ),
            "ModernBertForSequenceClassification": _head(
                SequenceClassifier,
                both("output", "classifier"),
                *_CLASSES,
                Setting("pooling", "classifier_pooling", _POOLINGS, "cls"),
                input_dropout=False,
            ),
            "ModernBertForTokenClassification": _head(
                TokenClassifier, both("output", "classifier"), *_CLASSES
            ),
            "ModernBertForQuestionAnswering": _head(
                QuestionAnswering, both("output", "classifier"), _CLASSES[1]
            ),
        },
    )
)  # fmt: skip
