"""NVIDIA's libraries: their locations, and the packages that contain them.

CuPy finds them with ``cuda.pathfinder``. So does this module, first of all, because a process must
not load two copies of one library. But pathfinder returns the first match, even one for another
CUDA version than CuPy's, and its old versions do not know cuDNN. Then NVIDIA's folders among the
Python packages are searched, and the system's folders last. Loading needs no device and no driver.
"""

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core import loading
from gluonish.core.errors import ArgumentError, DeviceError
from gluonish.core.loading import IMPORT_FAILURES


class MissingLibraryError(DeviceError):
    """Raised when a library of NVIDIA's was not found; the message names the package to install."""


class BrokenLibraryError(DeviceError):
    """Raised when a library of NVIDIA's does not load; the message has the loader's reason."""


class Library(NamedTuple):
    """A library of NVIDIA's; ``{cuda}`` in the texts stands for the major version of CUDA.

    Attributes:
        title: The library's name in messages.
        file: The library's soname.
        package: The requirement for pip, as in pyproject.toml.
        folder: Folder below ``nvidia`` in wheels for CUDA 12; wheels for CUDA 13 have a single
            folder for the complete toolkit.
        needs: Libraries to load before it.
    """

    title: str
    file: str
    package: str
    folder: str
    needs: tuple[str, ...] = ()


_TOOLKIT = "cupy-cuda{cuda}x[ctk]>=14"
LIBRARIES = {
    "cudart": Library("the CUDA runtime", "libcudart.so.{cuda}", _TOOLKIT, "cuda_runtime"),
    "nvrtc": Library("NVRTC", "libnvrtc.so.{cuda}", _TOOLKIT, "cuda_nvrtc"),
    "cublasLt": Library("cuBLASLt", "libcublasLt.so.{cuda}", _TOOLKIT, "cublas"),
    "cublas": Library("cuBLAS", "libcublas.so.{cuda}", _TOOLKIT, "cublas", ("cublasLt",)),
    # Its sublibraries load NVRTC and cuBLASLt by name, on first use.
    "cudnn": Library(
        "cuDNN", "libcudnn.so.9", "nvidia-cudnn-cu{cuda}>=9,<10", "cudnn", ("nvrtc", "cublasLt")
    ),
    "nccl": Library("NCCL", "libnccl.so.2", "nvidia-nccl-cu{cuda}>=2.18.1,<3", "nccl"),
}
# A package, not a library: see `load_front_end`.
FRONT_END = "nvidia-cudnn-frontend>=1.18,<1.27"
_EXTENSION = "_compiled_module"


def import_cupy() -> ModuleType:
    """Import CuPy.

    Raises:
        ImportError: CuPy is not installed.
        OSError: CuPy fails to import for any other reason.
    """
    try:
        module = loading.load("cupy")
    except (ImportError, OSError):
        raise
    except IMPORT_FAILURES as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
    if not hasattr(module, "cuda"):
        where = ", ".join(map(str, getattr(module, "__path__", ["a file"])))
        raise OSError(f"no module cupy.cuda in the package cupy: {where}")
    return module


def cuda_major(cupy: Any = None) -> int:
    """Return the major version of CUDA that the installed CuPy is built for, for example 13.

    Args:
        cupy: CuPy; None to import it.

    Raises:
        ImportError: CuPy is not installed.
        OSError: CuPy fails to import.
        BrokenLibraryError: CuPy does not report a version of CUDA.
    """
    found: Any = import_cupy() if cupy is None else cupy
    try:
        return int(found.cuda.runtime.runtimeGetVersion()) // 1000
    except IMPORT_FAILURES as error:
        raise BrokenLibraryError(
            f"CuPy: expected the version of CUDA that it is made for, got {type(error).__name__}: "
            f"{error}; install gluonish[cuda13], or gluonish[cuda12], again"
        ) from error


def requirements(cuda: int) -> tuple[str, ...]:
    """Return the pip requirements of all libraries."""
    packages = [library.package.format(cuda=cuda) for library in LIBRARIES.values()]
    return tuple(dict.fromkeys([*packages, FRONT_END]))


def advice(package: str, cuda: int) -> str:
    """Return the advice to install a package, with ``{cuda}`` in its name replaced."""
    return f"pip install '{package.format(cuda=cuda)}', which gluonish[cuda{cuda}] brings"


def repair(package: str, cuda: int) -> str:
    """Return the command that reinstalls a package; the arguments are those of `advice`."""
    return f"pip install --force-reinstall '{package.format(cuda=cuda)}'"


