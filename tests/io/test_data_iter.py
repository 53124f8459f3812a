import copy
import pickle

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.io import DataBatch, DataDesc


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_keep_dtype_and_layout(copied: object) -> None:
    assert callable(copied)
    desc = copied(DataDesc("a", (2, 3), "int32", "TN"))
    assert repr(desc) == "DataDesc[a,(2, 3),int32,TN]"


def test_description_is_a_pair() -> None:
    name, shape = DataDesc("a", (2, 3), np.float16)
    assert (name, shape) == ("a", (2, 3))


def test_layout_must_be_text() -> None:
    with pytest.raises(ArgumentTypeError, match="get_batch_axis"):
        DataDesc.get_batch_axis(3)  # type: ignore[arg-type]  # the point


def test_name_without_dtype_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"none for \['b'\]"):
        DataDesc.get_list([("a", (1,)), ("b", (1,))], [("a", "int32")])


@pytest.mark.parametrize("name", ["data", "label"])
def test_single_array_is_no_batch(name: str) -> None:
    given = {"data": [], name: np.zeros(3)}
    with pytest.raises(ArgumentTypeError, match=f"{name} to be a list of arrays, got ndarray"):
        DataBatch(**given)
