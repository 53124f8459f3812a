from collections import Counter

import pytest

from gluonish.contrib.text.utils import count_tokens_from_str
from gluonish.core.errors import ArgumentError


def test_a_given_counter_is_counted_on_and_returned() -> None:
    counter = Counter({"a": 2})
    assert count_tokens_from_str("a b", counter_to_update=counter) is counter
    assert counter == {"a": 3, "b": 1}


def test_a_delimiter_that_is_no_expression_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"'\*' .*use re\.escape"):
        count_tokens_from_str("a*b", "*")
