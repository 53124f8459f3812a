"""SpeechSeq2SeqLM: scores of the next word of what speech says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.model_zoo.generation.from_source import Memory
from gluonish.model_zoo.generation.options import GenerationOptions
from gluonish.model_zoo.generation.runner import checked_prompts
from gluonish.model_zoo.speech.log_mel import FILE, LogMel
from gluonish.model_zoo.text.seq2seq import Seq2SeqLM
from gluonish.ndarray import NDArray

__all__ = ["SpeechSeq2SeqLM"]


class SpeechSeq2SeqLM(Seq2SeqLM):
    """Scores of the next word of what speech says, or of its translation; see `generate`.

    Prompts of `generate` and `stream` are mel features (mels, frames), or a batch of them. The
    first tokens say language and task, if ``generation_config`` has their tables: ``language`` is
    a code such as ``"en"``, and by default the most probable one; ``task`` is ``"transcribe"`` or
    ``"translate"``. ``max_length`` counts the tokens behind those.

    Args:
        body: Encoder and decoder, such as `Whisper`.
        tied: Whether the weight of the scores is that of the decoder's embedding.
        **kwargs: See `HybridBlock`.

    Inputs:
        source: mel features (N, mels, frames).
        target: tokens (N, T) that the decoder reads: those before the ones that are scored.

    Outputs:
        scores: (N, T, vocab_size).

    Raises:
        ArgumentError: The body is none, or features have another shape than the network's.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.speech import SpeechSeq2SeqLM, Whisper
        >>> body = Whisper(32, 4, 8, *(1, 2, 16), *(1, 2, 16), max_source_length=6, max_length=9)
        >>> net = SpeechSeq2SeqLM(body)
        >>> net.initialize()
        >>> len(net.generate(mx.nd.ones((4, 12)), 3, decoder_start_token_id=0))
        3
    """

    _log_mel: LogMel | None = None
    _further_options = Seq2SeqLM._further_options | {"language", "task"}

    def __call__(self, source: Any, *args: Any) -> Any:
        """Check the shape of the features, and compute the network."""
        self.body.check(source, type(self).__name__)
        return super().__call__(source, *args)

    @property
    def log_mel(self) -> LogMel | None:
        """What makes features of speech, such as `LogMel`.

        A network of `from_pretrained` reads that of its folder at the first use; None without one.
        """
        if self._log_mel is None and self._has_file(FILE):
            self.log_mel = LogMel.from_pretrained(str(self._folder))
        return self._log_mel

    @log_mel.setter
    def log_mel(self, log_mel: LogMel | None) -> None:
        if log_mel is not None:
            self.body.check(np.zeros((1, log_mel.num_mels, log_mel.num_frames)), "log_mel")
        object.__setattr__(self, "_log_mel", log_mel)

    def transcribe(self, speech: Any, max_new_tokens: int | None = None, **options: Any) -> Any:
        """Return the text of speech, or its translation, by `log_mel`, `generate`, `tokenizer`.

        Args:
            speech: Samples of one channel, (T,), floating, from -1 to 1, ``log_mel.rate`` a second,
                up to ``log_mel.num_samples``; or a list of such, as the pieces of longer speech.
            max_new_tokens: Most tokens of a text.
            **options: See `generate`; one text for each.

        Returns:
            A text, or a list of them.

        Raises:
            ArgumentError: The network has no ``log_mel`` or ``tokenizer``, or see `LogMel` and
                `generate`.
            ArgumentTypeError: The samples are not floating, or not of one axis.
        """
        for name in ("log_mel", "tokenizer"):
            if getattr(self, name) is None:
                raise ArgumentError(
                    f"transcribe: expected a network with {name}, got none; set net.{name}, or use "
                    "generate"
                )
        if options.get("num_return_sequences", 1) != 1:
            raise ArgumentError(
                "transcribe: expected num_return_sequences of 1, got "
                f"{options['num_return_sequences']}; use generate"
            )
        made = self.generate(self.log_mel(speech), max_new_tokens, **options)  # type: ignore[misc]
        if isinstance(speech, list | tuple):
            return [self.tokenizer.decode(tokens) for tokens in made]
        return self.tokenizer.decode(made)

    def _rows(self, prompts: Any, options: GenerationOptions) -> tuple[list[Any], bool, bool]:
        if isinstance(prompts, list | tuple):
            prompts = [x.asnumpy() if isinstance(x, NDArray) else x for x in prompts]
        made = prompts.asnumpy() if isinstance(prompts, NDArray) else prompts
        try:
            made = np.asarray(made, np.float32)
        except (TypeError, ValueError):
            made = np.zeros(0, np.float32)
        is_single = made.ndim == 2
        made = made[None] if is_single else made
        if not made.size or isinstance(prompts, str):
            raise ArgumentError(
                "generate: expected mel features (mels, frames), or a batch of them, got "
                f"{prompts!r:.60}"
            )
        self.body.check(made, "generate")
        return list(made), False, is_single

    def _padded(self, rows: list[Any]) -> tuple[np.ndarray[Any, Any], None]:
        dtype = normalize_dtype(self.body.encoder.conv1.weight.dtype)
        return np.stack(rows).astype(dtype), None

    def _room(self, row: list[int], options: GenerationOptions) -> int:
        return super()._room(row, replace(options, max_new_tokens=options.room(0)))

    def _begins(self, memory: Memory, options: GenerationOptions) -> list[list[int]]:
        """Return the tokens that say language and task.

        Raises:
            ArgumentError: The language or the task is not known, or the network has but one.
        """
        begins = super()._begins(memory, options)
        config, count = self.generation_config, len(memory.groups)
        languages, tasks = (_table(config, name) for name in ("lang_to_id", "task_to_id"))
        if options.decoder_input_ids is not None:
            return begins
        for name, given in (("language", options.language), ("task", options.task)):
            if given is not None and config.get("is_multilingual") is False:
                raise ArgumentError(
                    f"generate: expected no {name} for a network of one language, got {given!r:.60}"
                )
        forced: list[Any] = []
        if options.language is None and options.task is None:
            forced = _forced(config)
        if options.language is not None:
            spoken: list[Any] = [_known("language", options.language, languages)] * count
        elif languages and (not forced or forced[0] is None):
            spoken = self._languages(memory, begins, sorted(languages.values()))
        else:
            spoken = forced[:1] * count
        rest = forced[1:]
        if options.task is not None:
            rest.append(_known("task", options.task, tasks))
        elif options.language is not None and "transcribe" in tasks:
            rest.append(tasks["transcribe"])
        last = config.get("no_timestamps_token_id")
        if last is not None and rest[-1:] != [last]:
            rest.append(last)
        found = [
            [*begin, *one, *rest] for begin, one in zip(begins, _each(spoken, count), strict=True)
        ]
        rows = [[token for token in row if token is not None] for row in found]
        return checked_prompts(self, rows, "first tokens of text", self.max_length)

    def _languages(self, memory: Memory, begins: list[list[int]], ids: list[int]) -> list[int]:
        """Return the token of the most probable language of each row."""
        scores = self.runner.read(self.runner.cache_of(memory, 1), begins).scores.asnumpy()
        return [ids[place] for place in scores[:, ids].argmax(axis=1)]


def _table(config: Mapping[str, Any], name: str) -> dict[str, int]:
    """Return a table of tokens; an empty one if there is none.

    Raises:
        ArgumentError: It is none.
    """
    table = config.get(name) or {}
    if not isinstance(table, dict) or not all(type(one) is int for one in table.values()):
        raise ArgumentError(
            f"generate: expected {name} of generation_config as tokens by name, got {table!r:.60}"
        )
    return table


def _forced(config: Mapping[str, Any]) -> list[int | None]:
    """Return the tokens behind the first one that older configurations name.

    Raises:
        ArgumentError: They are not of the places 1, 2, ...
    """
    pairs = config.get("forced_decoder_ids") or []
    try:
        places = [int(place) for place, _ in pairs]
        tokens = [None if token is None else int(token) for _, token in pairs]
    except (TypeError, ValueError):
        places, tokens = [0], []
    if places != list(range(1, len(tokens) + 1)):
        raise ArgumentError(
            "generate: expected forced_decoder_ids of generation_config as pairs of the places 1, "
            f"2, ... and tokens, got {pairs!r:.60}"
        )
    return tokens


def _each(tokens: list[Any], count: int) -> list[list[Any]]:
    """Return the tokens of each row, of one for each or none."""
    return [[token] for token in tokens] or [[] for _ in range(count)]


def _known(option: str, given: str, table: Any) -> int:
    """Return the token of a language or a task.

    Raises:
        ArgumentError: It is not known.
    """
    token = table.get(given, table.get(f"<|{given}|>"))
    if token is None:
        known = ", ".join(sorted(name.strip("<|>") for name in table)) or "none"
        raise ArgumentError(
            f"generate: expected {option} among those of generation_config, {known:.300}, got "
            f"{given!r:.60}"
        )
    return int(token)
