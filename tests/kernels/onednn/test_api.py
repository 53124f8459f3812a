from enum import IntEnum
from pathlib import Path

import ml_dtypes
import pytest

from gluonish.core.errors import GluonishError
from gluonish.kernels.onednn import Backend, OneDNNError, RefusedError
from gluonish.kernels.onednn.api import AlgorithmKind, Api, DataType, PropagationKind


@pytest.mark.parametrize(
    ("function", "enumeration"),
    [
        ("dnnl_dt2str", DataType),
        ("dnnl_prop_kind2str", PropagationKind),
        ("dnnl_alg_kind2str", AlgorithmKind),
    ],
)
def test_values_have_the_names_that_the_library_prints(
    backend: Backend, function: str, enumeration: type[IntEnum]
) -> None:
    printed = {member.name: backend.engine.api.name_of(function, member) for member in enumeration}
    assert printed == {name: name.lower() for name in printed}


def test_version_is_3(backend: Backend) -> None:
    assert backend.engine.api.version[0] == 3


def test_a_failing_call_names_the_function_and_the_status(backend: Backend) -> None:
    with pytest.raises(OneDNNError, match=r"dnnl_engine_create.*'invalid_arguments'"):
        backend.engine.api.create("dnnl_engine_create", 1, 99)


@pytest.mark.parametrize(
    ("status", "name", "refused"),
    [(1, "out_of_memory", False), (2, "invalid_arguments", True), (3, "unimplemented", True)],
)
def test_what_the_library_lacks_is_told_from_what_fails(
    backend: Backend, status: int, name: str, refused: bool
) -> None:
    with pytest.raises(OneDNNError, match=name) as caught:
        backend.engine.api.check(status, "the call")
    assert isinstance(caught.value, RefusedError) is refused
    assert ("MXNET_MKLDNN_ENABLED=0" in str(caught.value)) is not refused


def test_the_error_is_one_of_ours_and_a_runtime_error() -> None:
    assert issubclass(OneDNNError, GluonishError)
    assert issubclass(OneDNNError, RuntimeError)


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "libdnnl.so.3"
    file.write_text("no ELF header here")
    with pytest.raises(OneDNNError, match="expected a oneDNN 3 library"):
        Api(str(file))


def test_another_library_is_refused() -> None:
    with pytest.raises(OneDNNError, match="dnnl_version"):
        Api(ml_dtypes._ml_dtypes_ext.__file__)


def test_the_thread_limit_holds_for_the_calling_thread(backend: Backend) -> None:
    api = backend.engine.api
    before = api.max_threads()
    api.limit_threads(before + 1)
    try:
        assert api.max_threads() == before + 1
    finally:
        api.limit_threads(before)
    assert api.max_threads() == before
