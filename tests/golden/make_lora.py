"""Make lora/: adapters that peft wrote, and what the networks compute with them.

Run it with a virtual environment that has torch 2.13, transformers 5.24 and peft 0.21, from
anywhere; with a folder, it reads the adapters that `tests/contrib/lora_for_peft.py` wrote there and
prints how far peft's outputs are from those of gluonish:

    peft/bin/python tests/golden/make_lora.py [FOLDER]

``llama.npz`` has the weights of a small Llama by their names, ``tokens`` and ``output`` (scores
without an adapter); each adapter's folder has ``output.npy``. ``gpt2/`` is of a small GPT-2, whose
layers are Conv1D (``fan_in_fan_out``), and ``gpt2.npz`` likewise.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

HERE = Path(__file__).with_name("lora")
TOKENS = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]])
ADAPTERS: dict[str, dict[str, Any]] = {
    "plain": {"r": 4, "lora_alpha": 6, "target_modules": ["q_proj", "v_proj", "down_proj"]},
    "rslora": {"r": 4, "lora_alpha": 6, "use_rslora": True, "target_modules": ["o_proj"]},
    "pattern": {"r": 2, "lora_alpha": 3, "target_modules": r".*\.1\..*(gate|up)_proj|lm_head"},
}


def _few_digits(model: torch.nn.Module) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((torch.randn(parameter.shape) * 16).round() / 64)


def llama() -> Any:
    """Return a Llama with two layers and grouped heads."""
    torch.manual_seed(36)
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32,
        rms_norm_eps=1e-6,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config).eval()
    _few_digits(model)
    return model


def gpt2() -> Any:
    """Return a GPT-2 with one layer."""
    torch.manual_seed(37)
    config = GPT2Config(
        vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=2, tie_word_embeddings=True
    )
    model = GPT2LMHeadModel(config).eval()
    _few_digits(model)
    return model


def scores(model: Any, tokens: torch.Tensor) -> np.ndarray:
    """Return the scores of the next tokens."""
    with torch.no_grad():
        return model(tokens).logits.numpy()


def _adapt(model: Any, folder: Path, tokens: torch.Tensor, **options: Any) -> None:
    config = LoraConfig(task_type="CAUSAL_LM", **options)
    adapted = get_peft_model(model, config)
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_" in name:
                parameter.copy_((torch.randn(parameter.shape) * 16).round() / 64)
    adapted.save_pretrained(str(folder), save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)
    np.save(folder / "output.npy", scores(adapted.eval(), tokens))


def make() -> None:
    """Write all files."""
    HERE.mkdir(exist_ok=True)
    model = llama()
    arrays = {name: x.numpy() for name, x in model.state_dict().items()}
    known = {"tokens": TOKENS.numpy(), "output": scores(model, TOKENS)}
    np.savez_compressed(HERE / "llama.npz", **arrays, **known)
    for name, options in ADAPTERS.items():
        _adapt(llama(), HERE / name, TOKENS, **options)
    model, tokens = gpt2(), TOKENS[:, :4]
    arrays = {name: x.numpy() for name, x in model.state_dict().items() if "lm_head" not in name}
    known = {"tokens": tokens.numpy(), "output": scores(model, tokens)}
    np.savez_compressed(HERE / "gpt2.npz", **arrays, **known)
    options = {"r": 2, "lora_alpha": 5, "target_modules": ["c_attn"], "fan_in_fan_out": True}
    _adapt(model, HERE / "gpt2", tokens, **options)


def check(folder: Path) -> None:
    """Compare peft's outputs for adapters of gluonish with those that are beside them."""
    for path in sorted(folder.iterdir()):
        made = PeftModel.from_pretrained(llama(), str(path)).eval()
        wanted = np.load(path / "output.npy")
        apart = np.abs(scores(made, TOKENS) - wanted).max() / np.abs(wanted).max()
        config = json.loads((path / "adapter_config.json").read_text())
        print(path.name, config["target_modules"], f"{apart:.1e}")  # noqa: T201  # it is a report
        assert apart < 1e-5


if __name__ == "__main__":
    if len(sys.argv) > 1:
        check(Path(sys.argv[1]))
    else:
        make()
