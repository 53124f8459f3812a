"""cuDNN's front end, the package nvidia-cudnn-frontend, loaded without importing PyTorch.

``import cudnn`` imports torch where that is installed. Its compiled module alone needs to be told
the library: nvidia-cudnn-cu13 has it, or the system.
"""

import ctypes
import glob
import importlib.util
import os
import sys
from importlib.machinery import ExtensionFileLoader
from typing import Any

from benchmarks.gpu_run.rows import Refused

__all__ = ["load"]

# cuDNN opens these by their names, and CuPy brings none of them.
_BEFORE = ("cudart", "nvrtc", "cublasLt", "cublas")


def load() -> Any:
    """Return the compiled module.

    Raises:
        Refused: it, or cuDNN, is not there.
    """
    spec = importlib.util.find_spec("cudnn")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    paths = [p for folder in folders for p in glob.glob(f"{folder}/_compiled_module*.so")]
    if not paths:
        raise Refused("no nvidia-cudnn-frontend; install version 1.22.1")
    _load_cuda()
    library = _load_cudnn()
    loader = ExtensionFileLoader("_compiled_module", paths[0])
    found = importlib.util.spec_from_loader("_compiled_module", loader)
    assert found is not None
    module = importlib.util.module_from_spec(found)
    loader.exec_module(module)
    module._set_dlhandle_cudnn(library._handle)
    # Attention's gradient imports the package, which would load this module a second time.
    sys.modules.setdefault("cudnn", module)
    return module


def _load_cuda() -> None:
    """Load CUDA's libraries, those that are there."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib
    except ImportError:
        return
    for name in _BEFORE:
        try:
            load_nvidia_dynamic_lib(name)
        except (RuntimeError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)


def _load_cudnn() -> ctypes.CDLL:
    patterns = [os.path.join(path, "nvidia/cudnn/lib/libcudnn.so.*[0-9]") for path in sys.path]
    paths = [path for pattern in patterns for path in sorted(glob.glob(pattern))]
    failures = []
    for name in [*paths[:1], "libcudnn.so.9"]:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            failures.append(str(error))
    raise Refused(f"no cuDNN: {'; '.join(failures)}; install nvidia-cudnn-cu13")
