import pytest

from gluonish.core.errors import ArgumentError
from gluonish.module.device_arrays import split_by_load


def test_parts_are_in_proportion_to_loads() -> None:
    assert split_by_load(8, [3, 1]) == [slice(0, 6), slice(6, 8)]


def test_the_last_device_has_what_is_left() -> None:
    assert split_by_load(10, [1, 1, 1]) == [slice(0, 3), slice(3, 6), slice(6, 10)]


@pytest.mark.parametrize(
    ("extent", "loads"), [(2, [1, 1, 1]), (1, [1, 1]), (4, [100, 1]), (0, [1])]
)
def test_a_device_without_an_example_is_refused(extent: int, loads: list[float]) -> None:
    with pytest.raises(ArgumentError, match=f"expected a batch with .* got {extent} examples"):
        split_by_load(extent, loads)


@pytest.mark.parametrize("loads", [[], [1, 0], [-1, 2]])
def test_loads_are_positive(loads: list[float]) -> None:
    with pytest.raises(ArgumentError, match="expected a positive load"):
        split_by_load(4, loads)
