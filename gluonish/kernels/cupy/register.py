"""The CuPy back end made known: importing this registers GPU contexts and hangs the kernels.

CuPy itself is imported when a GPU is first asked for.
"""

from collections.abc import Callable

from gluonish.core.device import register_gpu_support
from gluonish.kernels.cupy import dense, gemm
from gluonish.kernels.cupy.support import CuPySupport
from gluonish.ops.dense import FULLY_CONNECTED
from gluonish.ops.linalg.matrix_product import NPI_MATMUL
from gluonish.ops.matmul import BATCH_DOT, DOT, LINALG_GEMM2
from gluonish.ops.registry import FastKernel, Operator

__all__ = ["hang"]

_KERNELS: tuple[tuple[Operator, str, Callable[..., bool], Callable[..., None]], ...] = (
    (DOT, "dot", gemm.takes_floats, gemm.dot),
    (BATCH_DOT, "batch_dot", gemm.takes_floats, gemm.batch_dot),
    (NPI_MATMUL, "matmul", gemm.takes_floats, gemm.matmul),
    (LINALG_GEMM2, "linalg_gemm2", gemm.takes_floats, gemm.gemm2),
    (FULLY_CONNECTED, "fully_connected", gemm.takes_floats, dense.fully_connected),
)


def hang() -> None:
    """Hang the kernels on their operators, in front of those that are there."""
    for op, name, takes, kernel in _KERNELS:
        op.hang(FastKernel(f"cupy.{name}", takes, kernel))


register_gpu_support(CuPySupport())
hang()
