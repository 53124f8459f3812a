"""What the import of gluonish does besides defining names, last of all.

Lower layers learn here of what stands above them, each by a function that loads it when it is
asked for. Then the garbage collector is told to leave alone what the import has made.
"""

from gluonish.autograd.recorded import register_symbol_maker
from gluonish.core.collection_pause import set_imports_aside
from gluonish.core.device import register_gpu_support
from gluonish.core.hooks import ndarray_names
from gluonish.core.lazy import extend
from gluonish.core.loading import load
from gluonish.core.module_names import alias_modules
from gluonish.engine import when_made
from gluonish.mxnet_names.table import MODULES
from gluonish.ops.face import NUMPY_FACES

__all__: list[str] = []

alias_modules({f"gluonish.{name}": f"gluonish.{module}" for name, module in MODULES.items()})
extend("gluonish.gluon", {"model_zoo": "gluonish.model_zoo"})
ndarray_names["CachedOp"] = "gluonish.symbol.cached_op:CachedOp"
ndarray_names |= {name: f"gluonish.ndarray.{module}" for name, module in NUMPY_FACES.items()}
when_made(lambda: load("gluonish.profiler.autostart"))
register_gpu_support(lambda: load("gluonish.kernels.cupy").CuPySupport())
register_symbol_maker(lambda link: load("gluonish.symbol.recorded").symbol_of(link))
set_imports_aside()
