"""GPT-2.

References:
    A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019.
"""

from types import ModuleType
from typing import Any

from gluonish.gluon.nn.basic_layers import Dropout
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.positions import PositionalEmbedding, cached_places_of_each
from gluonish.gluon.nn.tensor import check_positive
from gluonish.gluon.nn.transformer_layers import TransformerEncoderLayer
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST_LAYERS,
    AnySetting,
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
from gluonish.model_zoo.pretrained.weights import Names, transposed
from gluonish.model_zoo.text.decoder import Decoder
from gluonish.model_zoo.text.decoder_heads import answers, classifiers
from gluonish.model_zoo.text.heads import TIED, CausalLM

__all__ = ["GPT2"]


class GPT2(Decoder):
    """The body of a GPT-2: embeddings of words and positions, layers, and a norm.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        hidden_units: Number of hidden units of the feed-forward networks; None for ``4 * units``.
        max_length: Number of positions; further ones are an error.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        dropout: Probability of dropping an element before each sum in training, in [0, 1).
        attention_dropout: That of a weight of attention.
        embedding_dropout: That of an element of the embeddings.
        epsilon: Small constant of the normalizations.
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

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import GPT2, CausalLM
        >>> net = CausalLM(GPT2(32, units=8, num_layers=1, num_heads=2), tied=True)
        >>> net.initialize()
        >>> net(mx.nd.array([[1, 2, 3]], dtype="int32")).shape
        (1, 3, 32)
    """

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int = 50257,
        units: int = 768,
        num_layers: int = 12,
        num_heads: int = 12,
        hidden_units: int | None = None,
        max_length: int = 1024,
        activation: str = "gelu_tanh",
        dropout: float = 0.1,
        attention_dropout: float = 0.1,
        embedding_dropout: float = 0.1,
        epsilon: float = 1e-5,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab_size, units, max_length, dtype, **kwargs)
        check_positive(type(self).__name__, num_layers=num_layers)
        hidden_units = 4 * units if hidden_units is None else hidden_units
        options: dict[str, Any] = {"activation": activation, "dropout": dropout, "dtype": dtype}
        options |= {"attention_dropout": attention_dropout, "activation_dropout": 0.0}
        options |= {"norm_first": True, "causal": True, "epsilon": epsilon}
        self._add(
            TransformerEncoderLayer(units, hidden_units, num_heads, **options)
            for _ in range(num_layers)
        )
        with self.name_scope():
            self.positions = PositionalEmbedding(
                units, max_length, dtype=dtype, prefix="positions_"
            )
            self.dropout = Dropout(embedding_dropout) if embedding_dropout else None
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")

    def _embed(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        x = self.embedding(tokens)
        if positions is None and cache is not None:
            positions = cached_places_of_each(F, x, 1, cache[0][2])
        x = self.positions(x, positions)
        return x if self.dropout is None else self.dropout(x)


def _rate(argument: str, name: str) -> Setting:
    return Setting(argument, name, float, 0.1, least=0.0, most=1.0)


_SETTINGS: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size"),
    Setting("units", ("n_embd", "hidden_size")),
    Setting("num_layers", ("n_layer", "num_hidden_layers"), most=MOST_LAYERS),
    Setting("num_heads", ("n_head", "num_attention_heads")),
    Setting("hidden_units", "n_inner", int | None, None),
    Setting("max_length", ("n_positions", "n_ctx", "max_position_embeddings"), int, 1024),
    Setting("activation", "activation_function", ACTIVATIONS, "gelu_tanh"),
    _rate("dropout", "resid_pdrop"),
    _rate("attention_dropout", "attn_pdrop"),
    _rate("embedding_dropout", "embd_pdrop"),
    Setting("epsilon", "layer_norm_epsilon", float, 1e-5, least=0.0),
    Fixed("scale_attn_weights", True),
    Fixed("scale_attn_by_inverse_layer_idx", False),
    Ignored("reorder_and_upcast_attn", "summary_activation", "summary_first_dropout"),
    Ignored("summary_proj_to_labels", "summary_type", "summary_use_proj"),
)
_NAMES: Names = (
    ("embedding.weight", "wte.weight"),
    ("positions.weight", "wpe.weight"),
    *(
        entry
        for ours, theirs in (
            ("attention_norm", "ln_1"),
            ("feed_forward_norm", "ln_2"),
        )
        for entry in (
            (f"layers.{{}}.{ours}.gamma", f"h.{{}}.{theirs}.weight"),
            (f"layers.{{}}.{ours}.beta", f"h.{{}}.{theirs}.bias"),
        )
    ),
    *(
        entry
        for ours, theirs in (
            ("attention.qkv", "attn.c_attn"),
            ("attention.output", "attn.c_proj"),
            ("feed_forward.hidden", "mlp.c_fc"),
            ("feed_forward.output", "mlp.c_proj"),
        )
        for entry in (
            (f"layers.{{}}.{ours}.weight", transposed(f"h.{{}}.{theirs}.weight")),
            (f"layers.{{}}.{ours}.bias", f"h.{{}}.{theirs}.bias"),
        )
    ),
    ("norm.gamma", "ln_f.weight"),
    ("norm.beta", "ln_f.bias"),
)
register_family(
    Family(
        "gpt2",
        "GPT2Model",
        GPT2,
        _SETTINGS,
        _NAMES,
        "transformer.",
        {
            "GPT2LMHeadModel": Head(CausalLM, [("head.weight", "lm_head.weight")], (TIED,)),
            **classifiers("GPT2", of_tokens="classifier"),
            **answers("GPT2"),
        },
        unused=(".attn.bias",),
    )
)
