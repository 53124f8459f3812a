"""Speculative decoding: several tokens are guessed, and checked by one step of the network.

References:
    Y. Leviathan, M. Kalman, Y. Matias, Fast Inference from Transformers via Speculative Decoding,
    2023.
"""

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.model_zoo.generation.cache import Cache
from gluonish.model_zoo.generation.network_graph import NetworkGraph
from gluonish.model_zoo.generation.runner import Next
from gluonish.model_zoo.generation.search import Chooser, NewToken

Guess = Callable[[Sequence[int], int], list[int]]  # of tokens that follow, at most so many
GUESSES = 7  # with the last token, rows that the kernels of few rows compute at once
_LONGEST_KEY = 3


class _Check(NetworkGraph):
    """Scores behind each token of a piece, as one graph; see `runner._Step`."""

    def hybrid_forward(self, F: ModuleType, tokens: Any, positions: Any, cache: Any) -> Any:
        """Compute scores (T, vocab_size) of tokens (1, T).

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (1, T).
            positions: (1, T).
            cache: See `Cache.arrays`.
        """
        features = self.net.features(F, tokens, cache, positions)
        scores = self.net.scores(F, F.reshape(features, shape=(-3, 0)))
        scores = F.cast(scores, dtype="float32")
        return scores, F.argmax(scores, axis=-1)


def guess_by_lookup(tokens: Sequence[int], count: int) -> list[int]:
    """Return what followed the last tokens where they were before, the latest and longest match.

    Args:
        tokens: The text so far.
        count: Most tokens to return.
    """
    row = np.asarray(tokens, np.int64)
    for size in range(min(_LONGEST_KEY, len(row) - 1), 0, -1):
        windows = np.lib.stride_tricks.sliding_window_view(row[:-1], size)
        (places,) = np.nonzero((windows == row[-size:]).all(axis=1))
        if len(places):
            begin = int(places[-1]) + size
            return [int(token) for token in row[begin : begin + count]]
    return []


class _SmallerNetwork:
    """Guesses what a smaller network of the same vocabulary would say."""

    def __init__(self, net: Any) -> None:
        self._net = net
        self._cache: Cache | None = None

    def __call__(self, tokens: Sequence[int], count: int) -> list[int]:
        room = min(count, self._net.max_length - len(tokens))
        if room < 1:
            return []
        if self._cache is None:
            self._cache = self._net.new_cache()
        found: list[int] = self._net.generate(
            list(tokens), room, cache=self._cache, do_sample=False, num_beams=1, stop_strings=None
        )
        return found


def guesser(net: Any, assistant: Any, lookup: bool) -> Guess:
    """Return what guesses tokens.

    Raises:
        ArgumentError: The smaller network has another vocabulary, or both ways are asked for.
    """
    if assistant is not None and lookup:
        raise ArgumentError(
            "generate: expected assistant_model or prompt_lookup, got both; choose one"
        )
    if assistant is None:
        return guess_by_lookup
    if assistant.vocab_size != net.vocab_size:
        raise ArgumentError(
            f"generate: expected an assistant_model with the network's {net.vocab_size} words, got "
            f"{assistant.vocab_size}"
        )
    return _SmallerNetwork(assistant)


class Checker:
    """Computes the scores behind all tokens of guesses.

    Args:
        net: The language model.
    """

    def __init__(self, net: Any) -> None:
        self._net = net
        self._check = _Check(net, "check_")

    def scores(self, cache: Cache, tokens: Sequence[int]) -> Next:
        """Return scores behind each of some tokens, which are added to the cache.

        Args:
            cache: Of one row, with room for ``GUESSES + 1`` more tokens.
            tokens: The last token of the text, and guesses.
        """
        begin = len(cache.tokens[0])
        length = GUESSES + 1 if len(tokens) > 1 else 1
        row = np.zeros((1, length), np.int32)
        row[0, : len(tokens)] = tokens
        places = begin + np.arange(length, dtype=np.int32)[None]
        np.minimum(places, self._net.max_length - 1, out=places)
        arrays = cache.arrays([begin], length)
        ctx = arrays[0].position.context
        given = [nd.array(x, ctx=ctx, dtype="int32") for x in (row, places)]
        cache.tokens[0] += tokens
        return Next(*self._check(*given, arrays))


def speculate(
    checker: Checker, cache: Cache, made: Next, chooser: Chooser, guess: Guess, most: int
) -> Iterator[NewToken]:
    """Yield the tokens behind one prompt: those that the network chooses step by step.

    Args:
        checker: The network.
        cache: What it has computed of the prompt.
        made: The scores behind the prompt.
        chooser: Chooses tokens, without drawing.
        guess: Guesses tokens.
        most: Most tokens of prompt and text together.
    """
    tokens = list(cache.tokens[0])
    behind: list[int] = []  # guesses behind the newest token
    while True:
        best = made.best.asnumpy()
        scores = None if chooser.takes_best else made.scores.asnumpy()
        for i in range(len(behind) + 1):
            token = int(best[i]) if scores is None else chooser.choose(scores[i].copy(), tokens)
            tokens.append(token)
            is_last = chooser.ends(tokens)
            yield NewToken(0, token, is_last)
            if is_last:
                cache.cut(len(tokens) - 1)
                return
            if i < len(behind) and behind[i] != token:
                break
        cache.cut(len(tokens) - 1)
        behind = guess(tokens, min(GUESSES, most - len(tokens) - 1))
        made = checker.scores(cache, [tokens[-1], *behind])
