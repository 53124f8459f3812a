"""The check of tests/left_files.py: what fails it, and what does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.left_files import files_below

ROOT = Path(__file__).resolve().parents[1]


def run(folder: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a test with this body, under the check, in a folder of its own."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / ".gitignore").write_text("# caches\n*.pyc\n__pycache__/\n/build/\n.pytest_cache/\n")
    (folder / "test_one.py").write_text(f"from pathlib import Path\ndef test_one():\n    {body}\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.left_files", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "options", [(), ("-p", "xdist.plugin", "-n", "1")], ids=["one-process", "workers"]
)
def test_file_that_a_test_leaves_fails_the_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = run(tmp_path, "Path('profile.json').write_text('')", *options)
    assert "1 passed" in result.stdout
    assert result.returncode == 1
    assert result.stdout.count("the tests left profile.json in the repository") == 1


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "Path('pytest.ini').write_text('[pytest]')",
        "Path('build').mkdir(); Path('build', 'a').write_text('')",
    ],
    ids=["nothing", "existing", "ignored"],
)
def test_run_that_leaves_nothing_passes(tmp_path: Path, body: str) -> None:
    result = run(tmp_path, body)
    assert result.returncode == 0, result.stdout
    assert "the tests left" not in result.stdout


def test_failed_run_keeps_its_exit_status_and_names_the_file(tmp_path: Path) -> None:
    result = run(tmp_path, "Path('left').write_text(''); raise KeyboardInterrupt")
    assert result.returncode == 2
    assert "the tests left left in" in result.stdout


def test_files_of_this_repository_are_seen() -> None:
    files = files_below(ROOT)
    assert {"README.md", os.path.join("tests", "test_left_files.py")} <= files
    assert not any(name.startswith(".git" + os.sep) or name.endswith(".pyc") for name in files)
