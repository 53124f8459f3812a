"""Kernels from generated Python source, which LLVM makes machine code of and OpenMP runs.

`compile_kernel` takes a source (`compile` says what may stand in it) and gives a `CompiledKernel`
to call with an extent and addresses. `lowering` translates the source to LLVM's text, and
`machine_code` that to machine code, which lies on disk from then on (`disk_cache`): a later process
compiles nothing. The threads are those of oneDNN's team.
"""

from gluonish.kernels.compiler.compile import (
    GRAIN,
    CompiledKernel,
    available,
    compile_assembly,
    compile_kernel,
    is_compiled,
)
from gluonish.kernels.compiler.errors import KernelError

__all__ = [
    "GRAIN",
    "CompiledKernel",
    "KernelError",
    "available",
    "compile_assembly",
    "compile_kernel",
    "is_compiled",
]
