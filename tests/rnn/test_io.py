"""Sentences as numbers, and batches of them. Expectations are MXNet 1.9.1's."""

import logging
import random

import numpy as np
import pytest

import gluonish as mx

SENTENCES = [[1, 2, 3], [4, 5], [6], [1, 2, 3, 4], [7, 8], [9, 1], [2] * 9, [3, 3, 3]]


def test_words_are_numbered_in_order_and_none_gets_the_invalid_number() -> None:
    words = [["a", "b"], ["b", "c"]]
    encode = mx.rnn.encode_sentences
    assert encode(words) == ([[0, 1], [1, 2]], {"\n": -1, "a": 0, "b": 1, "c": 2})
    assert encode(words, invalid_label=0) == ([[1, 2], [2, 3]], {"\n": 0, "a": 1, "b": 2, "c": 3})
    assert encode(words, start_label=3, invalid_label=0)[0] == [[3, 4], [4, 5]]


def test_words_outside_of_a_vocabulary_are_refused_or_stand_for_the_unknown() -> None:
    with pytest.raises(AssertionError, match="Unknown token q"):
        mx.rnn.encode_sentences([["a", "q"]], vocab={"a": 3})
    found = mx.rnn.encode_sentences([["a", "b"], ["q"]], {"a": 1, "b": 2}, unknown_token="UNK")
    assert found == ([[1, 2], [0]], {"a": 1, "b": 2, "UNK": 0})


def test_all_unknown_words_have_one_number() -> None:
    """MXNet gives each occurrence another one, which is no word's."""
    found = mx.rnn.encode_sentences([["q", "a", "r"]], {"a": 1, "U": 5}, unknown_token="U")
    assert found == ([[5, 1, 5]], {"a": 1, "U": 5})


def test_batches_come_in_the_order_of_the_same_seeds(caplog: pytest.LogCaptureFixture) -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # the iterator shuffles by it
    with caplog.at_level(logging.WARNING, logger="gluonish"):
        batches = mx.rnn.BucketSentenceIter(SENTENCES, 2, buckets=[2, 4], invalid_label=0)
    assert "discarded 1 sentences" in caplog.text
    assert batches.default_bucket_key == 4
    assert batches.provide_data[0].shape == batches.provide_label[0].shape == (2, 4)
    found = [(b.bucket_key, b.data[0].asnumpy().tolist(), b.label[0].asnumpy()) for b in batches]
    assert [(key, data) for key, data, _ in found] == [
        (2, [[4, 5], [6, 0]]),
        (4, [[1, 2, 3, 0], [3, 3, 3, 0]]),
        (2, [[9, 1], [7, 8]]),
    ]
    np.testing.assert_array_equal(found[1][2], [[2, 3, 0, 0], [3, 3, 0, 0]])
    batches.reset()
    assert len(list(batches)) == 3


def test_time_can_come_first() -> None:
    batches = mx.rnn.BucketSentenceIter(
        SENTENCES, 2, layout="TN", dtype="int32", data_name="d", label_name="l"
    )
    assert batches.buckets == [2, 3]
    assert batches.provide_data[0].name == "d"
    assert batches.provide_data[0].shape == (3, 2)
    assert batches.provide_data[0].layout == "TN"
    batch = next(batches)
    assert batch.data[0].shape == (batch.bucket_key, 2)
    assert batch.data[0].dtype == np.int32
    np.testing.assert_array_equal(batch.label[0].asnumpy()[-1], [-1, -1])
    np.testing.assert_array_equal(batch.label[0].asnumpy()[:-1], batch.data[0].asnumpy()[1:])


def test_wrong_layout_and_too_few_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="Invalid layout"):
        mx.rnn.BucketSentenceIter(SENTENCES, 2, buckets=[2], layout="XY")
    with pytest.raises(ValueError, match="expected 2 sentences of equal length"):
        mx.rnn.BucketSentenceIter([[1]], 2)
