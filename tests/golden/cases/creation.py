"""Cases of arrays from nothing, of arrays like others, and of operators that pass an array on."""

from tests.golden.case import Case, distinct, normal, values

_DTYPES = ("float16", "float64", "int32", "int64", "uint8", "int8", "bool")
_THRESHOLD = {"normalization": "valid", "valid_thresh": 0.5, "grad_scale": 2.0}

CASES = [
    *[
        case
        for op in ("_zeros", "_ones")
        for case in (
            Case(op, [], {"shape": (2, 3)}),
            Case(op, [], {"shape": 2}),
            *(Case(op, [], {"shape": (2,), "dtype": dtype}) for dtype in _DTYPES),
            Case(op, [], {"shape": (2,), "ctx": "cpu(0)"}),
            Case(op, [], {"shape": (1, -1)}, invalid=True),
            Case(op, [], {"shape": "x"}, invalid=True),
            Case(op, [], {"shape": (1,), "dtype": "float31"}, invalid=True),
            Case(op, [], {"shape": (1,), "size": 3}, invalid=True),
        )
    ],
    Case("_full", [], {"shape": (2, 3), "value": 1.7}),
    *[Case("_full", [], {"shape": (2,), "value": 1.7, "dtype": dtype}) for dtype in _DTYPES],
    Case("_full", [], {"shape": (2,), "value": -1.7, "dtype": "int32"}),
    Case("_full", [], {"shape": (2,)}, invalid=True),
    Case("_full", [], {"shape": (2,), "value": "x"}, invalid=True),
    *[
        Case("_arange", [], attrs)
        for attrs in (
            {"start": 5},
            {"start": 1, "stop": 4},
            {"start": 1, "stop": 4, "step": 0.5},
            {"start": 5, "stop": 0, "step": -1.5},
            {"start": 0, "stop": 3, "repeat": 2},
            {"start": 0.5, "stop": 3, "dtype": "float64"},
            {"start": 0, "stop": 3, "dtype": "int32"},
            {"start": 0, "stop": 3, "dtype": "float16"},
            {"start": 0, "stop": 3, "dtype": "int64", "repeat": 3},
            {"start": 0, "stop": 3, "dtype": "uint8"},
        )
    ],
    *[
        Case("_arange", [], attrs, invalid=True)
        for attrs in (
            {},
            {"start": 0, "stop": 0},
            {"start": 0, "stop": 3, "step": -1},
            {"start": 0, "stop": 3, "step": 0},
            {"start": 0, "stop": 3, "repeat": 0},
        )
    ],
    *[
        Case("_linspace", [], {"start": 0, "stop": 1, **attrs})
        for attrs in (
            {"num": 5},
            {"num": 4, "endpoint": False},
            {"num": 1},
            {"num": 3, "dtype": "float64"},
            {"num": 3, "dtype": "float16"},
        )
    ],
    Case("_linspace", [], {"start": 5, "stop": -5, "num": 3, "dtype": "int32"}),
    Case("_linspace", [], {"start": 0, "stop": 1}, invalid=True),
    Case("_linspace", [], {"start": 0, "stop": 1, "num": -1}, invalid=True),
    *[
        Case("_eye", [], attrs)
        for attrs in (
            {"N": 3},
            {"N": 2, "M": 4},
            {"N": 4, "M": 2, "k": -1},
            {"N": 3, "k": 2},
            {"N": 3, "k": 9},
            {"N": 1},
            {"N": 2, "dtype": "int32"},
            {"N": 2, "dtype": "float16"},
        )
    ],
    Case("_eye", [], {}, invalid=True),
    Case("_eye", [], {"N": -2}, invalid=True),
    *[
        case
        for op in ("zeros_like", "ones_like", "_copy", "BlockGrad", "make_loss")
        for case in (
            Case(
                op, [normal(2, 3)], check={"differentiable": False} if op == "make_loss" else None
            ),
            Case(op, [normal(1)]),
            Case(op, [normal(2, dtype="float16")]),
            Case(op, [normal(2, dtype="float64")]),
            Case(op, [values([1, 2], "int32")]),
            Case(op, [values([1, 0], "uint8")]),
        )
    ],
    *[
        Case("MakeLoss", [distinct(2, 3)], attrs, check=False)  # its gradient is not of its output
        for attrs in (
            {},
            {"grad_scale": 0.5},
            {"normalization": "batch", "grad_scale": 3.0},
            _THRESHOLD,
            {"normalization": "valid", "valid_thresh": 99.0},
        )
    ],
    Case("MakeLoss", [normal(2, 3, 2)], {"normalization": "batch"}),
    Case("MakeLoss", [normal(1)]),
    Case("MakeLoss", [normal(2, dtype="float16")], _THRESHOLD),
    Case("MakeLoss", [normal(2, dtype="float64")], {"normalization": "batch"}),
    Case("MakeLoss", [normal(2)], {"normalization": "none"}, invalid=True),
]
