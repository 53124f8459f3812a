"""MXNet's module names, and the modules that implement them.

`gluonish.mxnet_names.start` makes ``gluonish.model`` and the others importable.
"""

__all__ = ["MODULES"]

# Modules in this folder, under the same name.
_LOCAL = (
    *(
        "_deferred_compute",
        "_numpy_op_doc",
        "as_mxnet",
        "as_mxnet2",
        "attribute",
        "base",
        "cuda",
        "cuda.nvtx",
        "dlpack",
        "executor_manager",
        "libinfo",
        "library",
        "log",
    ),
    *("ndarray_doc", "notebook", "numpy_dispatch_protocol", "numpy_op_signature", "random"),
    *("rtc", "symbol_doc"),
)

# Alias below ``gluonish`` -> module.
MODULES = {
    **{name: f"mxnet_names.{name}" for name in _LOCAL},
    "amp": "contrib.amp",
    "callback": "module.callback",
    "contrib.nd": "ndarray.contrib",
    "contrib.ndarray": "ndarray.contrib",
    "contrib.quant": "contrib.quantization",
    "contrib.sym": "symbol.contrib",
    "contrib.symbol": "symbol.contrib",
    "contrib.text.vocab": "gluon.contrib.data.text",
    "context": "core.devices",
    "data": "gluon.data",
    "device": "core.devices",
    "error": "core.internal_error",
    "executor": "symbol.executor",
    "gluon.model_zoo": "model_zoo",
    "image.image": "image",
    "img": "image",
    "io.io": "io",
    "mod": "module",
    "model": "module.feed_forward",
    "mon": "module.monitor",
    "monitor": "module.monitor",
    "name": "symbol.name",
    "ndarray.numpy": "numpy_extension.nd_namespaces.np",
    "ndarray.numpy_extension": "numpy_extension.nd_namespaces.npx",
    "ndarray.register": "numpy_extension.nd_namespaces.np.register",
    "nn": "gluon.nn",
    "optimizer.adamW": "optimizer.adam",
    "optimizer.utils": "optimizer.arguments",
    "registry": "core.registry",
    "util": "core.user_functions",
    "visualization": "symbol.visualization",
    "viz": "symbol.visualization",
}
