"""Processors of scores: what generation changes before it chooses a token.

Each takes the scores of one row, (vocab_size,) in float32, and the row's tokens so far, and returns
new scores; -inf hides a token.
"""

from collections.abc import Callable, Sequence

import numpy as np

from gluonish.model_zoo.generation.options import GenerationOptions, tokens_of

Scores = np.ndarray
Processor = Callable[[Scores, Sequence[int]], Scores]
_HIDDEN = np.float32(-np.inf)


def penalize_repetition(penalty: float) -> Processor:
    """Return a processor that makes tokens of the row less probable.

    References:
        N. Keskar et al., CTRL: A Conditional Transformer Language Model for Controllable
        Generation, 2019.
    """

    def process(scores: Scores, tokens: Sequence[int]) -> Scores:
        seen = np.unique(np.asarray(tokens, np.int64))
        values = scores[seen]
        scores[seen] = np.where(values < 0, values * penalty, values / penalty)
        return scores

    return process


def forbid_repeated_ngrams(size: int) -> Processor:
    """Return a processor that hides tokens which would repeat a sequence of ``size`` tokens."""

    def process(scores: Scores, tokens: Sequence[int]) -> Scores:
        count = len(tokens) - size + 1
        if count > 0:
            row = np.asarray(tokens, np.int64)
            windows = np.lib.stride_tricks.sliding_window_view(row, size)
            same = (windows[:, :-1] == row[len(row) - size + 1 :]).all(axis=1)
            scores[windows[same, -1]] = _HIDDEN
        return scores

    return process


def hide(ids: Sequence[int]) -> Processor:
    """Return a processor that hides tokens."""
    places = np.asarray(list(ids), np.int64)

    def process(scores: Scores, tokens: Sequence[int]) -> Scores:
        scores[places] = _HIDDEN
        return scores

    return process


def allow(ids: Sequence[int]) -> Processor:
    """Return a processor that hides all tokens but some, which become equal."""
    places = np.asarray(list(ids), np.int64)

    def process(scores: Scores, tokens: Sequence[int]) -> Scores:
        scores[:] = _HIDDEN
        scores[places] = 0
        return scores

    return process


def divide(temperature: float) -> Processor:
    """Return a processor that divides scores by a temperature."""
    return lambda scores, tokens: scores / np.float32(temperature)


def keep_top_k(count: int) -> Processor:
    """Return a processor that hides all but the ``count`` most probable tokens."""

    def process(scores: Scores, tokens: Sequence[int]) -> Scores:
        if count < len(scores):
            least = np.partition(scores, -count)[-count]
            scores[scores < least] = _HIDDEN
        return scores

    return process


def keep_top_p(share: float) -> Processor:
    """Return a processor that keeps the fewest tokens whose probabilities have a sum.

    References:
        A. Holtzman et al., The Curious Case of Neural Text Degeneration, 2020.
    """

    def process(scores: Scores, tokens: Sequence[int]) -> Scores:
        order = np.argsort(scores, kind="stable")  # the least probable first
        sums = np.cumsum(probabilities(scores)[order])
        lost = sums <= 1.0 - share
        lost[-1] = False
        scores[order[lost]] = _HIDDEN
        return scores

    return process


def keep_min_p(share: float) -> Processor:
    """Return a processor that hides tokens below a share of the greatest probability.

    References:
        M. Nguyen et al., Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM
        Outputs, 2024.
    """

    def process(scores: Scores, tokens: Sequence[int]) -> Scores:
        found = probabilities(scores)
        scores[found < share * found.max()] = _HIDDEN
        return scores

    return process


def probabilities(scores: Scores) -> np.ndarray:
    """Return the softmax of scores, in float64."""
    wide = np.exp(scores.astype(np.float64) - scores.max())
    return np.asarray(wide / wide.sum())


def log_probabilities(scores: Scores) -> np.ndarray:
    """Return the logarithm of the softmax of scores (..., vocab_size), in float64."""
    wide = scores.astype(np.float64)
    wide -= wide.max(axis=-1, keepdims=True)
    return np.asarray(wide - np.log(np.exp(wide).sum(axis=-1, keepdims=True)))


def processors_of(
    options: GenerationOptions, prompt: int, room: int, further: Sequence[Processor]
) -> list[Processor]:
    """Return the processors that options ask for, in their order.

    Args:
        options: The options.
        prompt: Number of tokens of the prompt.
        room: Most tokens that follow.
        further: Processors of the user, after those of repetitions and before those of drawing.
    """
    found: list[Processor] = []
    if options.repetition_penalty != 1.0:
        found.append(penalize_repetition(options.repetition_penalty))
    if options.no_repeat_ngram_size:
        found.append(forbid_repeated_ngrams(options.no_repeat_ngram_size))
    found += _of_places(options, prompt, room)
    found += further
    found += _of_draws(options) if options.samples else []
    return found


def _of_places(options: GenerationOptions, prompt: int, room: int) -> list[Processor]:
    """Return the processors of tokens that some places have, or do not have."""
    found: list[Processor] = []
    if options.min_new_tokens and options.stop_tokens:
        found.append(_until(prompt + options.min_new_tokens, hide(sorted(options.stop_tokens))))
    if options.min_length > prompt and options.stop_tokens:
        found.append(_until(options.min_length, hide(sorted(options.stop_tokens))))
    first = options.forced_bos_token_id
    if first is not None and prompt == 1:
        found.append(_at(1, allow([first])))
    if options.forced_eos_token_id is not None:
        found.append(_at(prompt + room - 1, allow(sorted(tokens_of(options.forced_eos_token_id)))))
    if options.suppress_tokens:
        found.append(hide(options.suppress_tokens))
    if options.begin_suppress_tokens:
        begin = prompt + 1 if first is not None and prompt == 1 else prompt
        found.append(_at(begin, hide(options.begin_suppress_tokens)))
    return found


def _of_draws(options: GenerationOptions) -> list[Processor]:
    """Return the processors of tokens that are drawn."""
    found: list[Processor] = []
    if options.temperature != 1.0:
        found.append(divide(options.temperature))
    if options.top_k:
        found.append(keep_top_k(options.top_k))
    if options.top_p < 1.0:
        found.append(keep_top_p(options.top_p))
    if options.min_p:
        found.append(keep_min_p(options.min_p))
    return found


def _until(length: int, processor: Processor) -> Processor:
    """Return a processor that works on rows below a length."""
    return lambda scores, tokens: processor(scores, tokens) if len(tokens) < length else scores


def _at(length: int, processor: Processor) -> Processor:
    """Return a processor that works on rows of one length."""
    return lambda scores, tokens: processor(scores, tokens) if len(tokens) == length else scores
