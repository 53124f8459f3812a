"""WikiText: texts of articles as sequences of word numbers, to train language models on."""

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.files import AnyPath, path_text
from gluonish.gluon.contrib.data.archive import get_published_file
from gluonish.gluon.contrib.data.vocabulary import Vocabulary
from gluonish.gluon.data.dataset import Dataset
from gluonish.ndarray import NDArray, array

__all__ = ["WikiText2", "WikiText103"]

_END_OF_LINE = "<eos>"
_FILES = {
    "train": "wiki.train.tokens",
    "validation": "wiki.valid.tokens",
    "test": "wiki.test.tokens",
}


class _Published(NamedTuple):
    """Where the files of a dataset are, and what they are checked by."""

    name: str
    archive_sha1: str
    segment_sha1: dict[str, str]


class _WikiText(Dataset):
    """Sequences of a text of ``_published``; `WikiText2` says what they hold."""

    _published: ClassVar[_Published]

    def __init__(
        self,
        root: AnyPath | None = None,
        segment: str = "train",
        vocab: Vocabulary | None = None,
        seq_len: int = 35,
    ) -> None:
        who = type(self).__name__
        if segment not in _FILES:
            raise ArgumentError(f"{who}: expected a segment among {list(_FILES)}, got {segment!r}")
        if vocab is not None and not isinstance(vocab, Vocabulary):
            raise ArgumentTypeError(f"{who}: expected a Vocabulary, got {type(vocab).__name__}")
        if seq_len < 1:
            raise ArgumentError(f"{who}: expected a seq_len of 1 or more, got {seq_len}")
        self._counter: Counter[str] = Counter()
        words = self._words(_file(self._published, root, segment))
        self._vocab = vocab or Vocabulary(self._counter, reserved_tokens=[_END_OF_LINE])
        numbers = np.array(self._vocab.to_indices(words), np.int32)
        count = max(len(numbers) - 1, 0) // seq_len
        shape = (count, seq_len)
        self._data = numbers[: count * seq_len].reshape(shape)
        self._label = numbers[1 : count * seq_len + 1].reshape(shape)

    def _words(self, path: Path) -> list[str]:
        """Return the words of a file with `_END_OF_LINE` after each line, and count them."""
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
        """The words and their numbers."""
        return self._vocab

    @property
    def frequencies(self) -> Counter[str]:
        """How often each word occurs in the segment."""
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
        frequencies: How often each word occurs, a Counter.

    Raises:
        ArgumentError: ``segment`` is not one of those, or ``seq_len`` is not positive.
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
        frequencies: How often each word occurs, a Counter.

    Raises:
        ArgumentError: ``segment`` is not one of those, or ``seq_len`` is not positive.
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
