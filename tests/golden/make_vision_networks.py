"""Make vision_networks/: small networks for images that transformers wrote, and what they compute.

Run it with a virtual environment that has torch 2.13 and transformers 5.24, from anywhere; with
names of cases, only these are made:

    torch/bin/python tests/golden/make_vision_networks.py [CASE ...]

With ``--check FOLDER``, it instead reads networks that `save_pretrained` wrote there, in folders
with names of cases, and prints how far their outputs are from ``expected.npz``.

Each folder has config.json, model.safetensors (bfloat16, of few digits, so that all dtypes have
them exactly) and ``expected.npz``, computed in float64: ``output0`` ... (what the network gives),
``resized0`` ... (of images of another size, with vectors of positions interpolated), ``masked0``
(with patches masked), and for the loss, the sum of ``output * cos(0, 1, 2, ...)``, each weight's
gradient, as its product with ``cos(0, 1, 2, ...)`` and its norm.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import transformers as hf
from safetensors.torch import load_file

sys.path.insert(0, str(Path(__file__).parent))
from vision_network_cases import MASKED, OTHER_SIZE, SIZE, TOKENS, images  # gluonish is not there

HERE = Path(__file__).with_name("vision_networks")
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 8,
    "patch_size": 4,
}
DINO = {name: value for name, value in SMALL.items() if name != "intermediate_size"}
WIDE = {"image_size": list(SIZE)}
TEXT = {
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "vocab_size": 32,
    "max_position_embeddings": 8,
    "bos_token_id": 1,
    "eos_token_id": 3,
}
BOTH = {"text_config": TEXT, "vision_config": SMALL}
# Class, and settings.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "vit": ("ViTForImageClassification", {**SMALL, **WIDE, "num_labels": 5}),
    "vit_body": ("ViTModel", {**SMALL, "qkv_bias": False}),
    "deit": ("DeiTForImageClassification", SMALL),
    "deit_teacher": ("DeiTForImageClassificationWithTeacher", {**SMALL, "num_labels": 3}),
    "dinov2": ("Dinov2ForImageClassification", {**DINO, "num_labels": 3, "use_mask_token": False}),
    "dinov2_body": ("Dinov2Model", {**DINO, "use_swiglu_ffn": True}),
    "clip": ("CLIPModel", {**BOTH, "projection_dim": 8}),
    "clip_vision": ("CLIPVisionModel", SMALL),
    "clip_vision_projection": ("CLIPVisionModelWithProjection", {**SMALL, "projection_dim": 8}),
    "clip_text": ("CLIPTextModel", {**TEXT, "eos_token_id": 2}),
    "clip_text_projection": ("CLIPTextModelWithProjection", {**TEXT, "projection_dim": 8}),
    "siglip": ("SiglipModel", {**BOTH, "text_config": {**TEXT, "projection_size": 16}}),
    "siglip_vision": ("SiglipVisionModel", {**SMALL, "vision_use_head": False}),
    "siglip_text": ("SiglipTextModel", TEXT),
}
OUTPUTS = ("logits", "logits_per_image", "image_embeds", "text_embeds", "last_hidden_state")


def _few_digits(model: torch.nn.Module) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = (torch.randn(parameter.shape) * 16).round() / 64
            scale = 0.5 if parameter.ndim == 1 else 1.0
            base = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
            parameter.copy_(((base + noise * scale) * 64).round() / 64)


def _pattern(values: torch.Tensor) -> torch.Tensor:
    return torch.cos(torch.arange(values.numel(), dtype=torch.float64)).reshape(values.shape)


def _run(model: Any, size: tuple[int, int], **options: Any) -> list[torch.Tensor]:
    """Return what a network gives for the inputs that it has."""
    inputs: dict[str, Any] = {}
    if "Text" not in type(model).__name__:
        inputs["pixel_values"] = torch.tensor(images(size))
        inputs |= options
    if "Text" in type(model).__name__ or hasattr(model, "text_model"):
        inputs["input_ids"] = torch.tensor(TOKENS)
    made = model(**inputs)
    name = next(name for name in OUTPUTS if name in made)
    pooled = name == "last_hidden_state" and made.get("pooler_output") is not None
    # A DINOv2's pooled output is the first token of its features.
    pooled = pooled and not isinstance(model, hf.Dinov2Model)
    return [made[name], *([made["pooler_output"]] if pooled else [])]


def _gradients(model: Any) -> dict[str, torch.Tensor]:
    """Return the gradients by the names that weights have in files, of a network that has them."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(
                torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            )
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return load_file(Path(folder) / "model.safetensors")


def make(case: str) -> None:
    """Write the folder of a case."""
    torch.manual_seed(37)
    kind, settings = CASES[case]
    network = getattr(hf, kind)
    model = network(network.config_class(**settings)).eval()
    _few_digits(model)
    folder = HERE / case
    model.to(torch.bfloat16).save_pretrained(folder)
    model = network.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    outputs = _run(model, SIZE if settings.get("image_size") == list(SIZE) else (8, 8))
    made = {f"output{i}": output.detach().numpy() for i, output in enumerate(outputs)}
    sum((output * _pattern(output)).sum() for output in outputs).backward()
    if "Text" not in kind and settings.get("image_size") != list(SIZE):
        options = {} if kind.startswith("Dinov2") else {"interpolate_pos_encoding": True}
        with torch.no_grad():
            resized = _run(model, OTHER_SIZE, **options)
        made |= {f"resized{i}": output.numpy() for i, output in enumerate(resized)}
    if kind == "Dinov2Model":
        masked = torch.tensor(MASKED, dtype=torch.bool)
        with torch.no_grad():
            output = model(torch.tensor(images((8, 8))), bool_masked_pos=masked)
        made["masked0"] = output.last_hidden_state.numpy()
    for name, gradient in _gradients(model).items():
        product = float((gradient * _pattern(gradient)).sum())
        made[f"gradient {name}"] = np.array([product, float(gradient.norm())])
    np.savez_compressed(folder / "expected.npz", **made)


def check(written: Path) -> None:
    """Print how far networks that gluonish wrote are from the expected outputs."""
    for folder in sorted(written.iterdir()):
        network = getattr(hf, CASES[folder.name][0])
        model, info = network.from_pretrained(
            folder, dtype=torch.float64, attn_implementation="eager", output_loading_info=True
        )
        assert not info["missing_keys"], info
        assert not info["unexpected_keys"], info
        size = SIZE if CASES[folder.name][1].get("image_size") == list(SIZE) else (8, 8)
        with torch.no_grad():
            outputs = _run(model.eval(), size)
        with np.load(HERE / folder.name / "expected.npz") as want:
            for i, output in enumerate(outputs):
                one = want[f"output{i}"]
                apart = np.abs(output.numpy() - one).max() / np.abs(one).max()
                print(folder.name, i, f"{apart:.1e}")  # noqa: T201  # it is a report


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(Path(sys.argv[2]))
    else:
        for case in sys.argv[1:] or CASES:
            make(case)
