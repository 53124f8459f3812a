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
# Networks with an encoder, which reads the prompt, and further calls of theirs.
FROM_SOURCES = ("bart", "t5", "t5_gated")
SOURCE_OPTIONS: dict[str, dict[str, Any]] = {
    **OPTIONS,
    "begun": {"decoder_input_ids": [4, 9]},
    "forced": {
        "forced_bos_token_id": 9, "forced_eos_token_id": [5, 6], "begin_suppress_tokens": [21, 22],
    },
    "forced beams": {
        "num_beams": 3, "forced_bos_token_id": 9, "forced_eos_token_id": 5, "eos_token_id": 5,
    },
    "long enough": {"min_length": 9, "eos_token_id": [21, 10, 22, 7, 3, 29]},
}  # fmt: skip
# What a Whisper's generation_config.json says, for a vocabulary of 32 words.
SPEECH_CONFIG: dict[str, Any] = {
    "decoder_start_token_id": 0,
    "eos_token_id": 2,
    "is_multilingual": True,
    "lang_to_id": {"<|de|>": 21, "<|en|>": 20, "<|fr|>": 22},
    "task_to_id": {"transcribe": 23, "translate": 24},
    "no_timestamps_token_id": 31,  # behind it would be those of times
    "suppress_tokens": [20, 21, 22, 23, 24, 31],
    "begin_suppress_tokens": [2, 7],
}
SPEECH_OPTIONS: dict[str, dict[str, Any]] = {
    "found": {},
    "translated": {"task": "translate"},
    "english": {"language": "en"},
    "both": {"language": "fr", "task": "translate"},
    "beams": {"num_beams": 3, "language": "de"},
    "penalty": {"repetition_penalty": 1.7},
}
