"""Libraries of CUDA sources on the host are made once for all processes, and forgotten in time."""

import os
import time
from pathlib import Path
from typing import NoReturn

import pytest

from tests.kernels.cupy import host_compiler, host_kernels
from tests.kernels.cupy.one_device import COMPILED

_DAYS_S = 4 * 24 * 3600.0


def _aged(path: Path, seconds: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


@COMPILED
def test_a_library_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    code = 'extern "C" __global__ void fill(float *x) { x[0] = 4; }'
    compile_source = host_kernels._compiled.__wrapped__
    assert compile_source(code)["run_fill"]

    def compiled(arguments: list[str]) -> NoReturn:
        raise AssertionError("compiled again")

    monkeypatch.setattr(host_compiler, "_call", compiled)
    assert compile_source(code)["run_fill"]
    with pytest.raises(AssertionError, match="compiled again"):
        compile_source(code.replace("fill", f"fill{os.getpid()}"))


def test_what_nobody_has_used_for_days_goes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    used = _aged(tmp_path / "host" / "used" / "new.so", 60)
    unused = _aged(tmp_path / "host" / "used" / "old.so", _DAYS_S)
    header = _aged(tmp_path / "host" / "used" / "prelude.h", _DAYS_S)
    other = _aged(tmp_path / "host" / "unused" / "old.so", _DAYS_S).parent
    os.utime(other, (0, 0))
    monkeypatch.setattr(host_compiler, "kernel_home", lambda: tmp_path)
    assert host_compiler._home.__wrapped__() == tmp_path / "host"
    assert used.exists()
    assert header.exists()
    assert not unused.exists()
    assert not other.exists()
