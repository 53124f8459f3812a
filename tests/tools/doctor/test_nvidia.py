"""What the doctor says of NVIDIA's libraries, for which functions of Python stand in."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.libraries import BrokenLibraryError, MissingLibraryError
from gluonish.tools.doctor import nvidia
from gluonish.tools.doctor.machine import BROKEN, FOUND, MISSING, Finding

NAMES = ["nvrtc", "cublas", "cudnn", "front end", "nccl"]
# A program in place of the one that loads: it gets `path` and `names`, and `tell` answers.
START = """\
import json, os, signal, sys, time
path, names = json.loads(sys.argv.pop(1))
def tell(name):
    print(json.dumps([name, "found", "1.2"]), flush=True)
"""


@pytest.fixture(autouse=True)
def _cupy_is_for_cuda_13(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "cuda_major", lambda: 13)


def stand_in(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> None:
    """Make `load` give a library of these functions."""
    monkeypatch.setattr(libraries, "load", lambda name: SimpleNamespace(**functions))


def number(value: int) -> Any:
    """A C function that returns a number, and takes attributes as ctypes' do."""

    def function() -> int:
        return value

    return function


def writes(*values: int, status: int = 0) -> Any:
    """A C function that writes numbers where its last arguments point."""

    def function(*arguments: Any) -> int:
        for place, value in zip(arguments[-len(values) :], values, strict=True):
            place._obj.value = value
        return status

    return function


def by_title(found: list[Finding]) -> dict[str, Finding]:
    return {one.name: one for one in found}


def test_cublas_says_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {0: 13, 1: 10, 2: 4}

    def cublasGetProperty(part: int, place: Any) -> int:  # the library's name
        place._obj.value = parts[part]
        return 0

    stand_in(monkeypatch, cublasGetProperty=cublasGetProperty)
    assert nvidia.answer("cublas") == (FOUND, "13.10.4")


def test_function_that_fails_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, cublasGetProperty=writes(0, status=7))
    state, text = nvidia.answer("cublas")
    assert state == BROKEN
    assert text.startswith("RuntimeError: cublasGetProperty returned 7; pip install --force")


def test_library_without_a_function_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch)
    state, text = nvidia.answer("nccl")
    assert state == BROKEN
    assert "ncclGetVersion" in text


def test_cudnn_says_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, cudnnGetVersion=number(91900), cudnnGetCudartVersion=number(13000))
    assert nvidia.answer("cudnn") == (FOUND, "9.19.0")


def test_cudnn_of_another_cuda_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, cudnnGetVersion=number(91900), cudnnGetCudartVersion=number(12090))
    state, text = nvidia.answer("cudnn")
    assert state == BROKEN
    assert "expected a build for CUDA 13, as CuPy's, got one for CUDA 12" in text
    assert "pip uninstall nvidia-cudnn-cu12, then " in text
    assert text.endswith("'nvidia-cudnn-cu13>=9,<10'")


@pytest.fixture
def front_end(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A front end for cuDNN 9.19.0."""
    module = SimpleNamespace(pygraph=object, backend_version_string=lambda: "9.19.0")
    monkeypatch.setattr(libraries, "load_front_end", lambda: module)
    return module


@pytest.mark.parametrize("version", ["1.18.0", "1.26.0"])
def test_front_end_says_its_version(
    monkeypatch: pytest.MonkeyPatch, front_end: Any, version: str
) -> None:
    monkeypatch.setattr(nvidia, "version_of", lambda name: version)
    expected = f"{version}, for cuDNN 9.19.0"
    assert nvidia.answer("front end") == (FOUND, expected)


@pytest.mark.parametrize("version", ["1.17.2", "1.27.0", "2.0"])
def test_front_end_of_another_interface_is_broken(
    monkeypatch: pytest.MonkeyPatch, front_end: Any, version: str
) -> None:
    monkeypatch.setattr(nvidia, "version_of", lambda name: version)
    state, text = nvidia.answer("front end")
    assert state == BROKEN
    assert f"got {version}; pip install 'nvidia-cudnn-frontend>=1.18,<1.27'" in text


def test_front_end_that_makes_no_graph_is_broken(
    monkeypatch: pytest.MonkeyPatch, front_end: Any
) -> None:
    def pygraph() -> None:
        raise RuntimeError("libcudnn_graph.so.9: cannot open")

    front_end.pygraph = pygraph
    monkeypatch.setattr(nvidia, "version_of", lambda name: "1.22.1")
    state, text = nvidia.answer("front end")
    assert (state, "libcudnn_graph" in text) == (BROKEN, True)


@pytest.mark.parametrize("available", [True, False])
def test_nccl_needs_cupys_module_too(monkeypatch: pytest.MonkeyPatch, available: bool) -> None:
    stand_in(monkeypatch, ncclGetVersion=writes(22809))
    monkeypatch.setattr(nvidia, "imported", lambda name: SimpleNamespace(available=available))
    state, text = nvidia.answer("nccl")
    assert (state, text) == (FOUND, "2.28.9") if available else state == BROKEN


class CompileError(Exception):
    pass


def cupys_compiler(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> list[Any]:
    """Put what the doctor takes of CuPy's compiler in its place; gives the options it got."""
    got: list[Any] = []

    class Program:
        def __init__(self, source: str, name: str, method: str) -> None:
            assert "cuda_fp16.h" in source
            assert method == "cubin"

        def compile(self, options: tuple[str, ...]) -> None:
            got.extend(options)
            if error is not None:
                raise error

    core: Any = ModuleType("cupy._core.core")
    core.assemble_cupy_compiler_options = lambda options: ("-I/headers", *options)
    compiler: Any = ModuleType("cupy.cuda.compiler")
    compiler.CompileException, compiler._NVRTCProgram = CompileError, Program
    for module in (ModuleType("cupy"), ModuleType("cupy._core"), ModuleType("cupy.cuda")):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, core.__name__, core)
    monkeypatch.setitem(sys.modules, compiler.__name__, compiler)
    return got


