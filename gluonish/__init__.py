"""Gluon, imperative and hybrid, in plain Python: ``import gluonish as mx``."""

from typing import TYPE_CHECKING

from gluonish.core import interpreter as _interpreter  # noqa: F401  # check before all else
from gluonish.core import loading as _loading  # noqa: F401  # applies to all further imports
from gluonish.core import shown_errors as _shown_errors  # noqa: F401  # shows errors of imports, too

# isort: split
from gluonish import autograd, engine, gluon, ndarray, symbol
from gluonish import ndarray as nd
from gluonish import symbol as sym
from gluonish.core import devices as context
from gluonish.core import devices as device
from gluonish.core import user_functions as util
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
from gluonish.core.lazy import attach as _attach
from gluonish.core.lazy import lists as _lists
from gluonish.core.user_functions import (
    is_np_array,
    is_np_default_dtype,
    is_np_shape,
    np_array,
    np_default_dtype,
    np_shape,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_default_dtype,
    use_np_shape,
)
from gluonish.mxnet_names import attribute, base, random
from gluonish.mxnet_names import random as rnd
from gluonish.mxnet_names import start as _start  # noqa: F401  # acts on the modules above
from gluonish.mxnet_names.base import MXNetError
from gluonish.mxnet_names.table import MODULES as _MODULES
from gluonish.symbol import AttrScope, name

if TYPE_CHECKING:
    import gluonish.contrib.amp as amp
    import gluonish.image as img
    import gluonish.initializer as init
    import gluonish.kvstore as kv
    import gluonish.module as mod
    import gluonish.module.monitor as mon
    import gluonish.numpy as np
    import gluonish.numpy_extension as npx
    import gluonish.symbol.visualization as viz
    from gluonish import (
        contrib,
        image,
        initializer,
        io,
        kvstore,
        lr_scheduler,
        metric,
        model_zoo,
        module,
        numpy,
        numpy_extension,
        onnx,
        operator,
        optimizer,
        profiler,
        recordio,
        rnn,
        runtime,
        test_utils,
    )
    from gluonish.core import internal_error as error
    from gluonish.core import registry
    from gluonish.gluon import data, nn
    from gluonish.module import callback, monitor
    from gluonish.module import feed_forward as model
    from gluonish.mxnet_names import (
        cuda,
        dlpack,
        executor_manager,
        libinfo,
        library,
        log,
        notebook,
        rtc,
    )
    from gluonish.ndarray.value_checks import check_values
    from gluonish.symbol import executor, visualization
else:
    __getattr__ = _attach(
        __name__,
        (
            *("contrib", "image", "initializer", "io", "kvstore", "lr_scheduler", "metric"),
            *("model_zoo", "module", "numpy", "numpy_extension", "onnx", "operator", "optimizer"),
            *("profiler", "recordio", "rnn", "runtime", "test_utils"),
        ),
        {
            **{name: f"gluonish.{module}" for name, module in _MODULES.items()},
            "check_values": "gluonish.ndarray.value_checks:check_values",
            "init": "gluonish.initializer",
            "kv": "gluonish.kvstore",
            "np": "gluonish.numpy",
            "npx": "gluonish.numpy_extension",
        },
    )

__version__ = "0.1.0"

__all__ = [
    "AttrScope",
    "Context",
    "Device",
    "MXNetError",
    "amp",
    "attribute",
    "autograd",
    "base",
    "callback",
    "check_values",
    "context",
    "contrib",
    "cpu",
    "cpu_pinned",
    "cuda",
    "current_context",
    "current_device",
    "data",
    "device",
    "dlpack",
    "engine",
    "error",
    "executor",
    "executor_manager",
    "gluon",
    "gpu",
    "gpu_memory_info",
    "image",
    "img",
    "init",
    "initializer",
    "io",
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "kv",
    "kvstore",
    "libinfo",
    "library",
    "log",
    "lr_scheduler",
    "metric",
    "mod",
    "model",
    "model_zoo",
    "module",
    "mon",
    "monitor",
    "name",
    "nd",
    "ndarray",
    "nn",
    "notebook",
    "np",
    "np_array",
    "np_default_dtype",
    "np_shape",
    "npx",
    "num_gpus",
    "numpy",
    "numpy_extension",
    "onnx",
    "operator",
    "optimizer",
    "profiler",
    "random",
    "recordio",
    "registry",
    "rnd",
    "rnn",
    "rtc",
    "runtime",
    "set_np_shape",
    "sym",
    "symbol",
    "test_utils",
    "use_np",
    "use_np_array",
    "use_np_default_dtype",
    "use_np_shape",
    "util",
    "visualization",
    "viz",
]
__dir__ = _lists(__all__)
