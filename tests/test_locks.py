"""Every lock of the package, with the reason why it hangs nobody.

A signal's handler, or a destructor that the garbage collector runs, comes in the middle of
anything. If the code around it holds a plain lock, work that needs the lock waits for ever; if it
holds one that its thread may take again, so does work of another thread that the handler waits for.
"""

import ast
from pathlib import Path

import gluonish
import gluonish_engine
from gluonish.core.timeout_lock import TimeoutLock

PACKAGES = [Path(one.__file__).parent for one in (gluonish, gluonish_engine)]
NAMES = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier"}
TIMEOUT_LOCK = TimeoutLock.__name__
NAMES |= {"allocate_lock", TIMEOUT_LOCK}

GATE = "a gate: one thread waits there once, another opens it, and nothing is done in between"
TIMED = "waits time out, and the work is correct when it is done twice"

# Module and name of what makes it: why nobody hangs there.
REASONS = {
    (
        "gluonish/gluon/block/tracing.py",
        "RLock",
    ): "held for a look at a few names; handlers may re-enter",
    ("gluonish/core/loading.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/onednn/cache.py", "Lock"): GATE,
    (
        "gluonish/core/timeout_lock.py",
        "RLock",
    ): "of every TimeoutLock; waits end",
    ("gluonish/gluon/data/dataloader.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/gluon/data/service_threads.py", "Lock"): GATE,
    ("gluonish/gluon/data/thread_pool.py", "Lock"): GATE,
    ("gluonish/gluon/data/worker_service.py", "Lock"): GATE,
    ("gluonish/kvstore/distributed/server.py", "Event"): GATE,
    ("gluonish/gluon/download/http_fetch.py", "Event"): GATE,
    ("gluonish/gluon/download/http_stream.py", "Event"): "waits end with the pause before a retry",
    ("gluonish/graph/executable.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/gluon/block/hybrid_block.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/cupy/cublas.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/cupy/cudnn.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/ahead.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/busy_cores.py", "Event"): GATE,
    ("gluonish/kernels/compiler/compile.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/compiler/helper_process.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/compiler/machine_code.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/compiler/progress.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/kernels/onednn/register.py", TIMEOUT_LOCK): TIMED,
    (
        "gluonish/kvstore/nccl_reduce.py",
        "RLock",
    ): "waits end with an error; a handler's launch in the middle of another is refused",
    ("gluonish/ndarray/rendezvous.py", "Event"): GATE,
    ("gluonish/gluon/parameter/parameter.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/profiler/state.py", "Event"): GATE,
    ("gluonish/profiler/state.py", TIMEOUT_LOCK): TIMED,
    ("gluonish/recordio/framing.py", "RLock"): "only where the system has no pread: Windows",
    ("gluonish/tools/env_checks/threads.py", "Barrier"): "a check, of which each wait is bounded",
    ("gluonish_engine/idle.py", "Lock"): GATE,
    ("gluonish_engine/naive.py", "RLock"): "one operator at a time is what NaiveEngine is for",
    ("gluonish_engine/threaded.py", "Lock"): GATE,
    ("gluonish_engine/var.py", "Lock"): GATE,
}


def made_in(path: Path) -> set[str]:
    """Return the names of the locks that a module makes."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            name = getattr(function, "attr", None) or getattr(function, "id", None)
            owner = getattr(getattr(function, "value", None), "attr", "")
            if name in NAMES and owner != "cuda":  # an event of a GPU is none
                found.add(name)
    return found


def test_every_lock_has_a_reason() -> None:
    found = {
        (path.relative_to(package.parent).as_posix(), name)
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
        for name in made_in(path)
    }
    assert found == REASONS.keys()


def test_locks_that_are_made_otherwise_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "import threading\nfrom threading import Lock\na = Lock()\nb = threading.RLock()"
    )
    assert made_in(path) == {"Lock", "RLock"}
