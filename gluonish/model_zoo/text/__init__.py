"""Networks for text, and what they need: heads, weights as others publish them."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach

__all__ = ["CausalLM", "Llama", "Mistral", "Phi3", "Qwen2", "Qwen3", "Tokenizer"]

if TYPE_CHECKING:
    from gluonish.model_zoo.text.heads import CausalLM
    from gluonish.model_zoo.text.llama import Llama, Mistral, Phi3, Qwen2, Qwen3
    from gluonish.model_zoo.text.tokenizer import Tokenizer
else:
    __getattr__ = _attach(
        __name__,
        ("heads", "llama", "tokenizer"),
        {
            "CausalLM": "gluonish.model_zoo.text.heads:CausalLM",
            "Llama": "gluonish.model_zoo.text.llama:Llama",
            "Mistral": "gluonish.model_zoo.text.llama:Mistral",
            "Phi3": "gluonish.model_zoo.text.llama:Phi3",
            "Qwen2": "gluonish.model_zoo.text.llama:Qwen2",
            "Qwen3": "gluonish.model_zoo.text.llama:Qwen3",
            "Tokenizer": "gluonish.model_zoo.text.tokenizer:Tokenizer",
        },
    )
