import os
import resource
from pathlib import Path

import numpy as np
import pytest

from gluonish.core import cpu_memory
from gluonish.gluon.data import ArrayDataset, DataLoader, shared_memory
from gluonish.gluon.data.channel import SPARE_SLOTS, Ring
from gluonish.gluon.data.shared_memory import SharedMemoryError, available_nbytes, new_file
from tests.gluon.data.programs import run, wait_until_gone

MIB = 1 << 20


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in whose ``proc`` and ``groups`` a system describes itself."""
    monkeypatch.setattr(shared_memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(cpu_memory, "ROOT", tmp_path / "groups")
    monkeypatch.setattr(cpu_memory, "OWN", tmp_path / "proc/self/cgroup")
    write(tmp_path / "proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 5000 kB\nSwapFree: 500 kB\n")
    return tmp_path


def test_machine_bounds_memory(system: Path) -> None:
    assert available_nbytes() == (5500 * 1024, "the machine")


def test_control_groups_bound_memory_up_to_the_root(system: Path) -> None:
    write(system / "proc/self/cgroup", "0::/outer/inner\n")
    write(system / "groups/outer/memory.max", "1000000\n")
    write(system / "groups/outer/memory.current", "700000\n")
    write(system / "groups/outer/memory.stat", "anon 5\nactive_file 20000\ninactive_file 30000\n")
    write(system / "groups/outer/inner/memory.max", "max\n")
    write(system / "groups/outer/inner/memory.current", "600000\n")
    assert available_nbytes() == (350000, f"control group {system / 'groups/outer'}")


def test_first_version_of_control_groups_bounds_memory(system: Path) -> None:
    write(system / "proc/self/cgroup", "9:cpu,cpuacct:/\n4:memory:/job\n")
    write(system / "groups/memory/job/memory.limit_in_bytes", "2000000\n")
    write(system / "groups/memory/job/memory.usage_in_bytes", "2500000\n")
    assert available_nbytes() == (0, f"control group {system / 'groups/memory/job'}")


def test_container_whose_group_has_another_name_outside_is_bounded(system: Path) -> None:
    write(system / "proc/self/cgroup", "0::/../../elsewhere\n")
    write(system / "groups/memory.max", "1000\n")
    write(system / "groups/memory.current", "400\n")
    assert available_nbytes() == (600, f"control group {system / 'groups'}")


def test_unknown_system_bounds_nothing(system: Path) -> None:
    (system / "proc/meminfo").unlink()
    assert available_nbytes()[0] == 1 << 62


def test_memory_is_reserved_when_a_file_is_made() -> None:
    descriptor = new_file(3 * MIB, "a test")
    status = os.fstat(descriptor)
    os.close(descriptor)
    assert (status.st_size, status.st_blocks * 512) == (3 * MIB, 3 * MIB)


def test_ring_reserves_all_slots_and_hands_out_each_once() -> None:
    ring = Ring(3, 5000)
    assert os.fstat(ring.descriptor).st_blocks * 512 == 3 * ring.slot_nbytes
    taken = [ring.acquire() for _ in range(4)]
    assert taken.pop() is None
    assert sorted(offset for offset in taken if offset is not None) == [
        0,
        ring.slot_nbytes,
        2 * ring.slot_nbytes,
    ]


@pytest.mark.parametrize("prefetch", [0, 3])
def test_too_little_memory_is_said_when_the_first_batch_has_come(
    prefetch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = DataLoader(ArrayDataset(np.zeros((8, MIB))), 1, num_workers=1, prefetch=prefetch)
    batches = iter(loader)
    pids = [worker.process.pid for worker in loader._pool._workers] if loader._pool else []  # type: ignore[attr-defined]
    monkeypatch.setattr(shared_memory, "available_nbytes", lambda: (20 * MIB, "a small machine"))
    slots = prefetch + SPARE_SLOTS
    with pytest.raises(
        SharedMemoryError,
        match=rf"expected {slots * 8 * MIB} bytes of shared memory for {slots} batches of "
        rf"{8 * MIB} bytes, got {20 * MIB} in a small machine; lower num_workers",
    ):
        next(batches)
    wait_until_gone(pids, 20)
    monkeypatch.undo()
    assert next(iter(loader)).shape == (1, MIB)


def test_dataset_that_does_not_fit_is_refused_before_workers_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_memory, "available_nbytes", lambda: (MIB, "a small machine"))
    loader = DataLoader(ArrayDataset(np.zeros((2, MIB))), 1, num_workers=1)
    with pytest.raises(SharedMemoryError, match=r"for the dataset, got 1048576 .*thread_pool=True"):
        iter(loader)


def test_what_the_system_refuses_is_an_error_and_not_a_signal() -> None:
    done = run(
        """
        import resource
        import numpy as np
        from gluonish.gluon.data import ArrayDataset, DataLoader
        dataset = ArrayDataset(np.arange(8)).transform(lambda i: np.zeros(4096 * 64))
        loader = DataLoader(dataset, 1, num_workers=1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            list(loader)
        except MemoryError as error:
            print(type(error).__name__, error)
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "SharedMemoryError DataLoader: expected 2097152 bytes of shared memory for a batch "
    )


def faults_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[7])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="page faults are read from /proc")
def test_no_memory_is_allocated_once_the_ring_is_there() -> None:
    loader = DataLoader(ArrayDataset(np.zeros((32, MIB), np.uint8)), 4, num_workers=1)
    for _ in range(3):
        for batch in loader:
            assert batch.shape == (4, MIB)
    (worker,) = loader._pool._workers
    ring = loader._pool._service.ring
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, faults_of(worker.process.pid)
    for _ in range(3):
        for batch in loader:
            assert int(batch[0, 0].asscalar()) == 0
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, faults_of(worker.process.pid)
    assert loader._pool._service.ring is ring
    # A batch has 1024 pages, and there were 24.
    assert after[0] - before[0] < 500
    assert after[1] - before[1] < 500


def test_memory_does_not_grow_over_epochs() -> None:
    done = run(
        """
        import numpy as np
        from gluonish.gluon.data import ArrayDataset, DataLoader

        def resident_kib(pid):
            with open(f"/proc/{pid}/status") as file:
                return int(next(line for line in file if line.startswith("VmRSS")).split()[1])

        data = ArrayDataset(np.zeros((64, 3, 64, 64), "float32"), np.arange(64))
        loader = DataLoader(data, 4, shuffle=True, num_workers=2, last_batch="rollover")
        def epoch():
            for images, labels in loader:
                images + 1
            pids = ["self", *(worker.process.pid for worker in loader._pool._workers)]
            return [resident_kib(pid) for pid in pids]
        for _ in range(5):
            before = epoch()
        for _ in range(20):
            after = epoch()
        print(max(b - a for a, b in zip(before, after)))
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    # 20 epochs of 16 batches of 196 KiB are 61 MiB.
    assert int(done.stdout) < 4096
