"""Linear algebra: importing this package registers its operators."""

from gluonish.ops.linalg import (
    cholesky,
    determinant,
    diagonals,
    eigen,
    einsum,
    gelqf,
    gemm,
    khatri_rao,
    matrix_product,
    norm,
    pinv,
    solve,
    svd,
    triangular,
)

__all__ = [
    "cholesky",
    "determinant",
    "diagonals",
    "eigen",
    "einsum",
    "gelqf",
    "gemm",
    "khatri_rao",
    "matrix_product",
    "norm",
    "pinv",
    "solve",
    "svd",
    "triangular",
]
