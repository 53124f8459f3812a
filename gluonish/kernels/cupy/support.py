"""The `Support` of the CuPy back end: devices, graph passes and optimizer steps.

CuPy is imported on the first use of a GPU.
"""

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core import loading
from gluonish.core.config import MXNET_CUDA_LIB_CHECKING, MXNET_USE_FUSION
from gluonish.core.context import Context
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.errors import DeviceError
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.kernels.back_ends import Passes, Support
from gluonish.kernels.cupy import channels_last, cudnn_graph, libraries
from gluonish.kernels.cupy.device import GPUDevice
from gluonish.kernels.cupy.pool import PinnedDevice
from gluonish.kernels.generated.expressions import aligned_shape, supports_keyed

_LOG = logging.getLogger("gluonish")
_DRIVER = "install NVIDIA's driver, and look at `gluonish doctor`"
_INSTALL = "install gluonish[cuda13] (or cuda12 for CUDA 12) and NVIDIA's driver"


def _load_libraries(cupy: Any) -> None:
    """Load the libraries that every program needs, so that a missing one is reported early.

    Raises:
        DeviceError: A library is missing or broken; the message has the package to install.
    """
    cuda = libraries.cuda_major(cupy)
    for name in ("nvrtc", "cublas"):
        libraries.load(name, cuda)


class CuPySupport:
    """Devices and their memory through CuPy.

    Args:
        load: Function that imports CuPy; raises ImportError if CuPy is missing, OSError if the
            import fails.
        load_libraries: Function that loads NVIDIA's libraries for CuPy.
    """

    def __init__(
        self,
        load: Callable[[], ModuleType] = libraries.import_cupy,
        load_libraries: Callable[[Any], None] = _load_libraries,
    ) -> None:
        self._load = load
        self._load_libraries = load_libraries
        self._checked = False
        self._loaded = False

    def make_device(self, context: Context) -> GPUDevice:
        """Return the device of a GPU context.

        Raises:
            DeviceError: CuPy, the driver, the device or a library of NVIDIA's is missing; the
                message says what to install.
        """
        cupy = self._open(context.device_id)
        if not self._loaded:
            self._load_libraries(cupy)
            loading.load("gluonish.kernels.cupy.register").serve_reference_kernels()
            self._loaded = True
        return GPUDevice(context, cupy)

    def make_pinned(self, context: Context) -> PinnedDevice | None:
        """Return the device of ``cpu_pinned(i)``; None without a GPU."""
        return PinnedDevice(context, self._load()) if self.count() else None

    def count(self) -> int:
        """Return the number of GPUs, 0 without CuPy or a driver."""
        try:
            return _count(self._load())
        except (ImportError, OSError, DeviceError):
            return 0

    def memory(self, device_id: int) -> tuple[int, int]:
        """Return free and total memory of a device, in bytes.

        Raises:
            DeviceError: As for `make_device`.
        """
        cupy = self._open(device_id)
        with cupy.cuda.Device(device_id):
            free, total = cupy.cuda.runtime.memGetInfo()
        return int(free), int(total)

    def capability(self, device_id: int) -> int:
        """Return the compute capability of a device, for example 90 for 9.0.

        Raises:
            DeviceError: As for `make_device`.
        """
        return int(self._open(device_id).cuda.Device(device_id).compute_capability)

    def _open(self, device_id: int) -> Any:
        """Return the CuPy module, after checking that the device exists."""
        try:
            cupy = self._load()
            count = _count(cupy)
        except ImportError as error:
            raise _missing(device_id, f"no CuPy ({error})") from error
        except OSError as error:
            raise _missing(device_id, f"a CuPy that does not start ({error})") from error
        except DeviceError as error:
            raise _missing(device_id, str(error), _DRIVER) from error.__cause__
        if device_id >= count:
            got = f"{count} CUDA device{'s' * (count != 1)}, counted from 0"
            raise _missing(device_id, got, "use one of those")
        if not self._checked and MXNET_CUDA_LIB_CHECKING.value:
            self._checked = True
            _check_versions(cupy)
        return cupy


def _check_versions(cupy: Any) -> None:
    """Log a warning if the driver supports only an older CUDA than the libraries need."""
    driver, libraries = (
        (number // 1000, number % 1000 // 10)
        for number in (
            cupy.cuda.runtime.driverGetVersion(),
            cupy.cuda.runtime.runtimeGetVersion(),
        )
    )
    if driver[0] < libraries[0]:
        _LOG.warning(
            "CUDA: expected a driver for CUDA %d or later, as the libraries are of %d.%d, got one "
            "for %d.%d; update it, or install gluonish[cuda%d] (MXNET_CUDA_LIB_CHECKING=0 "
            "disables this check)",
            *(libraries[0], *libraries, *driver, driver[0]),
        )


def _count(cupy: Any) -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except IMPORT_FAILURES as error:  # CUDA's own errors are RuntimeErrors
        version = getattr(cupy, "__version__", "of an unknown version")
        raise DeviceError(f"CuPy {version} without a usable driver ({error})") from error


def _missing(device_id: int, got: str, advice: str = _INSTALL) -> DeviceError:
    return DeviceError(
        f"gpu({device_id}): expected CuPy and a CUDA device, got {got}; {advice}, or use cpu()"
    )


def _passes() -> Passes:
    reserve: Passes = {"reserve_rnn": {}}  # no fusion, but the library's kernel
    if not MXNET_USE_FUSION.value:
        return reserve
    supports_norm = loading.load("gluonish.kernels.cupy.softmax_and_norms").supports_norm
    return {
        "fuse_log_softmax_pick": {},
        **reserve,
        # One kernel supports all floats.
        "split_batch_norm": {"dtypes": (FLOAT32, FLOAT64, BFLOAT16, FLOAT16)},
        "drop_bias_gradient": {},
        "drop_bias": {},
        "fuse_bias_gradient": {},
        "fuse_residual_gradient": {},
        "fold_batch_norm": {},
        "fuse_attention": {
            "supports": loading.load("gluonish.kernels.cupy.cudnn_attention").is_faster
        },
        "fuse_add_layer_norm": {"supports": supports_norm},
        "redraw_masks": {},
        "fuse_gradient_sum": {"supports": supports_norm},
        "channels_last": {
            "starts": channels_last.starts_layout,
            "positions": channels_last.positions_read,
        },
        "cast_weights": {"starts": channels_last.starts_layout},
        "join_weight_gradients": {"starts": channels_last.starts_layout},
        # cuDNN fuses sums and functions into kernels for tensor cores.
        "fuse_primitives": {
            "layers": ("Convolution",),
            "dtypes": channels_last.tensor_core_dtypes(),
            "functions": cudnn_graph.FUNCTIONS,
            "inference_only": True,
        },
        # A launch takes as long for few elements, and CuPy's kernels access one at a time.
        "fuse_pointwise": {
            "least": 1,
            "least_slow": 1,
            "supports": supports_keyed,
            "aligned_shape": aligned_shape,
        },
    }


SUPPORT = Support(
    _passes,
    optimizer_step=lambda: loading.load("gluonish.kernels.cupy.optimizer").fused_step,
    devices=CuPySupport,
    outcomes=lambda: loading.load("gluonish.kernels.cupy.loss_scale").Outcomes,
)
