import hashlib
import io
import os
import zipfile
from pathlib import Path

import pytest

from gluonish.core.config import MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DownloadError
from gluonish.gluon.contrib.data import text
from gluonish.gluon.contrib.data.text import Vocabulary, WikiText2, WikiText103
from gluonish.gluon.data.dataloader import DataLoader

TEXTS = {
    "train": "\n = Head = \n \n the cat sat \n the dog <unk> sat on mat \n",
    "validation": "the cat\nthe bird\n",
    "test": "sat sat\n",
}
WORDS = ["<unk>", "<eos>", "=", "sat", "the", "Head", "cat", "dog", "mat", "on"]


def sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


@pytest.fixture(params=[WikiText2, WikiText103])
def wikitext(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch):
    """A dataset class whose small archive lies in a folder."""
    kind = request.param
    name = kind._published.name
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for segment, content in TEXTS.items():
            archive.writestr(f"{name}/{text._FILES[segment]}", content)
    folder = tmp_path / "repository" / "gluon" / "dataset" / name
    folder.mkdir(parents=True)
    (folder / f"{name}-v1.zip").write_bytes(file.getvalue())
    hashes = {segment: sha1(content.encode()) for segment, content in TEXTS.items()}
    published = text._Published(name, sha1(file.getvalue()), hashes)
    monkeypatch.setattr(kind, "_published", published)
    with (
        MXNET_GLUON_REPO.override(f"{tmp_path / 'repository'}/"),
        MXNET_HOME.override(str(tmp_path / "home")),
    ):
        yield kind


def pairs(dataset) -> list[tuple[list[int], list[int]]]:
    return [
        (data.asnumpy().tolist(), label.asnumpy().tolist())
        for data, label in (dataset[i] for i in range(len(dataset)))
    ]


def test_sequences_and_labels_are_those_of_mxnet(wikitext) -> None:
    dataset = wikitext(seq_len=3)
    assert dataset.vocabulary.idx_to_token == WORDS
    assert dataset.vocabulary.reserved_tokens == ["<eos>"]
    assert pairs(dataset) == [
        ([2, 5, 2], [5, 2, 1]),
        ([1, 4, 6], [4, 6, 3]),
        ([3, 1, 4], [1, 4, 7]),
        ([7, 0, 3], [0, 3, 9]),
    ]


def test_words_are_counted_without_ends_of_lines(wikitext) -> None:
    counts = wikitext().frequencies
    assert counts["the"] == 2
    assert counts["<unk>"] == 1
    assert "<eos>" not in counts


def test_another_segment_takes_the_vocabulary_of_the_training(wikitext) -> None:
    words = wikitext().vocabulary
    dataset = wikitext(segment="validation", vocab=words, seq_len=5)
    assert dataset.vocabulary is words
    assert pairs(dataset) == [([4, 6, 1, 4, 0], [6, 1, 4, 0, 1])]


def test_files_are_kept_in_the_home_or_the_root(wikitext, tmp_path: Path) -> None:
    wikitext(segment="test")
    wikitext(root=tmp_path / "root", segment="test")
    home = tmp_path / "home" / "datasets" / wikitext._published.name
    for folder in (home, tmp_path / "root"):
        assert (folder / "wiki.test.tokens").read_text() == TEXTS["test"]


def test_arrays_are_integers(wikitext) -> None:
    data, label = wikitext(seq_len=3)[0]
    assert (data.dtype.__name__, data.shape) == ("int32", (3,))
    assert (label.dtype.__name__, label.shape) == ("int32", (3,))


def test_a_loader_batches_sequences(wikitext) -> None:
    batches = list(DataLoader(wikitext(seq_len=3), batch_size=2))
    assert [data.shape for data, _ in batches] == [(2, 3), (2, 3)]


def test_a_text_shorter_than_a_sequence_is_empty(wikitext) -> None:
    assert len(wikitext(seq_len=35)) == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"segment": "valid"}, ArgumentError, "expected segment to be one of"),
        ({"seq_len": 0}, ArgumentError, "expected a seq_len of 1 or more"),
        ({"vocab": 3}, ArgumentTypeError, "expected a Vocabulary, got int"),
    ],
)
def test_a_wrong_argument_is_refused(wikitext, arguments, error, message: str) -> None:
    with pytest.raises(error, match=message):
        wikitext(**arguments)


def test_another_archive_is_refused(wikitext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikitext, "_published", wikitext._published._replace(archive_sha1="0" * 40))
    with pytest.raises(DownloadError, match="to have the SHA-1 0000"):
        wikitext()


def test_a_given_empty_vocabulary_is_used(wikitext) -> None:
    assert pairs(wikitext(vocab=Vocabulary(), segment="test", seq_len=2)) == [([0, 0], [0, 0])]


def test_the_folder_may_be_given_in_bytes(wikitext, tmp_path: Path) -> None:
    assert len(wikitext(os.fsencode(tmp_path / "own"), seq_len=3)) == len(wikitext(seq_len=3))
    assert (tmp_path / "own").is_dir()
    with pytest.raises(ArgumentError, match="root: expected a path without NUL"):
        wikitext("a\0b")
