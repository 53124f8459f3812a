"""Checks of the variables that select kernels and libraries."""

import contextlib
import functools
import io
import itertools
import logging
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.config import (
    GLUONISH_CUBLASLT,
    GLUONISH_CUDA_COPIES,
    GLUONISH_CUDA_SCATTER,
    GLUONISH_CUDA_VECTORS,
    GLUONISH_CUDNN_CACHE,
    GLUONISH_CUDNN_RNN,
    GLUONISH_PAD_CHANNELS,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_LIB_CHECKING,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_AUTOTUNE_DEFAULT,
    MXNET_CUDNN_ENABLED,
    MXNET_ENFORCE_DETERMINISM,
    MXNET_FUSION_VERBOSE,
    MXNET_HOME,
    MXNET_LIBRARY_PATH,
    MXNET_MKLDNN_CACHE_NUM,
    MXNET_MKLDNN_ENABLED,
    MXNET_SAFE_ACCUMULATION,
    MXNET_STORAGE_FALLBACK_LOG_VERBOSE,
    MXNET_USE_FUSION,
    MXNET_USE_MKLDNN_RNN,
    MXNET_WINOGRAD_CONVOLUTION,
    Flag,
)
from gluonish.core.context import cpu, gpu
from gluonish.core.device import device_of, gpu_count
from gluonish.core.dtype import FLOAT32
from gluonish.core.operating_system import LINUX
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy import (
    CuPySupport,
    copies,
    cudnn_convolution,
    cudnn_files,
    dense,
    gather,
    pointwise,
)
from gluonish.kernels.cupy.channel_padding import padded_channels
from gluonish.kernels.cupy.cudnn import opened
from gluonish.kernels.cupy.cudnn_rnn import private_reserve
from gluonish.kernels.cupy.pointwise_vectors import VectorKernel
from gluonish.kernels.cupy.source import launch_blocks
from gluonish.kernels.generated import support as generated
from gluonish.kernels.generated.elementwise import LARGE, LargeProgram
from gluonish.kernels.onednn import register as onednn
from gluonish.kernels.onednn.api import locate
from gluonish.ndarray import NDArray
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.registry import find_operator
from gluonish.tools.env_checks.process import NotHereError, expect, observes, run_program


def _kernel(name: str, shapes: Sequence[Shape], **attrs: Any) -> str:
    """Return the name of the kernel selected for float32 arrays of some shapes."""
    op = find_operator(name)
    specs = [Spec(shape, FLOAT32) for shape in shapes]
    fast = op.select_fast("cpu", specs, op.schema.parse(name, attrs))
    return "the reference" if fast is None else fast.name


def _two(flag: Flag[bool], name: str, shapes: Sequence[Shape], prefix: str, **attrs: Any) -> str:
    """Check that the selected kernel's name has a prefix if, and only if, a switch is on."""
    if not (onednn.enabled() and generated.enabled()):
        raise NotHereError("needs oneDNN and llvmlite")
    found = []
    for switch in (True, False):
        with flag.override(switch):
            found.append(_kernel(name, shapes, **attrs))
    on, off = found
    expect(flag, on.startswith(prefix), f"a kernel {prefix} with it", on)
    expect(flag, not off.startswith(prefix), "another without it", off)
    return f"{name} used {on} with it, and {off} without"


@observes(MXNET_MKLDNN_ENABLED)
def _onednn() -> str:
    shapes = [(256, 512), (512, 512)]
    attrs = {"num_hidden": 512, "no_bias": True}
    return _two(MXNET_MKLDNN_ENABLED, "FullyConnected", shapes, "onednn", **attrs)


@observes(MXNET_WINOGRAD_CONVOLUTION)
def _winograd() -> str:
    shapes = [(8, 64, 56, 56), (64, 64, 3, 3)]
    attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 64, "no_bias": True}
    return _two(MXNET_WINOGRAD_CONVOLUTION, "Convolution", shapes, "generated.winograd", **attrs)


