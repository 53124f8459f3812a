"""Cases of NumPy's creation operators, and of those that change shape and order."""

import dataclasses

import numpy as np

from tests.golden.case import Case, normal, values

_X = normal(2, 3, 4)
_FLOAT_SPOILED = "its angles are computed in float32"
_WINDOWS = {"hanning": np.hanning, "hamming": np.hamming, "blackman": np.blackman}

# Operators without inputs have no gradient, no strides and no 16-bit input to check.
_MADE = [
    *[
        Case(op, [], attrs)
        for op in ("_npi_zeros", "_npi_ones")
        for attrs in ({}, {"shape": (2, 3)}, {"shape": (0, 2), "dtype": "int8"})
    ],
    Case("_npi_zeros", [], {"shape": (2,), "dtype": "bool"}),
    Case("_npi_zeros", [], {"shape": (-1, 2)}, invalid=True),
    Case("_npi_arange", [], {"start": 3}),
    Case("_npi_arange", [], {"start": 1, "stop": 2.5, "step": 0.5}),
    Case("_npi_arange", [], {"start": 3, "stop": 0, "step": -1, "dtype": "int32"}),
    Case("_npi_arange", [], {"start": 3, "stop": 1}),
    Case("_npi_arange", [], {"start": 0, "stop": 3, "repeat": 2}, invalid=True),
    Case("_npi_arange", [], {"start": 0, "stop": 3, "step": 0}, invalid=True),
    Case("_npi_arange", [], {}, invalid=True),
    Case("_npi_eye", [], {"N": 2}),
    Case("_npi_eye", [], {"N": 2, "M": 3, "k": 1}),
    Case("_npi_eye", [], {"N": 3, "M": 2, "k": -1, "dtype": "int32"}),
    Case("_npi_eye", [], {"N": 2, "M": 3, "k": -5}),
    Case("_npi_eye", [], {"N": 2, "M": 0}),
    Case("_npi_eye", [], {"N": -1}, invalid=True),
    Case("_npi_identity", [], {"shape": (3, 3)}),
    Case("_npi_identity", [], {"shape": (2, 2), "dtype": "bool"}),
    Case("_npi_identity", [], {"shape": (0, 0)}),
    Case("_npi_identity", [], {"shape": ()}, invalid=True),
    Case("_npi_indices", [], {"dimensions": (2, 3)}),
    Case("_npi_indices", [], {"dimensions": (2,), "dtype": "float32"}),
    Case("_npi_indices", [], {"dimensions": (0, 2)}),
    Case("_npi_indices", [], {"dimensions": (-1, 2)}, invalid=True),
    Case("_npi_logspace", [], {"start": 0, "stop": 2, "num": 3}),
    Case("_npi_logspace", [], {"start": 0, "stop": 2, "num": 4, "endpoint": False, "base": 2.0}),
    Case("_npi_logspace", [], {"start": 0, "stop": 2, "num": 3, "dtype": "int32"}),
    Case("_npi_logspace", [], {"start": 0, "stop": 2, "num": 0}),
    Case("_npi_logspace", [], {"start": 0, "stop": 2, "num": -3}, invalid=True),
    *[
        Case(f"_npi_{name}", [], {"M": count}, rtol=1e-5, atol=1e-6)
        for name in _WINDOWS
        for count in (5, 8, 1, 0, -2)
    ],
    *[Case(f"_npi_{name}", [], {}, invalid=True) for name in _WINDOWS],
    *[
        Case(
            f"_npi_{name}",
            [],
            {"M": 4, "dtype": "float64"},
            wrong=_FLOAT_SPOILED,
            expected=lambda window=window: window(4),
        )
        for name, window in _WINDOWS.items()
    ],
    Case("_npi_full_like", [normal(2, 3)], {"fill_value": 2.5}),
    Case("_npi_full_like", [values([1, 2], "int32")], {"fill_value": 2.5}),
    Case("_npi_full_like", [values([1, 2], "int32")], {"fill_value": 2.5, "dtype": "float16"}),
    Case("_npi_full_like", [values(True, "bool")], {"fill_value": 2.5}),
    Case("_npi_diag_indices_from", [normal(3, 3)]),
    Case("_npi_diag_indices_from", [normal(2, 2, 2)]),
    Case("_npi_diag_indices_from", [normal(2, 3)], invalid=True),
    Case("_npi_diag_indices_from", [normal(2)], invalid=True),
]

