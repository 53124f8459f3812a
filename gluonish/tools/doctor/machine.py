"""Findings about the machine, cached files and environment variables."""

import math
import os
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from gluonish.core.config import (
    MXNET_CPU_PRIORITY_NTHREADS,
    MXNET_CPU_WORKER_NTHREADS,
    MXNET_HOME,
    all_flags,
    variables_with,
)
from gluonish.core.cpu_quota import cpu_limit
from gluonish.core.errors import ConfigError
from gluonish.core.loading import load
from gluonish.core.operating_system import usable_cores
from gluonish.kernels import openmp
from gluonish.runtime.features import memory_limit, processor

FOUND, MISSING, BROKEN = "found", "missing", "broken"


class Finding(NamedTuple):
    """The result of one check.

    Attributes:
        topic: The section of the report.
        name: The thing checked, such as a library.
        state: `FOUND`; `MISSING`, if gluonish works without it; or `BROKEN`, if it does not.
        text: Version or description, or the reason why it was not found.
        advice: The consequence and the remedy; empty if there is nothing to do.
    """

    topic: str
    name: str
    state: str
    text: str
    advice: str = ""


def imported(name: str) -> ModuleType | str:
    """Import a package and return it, or return the reason why it cannot be imported."""
    try:
        return load(name)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]
        return "not installed" if missing else f"cannot be imported: {error}"
    except (Exception, SystemExit) as error:  # a broken installation may raise anything
        return f"cannot be imported: {type(error).__name__}: {error}"


def version_of(distribution: str) -> str:
    """Return the version of an installed distribution, or ``unknown``."""
    metadata = load("importlib.metadata")  # importing this takes 15 ms
    try:
        return str(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return "unknown"


_TOPIC = "machine"
_MEMINFO = Path("/proc/meminfo")
# CPU features that kernels use, oldest first, by their names in Linux.
_FEATURES = (
    *("sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512_vnni"),
    *("avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "asimd", "asimdhp", "sve", "bf16"),
)
_WITHOUT_AVX2 = (
    "without AVX2, kernels compute 4 float32 numbers at a time, where newer processors do 8 or 16"
)
# Measured with AVX2 on two cores of an EPYC: a product of 512 x 512 matrices took 4 times as long
# in bfloat16 as in float32, a convolution of 32 channels 10 times.
_WITHOUT_AVX512 = (
    "without AVX-512, kernels compute 8 float32 numbers at a time, where newer processors do 16; "
    "and oneDNN has no bfloat16, which takes 4 to 10 times as long as float32 on NumPy: train in "
    "float32 here"
)


def machine_findings() -> Iterator[Finding]:
    """Yield findings about the machine."""
    name = f"{platform.python_implementation()} {platform.python_version()}"
    yield Finding(_TOPIC, "gluonish", FOUND, version_of("gluonish"))
    yield Finding(_TOPIC, "Python", FOUND, f"{name}, {sys.executable}")
    yield Finding(_TOPIC, "system", FOUND, platform.platform())
    yield _processor()
    yield _cores()
    yield _memory()
    yield _threads()


def _processor() -> Finding:
    found = processor()
    features = [name for name in _FEATURES if name in found.flags]
    text = f"{found.model}: {', '.join(features) or 'features unknown'}"
    advice = ""
    if "sse2" in found.flags and "avx512f" not in found.flags:
        advice = _WITHOUT_AVX512 if "avx2" in found.flags else _WITHOUT_AVX2
    return Finding(_TOPIC, "processor", MISSING if advice else FOUND, text, advice)


def _cores() -> Finding:
    machine, usable, limit = processor().cores, usable_cores(), cpu_limit()
    text = f"{usable} of {machine} available to this process"
    if limit is not None:
        text += f"; the control group limits it to {limit:g}"
    return Finding(_TOPIC, "cores", FOUND, text)


def _memory() -> Finding:
    sizes = _meminfo()
    if sizes is None:
        return Finding(_TOPIC, "memory", MISSING, "not reported by the system")
    total, available = sizes
    text = f"{total / 1e9:.1f} GB, {available / 1e9:.1f} GB of them free"
    limit = memory_limit()
    if limit is not None and limit < total:
        text += f"; the control group allows {limit / 1e9:.1f} GB"
    return Finding(_TOPIC, "memory", FOUND, text)


def _meminfo() -> tuple[int, int] | None:
    """Return total and available memory in bytes."""
    try:
        text = _MEMINFO.read_text(encoding="ascii")
    except OSError:
        return None
    kilobytes = dict(re.findall(r"^(\w+):\s*(\d+) kB$", text, re.M))
    if not {"MemTotal", "MemAvailable"} <= kilobytes.keys():
        return None
    return int(kilobytes["MemTotal"]) * 1024, int(kilobytes["MemAvailable"]) * 1024


def _threads() -> Finding:
    team = openmp.team()
    if not team.parallel:
        advice = "kernels run on one thread; libgomp comes with pip install onednn-cpu-gomp"
        return Finding(_TOPIC, "threads", MISSING, "no OpenMP", advice)
    threads = team.threads()
    text = f"{threads} OpenMP threads per kernel"
    try:
        lanes = (MXNET_CPU_WORKER_NTHREADS.value, MXNET_CPU_PRIORITY_NTHREADS.value)
        text += f"; per device, the engine has {lanes[0]} for operators and {lanes[1]} for priority"
    except ConfigError:
        pass  # reported with the environment variables
    cores = min(usable_cores(), math.ceil(cpu_limit() or usable_cores()))
    if threads > cores:
        advice = f"more threads than cores wait for one another: set OMP_NUM_THREADS={cores}"
        return Finding(_TOPIC, "threads", MISSING, text, advice)
    return Finding(_TOPIC, "threads", FOUND, text)


# Variables that the libraries read themselves.
_PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "DNNL_", "ONEDNN_", "OPENBLAS_", "MKL_", "OPENCV_"),
    *("CUDA_", "CUPY_", "NCCL_", "DMLC_", "MXNET_", "NNVM_", "PS_"),
)


