"""Cases of the operators of sparse arrays on dense ones; sparse ones: sparse_cases.py."""

import numpy as np

from tests.golden.case import Case, integers, normal, uniform, values

_FORWARD = {"differentiable": False}  # the operator has no gradient
_SPARSE_ONLY = "1.9.1 takes sparse arrays only"


def _kept(data, indices):
    kept = np.zeros_like(data)
    rows = indices.astype(int)
    kept[rows] = data[rows]
    return kept


def _adagrad(weight, grad, history):
    return weight - np.float32(0.1) * grad / np.sqrt(history + grad * grad + np.float32(1e-7))


_EMBEDDING = {"input_dim": 5, "output_dim": 3}
_ZEROS = [[0, 1.5, 0], [0, 0, 0], [2, 0, -1]]

CASES = [
    Case("cast_storage", [normal(3, 4)], {"stype": "default"}),
    Case("cast_storage", [normal(3)], {"stype": "default"}),
    Case("cast_storage", [integers(0, 5, 3, 2, dtype="int32")], {"stype": "default"}),
    Case("cast_storage", [normal(3, 4, dtype="float16")], {"stype": "default"}),
    Case("cast_storage", [normal(3, 4)], {"stype": "thin"}, invalid=True),
    Case("_sparse_retain", [normal(5, 2), values([0, 3])], wrong=_SPARSE_ONLY, expected=_kept),
    Case("_sparse_retain", [normal(5, 2), values([4])], wrong=_SPARSE_ONLY, expected=_kept),
    Case("_sparse_retain", [normal(5, 2), normal(2, 2)], invalid=True),
    Case(
        "_square_sum",
        [normal(3, 4)],
        {"axis": 1},
        wrong=_SPARSE_ONLY,
        expected=lambda x: (x * x).sum(1),
    ),
    Case(
        "_square_sum",
        [normal(3, 4)],
        {"axis": 0, "keepdims": True},
        wrong=_SPARSE_ONLY,
        expected=lambda x: (x * x).sum(0, keepdims=True),
    ),
    Case(
        "_square_sum",
        [normal(3, 4)],
        {},
        wrong=_SPARSE_ONLY,
        expected=lambda x: (x * x).sum().reshape(1),
    ),
    Case("_square_sum", [normal(3, 4)], {"axis": 2}, invalid=True),
    Case(
        "_sparse_adagrad_update",
        [normal(4, 3), normal(4, 3), uniform(0.1, 1, 4, 3)],
        {"lr": 0.1},
        wrong=_SPARSE_ONLY,
        expected=_adagrad,
        check=_FORWARD,
    ),
    Case(
        "_sparse_adagrad_update",
        [normal(4, 3), normal(4, 2), uniform(0.1, 1, 4, 3)],
        {"lr": 0.1},
        invalid=True,
    ),
    Case(
        "_contrib_SparseEmbedding",
        [values([[0, 4], [2, 2]]), normal(5, 3)],
        _EMBEDDING,
        wrong_grad="it wants a buffer for a row-sparse gradient",
        grad=(1,),
    ),
    Case(
        "_contrib_SparseEmbedding",
        [values([1, 3]), normal(5, 3)],
        _EMBEDDING,
        wrong_grad="it wants a buffer for a row-sparse gradient",
    ),
    Case("_contrib_SparseEmbedding", [values([1, 3]), normal(5, 2)], _EMBEDDING, invalid=True),
    Case("_scatter_elemwise_div", [normal(3, 4), uniform(1, 2, 3, 4)]),
    Case("_scatter_elemwise_div", [normal(3, 4), uniform(1, 2, 3)], invalid=True),
    Case("_scatter_plus_scalar", [normal(3, 4)], {"scalar": 1.5}),
    Case("_scatter_minus_scalar", [normal(3, 4)], {"scalar": 1.5}),
    Case(
        "_contrib_getnnz",
        [values(_ZEROS)],
        wrong=_SPARSE_ONLY,
        expected=lambda x: np.array([3], np.int64),
        check=_FORWARD,
    ),
    Case(
        "_contrib_getnnz",
        [values(_ZEROS)],
        {"axis": 1},
        wrong=_SPARSE_ONLY,
        expected=lambda x: np.array([1, 0, 2], np.int64),
    ),
    Case(
        "_contrib_edge_id",
        [values(_ZEROS), values([0, 0, 2]), values([1, 2, 2])],
        wrong=_SPARSE_ONLY,
        expected=lambda x, u, v: np.array([1.5, -1, -1], np.float32),
        check=_FORWARD,
    ),
    Case("_contrib_edge_id", [values(_ZEROS), values([0]), values([1, 2])], invalid=True),
]
