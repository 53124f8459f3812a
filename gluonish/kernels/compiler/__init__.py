"""Kernels from generated Python source, compiled by LLVM and run on OpenMP threads.

`compile_kernel` compiles a source (`compile` documents the language) to a `CompiledKernel`, which
is called with an extent and the addresses of arrays. `lowering` translates the source to LLVM IR,
and `machine_code` translates that to machine code, which is cached on disk (`disk_cache`) for later
processes. The threads are shared with oneDNN.
"""

from gluonish.kernels.compiler.compile import (
    GRAIN,
    CompiledKernel,
    Launch,
    available,
    compile_assembly,
    compile_kernel,
    is_compiled,
)
from gluonish.kernels.compiler.errors import KernelError
from gluonish.kernels.compiler.progress import compiled_count
from gluonish.kernels.compiler.series import Series

__all__ = [
    "GRAIN",
    "CompiledKernel",
    "KernelError",
    "Launch",
    "Series",
    "available",
    "compile_assembly",
    "compile_kernel",
    "compiled_count",
    "is_compiled",
]
