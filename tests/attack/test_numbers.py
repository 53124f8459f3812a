"""Whole numbers against arrays of whole numbers: every comparison and what else takes a number,
on both faces, eager, hybridized and as a Symbol, against Python's own integers.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon.block.hybrid_block import HybridBlock

pytestmark = pytest.mark.slow

Function = Callable[[Any, Any], Any]
COMPARISONS: dict[str, Function] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
ARITHMETIC: dict[str, Function] = {
    name: getattr(operator, name) for name in ("add", "sub", "mul", "mod")
}
DTYPES = ("int8", "uint8", "int32", "int64")
NUMBERS = sorted(
    {
        sign * (1 << bits) + near
        for bits in (0, 7, 8, 15, 31, 32, 52, 53, 54, 62, 63)
        for near in (-1, 0, 1)
        for sign in (-1, 1)
    }
)
KINDS: tuple[Callable[[int], Any], ...] = (int, lambda n: np.int64(n) if fits(n, "int64") else n)


def fits(number: int, dtype: str) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= number <= limits.max)


def wrapped(number: int, dtype: str) -> int:
    """Return a whole number as an integer dtype keeps it."""
    return int(np.uint64(number & (2**64 - 1)).astype(dtype))


def values_near(number: int, dtype: str) -> list[int]:
    near = [number + step for step in range(-2, 3)]
    ends = [int(np.iinfo(dtype).min), -1, 0, 1, 3, int(np.iinfo(dtype).max)]
    return [n for n in (*near, *ends) if fits(n, dtype)]


def eagerly(function: Function, face: Any, x: list[int], dtype: str, number: Any) -> list[int]:
    found = function(face.array(np.array(x, dtype), dtype=dtype), number)
    return [int(y) for y in found.asnumpy()]


def hybridized(function: Function, face: Any, x: list[int], dtype: str, number: Any) -> list[int]:
    class Net(HybridBlock):
        def forward(self, data: Any) -> Any:
            return function(data, number)

    net = Net()
    net.hybridize()
    return [int(y) for y in net(face.array(np.array(x, dtype), dtype=dtype)).asnumpy()]


def symbolically(function: Function, face: Any, x: list[int], dtype: str, number: Any) -> list[int]:
    data = face.array(np.array(x, dtype), dtype=dtype)
    made = function(mx.sym.var("x", dtype=dtype), number)
    loaded = mx.sym.load_json(made.tojson())
    return [int(y) for y in loaded.bind(mx.cpu(), {"x": data}).forward()[0].asnumpy()]


WAYS = {
    "nd": (eagerly, mx.nd),
    "np": (eagerly, mx.np),
    "hybridized": (hybridized, mx.nd),
    "symbol": (symbolically, mx.nd),
}


def calls(way: str) -> Iterator[tuple[str, int, Any]]:
    kinds = KINDS if way in ("nd", "np") else KINDS[:1]
    for dtype in DTYPES:
        for number in NUMBERS:
            for kind in kinds:
                yield dtype, number, kind(number)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_with_whole_numbers_are_pythons(
    name: str, way: str, record_property: Callable[[str, object], None]
) -> None:
    function, (run, face) = COMPARISONS[name], WAYS[way]
    tried = 0
    for dtype, number, given in calls(way):
        x = values_near(number, dtype)
        exact = [int(function(n, number)) for n in x]
        assert run(function, face, x, dtype, given) == exact, (dtype, given, x)
        tried += len(x)
    assert tried > 1000
    record_property("attacks held", tried)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_with_whole_numbers_is_pythons_and_wraps(
    name: str, way: str, record_property: Callable[[str, object], None]
) -> None:
    function, (run, face) = ARITHMETIC[name], WAYS[way]
    tried = 0
    for dtype, number, given in calls(way):
        x = values_near(number, dtype)
        inside = wrapped(number, dtype)
        if name == "mod" and inside == 0:
            continue
        exact = [wrapped(function(n, inside), dtype) for n in x]
        assert run(function, face, x, dtype, given) == exact, (dtype, given, x)
        tried += len(x)
    assert tried > 1000
    record_property("attacks held", tried)


@pytest.mark.parametrize("number", [n for n in NUMBERS if fits(n, "int64") and abs(n) > 2**52])
def test_whole_numbers_keep_their_digits_where_they_are_attributes(number: int) -> None:
    data = [n for n in range(number - 2, number + 3) if fits(n, "int64")]
    x = mx.nd.array(np.array(data), dtype="int64")
    y = mx.np.array(np.array(data), dtype="int64")
    ones = np.zeros(len(data), np.int64)
    made = {
        "maximum": (mx.nd.maximum(x, number), [max(n, number) for n in data]),
        "minimum": (mx.nd.minimum(number, x), [min(n, number) for n in data]),
        "clip": (mx.nd.clip(x, number, 2**63 - 1), [max(n, number) for n in data]),
        "full": (mx.nd.full((1,), number, dtype="int64"), [number]),
        "ones": (mx.nd.array(ones, dtype="int64") + number, [number] * len(data)),
        "one_hot": (mx.nd.one_hot(mx.nd.array([0]), 1, on_value=number, dtype="int64"), [[number]]),
        "np.where": (mx.np.where(y == number, number, y * 0), [n * (n == number) for n in data]),
        "np.full": (mx.np.full((1,), number, dtype="int64"), [number]),
        "np.full_like": (mx.np.full_like(y, number), [number] * len(data)),
        "np.clip": (mx.np.clip(y, number, None), [max(n, number) for n in data]),
        "np.maximum": (mx.np.maximum(y, number), [max(n, number) for n in data]),
        "sum": (mx.nd.sum(x[:1]), data[:1]),
        "mean": (mx.nd.mean(x[:1]), data[:1]),
        "max": (mx.nd.max(x), [data[-1]]),
        "sort": (mx.nd.sort(x, is_ascend=False), data[::-1]),
    }
    for name, (found, exact) in made.items():
        assert found.asnumpy().tolist() == exact, name
    x[:] = number
    assert x.asnumpy().tolist() == [number] * len(data)
    x[1:2] = number
    x -= number
    assert not x.asnumpy().any()
