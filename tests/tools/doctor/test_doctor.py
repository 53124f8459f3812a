import argparse
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gluonish.core.config import MXNET_HOME, MXNET_LIBRARY_PATH, MXNET_MKLDNN_ENABLED, all_flags
from gluonish.kernels import openmp
from gluonish.kernels.onednn import backend, register
from gluonish.runtime.features import Processor
from gluonish.tools.doctor import libraries, machine, nvidia, run
from gluonish.tools.doctor.command import all_findings, report
from gluonish.tools.doctor.machine import BROKEN, FOUND, MISSING, Finding, imported


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for flag in all_flags():
        monkeypatch.delenv(flag.name, raising=False)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))


def named(findings: Any, name: str) -> Finding:
    (found,) = [finding for finding in findings if finding.name == name]
    return found


def test_this_machine_is_described_and_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(argparse.Namespace(json=False)) == 0
    text = capsys.readouterr().out
    for name in (
        "Python",
        "processor",
        "cores",
        "memory",
        "oneDNN",
        "llvmlite",
        "CuPy",
        "MXNET_HOME",
    ):
        assert f" {name} " in text
    assert text.endswith("\nall requirements work\n")


def test_json_has_the_same_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(argparse.Namespace(json=True)) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["topic"], one["name"]) for one in found] == [
        (finding.topic, finding.name) for finding in all_findings()
    ]
    assert set(found[0]) == {"topic", "name", "state", "text", "advice"}


def test_what_is_broken_gives_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "Fast")
    assert run(argparse.Namespace(json=False)) == 1
    lines = capsys.readouterr().out.splitlines()
    (place,) = [place for place, line in enumerate(lines) if "! MXNET_ENGINE_TYPE" in line]
    assert lines[place].split()[-1] == "Fast"
    assert "expected one of NaiveEngine" in lines[place + 1]
    assert lines[-1] == "broken: MXNET_ENGINE_TYPE"


def test_report_aligns_texts_and_advice() -> None:
    lines = report(
        [Finding("a", "long name", FOUND, "text"), Finding("b", "x", MISSING, "none", "get it")]
    ).splitlines()
    assert lines == [
        "a",
        "  + long name  text",
        "",
        "b",
        "  - x          none",
        "               > get it",
        "",
        "all requirements work",
    ]


def test_a_missing_required_package_is_broken_and_an_optional_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("filelock", "onnx"):
        monkeypatch.setitem(sys.modules, name, None)
    found = list(libraries.library_findings())
    required, optional = named(found, "filelock"), named(found, "ONNX")
    assert (required.state, required.advice) == (BROKEN, "for downloads: pip install 'filelock'")
    assert (optional.state, optional.text) == (MISSING, optional.text)
    assert optional.advice.endswith("pip install 'gluonish[onnx]'")


def test_packages_that_fail_to_import_say_why(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "doctor_fails.py").write_text("import doctor_none")
    (tmp_path / "doctor_raises.py").write_text("raise OSError('no libfoo.so')")
    assert imported("doctor_none") == "not installed"
    assert imported("doctor_fails") == "cannot be imported: No module named 'doctor_none'"
    assert imported("doctor_raises") == "cannot be imported: OSError: no libfoo.so"


def test_onednn_tells_version_instructions_and_path() -> None:
    if not register.enabled():
        pytest.skip(f"no oneDNN: {backend.status().reason}")
    found = named(libraries.library_findings(), "oneDNN")
    assert found.state == FOUND
    api = backend.current().engine.api
    version = ".".join(map(str, api.version))
    assert found.text.startswith(f"{version}, for ")
    assert "instruction set" not in found.text
    assert found.text.endswith(f", {api.path}")


def test_onednn_switched_off_is_missing_with_its_price() -> None:
    with MXNET_MKLDNN_ENABLED.override(False):
        found = named(libraries.library_findings(), "oneDNN")
    assert found.state == MISSING
    assert "several times slower" in found.advice


def test_a_library_that_does_not_load_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "_loaded", [])
    before = backend.status()
    try:
        with MXNET_LIBRARY_PATH.override("/none/libdnnl.so"):
            found = named(libraries.library_findings(), "oneDNN")
    finally:
        backend.install(before)
    assert found.state == BROKEN
    assert "no such file: /none/libdnnl.so" in found.text
    assert found.advice == "unset MXNET_LIBRARY_PATH for the installed one"


@pytest.mark.parametrize(
    ("flags", "state", "words"),
    [
        ({"sse2", "avx", "avx2"}, MISSING, "bfloat16, which takes 4 to 10 times"),
        ({"sse2", "avx"}, MISSING, "4 float32 numbers at a time"),
        ({"sse2", "avx2", "avx512f"}, FOUND, ""),
        ({"asimd"}, FOUND, ""),
    ],
)
def test_what_a_processor_lacks_is_priced(
    monkeypatch: pytest.MonkeyPatch, flags: set[str], state: str, words: str
) -> None:
    some = Processor("some", frozenset(flags), 4)
    monkeypatch.setattr(machine, "processor", lambda: some)
    found = named(machine.machine_findings(), "processor")
    assert found.state == state
    assert words in found.advice
    assert bool(found.advice) is bool(words)


def test_more_threads_than_cores_are_remarked(monkeypatch: pytest.MonkeyPatch) -> None:
    team = SimpleNamespace(parallel=1, threads=lambda: 8)
    monkeypatch.setattr(openmp, "team", lambda: team)
    monkeypatch.setattr(machine, "usable_cores", lambda: 8)
    monkeypatch.setattr(machine, "cpu_limit", lambda: None)
    assert named(machine.machine_findings(), "threads").state == FOUND
    monkeypatch.setattr(machine, "cpu_limit", lambda: 2.0)
    found = named(machine.machine_findings(), "threads")
    assert found.state == MISSING
    assert found.advice.endswith("set OMP_NUM_THREADS=2")
    cores = named(machine.machine_findings(), "cores")
    assert cores.text.endswith("the control group limits it to 2")


