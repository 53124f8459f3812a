"""Settings of every test: seeds, hypothesis, and the markers that need more than a CPU or patience.

``gpu`` tests are skipped, with the reason, where there is no CUDA device; ``slow`` tests are left
out unless ``-m`` names them. ``-m fast`` runs a sample of under two minutes: one case of each test
that computes in its own process, another one for each ``FAST_SEED``. ``CASES_SHARE=0.3`` runs that
share of the cases of test functions that have many or take long, others for each ``CASES_SEED``.
"""

import math
import os
import random
import signal
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

# Before NumPy and oneDNN start their threads: two test workers with a thread pool each for every
# core would wait for one another. An explicit setting of the caller wins.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Started by nohup or as a background job, Ctrl-C and the end of the terminal are ignored, which
# programs started here inherit.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# Whoever plots in a test does so without a display.
os.environ["MPLBACKEND"] = "Agg"

import hypothesis
import numpy as np
import pytest

from tests.gluon_repository import repository, zip_of_fixture  # noqa: F401  # fixtures
from tests.kernel_home import kernel_home, share_kernel_home
from tests.left_files import (  # noqa: F401  # hooks
    pytest_sessionfinish,
    pytest_sessionstart,
    pytest_terminal_summary,
)
from tests.long_tests import long_tests

# Many tests start programs. Their modules are compiled once and kept until the tests end, whatever
# the caller's setting: a program that compiles all of them itself takes seconds more.
if "PYTHONPYCACHEPREFIX" not in os.environ:
    _BYTECODE = tempfile.TemporaryDirectory(prefix="gluonish-bytecode-")
    os.environ["PYTHONPYCACHEPREFIX"] = _BYTECODE.name
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.pycache_prefix, sys.dont_write_bytecode = os.environ["PYTHONPYCACHEPREFIX"], False

hypothesis.settings.register_profile(
    "quick", derandomize=True, deadline=None, max_examples=25, database=None
)
hypothesis.settings.register_profile(
    "thorough", derandomize=True, deadline=None, max_examples=500, database=None
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

_SEED = 20240229
_ON_REQUEST = ("slow",)
_TESTS = Path(__file__).parent
# Folders whose tests start programs or train, and what else `-m fast` leaves out with those of
# long_tests.txt.
_LONG = (
    *("attack", "benchmarks", "corpus", "fuzz", "programs", "tools", "training"),
    "test_tutorials",
)
_LONG_MARKERS = ("dist", "gpu", "slow")
_FEW = 12  # cases of a test function that takes no long time, which are always run


def _no_gpu_reason() -> str | None:
    """Why ``gpu`` tests cannot run here, or None where they can."""
    try:
        import cupy
    except ImportError as error:
        return f"CuPy cannot be imported: {error}"
    try:
        count: int = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device: {error}"
    return None if count else "no CUDA device"


def pytest_configure() -> None:
    """Leave the user's own folder alone; child processes inherit the one that is used instead."""
    share_kernel_home()
    os.environ["MXNET_HOME"] = os.environ.get("MXNET_HOME") or str(kernel_home())
    # No test asks a server of others, whatever MXNET_GLUON_REPO lacks.
    os.environ["MXNET_GLUON_OTHER_SOURCES"] = "0"


def _by_function(items: Iterable[pytest.Item]) -> dict[tuple[Path, str], list[pytest.Item]]:
    """Return the cases of each test function, by its file and its name."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        cases.setdefault((item.path, getattr(item, "originalname", item.name)), []).append(item)
    return cases


def _listed(path: Path, name: str) -> str:
    """Return a test function as long_tests.txt names it."""
    return f"{'.'.join(path.relative_to(_TESTS.parent).with_suffix('').parts)}::{name}"


def _mark_fast(items: list[pytest.Item]) -> None:
    """Mark one case of each test function, unless it is known to take long."""
    seed = os.environ.get("FAST_SEED", "0")
    left_out = long_tests()
    short = [x for x in items if not any(x.get_closest_marker(word) for word in _LONG_MARKERS)]
    for (path, name), found in _by_function(short).items():
        folder = path.relative_to(_TESTS).with_suffix("").parts[0]
        if folder not in _LONG and _listed(path, name) not in left_out:
            number = zlib.crc32(f"{seed} {path.name} {name}".encode()) % len(found)
            found[number].add_marker("fast")


def _unsampled(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the cases that a sample leaves out, of test functions with many cases or long ones."""
    # Tests may start pytest themselves, which has to run all cases that they name.
    share, seed = float(os.environ.pop("CASES_SHARE", "1")), os.environ.pop("CASES_SEED", "0")
    if share >= 1:
        return set()
    left_out: set[pytest.Item] = set()
    long = long_tests()
    for (path, name), cases in _by_function(items).items():
        least = 1 if _listed(path, name) in long else _FEW
        in_turn = sorted(cases, key=lambda x: zlib.crc32(f"{seed} {x.nodeid}".encode()))
        left_out.update(in_turn[max(least, math.ceil(share * len(cases))) :])
    return left_out


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what this machine cannot run, and leave out what was not asked for."""
    expression = config.option.markexpr
    if "fast" in expression:
        _mark_fast(items)
    unasked = [name for name in _ON_REQUEST if name not in expression]
    left_out = {item for item in items if any(item.get_closest_marker(name) for name in unasked)}
    left_out |= _unsampled([item for item in items if item not in left_out])
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    reason = _no_gpu_reason() if on_gpu else None
    if reason is not None:
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    """Start every test from the same state of the global generators, and leave them as found."""
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(_SEED)
    np.random.seed(_SEED)  # noqa: NPY002 (the global generator is what must not differ)
    yield
    random.setstate(python_state)
    np.random.set_state(numpy_state)  # noqa: NPY002