def file_findings() -> Iterator[Finding]:
    """Yield findings about the files below ``MXNET_HOME``."""
    home = Path(MXNET_HOME.value)
    if not home.is_dir():
        yield Finding("files", "MXNET_HOME", FOUND, f"{home}, created when needed")
        return
    if not os.access(home, os.W_OK | os.X_OK):
        advice = "downloads fail, and each process compiles kernels again: set MXNET_HOME"
        yield Finding("files", "MXNET_HOME", BROKEN, f"{home} cannot be written", advice)
    else:
        yield Finding("files", "MXNET_HOME", FOUND, str(home))
    for folder in sorted(path for path in home.iterdir() if path.is_dir()):
        sizes = list(_sizes(folder))
        text = f"{sum(sizes) / 1e6:,.1f} MB in {len(sizes):,} files"
        yield Finding("files", f"{folder.name}/", FOUND, text)


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the bytes of every file below a folder, except files deleted meanwhile."""
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                yield os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue


def variable_findings() -> Iterator[Finding]:
    """Yield the environment variables of gluonish and its libraries that are set."""
    flags = {flag.name: flag for flag in all_flags()}
    for name, text in variables_with(*_PREFIXES).items():
        flag = flags.get(name)
        if flag is None:
            ours = name.startswith(("MXNET_", "NNVM_"))
            advice = "gluonish has no such variable; see gluonish env" if ours else ""
            yield Finding("variables", name, MISSING if ours else FOUND, text, advice)
            continue
        try:
            _ = flag.value
        except ConfigError as error:
            yield Finding("variables", name, BROKEN, text, str(error))
        else:
            yield Finding("variables", name, FOUND, text, "" if flag.acts else flag.doc)
