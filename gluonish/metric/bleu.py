"""BLEU of a corpus of translations."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_float, as_int
from gluonish.metric.base import register
from gluonish.metric.counts import CountingMetric, Vector
from gluonish.ndarray import NDArray

_SMOOTHING = {None: 0.0, "floor": 0.1, "add-k": 1.0, "exp": 0.0}  # with the default values
Tokens = tuple[Hashable, ...]


@register
class BLEU(CountingMetric):
    """BLEU of a corpus: the geometric mean of clipped n-gram precisions, times a brevity penalty.

    N-grams and lengths of all batches count together, which differs from a mean over sentences. The
    value is in [0, 1]. An n-gram counts at most as often as in the reference that has it most; the
    length of a reference is that nearest to the hypothesis's, of two the shorter.

    Args:
        max_n: Length of the longest n-grams, 1 or more.
        smoothing: What replaces precisions of 0, by sacrebleu's names: None for nothing, so that
            one of them makes BLEU 0; ``"floor"`` for matches of ``smoothing_value``; ``"add-k"``
            adds it to the matches and counts of n-grams longer than 1; ``"exp"`` for
            ``1 / (2^i count)`` in the i-th such case. Without a match of single tokens or longer
            n-grams, BLEU is 0.
        smoothing_value: Value of ``"floor"``, by default 0.1, and of ``"add-k"``, by default 1.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: An argument is out of range.

    References:
        K. Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, 2002.
        B. Chen and C. Cherry, A Systematic Comparison of Smoothing Techniques for Sentence-Level
        BLEU, 2014.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.metric.BLEU()
        >>> metric.update([["the cat is on the mat"]], ["the cat is on a mat"])
        >>> round(metric.get()[1], 4)
        0.5373
    """

    def __init__(
        self,
        max_n: int = 4,
        smoothing: str | None = None,
        smoothing_value: float | None = None,
        name: str = "bleu",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.max_n = as_int("BLEU", "max_n", max_n, 1)
        if smoothing not in _SMOOTHING:
            raise ArgumentError(
                f"BLEU: expected smoothing 'floor', 'add-k', 'exp' or None, got {smoothing!r}"
            )
        self.smoothing = smoothing
        self.smoothing_value = _SMOOTHING[smoothing]
        if smoothing_value is not None:
            self.smoothing_value = as_float("BLEU", "smoothing_value", smoothing_value)
            if not self.smoothing_value >= 0:
                raise ArgumentError(
                    f"BLEU: expected smoothing_value of at least 0, got {smoothing_value}"
                )
        # After the count: both lengths, matches and counts of n-grams.
        self._total_count = 4 + 2 * self.max_n
        super().__init__(
            name,
            output_names,
            label_names,
            max_n=max_n,
            smoothing=smoothing,
            smoothing_value=smoothing_value,
            has_global_stats=True,
        )

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch of sentences to the metric.

        Args:
            labels: For each hypothesis, a list of references, or one string. A reference is a
                string, which is split at spaces, or a sequence of tokens, such as words or ids.
            preds: The hypotheses, in the form of references.

        Raises:
            ArgumentError: There are not as many hypotheses as labels, or one has no reference.
            ArgumentTypeError: A sentence is neither a string nor a sequence of tokens.
        """
        for name, given in (("labels", labels), ("predictions", preds)):
            if isinstance(given, str):
                raise ArgumentTypeError(
                    f"BLEU: expected {name} as a list of sentences, got the string {given!r}"
                )
        if len(labels) != len(preds):
            raise ArgumentError(
                f"BLEU: expected as many predictions as labels ({len(labels)}), got {len(preds)}"
            )
        totals = np.zeros(self._total_count)
        for references, hypothesis in zip(labels, preds, strict=True):
            references = [references] if isinstance(references, str) else references
            if not len(references):
                raise ArgumentError("BLEU: expected one or more references, got none")
            totals += self._of_sentence(_tokens(hypothesis), [_tokens(x) for x in references])
        self._absorb(totals, local=True)

    def _of_sentence(self, hypothesis: Tokens, references: Sequence[Tokens]) -> Vector:
        length = len(hypothesis)
        nearest = min((abs(len(x) - length), len(x)) for x in references)[1]
        matches, counts = [], []
        for n in range(1, self.max_n + 1):
            found, allowed = _ngrams(hypothesis, n), Counter[Tokens]()
            for reference in references:
                allowed |= _ngrams(reference, n)
            matches.append((found & allowed).total())
            counts.append(max(0, length - n + 1))
        return np.array([0, 1, length, nearest, *matches, *counts], np.float64)

    def _value(self, sums: Vector) -> float:
        if not sums[1]:
            return math.nan
        length, expected = sums[2:4].tolist()
        matches, counts = sums[4:].reshape(2, -1)
        if not matches.any():
            return 0.0
        precisions = self._precisions(matches.tolist(), counts.tolist())
        if not all(precisions):
            return 0.0
        penalty = min(0.0, 1 - expected / length)
        return math.exp(penalty + sum(map(math.log, precisions)) / self.max_n)

    def _precisions(self, matches: Sequence[float], counts: Sequence[float]) -> list[float]:
        found, zeros = [], 0
        for i, (match, count) in enumerate(zip(matches, counts, strict=True)):
            if self.smoothing == "add-k" and i:
                match, count = match + self.smoothing_value, count + self.smoothing_value
            if not match and self.smoothing == "exp":
                zeros += 1
                match = 0.5**zeros
            elif not match and self.smoothing == "floor":
                match = self.smoothing_value
            found.append(match / count if count else 0.0)
        return found


def _tokens(sentence: Any) -> Tokens:
    """Return the tokens of a sentence.

    Raises:
        ArgumentTypeError: It is neither a string nor a sequence of tokens.
    """
    if isinstance(sentence, str):
        return tuple(sentence.split())
    if isinstance(sentence, NDArray):
        sentence = sentence.asnumpy()
    if isinstance(sentence, np.ndarray) and sentence.ndim == 1:
        sentence = sentence.tolist()
    if isinstance(sentence, list | tuple) and all(isinstance(x, Hashable) for x in sentence):
        return tuple(sentence)
    raise ArgumentTypeError(
        f"BLEU: expected a sentence as a string or a sequence of tokens, got {sentence!r}; labels "
        "have a list of references for each sentence"
    )


def _ngrams(tokens: Tokens, n: int) -> Counter[Tokens]:
    return Counter(tokens[i : i + n] for i in range(len(tokens) - n + 1))