@observes(MXNET_USE_MKLDNN_RNN)
def _recurrent() -> str:
    units, batch, ticks = 64, 16, 20
    parameters = 2 * 4 * units * (units + 1)
    shapes = [(ticks, batch, units), (parameters,), (1, batch, units), (1, batch, units)]
    attrs = {"state_size": units, "num_layers": 1, "mode": "lstm"}
    return _two(MXNET_USE_MKLDNN_RNN, "RNN", shapes, "onednn.rnn", **attrs)


@observes(MXNET_STORAGE_FALLBACK_LOG_VERBOSE)
def _fallback() -> str:
    """Compute with a sparse array in a separate process, as the log reports it once only."""
    records = [
        run_program(_SPARSE, MXNET_STORAGE_FALLBACK_LOG_VERBOSE=text).count("made dense")
        for text in ("1", "0")
    ]
    expect(
        MXNET_STORAGE_FALLBACK_LOG_VERBOSE, records == [1, 0], "one record with it only", records
    )
    return "two calls on a sparse array made one log record with it, and none without"


_SPARSE = """
import logging, sys
logging.basicConfig(stream=sys.stdout)
import gluonish as mx
x = mx.nd.sparse.csr_matrix([[0, 1], [2, 0]])
for _ in range(2):
    mx.nd.softmax(x).wait_to_read()
"""

_LOADED = """
import gluonish as mx
from gluonish.kernels import onednn
for n in range(8):
    x, weight = mx.nd.ones((2, 8, 8 + n, 8)), mx.nd.ones((8, 8, 3, 3))
    mx.nd.Convolution(x, weight, kernel=(3, 3), num_filter=8, no_bias=True).wait_to_read()
with open("/proc/self/maps") as maps:
    paths = {line.split(None, 5)[5].strip() for line in maps if "libdnnl" in line}
print(len(onednn.current().plans), *paths, sep="\\n")
"""


@functools.cache
def _loaded(copied: bool) -> tuple[int, str, str]:
    """Run a program that uses oneDNN, if requested from a copy and with two cached primitives.

    Returns:
        The number of cached primitives, the path of the library, and the path of the copy.
    """
    source = locate().path
    if source is None or not LINUX or not onednn.enabled():
        raise NotHereError("needs oneDNN on Linux")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "libdnnl_copy.so.3")
        variables = {"MXNET_LIBRARY_PATH": "", "MXNET_MKLDNN_CACHE_NUM": ""}
        if copied:
            shutil.copy(source, copy)
            variables = {"MXNET_LIBRARY_PATH": str(copy), "MXNET_MKLDNN_CACHE_NUM": "2"}
        cached, *paths = run_program(_LOADED, **variables).splitlines()
        return int(cached), " ".join(paths), str(copy)


@observes(MXNET_MKLDNN_CACHE_NUM)
def _cached_primitives() -> str:
    bounded, unbounded = _loaded(True)[0], _loaded(False)[0]
    flag = MXNET_MKLDNN_CACHE_NUM
    expect(flag, bounded == 2, "2 cached primitives", bounded)
    expect(flag, unbounded == 8, "all 8 without it", unbounded)
    return "of the primitives of 8 shapes 2 were cached with 2, and all without it"


@observes(MXNET_LIBRARY_PATH)
def _library() -> str:
    _, used, copy = _loaded(True)
    _, default, _ = _loaded(False)
    expect(MXNET_LIBRARY_PATH, used == copy, f"the library {copy}", used)
    expect(MXNET_LIBRARY_PATH, default != copy and default != "", "another without it", default)
    return "a process loaded a copy of the library with it, and the wheel's without"


@observes(MXNET_SAFE_ACCUMULATION)
def _accumulation() -> str:
    """Sum 4096 times 1 in float16, where 2048 + 1 is 2048."""
    x = nd.zeros((1, 4096), dtype="float16")
    found = []
    for switch in (True, False):
        with MXNET_SAFE_ACCUMULATION.override(switch):
            found.append(float(nd.log_softmax(x).max().asscalar()))
    logarithms = [round(-value / float(np.log(2)), 1) for value in found]
    expect(MXNET_SAFE_ACCUMULATION, logarithms == [12, 11], "logarithms 12 and 11", logarithms)
    return "log_softmax summed 4096 float16 ones to 4096 with it, and to 2048 without"


