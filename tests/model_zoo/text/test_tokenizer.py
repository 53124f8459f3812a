"""Tokenizers: as transformers has them, in batches, and refused files."""

import json
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    GluonishError,
    MissingFileError,
    OutOfBoundsError,
)
from gluonish.model_zoo.text import Tokenizer, tokenizer_files
from tests.golden.tokenizer_cases import CONVERSATIONS, MAX_LENGTH, PAIRS, TEXTS
from tests.model_zoo.weights import minilm

pytest.importorskip("tokenizers", reason="needs the extra text")
pytest.importorskip("jinja2", reason="needs the extra text")
GOLDEN = Path(__file__).parents[2] / "golden" / "tokenizers"
SMALL = ("bpe", "wordpiece", "unigram")
CASES = [*SMALL, pytest.param("minilm", marks=pytest.mark.weights)]


@cache
def expected(name: str) -> dict[str, Any]:
    """What transformers made of the cases."""
    found = json.loads((GOLDEN / "expected.json").read_text())[name]
    assert isinstance(found, dict)
    return found


@cache
def made(name: str) -> Tokenizer:
    return Tokenizer.from_pretrained(minilm() if name == "minilm" else GOLDEN / name)


def changed(tmp_path: Path, name: str, **files: Any) -> Path:
    """Return a copy of a folder with changed settings of tokenizer_config.json, or other files."""
    folder = tmp_path / name
    shutil.copytree(GOLDEN / name, folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | files))
    return folder


@pytest.mark.parametrize("name", CASES)
def test_tokens_are_those_of_transformers(name: str) -> None:
    tokenizer, want = made(name), expected(name)
    assert [tokenizer.encode(text) for text in TEXTS] == want["ids"]
    assert [tokenizer.encode(x, add_special_tokens=False) for x in TEXTS] == want["plain"]
    assert [tokenizer.encode(x, max_length=MAX_LENGTH) for x in TEXTS] == want["cut"]
    assert [tokenizer.encode(*pair) for pair in PAIRS] == want["pairs"]
    assert [tokenizer.encode(*x, max_length=MAX_LENGTH) for x in PAIRS] == want["cut_pairs"]


@pytest.mark.parametrize("name", CASES)
def test_text_is_that_of_transformers(name: str) -> None:
    tokenizer, want = made(name), expected(name)
    assert [tokenizer.decode(x, skip_special_tokens=False) for x in want["ids"]] == want["text"]
    assert [tokenizer.decode(np.array(x, np.int32)) for x in want["ids"]] == want["plain_text"]


@pytest.mark.parametrize("name", SMALL)
def test_pieces_of_a_stream_are_the_text(name: str) -> None:
    tokenizer = made(name)
    for text in TEXTS:
        ids = tokenizer.encode(text)
        assert "".join(tokenizer.stream(iter(ids))).strip() == tokenizer.decode(ids).strip()


@pytest.mark.parametrize("name", CASES)
def test_special_tokens_are_those_of_transformers(name: str) -> None:
    tokenizer, want = made(name), expected(name)["special"]
    found = {kind: tokenizer.id_of(text) for kind, text in tokenizer.special.items()}
    assert found == want
    for kind in ("bos", "eos", "pad", "unk", "mask"):
        assert getattr(tokenizer, f"{kind}_id") == want.get(kind)


@pytest.mark.parametrize("name", ["bpe", "unigram"])
def test_conversations_are_those_of_transformers(name: str) -> None:
    found = [made(name).apply_chat_template(x) for x in CONVERSATIONS]
    assert found == expected(name)["chats"]


def test_rows_of_a_batch_are_the_texts_alone() -> None:
    tokenizer = made("wordpiece")
    texts = TEXTS[:4]
    alone = [tokenizer.encode(text) for text in texts]
    for side in ("left", "right"):
        batch = tokenizer.batch(texts, padding_side=side, multiple=8)
        tokens, mask = batch.tokens.asnumpy(), batch.mask.asnumpy()
        assert tokens.dtype == np.int32
        assert tokens.shape[1] % 8 == 0
        assert [row[kept].tolist() for row, kept in zip(tokens, mask, strict=True)] == alone
        assert (tokens[~mask] == tokenizer.pad_id).all()
        assert batch.valid_length.asnumpy().tolist() == [*map(len, alone)]
        edge = mask[:, -1] if side == "left" else mask[:, 0]
        assert edge.all()


