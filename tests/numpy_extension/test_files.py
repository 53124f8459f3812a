from pathlib import Path

import pytest

from gluonish import ndarray as nd
from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.core.errors import ArgumentTypeError


def test_arrays_come_back_with_names(tmp_path: Path) -> None:
    npx.save(tmp_path / "a.params", {"a": np.array([[1, 2]]), "scalar": np.array(2.5)})
    loaded = npx.load(tmp_path / "a.params")
    assert isinstance(loaded, dict)
    assert {type(x) for x in loaded.values()} == {np.ndarray}
    assert loaded["a"].tolist() == [[1, 2]]
    assert (loaded["scalar"].shape, loaded["scalar"].item()) == ((), 2.5)


def test_single_array_comes_back_in_a_list(tmp_path: Path) -> None:
    npx.save(tmp_path / "a.params", np.zeros((0, 3)))
    listed = npx.load(tmp_path / "a.params")
    assert isinstance(listed, list)
    (loaded,) = listed
    assert loaded.shape == (0, 3)


def test_classic_load_gives_classic_arrays(tmp_path: Path) -> None:
    npx.save(tmp_path / "a.params", [np.ones((2,))])
    (loaded,) = nd.load(tmp_path / "a.params")
    assert type(loaded) is nd.NDArray


def test_what_is_no_array_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="save: expected NDArrays, got int"):
        npx.save(tmp_path / "a.params", 3)
