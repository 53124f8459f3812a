"""The CuPy back end made known: importing this registers GPU contexts and hangs the kernels.

CuPy itself is imported when a GPU is first asked for.
"""

from collections.abc import Callable

from gluonish.core.device import register_gpu_support
from gluonish.kernels.cupy import gemm
from gluonish.kernels.cupy.support import CuPySupport
from gluonish.ops.matmul import BATCH_DOT, DOT
from gluonish.ops.registry import FastKernel, Operator

__all__ = ["hang"]

_KERNELS: tuple[tuple[Operator, str, Callable[..., bool], Callable[..., None]], ...] = (
    (DOT, "dot", gemm.takes_dot, gemm.dot),
    (BATCH_DOT, "batch_dot", gemm.takes_batch_dot, gemm.batch_dot),
)


def hang() -> None:
    """Hang the kernels on their operators, in front of those that are there."""
    for op, name, takes, kernel in _KERNELS:
        op.hang(FastKernel(f"cupy.{name}", takes, kernel))


register_gpu_support(CuPySupport())
hang()
