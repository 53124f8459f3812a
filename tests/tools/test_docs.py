import importlib.util
import subprocess
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from gluonish.tools import cli, docs

ROOT = Path(docs.__file__).resolve().parents[2]


class Done:
    returncode = 0


def fake_build(
    monkeypatch: pytest.MonkeyPatch, status: int = 0
) -> tuple[list[list[str]], list[str]]:
    """Replace Sphinx and the browser; return the commands and the addresses that they get."""
    commands: list[list[str]] = []
    opened: list[str] = []

    def run(command: list[str], **_: Any) -> Any:
        commands.append(command)
        done = Done()
        done.returncode = status
        return done

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    return commands, opened


def test_without_the_extra_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "furo" else found("json")
    )
    assert cli.main(["docs", "--output", str(tmp_path / "site")]) == 1
    message = capsys.readouterr().err
    assert "furo" in message
    assert "sphinx" not in message
    assert "pip install 'gluonish[docs]'" in message
    assert not (tmp_path / "site").exists()


def test_the_site_is_built_from_this_clone_and_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands, opened = fake_build(monkeypatch)
    assert cli.main(["docs", "--output", str(tmp_path / "site"), "--jobs", "3"]) == 0
    ((*_, pages, output),) = commands
    assert output == str(tmp_path / "site")
    assert Path(pages).is_dir()
    assert str(ROOT / "docs") in commands[0]
    assert commands[0][commands[0].index("-j") + 1] == "3"
    assert "--fail-on-warning" not in commands[0]
    assert opened == [(tmp_path / "site" / "index.html").as_uri()]
    assert str(tmp_path / "site" / "index.html") in capsys.readouterr().out


def test_no_open_and_strict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands, opened = fake_build(monkeypatch)
    assert cli.main(["docs", "--output", str(tmp_path), "--no-open", "--strict"]) == 0
    assert "--fail-on-warning" in commands[0]
    assert not opened


def test_a_build_that_fails_is_the_status_and_opens_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, opened = fake_build(monkeypatch, status=2)
    assert cli.main(["docs", "--output", str(tmp_path)]) == 2
    assert not opened


def test_an_installed_package_finds_its_own_pages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Installed:
        parts = ("..", "share", "doc", "gluonish", "docs", "conf.py")

        def locate(self) -> Path:
            return tmp_path / "share" / "doc" / "gluonish" / "docs" / "conf.py"

    monkeypatch.setattr(docs, "__file__", str(tmp_path / "lib" / "gluonish" / "tools" / "docs.py"))
    monkeypatch.setattr("importlib.metadata.files", lambda name: [Installed()])
    assert docs.source_folder() == tmp_path / "share" / "doc" / "gluonish"


def test_without_pages_the_message_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(docs, "__file__", str(tmp_path / "lib" / "gluonish" / "tools" / "docs.py"))
    monkeypatch.setattr("importlib.metadata.files", lambda name: None)
    with pytest.raises(FileNotFoundError, match="docs: expected the pages"):
        docs.source_folder()
