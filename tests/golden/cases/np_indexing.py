"""Cases of padding, differences, polynomials, deletion and insertion."""

import numpy as np

from tests.golden.case import Case, distinct, normal, values

_MODES = ("constant", "edge", "reflect", "symmetric", "maximum", "minimum")
_WIDTHS = ((1, 0), (2, 1))
_X = normal(6)
_M = normal(2, 3)


def _int64(*data):
    return values(list(data), "int64")


_PADDED = [
    *[Case("_npi_pad", [distinct(2, 3)], {"pad_width": _WIDTHS, "mode": mode}) for mode in _MODES],
    *[
        Case("_npi_pad", [values([[1, 2, 3]], "int32")], {"pad_width": _WIDTHS, "mode": mode})
        for mode in _MODES
        if mode != "reflect"
    ],
    Case("_npi_pad", [distinct(2, 3)], {"pad_width": _WIDTHS, "constant_value": 9.5}),
    *[
        Case(
            "_npi_pad", [distinct(1, 3)], {"pad_width": ((0, 0), (5, 4)), "mode": mode}, grad=False
        )
        for mode in ("reflect", "symmetric")
    ],
    Case("_npi_pad", [normal(1, 2, dtype="float16")], {"pad_width": _WIDTHS, "mode": "edge"}),
    Case("_npi_pad", [normal(0, 2)], {"pad_width": _WIDTHS}),
    Case(
        "_npi_pad",
        [normal(3)],
        {"pad_width": ((2, 1),)},
        wrong="one pair of widths is not parsed",
        expected=lambda x: np.pad(x, (2, 1)),
    ),
    Case("_npi_pad", [normal(2, 2)], {"pad_width": ((1, 1),)}, invalid=True),
    Case("_npi_pad", [normal(2, 2)], {"pad_width": _WIDTHS, "mode": "wrap"}, invalid=True),
]

_DIFFERENCES = [
    *[
        Case("_npi_diff", [normal(3, 4)], attrs)
        for attrs in ({}, {"n": 2}, {"axis": 0}, {"n": 0}, {"n": 2, "axis": 0})
    ],
    Case("_npi_diff", [normal(2, 3)], {"n": 5}, grad=False),
    Case("_npi_diff", [values([1, 5], "int32")]),
    Case("_npi_diff", [values([5, 1], "uint8")]),
    Case("_npi_diff", [normal(3, dtype="float16")]),
    Case("_npi_diff", [normal(3)], {"n": -1}, invalid=True),
    Case("_npi_diff", [normal(3)], {"axis": 1}, invalid=True),
    Case("_npi_diff", [normal()], invalid=True),
    Case("_npi_diff", [values([True, False], "bool")], invalid=True),
    Case("_npi_ediff1d", [normal(2, 3)]),
    Case("_npi_ediff1d", [normal(3)], {"to_begin_scalar": 5.0}),
    Case("_npi_ediff1d", [normal(3)], {"to_begin_scalar": 1.0, "to_end_scalar": 5.0}),
    Case("_npi_ediff1d", [normal(3), normal(2)], {"to_begin_arr_given": True}),
    Case(
        "_npi_ediff1d",
        [normal(3), normal(2), normal(1, 1)],
        {"to_begin_arr_given": True, "to_end_arr_given": True},
    ),
    Case(
        "_npi_ediff1d", [normal(3), normal(2)], {"to_end_arr_given": True, "to_begin_scalar": 2.0}
    ),
    Case("_npi_ediff1d", [values([1, 5], "int32")], {"to_begin_scalar": 2.5}),
    Case("_npi_ediff1d", [normal(1)]),
    Case(
        "_npi_ediff1d",
        [values([1, 5], "int32"), normal(1)],
        {"to_begin_arr_given": True},
        invalid=True,
    ),
    Case("_npi_polyval", [normal(3), normal(2, 2)]),
    Case("_npi_polyval", [normal(3), normal()]),
    Case("_npi_polyval", [values([1, 2, 3], "int32"), values([2], "int32")]),
    Case("_npi_polyval", [normal(1, 2), normal(2)], invalid=True),
    Case("_npi_polyval", [normal(2), values([2], "int32")], invalid=True),
]

