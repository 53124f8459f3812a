"""Kernels from generated Python source: Numba types them, LLVM makes machine code, OpenMP runs it.

`compile_kernel` takes a source (`compile` says what may stand in it) and gives a `CompiledKernel`
to call with an extent and addresses. `numba.njit` would do that, too, but a program would import
Numba and type each kernel again at every start (seconds), run on threads of its own beside
oneDNN's, and could not say which loops have independent steps. So Numba is used for typing and
lowering alone (`frontend`; simple sources do without it, `plain_source`), LLVM for machine code
(`machine_code`), which lies on disk from then on (`disk_cache`). The price is these modules, and
that they use inner parts of Numba: `pyproject.toml` bounds its version, and `frontend` says what to
do where they changed.
"""

from gluonish.kernels.compiler.compile import (
    GRAIN,
    CompiledKernel,
    available,
    compile_assembly,
    compile_kernel,
    is_compiled,
)
from gluonish.kernels.compiler.frontend import KernelError

__all__ = [
    "GRAIN",
    "CompiledKernel",
    "KernelError",
    "available",
    "compile_assembly",
    "compile_kernel",
    "is_compiled",
]