@observes(MXNET_ENFORCE_DETERMINISM)
def _determinism() -> str:
    """Call an uncompiled kernel: it is compiled at once only if timing does not decide."""
    with MXNET_USE_FUSION.override(True):
        if not generated.enabled():
            raise NotHereError("needs llvmlite")
    compiled = []
    x = np.ones(LARGE, np.float32)
    for switch in (True, False):
        kernel, written = LargeProgram(_new_program(), "check"), io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            MXNET_HOME.override(folder),
            MXNET_ENFORCE_DETERMINISM.override(switch),
            MXNET_FUSION_VERBOSE.override(True),
            MXNET_USE_FUSION.override(True),
            contextlib.redirect_stderr(written),
        ):
            kernel(np, (np.empty_like(x),), x)
        compiled.append("def body(" in written.getvalue())
    expect(
        MXNET_ENFORCE_DETERMINISM,
        compiled == [True, False],
        "compilation at once with it",
        compiled,
    )
    return "a large operator was compiled at its first call with it, and not yet without"


def _new_program() -> Program:
    """Return a random chain of operators, which very likely has no kernel yet."""
    names = ("abs", "negative", "relu", "square")
    chain = [find_operator(names[secrets.randbelow(len(names))]) for _ in range(12)]
    steps = [Instruction(op, (i,), op.schema.parse(op.name, {})) for i, op in enumerate(chain)]
    return Program(1, steps, (len(chain),))


@observes(MXNET_CUDA_LIB_CHECKING)
def _versions() -> str:
    """Simulate a CuPy with libraries of CUDA 13 and a driver for CUDA 12."""
    warnings = []
    for switch in (True, False):
        support = CuPySupport(_old_driver, lambda cupy: None)
        lines: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record, lines=lines: lines.append(record.getMessage())  # type: ignore[method-assign,misc]  # one method is enough
        log = logging.getLogger("gluonish")
        log.addHandler(handler)
        try:
            with MXNET_CUDA_LIB_CHECKING.override(switch):
                support.memory(0)
                support.memory(0)
        finally:
            log.removeHandler(handler)
        warnings.append(sum("driver for CUDA 13" in line for line in lines))
    expect(
        MXNET_CUDA_LIB_CHECKING, warnings == [1, 0], "one warning with it, none without", warnings
    )
    return "an old driver caused one warning with it, and none without"


def _old_driver() -> Any:
    runtime = SimpleNamespace(
        CUDARuntimeError=RuntimeError,
        getDeviceCount=lambda: 1,
        memGetInfo=lambda: (1, 2),
        driverGetVersion=lambda: 12040,
        runtimeGetVersion=lambda: 13000,
    )
    device = lambda number: contextlib.nullcontext()  # noqa: E731  # as CuPy has it
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device=device))


def _product(dtype: str) -> NDArray:
    """Return a product on the GPU of two random matrices with a fixed seed."""
    random = np.random.default_rng(7)
    a, b = (nd.array(random.standard_normal((512, 512)), gpu(0), dtype) for _ in range(2))
    product: NDArray = nd.dot(a, b).astype("float32").as_in_context(cpu())
    return product


def _products(flag: Flag[bool], dtype: str) -> tuple[Any, Any]:
    if not gpu_count():
        raise NotHereError("needs a GPU")
    found = []
    for switch in (True, False):
        with flag.override(switch):
            found.append(_product(dtype).asnumpy())
    return found[0], found[1]


@observes(MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION)
def _conversion() -> str:
    flag = MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION
    rounded, exact = _products(flag, "float32")
    distance = float(np.abs(rounded - exact).max())
    expect(flag, 1e-4 < distance < 1, "products rounded to TensorFloat-32 with it", distance)
    return f"products of float32 matrices differed by {distance:.1g} with it"


