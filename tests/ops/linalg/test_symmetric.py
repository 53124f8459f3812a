"""Gradients of operators that take their input for symmetric, along symmetric directions."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.ops.linalg.matrices import symmetric
from gluonish.ops.registry import Operator, apply, find_operator
from gluonish.ops.support.composite import composite_gradient
from tests.checking.check_operator import check_operator

DEFINITE = {"_linalg_potrf", "_npi_cholesky"}
NAMES = ["_linalg_potrf", "_npi_cholesky", "_linalg_syevd", "_npi_eigh", "_npi_eigvalsh"]


def _of_symmetric_part(inner: Operator, attrs: dict[str, Any]) -> Operator:
    """Return an operator that applies ``inner`` to the symmetric part of any matrix."""

    def infer(a: Any) -> Any:
        return inner.infer(a, **attrs)

    def kernel(xp: ModuleType, out: Any, a: Any) -> None:
        inner.kernel(xp, out, (a + a.swapaxes(-1, -2)) / 2, **attrs)

    def function(a: Any) -> Any:
        result = apply(inner, (symmetric(a),), attrs)
        return tuple(result) if isinstance(result, list) else result

    return Operator(
        f"symmetric{inner.name}",
        infer,
        kernel,
        composite_gradient(function),
        doc="For this test.",
        outputs=inner.outputs,
    )


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_gradients_hold_for_symmetric_input(name: str, shape: tuple[int, ...]) -> None:
    inner = find_operator(name)
    x = np.random.default_rng(3).standard_normal(shape)
    if name in DEFINITE:
        x = x @ x.swapaxes(-1, -2) + np.eye(shape[-1])
    whole = _of_symmetric_part(inner, inner.schema.parse(name, {}))
    check_operator(whole, [x], half=False, rtol=1e-4, atol=1e-5)


def test_upper_triangle_is_read_on_request() -> None:
    inner = find_operator("_npi_eigh")
    whole = _of_symmetric_part(inner, {"UPLO": "U"})
    check_operator(whole, [np.random.default_rng(4).standard_normal((3, 3))], half=False)


@pytest.mark.parametrize("name", ["_linalg_syevd", "_npi_eigh", "_npi_eigvalsh"])
def test_equal_eigenvalues_give_finite_gradients(name: str) -> None:
    a = mx.nd.array(2 * np.eye(3))
    a.attach_grad()
    with mx.autograd.record():
        result = apply(find_operator(name), (a,), find_operator(name).schema.parse(name, {}))
        parts = result if isinstance(result, list) else [result]
        total = sum(part.sum() for part in parts)
    total.backward()
    assert a.grad is not None
    assert np.isfinite(a.grad.asnumpy()).all()