_LOST = "it is 0"
_RESHAPED = [
    *[
        Case("_np_reshape", [_X], {"newshape": shape})
        for shape in ((6, 4), (-1,), (-1, 4), (2, 3, 4, 1))
    ],
    Case("_np_reshape", [normal()], {"newshape": (1, 1)}),
    Case("_np_reshape", [normal(1)], {"newshape": ()}),
    Case("_np_reshape", [normal(0, 2)], {"newshape": (-1, 5)}),
    *[
        Case("_np_reshape", [_X], {"newshape": shape}, invalid=True)
        for shape in ((0, 12), (5, 5), (-1, -1), (-2,))
    ],
    *[
        Case("_npx_reshape", [_X], {"newshape": shape})
        for shape in (
            (-2, -2, -2),
            (-2, -1),
            (-4,),
            (2, -4),
            (-2, -5),
            (-5, -2),
            (-6, 1, 2, -4),
            (-6, -1, 2, -4),
            (-2, -6, 3, -1, -2),
            (-4, -4),
            (2, 3, -4, 1),
        )
    ],
    *[
        Case("_npx_reshape", [normal(8, 3, 3, 4)], {"newshape": shape, "reverse": True})
        for shape in ((-4, -1), (-2, -1), (-1, 4))
    ],
    Case("_npx_reshape", [normal(8, 1, 3)], {"newshape": (-2, -3, -1)}),
    Case("_npx_reshape", [normal(0, 3)], {"newshape": (-1, 3)}),
    *[
        Case("_npx_reshape", [_X], {"newshape": shape}, invalid=True)
        for shape in (
            (-3, -1),
            (-4, 24),
            (0, 12),
            (-7,),
            (-2, -2, -2, -2),
            (-1, -1),
            (-6, 2, 2, -4),
        )
    ],
    *[Case("_np_squeeze", [normal(1, 3, 1)], {"axis": axis}) for axis in (None, 0, (0, 2), -1, ())],
    Case("_np_squeeze", [normal(1, 1)]),
    Case("_np_squeeze", [normal(1, 3, 1)], {"axis": 1}, invalid=True),
    Case("_np_squeeze", [normal(1, 3, 1)], {"axis": 3}, invalid=True),
    Case("_np_copy", [_X]),
    Case("_np_copy", [values([1, 2], "int64")]),
    Case("_np_copy", [normal()]),
    *[
        Case(f"_np_atleast_{rank}d", [recipe], {"num_args": 1}, wrong_grad=_LOST)
        for rank in (1, 2, 3)
        for recipe in (normal(2), normal(), normal(2, 3), _X)
    ],
    *[
        Case(f"_np_atleast_{rank}d", [normal(), normal(2)], {"num_args": 2}, wrong_grad=_LOST)
        for rank in (1, 2, 3)
    ],
    *[
        Case("_npi_broadcast_to", [normal(1, 3)], {"shape": shape})
        for shape in ((2, 3), (4, 2, 3), (-2, 3), (4, -2, 3))
    ],
    Case("_npi_broadcast_to", [normal()], {"shape": (2,)}),
    Case("_npi_broadcast_to", [normal(0, 1)], {"shape": (0, 3)}),
    *[
        Case("_npi_broadcast_to", [normal(1, 3)], {"shape": shape}, invalid=True)
        for shape in ((2, 0), (-2, 4, 3), (3,))
    ],
]

