"""The chat command: answers by the template, what is not computed again, and its ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.generation.runner import Runner
from gluonish.model_zoo.text import CausalLM
from gluonish.tools.cli import main
from tests.model_zoo.weights import smollm2
from tests.tools.text_folders import GOLDEN, check_refused, language_folder, set_input

pytest.importorskip("tokenizers", reason="needs the extra text")
pytest.importorskip("jinja2", reason="needs the extra text")
LINES = ["What is it?", "And then?", "Why so?"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_folder(tmp_path_factory.mktemp("language"))


def conversation(folder: Path, system: str | None = None) -> tuple[list[str], list[int]]:
    """Return the answers to `LINES`, without a cache, and how long the prompts are."""
    net = from_pretrained(folder)
    messages = [] if system is None else [{"role": "system", "content": system}]
    answers, lengths = [], []
    for line in LINES:
        messages.append({"role": "user", "content": line})
        text = net.tokenizer.apply_chat_template(messages)
        tokens = net.tokenizer.encode(text, add_special_tokens=False)
        answers.append(net.tokenizer.decode(net.generate(tokens, 6)))
        lengths.append(len(tokens))
        messages.append({"role": "assistant", "content": answers[-1].strip()})
    return answers, lengths


@pytest.mark.parametrize("system", [None, "Be brief."])
def test_answers_follow_the_template_and_what_was_said(
    folder: Path,
    system: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers, lengths = conversation(folder, system)
    computed = []
    compute = Runner._compute

    def counted(self: Any, cache: Any, parts: Any, places: Any, piece: int) -> Any:
        computed.append(len(parts[0]))
        return compute(self, cache, parts, places, piece)

    monkeypatch.setattr(Runner, "_compute", counted)
    set_input(monkeypatch, "\n".join(LINES).encode())
    argv = ["chat", "--model", str(folder), "--max-new-tokens", "6"]
    assert main(argv + ([] if system is None else ["--system", system])) == 0
    said = capsys.readouterr()
    assert said.out == "".join(f"{answer}\n" for answer in answers)
    assert said.err == ""
    # Each token of the conversation once, but for the ends of answers, which the template changes.
    assert sum(computed) <= lengths[-1] + 6 * len(LINES) < sum(lengths)


def test_the_cache_has_the_type_that_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []
    new_cache = Runner.new_cache

    def noted(self: Any, *args: Any) -> Any:
        made.append(new_cache(self, *args))
        return made[-1]

    monkeypatch.setattr(Runner, "new_cache", noted)
    set_input(monkeypatch, "\n".join(LINES).encode())
    argv = ["chat", "--model", str(folder), "--max-new-tokens", "6", "--cache-dtype", "bfloat16"]
    assert main(argv) == 0
    assert [cache.dtype.name for cache in made] == ["bfloat16"]
    # Each answer is that of a cache of this type, from the first token of the conversation on.
    net = from_pretrained(folder)
    tokens = net.tokenizer.encode(
        net.tokenizer.apply_chat_template([{"role": "user", "content": LINES[0]}]),
        add_special_tokens=False,
    )
    first = net.tokenizer.decode(net.generate(tokens, 6, cache_dtype="bfloat16"))
    said = capsys.readouterr().out
    assert said.startswith(first + "\n")
    assert len(said.splitlines()) >= len(LINES)


def test_an_empty_line_ends_the_conversation(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_input(monkeypatch, f"{LINES[0]}\n  \n{LINES[1]}\n".encode())
    assert main(["chat", "--model", str(folder), "--max-new-tokens", "6"]) == 0
    assert capsys.readouterr().out == conversation(folder)[0][0] + "\n"


def test_ctrl_c_in_an_answer_ends_with_a_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = CausalLM.stream

    def interrupted(self: Any, *args: Any, **options: Any) -> Any:
        tokens = stream(self, *args, **options)
        yield from (next(tokens) for _ in range(4))
        raise KeyboardInterrupt

    monkeypatch.setattr(CausalLM, "stream", interrupted)
    set_input(monkeypatch, "\n".join(LINES).encode())
    assert main(["chat", "--model", str(folder)]) == 130
    said = capsys.readouterr()
    assert said.out.endswith("\n")
    assert conversation(folder)[0][0].startswith(said.out[:-1])
    assert said.err == ""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_at_the_prompt_ends_the_process_without_a_traceback(folder: Path) -> None:
    argv = [sys.executable, "-m", "gluonish", "chat", "--model", str(folder)]
    with subprocess.Popen(
        [*argv, "--max-new-tokens", "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"What is it?\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stdout.read() == b"\n"
        assert process.stderr.read() == b""


def test_what_cannot_be_a_conversation_is_refused(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bare = GOLDEN / "text_networks" / "llama"
    check_refused(capsys, ["chat", "--model", str(bare)], "chat: expected a model with tokenizer")
    set_input(monkeypatch, b"hello\n")
    plain = language_folder(tmp_path, "wordpiece")
    check_refused(capsys, ["chat", "--model", str(plain)], "expected a template of")
    set_input(monkeypatch, b"\xff\xfe\n")
    message = "standard input: expected text in UTF-8, got byte 0xff at 0"
    check_refused(capsys, ["chat", "--model", str(folder)], message)
    set_input(monkeypatch, b"hello\n")
    message = "argument --cache-dtype: invalid choice: 'float64'"
    check_refused(capsys, ["chat", "--model", str(folder), "--cache-dtype", "float64"], message)
    message = "expected top_p above 0 and up to 1, got 0.0"
    check_refused(capsys, ["chat", "--model", str(folder), "--top-p", "0"], message)
    set_input(monkeypatch, b"word " * 300)
    check_refused(capsys, ["chat", "--model", str(folder)], "of at most 256 tokens")


@pytest.mark.weights
def test_smollm2_knows_capitals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_input(monkeypatch, b"What is the capital of France?\nAnd of Italy?\n")
    assert main(["chat", "--model", str(smollm2()), "--temperature", "0"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "The capital of France is Paris.",
        "The capital of Italy is Rome.",
    ]
