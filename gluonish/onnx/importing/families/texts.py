"""TfIdfVectorizer for integers."""

from itertools import product
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.onnx.importing.arrays import array_of, host
from gluonish.onnx.importing.nodes import Call, Rule


def _pool(call: Call) -> dict[tuple[int, ...], int]:
    """Return the output index of each known n-gram."""
    given, starts = call.attr("pool_int64s"), call.attr("ngram_counts")
    indices = call.attr("ngram_indexes")
    if given is None:
        call.refuse("expected n-grams of numbers, got strings")
    found: dict[tuple[int, ...], int] = {}
    ends = [*starts[1:], len(given)]
    number = 0
    for size, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        for first in range(start, end, size):
            found[tuple(given[first : first + size])] = indices[number]
            number += 1
    return found


def _tf_idf(call: Call, x: Any) -> Any:
    """Count n-grams of each row, with gaps of up to ``max_skip_count`` between their elements."""
    pool = _pool(call)
    low, high, skips = (
        call.attr(name) for name in ("min_gram_length", "max_gram_length", "max_skip_count")
    )
    numbers = host(x)
    rows = numbers.reshape(1, -1) if numbers.ndim < 2 else numbers
    counts = np.zeros((len(rows), max(call.attr("ngram_indexes")) + 1), np.float32)
    for row, out in zip(rows, counts, strict=True):
        # 1-grams have no gaps.
        for size, step in product(range(low, high + 1), range(1, skips + 2)):
            if size == 1 and step > 1:
                continue
            for first in range(len(row) - (size - 1) * step):
                gram = tuple(row[first : first + (size - 1) * step + 1 : step].tolist())
                if gram in pool:
                    out[pool[gram]] += 1
    weights = call.attr("weights")
    mode = call.attr("mode")
    if mode in ("IDF", "TFIDF"):
        factor = np.ones(counts.shape[1], np.float32)
        for index, weight in zip(call.attr("ngram_indexes"), weights or [], strict=False):
            factor[index] = weight
        counts = ((counts > 0) if mode == "IDF" else counts) * factor
    found = counts.astype(FLOAT32)
    return array_of(found[0] if numbers.ndim < 2 else found)


RULES: dict[str, Rule] = {"TfIdfVectorizer": _tf_idf}
