"""Networks for text, and what they need: heads, weights as others publish them."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach

__all__ = ["CausalLM", "Llama", "Mistral", "Phi3", "Qwen2", "Qwen3"]

if TYPE_CHECKING:
    from gluonish.model_zoo.text.heads import CausalLM
    from gluonish.model_zoo.text.llama import Llama, Mistral, Phi3, Qwen2, Qwen3
else:
    __getattr__ = _attach(
        __name__,
        ("heads", "llama"),
        {
            "CausalLM": "gluonish.model_zoo.text.heads:CausalLM",
            "Llama": "gluonish.model_zoo.text.llama:Llama",
            "Mistral": "gluonish.model_zoo.text.llama:Mistral",
            "Phi3": "gluonish.model_zoo.text.llama:Phi3",
            "Qwen2": "gluonish.model_zoo.text.llama:Qwen2",
            "Qwen3": "gluonish.model_zoo.text.llama:Qwen3",
        },
    )