def test_the_side_of_the_files_is_the_default(tmp_path: Path) -> None:
    assert made("bpe").padding_side == "left"
    assert made("wordpiece").padding_side == "right"
    folder = changed(tmp_path, "wordpiece", padding_side="left")
    assert Tokenizer.from_pretrained(folder).padding_side == "left"
    assert Tokenizer.from_pretrained(folder, padding_side="right").padding_side == "right"


def test_types_of_pairs_in_a_batch() -> None:
    batch = made("unigram").batch(PAIRS)
    types, kept = batch.token_types.asnumpy(), batch.mask.asnumpy()
    found = [row[mask].tolist() for row, mask in zip(types, kept, strict=True)]
    assert found == expected("unigram")["types"]


def test_cut_at_the_left() -> None:
    tokenizer = made("wordpiece")
    whole = tokenizer.encode(TEXTS[0], add_special_tokens=False)
    assert tokenizer.encode(TEXTS[0], add_special_tokens=False, max_length=3) == whole[:3]
    left = tokenizer.encode(TEXTS[0], max_length=5, truncation_side="left")
    assert left[1:-1] == whole[-3:]


def test_templates_by_name(tmp_path: Path) -> None:
    named = [
        {"name": "default", "template": "plain {{ messages[0].content }}"},
        {"name": "tool_use", "template": "tools {{ tools[0].name }}"},
        {"name": "other", "template": "{{ eos_token }}{{ extra }}"},
    ]
    folder = changed(tmp_path, "wordpiece", chat_template=named, eos_token="[SEP]")
    tokenizer = Tokenizer.from_pretrained(folder)
    chat = CONVERSATIONS[0]
    assert tokenizer.apply_chat_template(chat).startswith("plain What")
    assert tokenizer.apply_chat_template(chat, tools=[{"name": "f"}]) == "tools f"
    assert tokenizer.apply_chat_template(chat, template="other", extra=3) == "[SEP]3"
    with pytest.raises(ArgumentError, match="among default, tool_use, other, got 'none'"):
        tokenizer.apply_chat_template(chat, template="none")


def test_older_folders_have_special_tokens_elsewhere(tmp_path: Path) -> None:
    folder = changed(tmp_path, "wordpiece")
    (folder / "tokenizer_config.json").unlink()
    special = {"pad_token": "[PAD]", "mask_token": {"content": "[MASK]", "lstrip": True}}
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    assert Tokenizer.from_pretrained(folder).special == {"pad": "[PAD]", "mask": "[MASK]"}


def test_tokens_that_only_the_settings_have_are_added(tmp_path: Path) -> None:
    size = made("wordpiece").vocab_size
    added = {str(size): {"content": "<new>", "special": True}}
    tokenizer = Tokenizer.from_pretrained(
        changed(tmp_path, "wordpiece", added_tokens_decoder=added)
    )
    assert tokenizer.vocab_size == size + 1
    assert tokenizer.encode("a<new>", add_special_tokens=False)[-1] == size


def test_the_vocabulary_belongs_to_the_embedding() -> None:
    tokenizer = made("bpe")
    tokenizer.check_vocab_size(len(tokenizer), "net")
    tokenizer.check_vocab_size(len(tokenizer) + 1024, "net")
    for rows in (len(tokenizer) - 1, len(tokenizer) + 1025):
        with pytest.raises(FileFormatError, match=rf"tokenizer\.json: .* the {rows} words of net"):
            tokenizer.check_vocab_size(rows, "net")


