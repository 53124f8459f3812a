"""``python -m benchmarks.cpu``: its list, its pages, and that every benchmark can be called."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.cpu.__main__ import listing, names

ROOT = Path(__file__).parents[2]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.cpu", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_list_has_every_benchmark() -> None:
    assert [line.split()[0] for line in listing().splitlines()] == names()
    assert {"inference", "training", "operators", "eager_add"} <= set(names())
    done = run()
    assert done.returncode == 0
    assert listing() in done.stdout


def test_unknown_name_is_refused_with_the_list() -> None:
    done = run("nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert listing() in done.stderr


@pytest.mark.parametrize("name", names())
def test_benchmark_has_a_main(name: str) -> None:
    assert callable(import_module(f"benchmarks.cpu.{name}").main)


def test_page_has_date_machine_command_and_text(tmp_path: Path) -> None:
    page = tmp_path / "eager_add.md"
    done = run("eager_add", "--page", str(page), "--repeats", "1", "--calls", "10")
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    assert text.startswith("# eager_add\n\n20")
    assert "$ python -m benchmarks.cpu eager_add --repeats 1 --calls 10\n" in text
    assert done.stdout.strip() in text
