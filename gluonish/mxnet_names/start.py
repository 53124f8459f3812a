"""The last step of the import of gluonish: registers aliases and hooks.

The hooks of lower layers get lazily loaded implementations. Then the imported objects are frozen
for the garbage collector.
"""

from gluonish.core import hooks
from gluonish.core.collection_pause import end_import, freeze_imports
from gluonish.core.lazy import extend
from gluonish.core.loading import load, when_complete
from gluonish.core.module_names import alias_modules
from gluonish.mxnet_names.table import MODULES
from gluonish.ops.frontend import NUMPY_NAMESPACES

__all__: list[str] = []

alias_modules({f"gluonish.{name}": f"gluonish.{module}" for name, module in MODULES.items()})
extend("gluonish.gluon", {"model_zoo": "gluonish.model_zoo"})
extend(
    "gluonish.core.user_functions",
    {
        name: f"gluonish.numpy_extension.conversion:{name}"
        for name in ("default_array", "numpy_fallback")
    },
)
hooks.ndarray_names["CachedOp"] = "gluonish.symbol.cached_op:CachedOp"
for name, module in NUMPY_NAMESPACES.items():
    hooks.ndarray_names[name] = f"gluonish.ndarray.{module}"
hooks.calling_layer.fill("gluonish.gluon.block.block_errors:calling_layer")
hooks.check_call.fill("gluonish.ndarray.value_checks:check_call")
hooks.divert_rnn.fill("gluonish.ndarray.reserved_rnn:divert")
hooks.end_idle_teams.fill("gluonish.engine:end_idle_teams")
hooks.kernels_of.fill("gluonish.kernels.preference:kernels_of")
hooks.make_gpu_support.fill("gluonish.kernels.back_ends:gpu_support")
hooks.start_checks.fill("gluonish.ndarray.value_checks:start")
hooks.start_profiler.fill("gluonish.profiler.autostart:start")
hooks.symbol_of.fill("gluonish.symbol.recorded:symbol_of")
# einops selects a backend by an array's class.
when_complete(
    "einops._backends",
    lambda module: load("gluonish.contrib.einops_backend").register(module),
)
freeze_imports()
end_import()
