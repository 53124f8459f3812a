"""WikiText datasets, and the vocabulary."""

from collections import Counter
from collections.abc import Hashable, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DownloadError
from gluonish.core.files import AnyPath, path_text
from gluonish.core.object_repr import object_repr
from gluonish.gluon.data.dataset import Dataset
from gluonish.gluon.download import (
    download,
    exclusive,
    extract_members,
    is_published,
    published_url,
)
from gluonish.ndarray import NDArray, array

__all__ = ["Vocabulary", "WikiText2", "WikiText103", "get_published_file"]

# The largest published file, glove.840B.300d.txt, has 5.6 GB.
_MAX_MEMBER_NBYTES = 16 << 30


def get_published_file(
    target: Path, sha1: str, namespace: str, archive_name: str, archive_sha1: str | None
) -> Path:
    """Return the path of a published file; download and extract it if it is missing or damaged.

    The archive is kept next to the file: it may contain more files, and MXNet programs expect it
    there.

    Args:
        target: Path of the file; in the archive it has the same name, in any folder.
        sha1: Published SHA-1 of the file.
        namespace: Folder of the archive in the repository that ``MXNET_GLUON_REPO`` names.
        archive_name: Name of the archive, or of the file if there is no archive.
        archive_sha1: SHA-1 of the archive; None if unknown.

    Raises:
        DownloadError: The file cannot be downloaded, or has another SHA-1.
    """
    if is_published(target, sha1):
        return target
    with exclusive(target):
        # Another process may have created it while this one waited.
        if not is_published(target, sha1):
            url = published_url(f"{namespace}/{archive_name}")
            is_file = archive_name == target.name
            path = target.with_name(f"{archive_name}.download" if is_file else archive_name)
            archive = _archive(url, path, sha1 if is_file else archive_sha1, target)
            if is_file:
                archive.replace(target)
            else:
                extract_members(archive, {target: sha1}, _MAX_MEMBER_NBYTES)
    return target


def _archive(url: str, path: Path, sha1: str | None, target: Path) -> Path:
    try:
        return Path(download(url, path, sha1_hash=sha1))
    except DownloadError as error:
        raise DownloadError(
            f"{error}; without a network put {target.name} into {target.parent}, or set "
            "MXNET_GLUON_REPO to a mirror or a folder"
        ) from error


Token = Hashable


class Vocabulary:
    """Maps tokens to indices: 0 is the unknown token, followed by reserved and frequent tokens.

    Tokens of the counter are sorted by decreasing frequency; ties are sorted by token.

    Args:
        counter: How often each token occurs, a ``collections.Counter``; None for no tokens.
        most_freq_count: Maximum number of tokens from the counter, without unknown and reserved
            tokens; None or a negative number for all.
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

    def __repr__(self) -> str:
        return object_repr(self, f"{len(self)} tokens")

    def _add_frequent(self, counter: Counter[Any], limit: int | None, min_freq: int) -> None:
        if not isinstance(counter, Counter):
            raise ArgumentTypeError(
                "Vocabulary: expected a collections.Counter as counter, got "
                f"{type(counter).__name__}"
            )
        try:
            pairs = sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
        except TypeError as error:
            raise ArgumentTypeError(f"Vocabulary: expected sortable tokens, got {error}") from error
        frequent = [
            token for token, n in pairs if n >= min_freq and token not in self._token_to_idx
        ]
        for token in frequent if limit is None or limit < 0 else frequent[:limit]:
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
        """Return the indices of tokens; 0 for unknown tokens.

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
        """Return the tokens of indices.

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


_END_OF_LINE = "<eos>"
_FILES = {
    "train": "wiki.train.tokens",
    "validation": "wiki.valid.tokens",
    "test": "wiki.test.tokens",
}


class _Published(NamedTuple):
    """Name and checksums of a published dataset."""

    name: str
    archive_sha1: str
    segment_sha1: dict[str, str]


class _WikiText(Dataset):
    """Base class of the datasets; a subclass sets ``_published``. See `WikiText2`."""

    _published: ClassVar[_Published]

    def __init__(
        self,
        root: AnyPath | None = None,
        segment: str = "train",
        vocab: Vocabulary | None = None,
        seq_len: int = 35,
    ) -> None:
        name = type(self).__name__
        if segment not in _FILES:
            raise ArgumentError(
                f"{name}: expected segment to be one of {list(_FILES)}, got {segment!r}"
            )
        if vocab is not None and not isinstance(vocab, Vocabulary):
            raise ArgumentTypeError(f"{name}: expected a Vocabulary, got {type(vocab).__name__}")
        if seq_len < 1:
            raise ArgumentError(f"{name}: expected a seq_len of 1 or more, got {seq_len}")
        self._counter: Counter[str] = Counter()
        words = self._words(_file(self._published, root, segment))
        self._vocab = vocab or Vocabulary(self._counter, reserved_tokens=[_END_OF_LINE])
        numbers = np.array(self._vocab.to_indices(words), np.int32)
        count = max(len(numbers) - 1, 0) // seq_len
        shape = (count, seq_len)
        self._data = numbers[: count * seq_len].reshape(shape)
        self._label = numbers[1 : count * seq_len + 1].reshape(shape)

    def _words(self, path: Path) -> list[str]:
        """Read and count the words of a file; append `_END_OF_LINE` to each line."""
        words: list[str] = []
        with path.open(encoding="utf8") as file:
            for line in file:
                found = line.split()
                if found:
                    self._counter.update(found)
                    words += found
                    words.append(_END_OF_LINE)
        return words

    def __getitem__(self, idx: Any) -> tuple[NDArray, NDArray]:
        return array(self._data[idx], dtype="int32"), array(self._label[idx], dtype="int32")

    def __len__(self) -> int:
        return len(self._label)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words and their indices."""
        return self._vocab

    @property
    def frequencies(self) -> Counter[str]:
        """Number of occurrences of each word in the segment."""
        return self._counter


