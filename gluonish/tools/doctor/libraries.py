"""Findings about libraries: the required ones, such as oneDNN, and the optional ones."""

import ctypes
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_LIBRARY_PATH, MXNET_MKLDNN_ENABLED
from gluonish.core.errors import ConfigError
from gluonish.kernels.onednn import backend
from gluonish.kernels.onednn.api import Api, locate
from gluonish.kernels.onednn.register import enabled
from gluonish.tools.doctor.machine import BROKEN, FOUND, MISSING, Finding, imported, version_of

_TOPIC = "libraries"
_TIMEOUT_S = 60.0
_ASK_MPI = """\
import json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
print(MPI.Get_library_version().splitlines()[0].strip(chr(0)))
"""
# ``dnnl_cpu_isa_t``: each includes the bits of the previous ones on its branch.
_INSTRUCTION_SETS = {
    0x1: "SSE4.1",
    0x3: "AVX",
    0x7: "AVX2",
    0xF: "AVX2 with VNNI",
    0x1F: "AVX2 with VNNI 2",
    0x27: "AVX-512",
    0x67: "AVX-512 with VNNI",
    0xE7: "AVX-512 with bfloat16",
    0x1EF: "AVX-512 with float16",
    0xFEF: "AVX-512 with AMX",
    0x1FEF: "AVX-512 with AMX and float16",
}


class _Package(NamedTuple):
    """A package to check, its purpose, and a function that returns further details."""

    title: str
    module: str
    distribution: str
    purpose: str
    more: Callable[[Any], str] = lambda _: ""


def _openblas(_: ModuleType) -> str:
    built_with = np.show_config(mode="dicts") or {}
    blas = built_with.get("Build Dependencies", {}).get("blas", {})
    return f", with {blas.get('name', 'no')} {blas.get('version', 'BLAS')}"


def _jpeg_of_pillow(_: ModuleType) -> str:
    from PIL import features

    if not features.check("jpg"):
        return ", without JPEG"
    turbo = "libjpeg-turbo" if features.check_feature("libjpeg_turbo") else "libjpeg"
    number = features.version_feature("libjpeg_turbo") or features.version("jpg")
    return f", with {turbo} {number}"


def _jpeg_of_opencv(module: ModuleType) -> str:
    found = re.search(r"^\s*JPEG:\s*(.*?)\s*$", module.getBuildInformation(), re.M)
    return f", {module.getNumThreads()} threads, JPEG: {found[1] if found else 'none'}"


def _mpi(_: ModuleType) -> str:
    """Return MPI's version, read in a separate process, which a broken library may kill."""
    command = [sys.executable, "-c", _ASK_MPI, json.dumps(sys.path)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False
    )
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode or not lines:
        reason = done.stderr.decode(errors="replace").split("\n\n")[0].strip().splitlines()
        raise RuntimeError(reason[-1] if reason else f"it ended with status {done.returncode}")
    return f", with {' '.join(lines[-1].split())}"


_REQUIRED = (
    _Package("NumPy", "numpy", "numpy", "everything", _openblas),
    _Package("ml_dtypes", "ml_dtypes", "ml_dtypes", "bfloat16"),
    _Package("llvmlite", "llvmlite", "llvmlite", "generated kernels"),
    _Package("Pillow", "PIL", "pillow", "images", _jpeg_of_pillow),
    _Package("cloudpickle", "cloudpickle", "cloudpickle", "workers of a DataLoader"),
    _Package("Matplotlib", "matplotlib", "matplotlib", "plots"),
    _Package("Requests", "requests", "requests", "downloads"),
    _Package("filelock", "filelock", "filelock", "downloads"),
    _Package("PyYAML", "yaml", "pyyaml", "recipes of gluonish train"),
    _Package("tqdm", "tqdm", "tqdm", "progress bars"),
)
_OPTIONAL = (
    _Package("OpenCV", "cv2", "gluonish[image]", "images, faster than Pillow", _jpeg_of_opencv),
    _Package("MPI", "mpi4py", "gluonish[dist]", "training in several processes", _mpi),
    _Package("ONNX", "onnx", "gluonish[onnx]", "files of other frameworks"),
    _Package("Graphviz", "graphviz", "gluonish[plot]", "drawings of networks"),
    _Package("tensorboardX", "tensorboardX", "gluonish[tensorboard]", "events for TensorBoard"),
    _Package("Optuna", "optuna", "gluonish[sweep]", "gluonish sweep --sampler optuna"),
    _Package("tokenizers", "tokenizers", "gluonish[text]", "tokenizers of networks for text"),
    _Package("jinja2", "jinja2", "gluonish[text]", "chat templates"),
)


def library_findings() -> Iterator[Finding]:
    """Yield findings about all libraries."""
    yield _onednn()
    for package in _REQUIRED:
        yield _package(package, BROKEN)
    for package in _OPTIONAL:
        yield _package(package, MISSING)


def _package(package: _Package, otherwise: str) -> Finding:
    module = imported(package.module)
    if isinstance(module, str):
        # An optional package that is installed must work.
        advice = f"for {package.purpose}: pip install '{package.distribution}'"
        return Finding(_TOPIC, package.title, otherwise, module, advice)
    version = getattr(module, "__version__", None) or version_of(package.distribution)
    try:
        more = package.more(module)
    except Exception as error:  # a broken installation may raise anything
        advice = f"for {package.purpose}: pip install --force-reinstall '{package.distribution}'"
        text = f"{version}, which does not work: {type(error).__name__}: {error}"
        return Finding(_TOPIC, package.title, BROKEN, " ".join(text.split()), advice)
    return Finding(_TOPIC, package.title, FOUND, f"{version}{more}")


def _onednn() -> Finding:
    try:
        on, path = MXNET_MKLDNN_ENABLED.value, MXNET_LIBRARY_PATH.value
    except ConfigError as error:
        return Finding(_TOPIC, "oneDNN", BROKEN, str(error))
    if not on:
        advice = "convolutions and products run on NumPy, several times slower"
        return Finding(_TOPIC, "oneDNN", MISSING, "MXNET_MKLDNN_ENABLED switches it off", advice)
    if enabled():
        loaded = backend.current().engine
        dtypes = " and ".join(str(dtype) for dtype in loaded.data_types)
        version = ".".join(map(str, loaded.api.version))
        text = f"{version}, {_instruction_set(loaded.api)}, {dtypes}, {loaded.api.path}"
        return Finding(_TOPIC, "oneDNN", FOUND, text)
    reason = backend.status().reason
    if path or locate().path is not None:
        advice = "unset MXNET_LIBRARY_PATH for the installed one" if path else "install it again"
        return Finding(_TOPIC, "oneDNN", BROKEN, reason, advice)
    advice = "convolutions and products run on NumPy, several times slower: pip install "
    return Finding(_TOPIC, "oneDNN", MISSING, reason, f"{advice}onednn-cpu-gomp")


def _instruction_set(api: Api) -> str:
    """Return the instruction set that oneDNN uses; ``ONEDNN_MAX_CPU_ISA`` may limit it."""
    number = int(ctypes.CDLL(api.path).dnnl_get_effective_cpu_isa())
    return f"for {_INSTRUCTION_SETS.get(number, f'instruction set {number:#x}')}"
