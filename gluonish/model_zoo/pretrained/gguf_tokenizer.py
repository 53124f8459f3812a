"""The tokenizer in the metadata of a GGUF file, by the package `tokenizers`.

References:
    A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019 (bytes as letters).
    T. Kudo and J. Richardson, SentencePiece, 2018 (pieces with scores, and byte fallback).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError, NotSupportedError, nearest
from gluonish.model_zoo.pretrained.gguf import GGUF
from gluonish.model_zoo.text.tokenizer import Tokenizer
from gluonish.model_zoo.text.tokenizer_files import import_tokenizers

__all__ = ["tokenizer_of"]

_MODEL, _PRE = "tokenizer.ggml.model", "tokenizer.ggml.pre"
_TOKENS, _MERGES = "tokenizer.ggml.tokens", "tokenizer.ggml.merges"
_SCORES, _TYPES = "tokenizer.ggml.scores", "tokenizer.ggml.token_type"
_TEMPLATE = "tokenizer.chat_template"
_MOST_TOKENS = 1 << 22
_CONTROL, _USER_DEFINED = 3, 4  # types of tokens that are found in text before it is split
_IDS = {
    "bos": "bos_token_id",
    "eos": "eos_token_id",
    "pad": "padding_token_id",
    "unk": "unknown_token_id",
    "sep": "seperator_token_id",  # spelled so in the format
    "cls": "cls_token_id",
    "mask": "mask_token_id",
}
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_WORDS = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|"
# How text is split before pairs of bytes are merged: a pattern, or None for GPT-2's.
_SPLITS: Mapping[str, str | None] = {
    "gpt-2": None,
    "smollm": None,  # after each digit was split
    "qwen2": rf"{_WORDS}\p{{N}}{_REST}",
    "llama-bpe": rf"{_WORDS}\p{{N}}{{1,3}}{_REST}",
}
_ALIASES = {"llama3": "llama-bpe", "llama-v3": "llama-bpe", "deepseek-r1-qwen": "qwen2"}


def tokenizer_of(file: GGUF) -> Tokenizer:
    """Return the tokenizer of a GGUF file.

    Args:
        file: The open file.

    Raises:
        FileFormatError: The metadata are not of a tokenizer, or do not agree.
        NotSupportedError: The kind of tokenizer is not known.
        GluonishError: The package `tokenizers` is not installed.
    """
    model = file.take(_MODEL, str)
    tokens = _texts(file, _TOKENS)
    if not 0 < len(tokens) <= _MOST_TOKENS:
        raise FileFormatError(f"{file.source}: expected tokens in {_TOKENS}, got {len(tokens)}")
    vocabulary = {token: index for index, token in enumerate(tokens)}
    if len(vocabulary) != len(tokens):
        raise FileFormatError(f"{file.source}: expected each token once in {_TOKENS}")
    if model == "gpt2":
        backend = _bytes_as_letters(file, vocabulary)
    elif model == "llama":
        backend = _pieces(file, vocabulary)
    else:
        raise NotSupportedError(
            f"{file.source}: expected {_MODEL} gpt2 or llama, got {model!r:.60}"
        )
    _add_tokens(file, backend, tokens)
    special = _special(file, tokens)
    _add_ends(file, backend, special, model == "llama")
    named = {
        key.removeprefix(_TEMPLATE).strip(".") or "default": file.take(key, str)
        for key in file.metadata
        if key == _TEMPLATE or key.startswith(f"{_TEMPLATE}.")
    }
    return Tokenizer(backend, special, named, padding_side="left", source=file.source)


def _texts(file: GGUF, key: str) -> list[str]:
    found: list[str] = file.take(key, list)
    if found and not isinstance(found[0], str):
        raise FileFormatError(f"{file.source}: expected {key!r} as list of text")
    return found


def _numbers(file: GGUF, key: str, count: int) -> Any:
    found = file.take(key, np.ndarray)
    if len(found) != count:
        raise FileFormatError(
            f"{file.source}: expected {count} numbers in {key!r}, one for each token, got"
            f" {len(found)}"
        )
    return found


def _made(file: GGUF, make: Any, *arguments: Any, **options: Any) -> Any:
    """Return what the package makes, with its errors as ours."""
    try:
        return make(*arguments, **options)
    except Exception as error:
        raise FileFormatError(
            f"{file.source}: expected the metadata of a tokenizer, got {error!s:.300}"
        ) from error


def _bytes_as_letters(file: GGUF, vocabulary: dict[str, int]) -> Any:
    """Return a tokenizer that merges pairs of bytes, which are written as letters."""
    tokenizers = import_tokenizers()
    pre: str = file.take(_PRE, str)
    kind: str = _ALIASES.get(pre, pre)
    if kind not in _SPLITS:
        known = (*_SPLITS, *_ALIASES)
        raise NotSupportedError(
            f"{file.source}: expected {_PRE} among {', '.join(known)}, got {pre!r:.60}"
            f"{nearest(pre, known)}"
        )
    merges = [tuple(merge.split(" ", 1)) for merge in _texts(file, _MERGES)]
    for merge in merges:
        if len(merge) != 2:
            raise FileFormatError(
                f"{file.source}: expected two tokens with a space between in {_MERGES}, got"
                f" {merge!r:.100}"
            )
    options = {"ignore_merges": kind == "llama-bpe"}
    model = _made(file, tokenizers.models.BPE, vocabulary, merges, **options)
    backend = tokenizers.Tokenizer(model)
    pre_tokenizers = tokenizers.pre_tokenizers
    pattern = _SPLITS[kind]
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    first = []
    if kind == "smollm":
        first = [pre_tokenizers.Digits(individual_digits=True)]
    elif pattern is not None:
        first = [pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")]
    backend.pre_tokenizer = pre_tokenizers.Sequence([*first, letters])
    if kind == "qwen2":
        backend.normalizer = tokenizers.normalizers.NFC()
    backend.decoder = tokenizers.decoders.ByteLevel()
    return backend


def _pieces(file: GGUF, vocabulary: dict[str, int]) -> Any:
    """Return a tokenizer of pieces: neighbours are joined to the piece of the largest score."""
    tokenizers = import_tokenizers()
    scores = _numbers(file, _SCORES, len(vocabulary))
    tokens = list(vocabulary)
    unknown = file.take("tokenizer.ggml.unknown_token_id", int, 0)
    if not 0 <= unknown < len(tokens):
        raise _outside(file, "tokenizer.ggml.unknown_token_id", unknown)
    model = _made(
        file,
        tokenizers.models.BPE,
        vocabulary,
        _merges(vocabulary, scores),
        unk_token=tokens[unknown],
        fuse_unk=True,
        byte_fallback="<0x00>" in vocabulary,
    )
    backend = tokenizers.Tokenizer(model)
    normalizers, decoders = tokenizers.normalizers, tokenizers.decoders
    prefix = file.take("tokenizer.ggml.add_space_prefix", bool, True)
    spaces = [normalizers.Prepend("\u2581")] if prefix else []
    backend.normalizer = normalizers.Sequence([*spaces, normalizers.Replace(" ", "\u2581")])
    steps = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    backend.decoder = decoders.Sequence(steps + ([decoders.Strip(" ", 1, 0)] if prefix else []))
    return backend


def _merges(vocabulary: Mapping[str, int], scores: Any) -> list[tuple[str, str]]:
    """Return all pairs of pieces that make a piece, those of the largest scores first."""
    ranked = sorted(vocabulary, key=lambda piece: -float(scores[vocabulary[piece]]))
    found = []
    for piece in ranked:
        if len(piece) > 1 and len(piece) <= 64:
            pairs = [(piece[:i], piece[i:]) for i in range(1, len(piece))]
            known = [(a, b) for a, b in pairs if a in vocabulary and b in vocabulary]
            found += sorted(known, key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
    return found


def _add_tokens(file: GGUF, backend: Any, tokens: Sequence[str]) -> None:
    """Make tokens of the model's control, and those of users, whole in any text."""
    if _TYPES not in file.metadata:
        return
    types = _numbers(file, _TYPES, len(tokens))
    added = import_tokenizers().AddedToken
    for index in np.flatnonzero(np.isin(types, (_CONTROL, _USER_DEFINED))).tolist():
        control = bool(types[index] == _CONTROL)
        token = added(tokens[index], special=control, normalized=False)
        add = backend.add_special_tokens if control else backend.add_tokens
        if tokens[index]:
            add([token])


