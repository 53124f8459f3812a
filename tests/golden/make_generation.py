"""Make generation.json: what transformers generates with the networks of text_networks/.

Run it with a virtual environment that has torch 2.13 and transformers 5.24, from anywhere:

    torch/bin/python tests/golden/make_generation.py

``texts`` has new tokens by network and case of `generation_cases`; ``draws`` has scores, and the
probabilities of the next token after the processors of each case.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
import transformers as hf

sys.path.insert(0, str(Path(__file__).parent))
from generation_cases import DRAWS, NETWORKS, NEW_TOKENS, OPTIONS, PROMPT

HERE = Path(__file__).parent
CLASSES = {
    "gemma2": hf.Gemma2ForCausalLM,
    "gpt2": hf.GPT2LMHeadModel,
    "llama": hf.LlamaForCausalLM,
    "mistral": hf.MistralForCausalLM,
}


def texts(name: str) -> dict[str, list[list[int]]]:
    """Return the new tokens of each case."""
    folder = HERE / "text_networks" / name
    model = CLASSES[name].from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    made = {}
    for case, options in OPTIONS.items():
        prompt = torch.tensor([PROMPT])
        rows = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            max_new_tokens=NEW_TOKENS,
            **options,
        )
        made[case] = [_without_padding(row.tolist()[len(PROMPT) :], options) for row in rows]
    return made


def _without_padding(tokens: list[int], options: dict[str, Any]) -> list[int]:
    stops = options.get("eos_token_id", [])
    stops = [stops] if isinstance(stops, int) else stops
    least = options.get("min_new_tokens", 0)
    for i, token in enumerate(tokens):
        if token in stops and i + 1 >= least:
            return tokens[: i + 1]
    return tokens


def draws() -> dict[str, Any]:
    """Return scores, and the probabilities that each case leaves."""
    torch.manual_seed(37)
    scores = (torch.randn(40) * 64).round() / 32
    found: dict[str, Any] = {"scores": scores.tolist()}
    for case, options in DRAWS.items():
        changed = scores[None].clone()
        for name, kind in (
            ("temperature", hf.TemperatureLogitsWarper),
            ("top_k", hf.TopKLogitsWarper),
            ("top_p", hf.TopPLogitsWarper),
            ("min_p", hf.MinPLogitsWarper),
        ):
            if name in options:
                changed = kind(options[name])(None, changed)
        found[case] = torch.softmax(changed[0].double(), -1).tolist()
    return found


if __name__ == "__main__":
    content = {"texts": {name: texts(name) for name in NETWORKS}, "draws": draws()}
    (HERE / "generation.json").write_text(json.dumps(content, indent=1) + "\n")
