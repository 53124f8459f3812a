"""Random arrays and attributes at every operator: a result, or one error that names it.

Each draw goes through the attributes' schema, inference, the reference kernel and the gradient
rule. What comes out must be of the inferred shapes and dtypes and be filled by the kernel: it runs
over two different fillings of its memory. Refusals must be errors of ours, raised before the kernel
where shapes, dtypes or attributes are at fault.
"""

import json
import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluonish.core.dtype import is_floating
from gluonish.core.errors import GluonishError
from gluonish.core.schema import REQUIRED, Attribute
from gluonish.core.spec import MOST_ELEMENTS, Spec
from gluonish.ops import catalog  # noqa: F401  # registers every operator
from gluonish.ops.composite import input_gradients
from gluonish.ops.registry import Operator, all_operators
from gluonish.testing import ArrayValue
from gluonish.testing.values import runtime_attrs, spec_of

# Draws for each operator; a long run sets it in the environment.
DRAWS = int(os.environ.get("GLUONISH_FUZZ_DRAWS", "40"))
DTYPES = [
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
NUMBERS = [0, 1, 2, 3, -1, -2, 5, 7, 0.5, -1.5, 1e30, float("nan"), float("inf"), 1 << 62]
TUPLES = [(), (0,), (1,), (2,), (-1,), (1, 1), (2, 2), (0, 1), (3, 3), (1, 0), (2, 2, 2), (1, -1)]
ODD = [None, True, False, "", "x", [1], "(1, 2)", "None", object(), (None,), ("a",), b"1"]
KINDS = ["float32", "float16", "int32", "int64", "uint8", "int8", "float64", "bool", "complex64"]
# Those that gradients are made of get what a rule computes.
RECORDED = json.loads(
    (Path(__file__).parents[1] / "golden" / "operators.json").read_text(encoding="utf-8")
)
OPERATORS = sorted((op for op in all_operators() if op.name in RECORDED), key=lambda op: op.name)
# They take programs and parts of graphs that only the passes make, or run what a user gives.
MADE_BY_GRAPHS = ("_fused_pointwise", "_foreach", "_while_loop", "_cond", "Custom")


_LARGE = 1 << 26  # bytes of outputs that a test does not make


class _TooLarge(Exception):
    """A call is right and asks for more memory than this test has."""


def _value(random: np.random.Generator, attribute: Attribute) -> Any:
    """Return a value for an attribute: half of the time of the kind that it wants."""
    expected = attribute.expected
    words = re.findall(r"'([^']*)'", expected) or re.findall(r"\b[a-z_0-9]+\b", expected)
    pools: list[list[Any]] = [NUMBERS[:8], TUPLES, KINDS, NUMBERS, ODD, list(words) or ODD]
    if random.random() < 0.7:
        if "one of" in expected:
            return str(random.choice(words))
        if "dtype" in expected:
            return str(random.choice(KINDS))
        if "tuple" in expected or "shape" in expected or "ints" in expected:
            return TUPLES[random.integers(len(TUPLES))]
        return NUMBERS[random.integers(8)]
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
    return np.array(random.standard_normal(shape) * 2).astype(dtype)


def _arrays(random: np.random.Generator, count: int) -> list[Any]:
    """Return arrays that mostly fit one another: one dtype, shapes that are alike."""
    rank = random.integers(0, 6)
    base = tuple(
        int(n) for n in random.choice([0, 1, 2, 3, 4], rank, p=[0.05, 0.15, 0.3, 0.3, 0.2])
    )
    dtype = DTYPES[random.integers(len(DTYPES))]
    made = []
    for _ in range(count):
        shape = base
        if random.random() < 0.5 and base:
            cut = random.integers(0, len(base) + 1)
            shape = (base[cut:], base[:cut], base[1:2], (*base, 2))[random.integers(4)]
        kind = dtype if random.random() < 0.85 else DTYPES[random.integers(len(DTYPES))]
        made.append(_array(random, shape, kind))
    return made


def _fill(op: Operator, arrays: list[Any], attrs: Mapping[str, Any], byte: int) -> list[Any]:
    """Run the reference kernel over memory that holds one byte everywhere."""
    runtime = runtime_attrs(op, attrs)
    given = [x.copy() if i in op.mutated_inputs(attrs) else x for i, x in enumerate(arrays)]
    specs = op.infer(*map(spec_of, given), **attrs)
    if op.measure is not None:
        shapes = op.measure(np, *given, **runtime)
        specs = tuple(Spec(tuple(s), spec.dtype) for s, spec in zip(shapes, specs, strict=True))
    assert all(n >= 0 for spec in specs for n in spec.shape), f"unknown extents: {specs}"
    assert all(spec.size <= MOST_ELEMENTS for spec in specs), f"asked for too much: {specs}"
    if sum(spec.nbytes for spec in specs) >= _LARGE:
        raise _TooLarge
    outputs = [np.empty(spec.shape, spec.dtype) for spec in specs]
    for out in outputs:
        out.reshape(-1).view(np.uint8)[...] = byte
    with np.errstate(all="ignore"):
        op.kernel(np, outputs[0] if op.single else tuple(outputs), *given, **runtime)
    return outputs


def _bytes(x: Any) -> Any:
    return x.reshape(-1).view(np.uint8)


def _gradient(op: Operator, arrays: list[Any], attrs: Mapping[str, Any], outputs: Any) -> None:
    shown = op.num_visible(attrs)
    heads = [
        ArrayValue(np.ones_like(y)) if i < shown and is_floating(y.dtype) else None
        for i, y in enumerate(outputs)
    ]
    wanted = [is_floating(x.dtype) for x in arrays]
    if op.gradient is None or not any(wanted) or not any(h is not None for h in heads):
        return
    values, results = [ArrayValue(x) for x in arrays], [ArrayValue(y) for y in outputs]
    found = input_gradients(op, heads, values, results, runtime_attrs(op, attrs), wanted)
    for x, g in zip(arrays, found, strict=True):
        if g is not None:
            assert g.shape == x.shape, f"gradient {g.shape} of {x.shape}"


def _draw(op: Operator, random: np.random.Generator) -> bool:
    """Make one call; whether the operator took it."""
    count = len(op.inputs) if op.variadic is None else int(random.integers(1, 4))
    given = _attributes(random, op)
    if op.variadic is not None:
        given[op.variadic] = count
    arrays = _arrays(random, count)
    try:
        attrs = op.schema.parse(op.name, given)
        if op.variadic is None:
            arrays = arrays[: len(op.input_names(attrs))]
        first = _fill(op, arrays, attrs, 0xFF)
        second = _fill(op, arrays, attrs, 0x01)
        for i, (a, b) in enumerate(zip(first, second, strict=True)):
            if i not in op.workspaces:
                filled = np.array_equal(_bytes(a), _bytes(b)) or np.array_equal(
                    a.astype(np.float64), b.astype(np.float64), equal_nan=True
                )
                assert filled, f"output {i} is not filled, or not by the inputs alone"
        _gradient(op, arrays, attrs, first)
    except GluonishError as error:
        if not str(error):
            pytest.fail("an error without words")
        return False
    except _TooLarge:
        return False
    except Exception as error:
        shapes = [f"{x.dtype}{x.shape}" for x in arrays]
        raise AssertionError(f"{op.name}({shapes}, {given}): {error!r}") from error
    return True


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_every_call_gives_a_result_or_an_error_of_ours(op: Operator) -> None:
    if op.name.startswith(MADE_BY_GRAPHS):
        pytest.skip("takes what only graphs make, or runs what a user gives")

    @settings(max_examples=DRAWS, deadline=None, derandomize=True, database=None)
    @given(st.integers(0, 1 << 32))
    def run(seed: int) -> None:
        _draw(op, np.random.default_rng((seed, zlib.crc32(op.name.encode()))))

    run()
