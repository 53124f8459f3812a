"""Make image_networks/: small networks for images that transformers wrote, and what they compute.

Run it with a virtual environment that has torch 2.13 and transformers 5.24, from anywhere:

    torch/bin/python tests/golden/make_image_networks.py

With ``--check FOLDER``, it instead reads the networks that gluonish wrote there, and prints how far
their outputs are from ``expected.npz``.

Each folder has config.json, model.safetensors (bfloat16, of few digits, so that all dtypes have
them exactly) and ``expected.npz``, computed in float64: ``output`` (logits, or of a body its pooled
features), and for the loss ``sum(output * cos(0, 1, 2, ...))`` each weight's gradient, as its
product with ``cos(0, 1, 2, ...)`` and its norm, in the order of names.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers as hf
from safetensors.torch import load_file

sys.path.insert(0, str(Path(__file__).parent))
from timm_network_cases import images, pattern, summary  # type: ignore[import-not-found]  # beside the script

HERE = Path(__file__).with_name("image_networks")
_LABELS = {"id2label": {0: "cat", 1: "dog", 2: "bird"}, "label2id": {"cat": 0, "dog": 1, "bird": 2}}
_CONVNEXT = {"hidden_sizes": [8, 16, 24], "depths": [1, 2, 1], "num_stages": 3}
_SWIN = {"embed_dim": 8, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4, "image_size": 36}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "convnext": ("ConvNextForImageClassification", {**_CONVNEXT, **_LABELS}),
    "convnext_body": ("ConvNextModel", {**_CONVNEXT, "layer_scale_init_value": 0.0}),
    "swin": ("SwinForImageClassification", {**_SWIN, **_LABELS}),
    "swin_body": ("SwinModel", {**_SWIN, "image_size": 32, "qkv_bias": False, "mlp_ratio": 2.0}),
}


def _few_digits(model: torch.nn.Module) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = (torch.randn(parameter.shape) * 16).round() / 64
            scale = 0.5 if parameter.ndim == 1 else 1.0
            base = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
            parameter.copy_(((base + noise * scale) * 64).round() / 64)


def _output(model: Any) -> torch.Tensor:
    side = getattr(model.config, "image_size", 32) if "swin" in model.config.model_type else 32
    made = model(torch.from_numpy(images((2, 3, side, side))).double())
    return made.logits if "logits" in made else made.pooler_output


def _gradients(model: Any) -> np.ndarray:
    """Return a summary of each gradient, in the order of names in files."""
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for parameter in model.parameters():
            parameter.copy_(parameter.grad)
        model.save_pretrained(folder)
        found = load_file(Path(folder) / "model.safetensors")
    return np.array([summary(tensor.numpy()) for _, tensor in sorted(found.items())])


def make(case: str) -> None:
    """Write the folder of a case."""
    torch.manual_seed(37)
    kind, settings = CASES[case]
    network = getattr(hf, kind)
    model = network(network.config_class(**settings)).eval()
    _few_digits(model)
    folder = HERE / case
    model.to(torch.bfloat16).save_pretrained(folder)
    model = network.from_pretrained(folder, dtype=torch.float64).eval()
    output = _output(model)
    (output * torch.from_numpy(pattern(output.detach().numpy()))).sum().backward()
    made = {"output": output.detach().numpy(), "gradients": _gradients(model)}
    np.savez_compressed(folder / "expected.npz", **made)


def check(written: Path) -> None:
    """Print how far networks that gluonish wrote are from the expected outputs."""
    for folder in sorted(written.iterdir()):
        network = getattr(hf, CASES[folder.name][0])
        model, info = network.from_pretrained(folder, dtype=torch.float64, output_loading_info=True)
        assert not info["missing_keys"], info
        assert not info["unexpected_keys"], info
        with torch.no_grad():
            output = _output(model.eval()).numpy()
        want = np.load(HERE / folder.name / "expected.npz")["output"]
        print(folder.name, f"{np.abs(output - want).max() / np.abs(want).max():.1e}")  # noqa: T201  # it is a report


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(Path(sys.argv[2]))
    else:
        for name in CASES:
            make(name)
