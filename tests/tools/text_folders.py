"""Small networks with tokenizers, for tests of the commands for text."""

import io
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish.model_zoo import save_pretrained
from gluonish.model_zoo.text import BERT, CausalLM, Embedder, Llama
from gluonish.tools.cli import main

GOLDEN = Path(__file__).parents[1] / "golden"
VOCABULARIES = {"bpe": 400, "wordpiece": 300}  # of golden/tokenizers


def initialized(net: Any) -> Any:
    """Return a network with weights that choose different tokens."""
    mx.random.seed(11)
    net.initialize(mx.init.Normal(0.4))
    return net


def with_tokenizer(folder: Path, name: str) -> Path:
    """Copy the files of a tokenizer into a folder, and return it."""
    for path in (GOLDEN / "tokenizers" / name).iterdir():
        shutil.copy(path, folder / path.name)
    return folder


def language_folder(folder: Path, tokenizer: str = "bpe", tied: bool = False) -> Path:
    """Write a language model with a tokenizer and a chat template."""
    sizes: dict[str, Any] = {
        "units": 16,
        "hidden_units": 24,
        "num_layers": 2,
        "num_heads": 2,
        "max_length": 256,
    }
    net = CausalLM(Llama(VOCABULARIES[tokenizer], **sizes), tied=tied)
    save_pretrained(initialized(net), folder)
    return with_tokenizer(folder, tokenizer)


def encoder_folder(folder: Path, pooling: str | None = "mean", max_length: int = 64) -> Path:
    """Write an encoder with a tokenizer: one of sentence-transformers if there is a pooling."""
    body = BERT(300, units=16, hidden_units=24, num_layers=2, num_heads=2, max_length=64)
    initialized(body)
    made = body if pooling is None else Embedder(body, pooling, max_length=max_length)
    save_pretrained(made, folder)
    return with_tokenizer(folder, "wordpiece")


def set_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Set standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def check_refused(capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
    """Check that a command ends with one line on standard error, and no output."""
    try:
        status: object = main(argv)
    except SystemExit as end:
        status = end.code
    said = capsys.readouterr()
    *usage, line = said.err.splitlines()
    assert said.out == ""
    assert message in line
    assert status == (2 if usage else 1)  # 2 and the usage by argparse
    assert usage[:1] == [] or usage[0].startswith("usage: ")
    assert line.startswith("gluonish")
