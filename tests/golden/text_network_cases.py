"""Inputs of the networks of text_networks/, for the script that made them and for the tests."""

from collections.abc import Mapping
from typing import Any

TOKENS = [[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7, 9, 3]]
TOKEN_TYPES = [[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0, 1, 1]]
LENGTHS = [8, 6]
# Weights that transformers writes, and does not use if the scores' weight is not the embedding's.
DEAD = {"cls.predictions.bias", "lm_head.bias"}
ENCODERS = ("bert", "distilbert", "electra", "modernbert", "roberta")


def inputs(model_type: str) -> Mapping[str, Any]:
    """Return the inputs of a network, in the order of ours, by the names of transformers.

    ``attention_mask`` stands for the numbers of tokens.
    """
    if model_type not in ENCODERS:
        return {"input_ids": TOKENS}
    types = None if model_type in ("distilbert", "modernbert") else TOKEN_TYPES
    return {"input_ids": TOKENS, "token_type_ids": types, "attention_mask": LENGTHS}
