from collections import Counter

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.contrib.data.text import Vocabulary


@pytest.fixture
def words() -> Vocabulary:
    return Vocabulary(Counter({"b": 2, "a": 1}))


def test_no_counter_gives_the_unknown_token_only() -> None:
    assert Vocabulary().idx_to_token == ["<unk>"]
    assert Vocabulary(reserved_tokens=["a"]).idx_to_token == ["<unk>", "a"]


def test_a_counter_with_the_unknown_token_does_not_repeat_it() -> None:
    assert Vocabulary(Counter({"<unk>": 7, "a": 1})).token_to_idx == {"<unk>": 0, "a": 1}


def test_numbers_of_numpy_name_tokens(words: Vocabulary) -> None:
    assert words.to_tokens(list(np.array([2, 1]))) == ["a", "b"]


@pytest.mark.parametrize("index", [3, -1, 1.0, "1", [1, 3], None])
def test_an_index_of_no_token_is_refused(words: Vocabulary, index: object) -> None:
    with pytest.raises(ArgumentError, match=r"expected token indices in 0\.\.2, got"):
        words.to_tokens(index)


def test_a_nested_list_of_tokens_is_refused(words: Vocabulary) -> None:
    with pytest.raises(ArgumentTypeError, match="flat list of tokens"):
        words.to_indices(["a", ["b"]])


@pytest.mark.parametrize("counter", [["a"], {"a": 1}])
def test_another_counter_is_refused(counter: object) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected a collections\.Counter"):
        Vocabulary(counter)  # type: ignore[arg-type]


def test_tokens_without_an_order_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected sortable tokens"):
        Vocabulary(Counter({"a": 1, 2: 1}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_freq": 0}, "expected a positive min_freq"),
        ({"reserved_tokens": ["<unk>"]}, "expected reserved_tokens without unknown_token"),
        ({"reserved_tokens": ["p", "p"]}, "expected reserved_tokens without duplicates"),
    ],
)
def test_a_wrong_argument_is_refused(arguments, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Vocabulary(**arguments)


def test_a_fraction_of_tokens_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"integer as most_freq_count, got 2\.5"):
        Vocabulary(Counter("ab"), most_freq_count=2.5)  # type: ignore[arg-type]
