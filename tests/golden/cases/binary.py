"""Cases of elementwise functions of two arrays, and of an array and a number."""

from typing import Any

import numpy as np

from tests.golden.case import Case, integers, normal, uniform, values

_PAIRS = {
    "add": "elemwise_add",
    "sub": "elemwise_sub",
    "mul": "elemwise_mul",
    "div": "elemwise_div",
    "mod": "_mod",
    "power": "_power",
    "maximum": "_maximum",
    "minimum": "_minimum",
    "hypot": "_hypot",
    "equal": "_equal",
    "not_equal": "_not_equal",
    "greater": "_greater",
    "greater_equal": "_greater_equal",
    "lesser": "_lesser",
    "lesser_equal": "_lesser_equal",
    "logical_and": "_logical_and",
    "logical_or": "_logical_or",
    "logical_xor": "_logical_xor",
}
_ODD_VALUES = [np.nan, np.inf, -np.inf, 0, -0.0, 1.5, -1.5, 2]
# One with each other one of them.
_LEFT = [x for x in _ODD_VALUES for _ in _ODD_VALUES]
_RIGHT = _ODD_VALUES * len(_ODD_VALUES)


def _pair(name: str, *shape: int, dtype: str = "float32") -> Any:
    if name == "power":
        return uniform(0.5, 2.5, *shape, dtype=dtype)
    if name.startswith(("equal", "not", "logical", "greater", "lesser")):
        return integers(-1, 2, *shape, dtype=dtype)
    return uniform(0.5, 5, *shape, dtype=dtype)


_PAIR_CASES = [  # type: ignore[var-annotated]
    case
    for name, same in _PAIRS.items()
    for broad in [f"broadcast_{name}"]
    # The gradient of a maximum of equal values, among others, is one-sided there.
    for smooth in [{} if name.startswith(("equal", "not", "gr", "le", "lo")) else {"check": {}}]
    for case in (
        Case(same, [_pair(name, 2, 3), _pair(name, 2, 3)], **smooth),
        Case(same, [_pair(name, 1), _pair(name, 1)]),
        Case(same, [_pair(name, 2, dtype="float64"), _pair(name, 2, dtype="float64")]),
        Case(same, [_pair(name, 2, 3, dtype="float16"), _pair(name, 2, 3, dtype="float16")]),
        Case(same, [values([7, 8, 9, -7], "int32"), values([2, 3, 4, 2], "int32")]),
        Case(same, [_pair(name, 2, 3), _pair(name, 3, 2)], invalid=True),
        Case(same, [_pair(name, 2), _pair(name, 2, dtype="float64")], invalid=True),
        Case(same, [values([True], "bool"), values([False], "bool")], invalid=True),
        Case(same, [values(_LEFT), values(_RIGHT)], grad=False),
        Case(broad, [_pair(name, 2, 1, 3), _pair(name, 1, 4, 1)], **smooth),
        Case(broad, [_pair(name, 2, 3), _pair(name, 2, 3)]),
        Case(broad, [_pair(name, 1), _pair(name, 3)]),
        Case(broad, [_pair(name, 2, 3, dtype="float16"), _pair(name, 1, 3, dtype="float16")]),
        Case(broad, [values([[7, 8, 9]], "int64"), values([[2], [3]], "int64")]),
        Case(broad, [_pair(name, 2, 3), _pair(name, 2, 2)], invalid=True),
        Case(broad, [values([True], "bool"), values([False], "bool")], invalid=True),
        Case(broad, [_pair(name, 2), _pair(name, 2, dtype="float64")], invalid=True),
    )
]

_SCALARS = [
    *(f"_{name}_scalar" for name in _PAIRS if name not in ("add", "sub")),
    "_plus_scalar",
    "_minus_scalar",
    "_rminus_scalar",
    "_rdiv_scalar",
    "_rmod_scalar",
    "_rpower_scalar",
]

_SCALAR_CASES = [
    case
    for op in _SCALARS
    for case in (
        Case(op, [uniform(0.5, 3, 2, 3)], {"scalar": 1.7}),
        Case(op, [uniform(0.5, 3, 1)], {"scalar": 2.0}),
        Case(op, [uniform(0.5, 3, 2)], {}),
        Case(op, [uniform(0.5, 3, 2, dtype="float64")], {"scalar": 1.7}),
        Case(op, [uniform(0.5, 3, 2, dtype="float16")], {"scalar": 1.7}),
        Case(op, [values([5, 2, 9], "int32")], {"scalar": 2.0}),
        Case(op, [values([5, 2, 9], "int64")], {"scalar": 2.7}),
        Case(op, [values([5, 2, 9], "uint8")], {"scalar": 3.0}),
        Case(op, [values([True, op[:3] == "_rd"], "bool")], {"scalar": 1.0}),
        Case(op, [values(_ODD_VALUES)], {"scalar": 0.0}, grad=False),
        Case(op, [values(_ODD_VALUES)], {"scalar": -1.5}, grad=False),
        Case(op, [normal(2)], {"scalar": "x"}, invalid=True),
    )
]

CASES = [*_PAIR_CASES, *_SCALAR_CASES]
