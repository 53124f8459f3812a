"""Roundings to 16 bits that change no result, and are left out of generated CUDA kernels."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16

_ROUNDING = {
    BFLOAT16: re.compile(r"load_bf16\(store_bf16\((.*)\)\)"),
    FLOAT16: re.compile(r"load_f16\(store_f16\((.*)\)\)"),
}
# A function that commutes with rounding: it gives its argument or 0, by the argument's sign.
_COMMUTES = re.compile(r"select\(t(\d+) <= float32\(0\), float32\(0\), t\1\)")

Computed = Sequence[tuple[int, str]]


def without_idle_roundings(
    computed: Computed, stored: Mapping[int, np.dtype[Any]]
) -> list[tuple[int, str]]:
    """Return the expressions of a program without roundings that a store does once more.

    A rounding may wait for the store if the value is read by nothing else, or only by a relu whose
    own rounding may wait.

    Args:
        computed: Index and expression of each value, in order of computation.
        stored: The outputs' dtypes by value.
    """
    readers: dict[int, list[int]] = {}
    texts = dict(computed)
    for value, text in computed:
        for read in set(re.findall(r"\bt(\d+)\b", text)):
            readers.setdefault(int(read), []).append(value)

    def may_wait(value: int, dtype: np.dtype[Any]) -> bool:
        if value in stored and stored[value] != dtype:
            return False
        return all(
            _COMMUTES.fullmatch(texts[reader]) and may_wait(reader, dtype)
            for reader in readers.get(value, ())
        )

    found = []
    for value, text in computed:
        rounded = split_rounding(text)
        if rounded and may_wait(value, rounded[0]):
            text = f"float32({rounded[1]})"
        found.append((value, text))
    return found


def split_rounding(text: str) -> tuple[np.dtype[Any], str] | None:
    """Return the dtype to which an expression rounds, and what it rounds; None if it does not."""
    for dtype, rounding in _ROUNDING.items():
        match = rounding.fullmatch(text)
        if match and _is_whole(match[1]):
            return dtype, match[1]
    return None


def _is_whole(text: str) -> bool:
    """Whether parentheses close where they should, so that the text is one expression."""
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0
