"""Makes transformer_bfloat16.npz: the errors of PyTorch's encoder layer in bfloat16.

Run it with an interpreter that has torch 2.13, from anywhere. Weights ``p/name``, the input ``x``
and the heads of the gradient ``heads`` are bfloat16, as their upper 16 bits (uint16); they are the
same for all cases but for the weights of norms. ``case/out`` is the result in float64, as float32,
and ``case/error/name`` the error of PyTorch's bfloat16 result, or gradient, against float64: the
root of the mean square, divided by that of the float64 values. PyTorch computes on CPUs, in
training mode without dropout, as modules do (``eager``) and compiled (``compiled``); the smaller
error of the two is the one that is stored.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn

UNITS, HIDDEN, HEADS, N, T = 64, 128, 4, 2, 32
CASES = {
    "post relu": (False, "relu"),
    "pre relu": (True, "relu"),
    "post gelu": (False, "gelu"),
    "pre gelu": (True, "gelu"),
}
FOUND: dict[str, np.ndarray] = {}
RANDOM = np.random.default_rng(16)


def rounded(*shape: int, scale: float = 1.0) -> torch.Tensor:
    """Return normal numbers that bfloat16 holds."""
    return torch.tensor(RANDOM.standard_normal(shape) * scale).to(torch.bfloat16)


def bits(value: torch.Tensor) -> np.ndarray:
    return value.detach().view(torch.int16).numpy().view(np.uint16)


def weights() -> dict[str, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(UNITS, HEADS, HIDDEN)
    found = {}
    for name, value in layer.named_parameters():
        made = rounded(*value.shape, scale=value.shape[-1] ** -0.5 if value.ndim > 1 else 0.2)
        is_gamma = "norm" in name and name.endswith("weight")
        found[name] = (made + 1).to(torch.bfloat16) if is_gamma else made
    return found


def run(
    given: dict[str, torch.Tensor],
    case: str,
    x: torch.Tensor,
    heads: torch.Tensor,
    dtype: torch.dtype,
    compiled: bool = False,
) -> dict[str, torch.Tensor]:
    """Return the result and all gradients in float64."""
    norm_first, activation = CASES[case]
    layer = nn.TransformerEncoderLayer(
        UNITS, HEADS, HIDDEN, 0.0, activation, norm_first=norm_first, batch_first=True
    )
    layer.load_state_dict(given)
    layer = layer.to(dtype)
    data = x.detach().clone().to(dtype).requires_grad_()
    out = (torch.compile(layer) if compiled else layer)(data)
    out.backward(heads.to(dtype))
    assert data.grad is not None
    found = {"out": out, "x": data.grad}
    found |= {name: p.grad for name, p in layer.named_parameters() if p.grad is not None}
    return {name: value.detach().double() for name, value in found.items()}


def error(found: torch.Tensor, exact: torch.Tensor) -> float:
    return float(((found - exact).square().mean() / exact.square().mean()).sqrt())


if __name__ == "__main__":
    given, x, heads = weights(), rounded(N, T, UNITS), rounded(N, T, UNITS)
    FOUND |= {f"p/{name}": bits(value) for name, value in given.items()}
    FOUND |= {"x": bits(x), "heads": bits(heads)}
    for case in CASES:
        exact = run(given, case, x, heads, torch.float64)
        kinds = [run(given, case, x, heads, torch.bfloat16, compiled=c) for c in (False, True)]
        FOUND[f"{case}/out"] = exact["out"].numpy().astype(np.float32)
        for name, value in exact.items():
            errors = [error(found[name], value) for found in kinds]
            FOUND[f"{case}/error/{name}"] = np.array(min(errors))
            print(case, name, *(f"{e:.4f}" for e in errors))  # noqa: T201  # it is a report
    np.savez_compressed(Path(__file__).with_name("transformer_bfloat16.npz"), **FOUND)
