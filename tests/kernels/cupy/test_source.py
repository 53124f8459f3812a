"""CUDA C++ of the package: NVRTC compiles it, and the double's 16-bit floats are the real ones."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.kernels.cupy import source
from gluonish.kernels.cupy.optimizer_source import OPTIONS, source_of
from gluonish.kernels.cupy.source import launch, source_text
from gluonish.kernels.optimizer_formulas import FORMULAS
from gluonish.ops.updates.rules import Rule
from tests.kernels.cupy import host_kernels
from tests.kernels.cupy.nvrtc import compile_source
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

FOLDER = Path(gluonish.__file__).parent / "kernels" / "cupy"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))
WINDOW = {"KERNEL": (1, 3, 2), "STRIDE": (1, 2, 1), "DILATE": (1, 1, 3), "PAD": (0, 1, 2)}
MACROS = tuple(
    (f"{name}{axis}", value) for name, along in WINDOW.items() for axis, value in enumerate(along)
)
# Of casts, parts and zeros.
TABLES = (
    *(("MOST", 140), ("TILE", 4096), ("NARROWS", 0), ("BACK", 0)),
    *(("BLOCK", 4096), ("CHUNK", 4096), ("CHANNELS", 3)),
    *(("DROPS", 1), ("TWO", 1), ("PLUS", 1)),
)
_COPIED = (("FROM", 0), ("TO", 0), ("FAR", 0), ("RANK", 2))
_LISTED = (("POSITION", 304), ("WRAP", 1))
# Of sources whose macros others define themselves.
OWN: dict[str, tuple[tuple[str, int], ...]] = {
    "copies": (*_COPIED, ("ADJACENT", 1), ("UNROLLED", 2), ("VECTOR", 2)),
    "transposes": (*_COPIED, ("IN_VECTOR", 4), ("OUT_VECTOR", 2), ("SIDE", 32)),
    "gather": (*_COPIED, *_LISTED, ("UNROLLED", 2), ("VECTOR", 2)),
    "scatter": (("VECTOR", 2), ("ROWS", 64)),
    "order": _LISTED,
    "points": (*_LISTED, ("AXES", 3)),
}


def _macros(name: str) -> tuple[tuple[str, int], ...]:
    return (*MACROS, *TABLES, *OWN.get(name, ()))


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_nvrtc_compiles_every_source(name: str, dtype: Any, architecture: str) -> None:
    for wide in (False, True):
        compile_source(source_text(name, np.dtype(dtype), wide, _macros(name)), architecture)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize("rule", FORMULAS, ids=lambda rule: rule.name)
def test_nvrtc_compiles_the_updates_of_every_optimizer(rule: Rule, architecture: str) -> None:
    for dtype, apart in ((FLOAT32, False), (FLOAT32, True), (BFLOAT16, False), (FLOAT16, False)):
        compile_source(source_of(rule, dtype, apart), architecture, *OPTIONS)


@COMPILED
@pytest.mark.parametrize("name", NAMES)
def test_sources_say_nothing_to_a_strict_compiler(name: str) -> None:
    for dtype in DTYPES:
        host_kernels._compiled(source_text(name, np.dtype(dtype), True, _macros(name)))


def _narrowed(device: OneDevice, values: Any, dtype: Any) -> Any:
    """Return float32 values that a kernel of the double rounded to 16 bits."""
    code = (
        source_text("windows", np.dtype(dtype), False, MACROS)
        + """
