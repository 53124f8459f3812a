"""GPUs: NVIDIA's driver, CuPy and the devices."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gluonish.kernels.cupy import libraries
from gluonish.tools.doctor.finding import BROKEN, FOUND, MISSING, Finding, imported
from gluonish.tools.doctor.nvidia import nvidia_findings

__all__ = ["gpu_findings"]

_TOPIC = "GPU"
_DRIVER = Path("/proc/driver/nvidia/version")
_INSTALL = "for GPUs: pip install 'gluonish[cuda13]', or 'gluonish[cuda12]' for a driver of CUDA 12"


def gpu_findings() -> Iterator[Finding]:
    """What there is of GPUs."""
    driver = _driver()
    yield driver
    cupy = imported("cupy")
    if isinstance(cupy, str):
        # Without a driver nobody misses it.
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
    except Exception as error:  # CUDA's own, or that of a broken installation
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
