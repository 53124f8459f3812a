"""Shapes and dtypes that follow before all inputs are known."""

import json
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError, public_name
from tests.checking.values import run_operator


def _symbol(name: str, count: int) -> Any:
    nodes: list[dict[str, Any]] = [
        {"op": "null", "name": f"x{i}", "inputs": []} for i in range(count)
    ]
    nodes.append({"op": name, "name": "y", "inputs": [[i, 0, 0] for i in range(count)]})
    arguments = list(range(count))
    return mx.sym.load_json(
        json.dumps({"nodes": nodes, "arg_nodes": arguments, "heads": [[count, 0, 0]]})
    )


def test_gemm_finds_the_shape_of_c() -> None:
    a, b, c = mx.sym.var("a"), mx.sym.var("b"), mx.sym.var("c")
    inputs, outputs, _ = mx.sym.linalg.gemm(a, b, c).infer_shape(a=(2, 3), b=(3, 4))
    assert inputs == [(2, 3), (3, 4), (2, 4)]
    assert outputs == [(2, 4)]


@pytest.mark.parametrize("name", ["_npi_eigvalsh", "_npi_eigvals", "_npi_eig", "_npi_eigh"])
def test_eigenvalues_of_integers_are_float64(name: str) -> None:
    _, outputs, _ = _symbol(name, 1).infer_type(x0="int32")
    assert outputs == [np.float64]


def test_solution_of_mixed_dtypes_is_float64() -> None:
    _, outputs, _ = _symbol("_npi_solve", 2).infer_type(x0="float64", x1="float32")
    assert outputs == [np.float64]


def test_determinant_of_one_matrix_is_a_scalar_for_numpy_only() -> None:
    assert run_operator("_linalg_det", np.eye(3)).shape == (1,)
    assert run_operator("_npi_det", np.eye(3)).shape == ()


@pytest.mark.parametrize("name", ["_linalg_potrf", "_npi_svd", "_linalg_makediag", "khatri_rao"])
def test_half_precision_is_refused(name: str) -> None:
    with pytest.raises(OperatorError, match=f"{public_name(name)}: expected float32 or float64"):
        run_operator(name, np.eye(2, dtype=np.float16))