def test_nvrtc_compiles_with_cupys_folders_of_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, nvrtcVersion=writes(13, 2))
    got = cupys_compiler(monkeypatch, None)
    expected = "13.2, compiles, with the headers of float16 and bfloat16"
    assert nvidia.answer("nvrtc") == (FOUND, expected)
    assert got[0] == "-I/headers"


@pytest.mark.parametrize("words", ["cannot", "could not"])
def test_missing_headers_say_what_brings_them(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    stand_in(monkeypatch, nvrtcVersion=writes(13, 2))
    log = f'doctor.cu(2): catastrophic error: {words} open source file "cuda_bf16.h"\n  #include'
    cupys_compiler(monkeypatch, CompileError(log))
    state, text = nvidia.answer("nvrtc")
    assert state == MISSING
    assert f'got: {words} open source file "cuda_bf16.h"; pip install \'cupy-cuda13x[ctk]' in text


def test_compiler_that_fails_otherwise_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, nvrtcVersion=writes(13, 2))
    cupys_compiler(monkeypatch, CompileError("failed to load builtins"))
    assert nvidia.answer("nvrtc")[0] == BROKEN


def test_cupy_of_other_private_names_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, nvrtcVersion=writes(13, 2))
    cupys_compiler(monkeypatch, None)
    del sys.modules["cupy.cuda.compiler"].__dict__["_NVRTCProgram"]
    assert nvidia.answer("nvrtc") == (FOUND, "13.2; compilation was not tested")


@pytest.mark.parametrize("error", [MissingLibraryError, BrokenLibraryError])
def test_errors_of_loading_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def load(name: str) -> None:
        raise error("NCCL: expected much, got little; do this")

    monkeypatch.setattr(libraries, "load", load)
    state = MISSING if error is MissingLibraryError else BROKEN
    assert nvidia.answer("nccl") == (state, "NCCL: expected much, got little; do this")


@pytest.mark.parametrize("has_device", [False, True])
def test_only_with_a_device_is_something_required(
    monkeypatch: pytest.MonkeyPatch, has_device: bool
) -> None:
    def ask(names: list[str]) -> Any:
        return [(name, MISSING, "expected it, got none; pip install it") for name in names], ""

    monkeypatch.setattr(nvidia, "_ask", ask)
    found = by_title(list(nvidia.nvidia_findings(has_device)))
    broken = {title for title, one in found.items() if one.state == BROKEN}
    assert broken == ({"NVRTC", "cuBLAS"} if has_device else set())
    expected = "for the kvstore 'nccl', which is a 'device' store without it: pip install it"
    assert (found["NCCL"].text, found["NCCL"].advice) == ("expected it, got none", expected)


def test_reason_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [("nvrtc", BROKEN, "NVRTC: failed to open\n  its builtins; install it")]
    monkeypatch.setattr(nvidia, "_QUESTIONS", {"nvrtc": nvidia._QUESTIONS["nvrtc"]})
    monkeypatch.setattr(nvidia, "_ask", lambda names: (answers, ""))
    (found,) = nvidia.nvidia_findings(has_device=False)
    assert found.text == "failed to open its builtins"


def test_library_that_ends_the_process_is_broken_and_the_others_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = """
for name in names:
    if name == "cublas":
        print("terminate called", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    tell(name)
"""
    monkeypatch.setattr(nvidia, "_BOOT", START + script)
    found = list(nvidia.nvidia_findings(has_device=False))
    assert [one.state for one in found] == [FOUND, BROKEN, FOUND, FOUND, FOUND]
    expected = "the process that loads it was killed by signal 9 (SIGKILL): terminate called"
    assert found[1].text == expected
    assert found[1].advice == "pip install --force-reinstall 'cupy-cuda13x[ctk]>=14'"


def test_library_that_never_returns_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
if "nvrtc" in names:
    tell("nvrtc")
    time.sleep(60)
for name in names:
    tell(name)
"""
    monkeypatch.setattr(nvidia, "_BOOT", START + script)
    monkeypatch.setattr(nvidia, "_TIMEOUT_S", 3.0)
    found = list(nvidia.nvidia_findings(has_device=False))
    assert [one.state for one in found] == [FOUND, BROKEN, FOUND, FOUND, FOUND]
    assert found[1].text == "the process that loads it did not end within 3 s"


def test_lines_of_libraries_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "print('NCCL version 2')\nfor name in names:\n    tell(name)\n"
    monkeypatch.setattr(nvidia, "_BOOT", START + script)
    assert len(list(nvidia.nvidia_findings(has_device=False))) == len(NAMES)


def test_process_imports_what_this_one_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cupy.py").write_text(
        "class runtime:\n    runtimeGetVersion = lambda: 77000\n"
        "class cuda:\n    runtime = runtime\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    answers, _ = nvidia._ask(["cublas"])
    assert answers[0][:2] == ("cublas", MISSING)
    assert "pip install 'cupy-cuda77x[ctk]" in answers[0][2]


def test_answers_are_lines_of_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nvidia, "answer", lambda name: (FOUND, name.upper()))
    nvidia.answer_all(["cudnn", "nccl"])
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [
        ["cudnn", FOUND, "CUDNN"],
        ["nccl", FOUND, "NCCL"],
    ]
