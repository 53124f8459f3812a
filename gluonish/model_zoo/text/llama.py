"""Llama and its relatives Mistral, Qwen2, Qwen3 and Phi-3.

References:
    H. Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023.
    A. Jiang et al., Mistral 7B, 2023.
    A. Yang et al., Qwen2 Technical Report, 2024; Qwen3 Technical Report, 2025.
    M. Abdin et al., Phi-3 Technical Report, 2024.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.feed_forward import GATES, GatedMLP
from gluonish.gluon.nn.normalization import RMSNorm
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
from gluonish.model_zoo.pretrained.rotary import RotarySetting
from gluonish.model_zoo.pretrained.weights import Names, rows
from gluonish.model_zoo.pretrained.windows import Windows, WindowSetting
from gluonish.model_zoo.text.decoder import Decoder, each_window
from gluonish.model_zoo.text.decoder_heads import answers, classifiers
from gluonish.model_zoo.text.heads import UNTIED, CausalLM

__all__ = ["Llama", "Mistral", "Phi3", "Qwen2", "Qwen3"]

_NONE: Mapping[str, Any] = MappingProxyType({})
_NO_HEADS: Mapping[str, Head] = MappingProxyType({})


class Llama(Decoder):
    """The body of a Llama: embedding, layers of causal self-attention and gated MLPs, and a norm.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the gated MLPs.
        num_layers: Number of layers.
        num_heads: Number of heads of the queries.
        num_kv_heads: Number of heads of keys and values; None for ``num_heads``.
        head_units: Size of a head; None for ``units / num_heads``.
        activation: Function of the gates; see `GatedMLP`.
        rotary: Options of `RotaryEmbedding`.
        windows: How far a position sees, in each layer or, as one number, in all; None for all
            positions before it.
        use_bias: Whether the dense layers of attention have a bias.
        mlp_bias: Whether those of the MLPs have one.
        dropout: Probability of dropping an element before each sum, in [0, 1).
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

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import CausalLM, Llama
        >>> net = CausalLM(Llama(32, units=8, hidden_units=16, num_layers=1, num_heads=2))
        >>> net.initialize()
        >>> net(mx.nd.array([[1, 2, 3]], dtype="int32")).shape
        (1, 3, 32)
    """

    _qkv_bias: ClassVar[bool] = False  # without a bias of the output
    _qk_norm: ClassVar[bool] = False

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int,
        units: int,
        hidden_units: int,
        num_layers: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        head_units: int | None = None,
        activation: str = "silu",
        rotary: Mapping[str, Any] = _NONE,
        windows: Windows = None,
        use_bias: bool = False,
        mlp_bias: bool = False,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        epsilon: float = 1e-6,
        max_length: int = 2048,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab_size, units, max_length, dtype, **kwargs)
        self.windows = each_window(type(self).__name__, windows, num_layers)
        attention: dict[str, Any] = {
            "num_kv_heads": num_kv_heads,
            "head_units": head_units,
            "rotary": dict(rotary),
            "qk_norm": self._qk_norm,
            "use_bias": use_bias or self._qkv_bias,
            "use_output_bias": use_bias,
            "epsilon": epsilon,
        }
        self._mlp: dict[str, Any] = {"activation": activation, "use_bias": mlp_bias, "dtype": dtype}
        self._mlp |= {"units": units, "hidden_units": hidden_units, "in_units": units}
        layer: dict[str, Any] = {
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "epsilon": epsilon,
        }
        layer |= {"norm_first": True, "norm": "rms", "causal": True, "dtype": dtype}
        self._add(
            TransformerEncoderLayer(
                units,
                hidden_units,
                num_heads,
                attention_options={**attention, "window": window},
                feed_forward=self._feed_forward(i),
                **layer,
            )
            for i, window in enumerate(self.windows)
        )
        with self.name_scope():
            self.norm: HybridBlock = RMSNorm(epsilon=epsilon, in_channels=units, prefix="norm_")

    def _feed_forward(self, index: int) -> HybridBlock:
        """Return the feed-forward network of a layer."""
        return GatedMLP(**self._mlp)


class Mistral(Llama):
    """The body of a Mistral: a `Llama` with a window."""


class Qwen2(Llama):
    """The body of a Qwen2: a `Llama` whose queries, keys and values have biases."""

    _qkv_bias = True


class Qwen3(Llama):
    """The body of a Qwen3: a `Llama` whose queries and keys are normalized in each head."""

    _qk_norm = True


class Phi3(Llama):
    """The body of a Phi-3: a `Llama` of which a part of each head may be rotated."""


_GATES = {theirs: ours for theirs, ours in ACTIVATIONS.items() if ours in GATES}
SIZES: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size"),
    Setting("units", "hidden_size"),
    Setting("hidden_units", "intermediate_size"),
    Setting("num_layers", "num_hidden_layers", most=MOST_LAYERS),
    Setting("num_heads", "num_attention_heads"),
    Setting("num_kv_heads", "num_key_value_heads", int | None, None),
    Setting("head_units", "head_dim", int | None, None),
    Setting("activation", "hidden_act", _GATES, "silu"),
    Setting("attention_dropout", "attention_dropout", float, 0.0, least=0.0, most=1.0),
    Setting("epsilon", "rms_norm_eps", float, 1e-6, least=0.0),
    Setting("max_length", "max_position_embeddings", int, 2048),
)
_BIAS = Setting("use_bias", "attention_bias", bool, False)
_ATTENTION, _MLP = "layers.{}.self_attn.", "layers.{}.mlp."
ATTENTION_NAMES: Names = (
    ("embedding.weight", "embed_tokens.weight"),
    ("layers.{}.attention_norm.gamma", "layers.{}.input_layernorm.weight"),
    *(
        (
            f"layers.{{}}.attention.qkv.{kind}",
            rows(*(f"{_ATTENTION}{x}_proj.{kind}" for x in "qkv")),
        )
        for kind in ("weight", "bias")
    ),
    ("layers.{}.attention.query_norm.gamma", _ATTENTION + "q_norm.weight"),
    ("layers.{}.attention.key_norm.gamma", _ATTENTION + "k_norm.weight"),
    ("layers.{}.attention.output.weight", _ATTENTION + "o_proj.weight"),
    ("layers.{}.attention.output.bias", _ATTENTION + "o_proj.bias"),
    ("layers.{}.feed_forward_norm.gamma", "layers.{}.post_attention_layernorm.weight"),
    ("norm.gamma", "norm.weight"),
)
NAMES: Names = (
    *ATTENTION_NAMES,
    *(
        (f"layers.{{}}.feed_forward.gate_value.{kind}",
         rows(f"{_MLP}gate_proj.{kind}", f"{_MLP}up_proj.{kind}"))
        for kind in ("weight", "bias")
    ),
    ("layers.{}.feed_forward.output.weight", _MLP + "down_proj.weight"),
    ("layers.{}.feed_forward.output.bias", _MLP + "down_proj.bias"),
)  # fmt: skip
_JOINED: Names = (
    ("layers.{}.attention.qkv.weight", _ATTENTION + "qkv_proj.weight"),
    ("layers.{}.feed_forward.gate_value.weight", _MLP + "gate_up_proj.weight"),
    *NAMES,
)
LANGUAGE_MODEL = Head(CausalLM, [("head.weight", "lm_head.weight")], (UNTIED,))


def register_decoder(
    name: str,
    network: type[HybridBlock],
    settings: Sequence[AnySetting],
    names: Names = NAMES,
    padding: int | None = None,
    further: Mapping[str, Head] = _NO_HEADS,
) -> None:
    """Register a body of the kind of Llama, with its heads.

    Args:
        name: What ``architectures`` begins with, such as ``Qwen2``; in lower case it is the
            ``model_type``.
        network: Class of the body.
        settings: Settings that are arguments of the class.
        names: Names of weights in files.
        padding: ``pad_token_id`` where no setting says it.
        further: Further heads.
    """
    heads = {f"{name}ForCausalLM": LANGUAGE_MODEL, **classifiers(name, padding), **further}
    model = f"{name}Model"
    register_family(Family(name.lower(), model, network, settings, names, "model.", heads))


_MLP_BIAS = Setting("mlp_bias", "mlp_bias", bool, False)
_PRETRAINING = Ignored("pretraining_tp")
OLD_PREFIX = "transformer."  # of the body of networks that find answers
register_decoder(
    "Llama",
    Llama,
    (*SIZES, _BIAS, _MLP_BIAS, _PRETRAINING, RotarySetting()),
    further=answers("Llama", OLD_PREFIX),
)
register_decoder(
    "Mistral",
    Mistral,
    (*SIZES, WindowSetting(True), RotarySetting()),
    further=answers("Mistral"),
)
register_decoder(
    "Qwen2",
    Qwen2,
    (*SIZES, WindowSetting(), RotarySetting()),
    further=answers("Qwen2", OLD_PREFIX),
)
register_decoder(
    "Qwen3",
    Qwen3,
    (*SIZES, _BIAS, WindowSetting(), RotarySetting()),
    further=answers("Qwen3", OLD_PREFIX),
)
register_decoder(
    "Phi3",
    Phi3,
    (
        *SIZES,
        Setting("dropout", "resid_pdrop", float, 0.0, least=0.0, most=1.0),
        Fixed("embd_pdrop", 0.0),
        Ignored("original_max_position_embeddings"),
        WindowSetting(True),
        RotarySetting(),
    ),
    _JOINED,
    padding=32000,
)
