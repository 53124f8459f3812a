"""Calls of generate, for the script that asks transformers and for the tests."""

from typing import Any

NETWORKS = ("gemma2", "gpt2", "llama", "mistral")
PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]
OPTIONS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "penalty": {"repetition_penalty": 1.7},
    "ngrams": {"no_repeat_ngram_size": 2},
    "at least": {"min_new_tokens": 9, "eos_token_id": [21, 10, 22, 7, 3]},
    "stops": {"eos_token_id": [10, 25, 16]},
    "beams": {"num_beams": 3, "num_return_sequences": 3, "eos_token_id": 7},
    "short beams": {"num_beams": 4, "length_penalty": -2.0, "eos_token_id": [7, 21, 10]},
    "early beams": {
        "num_beams": 3, "num_return_sequences": 2, "early_stopping": True,
        "eos_token_id": [7, 21, 22],
    },
    "never": {"num_beams": 2, "early_stopping": "never", "eos_token_id": [7, 21, 22]},
    "beams with processors": {
        "num_beams": 3, "repetition_penalty": 1.3, "no_repeat_ngram_size": 3, "eos_token_id": 7,
    },
    "hidden": {"suppress_tokens": [21, 22], "begin_suppress_tokens": [10, 4]},
}  # fmt: skip
NEW_TOKENS = 12
# Options that change probabilities, in the order in which they are applied.
DRAWS: dict[str, dict[str, Any]] = {
    "temperature": {"temperature": 0.7},
    "top k": {"top_k": 5},
    "top p": {"top_p": 0.8},
    "min p": {"min_p": 0.2},
    "all": {"temperature": 1.5, "top_k": 20, "top_p": 0.9, "min_p": 0.05},
}
