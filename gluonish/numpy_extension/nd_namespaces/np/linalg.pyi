# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.numpy import linalg as linalg
from gluonish.numpy.array import ndarray
from gluonish.numpy.linalg import cholesky as cholesky
from gluonish.numpy.linalg import det as det
from gluonish.numpy.linalg import diagonal as diagonal
from gluonish.numpy.linalg import eig as eig
from gluonish.numpy.linalg import eigh as eigh
from gluonish.numpy.linalg import eigvals as eigvals
from gluonish.numpy.linalg import eigvalsh as eigvalsh
from gluonish.numpy.linalg import inv as inv
from gluonish.numpy.linalg import matrix_norm as matrix_norm
from gluonish.numpy.linalg import matrix_power as matrix_power
from gluonish.numpy.linalg import matrix_rank as matrix_rank
from gluonish.numpy.linalg import multi_dot as multi_dot
from gluonish.numpy.linalg import norm as norm
from gluonish.numpy.linalg import pinv as pinv
from gluonish.numpy.linalg import slogdet as slogdet
from gluonish.numpy.linalg import solve as solve
from gluonish.numpy.linalg import svd as svd
from gluonish.numpy.linalg import svdvals as svdvals
from gluonish.numpy.linalg import tensorinv as tensorinv
from gluonish.numpy.linalg import tensorsolve as tensorsolve
from gluonish.numpy.linalg import trace as trace
from gluonish.numpy.linalg import vector_norm as vector_norm
from gluonish.numpy.products import cross as cross
from gluonish.numpy.products import matmul as matmul
from gluonish.numpy.products import outer as outer
from gluonish.numpy.products import tensordot as tensordot
from gluonish.numpy.products import vecdot as vecdot
from gluonish.numpy.shapes import matrix_transpose as matrix_transpose
from gluonish.numpy.views import module_view as module_view
from typing import Any


def cond(x: Any, p: Any = None) -> ndarray:
    """Compute the condition number of a matrix."""
def lstsq(a: Any, b: Any, rcond: Any = "warn") -> ndarray:
    """Return the least-squares solution to a linear matrix equation."""
def qr(a: Any, mode: Any = "reduced") -> ndarray:
    """Compute the qr factorization of a matrix."""
