"""The double of CuPy: a module on a `Machine`, for device and kernels to run on without CUDA."""

import importlib
import importlib.util
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from tests.kernels.cupy import host_kernels
from tests.kernels.cupy.arrays import Array, note_orders
from tests.kernels.cupy.cuda_module import make_cuda
from tests.kernels.cupy.device_memory import MemoryPool, OutOfMemoryError, PinnedMemoryPool
from tests.kernels.cupy.exchange import add_exchange
from tests.kernels.cupy.functions import add_functions, made_name
from tests.kernels.cupy.linear_algebra import make_fft, make_linalg
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.streams import CUDARuntimeError
from tests.kernels.cupy.surface import SURFACE, UNKNOWN
from tests.kernels.cupy.ufuncs import Ufunc

__all__ = ["CUDARuntimeError", "OutOfMemoryError", "make_cupy", "make_special"]

# The libraries' doubles, and the modules of gluonish that they are for: a checkout that is older
# than one of them (benchmarks/gpu_run/modelled.py) goes without its double.
_LIBRARIES = {
    "cublas_double": "cublas",
    "cublaslt_double": "cublaslt",
    "cudnn_double": "cudnn",
    "cudnn_rnn_double": "cudnn_rnn_api",
    "graph_driver_double": "moving_arrays",
}


def _note_copies() -> None:
    """Note the orders of memory that gluonish's own copies read and write, as of CuPy's kernels."""
    try:
        copies: Any = importlib.import_module("gluonish.kernels.cupy.copies")
    except ModuleNotFoundError:  # an older checkout
        return
    plan_of = copies._plan_of

    def noted(out: Array, source: Array) -> Any:
        plan = plan_of(out, source)
        if plan is not None:  # others are CuPy's
            note_orders(out._machine, "copy", [source], out)
        return plan

    copies._plan_of = noted


_note_copies()


class _CuPy(ModuleType):
    """The module itself; makes functions when they are asked for, as most tests need few."""

    def __init__(self, machine: Machine) -> None:
        super().__init__("cupy")
        self.__dict__["_machine"] = machine

    def __getattr__(self, name: str) -> Any:
        with suppress(LookupError):
            return self.__dict__.setdefault(name, made_name(self._machine, name))
        assert name not in SURFACE["names"], f"cupy.{name}: {UNKNOWN}"
        raise AttributeError(f"module 'cupy' has no attribute {name!r}")


def make_cupy(machine: Machine) -> Any:
    """Return a module like CuPy over a machine."""
    module: Any = _CuPy(machine)
    module.__version__ = SURFACE["cupy"]
    pool = machine.bound(MemoryPool)()
    pinned = machine.bound(PinnedMemoryPool)()
    module.cuda = make_cuda(machine, pool, pinned)
    add_functions(module, machine)
    add_exchange(module, machine)
    module.linalg, module.fft = make_linalg(machine), make_fft(machine)
    module.get_default_memory_pool = lambda: pool
    module.get_default_pinned_memory_pool = lambda: pinned
    for double, name in _LIBRARIES.items():
        if importlib.util.find_spec(f"gluonish.kernels.cupy.{name}") is not None:
            importlib.import_module(f"tests.kernels.cupy.{double}").install(module, machine)
    host_kernels.install(module, machine)
    return module


def make_special() -> Any:
    """Return a module like ``cupyx.scipy.special``, computing in float64."""
    from gluonish.ops.support import special as own

    def plain(name: str) -> Any:
        def function(*given: Any) -> Any:
            wide = np.asarray(given[-1], np.float64)
            return own._NUMPY[name](wide.reshape(-1)).reshape(wide.shape)

        return function

    special: Any = ModuleType("cupyx.scipy.special")
    for name in ("erf", "erfinv", "gamma", "gammaln", "digamma"):
        setattr(special, name, _special(name, plain(name)))
    # Of order 2, which is the second derivative of log gamma.
    special.zeta = _special("zeta", plain("trigamma"))
    return special


def _special(name: str, function: Any) -> Any:
    def call(*args: Array) -> Any:
        assert name != "zeta" or args[0] == 2.0, "zeta of another order: not known to this double"
        return Ufunc(args[-1]._machine, f"special.{name}", function)(*args)

    return call