_BACKWARD = "positions before the end are ignored"
_DELETED = [
    *[
        Case("_npi_delete", [_X], attrs)
        for attrs in (
            {"int_ind": 1},
            {"int_ind": -1},
            {"start": 1, "stop": 4, "step": 2},
            {"step": 2},
            {"start": 4, "stop": 1, "step": -1},
            {"start": 0, "stop": 0, "step": 1},
        )
    ],
    *[
        Case("_npi_delete", [_M], attrs)
        for attrs in (
            {"int_ind": 1},
            {"int_ind": 1, "axis": 0},
            {"int_ind": 1, "axis": -1},
            {"start": 0, "stop": 2, "step": 1, "axis": 1},
        )
    ],
    Case("_npi_delete", [_X, _int64(1, 1)], {}),
    Case("_npi_delete", [_X, _int64(0, 5)], {}),
    Case("_npi_delete", [_X, values(2, "int64")], {}),
    Case("_npi_delete", [_M, _int64(0, 2)], {"axis": 1}),
    Case(
        "_npi_delete",
        [_X, _int64(-1, 0)],
        {},
        wrong=_BACKWARD,
        expected=lambda x, obj: np.delete(x, obj),
    ),
    Case("_npi_delete", [_X], {"int_ind": 9}, invalid=True),
    Case("_npi_delete", [_M], {"int_ind": 1, "axis": 2}, invalid=True),
    Case("_npi_delete", [_X], {"step": 0}, invalid=True),
    Case("_npi_delete", [_X, values([True] * 6, "bool")], {}, invalid=True),
]

_LOST = "the number has the wrong number of axes or the wrong dtype"
_INSERTED = [
    *[Case("_npi_insert_scalar", [_X, normal(2)], {"int_ind": index}) for index in (1, -1, 6, -6)],
    Case("_npi_insert_scalar", [_X, normal()], {"int_ind": 1}),
    Case("_npi_insert_scalar", [_X], {"int_ind": 1, "val": 9.5}),
    Case("_npi_insert_scalar", [_M, normal(3)], {"int_ind": 1, "axis": 0}),
    Case("_npi_insert_scalar", [_M, normal(2)], {"int_ind": 1, "axis": 1}),
    Case("_npi_insert_scalar", [_M, normal(2, 1)], {"int_ind": 1, "axis": 1}),
    Case("_npi_insert_scalar", [_M, normal(1, 2)], {"int_ind": 1, "axis": 1}),
    Case("_npi_insert_scalar", [_M, normal()], {"int_ind": 1, "axis": -1}),
    Case("_npi_insert_scalar", [_M, normal(2)], {"int_ind": 1}),
    Case("_npi_insert_scalar", [values([1, 2], "int32"), values([7.5])], {"int_ind": 1}),
    Case(
        "_npi_insert_scalar",
        [_M],
        {"int_ind": 1, "axis": 1, "val": 3.0},
        wrong=_LOST,
        expected=lambda x: np.insert(x, 1, 3.0, axis=1),
    ),
    Case("_npi_insert_scalar", [_X, normal(2)], {"int_ind": 7}, invalid=True),
    Case("_npi_insert_scalar", [_M, normal(2)], {"int_ind": 0, "axis": 2}, invalid=True),
    *[
        Case("_npi_insert_slice", [_X, recipe], attrs)
        for recipe in (normal(2), normal())
        for attrs in ({"start": 1, "stop": 4, "step": 2}, {"step": 3})
    ],
    Case("_npi_insert_slice", [_X, normal()], {"start": 4, "stop": 1, "step": -1}),
    Case("_npi_insert_slice", [_M, normal(3)], {"start": 0, "stop": 2, "step": 1, "axis": 0}),
    Case("_npi_insert_slice", [_M, normal(2, 1)], {"start": 0, "stop": 2, "step": 1, "axis": 1}),
    Case(
        "_npi_insert_slice",
        [_X],
        {"step": 3, "val": 9.5},
        wrong=_LOST,
        expected=lambda x: np.insert(x, slice(None, None, 3), np.float32(9.5)),
    ),
    Case("_npi_insert_slice", [_X, normal(2)], {"start": 4, "stop": 1, "step": -1}, invalid=True),
    *[
        Case("_npi_insert_tensor", [_X, normal(2), obj])
        for obj in (_int64(1, 3), _int64(3, 1), _int64(1, 1), _int64(2), values(2, "int64"))
    ],
    Case("_npi_insert_tensor", [_X, normal(), _int64(1, 3)]),
    Case("_npi_insert_tensor", [_X, _int64(2)], {"val": 9.5}),
    Case("_npi_insert_tensor", [_M, normal(3), _int64(0, 1)], {"axis": 0}),
    Case("_npi_insert_tensor", [_M, normal(2, 1), _int64(0, 1)], {"axis": 1}),
    Case("_npi_insert_tensor", [_M, normal(2), _int64(0, 1)]),
    Case("_npi_insert_tensor", [_X, normal(2), normal(2)], {}, invalid=True),
    Case("_npi_share_memory", [normal(2), normal(2)]),
]

CASES = [*_PADDED, *_DIFFERENCES, *_DELETED, *_INSERTED]
