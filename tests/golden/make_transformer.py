"""Makes transformer.npz: PyTorch's attention and transformer layers on small arrays.

Run it with an interpreter that has torch 2.13 and transformers 5.24, from the repository's root.
Each case has its parameters under ``case/p/name``, its inputs under ``case/in/name``, PyTorch's
result under ``case/out``, and the gradients, for the heads ``case/heads``, under ``case/g/name``.
The dtype is float32, of expectations too, which are computed in float64. ``buckets/`` has T5's
buckets of distances from -300 to 300, and ``slopes/`` BLOOM's bias of ALiBi.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.mixtral.modeling_mixtral import (
    MixtralConfig,
    MixtralSparseMoeBlock,
    load_balancing_loss_func,
)
from transformers.models.t5.modeling_t5 import T5Attention

UNITS, HIDDEN, HEADS = 8, 12, 2
N, T, S = 2, 5, 7
LENGTHS = {T: [5, 2], S: [3, 7]}
FOUND: dict[str, np.ndarray] = {}


def single(value: torch.Tensor) -> np.ndarray:
    return value.detach().numpy().astype(np.float32)


def inputs_of(case: str) -> dict[str, torch.Tensor]:
    random = np.random.default_rng(zlib.crc32(case.encode()))
    arrays = {"x": (N, T, UNITS), "memory": (N, S, UNITS)}
    return {
        name: torch.tensor(random.standard_normal(shape).astype(np.float32).astype(np.float64))
        for name, shape in arrays.items()
    }


def padding(length: int) -> torch.Tensor:
    """True where a key is hidden."""
    return torch.arange(length)[None] >= torch.tensor(LENGTHS[length])[:, None]


def later(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def keep(case: str, module: nn.Module, call: Any, used: tuple[str, ...] = ("x", "memory")) -> None:
    module = module.double()
    inputs = {k: v.requires_grad_() for k, v in inputs_of(case).items() if k in used}
    random = np.random.default_rng(zlib.crc32(case.encode()) + 1)
    with torch.no_grad():
        for name, value in module.named_parameters():
            wave = random.standard_normal(value.shape) * (0.5 if value.ndim > 1 else 0.2)
            wave += "norm" in name and name.endswith("weight")
            value.copy_(torch.tensor(wave.astype(np.float32)))
    out = call(module, **inputs)
    heads = random.standard_normal(out.shape).astype(np.float32)
    out.backward(torch.tensor(heads, dtype=torch.float64))
    FOUND[f"{case}/out"] = single(out)
    FOUND[f"{case}/heads"] = heads
    for name, value in inputs.items():
        FOUND[f"{case}/in/{name}"] = single(value)
        FOUND[f"{case}/g/{name}"] = single(value.grad)
    for name, value in module.named_parameters():
        FOUND[f"{case}/p/{name}"] = single(value)
        FOUND[f"{case}/g/{name}"] = single(value.grad)


def attention(case: str, call: Any, used: tuple[str, ...] = ("x",), **options: Any) -> None:
    module = nn.MultiheadAttention(UNITS, HEADS, batch_first=True, **options)
    keep(case, module, call, used)


def attentions() -> None:
    attention("attention", lambda m, x: m(x, x, x)[0])
    attention("attention no bias", lambda m, x: m(x, x, x)[0], bias=False)
    attention(
        "attention causal",
        lambda m, x: m(x, x, x, attn_mask=later(T), is_causal=True, need_weights=False)[0],
    )
    attention("attention lengths", lambda m, x: m(x, x, x, key_padding_mask=padding(T))[0])
    both = ("x", "memory")
    attention("attention memory", lambda m, x, memory: m(x, memory, memory)[0], both)
    attention(
        "attention memory lengths",
        lambda m, x, memory: m(x, memory, memory, key_padding_mask=padding(S))[0],
        both,
    )


def encoders() -> None:
    for first in (False, True):
        for activation in ("relu", "gelu"):
            layer = nn.TransformerEncoderLayer(
                UNITS, HEADS, HIDDEN, 0.0, activation, batch_first=True, norm_first=first
            )
            name = f"encoder layer {'pre' if first else 'post'} {activation}"
            keep(name, layer, lambda m, x: m(x, src_key_padding_mask=padding(T)), ("x",))
        layer = nn.TransformerEncoderLayer(
            UNITS, HEADS, HIDDEN, 0.0, batch_first=True, norm_first=first
        )
        norm = nn.LayerNorm(UNITS) if first else None
        stack = nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False)
        keep(f"encoder {'pre' if first else 'post'}", stack, lambda m, x: m(x), ("x",))


def decoders() -> None:
    def call(m: nn.Module, x: torch.Tensor, memory: torch.Tensor) -> Any:
        masks = {"tgt_mask": later(T), "memory_key_padding_mask": padding(S)}
        return m(x, memory, tgt_is_causal=True, **masks)

    for first in (False, True):
        order = "pre" if first else "post"
        layer = nn.TransformerDecoderLayer(
            UNITS, HEADS, HIDDEN, 0.0, "gelu", batch_first=True, norm_first=first
        )
        keep(f"decoder layer {order}", layer, call)
        norm = nn.LayerNorm(UNITS) if first else None
        keep(f"decoder {order}", nn.TransformerDecoder(layer, 2, norm), call)


def experts() -> None:
    sizes = {"hidden_size": UNITS, "intermediate_size": HIDDEN, "num_local_experts": 4}
    for top_k in (1, 2):
        config = MixtralConfig(num_experts_per_tok=top_k, **sizes)
        config._experts_implementation = "eager"
        block = MixtralSparseMoeBlock(config)
        keep(f"experts {top_k}", block, lambda m, x: m(x), ("x",))
        x = torch.tensor(FOUND[f"experts {top_k}/in/x"].reshape(-1, UNITS)).double()
        logits = (x @ block.gate.weight.T,)
        loss = load_balancing_loss_func(logits, num_experts=4, top_k=top_k)
        FOUND[f"experts {top_k}/loss"] = single(loss)


def positions() -> None:
    distances = torch.arange(-300, 301)
    for both in (False, True):
        for count, farthest in ((32, 128), (8, 20), (6, 100)):
            made = T5Attention._relative_position_bucket(distances, both, count, farthest)
            FOUND[f"buckets/{int(both)} {count} {farthest}"] = made.numpy().astype(np.int16)
    for heads in (1, 3, 4, 6, 12):
        made = build_alibi_tensor(torch.ones(1, 4), heads, torch.float32)
        FOUND[f"slopes/{heads}"] = made.numpy()[:, 0]


if __name__ == "__main__":
    torch.manual_seed(0)
    attentions()
    encoders()
    decoders()
    positions()
    experts()
    np.savez_compressed(Path(__file__).with_name("transformer.npz"), **FOUND)
