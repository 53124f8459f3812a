"""Cases of NumPy's reductions, sums along axes, percentiles, and results whose size depends."""

import dataclasses

import numpy as np

from tests.golden.case import Case, distinct, integers, normal, uniform, values

_DTYPED = ("_np_sum", "_np_prod", "_npi_mean")
_EXTREMES = ("_np_max", "_np_min")
_ASKED = ("_np_any", "_np_all")
_SPREADS = ("_npi_std", "_npi_var")
_ALL = (*_DTYPED, *_EXTREMES, *_SPREADS, *_ASKED)
_AXES = [{}, {"axis": 0}, {"axis": (0, 2)}, {"axis": -1, "keepdims": True}, {"keepdims": True}]
_X = uniform(0.5, 2, 2, 3, 4)
_TABLE = values([[1, 2, 3], [4, 0, 6]])

_REDUCED = [
    *[
        Case(op, [distinct(2, 3, 4) if op in _EXTREMES else _X], attrs)
        for op in _ALL
        for attrs in _AXES
    ],
    *[Case(op, [uniform(0.5, 2, 2, 3)], {"axis": ()}, grad=False) for op in _ALL],
    *[Case(op, [uniform(0.5, 2)], {"axis": None}, grad=False) for op in _ALL if op != "_np_sum"],
    *[Case(op, [uniform(0.5, 2, 5, 1)], {"axis": 0}) for op in _ALL],
    *[Case(op, [_X], {"axis": 3}, invalid=True) for op in _ALL],
    *[Case(op, [_X], {"axis": (0, 0)}, invalid=True) for op in _ALL],
    *[Case(op, [normal(0, 3)], {"axis": 1}) for op in (*_DTYPED, *_ASKED)],
    Case("_np_sum", [normal(0, 3)]),
    Case("_np_sum", [normal(0, 3)], {"axis": 0}),
    Case(
        "_npi_mean",
        [normal(0, 3)],
        {"axis": 0},
        wrong="gives 0 for the mean of nothing",
        expected=lambda a: np.full(3, np.nan, np.float32),
    ),
    Case("_np_all", [normal(0, 3)], {"axis": 0}),
    *[Case(op, [normal(0, 3)], {"axis": 0}, invalid=True) for op in _EXTREMES],
    *[
        Case(op, [integers(0, 5, 2, 3, dtype=d)])
        for op in (*_DTYPED, *_EXTREMES, *_SPREADS)
        for d in ("int8", "int32", "int64")
    ],
    *[
        Case(op, [values([[0, 1], [1, 1]], "bool")], {"axis": 1})
        for op in (*_DTYPED, *_EXTREMES, *_ASKED)
    ],
    *[Case(op, [uniform(0.5, 2, 3, 4, dtype="float16")], {"axis": 1}) for op in _ALL],
    *[
        Case(op, [uniform(1, 3, 2, 3)], {"dtype": d}, grad=False)
        for op in _DTYPED
        for d in ("float64", "int32", "float16")
    ],
    *[Case(op, [values([1, 2, 3], "int32")], {"dtype": "float32"}) for op in _DTYPED],
    *[Case(op, [uniform(1, 3, 2, 3)], {"initial": 2.0}, invalid=True) for op in _DTYPED],
    *[Case(op, [_X], {"ddof": 1, "axis": (0, 1)}) for op in _SPREADS],
    *[Case(op, [values([1.0, 2.0])], {"ddof": 2}, grad=False) for op in _SPREADS],
    *[Case(op, [_X], {"dtype": "float64"}, grad=False, rtol=1e-4) for op in _SPREADS],
    *[Case(op, [values([True], "bool")], invalid=True) for op in _SPREADS],
    *[Case(op, [values([1.0, 3.0, 3.0])]) for op in _EXTREMES],
    Case("_np_product", [uniform(0.5, 2, 3)]),
    Case("_np_sometrue", [values([0.0, 1.0])]),
]

_AVERAGED = [
    Case("_npi_average", [normal(2, 3), uniform(0.5, 2, 2, 3)]),
    Case(
        "_npi_average",
        [normal(2, 3), uniform(0.5, 2, 2, 3)],
        {"axis": 1, "returned": True},
        wrong_grad="that of the sum of the weights is left out",
    ),
    Case("_npi_average", [normal(2, 3), uniform(0.5, 2, 2, 3)], {"axis": (0, 1)}),
    Case("_npi_average", [normal(2, 3), uniform(0.5, 2, 3)], {"axis": -1}),
    Case(
        "_npi_average",
        [normal(2, 3), uniform(0.5, 2, 3)],
        {"axis": 1, "returned": True},
        grad=False,
    ),
    Case("_npi_average", [normal(2, 3)], {"weighted": False}),
    Case(
        "_npi_average", [normal(2, 3)], {"weighted": False, "axis": 1, "returned": True}, grad=False
    ),
    Case("_npi_average", [values([[1, 2], [3, 5]], "int32")], {"weighted": False, "axis": 0}),
    Case("_npi_average", [normal(2, 3), normal(3)], invalid=True),
    Case("_npi_average", [normal(2, 3), normal(2)], {"axis": 1}, invalid=True),
    Case("_npi_average", [normal(2, 3), normal(3, dtype="float64")], {"axis": 1}, invalid=True),
]

_SUMMED = [
    *[Case("_np_cumsum", [normal(2, 3, 4)], attrs) for attrs in ({}, {"axis": 1}, {"axis": 2})],
    Case("_np_cumsum", [normal()]),
    Case("_np_cumsum", [normal(0, 3)], {"axis": 1}),
    Case("_np_cumsum", [values([1, 2, 3], "int8")]),
    Case("_np_cumsum", [values([True, True], "bool")]),
    Case("_np_cumsum", [normal(3, dtype="float16")]),
    Case("_np_cumsum", [normal(3)], {"dtype": "float64"}),
    Case("_np_cumsum", [values([1, 2], "int32")], {"dtype": "float32"}),
    Case("_np_cumsum", [normal(2, 3)], {"axis": 2}, invalid=True),
    Case("cumsum", [normal(2, 3)], {"axis": 0}),
]

