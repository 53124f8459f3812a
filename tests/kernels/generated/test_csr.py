import numpy as np
import pytest

from gluonish.kernels.generated import csr  # noqa: F401  # hangs the kernel on
from gluonish.ops.sparse.compressed import CSR_DOT


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("tail", [(), (1,), (37,), (200,), (4, 5)])
def test_kernel_gives_what_the_reference_gives(
    dtype: str, transpose: bool, tail: tuple[int, ...]
) -> None:
    random = np.random.default_rng(2)
    rows, columns = 300, 70
    counts = random.integers(0, 9, rows) * (random.random(rows) < 0.7)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    numbers = random.integers(0, columns, pointers[-1])
    values = random.normal(size=pointers[-1]).astype(dtype)
    rhs = random.normal(size=(rows if transpose else columns, *tail)).astype(dtype)
    size = columns if transpose else rows
    attrs = {"transpose": transpose, "rows": size}
    (fast,) = CSR_DOT.fast_kernels
    found, expected = (np.full((size, *tail), 7, dtype) for _ in range(2))
    fast.kernel(np, found, values, numbers, pointers, rhs, **attrs)
    CSR_DOT.kernel(np, expected, values, numbers, pointers, rhs, **attrs)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
