"""BucketSentenceIter and encode_sentences: encoded sentences, in batches of similar length."""

import logging
import random
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.io import DataBatch, DataDesc, DataIter
from gluonish.ndarray import NDArray, array

__all__ = ["BucketSentenceIter", "encode_sentences"]

_LOG = logging.getLogger("gluonish")

Vocabulary = dict[Hashable, int]


def encode_sentences(
    sentences: Sequence[Sequence[Hashable]],
    vocab: Vocabulary | None = None,
    invalid_label: int = -1,
    invalid_key: Hashable = "\n",
    start_label: int = 0,
    unknown_token: Hashable | None = None,
) -> tuple[list[list[int]], Vocabulary]:
    """Replace the words of sentences by integer indices, building a vocabulary if there is none.

    Args:
        sentences: List of sentences, each a list of words.
        vocab: Dict from word to index; None builds one, in order of appearance. With
            ``unknown_token`` that token is added if it is missing.
        invalid_label: Index of ``invalid_key``, which no other word gets.
        invalid_key: The word that short sentences are padded with.
        start_label: The first index to assign.
        unknown_token: Token for words that are not in ``vocab``; all of them get its index, where
            MXNet gives each word a new one.

    Returns:
        The encoded sentences, and the vocabulary.

    Raises:
        ArgumentError: A word is not in ``vocab``, and there is no ``unknown_token``.
    """
    grows = vocab is None
    if vocab is None:
        vocab = {invalid_key: invalid_label}
    number = start_label
    encoded = []
    for sentence in sentences:
        codes = []
        for word in sentence:
            if word not in vocab:
                if not grows and not unknown_token:
                    raise ArgumentError(f"encode_sentences: Unknown token {word}")
                word = unknown_token or word
            if word not in vocab:
                number += number == invalid_label
                vocab[word] = number
                number += 1
            codes.append(vocab[word])
        encoded.append(codes)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Iterator over batches of sentences of similar length, for training language models.

    Each sentence is padded to the length of its bucket. The label of a word is the next word.
    `reset` shuffles with `random` and `numpy.random`.

    Args:
        sentences: Encoded sentences: lists of ints; see `encode_sentences`.
        batch_size: Number of sentences in a batch; an incomplete batch at the end of a bucket is
            dropped.
        buckets: Lengths of the buckets; None for all lengths with enough sentences. Longer
            sentences are dropped.
        invalid_label: Value to pad with.
        data_name: Name of the data.
        label_name: Name of the labels.
        dtype: Element type of data and labels.
        layout: ``"NT"`` (batch first) or ``"TN"`` (time first).

    Raises:
        ArgumentError: ``layout`` is neither of these, or there is no bucket.
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[int]],
        batch_size: int,
        buckets: Sequence[int] | None = None,
        invalid_label: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
        layout: str = "NT",
    ) -> None:
        super().__init__(batch_size)
        if layout not in ("NT", "TN"):
            raise ArgumentError(
                f"BucketSentenceIter: Invalid layout {layout}: Must by NT (batch major) or TN "
                "(time major)"
            )
        if not buckets:
            lengths = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(lengths) if count >= batch_size]
        if not buckets:
            raise ArgumentError(
                f"BucketSentenceIter: expected {batch_size} sentences of equal length, got "
                "fewer of each length"
            )
        self.buckets = sorted(buckets)
        self.data = self._filled(sentences, invalid_label, dtype)
        self.data_name = data_name
        self.label_name = label_name
        self.dtype = dtype
        self.invalid_label = invalid_label
        self.layout = layout
        self.major_axis = layout.find("N")
        self.nddata: list[NDArray] = []
        self.ndlabel: list[NDArray] = []
        self.default_bucket_key = self.buckets[-1]
        shape = self._in_layout((batch_size, self.default_bucket_key))
        self.provide_data = [DataDesc(data_name, shape, layout=layout)]
        self.provide_label = [DataDesc(label_name, shape, layout=layout)]
        self.idx = [
            (number, begin)
            for number, rows in enumerate(self.data)
            for begin in range(0, len(rows) - batch_size + 1, batch_size)
        ]
        self.curr_idx = 0
        self.reset()

    def _filled(
        self, sentences: Sequence[Sequence[int]], invalid_label: int, dtype: Any
    ) -> list[Any]:
        """Return one array per bucket, of the padded sentences in that bucket."""
        rows: list[list[Any]] = [[] for _ in self.buckets]
        discarded = 0
        for sentence in sentences:
            number = bisect_left(self.buckets, len(sentence))
            if number == len(self.buckets):
                discarded += 1
                continue
            row = np.full(self.buckets[number], invalid_label, dtype=dtype)
            row[: len(sentence)] = sentence
            rows[number].append(row)
        if discarded:
            _LOG.warning(
                "BucketSentenceIter: discarded %d sentences longer than the largest bucket.",
                discarded,
            )
        return [
            np.asarray(found, dtype=dtype).reshape(len(found), length)
            for found, length in zip(rows, self.buckets, strict=True)
        ]

    def _in_layout(self, shape: tuple[int, int]) -> tuple[int, int]:
        return shape if self.layout == "NT" else (shape[1], shape[0])

    def reset(self) -> None:
        """Start a new pass, in another random order."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        self.nddata = []
        self.ndlabel = []
        for rows in self.data:
            np.random.shuffle(rows)  # noqa: NPY002  # `numpy.random.seed` decides, as in MXNet
            labels = np.full_like(rows, self.invalid_label)
            labels[:, :-1] = rows[:, 1:]
            self.nddata.append(array(rows, dtype=self.dtype))
            self.ndlabel.append(array(labels, dtype=self.dtype))

    def next(self) -> DataBatch:
        """Return the next batch; its ``bucket_key`` is the length.

        Raises:
            StopIteration: The pass is over.
        """
        if self.curr_idx == len(self.idx):
            raise StopIteration
        number, begin = self.idx[self.curr_idx]
        self.curr_idx += 1
        rows = slice(begin, begin + self.batch_size)
        data, label = self.nddata[number][rows], self.ndlabel[number][rows]
        if self.major_axis == 1:
            data, label = data.T, label.T
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=self.buckets[number],
            provide_data=[DataDesc(self.data_name, data.shape, layout=self.layout)],
            provide_label=[DataDesc(self.label_name, label.shape, layout=self.layout)],
        )
