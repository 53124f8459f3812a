"""Products with epilogues: the binding against cublasLt.h, and descriptors, algorithms, streams."""

import ctypes
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy import cublaslt
from gluonish.kernels.cupy.cublas import current_handle
from gluonish.kernels.cupy.cublaslt import PROTOTYPES, Algorithm, Choice, Epilogue, Problem
from tests.kernels.cupy.cublaslt_double import SURFACE
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import OneDevice

SIZES = {
    "int": 4,
    "int8_t": 1,
    "int32_t": 4,
    "uint64_t": 8,
    "int64_t": 8,
    "size_t": 8,
    "float": 4,
    "cublasComputeType_t": 4,
    "cudaDataType": 4,
    "cudaDataType_t": 4,
    "cublasStatus_t": 4,
}
PROBLEM = Problem((3, 2, 4), (1, 0), (4, 4, 3), 0, 0, 68, False, Epilogue.BIAS, 16)
# The binding's names for attributes.
ATTRIBUTES = {
    "cublasLtMatmulDescAttributes_t": {
        "TRANSA": cublaslt._TRANSPOSE_A,
        "TRANSB": cublaslt._TRANSPOSE_B,
        "EPILOGUE": cublaslt._EPILOGUE,
        "BIAS_POINTER": cublaslt._VECTOR,
        "BIAS_DATA_TYPE": cublaslt._VECTOR_KIND,
    },
    "cublasLtMatmulPreferenceAttributes_t": {
        "MAX_WORKSPACE_BYTES": cublaslt._MAX_WORKSPACE,
        "REDUCTION_SCHEME_MASK": cublaslt._SCHEMES,
        "MIN_ALIGNMENT_A_BYTES": cublaslt._ALIGNMENTS[0],
        "MIN_ALIGNMENT_B_BYTES": cublaslt._ALIGNMENTS[1],
        "MIN_ALIGNMENT_C_BYTES": cublaslt._ALIGNMENTS[2],
        "MIN_ALIGNMENT_D_BYTES": cublaslt._ALIGNMENTS[3],
    },
    "cublasLtEpilogue_t": {epilogue.name: epilogue.value for epilogue in Epilogue},
    "cublasLtReductionScheme_t": {"COMPUTE_TYPE": cublaslt._SCHEME},
}


def _size(kind: str) -> int:
    """Return the size of a C type: all but numbers and enumerations are pointers."""
    if kind.endswith(("*", "Handle_t", "Desc_t", "Layout_t", "Preference_t", "Stream_t")):
        return 8
    return SIZES.get(kind, 4)  # an enumeration


@pytest.mark.parametrize("name", PROTOTYPES)
def test_functions_have_the_parameters_of_the_header(name: str) -> None:
    sizes = [ctypes.sizeof(kind) for kind in PROTOTYPES[name]]
    assert sizes == [_size(kind) for kind in SURFACE["functions"][name]]


@pytest.mark.parametrize("enum", ATTRIBUTES)
def test_enumerators_are_those_of_the_header(enum: str) -> None:
    assert ATTRIBUTES[enum].items() <= SURFACE["enums"][enum].items()


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Algorithm, "cublasLtMatmulAlgo_t"), (Choice, "cublasLtMatmulHeuristicResult_t")],
)
def test_structures_are_those_of_the_header(kind: Any, name: str) -> None:
    sizes = {**SIZES, "cublasLtMatmulAlgo_t": 64}
    fields = [re.match(r"(\w+) \w+(?:\[(\d+)\])?$", x) for x in SURFACE["structures"][name]]
    wanted = [sizes[x[1]] * int(x[2] or 1) for x in fields if x]
    assert [getattr(kind, field).size for field, _ in kind._fields_] == wanted
    offsets = np.cumsum([0, *wanted[:-1]]).tolist()
    assert [getattr(kind, field).offset for field, _ in kind._fields_] == offsets


