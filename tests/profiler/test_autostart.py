import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core.config import MXNET_PROFILER_AUTOSTART
from tests.profiler.trace_check import checked_trace

ROOT = Path(__file__).parents[2]
WORK = "from gluonish import nd; (nd.ones((2, 2)) + 1).asnumpy()\n"


def run(folder: Path, source: str, autostart: str = "1", mode: str = "1") -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")]),
        "MXNET_PROFILER_AUTOSTART": autostart,
        "MXNET_PROFILER_MODE": mode,
    }
    return subprocess.run(
        [sys.executable, "-c", source],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout


def test_trace_is_written_at_exit_to_the_file_of_set_config(tmp_path: Path) -> None:
    options = "profile_all=True, filename='mine.json', continuous_dump=False"
    run(tmp_path, f"{WORK}from gluonish import profiler; profiler.set_config({options})\n{WORK}")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]
    names = [e["name"] for e in checked_trace(tmp_path / "mine.json") if e["cat"] == "operator"]
    assert names.count("broadcast_plus_scalar") + names.count("_plus_scalar") == 2


def test_trace_that_the_program_ended_stays(tmp_path: Path) -> None:
    run(tmp_path, f"{WORK}from gluonish import profiler; profiler.dump()\n{WORK * 3}")
    events = checked_trace(tmp_path / "profile.json")
    assert sum(e["cat"] == "operator" and "plus" in e["name"] for e in events) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forks_child_leaves_the_file_alone(tmp_path: Path) -> None:
    fork = "import os, sys\nif os.fork() == 0:\n    sys.exit(0)\nos.wait()\n"
    look = "print(os.path.exists('profile.json'))\n"
    assert run(tmp_path, f"{WORK}{fork}{look}").strip() == "False"
    assert json.loads((tmp_path / "profile.json").read_text())["traceEvents"]


def test_import_alone_loads_no_profiler(tmp_path: Path) -> None:
    source = (
        "import sys, gluonish\nprint([name for name in sys.modules if 'gluonish.profiler' in name])"
    )
    assert run(tmp_path, source).strip() == "[]"
    assert run(tmp_path, f"{source}\n{WORK}", autostart="0").strip() == "[]"
    assert list(tmp_path.iterdir()) == []


def test_it_is_off_by_default() -> None:
    assert MXNET_PROFILER_AUTOSTART.default_as_text in ("0", "false")
