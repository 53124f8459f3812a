"""Cases of elementwise functions: of one array or several alike; stretching."""

from typing import Any

import numpy as np

from tests.golden.case import Case, distinct, normal, uniform, values

# Where each function of one array is drawn from: inside its domain, away from its poles.
_ANY = [
    "abs",
    "cbrt",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "exp",
    "expm1",
    "negative",
    "radians",
    "relu",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softsign",
    "square",
    "arcsinh",
    "arctan",
    "tanh",
    "reciprocal",
    "rcbrt",
]
_POSITIVE = ["gamma", "gammaln", "log", "log10", "log1p", "log2", "rsqrt", "sqrt"]
_INNER = ["arccos", "arcsin", "arctanh", "erfinv", "tan"]
_WHOLE = ["ceil", "fix", "floor", "rint", "round", "trunc", "logical_not"]
_SPECIAL = {"gamma", "gammaln", "erfinv"}
# MXNet has constants and series in float32 there.
_SINGLE = {"gamma": 1e-4, "gammaln": 1e-4, "erfinv": 1e-6}
_SINGLE |= {"degrees": 1e-6, "radians": 1e-6, "erf": 1e-6}


def _recipe(op: str, *shape: int, dtype: str = "float32") -> Any:
    if op in _INNER:
        return uniform(-0.9, 0.9, *shape, dtype=dtype)
    if op == "arccosh":
        return uniform(1.2, 4, *shape, dtype=dtype)
    if op in _POSITIVE:
        return uniform(0.3, 4, *shape, dtype=dtype)
    return distinct(*shape, dtype=dtype) if op in _WHOLE else uniform(-3, 3, *shape, dtype=dtype)


_UNARY = [*_ANY, *_POSITIVE, *_INNER, *_WHOLE, "arccosh"]
_LOOSE = {"rtol": 1e-4, "atol": 1e-5}

_EDGES = [-np.inf, -2.5, -1.5, -1, -0.5, -0.0, 0, 0.5, 1, 1.5, 2.5, np.inf, np.nan]
# MXNet's gamma and erfinv at their poles are what its C library or formula happens to give.
_UNEDGED = {"gamma", "gammaln", "erfinv"}

_UNARY_CASES = [
    case
    for op in _UNARY
    for loose in [_LOOSE if op in _SPECIAL else {}]
    for case in (
        Case(op, [_recipe(op, 2, 3)], **loose),
        Case(op, [_recipe(op, 1)], **loose),
        Case(op, [_recipe(op, 2, 2, dtype="float64")], rtol=_SINGLE.get(op)),
        Case(op, [_recipe(op, 2, 3, dtype="float16")]),
        Case(op, [values([0] if op == "erfinv" else [[1, 2], [3, 1]], "int32")]),
        Case(op, [values([True, False], "bool")], invalid=True),
        *([] if op in _UNEDGED else [Case(op, [values(_EDGES)], grad=False)]),
    )
]

_BOUNDED = {"a_min": -1.0, "a_max": 2.0}

