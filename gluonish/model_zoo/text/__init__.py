"""Networks for text, and what they need: heads, weights as others publish them."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach

__all__ = [
    "GPT2",
    "BatchGenerator",
    "Cache",
    "CausalLM",
    "GPTNeoX",
    "Gemma",
    "Gemma2",
    "Gemma3",
    "Llama",
    "Mistral",
    "Mixtral",
    "Phi3",
    "Qwen2",
    "Qwen3",
    "Qwen3Moe",
    "Tokenizer",
]

if TYPE_CHECKING:
    from gluonish.model_zoo.generation.batching import BatchGenerator
    from gluonish.model_zoo.generation.cache import Cache
    from gluonish.model_zoo.text.gemma import Gemma, Gemma2, Gemma3
    from gluonish.model_zoo.text.gpt2 import GPT2
    from gluonish.model_zoo.text.gpt_neox import GPTNeoX
    from gluonish.model_zoo.text.heads import CausalLM
    from gluonish.model_zoo.text.llama import Llama, Mistral, Phi3, Qwen2, Qwen3
    from gluonish.model_zoo.text.mixture import Mixtral, Qwen3Moe
    from gluonish.model_zoo.text.tokenizer import Tokenizer
else:
    __getattr__ = _attach(
        __name__,
        ("gemma", "gpt2", "gpt_neox", "heads", "llama", "mixture", "tokenizer"),
        {
            "BatchGenerator": "gluonish.model_zoo.generation.batching:BatchGenerator",
            "Cache": "gluonish.model_zoo.generation.cache:Cache",
            "CausalLM": "gluonish.model_zoo.text.heads:CausalLM",
            "GPT2": "gluonish.model_zoo.text.gpt2:GPT2",
            "GPTNeoX": "gluonish.model_zoo.text.gpt_neox:GPTNeoX",
            "Gemma": "gluonish.model_zoo.text.gemma:Gemma",
            "Gemma2": "gluonish.model_zoo.text.gemma:Gemma2",
            "Gemma3": "gluonish.model_zoo.text.gemma:Gemma3",
            "Llama": "gluonish.model_zoo.text.llama:Llama",
            "Mistral": "gluonish.model_zoo.text.llama:Mistral",
            "Mixtral": "gluonish.model_zoo.text.mixture:Mixtral",
            "Phi3": "gluonish.model_zoo.text.llama:Phi3",
            "Qwen2": "gluonish.model_zoo.text.llama:Qwen2",
            "Qwen3": "gluonish.model_zoo.text.llama:Qwen3",
            "Qwen3Moe": "gluonish.model_zoo.text.mixture:Qwen3Moe",
            "Tokenizer": "gluonish.model_zoo.text.tokenizer:Tokenizer",
        },
    )
