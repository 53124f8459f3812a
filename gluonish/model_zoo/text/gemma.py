"""Gemma, Gemma 2, and Gemma 3's networks for text.

References:
    Gemma Team, Gemma: Open Models Based on Gemini Research and Technology, 2024; Gemma 2: Improving
    Open Language Models at a Practical Size, 2024; Gemma 3 Technical Report, 2025.
"""

from collections.abc import Mapping
from math import sqrt
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.attention import AttentionCache, MultiHeadAttention
from gluonish.gluon.nn.feed_forward import GATES, GatedMLP
from gluonish.gluon.nn.normalization import RMSNorm
from gluonish.gluon.nn.tensor import Tensor
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    AnySetting,
    Computed,
    Config,
    Fixed,
    Setting,
)
from gluonish.model_zoo.pretrained.families import Family, Head, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.rotary import RotarySetting, TwoRotaries
from gluonish.model_zoo.pretrained.weights import Names
from gluonish.model_zoo.pretrained.windows import KINDS, Windows, WindowSetting
from gluonish.model_zoo.text.decoder import Decoder, each_window
from gluonish.model_zoo.text.decoder_heads import classifiers
from gluonish.model_zoo.text.heads import TIED, CausalLM
from gluonish.model_zoo.text.llama import NAMES, SIZES

__all__ = ["Gemma", "Gemma2", "Gemma3"]

_NONE: Mapping[str, Any] = MappingProxyType({})
_LAYER = "layers.{}."


def _norm(units: int, epsilon: float, prefix: str) -> RMSNorm:
    return RMSNorm(epsilon=epsilon, in_channels=units, offset=True, prefix=prefix)