CASES = [
    *_UNARY_CASES,
    Case("clip", [distinct(3, 4)], _BOUNDED),
    Case("clip", [distinct(3, dtype="float16")], _BOUNDED),
    Case("clip", [distinct(3, dtype="float64")], _BOUNDED),
    Case("clip", [values([-5, 0, 5], "int32")], {"a_min": -1.5, "a_max": 2.5}),
    Case("clip", [values([0, 3, 200], "uint8")], {"a_min": 1, "a_max": 100}),
    Case("clip", [values([0.0, 1.5, 3.0])], {"a_min": 2, "a_max": 1}),
    Case("clip", [values([np.nan, np.inf, -np.inf])], _BOUNDED, grad=False),
    Case("clip", [values([-1.0, 2.0])], _BOUNDED, note="at the bounds"),
    Case("clip", [values([True], "bool")], _BOUNDED, invalid=True),
    Case("clip", [normal(2)], {"a_min": 0}, invalid=True),
    Case("hard_sigmoid", [distinct(3, 4)]),
    Case("hard_sigmoid", [distinct(3)], {"alpha": 0.5, "beta": 0.25}),
    Case("hard_sigmoid", [distinct(3, dtype="float16")]),
    Case("hard_sigmoid", [distinct(3, dtype="float64")], rtol=1e-6),
    Case("hard_sigmoid", [values([True], "bool")], invalid=True),
    Case("hard_sigmoid", [values([1, 2], "int32")], invalid=True),
    Case("smooth_l1", [uniform(-3, 3, 2, 3)]),
    Case("smooth_l1", [uniform(-3, 3, 2, 3)], {"scalar": 2.5}),
    Case("smooth_l1", [uniform(-3, 3, 3)], {"scalar": 0.0}),
    Case("smooth_l1", [uniform(-3, 3, 3, dtype="float16")], {"scalar": 0.5}),
    Case("smooth_l1", [uniform(-3, 3, 3, dtype="float64")]),
    Case("smooth_l1", [values([2, -3], "int32")]),
    Case("smooth_l1", [values([True], "bool")], invalid=True),
    Case("Cast", [normal(2, 3)], {"dtype": "float64"}),
    *[
        Case("Cast", [values([-1.7, 0.0, 1.5, 200.2], source)], {"dtype": target})
        for source in ("float32", "float64", "float16")
        for target in ("float16", "float32", "float64", "int32", "int64", "int8", "bool")
    ],
    *[
        Case("Cast", [values([3, 0, 100], source)], {"dtype": target})
        for source in ("int32", "int64", "uint8", "int8")
        for target in ("float32", "float16", "uint8", "int64", "bool")
    ],
    Case("Cast", [values([300, -1, 256], "int32")], {"dtype": "uint8"}),
    Case("Cast", [values([True, False], "bool")], {"dtype": "float32"}),
    Case("Cast", [normal(2)], {"dtype": "float31"}, invalid=True),
    Case("Cast", [normal(2)], {}, invalid=True),
    Case("add_n", [normal(2, 3), normal(2, 3), normal(2, 3)], {"num_args": 3}),
    Case("add_n", [normal(2, 3)], {"num_args": 1}),
    Case("add_n", [normal(3, dtype="float16"), normal(3, dtype="float16")], {"num_args": 2}),
    Case("add_n", [values([1, 2], "int32"), values([3, 4], "int32")], {"num_args": 2}),
    Case("add_n", [normal(2), normal(3)], {"num_args": 2}, invalid=True),
    Case("add_n", [normal(2), normal(2, dtype="float64")], {"num_args": 2}, invalid=True),
    Case("broadcast_to", [normal(1, 3, 1)], {"shape": (2, 3, 4)}),
    Case("broadcast_to", [normal(1, 3, 1)], {"shape": (2, 0, 4)}),
    Case("broadcast_to", [normal(1)], {"shape": (3,)}),
    Case("broadcast_to", [normal(1, 2, dtype="float16")], {"shape": (3, 2)}),
    Case("broadcast_to", [values([[1], [2]], "int64")], {"shape": (2, 2)}),
    Case("broadcast_to", [normal(2, 3)], {"shape": (2, 4)}, invalid=True),
    Case("broadcast_to", [normal(1, 3)], {"shape": (3,)}, invalid=True),
    Case("broadcast_to", [normal(1)], {"shape": (-1,)}, invalid=True),
    Case("broadcast_axis", [normal(1, 2, 1)], {"axis": (0, 2), "size": (2, 3)}),
    Case("broadcast_axis", [normal(1, 2, 1)], {"axis": 2, "size": 3}),
    Case("broadcast_axis", [values([[1], [2]], "int32")], {"axis": 1, "size": 2}),
    Case("broadcast_axis", [normal(2, 2)], {"axis": 1, "size": 3}, invalid=True),
    Case("broadcast_axis", [normal(1, 1)], {"axis": (0, 1), "size": 3}, invalid=True),
    Case("broadcast_axis", [normal(1, 1)], {"axis": 2, "size": 3}, invalid=True),
    Case("broadcast_like", [normal(1, 3, 1), normal(2, 3, 4)], grad=(0,)),
    Case(
        "broadcast_like",
        [normal(1, 3, 1), normal(5, 4, 2)],
        {"lhs_axes": (0, 2), "rhs_axes": (2, -2)},
        grad=(0,),
    ),
    Case("broadcast_like", [values([[1]], "int32"), normal(2, 2)]),
    Case("broadcast_like", [normal(2, 3), normal(2, 4)], invalid=True),
    Case("broadcast_like", [normal(1), normal(2, 4)], invalid=True),
]