@observes(MXNET_CUDNN_ENABLED)
def _cudnn() -> str:
    if not gpu_count():
        raise NotHereError("needs a GPU")
    found = opened(device_of(gpu(0)).xp)
    if found is None:
        raise NotHereError("needs cuDNN and its front end")
    used = {problem.data for _, problem in found.plans}
    extent = next(n for n in itertools.count(3) if (1, 1, n, n) not in used)
    data, weight = nd.ones((1, 1, extent, extent), gpu(0)), nd.ones((1, 1, 2, 2), gpu(0))
    made = []
    for switch in (False, True):
        with MXNET_CUDNN_ENABLED.override(switch):
            before = len(found.plans)
            nd.Convolution(data, weight, kernel=(2, 2), num_filter=1, no_bias=True).wait_to_read()
            made.append(len(found.plans) - before)
    expect(MXNET_CUDNN_ENABLED, made == [0, 1], "a plan of cuDNN with it, none without", made)
    return "a convolution used cuDNN with it, and not without"


@observes(GLUONISH_PAD_CHANNELS)
def _pad_channels() -> str:
    flag, found = GLUONISH_PAD_CHANNELS, []
    for switch in (False, True):
        with flag.override(switch):
            found.append(padded_channels((64, 3, 224, 224), (64, 3, 7, 7), (64, 64, 112, 112), 2))
    expect(flag, found == [None, 8], "3 channels of 16 bits are padded with it only", found)
    return "3 channels of 16 bits became 8 with it, and stayed without"


@observes(MXNET_CUDNN_AUTOTUNE_DEFAULT)
def _cudnn_autotune() -> str:
    flag, found = MXNET_CUDNN_AUTOTUNE_DEFAULT, []
    attrs = {"cudnn_tune": None, "workspace": 1, "stride": (), "dilate": (), "pad": ()}
    for mode in range(3):
        with flag.override(mode):
            window = cudnn_convolution._window(attrs)
            found.append((window.measured, window.limit))
    wanted = [(False, 1 << 20), (True, 1 << 20), (True, None)]
    expect(flag, found == wanted, "a measurement with 1 and 2, within workspace with 1", found)
    return "a convolution would be measured with 1 and 2, and within its workspace with 0 and 1"


@observes(GLUONISH_CUDNN_CACHE)
def _cudnn_cache() -> str:
    flag, found = GLUONISH_CUDNN_CACHE, []
    graph: Any = SimpleNamespace(serialize=lambda: [1, 2])
    with tempfile.TemporaryDirectory() as home, MXNET_HOME.override(home):
        for switch in (False, True):
            with flag.override(switch):
                cudnn_files.save(graph, b"key", ())
                found.append(cudnn_files.is_saved(b"key"))
    expect(flag, found == [False, True], "a plan in MXNET_HOME with it only", found)
    return "a plan was saved in MXNET_HOME with it, and not without"


@observes(GLUONISH_CUDNN_RNN)
def _cudnn_rnn() -> str:
    if not gpu_count():
        raise NotHereError("needs a GPU")
    if opened(device_of(gpu(0)).xp) is None:
        raise NotHereError("needs cuDNN and its front end")
    specs = [Spec(shape, FLOAT32) for shape in ((5, 2, 8), (576,), (1, 2, 8), (1, 2, 8))]
    attrs = find_operator("RNN").schema.parse(
        "RNN", {"mode": "lstm", "num_layers": 1, "state_size": 8}
    )
    taken = []
    for switch in (False, True):
        with GLUONISH_CUDNN_RNN.override(switch):
            taken.append(private_reserve(device_of(gpu(0)), specs, attrs) is not None)
    expect(GLUONISH_CUDNN_RNN, taken == [False, True], "cuDNN takes an LSTM with it only", taken)
    return "cuDNN took an LSTM with it, and not without"