_TURNED = "it is turned once more instead of back"
_ORDERED = [
    *[Case("_np_transpose", [_X], attrs) for attrs in ({}, {"axes": (2, 0, 1)})],
    Case("_np_transpose", [_X], {"axes": (-1, 0, 1)}),
    Case("_np_transpose", [normal()]),
    *[
        Case("_np_transpose", [_X], {"axes": axes}, invalid=True)
        for axes in ((0, 1), (0, 0, 1), (0, 1, 3))
    ],
    *[
        Case("_np_moveaxis", [_X], {"source": source, "destination": destination})
        for source, destination in (((0,), (2,)), ((0, 1), (-1, -2)), ((), ()))
    ],
    *[
        Case("_np_moveaxis", [_X], {"source": source, "destination": destination}, invalid=True)
        for source, destination in (((0,), (3,)), ((0, 1), (0,)), ((0, 0), (1, 2)))
    ],
    *[
        Case("_np_roll", [normal(2, 3)], attrs)
        for attrs in (
            {"shift": 1},
            {"shift": -1, "axis": 1},
            {"shift": (1, 1), "axis": (0, 1)},
            {"shift": 1, "axis": (0, 1)},
            {"shift": 7},
        )
    ],
    Case("_np_roll", [normal(0, 2)], {"shift": 1}),
    Case("_np_roll", [normal()], {"shift": 1}),
    *[
        Case("_np_roll", [normal(2, 3)], attrs, invalid=True)
        for attrs in (
            {},
            {"axis": 1},
            {"shift": 1, "axis": 2},
            {"shift": (1, 2)},
            {"shift": (1, 2), "axis": (0, 0)},
            {"shift": (1, 2, 3), "axis": (0, 1)},
        )
    ],
    *[Case("_npi_flip", [normal(2, 3)], {"axis": axis}) for axis in ((0,), (1,), (0, 1), ())],
    Case("_npi_flip", [normal(2, 3)], {"axis": (2,)}, invalid=True),
    *[
        Case("_npi_rot90", [normal(2, 3)], {"k": k, "axes": axes}, wrong_grad=_TURNED)
        for k, axes in ((1, (0, 1)), (2, (0, 1)), (-1, (1, 0)), (5, (-1, 0)))
    ],
    Case("_npi_rot90", [_X], {"k": 1, "axes": (1, 2)}, wrong_grad=_TURNED),
    Case("_npi_rot90", [normal(2, 3)], {"k": 1, "axes": (0, 0)}, invalid=True),
    Case("_npi_rot90", [normal(2, 3)], {"k": 1, "axes": (0, 2)}, invalid=True),
    Case("_npi_rot90", [normal(2, 3)], {}, invalid=True),
]

_SQUARE = [
    *[Case("_np_diag", [normal(3, 4)], {"k": k}) for k in (0, 1, -1, 5)],
    *[Case("_np_diag", [normal(3)], {"k": k}) for k in (0, 1, -2)],
    Case("_np_diag", [values([1, 2], "int32")]),
    Case("_np_diag", [_X], invalid=True),
    *[Case("_np_diagflat", [normal(2, 2)], {"k": k}) for k in (0, 1, -1)],
    *[
        Case("_np_diagonal", [_X], attrs)
        for attrs in (
            {},
            {"offset": 1},
            {"axis1": 1, "axis2": 2},
            {"axis1": -1, "axis2": 0, "offset": -1},
        )
    ],
    Case("_np_diagonal", [_X], {"offset": 5}, grad=False),
    Case("_np_diagonal", [_X], {"axis1": 0, "axis2": 0}, invalid=True),
    Case("_np_diagonal", [_X], {"axis1": 3}, invalid=True),
    Case("_np_diagonal", [normal(2)], invalid=True),
    *[Case("_npi_tril", [normal(3, 4)], {"k": k}) for k in (0, 1, -1, 5)],
    Case("_npi_tril", [normal(3)]),
    Case("_npi_tril", [_X]),
    Case("_npi_tril", [normal(2, 0, 3)]),
    Case("_npi_tril", [normal()], invalid=True),
    Case("_npi_tril", [values([[True]], "bool")], invalid=True),
]

