"""Cases of NumPy's elementwise operators: functions, arithmetic, comparisons, bits, where."""

import numpy as np

from tests.golden.case import Case, distinct, integers, normal, uniform, values

_BELOW_ONE = uniform(-0.9, 0.9, 2, 3)
_POSITIVE = uniform(0.2, 3, 2, 3)
_DOMAINS = {
    "arccos": _BELOW_ONE,
    "arccosh": uniform(1.2, 3, 2, 3),
    "arcsin": _BELOW_ONE,
    "arctanh": _BELOW_ONE,
    "cbrt": _POSITIVE,
    "log": _POSITIVE,
    "log10": _POSITIVE,
    "log1p": _POSITIVE,
    "log2": _POSITIVE,
    "reciprocal": _POSITIVE,
    "sqrt": _POSITIVE,
}
_SMOOTH = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "cbrt",
    "cos",
    "cosh",
    "degrees",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "radians",
    "reciprocal",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
]
_STEPS = ["absolute", "ceil", "fix", "floor", "negative", "rint", "sign", "trunc"]
_HALVES = values([[-2.5, -1.5, -0.5], [0.5, 1.5, 2.5]])
_SPECIAL = values([np.nan, np.inf, -np.inf, 2.5, 0.0])
_ASKED = ["isnan", "isinf", "isfinite", "isposinf", "isneginf", "logical_not"]

_UNARY = [
    *[Case(f"_npi_{name}", [_DOMAINS.get(name, normal(2, 3))]) for name in _SMOOTH],
    *[Case(f"_npi_{name}", [distinct(2, 3)]) for name in _STEPS],
    *[Case(f"_npx_{name}", [distinct(2, 3)]) for name in ("relu", "sigmoid")],
    *[Case(f"_npi_{name}", [uniform(0.2, 0.9)]) for name in _SMOOTH if name != "arccosh"],
    *[Case(f"_npi_{name}", [normal(0, 3)]) for name in (*_SMOOTH, *_STEPS)],
    *[
        Case(f"_npi_{name}", [uniform(0.2, 0.9, 4, dtype="float16")])
        for name in _SMOOTH
        if name != "arccosh"
    ],
    *[
        Case(f"_npi_{name}", [values([1, 4, 9], dtype)])
        for name in ("sqrt", "square", "absolute", "floor", "negative", "sign", "reciprocal", "exp")
        for dtype in ("int8", "int32", "int64")
    ],
    *[Case(f"_npi_{name}", [_HALVES]) for name in ("rint", "fix", "ceil", "floor", "trunc")],
    *[
        Case(f"_npi_{name}", [values([True, False], "bool")], invalid=True)
        for name in (*_SMOOTH, *_STEPS)
    ],
    Case("_npi_abs", [distinct(3)]),
    *[Case(f"_npi_{name}", [_SPECIAL]) for name in _ASKED],
    *[Case(f"_npi_{name}", [values([3, 0, -1], "int32")]) for name in _ASKED],
    *[Case(f"_npi_{name}", [values([1.0, np.inf], "float16")]) for name in _ASKED],
    *[Case(f"_npi_{name}", [values(0.0)]) for name in _ASKED],
    *[Case(f"_npi_{name}", [normal(2, 0)]) for name in _ASKED],
    Case("_npi_bitwise_not", [values([0, 1, -5], "int32")]),
    Case("_npi_bitwise_not", [values([0, 1, 5], "uint8")]),
    Case("_npi_bitwise_not", [values([True, False], "bool")]),
    Case("_npi_bitwise_not", [normal(2)], invalid=True),
    Case("_npi_around", [distinct(2, 3)]),
    Case("_npi_around", [_HALVES]),
    Case("_npi_around", [normal(2, 3, scale=100)], {"decimals": 1}, rtol=1e-6),
    Case("_npi_around", [normal(2, 3, scale=100)], {"decimals": -1}),
    Case("_npi_around", [values([5, 25, -51], "int32")], {"decimals": 1}),
    Case("_npi_around", [values([True], "bool")], invalid=True),
    Case("_npi_nan_to_num", [normal(2, 3)]),
    Case("_npi_nan_to_num", [_SPECIAL]),
    Case("_npi_nan_to_num", [_SPECIAL], {"nan": 1.5, "posinf": 2.5, "neginf": -3.5}),
    Case("_npi_nan_to_num", [values([1.0, np.nan, np.inf], "float16")]),
    Case("_npi_nan_to_num", [values([1.0, np.nan, -np.inf], "float64")], {"copy": False}),
    Case("_npi_nan_to_num", [values([1, 2], "int32")]),
]

