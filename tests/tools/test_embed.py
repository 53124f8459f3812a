"""The embed command: vectors of arguments, files and standard input, and what is refused."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.text import Embedder, Tokenizer
from gluonish.tools.cli import main
from tests.model_zoo.weights import minilm
from tests.tools.text_folders import (
    GOLDEN,
    check_refused,
    encoder_folder,
    language_folder,
    set_input,
)

pytest.importorskip("tokenizers", reason="needs the extra text")
TEXTS = [
    "A cat.",
    "What is the capital of France? Is it near the sea, or is it on a river?",
    "",
    "def f(x): return x ** 2  # square",
    "Hybridize the network, and train it over several devices.",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder_folder(tmp_path_factory.mktemp("encoder"), max_length=20)


def one_by_one(folder: Path, pooling: str, normalize: bool, length: int) -> np.ndarray:
    """Return the vectors, without batches and padding."""
    net = from_pretrained(folder)
    tokenizer = Tokenizer.from_pretrained(folder)
    net = Embedder(getattr(net, "body", net), pooling, normalize)
    rows = []
    for text in TEXTS:
        tokens = tokenizer.encode(text, max_length=length)
        rows.append(net(mx.nd.array([tokens], dtype="int32")).asnumpy()[0])
    return np.array(rows)


def close(found: np.ndarray, want: np.ndarray) -> None:
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", ["1", "2", "32"])
def test_batches_give_what_single_texts_give(
    folder: Path, tmp_path: Path, size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--model", str(folder), "-o", str(tmp_path / "v.npy"), "--batch-size", size]
    assert main(["embed", *TEXTS, *argv]) == 0
    close(np.load(tmp_path / "v.npy"), one_by_one(folder, "mean", True, 20))
    said = capsys.readouterr()
    assert said.out == ""
    tokenizer = Tokenizer.from_pretrained(folder)
    cut = sum(len(tokenizer.encode(text)) > 20 for text in TEXTS)
    assert cut > 0
    assert said.err == f"{cut} of 5 texts were cut to 20 tokens\n"  # no bar without a terminal
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]


@pytest.mark.parametrize("pooling", ["mean", "cls", "last", "max"])
@pytest.mark.parametrize("normalize", [True, False])
def test_pooling_and_norm_by_option(
    folder: Path, tmp_path: Path, pooling: str, normalize: bool
) -> None:
    argv = ["embed", *TEXTS, "--model", str(folder), "-o", str(tmp_path / "v.npz"), "--quiet"]
    argv += ["--pooling", pooling, "--normalize" if normalize else "--no-normalize"]
    assert main([*argv, "--max-length", "33"]) == 0
    with np.load(tmp_path / "v.npz") as file:
        assert file.files == ["vectors"]
        close(file["vectors"], one_by_one(folder, pooling, normalize, 33))


def test_a_folder_says_how_unless_an_option_does(tmp_path: Path) -> None:
    (tmp_path / "cls").mkdir()
    (tmp_path / "plain").mkdir()
    cls, plain = (encoder_folder(tmp_path / x, p) for x, p in (("cls", "cls"), ("plain", None)))
    out = tmp_path / "v.npy"
    for folder, pooling in ((cls, "cls"), (plain, "mean")):
        assert main(["embed", *TEXTS, "--model", str(folder), "-o", str(out), "--quiet"]) == 0
        close(np.load(out), one_by_one(folder, pooling, True, 64))


def test_a_language_model_gives_vectors_of_its_last_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = language_folder(tmp_path)
    out = tmp_path / "v.npy"
    texts = [text for text in TEXTS if text]
    argv = ["--model", str(folder), "-o", str(out), "--pooling", "last"]
    assert main(["embed", *texts, *argv]) == 0
    net = from_pretrained(folder)
    for text, found in zip(texts, np.load(out), strict=True):
        tokens = mx.nd.array([net.tokenizer.encode(text)], dtype="int32")
        want = net.body(tokens).asnumpy()[0, -1]
        close(found, want / np.linalg.norm(want))
    message = "expected texts of at least one token, got none in text 3"
    check_refused(capsys, ["embed", *TEXTS, *argv], message)


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
@pytest.mark.parametrize("source", ["file", "input"])
def test_texts_are_lines_of_a_file_or_of_standard_input(
    folder: Path, tmp_path: Path, source: str, feed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (feed.join(["\u00fcber\u2028alles", *TEXTS]) + feed).encode()
    (tmp_path / "texts").write_bytes(content)
    set_input(monkeypatch, b"" if source == "file" else content)
    argv = ["embed", "--model", str(folder), "-o", str(tmp_path / "v.jsonl"), "--quiet"]
    assert main(argv + (["--file", str(tmp_path / "texts")] if source == "file" else [])) == 0
    rows = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text("utf-8").splitlines()]
    assert [row["text"] for row in rows] == ["\u00fcber\u2028alles", *TEXTS]
    found = np.array([row["vector"] for row in rows[1:]])
    close(found.astype(np.float32), one_by_one(folder, "mean", True, 20))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)


def test_a_terminal_shows_progress(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    argv = ["embed", *TEXTS, "--model", str(folder), "-o", str(tmp_path / "v.npy")]
    assert main(argv) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "5/5" in said.err
    assert main([*argv, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "v.txt"], "--output: expected a name ending in .npy, .npz, .jsonl, got 'v.txt'"),
        (["-o", "nowhere/v.npy"], "--output: expected a folder that exists, got 'nowhere'"),
        (["--batch-size", "0"], "--batch-size: expected 1 or more, got 0"),
        (["--max-length", "65"], "--max-length: expected 1 to 64, the positions of BERT, got 65"),
        (["--max-length", "2"], "max_length"),
        (["--pooling", "sum"], "invalid choice: 'sum'"),
        (["--file", "texts"], "embed: expected texts or --file, got both, 'texts'"),
        (["--ctx", "cpu:0,cpu:1"], "--ctx: expected one device"),
    ],
)
def test_bad_options_are_refused(
    folder: Path,
    tmp_path: Path,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["embed", *TEXTS, "--model", str(folder), "-o", "v.npy", *options]
    check_refused(capsys, argv, message)
    assert not list(tmp_path.iterdir())


def test_bad_inputs_are_refused_and_the_old_file_stays(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "v.npy"
    out.write_bytes(b"old")

    def refused(model: Path | str, message: str, *texts: str) -> None:
        check_refused(capsys, ["embed", *texts, "--model", str(model), "-o", str(out)], message)

    refused(tmp_path / "nowhere", "nowhere", "x")
    refused("some.gguf", "--model: expected a folder or a name of the hub, got 'some.gguf'", "x")
    refused(GOLDEN / "text_networks" / "bert_body", "tokenizer.json", "x")
    refused(GOLDEN / "vision_networks" / "vit", "a network for text, got ImageClassifier", "x")
    refused(folder, "expected Unicode text, got '\\udce9' at 0", "\udce9")
    for content, message in (
        (b"", "embed: expected at least one text, got none"),
        (b"caf\xe9", "standard input: expected text in UTF-8, got byte 0xe9 at 3"),
    ):
        set_input(monkeypatch, content)
        refused(folder, message)
    check_refused(
        capsys,
        ["embed", "--file", str(tmp_path / "no.txt"), "--model", str(folder), "-o", str(out)],
        "no.txt",
    )
    monkeypatch.setattr(np, "save", failing)
    refused(folder, "No space left on device", "x")
    assert out.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]


def failing(file: Any, array: Any) -> None:
    file.write(b"half")
    raise OSError(28, "No space left on device", "v.npy")


@pytest.mark.weights
def test_minilm_finds_what_is_alike(tmp_path: Path) -> None:
    texts = ["A cat is on the mat.", "A kitten is on the rug.", "The stock market fell today."]
    out = tmp_path / "v.npy"
    assert main(["embed", *texts, "--model", str(minilm()), "-o", str(out)]) == 0
    vectors = np.load(out)
    assert [round(float(x), 2) for x in vectors @ vectors[0]] == [1.0, 0.65, 0.09]