_TWO = [normal(2, 3), normal(2, 3)]
_ONE_AXIS = [normal(3), normal(3)]
_STACKS = ("_npi_vstack", "_npi_hstack", "_npi_dstack", "_npi_column_stack")
_SPOILED = "it writes past the end of memory, and may crash"
_JOINED = [
    Case("_npi_concatenate", [normal(2, 3), normal(1, 3)], {"axis": 0, "num_args": 2}),
    Case("_npi_concatenate", [normal(2, 3), normal(2, 1)], {"axis": -1, "num_args": 2}),
    Case("_npi_concatenate", [normal(2, 3), normal(0, 3)], {"axis": 0, "num_args": 2}),
    Case("_npi_concatenate", [normal(2, 3), normal(3, 3)], {"num_args": 2}),
    Case("_npi_concatenate", [normal(2, 3), normal(4)], {"axis": "None", "num_args": 2}),
    Case("_npi_concatenate", [normal(2, 3)], {"num_args": 1}),
    Case("_npi_concatenate", [normal(2, 3), normal(2, 2)], {"num_args": 2}, invalid=True),
    Case("_npi_concatenate", [normal(2, 3), normal(2)], {"num_args": 2}, invalid=True),
    Case("_npi_concatenate", _TWO, {"num_args": 2, "axis": 2}, invalid=True),
    *[Case("_npi_stack", _TWO, {"num_args": 2, "axis": axis}) for axis in (0, 1, -1, -3)],
    Case("_npi_stack", [normal(), normal()], {"num_args": 2}),
    Case("_npi_stack", _TWO, {"num_args": 2, "axis": 3}, invalid=True),
    Case("_npi_stack", [normal(2), values([1, 2], "int32")], {"num_args": 2}, invalid=True),
    *[Case(op, _TWO, {"num_args": 2}) for op in _STACKS],
    *[Case(op, _ONE_AXIS, {"num_args": 2}) for op in _STACKS],
    *[Case(op, [normal(), normal()], {"num_args": 2}) for op in _STACKS],
    *[Case(op, [_X, _X, _X], {"num_args": 3}) for op in _STACKS],
    *[Case(op, [normal(3, 2, 2), normal(2, 3)], {"num_args": 2}, invalid=True) for op in _STACKS],
    Case("_npi_hstack", [normal(2, 0), normal(2, 3)], {"num_args": 2}),
    Case("_npi_column_stack", [normal(2), normal(2, 3)], {"num_args": 2}),
    *[
        Case("_npi_hsplit", [recipe], {"indices": (), "sections": 2})
        for recipe in (normal(4), normal(2, 4), normal(2, 4, 3))
    ],
    Case("_npi_hsplit", [normal(2, 4)], {"indices": (), "sections": 3}),
    Case("_npi_hsplit", [normal(2, 4)], {"indices": (0, 1, 3)}),
    Case("_npi_hsplit", [normal(2, 4)], {"indices": (), "sections": 4, "squeeze_axis": True}),
    Case("_npi_hsplit", [normal()], {"indices": (), "sections": 2}, invalid=True),
    Case(
        "_npi_dsplit",
        [_X],
        {"indices": (), "sections": 2},
        wrong=_SPOILED,
        expected=lambda x: np.dsplit(x, 2),
    ),
    Case(
        "_npi_dsplit",
        [_X],
        {"indices": (0, 1, 3)},
        wrong=_SPOILED,
        expected=lambda x: np.dsplit(x, (1, 3)),
    ),
    Case("_npi_dsplit", [normal(2, 4)], {"indices": (), "sections": 2}, invalid=True),
]

CASES = [
    *[dataclasses.replace(case, check=False) if not case.inputs else case for case in _MADE],
    *_RESHAPED,
    *_ORDERED,
    *_SQUARE,
    *_JOINED,
]
