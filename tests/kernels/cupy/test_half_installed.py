"""CuPy that is missing, broken in any way, or without a driver: one message of ours each."""

import importlib
import logging
import sys
from pathlib import Path

import pytest

from gluonish.core.context import gpu
from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.libraries import BrokenLibraryError
from gluonish.kernels.cupy.support import CuPySupport
from gluonish.kvstore import create
from gluonish.kvstore.nccl_team import find_nccl
from gluonish.runtime.features import feature_list
from gluonish.tools.doctor.machine import BROKEN, FOUND
from gluonish.tools.doctor.nvidia import gpu_findings

_RUNTIME = """
import sys, types
__version__ = "14.0.0"
cuda = types.ModuleType("cupy.cuda")
sys.modules["cupy.cuda"] = cuda
"""
_NO_DRIVER = """
class CUDARuntimeError(RuntimeError):
    pass
def fails(*_):
    raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")
cuda.runtime = types.SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError, getDeviceCount=fails, runtimeGetVersion=fails,
    driverGetVersion=lambda: 0,
)
"""
# What the module is, and what the message says of it.
BROKEN_ONES = {
    "raise ImportError('libnvrtc.so.12: cannot open shared object file')": "libnvrtc.so.12",
    "raise OSError('libcudart.so.12: cannot open shared object file')": "libcudart.so.12",
    "raise RuntimeError('CuPy is not correctly installed')": "RuntimeError: CuPy is not",
    "raise AttributeError('module numpy has no bool')": "AttributeError: module numpy",
    "raise TypeError('unexpected')": "TypeError: unexpected",
    "raise SystemExit(3)": "SystemExit: 3",
    "a = = 1": "SyntaxError",
    "": "no module cupy.cuda in the package cupy",  # a folder that an uninstall left behind
}
NO_DRIVERS = {
    _RUNTIME: "without a usable driver",
    _RUNTIME + _NO_DRIVER: "without a usable driver (cudaErrorInsufficientDriver",
}


@pytest.fixture(params=[*BROKEN_ONES, *NO_DRIVERS])
def said(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put such a CuPy in front of everything; what messages say of it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "cupy"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "cupy").mkdir()
    (tmp_path / "cupy" / "__init__.py").write_text(request.param)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    for name in ("cupy", "cupy.cuda"):  # so that they are gone again in the end
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    return {**BROKEN_ONES, **NO_DRIVERS}[request.param]


def test_devices_say_what_is_wrong(said: str) -> None:
    support = CuPySupport()
    assert support.count() == 0
    assert support.make_pinned(gpu()) is None
    for ask in (lambda: support.make_device(gpu()), lambda: support.memory(0)):
        with pytest.raises(DeviceError) as caught:
            ask()
        assert said in str(caught.value)
        assert str(caught.value).endswith("or use cpu()")


def test_stores_features_and_libraries_go_without(
    said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(DeviceError, match="nccl: expected"):
        find_nccl()
    with caplog.at_level(logging.WARNING, "gluonish"):
        assert create("nccl").type in ("device", "nccl")
    assert not any(f.enabled for f in feature_list() if f.name in ("CUDA", "CUDNN", "NCCL"))
    with pytest.raises((ImportError, OSError, BrokenLibraryError)):
        libraries.load("nvrtc")


def test_the_doctor_says_it_too(said: str) -> None:
    found = {finding.name: finding for finding in gpu_findings()}
    if "usable driver" in said:
        assert found["CuPy"].state == FOUND
        assert "gpu(0)" not in found
    else:
        assert found["CuPy"].state == BROKEN
        assert said in found["CuPy"].text


def test_a_program_s_own_cuda_py_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cuda.py").write_text("raise AssertionError('this is a program of the user')")
    monkeypatch.delitem(sys.modules, "cuda", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(libraries.MissingLibraryError):
        libraries.load("nvrtc", 99)
