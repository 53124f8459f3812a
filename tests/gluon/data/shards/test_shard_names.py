"""Patterns of shards; bash says what braces stand for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingFileError,
    NotSupportedError,
)
from gluonish.gluon.data.shards.shard_names import expanded, shard_names

PATTERNS = [
    "train-{000000..000012}.tar",
    "{7..11}",
    "a{b,c,}d",
    "x{1..2}{a,b}-{08..11}.tar",
    "plain.tar",
    "{3..3}",
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_braces_stand_for_what_bash_says(pattern: str) -> None:
    command = ["bash", "-c", f"printf '%s\\n' {pattern}"]
    expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert list(expanded("X", pattern)) == expected[:-1]


def test_urls_are_expanded_without_a_request() -> None:
    names = shard_names("X", "https://h.invalid/a-{0..2}.tar?x=1")
    assert names == [f"https://h.invalid/a-{i}.tar?x=1" for i in range(3)]


def test_paths_patterns_and_lists_of_them(tmp_path: Path) -> None:
    for name in ("b1.tar", "b0.tar", "c.tar", "odd{1}[x].tar"):
        (tmp_path / name).touch()
    found = shard_names("X", [f"{tmp_path}/b*.tar", f"{tmp_path}/{{b1,c}}.tar", tmp_path / "c.tar"])
    assert [Path(x).name for x in found] == ["b0.tar", "b1.tar", "b1.tar", "c.tar", "c.tar"]
    assert shard_names("X", f"{tmp_path}/odd{{1}}[x].tar") == [f"{tmp_path}/odd{{1}}[x].tar"]
    assert shard_names("X", f"file://{tmp_path}/c.tar") == [f"{tmp_path}/c.tar"]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("https://h/{0..9", "closed braces"),
        ("https://h/{x}.tar", r"braces such as \{000..120\} or \{a,b\}, got \{x\}"),
        ("https://h/{9..1}", "ascending numbers"),
        ("https://h/{0..99999999}", "up to 1000000 ascending"),
        ("https://h/{0..99999}{0..99999}", "up to 1000000 shards"),
        ("https://h/" + "{a,b}" * 3000, "up to 1000000 shards"),
        ("https://h/{\N{ARABIC-INDIC DIGIT ONE}..2}", r"braces such as"),
        ("pipe:cat x.tar", "no command is run"),
        ([], "at least one shard"),
    ],
)
def test_bad_patterns_are_refused(pattern: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"X: expected .*{message}"):
        shard_names("X", pattern)


def test_missing_files_and_other_protocols_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"expected an existing file, got '.*/b-1\.tar'"):
        shard_names("X", f"{tmp_path}/b-{{1..2}}.tar")
    with pytest.raises(MissingFileError, match=r"files that match '.*/b\*', got none"):
        shard_names("X", f"{tmp_path}/b*")
    with pytest.raises(NotSupportedError, match="no client for s3"):
        shard_names("X", "s3://bucket/a.tar")
    with pytest.raises(ArgumentTypeError, match="list of them, got 7"):
        shard_names("X", 7)
    with pytest.raises(ArgumentTypeError, match="expected a path"):
        shard_names("X", [7])
