"""The generate command: its text, as it comes, its speed, and what is refused."""

import sys
from pathlib import Path
from typing import Any

import pytest

from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.generation.options import CACHE_DTYPES
from gluonish.model_zoo.generation.runner import Runner
from gluonish.model_zoo.text import CausalLM
from gluonish.tools import text_network
from gluonish.tools.cli import main, make_parser
from gluonish.tools.text_network import (
    Speed,
    generation_options,
    parameter_nbytes,
    read_rate,
)
from tests.tools.text_folders import (
    GOLDEN,
    check_refused,
    encoder_folder,
    language_folder,
    set_input,
)

pytest.importorskip("tokenizers", reason="needs the extra text")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_folder(tmp_path_factory.mktemp("language"))


def test_the_text_is_that_of_the_network(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["A cat", "--model", str(folder), "--max-new-tokens", "7"]
    net = from_pretrained(folder)
    want = net.generate("A cat", 7)
    assert main(["generate", *given]) == 0
    said = capsys.readouterr()
    assert said.out == want + "\n"
    (line,) = said.err.splitlines()
    assert line.startswith(f"prompt {len(net.tokenizer.encode('A cat'))} tokens, ")
    assert "; text 7 tokens, " in line
    assert line.endswith("% of what one core reads from memory")
    drawn = ["--temperature", "1.5", "--top-k", "9", "--top-p", "0.9", "--min-p", "0.01"]
    drawn += ["--seed", "5", "--repetition-penalty", "1.1", "--quiet"]
    assert main(["generate", *given, *drawn]) == 0
    said = capsys.readouterr()
    options = {"temperature": 1.5, "top_k": 9, "top_p": 0.9, "min_p": 0.01, "seed": 5}
    options |= {"repetition_penalty": 1.1, "do_sample": True}
    assert said.out == from_pretrained(folder).generate("A cat", 7, **options) + "\n" != want + "\n"
    assert said.err == ""


@pytest.mark.parametrize("dtype", CACHE_DTYPES)
def test_the_cache_has_the_type_that_is_asked_for(
    folder: Path,
    dtype: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = []
    new_cache = Runner.new_cache

    def noted(self: Any, *args: Any) -> Any:
        made.append(new_cache(self, *args))
        return made[-1]

    monkeypatch.setattr(Runner, "new_cache", noted)
    argv = ["generate", "A cat", "--model", str(folder), "--max-new-tokens", "7", "--quiet"]
    assert main([*argv, "--cache-dtype", dtype]) == 0
    assert [cache.dtype.name for cache in made] == [dtype]
    want = from_pretrained(folder).generate("A cat", 7, cache_dtype=dtype)
    assert capsys.readouterr().out == want + "\n"


def test_several_stop_texts_of_which_the_first_one_ends_the_text(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    want = from_pretrained(folder).generate("A cat", 12)
    stops = [want[6:8], want[2:4], "never there"]
    argv = ["generate", "A cat", "--model", str(folder), "--max-new-tokens", "12", "--quiet"]
    for stop in stops:
        argv += ["--stop", stop]
    assert main(argv) == 0
    ends = [want.find(stop) for stop in stops if stop in want]
    assert capsys.readouterr().out == want[: min(ends)] + "\n"


def test_a_stop_text_ends_the_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    want = from_pretrained(folder).generate("A cat", 12)
    stop = want[3:5]
    argv = ["generate", "A cat", "--model", str(folder), "--max-new-tokens", "12", "--quiet"]
    assert main([*argv, "--stop", stop]) == 0
    assert capsys.readouterr().out == want.partition(stop)[0] + "\n"


def test_a_prompt_of_standard_input(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = ["--model", str(folder), "--max-new-tokens", "5", "--quiet"]
    set_input(monkeypatch, "Ein \u00dc\nbergr\u00f6\u00dfe".encode())
    assert main(["generate", "-", *argv]) == 0
    piped = capsys.readouterr().out
    assert main(["generate", "Ein \u00dc\nbergr\u00f6\u00dfe", *argv]) == 0
    assert capsys.readouterr().out == piped


def test_each_piece_is_shown_before_the_next_is_computed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    stream = CausalLM.stream

    def noted(self: Any, *args: Any, **options: Any) -> Any:
        for piece in stream(self, *args, **options):
            yield piece
            events.append("asked")

    class Output:
        def write(self, text: str) -> None:
            events.append(text)

        def flush(self) -> None:
            events.append("flushed")

    monkeypatch.setattr(CausalLM, "stream", noted)
    monkeypatch.setattr(sys, "stdout", Output())
    argv = ["generate", "A cat", "--model", str(folder), "--max-new-tokens", "6", "--quiet"]
    assert main(argv) == 0
    *pieces, end, last = events
    assert (end, last) == ("\n", "flushed")
    assert len(pieces) >= 9  # a token that is half a character is shown with the next one
    assert pieces[1::3] == ["flushed"] * (len(pieces) // 3)
    assert pieces[2::3] == ["asked"] * (len(pieces) // 3)


def test_ctrl_c_ends_the_text_with_a_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(self: Any, *args: Any, **options: Any) -> Any:
        yield "one "
        raise KeyboardInterrupt

    monkeypatch.setattr(CausalLM, "stream", interrupted)
    assert main(["generate", "A cat", "--model", str(folder)]) == 130
    said = capsys.readouterr()
    assert said.out == "one \n"
    assert said.err == "prompt 3 tokens; no text\n"  # A, \u0120c, at


def clock(monkeypatch: pytest.MonkeyPatch, *times: float) -> None:
    left = list(times)
    monkeypatch.setattr(text_network, "perf_counter", lambda: left.pop(0))


def test_speeds_are_tokens_by_seconds_and_bytes_by_what_memory_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock(monkeypatch, 10.0, 12.0, 12.5, 13.0, 13.5)
    speed = Speed(40)
    for _ in range(4):
        speed.note()
    assert speed.text(nbytes=10**9, rate=8e9) == (
        "prompt 40 tokens, 20.0/s; text 4 tokens, 2.0/s, 25% of what one core reads from memory"
    )


def test_one_token_has_no_speed_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 10.0, 10.5)
    speed = Speed(3)
    speed.note()
    assert speed.text(10**9, 8e9) == "prompt 3 tokens, 6.0/s"


def test_the_rate_of_memory_is_the_best_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 0.0, 3.0, 5.0, 7.0, 9.0, 13.0, 20.0, 28.0, 30.0, 35.0)
    assert read_rate() == (1 << 28) / 2.0


def test_a_step_reads_all_weights_but_an_embedding_that_is_not_the_head(tmp_path: Path) -> None:
    sizes = []
    for name, tied in (("apart", False), ("tied", True)):
        (tmp_path / name).mkdir()
        net = from_pretrained(language_folder(tmp_path / name, tied=tied))
        weights = [p.data().asnumpy().nbytes for p in net.collect_params().values()]
        sizes.append((parameter_nbytes(net), sum(weights)))
    table = 400 * 16 * 4
    (apart, all_apart), (joined, all_joined) = sizes
    assert apart == all_apart - table
    assert joined == all_joined == apart


def options_of(*given: str) -> dict[str, Any]:
    arguments = make_parser().parse_args(["generate", "x", "--model", "y", *given])
    return generation_options(arguments)


def test_options_of_drawing_draw_and_a_temperature_of_zero_does_not() -> None:
    assert options_of() == {}
    assert options_of("--max-new-tokens", "3") == {"max_new_tokens": 3}
    assert options_of("--top-k", "3") == {"top_k": 3, "do_sample": True}
    assert options_of("--temperature", "0") == {"temperature": 0.0, "do_sample": False}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-new-tokens", "0"], "expected max_new_tokens from 1 to 16777216, got 0"),
        (["--max-new-tokens", "many"], "invalid int value: 'many'"),
        (["--temperature", "-1"], "expected temperature from 0.0"),
        (["--temperature", "nan"], "expected temperature"),
        (["--top-k", "-2"], "expected top_k from 0"),
        (["--top-p", "0"], "expected top_p above 0 and up to 1, got 0.0"),
        (["--min-p", "2"], "expected min_p from 0.0 to 1.0, got 2.0"),
        (["--repetition-penalty", "0"], "expected repetition_penalty from 1e-06"),
        (["--seed", "-1"], "expected seed from 0"),
        (["--stop", ""], "expected stop_strings of texts that are not empty, got ''"),
        (["--ctx", "cpu:0,cpu:1"], "--ctx: expected one device, got 'cpu:0,cpu:1'"),
        (["--ctx", "moon"], "moon"),
        (["--dtype", "int4"], "invalid choice: 'int4'"),
        (["--cache-dtype", "float64"], "invalid choice: 'float64'"),
    ],
)
def test_bad_options_are_refused(
    folder: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(capsys, ["generate", "A cat", "--model", str(folder), *options], message)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("", "generate: expected a prompt of at least one token, got none"),
        ("word " * 300, "of at most 256 tokens, which are the positions of CausalLM"),
        ("caf\udce9", "expected Unicode text, got '\\udce9' at 3"),
    ],
)
def test_bad_prompts_are_refused(
    folder: Path, prompt: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(capsys, ["generate", prompt, "--model", str(folder)], message)


def test_bad_networks_are_refused(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(model: Path | str, message: str, *more: str) -> None:
        check_refused(capsys, ["generate", "A cat", "--model", str(model), *more], message)

    refused(tmp_path / "nowhere", "nowhere")
    refused(tmp_path, "config.json")
    refused(GOLDEN / "text_networks" / "llama", "expected a model with tokenizer.json, got none")
    refused(encoder_folder(tmp_path, None), "a language model that generates text, got BERT")
    refused(tmp_path / "no.gguf", "no.gguf")
    refused("some.gguf", "--revision: expected a name of the hub as --model", "--revision", "main")
    set_input(monkeypatch, b"caf\xe9")
    check_refused(
        capsys,
        ["generate", "-", "--model", str(folder)],
        "standard input: expected text in UTF-8, got byte 0xe9 at 3",
    )