_PAIR = [normal(2, 3), uniform(0.5, 2, 2, 3)]
_ARITHMETIC = ("add", "subtract", "multiply", "true_divide", "mod", "power")
_SAME = ("arctan2", "hypot", "copysign", "ldexp")
_BASE = uniform(0.5, 2, 2, 3)


def _pair(name, *second, dtype="float32"):
    """Return operands; a power wants a positive base, and mod one away from its steps."""
    second = second or (2, 3)
    if name == "mod":
        return [distinct(2, 3, dtype=dtype), uniform(0.6, 0.7, *second, dtype=dtype)]
    return [uniform(0.5, 2, 2, 3, dtype=dtype), uniform(0.5, 2, *second, dtype=dtype)]


_MIXED = [
    ("float32", "float64"),
    ("float16", "float32"),
    ("float32", "int32"),
    ("int64", "float16"),
    ("bool", "float32"),
]
_WHOLE = [("int32", "int64"), ("bool", "int8"), ("uint8", "int32"), ("int8", "int64")]


def _mixed(first, second):
    return [integers(1, 2, 2, 3, dtype=first), integers(1, 4, 3, dtype=second)]


_BINARY = [
    *[Case(f"_npi_{name}", _pair(name)) for name in (*_ARITHMETIC, *_SAME)],
    *[Case(f"_npi_{name}", _pair(name, 3)) for name in (*_ARITHMETIC, *_SAME)],
    *[
        Case(f"_npi_{name}", [uniform(0.5, 2, 2, 1), uniform(0.5, 2, 3, 1, 4)])
        for name in ("add", "subtract", "multiply", "true_divide", "power", *_SAME)
    ],
    *[Case(f"_npi_{name}", [uniform(1, 2), uniform(2, 3)]) for name in (*_ARITHMETIC, *_SAME)],
    *[Case(f"_npi_{name}", [normal(0, 3), normal(1, 3)]) for name in (*_ARITHMETIC, *_SAME)],
    *[Case(f"_npi_{name}", [normal(2, 3), normal(2)], invalid=True) for name in _ARITHMETIC],
    *[
        Case(f"_npi_{name}", _pair(name, dtype="float16"))
        for name in (*_ARITHMETIC, "hypot", "copysign")
    ],
    *[
        Case(f"_npi_{name}", _mixed(*dtypes), grad=False)
        for name in ("add", "multiply", "power")
        for dtypes in (*_MIXED, *_WHOLE)
    ],
    *[
        Case(f"_npi_{name}", _mixed(*dtypes), grad=False)
        for name in ("subtract", "mod")
        for dtypes in _MIXED
    ],
    *[Case("_npi_true_divide", _mixed(*dtypes), grad=False) for dtypes in _MIXED[2:]],
    *[
        Case(f"_npi_{name}", [integers(-5, 6, 2, 3, dtype=d), integers(1, 4, 3, dtype=d)])
        for name in ("add", "subtract", "multiply", "true_divide", "mod", "power", "copysign")
        for d in ("int8", "int32", "int64")
    ],
    *[
        Case(f"_npi_{name}", [values([True, False], "bool"), values([True, True], "bool")])
        for name in ("add", "multiply", "true_divide")
    ],
    *[
        Case(f"_npi_{name}", [values([True], "bool"), values([True], "bool")], invalid=True)
        for name in ("subtract", "mod", *_SAME)
    ],
    Case("_npi_mod", [values([5.5, -5.5, 3.0]), values([0.0, 2.0, -2.0])], grad=False),
    Case("_npi_power", [values([2, 3, -2, 0], "int32"), values([-1, 2, 3, 0], "int32")]),
    Case("_npi_arctan2", [values([1], "int32"), values([2], "int32")], invalid=True),
    Case("_npi_lcm", [values([4, -6, 0], "int32"), values([6, 4, 3], "int32")]),
    Case("_npi_lcm", [values([4, 6], "int64"), values([[6], [4]], "int64")]),
    Case("_npi_lcm", [normal(2), normal(2)], invalid=True),
]

