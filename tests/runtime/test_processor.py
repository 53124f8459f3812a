from pathlib import Path

import pytest

from gluonish.core.cpu_quota import cpu_limit
from gluonish.core.operating_system import usable_cores
from gluonish.runtime import features as module
from gluonish.runtime.features import memory_limit, processor

CPUINFO = """processor\t: 0
model name\t: Some Processor 9000
flags\t\t: fpu sse sse2 avx2

processor\t: 1
model name\t: Some Processor 9000
flags\t\t: fpu sse sse2 avx2
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_model_and_features_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put(tmp_path / "cpuinfo", CPUINFO)
    monkeypatch.setattr(module, "_CPUINFO", tmp_path / "cpuinfo")
    found = processor.__wrapped__()
    assert (found.model, found.flags) == ("Some Processor 9000", {"fpu", "sse", "sse2", "avx2"})


def test_another_system_has_a_processor_without_features(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "_CPUINFO", tmp_path / "none")
    found = processor.__wrapped__()
    assert found.flags == frozenset()
    assert found.model


def test_some_cores_are_usable() -> None:
    assert 1 <= usable_cores() <= processor().cores


def test_limits_of_version_2_are_the_smallest_around(tmp_path: Path, own: Path) -> None:
    put(own, "0::/jobs/mine\n")
    put(tmp_path / "jobs/mine/cpu.max", "max 100000\n")
    put(tmp_path / "jobs/cpu.max", "150000 100000\n")
    put(tmp_path / "cpu.max", "400000 100000\n")
    put(tmp_path / "jobs/mine/memory.max", "2000000000\n")
    put(tmp_path / "jobs/memory.max", "max\n")
    assert cpu_limit(tmp_path, own) == 1.5
    assert memory_limit(tmp_path, own) == 2_000_000_000


def test_limits_of_version_1_are_read(tmp_path: Path, own: Path) -> None:
    put(own, "4:memory:/a/b\n3:cpu,cpuacct:/a\n0::/\n")
    put(tmp_path / "cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n")
    put(tmp_path / "cpu,cpuacct/a/cpu.cfs_period_us", "100000\n")
    put(tmp_path / "memory/a/b/memory.limit_in_bytes", "9223372036854771712\n")
    put(tmp_path / "memory/a/memory.limit_in_bytes", "1000000\n")
    assert cpu_limit(tmp_path, own) == 0.5
    assert memory_limit(tmp_path, own) == 1_000_000


def test_a_container_sees_its_group_at_the_root(tmp_path: Path, own: Path) -> None:
    put(own, "0::/docker/0123\n")
    put(tmp_path / "cpu.max", "200000 100000\n")
    put(tmp_path / "memory.max", "5000000\n")
    assert (cpu_limit(tmp_path, own), memory_limit(tmp_path, own)) == (2, 5_000_000)


def test_nothing_is_no_limit(tmp_path: Path, own: Path) -> None:
    assert cpu_limit(tmp_path, own) is memory_limit(tmp_path, own) is None
    put(own, "0::/\n1:cpu:/\n2:memory:/\n")
    put(tmp_path / "cpu/cpu.cfs_quota_us", "-1\n")
    put(tmp_path / "cpu/cpu.cfs_period_us", "100000\n")
    put(tmp_path / "memory.max", "max\n")
    assert cpu_limit(tmp_path, own) is memory_limit(tmp_path, own) is None
