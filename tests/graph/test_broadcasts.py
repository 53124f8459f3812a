"""Spreads against NumPy: what a chain of reshapes and repeats gives, from its smallest value."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.graph.broadcasts import Constants, Spread, spread, uniform, whole
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Value
from tests.graph.builders import call, graph, inputs

Chain = Callable[[Value], Value]


def _values(variable: Value, *outputs: Value) -> list[Any]:
    """Return the values of outputs for numbers that tell elements apart."""
    data = nd.arange(variable.size).reshape(variable.shape)
    return [x.asnumpy() for x in evaluate(graph([variable], *outputs), [data])]


def _axis(value: Value, axis: int, size: int) -> Value:
    return call("broadcast_axis", value, axis=axis, size=size)  # type: ignore[no-any-return]


_CHAINS: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None, Chain]] = {
    "heads": (
        (2, 3),
        (2, 1, 1, 3),
        lambda x: call(
            "Reshape", _axis(_axis(call("Reshape", x, shape=(2, 1, 1, 3)), 1, 4), 2, 5),
            shape=(8, 5, 3),
        ),
    ),
    "repeat": ((2, 3), (2, 1, 1, 3), lambda x: call("repeat", x, repeats=20, axis=0)),
    "repeat twice": (
        (2,), (2, 1, 1, 1),
        lambda x: _axis(
            call("expand_dims", call("repeat", call("repeat", x, repeats=4), repeats=5), axis=1),
            1, 3,
        ),
    ),
    "tile": (
        (1, 3), (1, 1, 1, 3), lambda x: call("tile", x, reps=(40, 1)),
    ),
    "sum with zeros": (
        (2, 1), (2, 1, 1, 1),
        lambda x: call(
            "repeat",
            call("broadcast_add", x, call("zeros_like", call("_zeros", shape=(1, 3)))),
            repeats=20, axis=0,
        ),
    ),
    "cast behind": (
        (2, 3), (2, 1, 1, 3),
        lambda x: call("Cast", call("repeat", x, repeats=20, axis=0), dtype="int32") * 2,
    ),
    "other order": (
        (2, 3), None, lambda x: call("tile", x, reps=(20, 1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _CHAINS)
def test_source_broadcasts_to_the_value(name: str) -> None:
    shape, expected, chain = _CHAINS[name]
    (x,) = inputs(shape)
    y = chain(x)
    found = spread(y)
    assert found.shape == y.shape
    grouped = found.regrouped((2, 4, 5, 3))
    if expected is None:
        assert grouped is None
        return
    assert grouped is not None
    assert grouped.source.size == x.size
    assert grouped.compact_shape() == expected
    value, source = _values(x, y, found.source)
    whole_value = np.broadcast_to(source.reshape(expected), (2, 4, 5, 3))
    np.testing.assert_array_equal(value.reshape(2, 4, 5, 3), whole_value)


def test_value_of_its_own_is_its_source() -> None:
    (x,) = inputs((2, 3))
    y = call("softmax", x)
    assert spread(y) == whole(y) == Spread(y, (((2, 3),), ((3, 1),)))


def test_extents_that_share_no_factor_are_not_regrouped() -> None:
    (x,) = inputs((4, 6))
    assert whole(x).regrouped((3, 8)) is not None  # one run of elements
    assert whole(x).regrouped((24,)) is not None
    repeated = spread(call("repeat", x, repeats=2, axis=1))
    assert repeated.regrouped((4, 4, 3)) is None


def test_elements_in_another_order_have_no_compact_shape() -> None:
    (x,) = inputs((2, 3))
    found = spread(call("tile", x, reps=(1, 4)))
    assert found.shape == (2, 12)
    assert found.compact_shape() is None
    assert found.regrouped((2, 4, 3)) is not None


def test_a_broadcast_repeats_new_axes() -> None:
    (x,) = inputs((3, 1))
    found = whole(x).broadcast((2, 3, 4))
    assert found.axes == (((2, 0),), ((3, 1),), ((4, 0),))


def test_numbers_that_all_elements_are() -> None:
    (x,) = inputs((2, 3))
    assert uniform(call("ones_like", call("softmax", x)) * -1e4) == -1e4
    assert uniform(call("Reshape", 3.0 - call("_full", shape=(2, 3), value=2.0), shape=(6,))) == 1
    assert uniform(x) is None
    assert uniform(call("_arange", start=0, stop=3)) is None


def test_constants_are_computed_whatever_the_input() -> None:
    (x,) = inputs((2, 3))
    steps = call("_contrib_arange_like", x, axis=1)
    rows = call("Reshape", steps, shape=(3, 1))
    mask = call("broadcast_lesser_equal", call("Reshape", steps, shape=(1, 3)), rows)
    constants = Constants()
    np.testing.assert_array_equal(constants.of(mask), np.tri(3))
    assert (
        constants.of(call("broadcast_mul", mask, call("slice_axis", x, axis=0, begin=0, end=1)))
        is None
    )
    assert constants.of(call("_zeros", shape=(1 << 23,))) is None
