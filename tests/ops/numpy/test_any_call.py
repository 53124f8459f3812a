"""Random shapes, dtypes and attributes: every call gives a result or one error that names it."""

import ast
import random
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.errors import GluonishError, public_name
from gluonish.core.schema import Attribute
from gluonish.core.spec import Spec
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Operator, all_operators, apply
from gluonish_engine import Var

_INTEGERS = (0, 1, -1, 2, 3, -2, 5, -7, 10**20, -(10**20))
_NUMBERS = (0.0, 1.0, -1.5, 2.5, 30.0, 1e300, float("inf"), float("nan"))
_TUPLES = ((), (0,), (1,), (-1,), (0, 1), (2, 3), (-2,), (3, -1), (0, 0), (100,), (1, 0, 2))
_WIDTHS = (((1, 1),), ((1, 0), (2, 1)), ((-1, 2),), (), ((1, 1), (1, 1), (1, 1)))
_SHAPES = ((), (1,), (3,), (2, 3), (0,), (0, 3), (2, 2), (2, 3, 2), (1, 3), (2, 0, 1))
_DTYPES = ("float32", "float16", "float64", "int32", "int64", "int8", "uint8", "bool")


OPERATORS = [
    op
    for op in all_operators()
    if op.infer.__module__.startswith("gluonish.ops.numpy")
    and op.name.startswith("_np")
    and not op.name.startswith("_np_moved")
]


def _value(attribute: Attribute, draw: random.Random) -> Any:
    expected = attribute.expected
    if expected.startswith("one of"):
        return draw.choice(ast.literal_eval(f"[{expected[7:]}]"))
    pools: dict[str, tuple[Any, ...]] = {
        "a tuple of ints": _TUPLES,
        "a tuple of pairs": _WIDTHS,
        "an int": _INTEGERS,
        "a number": _NUMBERS,
        "a bool": (True, False),
        "a dtype": _DTYPES,
        "a str": ("C",),
    }
    return draw.choice(next(pool for word, pool in pools.items() if expected.startswith(word)))


def _array(draw: random.Random, shape: tuple[int, ...], dtype: str) -> NDArray:
    made = np.random.default_rng(draw.randrange(100)).standard_normal(shape) * 3
    made = np.array(made.astype(dtype), order="C")
    return NDArray(made, Spec(made.shape, made.dtype), device_of(cpu()), Var())


def _call(op: Operator, draw: random.Random) -> None:
    """Run an operator once, and its gradient where it has one."""
    given = {
        name: _value(attribute, draw)
        for name, attribute in op.schema.attributes.items()
        if draw.random() < 0.5
    }
    if op.variadic is not None:
        given[op.variadic] = draw.choice((1, 2, 3))
    attrs = op.schema.parse(op.name, given)
    shape, dtype = draw.choice(_SHAPES), draw.choice(_DTYPES)
    inputs = [
        _array(
            draw,
            shape if draw.random() < 0.6 else draw.choice(_SHAPES),
            dtype if draw.random() < 0.7 else draw.choice(_DTYPES),
        )
        for _ in op.input_names(attrs)
    ]
    for x in inputs:
        if x.dtype in (np.float16, np.float32, np.float64):
            x.attach_grad()
    with mx.autograd.record():
        made = apply(op, inputs, attrs) if inputs else source(op, attrs, cpu())
    results = made if isinstance(made, list) else [made]
    for y in results:
        y.asnumpy()
    if inputs and op.gradient is not None and results[0]._spec.dtype.kind == "f":
        mx.autograd.backward(results[:1])


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_any_call_gives_a_result_or_an_error_that_names_the_operator(op: Operator) -> None:
    draw = random.Random(op.name)
    for _ in range(25):
        try:
            _call(op, draw)
        except GluonishError as error:
            if not any(
                public_name(name) in str(error) for name in (op.name, *op.aliases, "recorded")
            ):
                pytest.fail(f"an error that does not name {op.name}: {error}")
