from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gluonish.core import registry
from gluonish.core.errors import ArgumentError, ArgumentTypeError


class Shape:
    def __init__(self, size: int = 1, *, color: str = "red") -> None:
        self.size = size
        self.color = color


@pytest.fixture(autouse=True)
def _empty_table() -> Iterator[None]:
    yield
    registry._tables.pop(Shape, None)


@pytest.fixture
def create() -> Callable[..., Any]:
    register = registry.get_register_func(Shape, "shape")

    @register
    @registry.get_alias_func(Shape, "shape")("box", "Quad")
    class Square(Shape):
        pass

    return registry.get_create_func(Shape, "shape")


@pytest.mark.parametrize("name", ["square", "SQUARE", "box", "quad"])
def test_names_and_aliases_make_the_class(create: Callable[..., Any], name: str) -> None:
    made = create(name, 3, color="blue")
    assert type(made).__name__ == "Square"
    assert (made.size, made.color) == (3, "blue")


@pytest.mark.parametrize(
    "named",
    [
        '["square", {"size": 4}]',
        '{"shape": "square", "size": 4}',
        {"shape": "square", "size": 4},
    ],
)
def test_configurations_make_the_class(create: Callable[..., Any], named: object) -> None:
    assert create(named).size == 4


def test_name_may_be_a_keyword(create: Callable[..., Any]) -> None:
    assert create(shape="square", size=5).size == 5


def test_instance_is_returned_as_it_is(create: Callable[..., Any]) -> None:
    shape = Shape()
    assert create(shape) is shape
    with pytest.raises(ArgumentError, match="no arguments besides an instance"):
        create(shape, 2)


def test_unknown_name_lists_the_known(create: Callable[..., Any]) -> None:
    with pytest.raises(ArgumentError, match="box, quad, square, got 'circle'"):
        create("circle")


@pytest.mark.parametrize("named", [3, None, Shape])
def test_other_types_are_refused(create: Callable[..., Any], named: object) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a name"):
        create(named)


@pytest.mark.parametrize("text", ['["square"', '["square"]', "[1, {}]", "{}", '["[1]", {}]'])
def test_malformed_json_is_refused(create: Callable[..., Any], text: str) -> None:
    with pytest.raises(ArgumentError, match="expected JSON of a name"):
        create(text)


def test_arguments_beside_json_are_refused(create: Callable[..., Any]) -> None:
    with pytest.raises(ArgumentError, match="no arguments besides a JSON text"):
        create('["square", {}]', size=4)


def test_nothing_named_is_refused(create: Callable[..., Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="got none"):
        create(size=2)


def test_stranger_is_not_registered() -> None:
    with pytest.raises(ArgumentTypeError, match="subclass of Shape"):
        registry.get_register_func(Shape, "shape")(int)


def test_taking_a_name_from_another_class_warns(create: Callable[..., Any]) -> None:
    with pytest.warns(UserWarning, match="'square' now means"):
        registry.get_register_func(Shape, "shape")(type("Square", (Shape,), {}))


def test_registry_is_a_copy(create: Callable[..., Any]) -> None:
    registry.get_registry(Shape).clear()
    assert set(registry.get_registry(Shape)) == {"square", "box", "quad"}
    assert registry.get_registry(int) == {}
