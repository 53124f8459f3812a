"""Results are stored as MXNet 1.9.1 stores them, for each operator and each mix of inputs."""

import json
from typing import Any

import pytest

import gluonish as mx
from tests.golden.storage_types import PATH, calls, key, stored_as

_TABLE = json.loads(PATH.read_text())


@pytest.mark.filterwarnings("ignore")
def test_results_are_stored_as_in_mxnet() -> None:
    found, expected = {}, {}
    for call in calls():
        told = _TABLE[key(*call)]
        if told != "error":  # MXNet refuses what is stored some way here
            expected[key(*call)] = told
            found[key(*call)] = stored_as(mx, *call)
    assert len(expected) > 500
    assert found == expected


@pytest.mark.parametrize("name", ["_maximum", "_minimum", "_hypot", "_grad_add"])
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_values_of_two_sparse_arrays(name: str, stype: str) -> None:
    np: Any = pytest.importorskip("numpy")
    a, b = (np.array(x, np.float32) for x in ([[0, 1], [0, 0], [2, -3]], [[0, 4], [-5, 0], [0, 1]]))
    functions = {"_maximum": np.maximum, "_minimum": np.minimum, "_hypot": np.hypot}
    x, y = (mx.nd.array(v).tostype(stype) for v in (a, b))
    made = getattr(mx.nd._internal, name)(x, y)
    made.check_format()
    np.testing.assert_allclose(made.asnumpy(), functions.get(name, np.add)(a, b), rtol=1e-6)


def test_sums_of_squares_of_an_empty_array_keep_their_storage() -> None:
    empty = mx.nd.sparse.zeros("row_sparse", (3, 2))
    kept = mx.nd._internal._square_sum(empty, axis=1, keepdims=True)
    assert (kept.stype, kept.shape) == ("row_sparse", (3, 1))
    assert kept.tolist() == [[0], [0], [0]]
    assert mx.nd._internal._square_sum(empty, axis=1).stype == "default"
