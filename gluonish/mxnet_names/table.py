"""Modules that programs know by MXNet's names, and where each stands here.

`gluonish.start` makes ``gluonish.model`` and the others importable.
"""

__all__ = ["MODULES"]

# In this folder, under their own names.
_HERE = (
    *("_numpy_op_doc", "base", "context", "error", "executor_manager", "libinfo", "library", "log"),
    *("ndarray_doc", "notebook", "numpy_dispatch_protocol", "numpy_op_signature", "operator"),
    *("random", "rtc", "symbol_doc", "util"),
)

# By the name below ``gluonish`` that programs use, the name of the module that it is.
MODULES = {
    **{name: f"mxnet_names.{name}" for name in _HERE},
    "amp": "contrib.amp",
    "attribute": "symbol.name",
    "callback": "module.callback",
    "executor": "symbol.executor",
    "img": "image",
    "mod": "module",
    "model": "module.feed_forward",
    "mon": "module.monitor",
    "monitor": "module.monitor",
    "name": "symbol.name",
    "registry": "core.registry",
    "visualization": "symbol.visualization",
    "viz": "symbol.visualization",
}
