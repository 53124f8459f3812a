from typing import Any

import numpy as np
import pytest

from gluonish import autograd, cpu, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError

MATRIX = np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3]], np.float32)
SPARSE = ["row_sparse", "csr"]


@pytest.fixture(params=SPARSE)
def x(request: pytest.FixtureRequest) -> Any:
    return nd.array(MATRIX).tostype(request.param)


def test_copyto_goes_over_storage_types_and_devices(x: Any) -> None:
    for target in (nd.zeros((3, 3)), nd.sparse.zeros(x.stype, (3, 3), ctx=cpu(1))):
        assert x.copyto(target) is target
        np.testing.assert_array_equal(target.asnumpy(), MATRIX)
    into = nd.sparse.zeros(x.stype, (3, 3), dtype="float64")
    nd.array(MATRIX).copyto(into)
    assert into.dtype == np.float64
    np.testing.assert_array_equal(into.asnumpy(), MATRIX)
    assert x.copyto(cpu(1)).context == cpu(1)


def test_copyto_refuses_other_shapes_and_kinds(x: Any) -> None:
    other = "csr" if x.stype == "row_sparse" else "row_sparse"
    with pytest.raises(ArgumentError, match="target of shape"):
        x.copyto(nd.zeros((2, 3)))
    with pytest.raises(ArgumentTypeError, match=f"default or {x.stype}, got {other}"):
        x.copyto(nd.sparse.zeros(other, (3, 3)))
    with pytest.raises(ArgumentTypeError, match="NDArray or a Context"):
        x.copyto(3)


def test_tostype_refuses_the_other_sparse_type(x: Any) -> None:
    other = "csr" if x.stype == "row_sparse" else "row_sparse"
    with pytest.raises(ArgumentError, match="call tostype"):
        x.tostype(other)
    with pytest.raises(ArgumentError, match="tostype: expected stype in"):
        x.tostype("thin")


def test_assignment_replaces_everything(x: Any) -> None:
    for value in (nd.ones((3, 3)), np.ones((3, 3)), nd.ones((3, 3)).tostype(x.stype)):
        x[:] = value
        np.testing.assert_array_equal(x.asnumpy(), np.ones((3, 3)))
    for key in (0, slice(0, 2), (0, 1)):
        with pytest.raises(ArgumentError, match=r"expected \[:\] for assignment"):
            x[key] = 1


def test_number_fills_rows_but_no_matrix() -> None:
    rows = nd.sparse.zeros("row_sparse", (2, 2))
    rows[:] = 3
    assert rows.asnumpy().tolist() == [[3, 3], [3, 3]]
    with pytest.raises(ArgumentError, match="an array to assign"):
        nd.sparse.zeros("csr", (2, 2))[:] = 3


def test_dense_array_takes_a_sparse_value(x: Any) -> None:
    dense = nd.zeros((3, 3))
    dense[:] = x
    np.testing.assert_array_equal(dense.asnumpy(), MATRIX)
    dense += x
    np.testing.assert_array_equal(dense.asnumpy(), MATRIX * 2)


@pytest.mark.parametrize("key", [1.5, "a", [0, 1], (0, 1), slice(0, 3, 2), None])
def test_wrong_index_is_refused(x: Any, key: Any) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        x[key]


def test_inplace_arithmetic_keeps_the_storage_type(x: Any) -> None:
    y = x
    y += nd.ones((3, 3))
    y -= nd.ones((3, 3))
    y *= 4
    y /= 2
    assert y is x
    assert y.stype == x.stype
    np.testing.assert_allclose(y.asnumpy(), MATRIX * 2)


def test_inplace_write_inside_a_recorded_graph_is_refused(x: Any) -> None:
    x.attach_grad()
    with autograd.record(), pytest.raises(AutogradError, match=r"\*="):
        x *= 2


def test_retain_is_a_method() -> None:
    rows = nd.array(MATRIX).tostype("row_sparse").retain(nd.array([2, 1, 9]))  # type: ignore[attr-defined]
    assert rows.indices.tolist() == [1, 2]


def test_attach_grad_takes_storage_types() -> None:
    for stype in SPARSE:
        dense = nd.ones((2, 2))
        dense.attach_grad(stype=stype)
        assert dense.grad.stype == stype
        sparse = nd.ones((2, 2)).tostype(stype)
        sparse.attach_grad(stype="default")
        assert sparse.grad.stype == "default"
    with pytest.raises(ArgumentError, match="attach_grad: expected stype"):
        nd.ones(2).attach_grad(stype="thin")
