import os
import subprocess
import sys

import pytest

from gluonish.core.context import cpu
from gluonish.core.cpu_memory import cached_limit

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's own")

TIMEOUT_S = 60

# Prints page faults of 20 times 16 fresh arrays of 2 MiB, and resident MiB before and after the
# cache is emptied, above what it was at the start.
PROGRAM = """
import resource
from gluonish.core.context import cpu
from gluonish.core.device import device_of
import numpy as np

device = device_of(cpu())

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20

def touch():
    arrays = [device.empty((1 << 19,), np.dtype(np.float32)) for _ in range(16)]
    for array in arrays:
        array.fill(1)

start = resident()
touch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    touch()
after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
kept = resident() - start
cpu().empty_cache()
print(after - before, kept, resident() - start)
"""


def _run(**environment: str) -> tuple[int, int, int]:
    decided = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
    inherited = {name: value for name, value in os.environ.items() if name not in decided}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**inherited, "NUMPY_MADVISE_HUGEPAGE": "0", "PYTHONPATH": os.pathsep.join(sys.path),
             **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )  # fmt: skip
    faults, kept, released = map(int, found.stdout.split())
    return faults, kept, released


@linux
def test_freed_memory_serves_the_next_array_without_page_faults() -> None:
    faults, kept, _ = _run()
    assert faults < 2000  # of 163,840 pages
    assert kept >= 30


@linux
def test_emptying_the_cache_gives_it_back() -> None:
    assert _run()[2] <= 4


@linux
def test_a_user_who_set_glibcs_variables_decides() -> None:
    faults, kept, _ = _run(MALLOC_TRIM_THRESHOLD_="131072", MALLOC_MMAP_THRESHOLD_="131072")
    assert faults > 100_000
    assert kept <= 4


def test_what_is_kept_is_a_share_of_the_memory() -> None:
    assert 0 < cached_limit() < 1 << 31


def test_emptying_the_cache_leaves_live_arrays_alone() -> None:
    held = bytes(range(256)) * 4096
    cpu().empty_cache()
    assert held == bytes(range(256)) * 4096
