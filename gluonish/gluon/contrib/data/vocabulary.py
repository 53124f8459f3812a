"""Vocabulary: tokens and their numbers."""

from collections import Counter
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError

__all__ = ["Vocabulary"]

Token = Hashable


class Vocabulary:
    """Maps tokens to indices: the unknown token is 0, then come reserved and frequent tokens.

    Tokens of the counter are sorted by decreasing frequency, and equally frequent ones by
    themselves.

    Args:
        counter: How often each token occurs, a ``collections.Counter``; None for no tokens.
        most_freq_count: Maximum number of tokens to take from the counter, not counting the unknown
            and reserved ones; None or a negative number takes all.
        min_freq: Minimum frequency of a token.
        unknown_token: Token that represents all tokens without an index.
        reserved_tokens: Tokens to include in any case, such as ``<pad>``.

    Attributes:
        idx_to_token: List of the tokens, by index.
        token_to_idx: Dict from token to index.
        unknown_token: The token with index 0.
        reserved_tokens: The argument.

    Raises:
        ArgumentTypeError: ``counter`` is not a Counter, its tokens cannot be compared, or
            ``most_freq_count`` is not an integer.
        ArgumentError: ``min_freq`` is not positive, or ``reserved_tokens`` contains duplicates or
            the unknown token.

    Example:
        >>> import collections
        >>> import gluonish as mx
        >>> counter = collections.Counter("a rose is a rose is a rose".split())
        >>> vocabulary = mx.contrib.text.vocab.Vocabulary(counter, min_freq=3)
        >>> vocabulary.idx_to_token
        ['<unk>', 'a', 'rose']
        >>> vocabulary.to_indices(["rose", "is"])
        [2, 0]
    """

    def __init__(
        self,
        counter: Counter[Any] | None = None,
        most_freq_count: int | None = None,
        min_freq: int = 1,
        unknown_token: Token = "<unk>",
        reserved_tokens: Sequence[Token] | None = None,
    ) -> None:
        if not min_freq > 0:
            raise ArgumentError(f"Vocabulary: expected a positive min_freq, got {min_freq}")
        if most_freq_count is not None and not isinstance(most_freq_count, Integral):
            raise ArgumentTypeError(
                f"Vocabulary: expected an integer as most_freq_count, got {most_freq_count!r}"
            )
        _check_reserved(unknown_token, reserved_tokens)
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self._idx_to_token: list[Any] = [unknown_token, *(reserved_tokens or ())]
        self._token_to_idx: dict[Any, int] = {
            token: index for index, token in enumerate(self._idx_to_token)
        }
        if counter is not None:
            self._add_frequent(counter, most_freq_count, min_freq)

    def _add_frequent(self, counter: Counter[Any], most: int | None, min_freq: int) -> None:
        if not isinstance(counter, Counter):
            raise ArgumentTypeError(
                "Vocabulary: expected a collections.Counter as counter, got "
                f"{type(counter).__name__}"
            )
        try:
            pairs = sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
        except TypeError as error:
            raise ArgumentTypeError(
                f"Vocabulary: expected tokens that can be sorted, got some that cannot ({error})"
            ) from error
        frequent = [
            token for token, n in pairs if n >= min_freq and token not in self._token_to_idx
        ]
        for token in frequent if most is None or most < 0 else frequent[:most]:
            self._add(token)

    def _add(self, token: Token) -> None:
        self._token_to_idx[token] = len(self._idx_to_token)
        self._idx_to_token.append(token)

    def __len__(self) -> int:
        return len(self._idx_to_token)

    @property
    def token_to_idx(self) -> dict[Any, int]:
        """Dict from token to index."""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> list[Any]:
        """List of the tokens, by index."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> Any:
        """The token that represents all tokens without an index."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> list[Any] | None:
        """The argument ``reserved_tokens``."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> Any:
        """Return the indices of tokens; 0 for unknown ones.

        Args:
            tokens: A token, or a list of tokens.

        Returns:
            An index, or a list of indices.

        Raises:
            ArgumentTypeError: A token is not hashable.
        """
        numbers = self._token_to_idx
        try:
            if isinstance(tokens, list):
                return [numbers.get(token, 0) for token in tokens]
            return numbers.get(tokens, 0)
        except TypeError:
            raise ArgumentTypeError(
                f"Vocabulary.to_indices: expected a token or a flat list of tokens, got {tokens!r}"
            ) from None

    def to_tokens(self, indices: Any) -> Any:
        """Return the tokens with given indices.

        Args:
            indices: An index, or a list of indices.

        Returns:
            A token, or a list of tokens.

        Raises:
            ArgumentError: An index is out of range.
        """
        if isinstance(indices, list):
            return [self._token(index) for index in indices]
        return self._token(indices)

    def _token(self, index: Any) -> Any:
        if not isinstance(index, Integral) or not 0 <= int(index) < len(self._idx_to_token):
            raise ArgumentError(
                "Vocabulary.to_tokens: expected token indices in "
                f"0..{len(self._idx_to_token) - 1}, got {index!r}"
            )
        return self._idx_to_token[int(index)]


def _check_reserved(unknown: Token, reserved: Sequence[Token] | None) -> None:
    if reserved is None:
        return
    if unknown in reserved:
        raise ArgumentError(
            f"Vocabulary: expected reserved_tokens without unknown_token {unknown!r}, got "
            f"{list(reserved)}"
        )
    if len(set(reserved)) != len(reserved):
        raise ArgumentError(
            f"Vocabulary: expected reserved_tokens without duplicates, got {list(reserved)}"
        )
