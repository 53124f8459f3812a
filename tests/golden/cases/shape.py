"""Cases of the order and number of axes, and of writing into parts of an array."""

from tests.golden.case import Case, normal, values

_REGION = {"begin": (0, 1), "end": (2, 3)}
_STRIDED = {"begin": (None, 3), "end": (None, 0), "step": (2, -1)}

CASES = [
    Case("Flatten", [normal(2, 3, 4)]),
    Case("Flatten", [normal(3)]),
    Case("Flatten", [normal(2, 3)]),
    Case("Flatten", [values([[[1], [2]]], "int64")]),
    Case("Flatten", [normal(2, 2, 2, dtype="float16")]),
    *[
        Case("squeeze", [normal(1, 3, 1, 2)], attrs)
        for attrs in ({}, {"axis": 0}, {"axis": -2}, {"axis": (0, 2)})
    ],
    Case("squeeze", [normal(1, 1)]),
    Case("squeeze", [values([[1, 2]], "int32")], {"axis": 0}),
    Case("squeeze", [normal(1, 3)], {"axis": 1}, invalid=True),
    Case("squeeze", [normal(1, 3)], {"axis": 2}, invalid=True),
    *[
        Case("transpose", [normal(2, 3, 4)], attrs)
        for attrs in ({}, {"axes": (2, 0, 1)}, {"axes": (1, 0, 2)}, {"axes": (0, 1, 2)})
    ],
    Case("transpose", [normal(3)]),
    Case("transpose", [normal(2, 3, dtype="float16")]),
    Case("transpose", [values([[1, 2]], "int32")]),
    Case("transpose", [normal(2, 3, 4, 2, 2)], {"axes": (4, 2, 0, 3, 1)}),
    Case("transpose", [normal(2, 3)], {"axes": (0, 0)}, invalid=True),
    Case("transpose", [normal(2, 3)], {"axes": (0,)}, invalid=True),
    Case("transpose", [normal(2, 3)], {"axes": (0, 2)}, invalid=True),
    *[
        Case("SwapAxis", [normal(2, 3, 4)], attrs)
        for attrs in ({"dim1": 0, "dim2": 2}, {"dim1": -1, "dim2": 1})
    ],
    Case("SwapAxis", [values([[1, 2]], "int32")], {"dim1": 0, "dim2": 1}),
    Case("SwapAxis", [normal(2, 3)], {"dim1": 0, "dim2": 2}, invalid=True),
    Case("_slice_assign", [normal(3, 4), normal(2, 2)], _REGION),
    Case("_slice_assign", [normal(3, 4), normal(2, 3)], _STRIDED),
    Case("_slice_assign", [normal(3, 4), normal(2, 3)], _REGION, invalid=True),
    Case("_slice_assign_scalar", [normal(3, 4)], {"scalar": 2.5, **_REGION}),
    Case("_slice_assign_scalar", [normal(3, 4)], _STRIDED),
    Case("_slice_assign_scalar", [values([[1, 2], [3, 4]], "int32")], {"scalar": 7, **_REGION}),
    Case(
        "_backward_gather_nd",
        [normal(3), values([[0, 2, 0], [1, 3, 1]])],
        {"shape": (3, 4)},
        grad=(0,),
    ),
]