extern "C" __global__ void narrow(const float *x, Scalar *y, float *back, Index total) {
    Index i = thread_number();
    if (i >= total) return;
    y[i] = rounded(x[i]);
    back[i] = widen(y[i]);
}
"""
    )
    x, y = device.upload(values), device.upload(np.zeros(values.shape, dtype))
    back = device.upload(np.zeros_like(values))
    kernel = device.cupy.RawModule(code=code).get_function("narrow")
    kernel((-(-values.size // 256),), (256,), (x, y, back, np.uint32(values.size)))
    np.testing.assert_array_equal(back._raw, y._raw.astype(np.float32))
    return y._raw


@COMPILED
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_the_doubles_narrow_floats_are_rounded_as_numpy_rounds(
    device: OneDevice, dtype: Any
) -> None:
    random = np.random.default_rng(1)
    bits = random.integers(0, 2**32, 20000, dtype=np.uint32)
    with np.errstate(all="ignore"):
        every = np.arange(2**16, dtype=np.uint16).view(dtype).astype(np.float32)
        between = (every[1:].astype(np.float64) + every[:-1]) / 2
        values = np.concatenate([bits.view(np.float32), every, between.astype(np.float32)])
        values = values[~np.isnan(values)]
        expected = values.astype(dtype)
    np.testing.assert_array_equal(
        _narrowed(device, values, dtype).view(np.uint16), expected.view(np.uint16)
    )


@COMPILED
def test_a_module_is_made_once_for_each_source(device: OneDevice, compiled: list[str]) -> None:
    x, y = device.normal(4), device.normal(4)
    geometry: Any = tuple(np.int32([1, 1, 1, 1, 4, 1, 1, 4]))
    macros = tuple((name, int(not name.startswith("PAD"))) for name, _ in MACROS)
    for _ in range(2):
        launch(device.cupy, "windows", "gather", x.dtype, (x, y), 4, geometry, macros)
    assert len(compiled) == 1
    np.testing.assert_array_equal(y._raw, x._raw)


def test_threads_beyond_32_bits_are_numbered_in_64() -> None:
    text = source_text("windows", np.dtype(np.float32), True)
    assert "#define INDEX unsigned long long" in text
    assert source._LIMIT_32 == 2**32 // 2


BAD = [
    (np.float64(1), "was given float64"),
    (1.0, "was given float64"),
    (2, "was given int64"),
    (np.zeros(2), "unsupported type"),
]


@COMPILED
@pytest.mark.parametrize(("value", "message"), BAD, ids=lambda x: str(type(x).__name__))
def test_the_double_wants_arguments_of_the_very_type(
    device: OneDevice, value: Any, message: str
) -> None:
    code = 'extern "C" __global__ void fill(float *y, float value) { y[0] = value; }'
    kernel = device.cupy.RawModule(code=code).get_function("fill")
    with pytest.raises(AssertionError, match=message):
        kernel((1,), (1,), (device.normal(1), value))


@COMPILED
def test_the_double_refuses_arrays_with_gaps(device: OneDevice) -> None:
    code = 'extern "C" __global__ void fill(float *y) { y[0] = 1; }'
    kernel = device.cupy.RawModule(code=code).get_function("fill")
    with pytest.raises(AssertionError, match="gaps"):
        kernel((1,), (1,), (device.normal(4, 4)[:, 1],))


_MEETING = """
extern "C" __global__ void turn(const float *x, float *y, int rounds) {
    __shared__ float held[64];
    for (int i = 0; i < rounds; ++i) {
        held[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
        %s
        y[blockIdx.x * blockDim.x + threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
        __syncthreads();
    }
}
"""


def _turned(device: OneDevice, meeting: str, rounds: int = 1) -> tuple[Any, Any]:
    x, y = device.normal(3, 40), device.normal(3, 40)
    kernel = device.cupy.RawModule(code=_MEETING % meeting).get_function("turn")
    kernel((3,), (40,), (x, y, np.int32(rounds)))
    return x._raw[:, ::-1], y._raw


@COMPILED
def test_threads_of_the_double_share_memory_and_meet_at_barriers(device: OneDevice) -> None:
    wanted, found = _turned(device, "__syncthreads();")
    np.testing.assert_array_equal(found, wanted)


@COMPILED
def test_the_double_shows_that_a_barrier_lacks(device: OneDevice) -> None:
    wanted, found = _turned(device, "")
    assert (found != wanted).any()


@COMPILED
def test_the_double_refuses_a_barrier_that_some_threads_miss(device: OneDevice) -> None:
    meeting = "if (rounds == 1 || threadIdx.x) __syncthreads(); else return;"
    with pytest.raises(AssertionError, match="never came to a barrier"):
        _turned(device, meeting, rounds=2)
    wanted, found = _turned(device, meeting)  # what waited there is forgotten
    np.testing.assert_array_equal(found, wanted)


_SHUFFLED = """
extern "C" __global__ void shuffle(const float *x, float *y, int last) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= last) return;
    float sum = x[at];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    const float next = __shfl_down_sync(0xffffffff, x[at], 1);
    y[at] = sum + 1000 * __shfl_sync(0xffffffff, next, 5);
}
"""


@COMPILED
def test_lanes_of_a_warp_of_the_double_exchange_values(device: OneDevice) -> None:
    x = device.upload(np.arange(128, dtype=np.float32))
    y = device.upload(np.zeros(128, np.float32))
    kernel = device.cupy.RawModule(code=_SHUFFLED).get_function("shuffle")
    kernel((2,), (64,), (x, y, np.int32(96)))
    sums = np.arange(96).reshape(3, 32).sum(1) + 1000 * (32 * np.arange(3) + 6)
    np.testing.assert_array_equal(y._raw, np.append(np.repeat(sums, 32), np.zeros(32)))


@COMPILED
def test_the_double_refuses_a_shuffle_that_some_lanes_miss(device: OneDevice) -> None:
    kernel = device.cupy.RawModule(code=_SHUFFLED).get_function("shuffle")
    with pytest.raises(AssertionError, match="never came to a barrier"):
        kernel((2,), (64,), (device.normal(128), device.normal(128), np.int32(100)))


_VECTORS = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
%s
extern "C" __global__ void move(const %s *x, %s *y) {
    %s values[%d];
    load_vector<%d>(x + %d * threadIdx.x, values);
    store_vector<%d>(y + %d * threadIdx.x, values);
}
"""
# The type of elements, of values, and the dtype.
_ELEMENTS = [
    ("__half", "float", np.float16),
    ("__nv_bfloat16", "float", ml_dtypes.bfloat16),
    ("float", "float", np.float32),
    ("double", "double", np.float64),
    ("signed char", "long long", np.int8),
    ("unsigned char", "long long", np.uint8),
    ("int", "long long", np.int32),
    ("long long", "long long", np.int64),
]


