import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from gluonish.kernels.compiler import machine_code, object_code

ROOT = Path(__file__).resolve().parents[3]

# A thread is inside LLVM when the main thread forks; the child compiles a kernel.
FORKING = """
import os, signal, threading, time
from llvmlite import binding
from gluonish.kernels.compiler import machine_code, object_code

text = "define void @gluonish_body(i64 %a, i64 %b, i64* %c) { ret void }"
machine_code.load(machine_code.generate(text))
inside = threading.Event()
generate = object_code.generate

def slow(*arguments):
    with binding.ffi.lib._lock:
        inside.set()
        time.sleep(0.5)
    return generate(*arguments)

object_code.generate = slow
thread = threading.Thread(target=machine_code.generate, args=(text,))
thread.start()
assert inside.wait(60)
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    object_code.generate = generate
    machine_code.load(machine_code.generate(text))
    os._exit(0)
print(os.waitpid(pid, 0)[1])
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_compiles_that_was_forked_while_a_thread_compiled() -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    done = subprocess.run(
        [sys.executable, "-c", FORKING],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    assert done.stdout == "0\n"


def test_code_is_told_from_other_versions_without_source_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in a frozen program: its modules have no files, but loaders with their code."""
    spec = object_code.__spec__
    assert spec is not None
    frozen = ModuleSpec(spec.name, spec.loader, origin=str(tmp_path / "object_code.py"))
    monkeypatch.setattr(object_code, "__spec__", frozen)
    monkeypatch.setattr(object_code, "__file__", frozen.origin)
    versions = machine_code.versions.__wrapped__  # they are read once in a process
    first = versions()
    assert first == versions()

    class Other:
        def get_code(self, name: str) -> object:
            return compile("1 + 1", "object_code.py", "exec")

    monkeypatch.setattr(frozen, "loader", Other())
    assert first != versions()
