"""Cases of reductions."""

import numpy as np

from tests.golden.case import Case, distinct, integers, normal, uniform, values

_FORMS = [
    {},
    {"axis": 1},
    {"axis": -1},
    {"axis": (0, 2)},
    {"axis": (-1, 0), "keepdims": True},
    {"keepdims": True},
    {"axis": 1, "exclude": True},
    {"axis": (0, 1), "exclude": True, "keepdims": True},
    {"axis": ()},
]
_INVALID = [{"axis": 3}, {"axis": -4}, {"axis": (0, 0)}, {"axis": "x"}, {"axes": 1}]
_WITH_NAN = values([[1.5, np.nan, 2.0], [np.nan, np.nan, 3.0]])
_SUMS = ("sum", "mean", "prod", "nansum", "nanprod")

CASES = [
    *[
        Case(op, [distinct(2, 3, 2) if op in ("max", "min") else uniform(0.5, 2, 2, 3, 2)], form)
        for op in (*_SUMS, "max", "min")
        for form in _FORMS
    ],
    *[
        case
        for op in (*_SUMS, "max", "min")
        for case in (
            Case(op, [normal(1)]),
            Case(op, [normal(1, 1)], {"axis": 0}),
            Case(op, [distinct(2, 3, dtype="float64")], {"axis": 1}),
            Case(op, [uniform(0.5, 1.5, 2, 5, dtype="float16")], {"axis": 1}),
            Case(op, [values([[7, -2, 3], [1, 1, 4]], "int32")], {"axis": 1}),
            Case(op, [values([[7, -2, 3], [1, 1, 4]], "int64")]),
            Case(op, [values([[7, 2, 3], [1, 1, 4]], "int8")], {"axis": 0}),
            *(Case(op, [normal(2, 3, 2)], form, invalid=True) for form in _INVALID),
        )
    ],
    Case("sum", [uniform(0, 1, 3000, dtype="float16")]),
    Case("mean", [uniform(0, 1, 3000, dtype="float16")]),
    *[Case(op, [_WITH_NAN], {"axis": 1}) for op in ("nansum", "nanprod")],
    *[Case(op, [_WITH_NAN], {"axis": 1}, grad=False) for op in ("sum", "mean", "prod")],
    *[Case(op, [integers(0, 3, 4, 3)], {"axis": 0}, note="equal ones") for op in ("max", "min")],
    *[
        Case("norm", [uniform(0.5, 2, 2, 3, 2)], {"ord": order, **form})
        for order in (1, 2)
        for form in (
            {},
            {"axis": 1},
            {"axis": (0, 2)},
            {"axis": (-2, -1), "keepdims": True},
            {"keepdims": True},
        )
    ],
    Case("norm", [normal(2, 3)]),
    Case("norm", [normal(1)]),
    Case("norm", [normal(2, 3, dtype="float64")], {"axis": 1}),
    *[
        Case(
            "norm",
            [normal(2, 3, dtype=given)],
            {"axis": 1, "out_dtype": wanted},
            wrong="fails where out_dtype is not that of data",
            expected=lambda x, wanted=wanted: np.sqrt((x.astype(wanted) ** 2).sum(1)),
        )
        for given, wanted in (("float32", "float64"), ("float16", "float32"))
    ],
    Case("norm", [normal(2, 3, dtype="float16")], {"axis": 0}),
    Case(
        "norm",
        [values([[3, 4], [6, 8]], "int32")],
        {"axis": 1},
        wrong="cuts after each of many steps, and gives 4 and 8",
        expected=lambda x: np.array([5, 10], x.dtype),
    ),
    Case("norm", [normal(2, 3)], {"ord": 3}, invalid=True),
    Case("norm", [normal(2, 3)], {"axis": 2}, invalid=True),
    Case("norm", [normal(2, 3)], {"axis": (0, 0)}, invalid=True),
    Case("norm", [normal(2, 3, 2)], {"axis": (0, 1, 2)}),
    Case("norm", [normal(2, 3)], {"out_dtype": "bool"}, invalid=True),
    *[
        case
        for op in ("argmax", "argmin")
        for case in (
            *(
                Case(op, [distinct(2, 3, 4)], form)
                for form in (
                    {},
                    {"axis": 1},
                    {"axis": -1, "keepdims": True},
                    {"axis": 0},
                )
            ),
            Case(op, [integers(0, 2, 3, 5)], {"axis": 1}, note="equal ones"),
            Case(op, [normal(1)]),
            Case(op, [distinct(5, dtype="float16")], {"axis": 0}),
            Case(op, [distinct(5, dtype="float64")], {"axis": 0}),
            Case(op, [values([3, 9, 2], "int32")], {"axis": 0}),
            Case(op, [normal(2, 3)], {"axis": 2}, invalid=True),
            Case(op, [normal(2, 3)], {"axis": (0, 1)}, invalid=True),
            Case(op, [values([True], "bool")], {"axis": 0}, invalid=True),
        )
    ],
    Case("argmax_channel", [distinct(3, 4)]),
    Case("argmax_channel", [distinct(2, 3, 2)]),
    Case("argmax_channel", [values([[1, 5, 5]], "int32")]),
    Case("argmax_channel", [normal(3)], invalid=True),
]
