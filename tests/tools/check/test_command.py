from pathlib import Path

import pytest

from gluonish.tools.cli import main

GOOD = "import mxnet as mx\nx = mx.nd.ones((2, 3))\nraise SystemExit('this was run')\n"
BAD = "from mxnet import nd, gluon\n\nnd.arrayy([1])\ngluon.nn.BatchNorm()\n"


def test_findings_are_listed_by_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.py").write_text("import mxnet.nowhere")
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "inner" / "bad.py").write_text(BAD)
    (tmp_path / "old.py").write_text("print 'two'\n")
    assert main(["check", str(tmp_path)]) == 1
    bad = tmp_path / "inner" / "bad.py"
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{bad}:3: mxnet.nd.arrayy is missing: ")
    assert lines[1].startswith(f"{bad}:4: mxnet.gluon.nn.BatchNorm differs: ")
    assert lines[2].startswith(f"{tmp_path / 'old.py'}:1: not valid for this Python: ")
    assert lines[3:] == ["3 files: 1 missing, 1 differs, 1 unreadable"]


def test_program_without_findings_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    assert main(["check", str(tmp_path / "good.py")]) == 0
    assert capsys.readouterr().out == "1 file: nothing found\n"


def test_missing_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "nowhere.py"]) == 1
    assert "expected a file or a folder, got 'nowhere.py'" in capsys.readouterr().err
