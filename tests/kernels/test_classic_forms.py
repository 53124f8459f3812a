from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels import classic_forms  # noqa: F401  # hangs the kernels on
from gluonish.kernels.compiler import available
from gluonish.ops.registry import find_operator

FLOAT = np.dtype(np.float32)

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")


def selected(name: str, *shapes: tuple[int, ...], dtype: Any = FLOAT, **attrs: Any) -> Any:
    """Return the attributes and the fast kernel of a call."""
    op = find_operator(name)
    known = op.schema.parse(name, attrs)
    fast = op.select_fast("cpu", [Spec(s, np.dtype(dtype)) for s in shapes], known)
    return known, fast


@pytest.mark.parametrize(
    ("name", "shapes", "kernel"),
    [
        ("_npi_tanh", [(1 << 16,)], "generated.tanh"),
        ("_npi_add", [(256, 256), (256,)], "generated.broadcast_add"),
        ("_npi_multiply_scalar", [(1 << 16,)], "generated._mul_scalar"),
        ("_npx_relu", [(1 << 16,)], "generated.relu"),
    ],
)
def test_numpy_operators_have_the_kernels_of_classic_ones(
    name: str, shapes: list[Any], kernel: str
) -> None:
    attrs, fast = selected(name, *shapes)
    assert fast.name == kernel
    op, random = find_operator(name), np.random.default_rng(0)
    arrays = [random.standard_normal(s).astype(np.float32) for s in shapes]
    out, wanted = np.empty_like(arrays[0]), np.empty_like(arrays[0])
    fast.kernel(np, out, *arrays, **attrs)
    op.kernel(np, wanted, *arrays, **attrs)
    np.testing.assert_allclose(out, wanted, rtol=1e-6)


def test_a_sum_over_all_axes_fills_an_array_without_axes() -> None:
    attrs, fast = selected("_np_sum", (1 << 17,), dtype=np.float16)
    assert fast is not None
    out = np.empty((), np.float16)
    fast.kernel(np, out, np.full(1 << 17, 1 / 128, np.float16), **attrs)
    assert out == 1024


@pytest.mark.parametrize("dtype", [np.int32, np.bool_])
def test_other_dtypes_go_to_the_reference_kernel(dtype: Any) -> None:
    assert selected("_npi_true_divide", (1 << 16,), (1 << 16,), dtype=dtype)[1] is None