def _moving(element: str, value: str, count: int) -> str:
    counts = (count,) * 5
    return _VECTORS % (source.text_of("vectors.cuh"), element, element, value, *counts)


@COMPILED
@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(("element", "value", "dtype"), _ELEMENTS)
def test_vectors_load_and_store_each_element(
    device: OneDevice, element: str, value: str, dtype: Any, count: int
) -> None:
    x = np.random.default_rng(1).integers(0, 100, 64 * count).astype(dtype)
    y = device.upload(np.zeros_like(x))
    kernel = device.cupy.RawModule(code=_moving(element, value, count)).get_function("move")
    kernel((1,), (64,), (device.upload(x), y))
    np.testing.assert_array_equal(y._raw, x)


@COMPILED
def test_the_double_refuses_a_vector_at_an_odd_address(device: OneDevice) -> None:
    kernel = device.cupy.RawModule(code=_moving("float", "float", 4)).get_function("move")
    x, y = device.normal(300), device.normal(300)
    with pytest.raises(AssertionError, match="not aligned"):
        kernel((1,), (64,), (x[1:257], y[:256]))
    kernel((1,), (64,), (x[4:260], y[:256]))
    np.testing.assert_array_equal(y._raw[:256], x._raw[4:260])


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize(("element", "value"), [kinds[:2] for kinds in _ELEMENTS])
def test_nvrtc_compiles_vectors(element: str, value: str, architecture: str) -> None:
    for count in (1, 2, 4, 8, 16):
        compile_source(_moving(element, value, count), architecture)


PAIR = np.dtype([("x", np.float32), ("y", np.float32)])


@COMPILED
def test_the_double_passes_one_structure_by_value(device: OneDevice) -> None:
    code = """
struct Pair { float x, y; };
extern "C" __global__ void fill(const __grid_constant__ Pair pair, float *y) {
    y[0] = pair.x - pair.y;
}
"""
    kernel = device.cupy.RawModule(code=code).get_function("fill")
    pair, y = np.array([(5, 3)], PAIR), device.normal(1)
    kernel((1,), (1,), (pair, y))
    assert y._raw[0] == 2
    wrong = [(np.zeros(2, PAIR), r"expected one .*Pair pair, got \(2,\)")]
    wrong += [(np.zeros(1, [("x", np.float64), ("y", np.float64)]), "was given")]
    for value, message in wrong:
        with pytest.raises(AssertionError, match=message):
            kernel((1,), (1,), (value, y))