def _file(published: _Published, root: AnyPath | None, segment: str) -> Path:
    home = Path(MXNET_HOME.value) / "datasets" / published.name
    return get_published_file(
        (home if root is None else Path(path_text(root, "root"))).expanduser() / _FILES[segment],
        published.segment_sha1[segment],
        f"gluon/dataset/{published.name}",
        f"{published.name}-v1.zip",
        published.archive_sha1,
    )


class WikiText2(_WikiText):
    """Sequences of words from WikiText-2 (two million words), for language models.

    A sample is a pair of int32 arrays of shape (seq_len,): the indices of consecutive words, and
    the index of the word that follows each. A line of the text ends with ``<eos>``; empty lines,
    and words after the last complete sequence, are left out. Missing files are downloaded from the
    repository that ``MXNET_GLUON_REPO`` names. The texts are under the Creative Commons
    Attribution-ShareAlike licence.

    References:
        Merity, Xiong, Bradbury and Socher, Pointer Sentinel Mixture Models, 2016.

    Args:
        root: Folder of the files; ``$MXNET_HOME/datasets/wikitext-2`` by default.
        segment: ``"train"``, ``"validation"`` or ``"test"``.
        vocab: `Vocabulary` that indexes the words, such as the training segment's; None creates one
            from this segment.
        seq_len: Number of words in a sequence.

    Attributes:
        vocabulary: The `Vocabulary`.
        frequencies: Number of occurrences of each word, a Counter.

    Raises:
        ArgumentError: ``segment`` is unknown, or ``seq_len`` is not positive.
        DownloadError: The files cannot be downloaded.
    """

    _published = _Published(
        "wikitext-2",
        "3c914d17d80b1459be871a5039ac23e752a53cbe",
        {
            "train": "863f29c46ef9d167fff4940ec821195882fe29d1",
            "validation": "0418625c8b4da6e4b5c7a0b9e78d4ae8f7ee5422",
            "test": "c7b8ce0aa086fb34dab808c5c49224211eb2b172",
        },
    )


class WikiText103(_WikiText):
    """Sequences of words from WikiText-103 (a hundred million words); see `WikiText2`.

    Args:
        root: Folder of the files; ``$MXNET_HOME/datasets/wikitext-103`` by default.
        segment: ``"train"``, ``"validation"`` or ``"test"``.
        vocab: `Vocabulary` that indexes the words; None creates one from this segment.
        seq_len: Number of words in a sequence.

    Attributes:
        vocabulary: The `Vocabulary`.
        frequencies: Number of occurrences of each word, a Counter.

    Raises:
        ArgumentError: ``segment`` is unknown, or ``seq_len`` is not positive.
        DownloadError: The files cannot be downloaded.
    """

    _published = _Published(
        "wikitext-103",
        "0aec09a7537b58d4bb65362fee27650eeaba625a",
        {
            "train": "b7497e2dfe77e72cfef5e3dbc61b7b53712ac211",
            "validation": "c326ac59dc587676d58c422eb8a03e119582f92b",
            "test": "8a5befc548865cec54ed4273cf87dbbad60d1e47",
        },
    )
