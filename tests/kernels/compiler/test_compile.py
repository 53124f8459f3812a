import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.config import MXNET_HOME
from gluonish.kernels import (
    openmp,
)
from gluonish.kernels.compiler import (
    KernelError,
    compile_kernel,
    disk_cache,
    machine_code,
)
from gluonish.kernels.compiler import (
    compile as compiler,
)

ROOT = Path(__file__).resolve().parents[3]
SCALE = """
def body(begin, end, words):
    x = f32(words[0])
    y = f32(words[1])
    factor = float32(as_float(words[2]))
    for i in range(begin, end):
        independent()
        y[i] = x[i] * factor
"""
COUNT = """
def body(begin, end, words):
    count = i64(words[0])
    for i in range(begin, end):
        count[i] = count[i] + 1
"""


def words(*values: Any) -> Any:
    """Addresses of arrays, whole numbers, and bits of floats."""

    def word(value: Any) -> int:
        if isinstance(value, np.ndarray):
            return value.ctypes.data
        return int(np.float64(value).view(np.int64)) if isinstance(value, float) else value

    return np.array([word(value) for value in values], np.int64)


def numbers(count: int) -> Any:
    return np.random.default_rng(3).standard_normal(count).astype(np.float32)


@pytest.mark.parametrize("grain", [1, 7, 100, 5000])
def test_every_step_runs_once_whatever_the_grain(grain: int) -> None:
    x, y = numbers(4099), np.zeros(4099, np.float32)
    compile_kernel(SCALE)(x.size, words(x, y, 1.5), grain)
    np.testing.assert_array_equal(y, x * np.float32(1.5))


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("extent", [2, 5, 64, 1001, 20000])
def test_every_step_runs_once_in_a_team(
    extent: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openmp.team(), "threads", lambda: threads)
    count = np.zeros(extent + 1, np.int64)
    kernel = compile_kernel(COUNT)
    for _ in range(20):
        kernel(extent, np.array([count.ctypes.data], np.int64), 1)
    assert count.tolist() == [20] * extent + [0]


def test_steps_beyond_the_extent_do_not_run() -> None:
    x, y = numbers(64), np.zeros(64, np.float32)
    compile_kernel(SCALE)(40, words(x, y, 2.0))
    np.testing.assert_array_equal(y[:40], x[:40] * 2)
    assert not y[40:].any()


def test_an_empty_extent_does_nothing() -> None:
    y = np.zeros(4, np.float32)
    compile_kernel(SCALE)(0, words(y, y, 2.0))
    assert not y.any()


def test_a_kernel_may_write_over_its_input() -> None:
    x = numbers(1000)
    expected = x * np.float32(3)
    compile_kernel(SCALE)(x.size, words(x, x, 3.0))
    np.testing.assert_array_equal(x, expected)


def test_a_source_is_compiled_once() -> None:
    assert compile_kernel(SCALE) is compile_kernel(SCALE)


def test_what_floats_allow_is_part_of_the_key() -> None:
    assert compile_kernel(SCALE, ()) is not compile_kernel(SCALE)


def test_a_sum_in_a_local_variable_is_right() -> None:
    source = """
def body(begin, end, words):
    x = f64(words[0])
    total = 0.0
    for i in range(begin, end):
        total += x[i]
    f64(words[1])[0] = total
"""
    x, y = np.arange(1000.0), np.zeros(1)
    compile_kernel(source)(1000, words(x, y))
    assert y[0] == x.sum()


def test_rows_with_nested_loops_and_another_function() -> None:
    source = """
def squared(x):
    return x * x

def body(begin, end, words):
    n = words[2]
    for row in range(begin, end):
        x = f32(words[0] + 4 * row * n)
        total = float32(0)
        for i in range(n):
            total += squared(x[i])
        scale = float32(1) / sqrt(total)
        y = f32(words[1] + 4 * row * n)
        for i in range(n):
            independent()
            y[i] = x[i] * scale
"""
    x = numbers(60).reshape(6, 10)
    y = np.zeros_like(x)
    compile_kernel(source)(6, words(x, y, 10), 1)
    np.testing.assert_allclose(y, x / np.linalg.norm(x, axis=1, keepdims=True), rtol=1e-6)


