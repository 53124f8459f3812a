"""Findings about NVIDIA's driver, GPUs and libraries.

The checks of libraries need no device or driver. A broken library may crash the process that loads
it, or hang; so the checks run in a separate process, and a new process continues after a crash.
"""

import ctypes
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.libraries import BrokenLibraryError, MissingLibraryError
from gluonish.tools.doctor.machine import BROKEN, FOUND, MISSING, Finding, imported, version_of

_TOPIC = "GPU"
# For all checks together. A library of 700 MB may be read from a slow disk.
_TIMEOUT_S = 120.0
_NEWEST = 13  # major version of CUDA that gluonish has packages for
_BOOT = """\
import json, sys
path, names = json.loads(sys.argv.pop(1))
sys.path[:] = path
from gluonish.tools.doctor.nvidia import answer_all
answer_all(names)
"""
# Any architecture: a compiler needs no device.
_ARCHITECTURE = "-arch=sm_80"
_KERNEL = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void convert(const __half* x, __nv_bfloat16* y) {
    y[threadIdx.x] = __float2bfloat16(__half2float(x[threadIdx.x]));
}
"""


class _Question(NamedTuple):
    """The check of one library.

    Attributes:
        title: Name of the library.
        ask: Loads the library and returns its version, or raises an error.
        package: The package to install, as in `gluonish.kernels.cupy.libraries.Library`.
        cost: What does not work, or is slower, without the library.
        vital: Whether GPUs cannot be used without the library.
    """

    title: str
    ask: Callable[[], str]
    package: str
    cost: str
    vital: bool = False


def nvidia_findings(has_device: bool) -> Iterator[Finding]:
    """Yield findings about NVIDIA's libraries. CuPy must be installed.

    Args:
        has_device: Whether there is a GPU, which makes vital libraries required.
    """
    waiting = list(_QUESTIONS)
    while waiting:
        answers, end = _ask(waiting)
        for name, state, text in answers:
            yield _finding(_QUESTIONS[name], state, text, has_device)
        del waiting[: len(answers)]
        if waiting:
            question = _QUESTIONS[waiting.pop(0)]
            advice = libraries.repair(question.package, _cuda_major())
            text = f"the process that loads it {end}"
            yield Finding(_TOPIC, question.title, BROKEN, text, advice)


def _finding(question: _Question, state: str, text: str, has_device: bool) -> Finding:
    if state == FOUND:
        return Finding(_TOPIC, question.title, FOUND, text)
    # Messages of compilers have several lines.
    got, _, advice = " ".join(text.split()).removeprefix(f"{question.title}: ").rpartition("; ")
    if state == MISSING and has_device and question.vital:
        state = BROKEN
    return Finding(_TOPIC, question.title, state, got, f"{question.cost}: {advice}")


def _ask(names: Sequence[str]) -> tuple[list[tuple[str, str, str]], str]:
    """Run checks in a new process; return the results before its end, and how it ended."""
    command = [sys.executable, "-c", _BOOT, json.dumps([sys.path, names])]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        output, end = error.stdout or b"", f"did not end within {_TIMEOUT_S:g} s"
    else:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        output, end = done.stdout, ": ".join([_ending(done.returncode), *last])
    # Libraries may print lines of their own.
    lines = [line for line in output.splitlines() if line.startswith(b'["')]
    return [tuple(json.loads(line)) for line in lines], end


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    known = {one.value: one.name for one in signal.Signals}
    return f"was killed by signal {-code} ({known.get(-code, 'unknown')})"


def _cuda_major() -> int:
    """Return the major version of CUDA; the newest one if CuPy is broken."""
    try:
        return libraries.cuda_major()
    except (ImportError, OSError, BrokenLibraryError):
        return _NEWEST


def answer_all(names: Sequence[str]) -> None:
    """Print name, state and text of each check as a line of JSON."""
    for name in names:
        print(json.dumps([name, *answer(name)]), flush=True)


def answer(name: str) -> tuple[str, str]:
    """Check a library in this process.

    Returns:
        The state of a `Finding` and a text: the version, or the fault and the advice, separated by
        ``; ``.
    """
    question = _QUESTIONS[name]
    try:
        return FOUND, question.ask()
    except MissingLibraryError as error:
        return MISSING, str(error)
    except BrokenLibraryError as error:
        return BROKEN, str(error)
    except Exception as error:  # a broken installation may raise anything
        advice = libraries.repair(question.package, _cuda_major())
        return BROKEN, f"{type(error).__name__}: {error}; {advice}"


def _nvrtc() -> str:
    library = libraries.load("nvrtc")
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check("nvrtcVersion", library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    version = f"{major.value}.{minor.value}"
    try:
        from cupy._core.core import assemble_cupy_compiler_options
        from cupy.cuda.compiler import CompileException, _NVRTCProgram
    except ImportError:  # private names of CuPy 14
        return f"{version}; compilation was not tested"
    options = (*assemble_cupy_compiler_options(()), _ARCHITECTURE)
    try:
        _NVRTCProgram(_KERNEL, "doctor.cu", method="cubin").compile(options)
    except CompileException as error:
        found = re.search(r"error: (.*)", str(error))
        reason = found[1] if found else str(error)
        advice = libraries.advice(_package("nvrtc"), libraries.cuda_major())
        if "open source file" in reason:  # "cannot", or "could not" if the folder is missing
            raise MissingLibraryError(
                f"NVRTC: expected CUDA's headers with {version}, got: {reason}; {advice}"
            ) from error
        raise
    return f"{version}, compiles, with the headers of float16 and bfloat16"


def _cublas() -> str:
    library = libraries.load("cublas")
    numbers = []
    # MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL: unlike the version, they need no handle.
    for part in range(3):
        number = ctypes.c_int()
        _check("cublasGetProperty", library.cublasGetProperty(part, ctypes.byref(number)))
        numbers.append(number.value)
    return ".".join(map(str, numbers))


def _cudnn() -> str:
    library = libraries.load("cudnn")
    library.cudnnGetVersion.restype = library.cudnnGetCudartVersion.restype = ctypes.c_size_t
    ours, cuda = libraries.cuda_major(), int(library.cudnnGetCudartVersion()) // 1000
    if cuda != ours:
        raise BrokenLibraryError(
            f"cuDNN: expected a build for CUDA {ours}, as CuPy's, got one for CUDA {cuda}; "
            f"pip uninstall nvidia-cudnn-cu{cuda}, then {libraries.repair(_package('cudnn'), ours)}"
        )
    return _version(library.cudnnGetVersion(), 10000)


def _front_end() -> str:
    module = libraries.load_front_end()
    version = version_of(re.split("[<>=]", libraries.FRONT_END)[0])
    low, high = (_numbers(text) for text in re.findall(r"\d+\.\d+", libraries.FRONT_END))
    if version != "unknown" and not low <= _numbers(version) < high:
        advice = libraries.advice(libraries.FRONT_END, libraries.cuda_major())
        raise BrokenLibraryError(
            f"cuDNN's front end: expected {libraries.FRONT_END}, got {version}; {advice}"
        )
    module.pygraph()  # loads the sublibrary of cuDNN that builds graphs
    return f"{version}, for cuDNN {module.backend_version_string()}"


def _nccl() -> str:
    library = libraries.load("nccl")
    number = ctypes.c_int()
    _check("ncclGetVersion", library.ncclGetVersion(ctypes.byref(number)))
    binding = imported("cupy.cuda.nccl")
    if isinstance(binding, str) or not binding.available:
        reason = binding if isinstance(binding, str) else "a module without it"
        raise ImportError(f"expected NCCL in CuPy, got {reason}")
    return _version(number.value, 10000)


def _check(function: str, status: int) -> None:
    if status:
        raise RuntimeError(f"{function} returned {status}")


def _version(number: int, major: int) -> str:
    """Format a version number whose minor and patch fields have two digits each."""
    return f"{number // major}.{number % major // 100}.{number % 100}"


def _numbers(version: str) -> tuple[int, ...]:
    """Return major and minor version."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def _package(name: str) -> str:
    return libraries.LIBRARIES[name].package


