import numpy
import pytest

from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.core.errors import ArgumentError


def test_from_numpy_shares_memory_and_locks_the_source() -> None:
    source = numpy.arange(6, dtype="float32").reshape(2, 3)
    array = npx.from_numpy(source)
    assert type(array) is np.ndarray
    array[0, 0] = 7
    array.wait_to_read()
    assert source[0, 0] == 7
    assert not source.flags.writeable


def test_from_numpy_copies_if_asked() -> None:
    source = numpy.ones(3, "float64")
    array = npx.from_numpy(source, zero_copy=False)
    array[:] = 5
    assert source.tolist() == [1, 1, 1]
    assert array.dtype == "float64"


def test_from_numpy_refuses_a_transposed_array() -> None:
    with pytest.raises(ArgumentError, match=r"^from_numpy: expected a C-contiguous array"):
        npx.from_numpy(numpy.ones((2, 3)).T)


@pytest.mark.parametrize("export", [npx.to_dlpack_for_read, npx.to_dlpack_for_write])
def test_dlpack_shares_memory(export) -> None:  # type: ignore[no-untyped-def]  # either function
    array = np.zeros((2, 2))
    shared = npx.from_dlpack(export(array))
    assert type(shared) is np.ndarray
    shared[1, 1] = 3
    shared.wait_to_read()
    assert array.tolist() == [[0, 0], [0, 3]]


def test_savez_names_positional_arrays(tmp_path) -> None:  # type: ignore[no-untyped-def]  # pytest's
    path = str(tmp_path / "arrays")
    npx.savez(path, np.ones(2), weight=np.zeros((), dtype="int32"))
    with numpy.load(path) as file:
        assert sorted(file.files) == ["arr_0", "weight"]
    loaded = npx.load(path)
    assert loaded["arr_0"].tolist() == [1, 1]  # type: ignore[call-overload]  # a dict
    with pytest.raises(ArgumentError, match=r"^savez: expected another name than 'arr_0'"):
        npx.savez(path, np.ones(2), arr_0=np.ones(1))


def test_a_file_of_numpy_s_is_one_array(tmp_path) -> None:  # type: ignore[no-untyped-def]  # pytest's
    path = str(tmp_path / "x.npy")
    numpy.save(path, numpy.arange(3, dtype="float32"))
    found = npx.load(path)
    assert type(found) is np.ndarray
    assert found.tolist() == [0, 1, 2]