def test_kept_files_are_counted_by_folder(tmp_path: Path) -> None:
    home = tmp_path / "kept"
    with MXNET_HOME.override(str(home)):
        (first,) = machine.file_findings()
        assert first.text == f"{home}, created when needed"
        (home / "models" / "inner").mkdir(parents=True)
        (home / "models" / "a.params").write_bytes(b"0" * 1_500_000)
        (home / "models" / "inner" / "b.params").write_bytes(b"0" * 500_000)
        (home / "datasets").mkdir()
        found = [(one.name, one.state, one.text) for one in machine.file_findings()]
    assert found == [
        ("MXNET_HOME", FOUND, str(home)),
        ("datasets/", FOUND, "0.0 MB in 0 files"),
        ("models/", FOUND, "2.0 MB in 2 files"),
    ]


def test_set_variables_are_listed_and_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_PROC_BIND", "true")
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", "2")
    monkeypatch.setenv("MXNET_ENABLE_CYTHON", "0")
    monkeypatch.setenv("MXNET_NO_SUCH_THING", "1")
    found = list(machine.variable_findings())
    assert named(found, "OMP_PROC_BIND") == ("variables", "OMP_PROC_BIND", FOUND, "true", "")
    assert named(found, "MXNET_CPU_WORKER_NTHREADS").state == FOUND
    assert named(found, "MXNET_ENABLE_CYTHON").advice.startswith("Accepted without effect: ")
    assert named(found, "MXNET_NO_SUCH_THING").state == MISSING


class CUDAError(Exception):
    pass


def cupy_double(count: int) -> Any:
    """What the doctor asks of CuPy, with ``count`` devices; negative for none and an error."""

    def devices() -> int:
        if count < 0:
            raise CUDAError("no CUDA-capable device is detected")
        return count

    class Device:
        def __init__(self, number: int) -> None:
            assert 0 <= number < count

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    module: Any = ModuleType("cupy")
    module.__version__ = "14.2.0"
    module.cuda = SimpleNamespace(
        Device=Device,
        runtime=SimpleNamespace(
            CUDARuntimeError=CUDAError,
            getDeviceCount=devices,
            runtimeGetVersion=lambda: 13020,
            driverGetVersion=lambda: 13000,
            getDeviceProperties=lambda _: {"name": b"NVIDIA H200", "major": 9, "minor": 0},
            memGetInfo=lambda: (140_000_000_000, 150_000_000_000),
        ),
    )
    return module


def test_gpus_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    driver = tmp_path / "version"
    driver.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82\nGCC version: 12\n")
    monkeypatch.setattr(nvidia, "_DRIVER", driver)
    monkeypatch.setitem(sys.modules, "cupy", cupy_double(2))
    asked: list[bool] = []
    monkeypatch.setattr(
        nvidia, "nvidia_findings", lambda has_device: asked.append(has_device) or ()
    )
    found = list(nvidia.gpu_findings())
    assert named(found, "NVIDIA's driver").text == "NVIDIA UNIX x86_64 Kernel Module  580.82"
    assert named(found, "CUDA").text == "13.2; the driver has 13.0"
    shown = "NVIDIA H200, capability 9.0, 140.0 of 150.0 GB free"
    assert [one.text for one in found if one.name.startswith("gpu(")] == [shown] * 2
    assert asked == [True]
    assert {one.state for one in found} <= {FOUND, MISSING}


def test_cupy_without_a_device_says_what_the_driver_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy_double(-1))
    monkeypatch.setattr(nvidia, "nvidia_findings", lambda has_device: ())
    found = named(nvidia.gpu_findings(), "CUDA")
    assert (found.state, found.text) == (MISSING, "no CUDA-capable device is detected")


def test_libraries_are_asked_without_a_device_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy_double(-1))
    asked: list[bool] = []
    monkeypatch.setattr(
        nvidia, "nvidia_findings", lambda has_device: asked.append(has_device) or ()
    )
    list(nvidia.gpu_findings())
    assert asked == [False]


def test_without_cupy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    found = named(nvidia.gpu_findings(), "CuPy")
    assert found.state != FOUND
    assert "gluonish[cuda13]" in found.advice


@pytest.mark.parametrize(
    ("source", "state", "text"),
    [
        ("Get_library_version = lambda: 'MPICH\\t5.0\\nmore'", FOUND, "4.1, with MPICH 5.0"),
        ("raise RuntimeError('cannot load MPI library')", BROKEN, "4.1, which does not work: Run"),
        ("import os; os.abort()", BROKEN, "4.1, which does not work: RuntimeError: "),
    ],
)
def test_mpi_is_asked_for_its_version_and_a_broken_one_said(
    source: str, state: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = next(one for one in libraries._OPTIONAL if one.module == "mpi4py")
    assert "several processes" in package.purpose
    (tmp_path / "mpi4py").mkdir()
    settings = "import types\n__version__ = '4.1'\nrc = types.SimpleNamespace()\n"
    (tmp_path / "mpi4py" / "__init__.py").write_text(settings)
    (tmp_path / "mpi4py" / "MPI.py").write_text(source)
    monkeypatch.delitem(sys.modules, "mpi4py", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    finding = libraries._package(package, MISSING)
    assert finding.state == state
    assert finding.text.startswith(text)
    monkeypatch.delitem(sys.modules, "mpi4py")
