import hashlib
import io
import os
import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.text import embedding
from gluonish.contrib.text.embedding import CompositeEmbedding, CustomEmbedding, FastText, GloVe
from gluonish.contrib.text.token_embedding import TokenEmbedding
from gluonish.core.config import MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DownloadError,
    FileFormatError,
    MissingFileError,
)
from gluonish.gluon.contrib.data.text import Vocabulary, get_published_file

NAME = "glove.6B.50d.txt"
TEXT = b"a 1 2\nb 3 4\n"


def sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


@pytest.fixture
def written(tmp_path: Path):
    """Write a file of vectors and return its path."""

    def write(content: str, encoding: str = "utf8") -> str:
        path = tmp_path / "vectors.txt"
        path.write_bytes(content.encode(encoding))
        return str(path)

    return write


@pytest.fixture
def custom(written):
    return CustomEmbedding(written("a 1 2\nb 3 4\n"))


def test_reserved_tokens_have_vectors(written) -> None:
    # MXNet 1.9.1 has fewer vectors than tokens here, and one token twice.
    found = CustomEmbedding(written("a 1 2\n<unk> 9 8\nb 3 4\n"), reserved_tokens=["a", "<pad>"])
    assert found.token_to_idx == {"<unk>": 0, "a": 1, "<pad>": 2, "b": 3}
    assert found.idx_to_vec.asnumpy().tolist() == [[9, 8], [1, 2], [9, 8], [3, 4]]


def test_counted_tokens_have_vectors(written) -> None:
    found = CustomEmbedding(written("a 1 2\n"), counter=Counter("za"))
    assert found.idx_to_token == ["<unk>", "a", "z"]
    assert found.idx_to_vec.asnumpy().tolist() == [[0, 0], [1, 2], [0, 0]]


def test_another_delimiter_and_encoding_are_read(written) -> None:
    path = written("é\t1\t2\nb\t3\t4", "latin1")
    assert CustomEmbedding(path, "\t", "latin1").idx_to_token == ["<unk>", "é", "b"]


def test_a_header_is_skipped_with_a_warning(written) -> None:
    path = written("2 2\na 1 2\n")
    with pytest.warns(UserWarning, match=r"line 1: '2 2' is likely a header"):
        assert len(CustomEmbedding(path)) == 2


def test_a_repeated_token_is_skipped_with_a_warning(written) -> None:
    path = written("a 1 2\na 3 4\n")
    with pytest.warns(UserWarning, match=r"line 2: token 'a' is repeated"):
        found = CustomEmbedding(path)
    assert found.get_vecs_by_tokens("a").asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a 1 2\nb 5 6 7\n",
            "line 2: expected 2 elements for token 'b', as many as for the tokens before it, got 3",
        ),
        ("a 1 2\nb\n", "line 2: expected a token and elements"),
        ("a 1 2\n\nb 3 4\n", "line 2: expected a token and elements"),
        ("a 1 x\n", "line 1: expected numbers after token 'a'"),
        ("", "expected vectors of tokens, got none"),
    ],
)
def test_a_file_of_another_form_is_refused(written, content: str, message: str) -> None:
    path = written(content)
    with pytest.raises(FileFormatError, match=re.escape(path)) as caught:
        CustomEmbedding(path)
    assert message in str(caught.value)


def test_another_encoding_is_refused(written) -> None:
    path = written("é 1 2\n", "latin1")
    with pytest.raises(FileFormatError, match="expected text in utf8"):
        CustomEmbedding(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"nobody\.txt"):
        CustomEmbedding(str(tmp_path / "nobody.txt"))


@pytest.mark.parametrize(
    ("init", "error", "message"),
    [
        (None, ArgumentTypeError, "init_unknown_vec as a function of `shape`"),
        (lambda shape: mx.nd.ones(shape + 1), ArgumentError, r"return shape \(2,\), got \(3,\)"),
    ],
)
def test_a_wrong_first_vector_is_refused(written, init, error, message: str) -> None:
    path = written("a 1 2\n")
    with pytest.raises(error, match=message):
        CustomEmbedding(path, init_unknown_vec=init)


def test_numpy_arrays_are_returned_where_programs_use_them(written) -> None:
    path = written("a 1 2\n")
    with mx.np_array(True):
        found = CustomEmbedding(path)
        assert isinstance(found.idx_to_vec, mx.np.ndarray)
        assert isinstance(found.get_vecs_by_tokens(["a", "q"]), mx.np.ndarray)
        found.update_token_vectors("a", mx.np.array([5, 6]))
        assert found.get_vecs_by_tokens("a").tolist() == [5, 6]