_SCALARS = [
    "add",
    "subtract",
    "rsubtract",
    "multiply",
    "true_divide",
    "rtrue_divide",
    "mod",
    "rmod",
    "power",
    "rpower",
    "arctan2",
    "rarctan2",
    "copysign",
    "rcopysign",
    "ldexp",
    "rldexp",
]


def _grad(name):
    """Say not to ask for the gradient that fails in MXNet."""
    return False if "copysign" in name else None


def _flaw(name):
    """Say what is wrong with a gradient in MXNet."""
    return "it is that of arctan2_scalar" if name == "rarctan2" else ""


_SCALAR = [
    *[
        Case(
            f"_npi_{name}_scalar",
            [uniform(0.8, 1.2, 2, 3)],
            {"scalar": 2.5, "is_int": False},
            grad=_grad(name),
            wrong_grad=_flaw(name),
        )
        for name in _SCALARS
    ],
    *[
        Case(
            f"_npi_{name}_scalar",
            [uniform(0.8, 1.2, 3)],
            {"scalar": 2},
            grad=_grad(name),
            wrong_grad=_flaw(name),
        )
        for name in _SCALARS
    ],
    *[
        Case(
            f"_npi_{name}_scalar",
            [uniform(0.8, 1.2)],
            {"scalar": 3},
            grad=_grad(name),
            wrong_grad=_flaw(name),
        )
        for name in _SCALARS
    ],
    *[
        Case(
            f"_npi_{name}_scalar",
            [normal(2, 0)],
            {"scalar": 3},
            grad=_grad(name),
            wrong_grad=_flaw(name),
        )
        for name in _SCALARS
    ],
    *[
        Case(
            f"_npi_{name}_scalar",
            [uniform(0.8, 1.2, 3, dtype="float16")],
            {"scalar": 2.5, "is_int": False},
            grad=_grad(name),
            wrong_grad=_flaw(name),
        )
        for name in _SCALARS
    ],
    *[
        Case(f"_npi_{name}_scalar", [values([1, 2, 5], dtype)], {"scalar": scalar, "is_int": whole})
        for name in _SCALARS
        for dtype in ("int32", "uint8")
        for scalar, whole in ((2.0, True), (2.5, False))
    ],
    *[
        Case(f"_npi_{name}_scalar", [values([True, False], "bool")], {"scalar": 2.0})
        for name in ("add", "multiply", "true_divide", "subtract")
    ],
    *[
        Case("_npi_mod_scalar", [values([5.5, -5.5, 3.0])], {"scalar": scalar}, grad=False)
        for scalar in (0.0, -2.0)
    ],
    Case("_npi_add_scalar", [normal(2)], {"scalar": "x"}, invalid=True),
    Case("_npi_lcm_scalar", [values([4, 6, 0], "int32")], {"scalar": 6}),
    Case("_npi_lcm_scalar", [normal(2)], {"scalar": 6}, invalid=True),
]

_TRUTH = values([[True, False], [False, True]], "bool")
_COMPARED = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
_ONE_TWO = [values([[1, 2], [3, 4]]), values([1, 4])]
_QUESTIONS = [
    *[Case(f"_npi_{name}", _ONE_TWO) for name in _COMPARED],
    *[
        Case(f"_npi_{name}", [integers(0, 3, 5, dtype=d), integers(0, 3, 5, dtype=d)])
        for name in _COMPARED
        for d in ("int32", "uint8", "bool", "float16")
    ],
    *[Case(f"_npi_{name}", [values(1.0), values(1.0)]) for name in _COMPARED],
    *[Case(f"_npi_{name}", [normal(0, 2), normal(2)]) for name in _COMPARED],
    *[Case(f"_npi_{name}", [normal(2), normal(3)], invalid=True) for name in _COMPARED],
    *[
        Case(f"_npi_{name}_scalar", [values([1, 2, 5], dtype)], {"scalar": s, "is_int": whole})
        for name in _COMPARED
        for dtype in ("float32", "int32", "float16", "bool")
        for s, whole in ((2.0, True), (1.5, False))
    ],
    *[
        Case(f"_npi_{name}", [integers(0, 9, 2, 3, dtype=d), integers(0, 9, 3, dtype=d)])
        for name in _BITS
        for d in ("int32", "int8", "uint8")
    ],
    *[Case(f"_npi_{name}", [_TRUTH, values([[True] * 2] * 2, "bool")]) for name in _BITS],
    *[Case(f"_npi_{name}", [normal(2), normal(2)], invalid=True) for name in _BITS],
    *[Case(f"_npi_{name}_scalar", [values([4, -6, 7], "int32")], {"scalar": 3}) for name in _BITS],
    *[
        Case(f"_npi_{name}_scalar", [values([True, False], "bool")], {"scalar": 1})
        for name in _BITS
    ],
    *[Case(f"_npi_{name}_scalar", [normal(2)], {"scalar": 3}, invalid=True) for name in _BITS],
]