_SLOWER = "without it convolutions on gpu() are matrix products, several times slower"
_QUESTIONS = {
    "nvrtc": _Question(
        "NVRTC", _nvrtc, _package("nvrtc"), "gpu() cannot compile kernels without it", vital=True
    ),
    "cublas": _Question(
        "cuBLAS",
        _cublas,
        _package("cublas"),
        "gpu() has no matrix products without it",
        vital=True,
    ),
    "cudnn": _Question("cuDNN", _cudnn, _package("cudnn"), _SLOWER),
    "front end": _Question("cuDNN's front end", _front_end, libraries.FRONT_END, _SLOWER),
    "nccl": _Question(
        "NCCL",
        _nccl,
        _package("nccl"),
        "for the kvstore 'nccl', which is a 'device' store without it",
    ),
}


_DRIVER = Path("/proc/driver/nvidia/version")
_INSTALL = "for GPUs: pip install 'gluonish[cuda13]', or 'gluonish[cuda12]' for a driver of CUDA 12"


def gpu_findings() -> Iterator[Finding]:
    """Yield findings about GPUs and their libraries."""
    driver = _driver()
    yield driver
    cupy = imported("cupy")
    if isinstance(cupy, str):
        # Without a driver, CuPy cannot be used.
        advice = _INSTALL if driver.state == FOUND else f"{_INSTALL}, and NVIDIA's driver"
        state = MISSING if cupy == "not installed" else BROKEN
        yield Finding(_TOPIC, "CuPy", state, cupy, advice)
        return
    try:
        libraries.import_cupy()
    except OSError as error:
        yield Finding(_TOPIC, "CuPy", BROKEN, str(error), f"{_INSTALL}, again")
        return
    yield Finding(_TOPIC, "CuPy", FOUND, str(getattr(cupy, "__version__", "unknown version")))
    devices = list(_devices(cupy))
    yield from devices
    yield from nvidia_findings(has_device=any(one.name.startswith("gpu(") for one in devices))


def _driver() -> Finding:
    try:
        first = _DRIVER.read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        return Finding(_TOPIC, "NVIDIA's driver", MISSING, "not loaded")
    return Finding(_TOPIC, "NVIDIA's driver", FOUND, first.partition(":")[2].strip())


def _devices(cupy: Any) -> Iterator[Finding]:
    try:
        runtime = cupy.cuda.runtime
        count = int(runtime.getDeviceCount())
        versions = (runtime.runtimeGetVersion(), runtime.driverGetVersion())
    except Exception as error:  # an error of CUDA, or of a broken installation
        yield Finding(_TOPIC, "CUDA", MISSING, str(error), "gpu() needs a device and its driver")
        return
    made, driver = (f"{number // 1000}.{number % 1000 // 10}" for number in versions)
    yield Finding(_TOPIC, "CUDA", FOUND, f"{made}; the driver has {driver}")
    for number in range(count):
        properties = runtime.getDeviceProperties(number)
        with cupy.cuda.Device(number):
            free, total = runtime.memGetInfo()
        name = properties["name"].decode()
        capability = f"{properties['major']}.{properties['minor']}"
        text = f"{name}, capability {capability}, {free / 1e9:.1f} of {total / 1e9:.1f} GB free"
        yield Finding(_TOPIC, f"gpu({number})", FOUND, text)
