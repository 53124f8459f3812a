"""Processes get a control group with a limit, and leave it at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.interleaved import quota
from benchmarks.interleaved.driver import PeerError
from gluonish.core.cpu_quota import cpu_limit


def test_a_process_has_the_limit_meanwhile() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        groups = Path(f"/proc/{process.pid}/cgroup")
        try:
            with quota.cpu_quota(0.5, [process.pid]):
                assert cpu_limit(own=groups) == 0.5
        except PeerError as error:
            pytest.skip(f"no control groups can be made here: {error}")
        else:
            assert cpu_limit(own=groups) != 0.5
        finally:
            process.kill()


def test_without_a_limit_nothing_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(quota, "ROOT", tmp_path)
    with quota.cpu_quota(None, [os.getpid()]):
        assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("version", [1, 2])
def test_a_folder_that_cannot_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: int
) -> None:
    own = tmp_path / "own"
    own.write_text("0::/\n" if version == 2 else "1:cpu:/\n", encoding="ascii")
    root = tmp_path / "groups"  # is missing, so that no folder can be made in it
    monkeypatch.setattr(quota, "ROOT", root)
    monkeypatch.setattr(quota, "OWN", own)
    with pytest.raises(PeerError, match="--quota: expected control groups"):  # noqa: SIM117
        with quota.cpu_quota(1.0, []):
            pass