def _outside(file: GGUF, key: str, value: int) -> FileFormatError:
    return FileFormatError(f"{file.source}: expected {key!r} inside the vocabulary, got {value}")


def _special(file: GGUF, tokens: Sequence[str]) -> dict[str, str]:
    found = {}
    for kind, name in _IDS.items():
        key = f"tokenizer.ggml.{name}"
        index = file.take(key, int, None)
        if index is not None and index != 0xFFFFFFFF:
            if not 0 <= index < len(tokens):
                raise _outside(file, key, index)
            found[kind] = tokens[index]
    return found


def _add_ends(file: GGUF, backend: Any, special: Mapping[str, str], usual: bool) -> None:
    """Add the tokens that begin and end a text, as far as the metadata ask for them."""
    begin = file.take("tokenizer.ggml.add_bos_token", bool, usual) and special.get("bos")
    end = file.take("tokenizer.ggml.add_eos_token", bool, False) and special.get("eos")
    processors = import_tokenizers().processors
    if not begin and not end:
        return
    ends = [(text, backend.token_to_id(text)) for text in dict.fromkeys((begin, end)) if text]
    single = [begin or "", "$A", end or ""]
    pair = [f"{begin}:1" if begin else "", "$B:1", f"{end}:1" if end else ""]
    pieces = [" ".join(filter(None, x)) for x in (single, [*single, *pair])]
    backend.post_processor = _made(file, processors.TemplateProcessing, *pieces, ends)