class _GemmaLayer(HybridBlock):
    """``y = x + norm(attention(norm(x)))``, then ``y + norm(mlp(norm(y)))``, or no outer norms."""

    def __init__(
        self,
        units: int,
        hidden_units: int,
        num_heads: int,
        activation: str,
        epsilon: float,
        dtype: Any,
        outer_norms: bool,
        attention: Mapping[str, Any],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.attention_norm = _norm(units, epsilon, "attention_norm_")
            self.attention = MultiHeadAttention(
                units, num_heads, causal=True, in_units=units, dtype=dtype, **attention
            )
            self.feed_forward_norm = _norm(units, epsilon, "feed_forward_norm_")
            self.feed_forward = GatedMLP(
                units, hidden_units, activation, in_units=units, dtype=dtype
            )
            self.attention_outer_norm = self.feed_forward_outer_norm = None
            if outer_norms:
                self.attention_outer_norm = _norm(units, epsilon, "attention_outer_norm_")
                self.feed_forward_outer_norm = _norm(units, epsilon, "feed_forward_outer_norm_")

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
        made = self.attention(self.attention_norm(x), *rest)
        if self.attention_outer_norm is not None:
            made = self.attention_outer_norm(made)
        y: Any = x + made
        made = self.feed_forward(self.feed_forward_norm(y))
        if self.feed_forward_outer_norm is not None:
            made = self.feed_forward_outer_norm(made)
        return y + made


class Gemma(Decoder):
    """The body of a Gemma: scaled embedding, layers of attention and gated MLPs, and a norm.

    All norms are `RMSNorm` with ``offset``; embeddings are multiplied by ``sqrt(units)``.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the gated MLPs.
        num_layers: Number of layers.
        num_heads: Number of heads of the queries.
        num_kv_heads: Number of heads of keys and values; None for ``num_heads``.
        head_units: Size of a head.
        activation: Function of the gates; see `GatedMLP`.
        rotary: Options of `RotaryEmbedding`.
        window_rotary: Those of layers with a window; None for ``rotary``.
        windows: How far a position sees, in each layer or, as one number, in all; None for all
            positions before it.
        scale_units: Scores of attention are divided by its square root; None for ``head_units``.
        attention_softcap: See ``softcap`` of `MultiHeadAttention`.
        use_bias: Whether the dense layers of attention have a bias.
        attention_dropout: Probability of dropping a weight of attention, in [0, 1).
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
        ArgumentError: A number is out of range.
    """

    _outer_norms: ClassVar[bool] = False
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
        head_units: int = 256,
        activation: str = "gelu_tanh",
        rotary: Mapping[str, Any] = _NONE,
        window_rotary: Mapping[str, Any] | None = None,
        windows: Windows = None,
        scale_units: float | None = None,
        attention_softcap: float | None = None,
        use_bias: bool = False,
        attention_dropout: float = 0.0,
        epsilon: float = 1e-6,
        max_length: int = 8192,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab_size, units, max_length, dtype, **kwargs)
        self.windows = each_window(type(self).__name__, windows, num_layers)
        self._scale = sqrt(units)
        shared: dict[str, Any] = {
            "num_kv_heads": num_kv_heads,
            "head_units": head_units,
            "scale": (head_units if scale_units is None else scale_units) ** -0.5,
            "softcap": attention_softcap,
            "qk_norm": {"offset": True} if self._qk_norm else False,
            "use_bias": use_bias,
            "dropout": attention_dropout,
            "epsilon": epsilon,
        }
        self._add(
            _GemmaLayer(
                units,
                hidden_units,
                num_heads,
                activation,
                epsilon,
                dtype,
                self._outer_norms,
                {
                    **shared,
                    "window": window,
                    "rotary": dict(
                        rotary if window is None or window_rotary is None else window_rotary
                    ),
                },
            )
            for window in self.windows
        )
        with self.name_scope():
            self.norm: HybridBlock = _norm(units, epsilon, "norm_")

    def _embed(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        return self.embedding(tokens) * self._scale


class Gemma2(Gemma):
    """The body of a Gemma 2: a `Gemma` with norms around blocks, windows and capped scores."""

    _outer_norms = True


class Gemma3(Gemma):
    """The body of a Gemma 3 for text: a `Gemma2` with normalized queries and keys."""

    _outer_norms = True
    _qk_norm = True


_GATES = {theirs: ours for theirs, ours in ACTIVATIONS.items() if ours in GATES}


def _read_activation(config: Config) -> Mapping[str, Any]:
    newer = config.take("hidden_activation", {**_GATES, None: None}, None)
    older = config.take("hidden_act", _GATES, "gelu_tanh")
    return {"activation": newer or older}


def _activation(name: str) -> Computed:
    """Return the setting of the activation, which is written under a name."""
    theirs = {"gelu_tanh": "gelu_pytorch_tanh", "gelu_sigmoid": "quick_gelu"}

    def write(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: theirs.get(arguments["activation"], arguments["activation"])}

    return Computed(("hidden_act", "hidden_activation"), _read_activation, write)


class _AlternatingWindows(WindowSetting):
    """Windows of which every n-th layer has none, where ``layer_types`` do not say it."""

    def __init__(self, window: int, pattern: int) -> None:
        super().__init__(True, window)
        self._pattern = pattern
        self.names = (*self.names, "sliding_window_pattern", "_sliding_window_pattern")

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the argument by its name."""
        pattern = config.take("sliding_window_pattern", int, self._pattern)
        pattern = config.take("_sliding_window_pattern", int, pattern)
        found = super().read(config)["windows"]
        if "layer_types" in config and config.entries["layer_types"] is not None:
            return {"windows": found}
        return {"windows": tuple(w if (i + 1) % pattern else None for i, w in enumerate(found))}

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings of the argument, with the type of each layer in any case."""
        windows = each_window("save_pretrained", arguments["windows"], arguments["num_layers"])
        types = [KINDS[window is not None] for window in windows]
        return {**super().write(arguments), "layer_types": types}


_OUTER_NAMES: Names = (
    (_LAYER + "attention_outer_norm.gamma", _LAYER + "post_attention_layernorm.weight"),
    (_LAYER + "feed_forward_norm.gamma", _LAYER + "pre_feedforward_layernorm.weight"),
    (_LAYER + "feed_forward_outer_norm.gamma", _LAYER + "post_feedforward_layernorm.weight"),
    *NAMES,
)
_SHARED: tuple[AnySetting, ...] = (
    *(setting for setting in SIZES if setting.names not in (("hidden_act",), ("head_dim",))),
    Setting("head_units", "head_dim", int, 256),
    Setting("use_bias", "attention_bias", bool, False),
)
_LATER: tuple[AnySetting, ...] = (
    _activation("hidden_activation"),
    Setting("scale_units", "query_pre_attn_scalar", int, 256),
)
_LANGUAGE_MODEL = Head(CausalLM, [("head.weight", "lm_head.weight")], (TIED,))


def _softcap(argument: str, name: str, default: float | None) -> Setting:
    return Setting(argument, name, float | None, default, least=1e-3)


register_family(
    Family(
        "gemma",
        "GemmaModel",
        Gemma,
        (
            *_SHARED,
            _activation("hidden_act"),
            Fixed("use_bidirectional_attention", None, False),
            RotarySetting(),
        ),
        NAMES,
        "model.",
        {"GemmaForCausalLM": _LANGUAGE_MODEL, **classifiers("Gemma", 0)},
    )
)
register_family(
    Family(
        "gemma2",
        "Gemma2Model",
        Gemma2,
        (
            *_SHARED,
            *_LATER,
            Fixed("use_bidirectional_attention", None, False),
            _softcap("attention_softcap", "attn_logit_softcapping", 50.0),
            _AlternatingWindows(4096, 2),
            RotarySetting(),
        ),
        _OUTER_NAMES,
        "model.",
        {
            "Gemma2ForCausalLM": Head(
                CausalLM,
                [("head.weight", "lm_head.weight")],
                (TIED, _softcap("softcap", "final_logit_softcapping", 30.0)),
            ),
            **classifiers("Gemma2", 0),
        },
    )
)
register_family(
    Family(
        "gemma3_text",
        "Gemma3TextModel",
        Gemma3,
        (
            *_SHARED,
            *_LATER,
            Fixed("use_bidirectional_attention", False, None),
            _softcap("attention_softcap", "attn_logit_softcapping", None),
            _AlternatingWindows(4096, 6),
            TwoRotaries(1e6, 10000.0, "rope_theta", "rope_local_base_freq"),
        ),
        _OUTER_NAMES,
        "model.",
        {
            "Gemma3ForCausalLM": Head(
                CausalLM,
                [("head.weight", "lm_head.weight")],
                (TIED, _softcap("softcap", "final_logit_softcapping", None)),
            ),
            **classifiers("Gemma3Text", 0, of_tokens=None),
        },
    )
)
