"""``mx.npx``: extensions to NumPy: operators of layers, devices, files, NumPy semantics."""

from gluonish.core.devices import (
    Context,
    Device,
    cpu,
    cpu_pinned,
    current_context,
    current_device,
    gpu,
    gpu_memory_info,
    num_gpus,
)
from gluonish.core.numpy_mode import is_np_array, is_np_shape
from gluonish.core.user_functions import get_cuda_compute_capability, reset_np, set_np
from gluonish.ndarray.functions import waitall
from gluonish.numpy_extension import image, random
from gluonish.numpy_extension.files import load, save
from gluonish.numpy_extension.operators import constraint_check, nonzero
from gluonish.numpy_extension.operators import operator_function as __getattr__  # noqa: F401
from gluonish.numpy_extension.operators import operator_names as __dir__  # noqa: F401

__all__ = [
    "Context",
    "Device",
    "constraint_check",
    "cpu",
    "cpu_pinned",
    "current_context",
    "current_device",
    "get_cuda_compute_capability",
    "gpu",
    "gpu_memory_info",
    "image",
    "is_np_array",
    "is_np_shape",
    "load",
    "nonzero",
    "num_gpus",
    "random",
    "reset_np",
    "save",
    "set_np",
    "waitall",
]
