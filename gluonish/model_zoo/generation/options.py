"""Options of generation, under the names of generation_config.json."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, nearest

# Of other libraries' programs; what generation gives does not depend on them here.
_IGNORED = frozenset({
    *("transformers_version", "_from_model_config", "use_cache", "return_dict_in_generate"),
    *("output_attentions", "output_hidden_states", "output_scores", "output_logits"),
    *("_commit_hash", "cache_implementation", "cache_config", "return_legacy_cache"),
    *("max_matching_ngram_size", "is_assistant"),
    *("num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold"),
    *("prompt_lookup_num_tokens", "low_memory", "compile_config", "disable_compile"),
    *("prefill_chunk_size", "chat_format", "remove_invalid_values", "renormalize_logits"),
    *("trust_remote_code", "generation_kwargs"),
})  # fmt: skip
# Options that would change what is generated, with the values that leave it as it is here.
_FIXED: Mapping[str, tuple[Any, ...]] = {
    "bad_words_ids": (None,),
    "constraints": (None,),
    "diversity_penalty": (0.0, None),
    "dola_layers": (None,),
    "encoder_no_repeat_ngram_size": (0, None),
    "encoder_repetition_penalty": (1.0, None),
    "epsilon_cutoff": (0.0, None),
    "eta_cutoff": (0.0, None),
    "exponential_decay_length_penalty": (None,),
    "force_words_ids": (None,),
    "guidance_scale": (1.0, None),
    "num_beam_groups": (1, None),
    "penalty_alpha": (0, None),
    "return_timestamps": (False, None),
    "sequence_bias": (None,),
    "top_h": (None,),
    "typical_p": (1.0, None),
    "watermarking_config": (None,),
}
_NUMBERS: Mapping[str, tuple[type, float, float]] = {  # kind, least, most
    "max_new_tokens": (int, 1, 1 << 24),
    "min_new_tokens": (int, 0, 1 << 24),
    "min_length": (int, 0, 1 << 24),
    "max_length": (int, 1, 1 << 24),
    "temperature": (float, 0.0, 1e6),
    "top_k": (int, 0, 1 << 24),
    "min_p": (float, 0.0, 1.0),
    "repetition_penalty": (float, 1e-6, 1e6),
    "no_repeat_ngram_size": (int, 0, 1 << 20),
    "num_beams": (int, 1, 1 << 12),
    "length_penalty": (float, -1e6, 1e6),
    "num_return_sequences": (int, 1, 1 << 12),
    "seed": (int, 0, (1 << 63) - 1),
}
# Tables and settings of speech, which its networks read; see `SpeechSeq2SeqLM`.
_OF_SPEECH = frozenset({
    *("lang_to_id", "task_to_id", "is_multilingual", "no_timestamps_token_id", "alignment_heads"),
    *("max_initial_timestamp_index", "prev_sot_token_id", "forced_decoder_ids"),
    *("median_filter_width",),
})  # fmt: skip
CACHE_DTYPES = ("float32", "bfloat16", "float16", "int8")
# Options that only some networks have.
OF_SOME = frozenset({"decoder_start_token_id", "decoder_input_ids", "language", "task"})
# Options of one token, or several.
_LISTS = (
    *("eos_token_id", "pad_token_id", "suppress_tokens", "begin_suppress_tokens"),
    *("forced_eos_token_id", "decoder_input_ids"),
)


@dataclass(frozen=True)
class GenerationOptions:
    """How text is generated.

    Attributes:
        max_new_tokens: Most tokens that follow a prompt; None for ``max_length``, or else 20.
        max_length: Most tokens of prompt and text together, where ``max_new_tokens`` is None.
        min_new_tokens: Tokens before which no stop token is chosen.
        min_length: The same of prompt and text together; of a decoder with an encoder, of what the
            decoder reads.
        do_sample: Whether tokens are drawn by their probabilities; otherwise the most probable one
            is taken.
        temperature: Scores are divided by it before they become probabilities; 0 takes the most
            probable token.
        top_k: Number of tokens that are drawn from; 0 for all.
        top_p: The fewest tokens whose probabilities have this sum are drawn from, in (0, 1].
        min_p: Only tokens with at least this share of the greatest probability are drawn from.
        repetition_penalty: Positive scores of tokens that are there already are divided by it,
            negative ones multiplied; 1 for none.
        no_repeat_ngram_size: No sequence of so many tokens comes twice; 0 for no limit.
        num_beams: Number of sequences that are kept at each step; 1 for no beam search.
        length_penalty: Sums of log probabilities of beams are divided by their number of tokens to
            this power.
        early_stopping: Whether a beam search ends when there are ``num_beams`` complete texts,
            ``"never"`` for when no better one is possible, False for when none is likely.
        eos_token_id: Token, or list of tokens, that end a text.
        pad_token_id: Kept for other programs; rows are not padded.
        bos_token_id: Token that an empty prompt stands for.
        stop_strings: Text, or list of texts, that end a text; needs a tokenizer.
        num_return_sequences: Number of texts for each prompt.
        seed: Number that decides what is drawn; None draws one by `mx.random`.
        suppress_tokens: Tokens that are never chosen.
        begin_suppress_tokens: Tokens that are not chosen first.
        decoder_start_token_id: Token that a decoder with an encoder begins with; None for
            ``bos_token_id``.
        decoder_input_ids: Tokens behind it that all texts of such a decoder begin with, which are
            no part of the result.
        language: Language of speech, such as ``"en"``; see `SpeechSeq2SeqLM`.
        task: What is written of speech: ``"transcribe"`` or ``"translate"``.
        forced_bos_token_id: Token that is chosen behind a prompt of one token, or first by such a
            decoder.
        forced_eos_token_id: Token, or list of tokens, that is chosen where the longest text ends.
        cache_dtype: Element type of the cache of keys and values: ``"bfloat16"``, ``"float16"``,
            ``"float32"``, or ``"int8"`` with a scale for each row; None for that of the parameters.
    """

    max_new_tokens: int | None = None
    max_length: int | None = None
    min_new_tokens: int | None = None
    min_length: int = 0
    do_sample: bool = False
    temperature: float = 1.0
    top_k: int = 50
    top_p: float = 1.0
    min_p: float | None = None
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    num_beams: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | str = False
    eos_token_id: int | list[int] | None = None
    pad_token_id: int | list[int] | None = None
    bos_token_id: int | None = None
    stop_strings: str | list[str] | None = None
    num_return_sequences: int = 1
    seed: int | None = None
    suppress_tokens: list[int] | None = None
    begin_suppress_tokens: list[int] | None = None
    decoder_start_token_id: int | None = None
    decoder_input_ids: list[int] | None = None
    language: str | None = None
    task: str | None = None
    forced_bos_token_id: int | None = None
    forced_eos_token_id: int | list[int] | None = None
    cache_dtype: str | None = None

    @property
    def stop_tokens(self) -> frozenset[int]:
        """Tokens that end a text."""
        return tokens_of(self.eos_token_id)

    @property
    def samples(self) -> bool:
        """Whether tokens are drawn."""
        return self.do_sample and self.temperature > 0

    def room(self, prompt: int) -> int:
        """Return the most tokens that follow a prompt of some tokens."""
        if self.max_new_tokens is not None:
            return self.max_new_tokens
        return 20 if self.max_length is None else max(self.max_length - prompt, 0)


def tokens_of(ids: int | Sequence[int] | None) -> frozenset[int]:
    """Return the tokens of an option of one token, several, or none."""
    return frozenset([] if ids is None else [ids] if isinstance(ids, int) else ids)


NAMES = tuple(field.name for field in fields(GenerationOptions))


def options_of(stored: Mapping[str, Any], given: Mapping[str, Any]) -> GenerationOptions:
    """Return the options of a call.

    Args:
        stored: Those of the network's generation_config.json.
        given: Those of the caller, which come first; None of one leaves that of the network.

    Raises:
        ArgumentError: An option is not known, is out of range, or contradicts another one.
        ArgumentTypeError: An option is of another type.
        NotSupportedError: The network's options ask for what there is not here.
    """
    unknown = [name for name in given if name not in NAMES]
    if unknown:
        raise ArgumentError(
            f"generate: expected options among {', '.join(NAMES)}, got {unknown[0]!r}"
            f"{nearest(unknown[0], NAMES)}"
        )
    for name, allowed in _FIXED.items():
        if name in stored and stored[name] not in allowed:
            raise NotSupportedError(
                f"generate: expected {name!r} of generation_config.json to be {allowed[0]!r}, got "
                f"{stored[name]!r:.60}, which is not supported"
            )
    values = {name: value for name, value in stored.items() if name in NAMES and value is not None}
    asked = {name: value for name, value in given.items() if value is not None}
    if "max_length" in asked and "max_new_tokens" not in asked:
        values.pop("max_new_tokens", None)
    values |= asked
    _check(values)
    if values.get("num_beams", 1) > 1 and values.get("do_sample"):
        if "do_sample" in asked or "num_beams" not in asked:
            raise ArgumentError(
                "generate: expected num_beams of 1 with do_sample, got "
                f"{values['num_beams']}; beams are searched without drawing"
            )
        values["do_sample"] = False
    sequences = values.get("num_return_sequences", 1)
    beams = values.get("num_beams", 1)
    if not values.get("do_sample") and sequences > beams:
        raise ArgumentError(
            f"generate: expected num_return_sequences of at most num_beams {beams}, without "
            f"do_sample, got {sequences}"
        )
    return GenerationOptions(**values)


def check_tokens(options: GenerationOptions, vocab_size: int) -> None:
    """Refuse options that hide or force tokens which a network does not have.

    Args:
        options: The options.
        vocab_size: Number of words of the network.

    Raises:
        ArgumentError: A token is out of the vocabulary.
    """
    for name in (
        *("suppress_tokens", "begin_suppress_tokens", "decoder_start_token_id"),
        *("forced_bos_token_id", "forced_eos_token_id"),
    ):
        for token in tokens_of(getattr(options, name)):
            if not 0 <= token < vocab_size:
                raise ArgumentError(
                    f"generate: expected {name} from 0 to {vocab_size - 1}, got {token}"
                )


def unknown_stored(stored: Mapping[str, Any]) -> list[str]:
    """Return the names in a generation_config.json that are not known."""
    return [name for name in stored if name not in {*NAMES, *_IGNORED, *_OF_SPEECH, *_FIXED}]


def _check(values: Mapping[str, Any]) -> None:
    for name, (kind, least, most) in _NUMBERS.items():
        if name in values:
            _check_number(name, values[name], kind, least, most)
    top_p = values.get("top_p", 1.0)
    _check_number("top_p", top_p, float, 0.0, 1.0)
    if not top_p > 0:
        raise ArgumentError(f"generate: expected top_p above 0 and up to 1, got {top_p}")
    _check_tokens(values)
    for name in ("language", "task"):
        if not isinstance(values.get(name, ""), str):
            raise ArgumentTypeError(f"generate: expected {name} as text, got {values[name]!r:.60}")
    if not isinstance(values.get("do_sample", False), bool):
        raise ArgumentTypeError(
            f"generate: expected do_sample as bool, got {values['do_sample']!r:.60}"
        )
    if values.get("cache_dtype", "int8") not in CACHE_DTYPES:
        raise ArgumentError(
            f"generate: expected cache_dtype among {', '.join(CACHE_DTYPES)}, got "
            f"{values['cache_dtype']!r:.60}"
        )
    if values.get("early_stopping", False) not in (True, False, "never"):
        raise ArgumentError(
            "generate: expected early_stopping of True, False or 'never', got "
            f"{values['early_stopping']!r:.60}"
        )
    strings = values.get("stop_strings", [])
    if not isinstance(strings, str | list | tuple):
        raise ArgumentTypeError(
            f"generate: expected stop_strings as text or a list of texts, got {strings!r:.60}"
        )
    for one in [strings] if isinstance(strings, str) else strings:
        if not isinstance(one, str) or not one:
            raise ArgumentTypeError(
                f"generate: expected stop_strings of texts that are not empty, got {one!r:.60}"
            )


def _check_tokens(values: Mapping[str, Any]) -> None:
    for name in ("bos_token_id", "decoder_start_token_id", "forced_bos_token_id"):
        if name in values:
            _check_number(name, values[name], int, 0, 1 << 31)
    for name in _LISTS:
        ids = values.get(name, [])
        for one in ids if isinstance(ids, list | tuple) else [ids]:
            _check_number(name, one, int, -1, 1 << 31)


def _check_number(name: str, value: object, kind: type, least: float, most: float) -> None:
    accepted = (int, float) if kind is float else (int,)
    if isinstance(value, bool) or not isinstance(value, accepted):
        raise ArgumentTypeError(
            f"generate: expected {name} of type {kind.__name__}, got {value!r:.60}"
        )
    if not (isfinite(value) and least <= value <= most):
        raise ArgumentError(f"generate: expected {name} from {least} to {most}, got {value!r:.60}")
