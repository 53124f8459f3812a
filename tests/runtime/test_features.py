import faulthandler

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.config import MXNET_CUDNN_ENABLED, MXNET_MKLDNN_ENABLED
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeviceError
from gluonish.kernels.cupy.libraries import BrokenLibraryError, MissingLibraryError
from gluonish.runtime import Feature, Features, feature_list
from gluonish.runtime.features import Processor

# What mxnet.runtime.feature_list() of MXNet 1.9.1 names, in its order.
NAMES = [
    *("CUDA", "CUDNN", "NCCL", "CUDA_RTC", "TENSORRT", "CPU_SSE", "CPU_SSE2", "CPU_SSE3"),
    *("CPU_SSE4_1", "CPU_SSE4_2", "CPU_SSE4A", "CPU_AVX", "CPU_AVX2", "OPENMP", "SSE", "F16C"),
    *("JEMALLOC", "BLAS_OPEN", "BLAS_ATLAS", "BLAS_MKL", "BLAS_APPLE", "LAPACK", "MKLDNN"),
    *("OPENCV", "CAFFE", "PROFILER", "DIST_KVSTORE", "CXX14", "INT64_TENSOR_SIZE"),
    *("SIGNAL_HANDLER", "DEBUG", "TVM_OP"),
]


def now() -> dict[str, bool]:
    return {feature.name: feature.enabled for feature in feature_list()}


def test_names_are_those_of_mxnet_in_its_order() -> None:
    assert [feature.name for feature in feature_list()] == NAMES
    assert list(Features()) == NAMES


def test_features_are_one_object() -> None:
    features = Features()
    assert Features() is features is Features.instance
    assert features["CUDA"].name == "CUDA"
    with pytest.raises(KeyError):
        features["NOPE"]


def test_features_print_as_mxnet_prints_them() -> None:
    assert repr(Feature("CUDA", False)) == "✖ CUDA"
    assert repr(Feature("MKLDNN", True)) == "✔ MKLDNN"
    shown = repr(Features())
    assert shown.startswith("[")
    assert shown.count(", ") == len(NAMES) - 1
    assert " CUDA, " in shown


def test_is_enabled_ignores_case() -> None:
    features = Features()
    assert features.is_enabled("profiler") is features.is_enabled("PROFILER") is True
    assert features.is_enabled("Caffe") is False


def test_an_unknown_name_is_refused_as_in_mxnet() -> None:
    with pytest.raises(RuntimeError, match=r"expected one of CUDA, .*, got 'NOPE'") as caught:
        Features().is_enabled("nope")
    assert isinstance(caught.value, ArgumentError)
    with pytest.raises(ArgumentTypeError, match="expected feature_name as text, got 3"):
        Features().is_enabled(3)  # type: ignore[arg-type]


def test_onednn_counts_only_while_it_is_used() -> None:
    with MXNET_MKLDNN_ENABLED.override(False):
        assert now()["MKLDNN"] is False


def test_instructions_are_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    some = Processor("some", frozenset({"sse", "sse2", "pni", "avx"}), 1)
    monkeypatch.setattr("gluonish.runtime.features.processor", lambda: some)
    found = now()
    instructions = [name for name in NAMES if name.startswith("CPU_") or name in ("SSE", "F16C")]
    on = {name for name in instructions if found[name]}
    assert on == {"CPU_SSE", "CPU_SSE2", "CPU_SSE3", "CPU_AVX", "SSE"}


@pytest.mark.parametrize("count", [0, 2])
def test_cuda_needs_a_device(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr("gluonish.runtime.features.gpu_count", lambda: count)
    assert now()["CUDA"] is bool(count)


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("error", [None, MissingLibraryError("none"), BrokenLibraryError("broken")])
def test_compiling_for_gpus_needs_a_device_and_nvrtc(
    monkeypatch: pytest.MonkeyPatch, count: int, error: Exception | None
) -> None:
    def load(name: str) -> None:
        if name == "nvrtc" and error is not None:
            raise error

    monkeypatch.setattr("gluonish.runtime.features.gpu_count", lambda: count)
    monkeypatch.setattr("gluonish.kernels.cupy.libraries.load", load)
    monkeypatch.setattr("gluonish.runtime.features.find_nccl", lambda: object())
    assert now()["CUDA_RTC"] is (count > 0 and error is None)


@pytest.mark.parametrize(
    ("count", "switch", "error", "usable"),
    [
        (1, True, None, True),
        (0, True, None, False),
        (1, False, None, False),
        (1, True, DeviceError("cuDNN's front end: expected it, got none"), False),
        (1, True, ImportError("no module named cupy"), False),
    ],
)
def test_cudnn_counts_where_convolutions_go_by_it(
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    switch: bool,
    error: Exception | None,
    usable: bool,
) -> None:
    def load() -> None:
        if error is not None:
            raise error

    monkeypatch.setattr("gluonish.runtime.features.gpu_count", lambda: count)
    monkeypatch.setattr("gluonish.kernels.cupy.libraries.load_front_end", load)
    monkeypatch.setattr("gluonish.kernels.cupy.libraries.load", lambda name: None)
    with MXNET_CUDNN_ENABLED.override(switch):
        assert now()["CUDNN"] is usable


def test_nccl_counts_where_its_kvstore_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise DeviceError("nccl: expected the library of NCCL, got none")

    monkeypatch.setattr("gluonish.runtime.features.find_nccl", lambda: object())
    assert now()["NCCL"] is True
    monkeypatch.setattr("gluonish.runtime.features.find_nccl", missing)
    assert now()["NCCL"] is False


def test_signal_handler_is_pythons() -> None:
    assert now()["SIGNAL_HANDLER"] is faulthandler.is_enabled()


def test_one_blas_at_most_is_numpys() -> None:
    assert sum(enabled for name, enabled in now().items() if name.startswith("BLAS_")) <= 1


@pytest.mark.slow
def test_int64_tensor_size_is_true() -> None:
    assert now()["INT64_TENSOR_SIZE"]
    many = nd.ones((2**31 + 8,), dtype=np.int8)
    assert many.size == 2**31 + 8
    many[2**31 + 3] = 7
    assert (many[-8:] + 1).asnumpy().tolist() == [2, 2, 2, 8, 2, 2, 2, 2]
