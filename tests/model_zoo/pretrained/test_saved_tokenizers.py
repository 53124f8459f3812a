"""save_pretrained writes the tokenizer of a network, too."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish.model_zoo import from_gguf, from_pretrained, save_pretrained
from gluonish.model_zoo.pretrained import folder as folders
from gluonish.model_zoo.text import (
    BERT,
    CausalLM,
    Embedder,
    Llama,
    SequenceClassifier,
    Tokenizer,
)
from tests.golden.tokenizer_cases import CONVERSATIONS, MAX_LENGTH, TEXTS

pytest.importorskip("tokenizers", reason="needs the extra text")
pytest.importorskip("jinja2", reason="needs the extra text")
GOLDEN = Path(__file__).parents[2] / "golden" / "tokenizers"
NAMES = ("bpe", "wordpiece", "unigram")
WORDS = 400


def expected(name: str) -> Any:
    """Return what transformers made of the texts."""
    return json.loads((GOLDEN / "expected.json").read_text())[name]


def network(words: int = WORDS) -> CausalLM:
    mx.random.seed(3)
    net = CausalLM(Llama(words, units=8, hidden_units=16, num_layers=1, num_heads=2))
    net.initialize(mx.init.Normal(1))
    return net


def source(tmp_path: Path, name: str, net: Any = None) -> Path:
    """Return a folder of a network with a tokenizer."""
    words = Tokenizer.from_pretrained(GOLDEN / name).vocab_size
    path = tmp_path / "source"
    save_pretrained(network(words) if net is None else net, path)
    for file in (GOLDEN / name).iterdir():
        shutil.copy(file, path)
    return path


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_folder_has_the_files_of_the_tokenizer(name: str, tmp_path: Path) -> None:
    path = source(tmp_path, name)
    net = from_pretrained(path)
    save_pretrained(net, tmp_path / "saved")
    saved = contents(tmp_path / "saved")
    for file in (GOLDEN / name).iterdir():
        assert saved[file.name] == file.read_bytes(), file.name
    shutil.rmtree(path)
    again = from_pretrained(tmp_path / "saved")
    assert [again.tokenizer.encode(text) for text in TEXTS] == expected(name)["ids"]


def test_a_saved_folder_generates_the_same_text_alone(tmp_path: Path) -> None:
    path = source(tmp_path, "bpe")
    net = from_pretrained(path)
    want = net.generate("A cat", max_new_tokens=5)
    save_pretrained(net, tmp_path / "saved")
    shutil.rmtree(path)
    again = from_pretrained(tmp_path / "saved")
    assert isinstance(want, str)
    assert again.generate("A cat", max_new_tokens=5) == want


@pytest.mark.parametrize("name", NAMES)
def test_a_tokenizer_without_its_folder_is_made_again(name: str, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / name, tmp_path / "tokenizer")
    net = network()
    net.tokenizer = Tokenizer.from_pretrained(tmp_path / "tokenizer")
    shutil.rmtree(tmp_path / "tokenizer")
    save_pretrained(net, tmp_path / "saved")
    tokenizer, want = from_pretrained(tmp_path / "saved").tokenizer, expected(name)
    assert [tokenizer.encode(text) for text in TEXTS] == want["ids"]
    assert [tokenizer.encode(x, max_length=MAX_LENGTH) for x in TEXTS] == want["cut"]
    assert tokenizer.special == net.tokenizer.special
    assert tokenizer.padding_side == net.tokenizer.padding_side
    if "chats" in want:
        chats = [tokenizer.apply_chat_template(messages) for messages in CONVERSATIONS]
        assert chats == want["chats"]


def test_a_tokenizer_with_several_templates_is_made_again(tmp_path: Path) -> None:
    given = Tokenizer.from_pretrained(GOLDEN / "bpe")
    templates = {"default": "plain {{ messages[0].content }}", "loud": "LOUD"}
    net = network()
    net.tokenizer = Tokenizer(given.backend, given.special, templates, max_length=77)
    save_pretrained(net, tmp_path)
    tokenizer = from_pretrained(tmp_path).tokenizer
    messages = [{"role": "user", "content": "Hi"}]
    assert tokenizer.apply_chat_template(messages) == "plain Hi"
    assert tokenizer.apply_chat_template(messages, template="loud") == "LOUD"
    assert tokenizer.max_length == 77


@pytest.mark.parametrize("name", ["llama", "qwen2", "phi3"])
def test_a_network_of_a_gguf_file_is_saved_with_its_tokenizer(name: str, tmp_path: Path) -> None:
    net = from_gguf(GOLDEN.parent / "gguf" / f"{name}.gguf")
    save_pretrained(net, tmp_path)
    tokenizer = from_pretrained(tmp_path).tokenizer
    ids = [net.tokenizer.encode(text) for text in TEXTS]
    assert [tokenizer.encode(text) for text in TEXTS] == ids
    assert [tokenizer.decode(row) for row in ids] == [net.tokenizer.decode(row) for row in ids]
    assert tokenizer.special == net.tokenizer.special


def test_a_side_of_padding_that_was_asked_for_is_saved(tmp_path: Path) -> None:
    net = network()
    net.tokenizer = Tokenizer.from_pretrained(GOLDEN / "bpe", padding_side="right")
    save_pretrained(net, tmp_path)
    assert from_pretrained(tmp_path).tokenizer.padding_side == "right"


def test_networks_that_do_not_generate_keep_their_tokenizers(tmp_path: Path) -> None:
    body = BERT(WORDS, units=8, hidden_units=16, num_layers=1, num_heads=2)
    for kind, net in (
        ("classes", SequenceClassifier(body)),
        ("embedder", Embedder(BERT(WORDS, units=8, hidden_units=16, num_layers=1, num_heads=2))),
    ):
        net.initialize()
        path = source(tmp_path / kind, "wordpiece", net)
        save_pretrained(from_pretrained(path), tmp_path / kind / "saved")
        tokenizer = Tokenizer.from_pretrained(tmp_path / kind / "saved")
        assert [tokenizer.encode(text) for text in TEXTS] == expected("wordpiece")["ids"]


def test_files_of_an_older_tokenizer_do_not_stay_beside_another(tmp_path: Path) -> None:
    net = network()
    net.tokenizer = Tokenizer.from_pretrained(GOLDEN / "bpe")
    save_pretrained(net, tmp_path)
    assert (tmp_path / "chat_template.jinja").exists()
    net.tokenizer = Tokenizer.from_pretrained(GOLDEN / "wordpiece")
    save_pretrained(net, tmp_path)
    assert not (tmp_path / "chat_template.jinja").exists()


def test_a_network_without_a_tokenizer_leaves_that_of_the_folder(tmp_path: Path) -> None:
    path = source(tmp_path, "bpe")
    save_pretrained(network(), path)
    assert (path / "tokenizer.json").read_bytes() == (
        GOLDEN / "bpe" / "tokenizer.json"
    ).read_bytes()


def test_a_tokenizer_of_another_kind_is_not_saved(tmp_path: Path) -> None:
    class Letters:
        def encode(self, text: str) -> list[int]:
            return [ord(x) % WORDS for x in text]

    path = source(tmp_path, "bpe", network())
    net = from_pretrained(path)
    net.tokenizer = Letters()
    save_pretrained(net, tmp_path / "saved")
    assert not (tmp_path / "saved" / "tokenizer.json").exists()


def test_nothing_is_written_if_the_weights_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    net = network()
    net.tokenizer = Tokenizer.from_pretrained(GOLDEN / "bpe")
    path = source(tmp_path, "wordpiece", network())
    before = contents(path)
    monkeypatch.setattr(folders, "write_arrays", fail)
    with pytest.raises(OSError, match="No space left"):
        save_pretrained(net, path)
    assert contents(path) == before
