"""Features of the installation and of the processor.

In MXNet they are compile-time options. gluonish is not compiled: a feature is enabled if this
process uses it, or can use it, on this machine.
"""

import faulthandler
import functools
import os
import platform
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gluonish.core.config import MXNET_CUDNN_ENABLED
from gluonish.core.cpu_memory import OWN, ROOT, control_groups
from gluonish.core.device import gpu_count
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeviceError, nearest
from gluonish.core.loading import IMPORT_FAILURES, load
from gluonish.kernels import openmp
from gluonish.kernels.cupy import libraries
from gluonish.kernels.onednn.register import enabled as onednn_enabled
from gluonish.kvstore.nccl_team import find_nccl

_CPUINFO = Path("/proc/cpuinfo")
# Without a limit, control groups of version 1 report the largest number of pages.
_NO_LIMIT = 1 << 60


class Processor(NamedTuple):
    """Model, instruction sets and cores of a processor.

    Attributes:
        model: Name of the processor's model.
        flags: Instruction sets by their names in Linux: ``avx2``, ``avx512f``; empty if unknown.
        cores: Logical cores of the machine.
    """

    model: str
    flags: frozenset[str]
    cores: int


@functools.cache
def processor() -> Processor:
    """Return this machine's processor."""
    return _parse(_read(_CPUINFO))  # empty except on Linux


def _parse(cpuinfo: str) -> Processor:
    """Parse /proc/cpuinfo; all processors are assumed to equal the first."""
    fields = dict(re.findall(r"^(model name|flags|Features)[ \t]*:[ \t]*(.*)$", cpuinfo, re.M))
    model = fields.get("model name") or platform.processor() or platform.machine()
    flags = fields.get("flags") or fields.get("Features") or ""
    return Processor(model, frozenset(flags.split()), os.cpu_count() or 1)


def memory_limit(root: Path = ROOT, own: Path = OWN) -> int | None:
    """Return the memory limit of this process's control groups, in bytes; None without a limit.

    Args:
        root: Mount point of the control groups.
        own: The file that lists the groups of this process.
    """
    limits = []
    for folder in control_groups(root, own, "memory"):
        text = _read(folder / "memory.max") or _read(folder / "memory.limit_in_bytes")
        if text.isdecimal() and int(text) < _NO_LIMIT:
            limits.append(int(text))
    return min(limits, default=None)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


class Feature:
    """One feature of MXNet's feature list.

    Args:
        name: Name of the feature, in capitals.
        enabled: Whether the feature is available on this machine.
    """

    __slots__ = ("_enabled", "_name")

    def __init__(self, name: str = "", enabled: bool = False) -> None:
        self._name = name
        self._enabled = enabled

    @property
    def name(self) -> str:
        """The feature's name."""
        return self._name

    @property
    def enabled(self) -> bool:
        """Whether the feature is available."""
        return self._enabled

    def __repr__(self) -> str:
        return f"{'✔' if self._enabled else '✖'} {self._name}"


def _processor_has(flag: str) -> Callable[[], bool]:
    return lambda: flag in processor().flags


def _numpy_calls(library: str) -> Callable[[], bool]:
    def found() -> bool:
        built_with = np.show_config(mode="dicts")
        dependencies = built_with["Build Dependencies"] if built_with else {}
        return library in str(dependencies.get("blas", {}).get("name", "")).lower()

    return found


def _has_opencv() -> bool:
    try:
        load("cv2")
    except IMPORT_FAILURES:
        return False
    return True


def _has_gpu() -> bool:
    return gpu_count() > 0


def _compiles_for_gpus() -> bool:
    if not _has_gpu():
        return False
    try:
        libraries.load("nvrtc")
    except (DeviceError, ImportError):
        return False
    return True


def _has_cudnn() -> bool:
    if not _has_gpu() or not MXNET_CUDNN_ENABLED.value:
        return False
    try:
        libraries.load_front_end()
    except (DeviceError, ImportError):
        return False
    return True


def _has_nccl() -> bool:
    try:
        find_nccl()
    except DeviceError:
        return False
    return True


def _has_openmp() -> bool:
    return bool(openmp.team().parallel)


def _never() -> bool:
    return False


def _always() -> bool:
    return True


# MXNet 1.9's features in its order, with functions that check them.
_CHECKS: dict[str, Callable[[], bool]] = {
    "CUDA": _has_gpu,
    "CUDNN": _has_cudnn,  # including the frontend, which convolutions need
    "NCCL": _has_nccl,
    "CUDA_RTC": _compiles_for_gpus,  # with NVRTC, through CuPy; see `mx.rtc`
    "TENSORRT": _never,
    "CPU_SSE": _processor_has("sse"),
    "CPU_SSE2": _processor_has("sse2"),
    "CPU_SSE3": _processor_has("pni"),
    "CPU_SSE4_1": _processor_has("sse4_1"),
    "CPU_SSE4_2": _processor_has("sse4_2"),
    "CPU_SSE4A": _processor_has("sse4a"),
    "CPU_AVX": _processor_has("avx"),
    "CPU_AVX2": _processor_has("avx2"),
    "OPENMP": _has_openmp,
    "SSE": _processor_has("sse"),
    "F16C": _processor_has("f16c"),
    "JEMALLOC": _never,
    "BLAS_OPEN": _numpy_calls("openblas"),
    "BLAS_ATLAS": _numpy_calls("atlas"),
    "BLAS_MKL": _numpy_calls("mkl"),
    "BLAS_APPLE": _numpy_calls("accelerate"),
    "LAPACK": _always,  # NumPy always includes LAPACK
    "MKLDNN": onednn_enabled,
    "OPENCV": _has_opencv,
    "CAFFE": _never,
    "PROFILER": _always,
    "DIST_KVSTORE": _never,
    "CXX14": _never,
    "INT64_TENSOR_SIZE": _always,  # NumPy counts elements in 64 bits
    "SIGNAL_HANDLER": faulthandler.is_enabled,
    "DEBUG": _never,
    "TVM_OP": _never,
}


def feature_list() -> list[Feature]:
    """Return all features of MXNet's list, in its order, as currently available."""
    return [Feature(name, is_enabled()) for name, is_enabled in _CHECKS.items()]


class Features(OrderedDict[str, Feature]):
    """Every feature by its name; a singleton with the state of the process at its creation.

    Attributes:
        instance: The singleton; None before the first call.
    """

    instance: "Features | None" = None

    def __new__(cls) -> "Features":
        """Return the singleton."""
        if cls.instance is None:
            made = super().__new__(cls)
            OrderedDict.__init__(made, ((feature.name, feature) for feature in feature_list()))
            cls.instance = made
        return cls.instance

    def __init__(self) -> None:
        """Do nothing: `__new__` fills the singleton."""

    def __repr__(self) -> str:
        return str(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Return whether a feature is available.

        Args:
            feature_name: Name of the feature, in upper or lower case.

        Raises:
            ArgumentError: MXNet has no feature of this name; also a RuntimeError, as in MXNet.
            ArgumentTypeError: The name is not a str.
        """
        if not isinstance(feature_name, str):
            raise ArgumentTypeError(
                f"Features.is_enabled: expected feature_name as text, got {feature_name!r}"
            )
        feature = self.get(feature_name.upper())
        if feature is None:
            raise ArgumentError(
                f"Features.is_enabled: expected one of {', '.join(self)}, got "
                f"{feature_name.upper()!r}{nearest(feature_name.upper(), self)}"
            )
        return feature.enabled