def _run(device: OneDevice, problem: Problem = PROBLEM, shift: int = 0) -> np.ndarray:
    """Return the product of a problem, with arrays that lie ``shift`` bytes off alignment."""
    columns, rows, inner = problem.size
    found = cublaslt.bind(device.cupy, current_handle(device.cupy), problem)
    assert found is not None
    a, b = device.normal(columns, inner), device.normal(rows, inner)
    out, vector = device.normal(rows, columns), device.normal(columns + 4)
    place = vector.data.ptr + shift
    assert found.run(a.data.ptr, b.data.ptr, out.data.ptr, place)
    added = vector._raw[shift // 4 :][:columns]
    np.testing.assert_allclose(out._raw, b._raw @ a._raw.T + added, rtol=1e-5, atol=1e-6)
    return np.array(out._raw)


def test_a_problem_is_described_once_for_a_stream_and_chosen_once_for_a_device(
    device: OneDevice,
) -> None:
    library: Any = device.machine.cublaslt  # type: ignore[attr-defined]
    found = cublaslt.bind(device.cupy, current_handle(device.cupy), PROBLEM)
    assert found is not None
    x = device.normal(64)
    for _ in range(3):
        found.run(x.data.ptr, x.data.ptr, x.data.ptr + 128, x.data.ptr)
    counts = [library.calls.count(f"cublasLt{name}") for name in ("Create", "Matmul")]
    assert counts == [1, 3]
    made = library.calls.count("cublasLtMatmulDescCreate")
    with device.machine.new_stream(non_blocking=True):
        assert cublaslt.bind(device.cupy, current_handle(device.cupy), PROBLEM) is not None
    assert library.calls.count("cublasLtMatmulDescCreate") == made, "made by the first call"
    assert library.calls.count("cublasLtMatmulAlgoGetHeuristic") == 1
    assert library.calls.count("cublasLtCreate") == 1


def test_descriptors_are_destroyed_with_what_they_describe(device: OneDevice) -> None:
    library: Any = device.machine.cublaslt  # type: ignore[attr-defined]
    _run(device)
    assert library.living == 0


def test_concurrent_calls_have_descriptors_of_their_own(device: OneDevice) -> None:
    """A call that another one interrupts goes on with the vector that it was given."""
    found = cublaslt.bind(device.cupy, current_handle(device.cupy), PROBLEM)
    assert found is not None
    a, b = device.normal(3, 4), device.normal(2, 4)
    first, second = device.normal(2, 3), device.normal(2, 3)
    vectors = device.normal(3), device.normal(3)
    matmul = found._library.functions["cublasLtMatmul"]

    def interrupted(*args: Any) -> int:
        found._library.functions["cublasLtMatmul"] = matmul
        found.run(a.data.ptr, b.data.ptr, second.data.ptr, vectors[1].data.ptr)
        status: int = matmul(*args)
        return status

    found._library.functions["cublasLtMatmul"] = interrupted
    found.run(a.data.ptr, b.data.ptr, first.data.ptr, vectors[0].data.ptr)
    for out, vector in zip((first, second), vectors, strict=True):
        expected = b._raw @ a._raw.T + vector._raw
        np.testing.assert_allclose(out._raw, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("addresses", "wanted"), [((512, 256), 16), ((512, 24), 8), ((6, 4), 2)])
def test_alignment_is_what_all_addresses_have(addresses: Any, wanted: int) -> None:
    assert cublaslt.alignment_of(*addresses) == wanted


def test_a_vector_may_lie_anywhere(device: OneDevice) -> None:
    for shift in (4, 8, 12):
        _run(device, PROBLEM._replace(alignment=shift & -shift), shift)


def test_the_double_holds_algorithms_to_the_alignment_that_they_were_chosen_for(
    device: OneDevice,
) -> None:
    with pytest.raises(AssertionError, match="less aligned"):
        _run(device, PROBLEM, 4)


@pytest.mark.parametrize(
    "change",
    [
        {"compute": 70},
        {"kind": 2, "out_kind": 14},
        {"kind": 1, "out_kind": 1},
        {"leads": (3, 4, 3)},
        {"leads": (4, 4, 2)},
    ],
)
def test_a_problem_that_the_library_refuses_has_no_product(device: OneDevice, change: Any) -> None:
    problem = PROBLEM._replace(**change)
    assert cublaslt.bind(device.cupy, current_handle(device.cupy), problem) is None


def test_sizes_of_values_are_checked_by_the_double(device: OneDevice) -> None:
    library: Any = device.machine.cublaslt  # type: ignore[attr-defined]
    raw, value = ctypes.c_void_p(), ctypes.c_uint64(1)
    library.cublasLtMatmulDescCreate(ctypes.byref(raw), 68, 0)
    set_attribute = library.cublasLtMatmulDescSetAttribute
    assert set_attribute(raw, 8, ctypes.byref(value), 8) == 0
    assert set_attribute(raw, 8, ctypes.byref(value), 4) == 7
    assert set_attribute(raw, 9, ctypes.byref(value), 8) == 7, "no attribute has this number"


def test_a_failure_names_function_and_status(device: OneDevice) -> None:
    functions = {name: lambda *_: 13 for name in PROTOTYPES}
    cublaslt.adopt(device.cupy, SimpleNamespace(**functions))
    with pytest.raises(DeviceError, match="cublasLtCreate: expected CUBLAS_STATUS_SUCCESS, got"):
        cublaslt.bind(device.cupy, current_handle(device.cupy), PROBLEM)


@pytest.mark.parametrize("missing", [DeviceError("no file"), None])
def test_without_the_library_nothing_is_bound(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, device: OneDevice, missing: Any
) -> None:
    def load(name: str, cuda: int) -> Any:
        assert (name, cuda) == ("cublasLt", 13)
        if missing is None:
            return SimpleNamespace()  # an old library, without its functions
        raise missing

    monkeypatch.setattr(cublaslt, "load", load)
    monkeypatch.delitem(cublaslt._opened, device.cupy)
    assert cublaslt.bind(device.cupy, current_handle(device.cupy), PROBLEM) is None
    assert cublaslt._opened[device.cupy] is None
