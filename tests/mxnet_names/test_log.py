import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gluonish import log
from gluonish.core.errors import ArgumentError

LINE = r"{}\d{{4}} \d\d:\d\d:\d\d \d+ .*test_log\.py:\w+:\d+\] {}"


@pytest.fixture
def name() -> Iterator[str]:
    yield "gluonish-test-log"
    logger = logging.getLogger("gluonish-test-log")
    for handler in logger.handlers[:]:
        logger.removeHandler(handler)
        handler.close()


def test_lines_begin_with_level_time_process_and_place(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = log.get_logger(name, level=log.INFO)
    logger.debug("left out")
    logger.info("step %d", 3)
    logger.error("no data")
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(LINE.format("I", "step 3"), first)
    assert re.fullmatch(LINE.format("E", "no data"), second)


def test_terminals_have_colors(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    logger = log.get_logger(name, level=log.INFO)
    logger.info("go")
    logger.warning("slow")
    logger.critical("stop")
    starts = [line[:5] for line in capsys.readouterr().err.splitlines()]
    assert starts == ["\x1b[32m", "\x1b[33m", "\x1b[31m"]


def test_files_have_none_and_go_on(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("before\n")
    log.get_logger(name, filename=path).warning("after")
    before, after = path.read_text().splitlines()
    assert before == "before"
    assert re.fullmatch(LINE.format("W", "after"), after)


def test_filemode_w_begins_anew(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("before\n")
    log.get_logger(name, filename=path, filemode="w").warning("after")
    assert len(path.read_text().splitlines()) == 1


def test_a_logger_is_set_up_once(name: str) -> None:
    first = log.get_logger(name, level=log.INFO)
    second = log.get_logger(name, level=log.DEBUG)
    assert second is first
    assert (len(second.handlers), second.level) == (1, log.INFO)


def test_the_root_logger_is_left_alone() -> None:
    root = logging.getLogger()
    before = (root.level, root.handlers[:])
    assert log.get_logger(level=log.DEBUG) is root
    assert (root.level, root.handlers) == before


def test_filemode_needs_a_file(name: str) -> None:
    with pytest.raises(ArgumentError, match="expected a filename with filemode, got 'w'"):
        log.get_logger(name, filemode="w")


def test_a_file_may_be_given_in_bytes(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="filename: expected a path without NUL"):
        log.get_logger(name, "a\0b")
    log.get_logger(name, os.fsencode(tmp_path / "a.log")).error("x")
    assert (tmp_path / "a.log").read_text().endswith("x\n")


def test_the_old_name_warns(name: str) -> None:
    with pytest.warns(DeprecationWarning, match="use log.get_logger"):
        logger = log.getLogger(name)
    assert logger.name == name
