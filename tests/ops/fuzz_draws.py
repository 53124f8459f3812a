"""Random calls of operators: arrays and attributes that often fit, and often do not.

Half of the calls of an operator with golden cases are such a case with one thing changed; the
others are made up.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.schema import REQUIRED, Attribute
from gluonish.ops.registry import Operator, all_operators
from tests.golden.case import Case, load_cases

_GOLDEN = Path(__file__).parents[1] / "golden"
_DTYPES = [
    *(np.dtype(np.float32),) * 6,
    np.dtype(np.float16),
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(np.float64),
    np.dtype(np.int32),
    np.dtype(np.int64),
    np.dtype(np.uint8),
    np.dtype(np.int8),
    np.dtype(bool),
]
_NUMBERS = [0, 1, 2, 3, -1, -2, 5, 7, 0.5, -1.5, 1e30, float("nan"), float("inf"), 1 << 62]
_TUPLES = [(), (0,), (1,), (2,), (-1,), (1, 1), (2, 2), (0, 1), (3, 3), (1, 0), (2, 2, 2), (1, -1)]
_ODD = [None, True, False, "", "x", [1], "(1, 2)", "None", object(), (None,), ("a",), b"1"]
_KINDS = ["float32", "float16", "int32", "int64", "uint8", "int8", "float64", "bool", "complex64"]
_FILLINGS = [0, 1, -1, -3, 0.5, 2, 100, 1e9, 1e30, np.nan, np.inf, -np.inf]

# Those that gradients are made of get what a rule computes.
_RECORDED = json.loads((_GOLDEN / "operators.json").read_text(encoding="utf-8"))
# They take programs and parts of graphs that only the passes make, or run what a user gives.
_MADE_BY_GRAPHS = ("_fused_pointwise", "_foreach", "_while_loop", "_cond", "Custom")
OPERATORS = sorted(
    (
        op
        for op in all_operators()
        if op.name in _RECORDED and not op.name.startswith(_MADE_BY_GRAPHS)
    ),
    key=lambda op: op.name,
)


class Draw(NamedTuple):
    """A call: arrays, and attributes as a user writes them."""

    arrays: list[Any]
    attrs: dict[str, Any]

    def __repr__(self) -> str:
        return f"({[f'{x.dtype}{x.shape}' for x in self.arrays]}, {self.attrs})"


@cache
def valid_cases() -> dict[str, list[Case]]:
    """Return the golden cases that are right, by operator."""
    found: dict[str, list[Case]] = {}
    for path in sorted((_GOLDEN / "cases").glob("*.py")):
        for case in load_cases(path):
            if not case.invalid:
                found.setdefault(case.op, []).append(case)
    return found


def draw(op: Operator, random: np.random.Generator) -> Draw:
    """Return a call of an operator."""
    cases = valid_cases().get(op.name)
    if cases and random.random() < 0.5:
        case = cases[random.integers(len(cases))]
        call = _changed(random, op, Draw(case.arrays(), dict(case.attrs)))
        missing = len(op.inputs) - len(call.arrays) if op.variadic is None else 0
        call.arrays.extend(_arrays(random, max(0, missing)))  # for those that want more now
        return call
    count = len(op.inputs) if op.variadic is None else int(random.integers(1, 4))
    return Draw(_arrays(random, count), _attributes(random, op))


def _value(random: np.random.Generator, attribute: Attribute) -> Any:
    """Return a value for an attribute: mostly of the kind that it wants."""
    expected = attribute.expected
    words = re.findall(r"'([^']*)'", expected) or re.findall(r"\b[a-z_0-9]+\b", expected)
    pools: list[list[Any]] = [_NUMBERS[:8], _TUPLES, _KINDS, _NUMBERS, _ODD, list(words) or _ODD]
    if random.random() < 0.7:
        if "one of" in expected:
            return str(random.choice(words))
        if "dtype" in expected:
            return str(random.choice(_KINDS))
        if "tuple" in expected or "shape" in expected or "ints" in expected:
            return _TUPLES[random.integers(len(_TUPLES))]
        return _NUMBERS[random.integers(8)]
    pool = pools[random.integers(len(pools))]
    return pool[random.integers(len(pool))]


def _attributes(random: np.random.Generator, op: Operator) -> dict[str, Any]:
    given = {}
    for name, attribute in op.schema.attributes.items():
        if name == op.variadic:
            continue
        if attribute.default is REQUIRED or random.random() < 0.3:
            given[name] = _value(random, attribute)
    if random.random() < 0.03:
        given["no_such_attribute"] = 1
    return given


def _array(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if random.random() < 0.2:
        return np.array(random.integers(0, 3, shape)).astype(dtype)
    return _cast(random.standard_normal(shape) * 2, dtype)


def _cast(values: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


def _arrays(random: np.random.Generator, count: int) -> list[Any]:
    """Return arrays that mostly fit one another: one dtype, shapes that are alike."""
    rank = random.integers(0, 6)
    base = tuple(
        int(n) for n in random.choice([0, 1, 2, 3, 4], rank, p=[0.05, 0.15, 0.3, 0.3, 0.2])
    )
    dtype = _DTYPES[random.integers(len(_DTYPES))]
    made = []
    for _ in range(count):
        shape = base
        if random.random() < 0.5 and base:
            cut = random.integers(0, len(base) + 1)
            shape = (base[cut:], base[:cut], base[1:2], (*base, 2))[random.integers(4)]
        kind = dtype if random.random() < 0.85 else _DTYPES[random.integers(len(_DTYPES))]
        made.append(_array(random, shape, kind))
    return made


def _changed(random: np.random.Generator, op: Operator, call: Draw) -> Draw:
    """Return a call with one thing changed, now and then nothing."""
    names = [name for name in op.schema.attributes if name != op.variadic]
    which = random.random()
    if which < 0.4 and names:
        name = str(random.choice(names))
        call.attrs[name] = _other_value(random, call.attrs.get(name), op.schema.attributes[name])
    elif which < 0.55:
        dtype = _DTYPES[random.integers(len(_DTYPES))]
        floating = random.random() < 0.5  # all that are floating, or one
        one = int(random.integers(max(1, len(call.arrays))))
        for i, x in enumerate(call.arrays):
            if is_floating(x.dtype) if floating else i == one:
                call.arrays[i] = _cast(x, dtype)
    elif which < 0.95 and call.arrays:
        i = int(random.integers(len(call.arrays)))
        x = call.arrays[i]
        if which < 0.75:
            call.arrays[i] = _array(random, _other_shape(random, x.shape), x.dtype)
        else:
            call.arrays[i] = _other_elements(random, x)
    return call


def _other_value(random: np.random.Generator, value: Any, attribute: Attribute) -> Any:
    """Return another value for an attribute: near the one it has, or any."""
    if isinstance(value, tuple) and value and random.random() < 0.6:
        at = int(random.integers(len(value)))
        return (*value[:at], _NUMBERS[random.integers(len(_NUMBERS))], *value[at + 1 :])
    return _value(random, attribute)


def _other_shape(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with one axis more, less, longer, shorter, or two of them swapped."""
    axes = list(shape)
    at = int(random.integers(len(axes) + 1))
    which = random.integers(6)
    if which == 0 or not axes:
        axes.insert(at, int(random.integers(1, 3)))
    elif which == 1:
        del axes[at % len(axes)]
    elif which == 2:
        axes.reverse()
    else:
        axes[at % len(axes)] = (0, 1, axes[at % len(axes)] + 1)[which - 3]
    return tuple(axes)


def _other_elements(random: np.random.Generator, x: Any) -> Any:
    """Return an array with one or all elements replaced by something unlikely."""
    changed = x.copy()
    filling = _cast(_FILLINGS[random.integers(len(_FILLINGS))], x.dtype)
    if x.size and random.random() < 0.5:
        changed.reshape(-1)[random.integers(x.size)] = filling
    else:
        changed[...] = filling
    return changed
