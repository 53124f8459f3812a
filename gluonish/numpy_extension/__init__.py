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
from gluonish.core.numpy_mode import (
    is_np_array,
    is_np_default_dtype,
    is_np_shape,
    set_np_default_dtype,
)
from gluonish.core.user_functions import get_cuda_compute_capability, reset_np, set_np
from gluonish.ndarray.functions import waitall
from gluonish.numpy_extension import image, random
from gluonish.numpy_extension.control_flow import cond, foreach, while_loop
from gluonish.numpy_extension.files import load, save, savez
from gluonish.numpy_extension.indexing import index_add, index_update
from gluonish.numpy_extension.layers import activation, group_norm
from gluonish.numpy_extension.masking import masked_log_softmax, masked_softmax
from gluonish.numpy_extension.operators import constraint_check, nonzero
from gluonish.numpy_extension.operators import operator_function as __getattr__  # noqa: F401
from gluonish.numpy_extension.operators import operator_names as __dir__  # noqa: F401
from gluonish.numpy_extension.random import scalar_poisson
from gluonish.numpy_extension.sharing import (
    from_dlpack,
    from_numpy,
    to_dlpack_for_read,
    to_dlpack_for_write,
)

__all__ = [
    "Context",
    "Device",
    "activation",
    "cond",
    "constraint_check",
    "cpu",
    "cpu_pinned",
    "current_context",
    "current_device",
    "foreach",
    "from_dlpack",
    "from_numpy",
    "get_cuda_compute_capability",
    "gpu",
    "gpu_memory_info",
    "group_norm",
    "image",
    "index_add",
    "index_update",
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "load",
    "masked_log_softmax",
    "masked_softmax",
    "nonzero",
    "num_gpus",
    "random",
    "reset_np",
    "save",
    "savez",
    "scalar_poisson",
    "set_np",
    "set_np_default_dtype",
    "to_dlpack_for_read",
    "to_dlpack_for_write",
    "waitall",
    "while_loop",
]
