"""What the import of gluonish does besides defining names, last of all.

Lower layers learn here of what stands above them, each by a function that loads it when it is
asked for. Then the garbage collector is told to leave alone what the import has made.
"""

from functools import partial

from gluonish.autograd.scopes import register_symbol_maker
from gluonish.core.collection_pause import set_imports_aside
from gluonish.core.device import register_gpu_support
from gluonish.core.loading import load
from gluonish.core.module_names import alias_modules, show_modules
from gluonish.engine import when_made
from gluonish.mxnet_names.table import MODULES
from gluonish.ndarray.namespace import add_later
from gluonish.ops.face import NUMPY_FACES

__all__: list[str] = []

alias_modules({f"gluonish.{name}": f"gluonish.{module}" for name, module in MODULES.items()})
show_modules({"gluonish.gluon": {"model_zoo": "gluonish.model_zoo"}})
when_made(lambda: load("gluonish.profiler.autostart"))
for name, module in NUMPY_FACES.items():
    add_later(name, partial(load, f"gluonish.ndarray.{module}"))
add_later("CachedOp", lambda: load("gluonish.symbol.cached_op").CachedOp)
register_gpu_support(lambda: load("gluonish.kernels.cupy").CuPySupport())
register_symbol_maker(lambda link: load("gluonish.symbol.recorded").symbol_of(link))
set_imports_aside()
