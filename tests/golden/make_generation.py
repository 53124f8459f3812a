"""Make generation.json: what transformers generates with the networks of text_networks/.

Run it with a virtual environment that has torch 2.13 and transformers 5.24, from anywhere:

    torch/bin/python tests/golden/make_generation.py

``texts`` has new tokens by network and case of `generation_cases`; ``from sources`` those of
networks with an encoder, ``speech`` all tokens of Whisper for each of its inputs; ``draws`` has
scores, and the probabilities of the next token after the processors of each case.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
import transformers as hf

sys.path.insert(0, str(Path(__file__).parent))
from generation_cases import (
    DRAWS,
    FROM_SOURCES,
    NETWORKS,
    NEW_TOKENS,
    OPTIONS,
    PROMPT,
    SOURCE_OPTIONS,
    SPEECH_CONFIG,
    SPEECH_OPTIONS,
)
from text_network_cases import FEATURES

HERE = Path(__file__).parent
CLASSES = {
    "bart": hf.BartForConditionalGeneration,
    "t5": hf.T5ForConditionalGeneration,
    "t5_gated": hf.T5ForConditionalGeneration,
    "whisper": hf.WhisperForConditionalGeneration,
    "gemma2": hf.Gemma2ForCausalLM,
    "gpt2": hf.GPT2LMHeadModel,
    "llama": hf.LlamaForCausalLM,
    "mistral": hf.MistralForCausalLM,
}


def _network(name: str) -> Any:
    folder = HERE / "text_networks" / name
    model = CLASSES[name].from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model


def texts(name: str, cases: dict[str, dict[str, Any]]) -> dict[str, list[list[int]]]:
    """Return the new tokens of each case."""
    model = _network(name)
    made = {}
    for case, options in cases.items():
        prompt = torch.tensor([PROMPT])
        given = dict(options)
        length = len(PROMPT)
        if name in FROM_SOURCES:  # the decoder begins with a token of its own
            length = 1 + len(options.get("decoder_input_ids", []))
        if "decoder_input_ids" in options:
            given["decoder_input_ids"] = torch.tensor([options["decoder_input_ids"]])
        rows = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            max_new_tokens=NEW_TOKENS,
            **given,
        )
        made[case] = [_without_padding(row.tolist()[length:], options) for row in rows]
    return made


def speech() -> dict[str, list[list[int]]]:
    """Return the tokens of Whisper for each case, of each input, the first ones included."""
    model = _network("whisper")
    features = torch.tensor(FEATURES, dtype=torch.float64)
    stop = SPEECH_CONFIG["eos_token_id"]
    made = {}
    for case, options in SPEECH_OPTIONS.items():
        # A token that is padding would be hidden, too, where it begins a text.
        model.generation_config = hf.GenerationConfig(**SPEECH_CONFIG, pad_token_id=30)
        given = {"do_sample": False, "max_new_tokens": NEW_TOKENS, **options}
        rows = [
            model.generate(one[None], return_dict_in_generate=True, **given).sequences[0].tolist()
            for one in features
        ]
        made[case] = [_without_padding(row, {"eos_token_id": stop}) for row in rows]
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
    content = {
        "texts": {name: texts(name, OPTIONS) for name in NETWORKS},
        "from sources": {name: texts(name, SOURCE_OPTIONS) for name in FROM_SOURCES},
        "speech": speech(),
        "draws": draws(),
    }
    (HERE / "generation.json").write_text(json.dumps(content, indent=1) + "\n")
