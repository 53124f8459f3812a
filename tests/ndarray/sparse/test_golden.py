"""Every call of tests/golden/sparse_cases.py gives what MXNet 1.9.1 gives, in the same storage."""

import json
from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from tests.golden.sparse_cases import CASES, WRONG

_GOLDEN = np.load(Path(__file__).parents[2] / "golden" / "sparse_ops.npz")
_TABLE = json.loads(str(_GOLDEN["table"]))

# Rows that are all 0 may be held or not: MXNet's answer depends on which of its kernels ran.
_SAME_ROWS = ("retain", "train", "kvstore", "gradient Embedding", "gradient Sparse", "_square")


@pytest.mark.parametrize("name", sorted(set(_TABLE) & set(CASES) - set(WRONG)))
def test_result_is_that_of_mxnet(name: str) -> None:
    """Storage type, dtype, values; for row_sparse, where the rows are decided, the rows."""
    found = CASES[name](mx)
    listed = found if isinstance(found, list) else [found]
    expected = _TABLE[name]
    assert [x.stype for x in listed] == [told["stype"] for told in expected]
    for i, (x, told) in enumerate(zip(listed, expected, strict=True)):
        values = _GOLDEN[f"{expected[0]['at']}_{i}"]
        assert x.dtype == values.dtype
        assert x.shape == values.shape
        np.testing.assert_allclose(x.asnumpy(), values, rtol=1e-5, atol=1e-6)
        if x.stype != "default":
            x.check_format()
        if told["stype"] == "row_sparse" and name.startswith(_SAME_ROWS):
            assert x.indices.asnumpy().tolist() == told["rows"]


def test_every_case_that_mxnet_gets_right_is_in_the_data() -> None:
    """The data is not older than the table."""
    assert set(WRONG) < set(CASES)
    assert set(_TABLE) <= set(CASES)


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_number_over_sparse_array_is_infinite_between_the_elements(stype: str) -> None:
    """MXNet 1.9.1 divides the array by the number here."""
    x = mx.nd.array([[0, 2], [0, 0]]).tostype(stype)
    result = mx.nd.sparse.divide(2, x)
    assert result.stype == "default"
    np.testing.assert_array_equal(result.asnumpy(), [[np.inf, 1], [np.inf, np.inf]])