@pytest.mark.parametrize(
    ("tokens", "values", "message"),
    [
        ("nobody", [1, 2], "got 'nobody'; to change the vector of unknown tokens name '<unk>'"),
        ("a", [1, 2, 3], r"expected new_vectors \(1, 2\), got \(3,\)"),
        (["a", "b"], [1, 2], r"expected new_vectors \(2, 2\), got \(2,\)"),
    ],
)
def test_a_wrong_update_is_refused(custom, tokens, values, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        custom.update_token_vectors(tokens, mx.nd.array(values))
    assert custom.idx_to_vec.asnumpy().tolist() == [[0, 0], [1, 2], [3, 4]]


def test_an_update_by_a_list_is_refused(custom) -> None:
    with pytest.raises(ArgumentTypeError, match="expected an NDArray as new_vectors, got list"):
        custom.update_token_vectors("a", [1, 2])


def test_no_tokens_are_refused(custom) -> None:
    with pytest.raises(ArgumentError, match="expected at least one token"):
        custom.get_vecs_by_tokens([])


def test_an_embedding_without_vectors_says_so() -> None:
    with pytest.raises(ArgumentError, match="expected loaded vectors, got none"):
        TokenEmbedding().idx_to_vec  # noqa: B018  # the property raises


def test_a_composite_leaves_its_parts(custom) -> None:
    both = CompositeEmbedding(Vocabulary(Counter("b")), [custom, custom])
    both.update_token_vectors("b", mx.nd.zeros(4))
    assert custom.get_vecs_by_tokens("b").asnumpy().tolist() == [3, 4]


@pytest.mark.parametrize(
    ("vocabulary", "parts", "message"),
    [
        (3, "custom", "expected a Vocabulary, got int"),
        (Vocabulary(), [3], "expected token embeddings, got a int"),
        (Vocabulary(), [], "expected at least one embedding"),
    ],
)
def test_a_wrong_composite_is_refused(custom, vocabulary, parts, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        CompositeEmbedding(vocabulary, custom if parts == "custom" else parts)


def test_vectors_initialize_an_embedding_layer(custom) -> None:
    layer = mx.gluon.nn.Embedding(len(custom), custom.vec_len)
    layer.initialize()
    layer.weight.set_data(custom.idx_to_vec)
    assert layer(mx.nd.array([2])).asnumpy().tolist() == [[3, 4]]


@pytest.fixture
def own():
    """An embedding of one's own, registered."""

    @embedding.register
    class OwnVectors(embedding._TokenEmbedding):
        pretrained_file_name_sha1 = {"own.txt": sha1(TEXT)}  # noqa: RUF012

        def __init__(self, embedding_root: str, **kwargs: object) -> None:
            path = self._get_pretrained_file(embedding_root, "own.txt")
            super().__init__(**kwargs)
            self._load_embedding(path, " ", mx.nd.zeros)

    return OwnVectors


def test_an_own_embedding_is_made_by_name(own, tmp_path: Path) -> None:
    assert embedding.get_pretrained_file_names("ownvectors") == ["own.txt"]
    folder = tmp_path / "repository" / "gluon" / "embeddings" / "ownvectors"
    folder.mkdir(parents=True)
    (folder / "own.txt").write_bytes(TEXT)
    with MXNET_GLUON_REPO.override(str(tmp_path / "repository")):
        made = embedding.create("OwnVectors", embedding_root=str(tmp_path / "files"))
    assert isinstance(made, own)
    assert made.idx_to_token == ["<unk>", "a", "b"]
    assert (tmp_path / "files" / "ownvectors" / "own.txt").read_bytes() == TEXT


def test_another_class_is_not_registered() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a subclass of TokenEmbedding"):
        embedding.register(int)  # type: ignore[arg-type]


@pytest.mark.parametrize("call", [embedding.create, embedding.get_pretrained_file_names])
def test_an_unknown_embedding_is_refused(call) -> None:
    with pytest.raises(ArgumentError, match=r"expected .* got 'gluve'"):
        call("gluve")


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("glove", "glove.6B.txt", "glove.6B.50d.txt"),
        ("fasttext", "wiki.simpel.vec", "wiki.simple.vec"),
    ],
)
def test_an_unknown_file_is_refused_with_the_nearest(name: str, wrong: str, right: str) -> None:
    with pytest.raises(ArgumentError, match=rf"got '{wrong}' \(nearest: .*'{right}'"):
        embedding.create(name, pretrained_file_name=wrong)