def load(name: str, cuda: int | None = None) -> ctypes.CDLL:
    """Load a library and its dependencies for the lifetime of the process.

    Args:
        name: A key of `LIBRARIES`.
        cuda: The major version of CUDA; None for `cuda_major`.

    Returns:
        The library; its attribute ``_name`` is the path, or the name for the system's loader.

    Raises:
        ArgumentError: No library has this name.
        MissingLibraryError: The library is not installed.
        BrokenLibraryError: The library is installed but does not load.
        ImportError: ``cuda`` is None, and CuPy is not installed.
    """
    if name not in LIBRARIES:
        raise ArgumentError(f"load: expected one of {', '.join(LIBRARIES)}, got {name!r}")
    cuda = cuda_major() if cuda is None else cuda
    library = LIBRARIES[name]
    for need in library.needs:
        load(need, cuda)
    for path in _paths(name, library, cuda):
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            raise _broken(library, cuda, str(error)) from error
    return _load_from_system(library, cuda)


def load_front_end(cuda: int | None = None) -> ModuleType:
    """Load cuDNN and its frontend.

    Only the extension module is loaded: ``import cudnn`` would import PyTorch if that is installed.

    Args:
        cuda: As in `load`.

    Returns:
        The extension, with ``pygraph``, ``create_handle`` and ``backend_version``.

    Raises:
        MissingLibraryError: The frontend, or a library that it needs, is not installed.
        BrokenLibraryError: The frontend, or a library that it needs, does not load.
        ImportError: ``cuda`` is None, and CuPy is not installed.
    """
    cuda = cuda_major() if cuda is None else cuda
    load("cudart", cuda)  # the frontend looks up cuDNN among loaded libraries
    cudnn = load("cudnn", cuda)
    module = sys.modules.get(f"cudnn.{_EXTENSION}")  # if the program has imported cudnn
    if module is None:
        module = _load_extension(cuda)
        module._set_dlhandle_cudnn(cudnn._handle)
        sys.modules[f"cudnn.{_EXTENSION}"] = module
    return module


def _load_extension(cuda: int) -> ModuleType:
    package = find_spec("cudnn")
    folders = (package.submodule_search_locations if package else None) or []
    files = [path for folder in folders for path in Path(folder).glob(f"{_EXTENSION}*.so")]
    if not files:
        raise MissingLibraryError(
            f"cuDNN's front end: expected the package cudnn with its {_EXTENSION}, got none; "
            f"{advice(FRONT_END, cuda)}"
        )
    loader = ExtensionFileLoader(_EXTENSION, str(files[0]))
    spec = spec_from_file_location(_EXTENSION, files[0], loader=loader)
    assert spec is not None
    try:
        module = module_from_spec(spec)
        loader.exec_module(module)
    except IMPORT_FAILURES as error:
        raise BrokenLibraryError(
            f"cuDNN's front end: expected an extension that loads, got {error}; "
            f"{repair(FRONT_END, cuda)}"
        ) from error
    return module


def _paths(name: str, library: Library, cuda: int) -> Iterator[str]:
    """Yield candidate paths of a library, best first."""
    file = library.file.format(cuda=cuda)
    found = _pathfinder_path(name, library, cuda)
    if found is not None and Path(found).name.startswith(file):
        yield found
    for entry in sys.path:
        for folder in (f"cu{cuda}", library.folder):
            path = Path(entry, "nvidia", folder, "lib", file)
            if os.path.isfile(path):  # false without permission to read the folder
                yield str(path)


def _pathfinder_path(name: str, library: Library, cuda: int) -> str | None:
    """Return the path of the library that ``cuda.pathfinder`` loads, or None."""
    try:
        package = sys.modules.get("cuda") or find_spec("cuda")
        if getattr(package, "submodule_search_locations", ()) is None:
            return None  # the user's cuda.py, which the import would run
        from cuda import pathfinder
    except IMPORT_FAILURES:  # CuPy depends on it, but callers may pass `cuda` without CuPy
        return None
    try:
        found: str | None = pathfinder.load_nvidia_dynamic_lib(name).abs_path
    except (pathfinder.DynamicLibNotFoundError, ValueError):  # ValueError: an unknown name
        return None
    except RuntimeError as error:  # a file that does not load
        raise _broken(library, cuda, str(error)) from error
    return found


def _load_from_system(library: Library, cuda: int) -> ctypes.CDLL:
    file = library.file.format(cuda=cuda)
    try:
        return ctypes.CDLL(file)
    except OSError as error:
        # The loader names the missing file: this one, or one of its dependencies.
        if re.match(rf"{re.escape(file)}: cannot open shared object", str(error)) is None:
            raise _broken(library, cuda, str(error)) from error
        raise MissingLibraryError(
            f"{library.title}: expected {file} among Python's packages or the system's libraries, "
            f"got none; {advice(library.package, cuda)}"
        ) from error


def _broken(library: Library, cuda: int, reason: str) -> BrokenLibraryError:
    return BrokenLibraryError(
        f"{library.title}: expected a library that loads, got {reason}; "
        f"{repair(library.package, cuda)}"
    )
