"""Vocabulary: tokens and their numbers."""

from collections import Counter
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError

__all__ = ["Vocabulary"]

Token = Hashable


class Vocabulary:
    """Gives each token a number: the unknown token 0, then the reserved ones, then the frequent.

    Tokens of a counter come in the order of falling frequency, equally frequent ones in their own
    order.

    Args:
        counter: How often each token occurs; None for none.
        most_freq_count: How many tokens of the counter are taken, without the unknown and reserved
            ones; None or a negative number for all.
        min_freq: How often a token must occur to be taken.
        unknown_token: What stands for all tokens that have no number.
        reserved_tokens: Tokens to have in any case, such as ``<pad>``.

    Attributes:
        idx_to_token: The tokens; each stands at its number.
        token_to_idx: The numbers by token.
        unknown_token: The token with the number 0.
        reserved_tokens: What was given.

    Raises:
        ArgumentTypeError: ``counter`` is no Counter, its tokens cannot be compared, or
            ``most_freq_count`` is no integer.
        ArgumentError: ``min_freq`` is not positive, or reserved tokens occur twice.
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
        """The numbers by token."""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> list[Any]:
        """The tokens; each stands at its number."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> Any:
        """What stands for all tokens without a number."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> list[Any] | None:
        """The reserved tokens that were given."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> Any:
        """Return numbers of tokens, 0 for those that have none.

        Args:
            tokens: A token, or a list of tokens.

        Returns:
            A number, or a list of numbers.

        Raises:
            ArgumentTypeError: A token cannot be hashed.
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
        """Return the tokens that have numbers.

        Args:
            indices: A number, or a list of numbers.

        Returns:
            A token, or a list of tokens.

        Raises:
            ArgumentError: There is no such number.
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