@pytest.mark.parametrize("kind", [GloVe, FastText])
def test_every_file_has_a_hash_and_an_archive_with_one(kind) -> None:
    for name, digest in kind.pretrained_file_name_sha1.items():
        archive = kind._get_download_file_name(name)
        for found in (digest, kind.pretrained_archive_name_sha1[archive]):
            assert re.fullmatch("[0-9a-f]{40}", found)


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder with a small archive of GloVe; called with its content to publish another."""
    folder = tmp_path / "repository" / "gluon" / "embeddings" / "glove"
    folder.mkdir(parents=True)

    def publish(archive: bytes) -> Path:
        (folder / "glove.6B.zip").write_bytes(archive)
        hashes = {"glove.6B.zip": sha1(archive)}
        monkeypatch.setattr(GloVe, "pretrained_archive_name_sha1", hashes)
        monkeypatch.setattr(GloVe, "pretrained_file_name_sha1", {NAME: sha1(TEXT)})
        return folder / "glove.6B.zip"

    publish(zipped(**{NAME: TEXT, "glove.6B.100d.txt": b"a 1\n"}))
    with (
        MXNET_GLUON_REPO.override(str(tmp_path / "repository")),
        MXNET_HOME.override(str(tmp_path / "home")),
    ):
        yield publish


@pytest.mark.usefixtures("repository")
def test_a_published_file_is_fetched_into_the_home(tmp_path: Path) -> None:
    found = embedding.create("glove", pretrained_file_name=NAME)
    assert found.get_vecs_by_tokens("b").asnumpy().tolist() == [3, 4]
    assert (tmp_path / "home" / "embeddings" / "glove" / NAME).read_bytes() == TEXT


def test_a_file_that_is_there_is_not_fetched(repository, tmp_path: Path) -> None:
    GloVe(NAME, embedding_root=str(tmp_path / "root"))
    repository(b"").unlink()
    (tmp_path / "root" / "glove" / "glove.6B.zip").unlink()
    assert len(GloVe(NAME, embedding_root=str(tmp_path / "root"))) == 3
    assert len(GloVe(NAME, embedding_root=os.fsencode(tmp_path / "root"))) == 3
    with pytest.raises(ArgumentError, match="GloVe: embedding_root: expected a path without NUL"):
        GloVe(NAME, embedding_root="a\0b")


@pytest.mark.usefixtures("repository")
def test_a_damaged_file_is_made_again(tmp_path: Path, caplog) -> None:
    folder = tmp_path / "root" / "glove"
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(b"a 1 9\n")
    found = GloVe(NAME, str(tmp_path / "root"), vocabulary=Vocabulary(Counter("b")))
    assert found.idx_to_vec.asnumpy().tolist() == [[0, 0], [3, 4]]
    assert "does not have the published SHA-1" in caplog.text


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (zipped(other=TEXT), f"expected {NAME} inside, got"),
        (zipped(**{NAME: b"a 1 9\n"}), "expected the SHA-1"),
        (b"no archive", "expected a zip archive"),
    ],
)
def test_another_archive_is_refused(repository, tmp_path: Path, archive, message: str) -> None:
    repository(archive)
    with pytest.raises(DownloadError, match=message):
        GloVe(NAME, embedding_root=str(tmp_path / "root"))
    assert not (tmp_path / "root" / "glove" / NAME).exists()


def test_a_member_cannot_leave_the_folder(tmp_path: Path) -> None:
    archive = zipped(**{f"../../{NAME}": TEXT})
    (tmp_path / "space").mkdir()
    (tmp_path / "space" / "a.zip").write_bytes(archive)
    target = tmp_path / "deep" / "er" / NAME
    with (
        MXNET_GLUON_REPO.override(str(tmp_path)),
        pytest.raises(DownloadError, match="which leaves its folder"),
    ):
        get_published_file(target, sha1(TEXT), "space", "a.zip", sha1(archive))
    assert not target.exists()
    assert not (tmp_path / NAME).exists()


def test_a_missing_repository_says_where_to_put_the_file(tmp_path: Path) -> None:
    with (
        MXNET_GLUON_REPO.override(str(tmp_path / "nowhere")),
        pytest.raises(DownloadError, match=rf"without a network put {NAME} into .*glove"),
    ):
        GloVe(NAME, embedding_root=str(tmp_path))


def test_many_vectors_are_read_exactly(written) -> None:
    values = np.random.default_rng(3).standard_normal((3000, 4)).astype(np.float32)
    lines = [f"w{i} " + " ".join(map(repr, map(float, row))) for i, row in enumerate(values)]
    found = CustomEmbedding(written("\n".join(lines)))
    np.testing.assert_array_equal(found.idx_to_vec.asnumpy()[1:], values)
    assert found.get_vecs_by_tokens("w2999").asnumpy().tolist() == values[-1].tolist()