@observes(GLUONISH_CUBLASLT)
def _cublaslt() -> str:
    if not gpu_count():
        raise NotHereError("needs a GPU")
    data, weight, bias = (nd.ones(shape, gpu(0)) for shape in ((8, 16), (24, 16), (24,)))
    taken: list[bool] = []
    multiply = dense._multiply

    def seen(*args: Any) -> bool:
        taken.append(multiply(*args))
        return taken[-1]

    with _replaced(dense, "_multiply", seen):
        for switch in (False, True):
            with GLUONISH_CUBLASLT.override(switch):
                nd.FullyConnected(data, weight, bias, num_hidden=24).wait_to_read()
    expect(GLUONISH_CUBLASLT, taken == [False, True], "cuBLASLt takes a layer with it only", taken)
    return "cuBLASLt took a dense layer with it, and not without"


@contextlib.contextmanager
def _replaced(module: ModuleType, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Let a function stand in for a module's own one inside the scope."""
    own = getattr(module, name)
    setattr(module, name, function)
    try:
        yield
    finally:
        setattr(module, name, own)


@observes(GLUONISH_CUDA_VECTORS)
def _cuda_vectors() -> str:
    if not gpu_count():
        raise NotHereError("needs a GPU")
    x = device_of(gpu(0)).empty((1 << 12,), FLOAT32)
    square = Program(1, [Instruction(find_operator("square"), (0,), {})], (1,))
    made = []
    for switch in (False, True):
        with GLUONISH_CUDA_VECTORS.override(switch):
            made.append(isinstance(pointwise._new_plan([x], [x], square, 16).kernel, VectorKernel))
    expect(GLUONISH_CUDA_VECTORS, made == [False, True], "16-byte accesses with it only", made)
    return "a kernel accessed 16 bytes at a time with it, and not without"


def _launches(module: ModuleType, flag: Flag[bool], call: Callable[[], nd.NDArray]) -> list[int]:
    """Return how many kernels a module launches by blocks without a flag, and with it, too."""
    launched: list[str] = []

    def seen(xp: Any, name: str, *args: Any) -> None:
        launched.append(name)
        launch_blocks(xp, name, *args)

    counts = []
    with _replaced(module, "launch_blocks", seen):
        for switch in (False, True):
            with flag.override(switch):
                call().wait_to_read()
            counts.append(len(launched))
    return counts


@observes(GLUONISH_CUDA_COPIES)
def _cuda_copies() -> str:
    if not gpu_count():
        raise NotHereError("needs a GPU")
    x = nd.ones((32, 48), gpu(0))
    counts = _launches(copies, GLUONISH_CUDA_COPIES, lambda: nd.transpose(x, axes=(1, 0)))
    expect(GLUONISH_CUDA_COPIES, counts == [0, 1], "a transpose is ours with it only", counts)
    return "a transpose was copied by tiles with it, and by CuPy without"


@observes(GLUONISH_CUDA_SCATTER)
def _cuda_scatter() -> str:
    if not gpu_count():
        raise NotHereError("needs a GPU")
    table, rows = nd.ones((4, 8), gpu(0)), nd.array([3, 1, 3], gpu(0))
    counts = _launches(gather, GLUONISH_CUDA_SCATTER, lambda: nd.take(table, rows))
    expect(GLUONISH_CUDA_SCATTER, counts == [0, 1], "rows are gathered by us with it only", counts)
    return "a kernel gathered rows with it, and CuPy without"


@observes(MXNET_CUDA_ALLOW_TENSOR_CORE)
def _tensor_core() -> str:
    flag = MXNET_CUDA_ALLOW_TENSOR_CORE
    quick, pedantic = _products(flag, "float16")
    distance = float(np.abs(quick - pedantic).max())
    expect(flag, distance < 1, "the same within rounding", distance)
    expect(flag, distance > 0, "sums in another order without tensor cores", distance)
    return f"products of float16 matrices differed by {distance:.1g} without tensor cores"