BROKEN = {
    "not JSON": b"{",
    "not text": b"\xff\xfe",
    "a list": b"[]",
    "no model": b"{}",
    "a wrong model": b'{"model": {"type": "Magic", "vocab": {}}}',
    "ids that are no numbers": b'{"model": {"type": "WordLevel", "vocab": {"a": "b"}, '
    b'"unk_token": "a"}}',
    "merges of unknown tokens": b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["b c"]}}',
    "nested": b"[" * 100_000,
    "empty": b"",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_tokenizer_is_refused(what: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(BROKEN[what])
    with pytest.raises(FileFormatError, match=r"tokenizer\.json: expected a tokenizer of the"):
        Tokenizer.from_pretrained(tmp_path)


def test_a_tokenizer_of_absurd_size_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tokenizer_files, "_MOST_NBYTES", 1000)
    (tmp_path / "tokenizer.json").write_bytes(b" " * 1001)
    with pytest.raises(FileFormatError, match="expected a file of up to 1000 bytes, got more"):
        Tokenizer.from_pretrained(tmp_path)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"")
    with pytest.raises(MissingFileError, match=r"expected tokenizer\.json in .*, got vocab\.txt"):
        Tokenizer.from_pretrained(tmp_path)
    with pytest.raises(MissingFileError, match=r"a folder with tokenizer\.json, or a name of the"):
        Tokenizer.from_pretrained(tmp_path / "none")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bos_token": 3}, "expected bos_token as text, got 3"),
        ({"bos_token": {"content": []}}, "expected bos_token as text"),
        ({"added_tokens_decoder": []}, "expected added_tokens_decoder with tokens by id"),
        ({"added_tokens_decoder": {"x": {"content": "a"}}}, "a token with its id .* got 'x'"),
        ({"added_tokens_decoder": {"9": {}}}, "a token with its id in added_tokens_decoder"),
        ({"added_tokens_decoder": {"9": {"content": "[CLS]"}}}, "expected the id 2 of tokenizer"),
        ({"chat_template": 5}, "expected chat_template as text, got 5"),
        ({"chat_template": [{"name": "a"}]}, "expected chat_template as text"),
        ({"chat_template": "x" * 300_000}, "a chat template of up to 262144 characters"),
    ],
)
def test_wrong_settings_are_refused(settings, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=message):
        Tokenizer.from_pretrained(changed(tmp_path, "wordpiece", **settings))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: t.encode(3), ArgumentTypeError, "expected each text or pair as text, got 3"),
        (lambda t: t.encode("a", 3), ArgumentTypeError, "as text, got 3"),
        (lambda t: t.encode("a\udce9"), ArgumentError, r"Unicode text, got '\\udce9' at 1"),
        (lambda t: t.batch([("a", "\ud800")]), ArgumentError, r"Unicode text, got '\\ud800' at 0"),
        (lambda t: t.encode("a", max_length=2), ArgumentError, "above the 2 special tokens, got 2"),
        (lambda t: t.encode("a", max_length=9.5), ArgumentError, "special tokens, got 9.5"),
        (lambda t: t.encode("a", truncation_side="top"), ArgumentError, "a side of left, right"),
        (lambda t: t.batch([]), ArgumentError, "expected a list of texts"),
        (lambda t: t.batch("text"), ArgumentError, "expected a list of texts, got 'text'"),
        (lambda t: t.batch(["a"], padding_side="rigth"), ArgumentError, "nearest: 'right'"),
        (lambda t: t.batch([("a", "b", "c")]), ArgumentError, "expected a text or pair"),
        (lambda t: t.batch(["a"], multiple=0), ArgumentError, "multiple of 1 or more"),
        (lambda t: t.decode([10**6]), OutOfBoundsError, r"expected ids from 0 to \d+, got 1000000"),
        (lambda t: t.decode([-1]), OutOfBoundsError, "got -1"),
        (lambda t: t.decode([1.5]), ArgumentTypeError, "ids as whole numbers, got 1.5"),
        (lambda t: t.apply_chat_template([]), ArgumentError, "which has none, got 'default'"),
        (lambda t: t.apply_chat_template("hi"), ArgumentTypeError, "a list of messages, got 'hi'"),
        (lambda t: Tokenizer(t.backend, {"x": "a"}), ArgumentError, "special tokens of bos, eos"),
        (lambda t: Tokenizer(t.backend, {"bos": "<b>"}), FileFormatError, "the bos token in the"),
    ],
)
def test_wrong_calls_are_refused(call, error, message: str) -> None:
    with pytest.raises(error, match=message):
        call(made("wordpiece"))


@pytest.mark.parametrize("package", ["tokenizers", "jinja2"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made("bpe")
    monkeypatch.setitem(sys.modules, package, None)
    calls = {
        "tokenizers": lambda: Tokenizer.from_pretrained(GOLDEN / "bpe"),
        "jinja2": lambda: made("bpe").apply_chat_template(CONVERSATIONS[0]),
    }
    message = rf"expected .*{package}.* pip install 'gluonish\[text\]'"
    with pytest.raises(GluonishError, match=message):
        calls[package]()
