"""Token counts of texts."""

import re
from collections import Counter

from gluonish.core.errors import ArgumentError

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(
    source_str: str,
    token_delim: str = " ",
    seq_delim: str = "\n",
    to_lower: bool = False,
    counter_to_update: Counter[str] | None = None,
) -> Counter[str]:
    r"""Count the tokens of a text.

    Args:
        source_str: The text.
        token_delim: Separator of tokens, a regular expression: ``"\\."`` for full stops.
        seq_delim: Separator of sequences of tokens, such as lines; also a regular expression.
        to_lower: Whether to convert tokens to lower case.
        counter_to_update: Counter to add to and return; None for a new one.

    Returns:
        A counter of the tokens.

    Raises:
        ArgumentError: A delimiter is not a valid regular expression.
    """
    try:
        tokens = re.split(f"{token_delim}|{seq_delim}", source_str)
    except re.error as error:
        raise ArgumentError(
            "count_tokens_from_str: expected regular expressions as delimiters, got "
            f"{token_delim!r} and {seq_delim!r} ({error}); use re.escape"
        ) from error
    counter = Counter(token.lower() if to_lower else token for token in tokens if token)
    if counter_to_update is not None:
        counter_to_update.update(counter)
        return counter_to_update
    return counter
