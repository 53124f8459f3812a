"""Where NVIDIA's libraries are found, with files made here; none of NVIDIA's is needed."""

import _ctypes
import ctypes
import re
import shutil
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, DeviceError
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.libraries import (
    FRONT_END,
    LIBRARIES,
    BrokenLibraryError,
    MissingLibraryError,
    load,
    load_front_end,
    requirements,
)

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


class NotFound(RuntimeError):
    """Pathfinder's error of the same kind."""


def pathfinder(found: dict[str, str | RuntimeError]) -> ModuleType:
    """A package ``cuda`` whose pathfinder finds these files, or raises."""

    def load_nvidia_dynamic_lib(name: str) -> Any:
        answer = found.get(name, NotFound(name))
        if isinstance(answer, RuntimeError):
            raise answer
        return SimpleNamespace(abs_path=answer)

    module: Any = ModuleType("cuda")
    module.pathfinder = SimpleNamespace(
        DynamicLibNotFoundError=NotFound, load_nvidia_dynamic_lib=load_nvidia_dynamic_lib
    )
    return module  # type: ignore[no-any-return]  # named Any to take attributes


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of packages, empty, with a pathfinder that finds nothing."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setitem(sys.modules, "cuda", pathfinder({}))
    return tmp_path


def put(folder: Path, name: str) -> str:
    """Some library that loads, at a place of ours; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    return str(shutil.copy(_ctypes.__file__, folder / name))


def test_pathfinder_is_asked_first(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(site / "nvidia" / "cu13" / "lib", "libcudart.so.13")
    other = put(tmp_path / "other", "libcudart.so.13")
    monkeypatch.setitem(sys.modules, "cuda", pathfinder({"cudart": other}))
    assert load("cudart", 13)._name == other


def test_library_of_another_cuda_is_passed_over(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = put(site / "nvidia" / "cuda_nvrtc" / "lib", "libnvrtc.so.12")
    wrong = put(tmp_path / "other", "libnvrtc.so.13")
    monkeypatch.setitem(sys.modules, "cuda", pathfinder({"nvrtc": wrong}))
    assert load("nvrtc", 12)._name == right


@pytest.mark.parametrize(
    ("name", "cuda", "place"),
    [
        ("cudart", 12, "cuda_runtime/lib/libcudart.so.12"),
        ("cublasLt", 12, "cublas/lib/libcublasLt.so.12"),
        ("cublasLt", 13, "cu13/lib/libcublasLt.so.13"),
        ("nccl", 13, "nccl/lib/libnccl.so.2"),
    ],
)
def test_folders_of_wheels_are_searched(site: Path, name: str, cuda: int, place: str) -> None:
    path = site / "nvidia" / place
    put(path.parent, path.name)
    assert load(name, cuda)._name == str(path)


def test_folders_are_searched_without_pathfinder(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cuda", None)
    path = put(site / "nvidia" / "nccl" / "lib", "libnccl.so.2")
    assert load("nccl", 12)._name == path


def test_folders_are_searched_for_what_pathfinder_has_never_heard_of(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder: Any = pathfinder({})

    def unknown(name: str) -> Any:  # as version 1.3.5 tells of cuDNN
        raise ValueError(f"Unsupported library name: {name!r}")

    finder.pathfinder.load_nvidia_dynamic_lib = unknown
    monkeypatch.setitem(sys.modules, "cuda", finder)
    path = put(site / "nvidia" / "nccl" / "lib", "libnccl.so.2")
    assert load("nccl", 12)._name == path


def test_cuda_is_that_of_cupy(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "cuda_major", lambda: 12)
    path = put(site / "nvidia" / "cuda_runtime" / "lib", "libcudart.so.12")
    put(site / "nvidia" / "cu13" / "lib", "libcudart.so.13")
    assert load("cudart")._name == path


def test_what_a_library_needs_is_loaded_before_it(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("libnvrtc.so.13", "libcublasLt.so.13", "libcublas.so.13"):
        put(site / "nvidia" / "cu13" / "lib", name)
    loaded: list[str] = []

    def remembered(path: str) -> str:
        loaded.append(Path(path).name)
        return path

    monkeypatch.setattr(ctypes, "CDLL", remembered)
    load("cublas", 13)
    assert loaded == ["libcublasLt.so.13", "libcublas.so.13"]


def test_missing_library_says_what_brings_it(site: Path) -> None:
    message = (
        r"cuBLASLt: expected libcublasLt.so.12 among .*, got none; "
        r"pip install 'cupy-cuda12x\[ctk\]>=14', which gluonish\[cuda12\] brings"
    )
    with pytest.raises(MissingLibraryError, match=message):
        load("cublas", 12)


def test_file_that_does_not_load_is_broken(site: Path) -> None:
    path = site / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no library")
    with pytest.raises(BrokenLibraryError, match=r"NCCL: expected a library that loads, got .*"):
        load("nccl", 13)


def test_what_pathfinder_cannot_load_is_broken(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = RuntimeError("Failed to dlopen libnccl.so.2: libfoo.so: cannot open")
    monkeypatch.setitem(sys.modules, "cuda", pathfinder({"nccl": error}))
    with pytest.raises(BrokenLibraryError, match=r"got Failed to dlopen libnccl.so.2: libfoo.so"):
        load("nccl", 13)


def test_systems_library_that_lacks_another_is_broken(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dlopen(path: str) -> None:
        raise OSError("libfoo.so: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(ctypes, "CDLL", dlopen)
    with pytest.raises(BrokenLibraryError, match=r"got libfoo\.so: cannot open"):
        load("nccl", 13)


def test_both_errors_are_those_of_devices() -> None:
    assert issubclass(MissingLibraryError, DeviceError)
    assert issubclass(BrokenLibraryError, DeviceError)


def test_unknown_name_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"load: expected one of cudart, .*, got 'cufft'"):
        load("cufft", 13)


def test_cudnn_alone_does_not_make_its_front_end(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "load", lambda name, cuda: SimpleNamespace(_handle=1))
    monkeypatch.delitem(sys.modules, "cudnn._compiled_module", raising=False)
    with pytest.raises(MissingLibraryError, match=f"pip install '{FRONT_END}'"):
        load_front_end(13)


def test_front_end_that_does_not_load_is_broken(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "load", lambda name, cuda: SimpleNamespace(_handle=1))
    monkeypatch.delitem(sys.modules, "cudnn._compiled_module", raising=False)
    (site / "cudnn").mkdir()
    (site / "cudnn" / "__init__.py").write_text("import torch\n")
    (site / "cudnn" / "_compiled_module.so").write_bytes(b"no extension")
    with pytest.raises(BrokenLibraryError, match="cuDNN's front end: expected an extension that"):
        load_front_end(13)


def test_front_end_of_a_program_is_taken(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "load", lambda name, cuda: SimpleNamespace(_handle=1))
    module = ModuleType("_compiled_module")
    monkeypatch.setitem(sys.modules, "cudnn._compiled_module", module)
    assert load_front_end(13) is module


@pytest.mark.parametrize("cuda", [12, 13])
def test_extra_brings_every_library(cuda: int) -> None:
    extras = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    assert {one.partition(";")[0] for one in extras[f"cuda{cuda}"]} == set(requirements(cuda))


def test_every_library_has_a_version_in_its_name() -> None:
    assert all(re.search(r"\.so\.(\d+|\{cuda\})$", one.file) for one in LIBRARIES.values())