_FOUND = [
    *[
        Case(op, [distinct(2, 3)], attrs)
        for op in ("_npi_argmax", "_npi_argmin")
        for attrs in ({}, {"axis": 1}, {"axis": -2, "keepdims": True}, {"keepdims": True})
    ],
    *[
        Case(op, [integers(0, 9, 5, dtype=d)])
        for op in ("_npi_argmax", "_npi_argmin")
        for d in ("int32", "float16", "uint8")
    ],
    *[Case(op, [normal()]) for op in ("_npi_argmax", "_npi_argmin")],
    *[Case(op, [normal(0, 3)], {"axis": 1}) for op in ("_npi_argmax", "_npi_argmin")],
    *[Case(op, [normal(0, 3)], invalid=True) for op in ("_npi_argmax", "_npi_argmin")],
    *[Case(op, [normal(2, 3)], {"axis": 2}, invalid=True) for op in ("_npi_argmax", "_npi_argmin")],
]

_SHARES = values([10.0, 50.0, 95.0])
_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")
_ZERO = "it is zero"
_PERCENTILES = [
    *[
        Case(
            "_npi_percentile",
            [distinct(3, 5), _SHARES],
            {"axis": 1, "interpolation": way},
            wrong_grad=_ZERO,
        )
        for way in _WAYS
    ],
    Case("_npi_percentile", [distinct(3, 5)], {"q_scalar": 30.0}, wrong_grad=_ZERO),
    Case(
        "_npi_percentile",
        [distinct(3, 5)],
        {"q_scalar": 30.0, "axis": (0, 1), "keepdims": True},
        wrong_grad=_ZERO,
    ),
    Case("_npi_percentile", [distinct(3, 5), values(20.0)], {"axis": 0}, wrong_grad=_ZERO),
    Case(
        "_npi_percentile",
        [distinct(3, 5), _SHARES],
        {"axis": 0, "keepdims": True},
        wrong_grad=_ZERO,
    ),
    Case("_npi_percentile", [values([3, 1, 2], "int32")], {"q_scalar": 50.0}),
    Case("_npi_percentile", [normal(4, dtype="float64")], {"q_scalar": 25.0}, wrong_grad=_ZERO),
    Case("_npi_percentile", [normal(4, dtype="float16")], {"q_scalar": 25.0}, wrong_grad=_ZERO),
    Case("_npi_percentile", [normal(4)], {"q_scalar": 130.0}, invalid=True),
    Case("_npi_percentile", [normal(4), values([[1.0]])], invalid=True),
]

_INDICES = {"return_index": True, "return_inverse": True, "return_counts": True}
_SIZED = [
    Case("_npi_bincount", [values([0, 3, 1, 1], "int32")]),
    Case("_npi_bincount", [values([0, 3, 1, 1], "int64")], {"minlength": 6}),
    Case("_npi_bincount", [values([1, 0], "uint8")]),
    Case("_npi_bincount", [values([], "int32")], {"minlength": 2}),
    Case("_npi_bincount", [values([0, 3, 1, 1], "int32"), normal(4)], {"has_weights": True}),
    Case(
        "_npi_bincount",
        [values([0, 1], "int64"), values([1.0, 2.0], "float64")],
        {"has_weights": True, "minlength": 3},
    ),
    Case("_npi_bincount", [values([0, -1], "int32")], invalid=True),
    Case("_npi_bincount", [values([0, 1])], invalid=True),
    Case("_npi_bincount", [values([[0, 1]], "int32")], invalid=True),
    Case(
        "_npi_bincount", [values([0, 1], "int32"), normal(3)], {"has_weights": True}, invalid=True
    ),
    Case("_npx_nonzero", [values([[0, 1], [2, 0]])]),
    Case("_npx_nonzero", [values([0, 0], "int32")]),
    Case("_npx_nonzero", [values([True, False], "bool")]),
    Case("_npx_nonzero", [values(3.0)]),
    Case("_npx_nonzero", [normal(2, 0)]),
    Case("_npi_unique", [values([3, 1, 3, 2])]),
    Case("_npi_unique", [values([3, 1, 3, 2])], _INDICES),
    Case("_npi_unique", [values([3, 1, 3, 2])], {"return_counts": True}),
    Case("_npi_unique", [_TABLE], {"return_inverse": True}),
    Case("_npi_unique", [values([[1, 2], [1, 2], [0, 1]])], {"axis": 0, **_INDICES}),
    Case("_npi_unique", [values([[1, 2], [1, 2], [0, 1]])], {"axis": 1}),
    Case("_npi_unique", [values([2, 1, 2], "int8")]),
    Case("_npi_unique", [values([], "float32")], {"return_index": True}),
    Case("_npi_unique", [values(3.0)], {"return_inverse": True}),
    Case("_npi_unique", [values([True], "bool")], invalid=True),
    Case("_npi_unique", [values([1.0])], {"axis": 1}, invalid=True),
    Case("_npx_constraint_check", [values([True, True], "bool")]),
    Case("_npx_constraint_check", [values([1.0])], invalid=True),
]

_NO_GRADIENT = "it is 0"

CASES = [
    *[
        dataclasses.replace(case, wrong_grad=_NO_GRADIENT) if case.op in _SPREADS else case
        for case in _REDUCED
    ],
    *_AVERAGED,
    *_SUMMED,
    *_FOUND,
    *_PERCENTILES,
    *_SIZED,
]
