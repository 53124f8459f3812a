"""Functions on several ranks, as users' tests call them."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, DistributedError
from gluonish.test_utils import run_on_ranks

pytestmark = pytest.mark.dist


class Point:
    """Something of this module that is sent to ranks and back."""

    def __init__(self, x: float) -> None:
        self.x = x


class StrangeError(Exception):
    """An exception that cannot be made anew from its arguments."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__("strange")


def add_up(point: Point, factor: int) -> tuple[int, Point]:
    store = mx.kv.create("dist_sync")
    value = mx.nd.ones((2,)) * (store.rank + 1)
    store.init("a", value)
    store.pushpull("a", value, out=value)
    return store.rank, Point(point.x + factor * float(value[0].asscalar()))


def fail_on_one(kind: str) -> int:
    store = mx.kv.create("dist_sync")
    if store.rank == 1:
        if kind == "raises":
            raise ValueError("on purpose")
        if kind == "strange":
            raise StrangeError(1, 2)
        os._exit(0)
    store.barrier()
    return 5


def fail_without_a_store() -> None:
    assert os.environ["RANK"] == "0", "a claim"


def sleep(seconds: float) -> None:
    sys.stderr.write(f"rank {os.environ['RANK']} sleeps\n")
    time.sleep(seconds)


def say(word: str) -> str | None:
    sys.stdout.write(f"{word}\n")
    return os.environ.get("COLOUR")


@pytest.mark.parametrize("ranks", [1, 3])
def test_each_rank_returns_what_it_found(ranks: int) -> None:
    found = run_on_ranks(add_up, ranks, Point(0.5), 2)
    assert [rank for rank, _ in found] == list(range(ranks))
    assert {point.x for _, point in found} == {0.5 + ranks * (ranks + 1)}
    assert all(type(point) is Point for _, point in found)


def test_the_error_of_a_rank_is_raised_here() -> None:
    with pytest.raises(ValueError, match="on purpose") as caught:
        run_on_ranks(fail_on_one, 2, "raises")
    (note,) = caught.value.__notes__
    assert note.startswith("on rank 1 of 2:\nTraceback")
    with pytest.raises(AssertionError, match="a claim"):
        run_on_ranks(fail_without_a_store, 2)


def test_an_error_that_cannot_be_sent_is_told() -> None:
    with pytest.raises(DistributedError, match="StrangeError: strange"):
        run_on_ranks(fail_on_one, 2, "strange")


def test_a_rank_that_vanishes_is_an_error() -> None:
    with pytest.raises(
        DistributedError, match=r"to return on 2 ranks, got status \d+, and nothing"
    ):
        run_on_ranks(fail_on_one, 2, "vanishes")


def test_ranks_that_hang_are_ended() -> None:
    start = time.perf_counter()
    with pytest.raises(DistributedError, match=r"sleep to end on 2 ranks within 15 s(.|\n)*sleeps"):
        run_on_ranks(sleep, 2, 54321.0, timeout_s=15)
    assert time.perf_counter() - start < 40
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "gluonish-ranks-" not in listed.stdout


def test_output_and_variables_are_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_on_ranks(say, 2, "hello", variables={"COLOUR": "a b=c:d"}) == ["a b=c:d"] * 2
    assert capfd.readouterr().out == "hello\nhello\n"


def test_functions_of_a_program_run_and_the_program_does_not(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import gluonish as mx\n"
        "def work(x):\n"
        "    return mx.kv.create('dist_sync').rank + x\n"
        "if __name__ == '__main__':\n"
        "    print(mx.test_utils.run_on_ranks(work, 2, 10))\n"
    )
    done = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[10, 11]\n", "")


@pytest.mark.parametrize("function", [lambda: 0, Point(1), len, Point.__init__])
def test_what_others_cannot_import_is_refused(function: Any) -> None:
    with pytest.raises(ArgumentError, match="expected a function at the top level of a module"):
        run_on_ranks(function, 2)
