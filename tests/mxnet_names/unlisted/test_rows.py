import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.mxnet_names.unlisted.rows import has_instance, init_data, rows_of_numbers


def test_arrays_get_names() -> None:
    assert [name for name, _ in init_data([np.ones(2), np.zeros(2)], False, "d")] == [
        "_0_d",
        "_1_d",
    ]
    assert [name for name, _ in init_data({"b": np.ones(2), "a": np.ones(2)}, False, "d")] == [
        "a",
        "b",
    ]
    assert init_data(None, True, "d") == []
    with pytest.raises(ArgumentError, match="at least one array"):
        init_data([], False, "d")
    with pytest.raises(ArgumentTypeError, match="got int"):
        init_data(3, False, "d")


def test_rows_are_taken_by_number() -> None:
    pairs = [("a", nd.arange(4))]
    assert has_instance(pairs, nd.NDArray)
    assert not has_instance(pairs, np.ndarray)
    ((name, rows),) = rows_of_numbers(pairs, np.array([2, 0]))
    assert (name, rows.asnumpy().tolist()) == ("a", [2, 0])
