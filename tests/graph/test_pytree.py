from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish.graph.pytree import Constant, flatten, regroup


class Pair(NamedTuple):
    first: object
    second: object


def _is_leaf(value: object) -> bool:
    return isinstance(value, str)


def test_leaves_come_in_order() -> None:
    leaves, structure = flatten(("a", ["b", ("c",)], 3), _is_leaf)
    assert leaves == ["a", "b", "c"]
    assert regroup([1, 2, 3], structure) == (1, [2, (3,)], 3)


def test_a_single_leaf_has_no_structure() -> None:
    assert flatten("a", _is_leaf) == (["a"], None)
    assert regroup(["b"], None) == "b"


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), (None, 0)])
def test_constants_that_compare_equal_but_differ_in_type_give_other_structures(
    one: object, other: object
) -> None:
    assert flatten([one], _is_leaf)[1] != flatten([other], _is_leaf)[1]


def test_lists_and_tuples_are_told_apart() -> None:
    assert flatten(["a"], _is_leaf)[1] != flatten(("a",), _is_leaf)[1]


def test_a_constant_is_kept_as_it_is() -> None:
    marker = object()
    leaves, structure = flatten(marker, _is_leaf)
    assert leaves == []
    assert structure == Constant(object, marker)
    assert regroup([], structure) is marker


nested = st.recursive(
    st.text(max_size=2) | st.none() | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
)


@given(nested)
def test_regroup_undoes_flatten(value: object) -> None:
    leaves, structure = flatten(value, _is_leaf)
    assert regroup(leaves, structure) == value
    assert isinstance(hash(structure), int)


def test_a_dict_keeps_its_keys_and_their_order() -> None:
    leaves, structure = flatten({"b": "x", "a": ["y", 3]}, _is_leaf)
    assert leaves == ["x", "y"]
    again = regroup([1, 2], structure)
    assert again == {"b": 1, "a": [2, 3]}
    assert list(again) == ["b", "a"]
    assert hash(structure) != hash(flatten({"a": "x", "b": ["y", 3]}, _is_leaf)[1])


def test_a_named_tuple_comes_back_as_one() -> None:
    leaves, structure = flatten(Pair("x", 3), _is_leaf)
    assert leaves == ["x"]
    assert regroup([1], structure) == Pair(1, 3)
    assert type(regroup([1], structure)) is Pair
