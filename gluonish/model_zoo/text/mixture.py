"""Mixtral and Qwen3-MoE: `Llama` with mixtures of experts as feed-forward networks.

References:
    A. Jiang et al., Mixtral of Experts, 2024.
    A. Yang et al., Qwen3 Technical Report, 2025.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.feed_forward import GatedMLP
from gluonish.gluon.nn.mixture_of_experts import MixtureOfExperts
from gluonish.model_zoo.pretrained.config import (
    MOST_EXPERTS,
    AnySetting,
    Computed,
    Config,
    Fixed,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import Family, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.rotary import RotarySetting
from gluonish.model_zoo.pretrained.weights import Names, rows
from gluonish.model_zoo.pretrained.windows import WindowSetting
from gluonish.model_zoo.text.decoder_heads import answers, classifiers
from gluonish.model_zoo.text.llama import (
    ATTENTION_NAMES,
    LANGUAGE_MODEL,
    NAMES,
    OLD_PREFIX,
    SIZES,
    Llama,
)

__all__ = ["Mixtral", "Qwen3Moe"]


class Mixtral(Llama):
    """The body of a Mixtral: a `Llama` with a `MixtureOfExperts` in each layer.

    Args:
        *args: See `Llama`.
        num_experts: Number of experts.
        top_k: Number of experts that a token uses.
        **kwargs: Further arguments of `Llama`.
    """

    @keeps_arguments
    def __init__(self, *args: Any, num_experts: int = 8, top_k: int = 2, **kwargs: Any) -> None:
        self._mixture = {"num_experts": num_experts, "top_k": top_k, "normalize": True}
        super().__init__(*args, **kwargs)

    def _feed_forward(self, index: int) -> HybridBlock:
        return _experts(self._mlp, self._mixture)


class Qwen3Moe(Llama):
    """The body of a Qwen3-MoE: a `Qwen3` with a `MixtureOfExperts` in most layers.

    Args:
        *args: See `Llama`.
        num_experts: Number of experts.
        top_k: Number of experts that a token uses.
        expert_units: Number of hidden units of an expert.
        normalize: Whether the probabilities of the chosen experts are divided by their sum.
        dense_layers: Indices of layers with a `GatedMLP` instead.
        **kwargs: Further arguments of `Llama`.
    """

    _qk_norm = True

    @keeps_arguments
    def __init__(
        self,
        *args: Any,
        num_experts: int = 128,
        top_k: int = 8,
        expert_units: int = 768,
        normalize: bool = False,
        dense_layers: Sequence[int] = (),
        **kwargs: Any,
    ) -> None:
        self._mixture = {"num_experts": num_experts, "top_k": top_k, "normalize": normalize}
        self._mixture["hidden_units"] = expert_units
        self._dense_layers = frozenset(dense_layers)
        super().__init__(*args, **kwargs)

    def _feed_forward(self, index: int) -> HybridBlock:
        if index in self._dense_layers:
            return GatedMLP(**self._mlp)
        return _experts(self._mlp, self._mixture)


def _experts(mlp: Mapping[str, Any], mixture: Mapping[str, Any]) -> HybridBlock:
    names = ("units", "hidden_units", "activation", "dtype")
    return MixtureOfExperts(**{**{name: mlp[name] for name in names}, **mixture})


def _names(arguments: Mapping[str, Any], block: str, gate: str, value: str, output: str) -> Names:
    experts = [f"layers.{{}}.{block}.experts.{i}" for i in range(arguments["num_experts"])]
    layer = "layers.{}.feed_forward."
    return [
        (layer + "router.weight", f"layers.{{}}.{block}.gate.weight"),
        (
            layer + "hidden_weight",
            rows(*(f"{expert}.{x}.weight" for expert in experts for x in (gate, value))),
        ),
        (layer + "output_weight", rows(*(f"{expert}.{output}.weight" for expert in experts))),
    ]


def _mixtral_names(arguments: Mapping[str, Any]) -> Names:
    return [*ATTENTION_NAMES, *_names(arguments, "block_sparse_moe", "w1", "w3", "w2")]


def _qwen_names(arguments: Mapping[str, Any]) -> Names:
    projections = ("gate_proj", "up_proj", "down_proj")
    return [*NAMES, *_names(arguments, "mlp", *projections)]


def _dense_layers(config: Config) -> Mapping[str, Any]:
    layers = int(config.take("num_hidden_layers", int))
    step = config.take("decoder_sparse_step", int, 1)
    only = config.take("mlp_only_layers", list | None, None) or []
    return {"dense_layers": tuple(i for i in range(layers) if i in only or (i + 1) % step)}


_EXPERTS: tuple[AnySetting, ...] = (
    Setting("top_k", "num_experts_per_tok"),
    Fixed("output_router_logits", False),
    Fixed("router_jitter_noise", 0.0),
    Ignored("router_aux_loss_coef"),
)
register_family(
    Family(
        "mixtral",
        "MixtralModel",
        Mixtral,
        (
            *SIZES,
            Setting("num_experts", "num_local_experts", most=MOST_EXPERTS),
            *_EXPERTS,
            WindowSetting(True),
            RotarySetting(base=1e6),
        ),
        _mixtral_names,
        "model.",
        {"MixtralForCausalLM": LANGUAGE_MODEL, **classifiers("Mixtral"), **answers("Mixtral")},
    )
)
register_family(
    Family(
        "qwen3_moe",
        "Qwen3MoeModel",
        Qwen3Moe,
        (
            *SIZES,
            Setting("use_bias", "attention_bias", bool, False),
            Setting("num_experts", ("num_experts", "num_local_experts"), most=MOST_EXPERTS),
            *_EXPERTS,
            Setting("expert_units", "moe_intermediate_size"),
            Setting("normalize", "norm_topk_prob", bool, False),
            Computed(
                ("decoder_sparse_step", "mlp_only_layers"),
                _dense_layers,
                lambda arguments: {"mlp_only_layers": list(arguments["dense_layers"])},
            ),
            WindowSetting(),
            RotarySetting(),
        ),
        _qwen_names,
        "model.",
        {
            "Qwen3MoeForCausalLM": LANGUAGE_MODEL,
            **classifiers("Qwen3Moe"),
            **answers("Qwen3Moe", OLD_PREFIX),
        },
    )
)
