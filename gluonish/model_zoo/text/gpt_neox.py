"""GPT-NeoX, with which the Pythia networks were made.

References:
    S. Black et al., GPT-NeoX-20B: An Open-Source Autoregressive Language Model, 2022.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.attention import AttentionCache
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.gluon.nn.transformer_layers import TransformerEncoderLayer
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST_LAYERS,
    AnySetting,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import (
    Family,
    Head,
    keeps_arguments,
    register_family,
)
from gluonish.model_zoo.pretrained.rotary import RotarySetting
from gluonish.model_zoo.pretrained.weights import Names, reordered
from gluonish.model_zoo.text.decoder import Decoder
from gluonish.model_zoo.text.decoder_heads import answers, classifiers
from gluonish.model_zoo.text.heads import UNTIED, CausalLM

__all__ = ["GPTNeoX"]

_NONE: Mapping[str, Any] = MappingProxyType({})


class _ParallelLayer(TransformerEncoderLayer):
    """``y = x + attention(norm(x)) + feed_forward(norm(x))``, with a norm for each."""

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        cache: AttentionCache | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the layer; see `TransformerEncoderLayer`."""
        rest = (None, None, mask, valid_length, cache, positions)
        attended = self.attention(self.attention_norm(x), *rest)
        made = self.feed_forward(self.feed_forward_norm(x))
        if self.dropout is not None:
            attended, made = self.dropout(attended), self.dropout(made)
        return x + attended + made


class GPTNeoX(Decoder):
    """The body of a GPT-NeoX: embedding, layers with rotary embeddings, and a norm.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        rotary: Options of `RotaryEmbedding`.
        parallel: Whether attention and the feed-forward network of a layer read the same input.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        use_bias: Whether the dense layers of attention have a bias.
        dropout: Probability of dropping an element before each sum in training, in [0, 1).
        attention_dropout: That of a weight of attention.
        epsilon: Small constant of the normalizations.
        max_length: Largest number of positions that the network was made for.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers from 0 to ``vocab_size`` - 1.
        mask, valid_length, positions: see `MultiHeadAttention`.
        cache: a cache for each layer; see `begin_cache`.

    Outputs:
        features: (N, T, units).

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.
    """

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int,
        units: int,
        hidden_units: int,
        num_layers: int,
        num_heads: int,
        rotary: Mapping[str, Any] = _NONE,
        parallel: bool = True,
        activation: str = "gelu",
        use_bias: bool = True,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        epsilon: float = 1e-5,
        max_length: int = 2048,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab_size, units, max_length, dtype, **kwargs)
        check_positive(type(self).__name__, num_layers=num_layers)
        layer = _ParallelLayer if parallel else TransformerEncoderLayer
        options: dict[str, Any] = {"activation": activation, "dropout": dropout, "dtype": dtype}
        options |= {"attention_dropout": attention_dropout, "activation_dropout": 0.0}
        options |= {"norm_first": True, "causal": True, "epsilon": epsilon}
        options["attention_options"] = {"rotary": dict(rotary), "use_bias": use_bias}
        self._add(layer(units, hidden_units, num_heads, **options) for _ in range(num_layers))
        with self.name_scope():
            self.norm: HybridBlock = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")


def _by_part(values: np.ndarray, heads: int) -> np.ndarray:
    """Return rows of all queries, all keys, all values, of those of each head after another."""
    parts = values.reshape(heads, 3, -1, *values.shape[1:])
    return parts.swapaxes(0, 1).reshape(values.shape)


def _by_head(values: np.ndarray, heads: int) -> np.ndarray:
    """Return the opposite of `_by_part`."""
    parts = values.reshape(3, heads, -1, *values.shape[1:])
    return parts.swapaxes(0, 1).reshape(values.shape)


def _names(arguments: Mapping[str, Any]) -> Names:
    heads = arguments["num_heads"]
    given = partial(_by_part, heads=heads), partial(_by_head, heads=heads)
    plain = (
        ("attention_norm", "input_layernorm"),
        ("attention.output", "attention.dense"),
        ("feed_forward_norm", "post_attention_layernorm"),
        ("feed_forward.hidden", "mlp.dense_h_to_4h"),
        ("feed_forward.output", "mlp.dense_4h_to_h"),
    )
    layers = [
        (f"layers.{{}}.{ours}.{kind}", f"layers.{{}}.{theirs}.{name}")
        for ours, theirs in plain
        for kind, name in (
            (("gamma", "weight"), ("beta", "bias"))
            if ours.endswith("norm")
            else (("weight", "weight"), ("bias", "bias"))
        )
    ]
    joined = [
        (f"layers.{{}}.attention.qkv.{kind}",
         reordered(f"layers.{{}}.attention.query_key_value.{kind}", *given))
        for kind in ("weight", "bias")
    ]  # fmt: skip
    ends = [
        ("embedding.weight", "embed_in.weight"),
        ("norm.gamma", "final_layer_norm.weight"),
        ("norm.beta", "final_layer_norm.bias"),
    ]
    return [*layers, *joined, *ends]


def _rate(argument: str, name: str) -> Setting:
    return Setting(argument, name, float, 0.0, least=0.0, most=1.0)


_SETTINGS: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size"),
    Setting("units", "hidden_size"),
    Setting("hidden_units", "intermediate_size"),
    Setting("num_layers", "num_hidden_layers", most=MOST_LAYERS),
    Setting("num_heads", "num_attention_heads"),
    RotarySetting(base=10000.0, partial=0.25, older=("rotary_emb_base", "rotary_pct")),
    Setting("parallel", "use_parallel_residual", bool, True),
    Setting("activation", "hidden_act", ACTIVATIONS, "gelu"),
    Setting("use_bias", "attention_bias", bool, True),
    _rate("dropout", "hidden_dropout"),
    _rate("attention_dropout", "attention_dropout"),
    Setting("epsilon", "layer_norm_eps", float, 1e-5, least=0.0),
    Setting("max_length", "max_position_embeddings", int, 2048),
    Ignored("classifier_dropout", "gradient_checkpointing"),
)
register_family(
    Family(
        "gpt_neox",
        "GPTNeoXModel",
        GPTNeoX,
        _SETTINGS,
        _names,
        "gpt_neox.",
        {
            "GPTNeoXForCausalLM": Head(CausalLM, [("head.weight", "embed_out.weight")], (UNTIED,)),
            **classifiers("GPTNeoX", of_tokens="classifier"),
            **answers("GPTNeoX"),
        },
        unused=(".attention.bias",),
    )
)
