"""Make transformer_operators.npz: what PyTorch and transformers compute of transformers' operators.

Run it with a virtual environment that has torch 2.13 and transformers 5.24, from anywhere:

    torch/bin/python tests/golden/make_transformer_operators.py

Each array's name is that of its case, a dot, and its role: ``x`` (inputs, ``x1``..), ``y`` (the
output), ``head`` (its gradient), and ``dx`` (gradients of inputs).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers.activations import QuickGELUActivation
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

ARRAYS: dict[str, np.ndarray] = {}
RNG = np.random.default_rng(36)


def normal(*shape: int) -> torch.Tensor:
    """Numbers with few digits, so that the file packs well."""
    found = (RNG.standard_normal(shape) * 8).round() / 8
    return torch.tensor(found, dtype=torch.float64, requires_grad=True)


def record(case: str, function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> None:
    """Keep inputs, output, head gradient and gradients of a function in float64."""
    y = function(*inputs)
    head = normal(*y.shape).detach()
    y.backward(head)
    ARRAYS[f"{case}.y"] = y.detach().numpy()
    ARRAYS[f"{case}.head"] = head.numpy().astype(np.float32)
    for i, x in enumerate(inputs):
        ARRAYS[f"{case}.x{i}"] = x.detach().numpy().astype(np.float32)
        assert x.grad is not None
        ARRAYS[f"{case}.dx{i}"] = x.grad.numpy()


def norms() -> None:
    """Record rms_norm and its 1 + gamma form, and the sum before it."""

    def rms(x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.rms_norm(x, (x.shape[-1],), gamma, 1e-5)

    record("rms_norm", rms, normal(3, 5, 24), normal(24))
    record(
        "add_rms_norm", lambda x, r, g: rms(x + r, g), *(normal(4, 24) for _ in "xr"), normal(24)
    )
    gemma = GemmaRMSNorm(24, eps=1e-6).double()

    def offset(x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        return gemma._norm(x) * (1.0 + gamma)

    record("rms_norm_offset", offset, normal(3, 24), normal(24))


def activations() -> None:
    """Record GELU's approximations."""

    def tanh(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x, approximate="tanh")

    for case, function in (("gelu_tanh", tanh), ("gelu_sigmoid", QuickGELUActivation())):
        record(case, function, (normal(5, 40).detach() * 2).requires_grad_())

    silu, gelu = torch.nn.functional.silu, torch.nn.functional.gelu
    record("swiglu", lambda gate, value: silu(gate) * value, normal(5, 40), normal(5, 40))
    record("geglu", lambda gate, value: gelu(gate) * value, normal(5, 40), normal(5, 40))
    record("geglu_tanh", lambda gate, value: tanh(gate) * value, normal(5, 40), normal(5, 40))


# Parameters as models have them: Llama 2 with longer positions, NTK, Llama 3.1, Qwen, GPT-OSS.
SCALINGS: dict[str, dict[str, Any]] = {
    "default": {"rope_theta": 10000.0},
    "linear": {"rope_theta": 10000.0, "factor": 4.0},
    "dynamic": {"rope_theta": 10000.0, "factor": 2.0},
    "llama3": {
        "rope_theta": 500000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 512,
    },
    "yarn": {
        "rope_theta": 1000000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 512,
    },
    "yarn-untruncated": {
        "rope_theta": 150000.0,
        "factor": 32.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "truncate": False,
        "original_max_position_embeddings": 4096,
    },
}


def rotations() -> None:
    """Record rotary embeddings by transformers, in float32: frequencies, factors and queries."""
    for case, parameters in SCALINGS.items():
        kind = case.removesuffix("-untruncated")
        config = LlamaConfig(
            hidden_size=64,
            num_attention_heads=2,
            max_position_embeddings=32 if kind == "dynamic" else 4096,
            rope_parameters={"rope_type": kind, **parameters},
        )
        queries = normal(1, 1, 48, 32).detach().float()
        layer = LlamaRotaryEmbedding(config)
        cos, sin = layer(queries, torch.arange(48)[None])
        rotated, _ = apply_rotary_pos_emb(queries, queries, cos, sin)
        ARRAYS[f"rotary-{case}.x0"] = queries.numpy()
        ARRAYS[f"rotary-{case}.y"] = rotated.numpy()
        ARRAYS[f"rotary-{case}.frequencies"] = layer.inv_freq.numpy()
        ARRAYS[f"rotary-{case}.factor"] = np.array(layer.attention_scaling, np.float32)


if __name__ == "__main__":
    norms()
    activations()
    rotations()
    np.savez_compressed(Path(__file__).with_name("transformer_operators.npz"), **ARRAYS)