def test_several_threads_share_a_kernel() -> None:
    kernel = compile_kernel(SCALE)
    inputs = [numbers(3000) * (i + 1) for i in range(4)]
    outputs = [np.zeros(3000, np.float32) for _ in inputs]

    def work(i: int) -> None:
        for _ in range(50):
            kernel(3000, words(inputs[i], outputs[i], 2.0), 100)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    for x, y in zip(inputs, outputs, strict=True):
        np.testing.assert_array_equal(y, x * 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = unknown(1)", r"got unknown\(\) in line 2: x = unknown\(1\)"),
        ("independent()", "expected independent\\(\\) in a loop"),
        ("x = np.empty(begin)\n    f64(words[0])[0] = x[begin]", "empty"),
        ("f64(words[0])[0] = math.gamma(float64(begin))", "got math.gamma"),
    ],
)
def test_a_source_that_cannot_be_compiled_is_refused(line: str, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        compile_kernel(f"def body(begin, end, words):\n    {line}\n")


def test_a_refusal_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def body(begin, end, words):\n    unknown(begin)\n"
    with pytest.raises(KernelError):
        compile_kernel(source)
    monkeypatch.setattr(compiler, "lower", None)  # not called again
    with pytest.raises(KernelError, match="unknown"):
        compile_kernel(source)


def test_what_llvm_refuses_is_an_error_of_ours() -> None:
    with pytest.raises(KernelError, match="expected valid LLVM IR"):
        machine_code.generate("no text of LLVM's")


def only_file(home: Path) -> Path:
    (path,) = (home / "kernels").iterdir()
    return path


def recompiled(home: Path, source: str) -> tuple[Any, Any]:
    """Compile as a new process would, and return what the kernel gives and what it should."""
    compiler._kernels.clear()
    x, y = numbers(50), np.zeros(50, np.float32)
    with MXNET_HOME.override(str(home)):
        compile_kernel(source)(50, words(x, y, 0.5))
    return y, x / 2


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "shared"])
def test_a_file_that_cannot_be_trusted_is_written_anew(tmp_path: Path, damage: str) -> None:
    recompiled(tmp_path, SCALE)
    path = only_file(tmp_path)
    good = path.read_bytes()
    if damage == "shared":
        path.chmod(0o666)
    else:
        flipped = good[:-9] + bytes([good[-9] ^ 1]) + good[-8:]
        path.write_bytes({"cut": good[:-5], "flipped": flipped, "empty": b""}[damage])
    got, expected = recompiled(tmp_path, SCALE)
    np.testing.assert_array_equal(got, expected)
    assert only_file(tmp_path).read_bytes() == good
    assert not path.stat().st_mode & 0o022


def test_another_version_that_writes_the_same_text_compiles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recompiled(tmp_path, SCALE)
    first = only_file(tmp_path)
    monkeypatch.setattr(compiler, "_toolchain", lambda: ("another version",))
    monkeypatch.setattr(machine_code, "generate", None)  # not called
    got, expected = recompiled(tmp_path, SCALE)
    np.testing.assert_array_equal(got, expected)
    (second,) = {*first.parent.iterdir()} - {first}
    head = len(disk_cache._MAGIC) + 64  # digest of the rest, and key
    assert second.read_bytes()[head:] == first.read_bytes()[head:]


def test_other_options_of_llvm_compile_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recompiled(tmp_path, SCALE)
    monkeypatch.setattr(compiler, "_toolchain", lambda: ("another version",))
    monkeypatch.setattr(machine_code, "versions", lambda: ("another LLVM",))
    made: list[str] = []
    generate = machine_code.generate
    monkeypatch.setattr(machine_code, "generate", lambda text: made.append(text) or generate(text))
    recompiled(tmp_path, SCALE)
    assert len(made) == 1


def test_code_that_cannot_be_linked_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "find", lambda *key: b"no object file")
    got, expected = recompiled(tmp_path, SCALE)
    np.testing.assert_array_equal(got, expected)


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    got, expected = recompiled(tmp_path / "file", SCALE)
    np.testing.assert_array_equal(got, expected)


CHILD = """
import sys
import numpy as np
from gluonish.kernels.compiler import compile, compile_kernel
compile.lower = None
x = np.arange(5, dtype=np.float32)
y = np.zeros(5, np.float32)
w = np.array([x.ctypes.data, y.ctypes.data, np.float64(2).view(np.int64)], np.int64)
compile_kernel(sys.argv[1])(5, w)
print(y.tolist() == [0, 2, 4, 6, 8])
"""


def test_a_later_process_loads_the_code_and_compiles_nothing(tmp_path: Path) -> None:
    recompiled(tmp_path, SCALE)
    environment = {
        **os.environ,
        "MXNET_HOME": str(tmp_path),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}",
    }
    done = subprocess.run(
        [sys.executable, "-c", CHILD, SCALE],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.split() == ["True"]


def test_a_forked_child_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp._State, "team", openmp.team())
    openmp._forget_threads()
    assert openmp.team().parallel == 0
    assert openmp.team().threads() == 1
    x, y = numbers(100), np.zeros(100, np.float32)
    compile_kernel(SCALE)(100, words(x, y, 2.0), 10)
    np.testing.assert_array_equal(y, x * 2)


def test_without_libgomp_one_thread_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise OSError(name)

    monkeypatch.setattr(openmp.ctypes, "PyDLL", missing)  # type: ignore[attr-defined]
    assert openmp._libgomp() is None


def test_missing_llvmlite_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler._toolchain.cache_clear()
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    try:
        with pytest.raises(KernelError, match="pip install llvmlite"):
            compile_kernel(SCALE + "\n# another source\n")
    finally:
        compiler._toolchain.cache_clear()
