import ctypes
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import GluonishError
from gluonish.kernels.onednn import Backend, OneDNNError, RefusedError
from gluonish.kernels.onednn.api import AlgorithmKind, Api, DataType, PropagationKind
from gluonish.kernels.onednn.primitive import Attributes, Eltwise, PostOps
from tests.engine.places import interrupted_at
from tests.kernels.onednn.products import convolution

FILES = ("gluonish/kernels/onednn/", "gluonish/core/finalizer")


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
    with pytest.raises(RefusedError, match=r"dnnl_engine_create.*'invalid_arguments'"):
        backend.engine.api.call("dnnl_engine_create", ctypes.byref(ctypes.c_void_p()), 1, 99)


@pytest.mark.parametrize(
    ("status", "name", "refused"),
    [(1, "out_of_memory", False), (2, "invalid_arguments", True), (3, "unimplemented", True)],
)
def test_what_the_library_lacks_is_told_from_what_fails(
    backend: Backend, status: int, name: str, refused: bool
) -> None:
    with pytest.raises(RefusedError if refused else OneDNNError, match=name) as caught:
        backend.engine.api.check(status, "the call")
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


class _Count:
    """Which handles an API made, and which it was told to free."""

    def __init__(self, api: Api) -> None:
        self.made: list[int] = []
        self._released: list[Any] = []
        for name, function in api._functions.items():
            if name.endswith("_destroy"):
                api._functions[name] = self._released.append  # C code, as the library's is
            elif "_create" in name or name.endswith("_clone"):
                api._functions[name] = self._counted(function)

    def _counted(self, function: Any) -> Any:
        def create(place: Any, *arguments: Any) -> int:
            status: int = function(place, *arguments)
            if place._obj.value:
                self.made.append(place._obj.value)
            return status

        return create

    def freed(self) -> list[int]:
        """Return the handles that were to be freed, in order; null needs no freeing."""
        handles = [release._as_parameter_.value for release in self._released]
        return [handle for handle in handles if handle]


def _make_and_drop(backend: Backend) -> None:
    """Make plans of several primitives, with attributes and a call's memory; drop them."""
    data = np.ones((2, 4, 5, 5), np.float32)
    weight = np.ones((4, 4, 3, 3), np.float32)
    out = np.empty((2, 4, 3, 3), np.float32)
    convolution(out, data, weight, kernel=(3, 3))
    Attributes(backend.engine.api, PostOps("in_place", (Eltwise(AlgorithmKind.ELTWISE_RELU),)))
    backend.plans.clear()


def test_interrupt_at_any_place_leaves_no_handle_behind(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    _make_and_drop(backend)  # what is made once for the thread is there
    count = _Count(backend.engine.api)
    place, most = 0, 5000
    for place in range(most):
        reached = interrupted_at(place, lambda: _make_and_drop(backend), FILES)
        backend.plans.clear()
        assert sorted(count.made) == sorted(count.freed())
        if not reached:
            break
    assert 100 < place < most - 1
    assert len(count.made) > 1000
    assert not ignored