_CONDITION = values([[1, 0, 1], [0, 1, 1]])
_TURNED = "it goes to the elements that were not chosen"
_IN_PLACE = "it writes in place only, which takes an array to write to"


def _assigned_scalar(data, mask):
    made = data.copy()
    made[mask] = 9
    return made


def _assigned_column(data, mask):
    made = data.copy()
    made[:, mask] = 9
    return made


def _assigned(data, mask, value):
    made = data.copy()
    made[mask] = value
    return made


_CHOICES = [
    Case("_npi_where", [_CONDITION, normal(2, 3), normal(2, 3)]),
    Case("_npi_where", [values([True, False, True], "bool"), normal(2, 1), normal()]),
    Case("_npi_where", [values([[0], [1]], "int32"), normal(3), normal(2, 3)]),
    Case("_npi_where", [values([0, 1], "int64"), values([1, 2], "int32"), values([3, 4], "int32")]),
    Case("_npi_where", [values([0, 1]), normal(2, dtype="float16"), normal(2, dtype="float16")]),
    Case(
        "_npi_where",
        [normal(0, 2), normal(2), normal(1, 2)],
        wrong="crashes",
        expected=lambda condition, x, y: np.zeros((0, 2), np.float32),
    ),
    Case("_npi_where", [_CONDITION, normal(2, 3), normal(2)], invalid=True),
    Case("_npi_where", [values([1]), normal(1), values([1], "int32")], invalid=True),
    *[
        Case(op, [_CONDITION, normal(2, 3)], {"scalar": 2.5}, wrong_grad=_TURNED)
        for op in ("_npi_where_lscalar", "_npi_where_rscalar")
    ],
    *[
        Case(
            op,
            [values([True, False, True], "bool"), normal(2, 1)],
            {"scalar": -1},
            wrong_grad=_TURNED,
        )
        for op in ("_npi_where_lscalar", "_npi_where_rscalar")
    ],
    *[
        Case(op, [values([1, 0], "int32"), values([1, 2], "int32")], {"scalar": 2.5})
        for op in ("_npi_where_lscalar", "_npi_where_rscalar")
    ],
    Case("_npi_where_scalar2", [_CONDITION], {"x": 1.5, "y": 2}),
    Case("_npi_where_scalar2", [values(0, "int32")], {"x": 1.5}),
    Case(
        "_npi_boolean_mask_assign_scalar",
        [normal(2, 2), _TRUTH],
        {"value": 9.0, "start_axis": 0},
        wrong=_IN_PLACE,
        expected=_assigned_scalar,
    ),
    Case(
        "_npi_boolean_mask_assign_scalar",
        [normal(3, 2), values([True, False], "bool")],
        {"value": 9.0, "start_axis": 1},
        wrong=_IN_PLACE,
        expected=_assigned_column,
    ),
    Case(
        "_npi_boolean_mask_assign_scalar",
        [normal(3, 2), values([True, False], "bool")],
        {"value": 9.0, "start_axis": 0},
        invalid=True,
    ),
    Case(
        "_npi_boolean_mask_assign_tensor",
        [normal(2, 2), _TRUTH, normal(2)],
        {"start_axis": 0},
        wrong=_IN_PLACE,
        expected=_assigned,
    ),
    Case(
        "_npi_boolean_mask_assign_tensor",
        [normal(2, 3), values([False, True], "bool"), normal(1, 3)],
        {"start_axis": 0},
        wrong=_IN_PLACE,
        expected=_assigned,
    ),
    Case(
        "_npi_boolean_mask_assign_tensor",
        [normal(2, 2), _TRUTH, normal()],
        {"start_axis": 0},
        wrong=_IN_PLACE,
        expected=_assigned,
    ),
]

CASES = [*_UNARY, *_BINARY, *_SCALAR, *_QUESTIONS, *_CHOICES]
