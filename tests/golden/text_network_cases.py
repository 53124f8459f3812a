"""Inputs of the networks of text_networks/, for the script that made them and for the tests."""

from collections.abc import Mapping
from typing import Any

TOKENS = [[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7, 9, 3]]
TOKEN_TYPES = [[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0, 1, 1]]
LENGTHS = [8, 6]
# Weights that transformers writes, and does not use if the scores' weight is not the embedding's.
DEAD = {"cls.predictions.bias", "lm_head.bias", "model.shared.weight"}
ENCODERS = ("bert", "distilbert", "electra", "modernbert", "roberta")
BART_HEADS = ("BartForSequenceClassification", "BartForQuestionAnswering")
TEXTS = [[3, 1, 4, 1, 5, 9, 6, 2], [5, 3, 5, 8, 9, 2, 1, 1]]  # which end with token 2
TARGETS = [[0, 7, 1, 8, 2, 8], [0, 8, 2, 8, 4, 5]]
# Log-mel features (2, 5 mels, 12 frames), of few digits.
FEATURES = [
    [[((7 * n + 3 * mel + 5 * frame) % 11 - 5) / 4 for frame in range(12)] for mel in range(5)]
    for n in range(2)
]


def inputs(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the inputs of a network, in the order of ours, by the names of transformers.

    ``attention_mask`` stands for the numbers of tokens.

    Args:
        config: The settings of the network.
    """
    model_type = config["model_type"]
    if model_type == "whisper":
        return {"input_features": FEATURES, "decoder_input_ids": TARGETS}
    if config["architectures"] == ["T5EncoderModel"]:
        return {"input_ids": TOKENS, "mask": None, "attention_mask": LENGTHS}
    if model_type == "bart" and config["architectures"][0] in BART_HEADS:
        return {"input_ids": TEXTS, "attention_mask": LENGTHS}
    if model_type in ("bart", "t5"):
        return {"input_ids": TOKENS, "decoder_input_ids": TARGETS, "attention_mask": LENGTHS}
    if model_type not in ENCODERS:
        return {"input_ids": TOKENS}
    types = None if model_type in ("distilbert", "modernbert") else TOKEN_TYPES
    return {"input_ids": TOKENS, "token_type_ids": types, "attention_mask": LENGTHS}
