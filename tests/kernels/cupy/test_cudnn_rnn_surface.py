"""Prototypes, constants and the double of cuDNN's recurrent layers are those of the library."""

import ctypes
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from gluonish.kernels.cupy import cudnn_rnn_api as api
from gluonish.kernels.cupy.cudnn_rnn_network import KINDS, Problem, _weight_offsets
from gluonish.ops.recurrent.layout import Dims
from tests.kernels.cupy import cudnn_rnn_double as double
from tests.kernels.cupy import cudnn_rnn_sums as sums
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.make_cudnn_rnn_surface import CASES, REFUSED, USUAL

SURFACE: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent / "cudnn_rnn_surface.json").read_text(encoding="utf-8")
)
_CELLS = {number: name for name, number in api.CELL_MODES.items()}
_DTYPES = {number: dtype for dtype, number in KINDS.items()}


def _ctype(text: str) -> Any:
    """Return the type of a parameter of C for ctypes."""
    if text in ("void*", "int32_t*") or text.endswith("Descriptor_t") or text == "cudnnHandle_t":
        return ctypes.c_void_p  # int32_t*: lengths on the device
    plain = {
        "int": ctypes.c_int,
        "int32_t": ctypes.c_int32,
        "uint32_t": ctypes.c_uint32,
        "size_t": ctypes.c_size_t,
        "int*": ctypes.POINTER(ctypes.c_int),
        "size_t*": ctypes.POINTER(ctypes.c_size_t),
        "void**": ctypes.POINTER(ctypes.c_void_p),
    }
    if text.endswith("Descriptor_t*"):
        return ctypes.POINTER(ctypes.c_void_p)
    return plain.get(text, ctypes.c_int)  # else an enum


@pytest.mark.parametrize("name", api.PROTOTYPES)
def test_prototypes_are_those_of_the_header(name: str) -> None:
    assert api.PROTOTYPES[name] == tuple(map(_ctype, SURFACE["functions"][name]))


def test_constants_are_those_of_the_header() -> None:
    found = SURFACE["constants"]
    wanted = {
        "CUDNN_RNN_ALGO_STANDARD": api.ALGO_STANDARD,
        "CUDNN_RNN_DOUBLE_BIAS": api.DOUBLE_BIAS,
        "CUDNN_LINEAR_INPUT": api.LINEAR_INPUT,
        "CUDNN_RNN_PADDED_IO_ENABLED": api.PADDED_IO_ENABLED,
        "CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED": api.SEQ_MAJOR_UNPACKED,
        "CUDNN_FWD_MODE_INFERENCE": api.INFERENCE,
        "CUDNN_FWD_MODE_TRAINING": api.TRAINING,
        "CUDNN_WGRAD_MODE_ADD": api.WGRAD_ADD,
        "CUDNN_DEFAULT_MATH": api.DEFAULT_MATH,
        "CUDNN_TENSOR_OP_MATH": api.TENSOR_OP_MATH,
        "CUDNN_FMA_MATH": api.FMA_MATH,
        "CUDNN_UNIDIRECTIONAL": 0,
        "CUDNN_BIDIRECTIONAL": 1,
        "CUDNN_RNN_RELU": api.CELL_MODES["rnn_relu"],
        "CUDNN_RNN_TANH": api.CELL_MODES["rnn_tanh"],
        "CUDNN_LSTM": api.CELL_MODES["lstm"],
        "CUDNN_GRU": api.CELL_MODES["gru"],
        "CUDNN_DATA_FLOAT": KINDS[FLOAT32],
        "CUDNN_DATA_DOUBLE": KINDS[FLOAT64],
        "CUDNN_DATA_HALF": KINDS[FLOAT16],
        "CUDNN_DATA_BFLOAT16": KINDS[BFLOAT16],
        "CUDNN_STATUS_NOT_SUPPORTED": api._NOT_SUPPORTED.start,
    }
    assert {name: found[name] for name in wanted} == wanted
    refusals = {v for k, v in found.items() if k.startswith("CUDNN_STATUS_NOT_SUPPORTED")}
    assert all(status in api._NOT_SUPPORTED for status in refusals)
    assert {found[name] for name in double.NAMES.values()} == set(double.NAMES)


def _given(case: dict[str, int]) -> dict[str, int]:
    return {**USUAL, **case}


@pytest.mark.parametrize("name", CASES)
def test_weights_lie_as_in_the_vector_of_parameters(name: str) -> None:
    """As cuDNN told: size, matrices and biases."""
    given, answer = _given(CASES[name]), SURFACE["weights"][name]
    projected = given["projected"] != given["hidden"]
    dims = Dims(
        *(_CELLS[given["mode"]], given["layers"], given["directions"] + 1, 3, 2),
        *(given["features"], given["hidden"], given["projected"], projected, 0.0, False, None),
    )
    problem = Problem(dims, _DTYPES[given["kind"]], given["math"])
    assert problem.weight_nbytes == answer["nbytes"]
    assert [list(place) for place in _weight_offsets(problem)] == answer["places"]


@pytest.mark.parametrize("name", CASES)
def test_weights_of_the_double_lie_as_those_of_the_library(name: str) -> None:
    given, answer = _given(CASES[name]), SURFACE["weights"][name]
    shape = sums.Shape(
        *(given["mode"], given["layers"], given["directions"] + 1, given["features"]),
        *(given["hidden"], given["projected"], (1,), 1),
    )
    item = _DTYPES[given["kind"]].itemsize
    found, size = sums.places(shape)
    assert size * item == answer["nbytes"]
    places = []
    for weights in found:
        pairs = zip(weights.matrices, weights.biases, strict=True)
        places += [[matrix[0] * item, bias[0] * item] for matrix, bias in pairs]
        if weights.projection is not None:
            places.append([weights.projection[0] * item, None])
    assert places == answer["places"]


@pytest.mark.parametrize("name", [*CASES, *REFUSED])
def test_double_refuses_layers_as_the_library_does(name: str) -> None:
    machine = Machine()
    make_cupy(machine)
    library: Any = machine.cudnn_rnn  # type: ignore[attr-defined]
    given = _given({**CASES, **REFUSED}[name])
    made = ctypes.c_void_p()
    assert library.cudnnCreateRNNDescriptor(ctypes.byref(made)) == 0
    status = library.cudnnSetRNNDescriptor_v8(
        *(made, 0, given["mode"], 2, given["directions"], 0, given["kind"], given["precision"]),
        *(given["math"], given["features"], given["hidden"], given["projected"]),
        *(given["layers"], None, given["flags"]),
    )
    assert status == SURFACE["refused"].get(name, 0)


def test_dtypes_of_the_double_are_cudnns() -> None:
    assert {kind: np.dtype(dtype) for dtype, kind in KINDS.items()} == double._DTYPES
