"""Measured engines of cuDNN, and plans on disk: the choice, when it is made, what goes wrong."""

import logging
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import (
    GLUONISH_CUDNN_CACHE,
    MXNET_CUDNN_AUTOTUNE_DEFAULT,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_ENFORCE_DETERMINISM,
    MXNET_HOME,
)
from gluonish.gluon import nn
from gluonish.kernels.compiler import disk_cache
from gluonish.kernels.cupy import cudnn, cudnn_trial
from gluonish.ops.nn.convolution import CONVOLUTION, CONVOLUTION_BACKWARD_WEIGHT
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from gluonish.tools.env_checks import CHECKS
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import OneDevice

ATTRS: dict[str, Any] = {"kernel": (3, 3), "num_filter": 6, "no_bias": True}
DATA = np.random.default_rng(3).standard_normal((2, 4, 6, 5)).astype(np.float16)
WEIGHT = np.random.default_rng(4).standard_normal((6, 4, 3, 3)).astype(np.float16)
NCHW_WORKSPACE = 2 * (DATA.size + WEIGHT.size + 2 * 6 * 4 * 3)


@pytest.fixture(autouse=True)
def measured(cudnns_first_engine: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Measure, and keep plans in a folder of the test."""
    monkeypatch.delenv("MXNET_CUDNN_AUTOTUNE_DEFAULT")
    monkeypatch.delenv("GLUONISH_CUDNN_CACHE")
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))


def _front_end(device: OneDevice) -> Any:
    """Return the front end, which serializes plans."""
    found = device.machine.cudnn  # type: ignore[attr-defined]
    found.serializes = True
    return found


@pytest.fixture
def device(device: OneDevice) -> OneDevice:
    """A device whose plans can be serialized."""
    _front_end(device)
    return device


def _slow_tensor_cores(device: OneDevice) -> None:
    """Let the engine that the heuristics name first take longer than the next one."""
    _front_end(device).times.update({"atomics": 1.0, "tensor cores": 30.0, "plain": 20.0})


def _engines(device: OneDevice) -> list[str]:
    """Return the engines of all plans."""
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    return [plan._graph._chosen.name for plan in opened.plans.values() if plan is not None]


def _convolve(device: OneDevice, **attrs: Any) -> Any:
    return device.run(CONVOLUTION, DATA, WEIGHT, **ATTRS, **attrs)[0]


def _files() -> list[Path]:
    return sorted((Path(MXNET_HOME.value) / "cudnn").glob("*.bin"))


def test_the_fastest_engine_with_a_fixed_order_of_sums_is_chosen(device: OneDevice) -> None:
    _slow_tensor_cores(device)
    want = _convolve(device)
    assert _engines(device) == ["plain"]
    np.testing.assert_array_equal(_convolve(device), want)


def test_the_first_engine_serves_unless_another_is_clearly_faster(device: OneDevice) -> None:
    _front_end(device).times.update({"tensor cores": 10.0, "plain": 9.9})
    _convolve(device)
    assert _engines(device) == ["tensor cores"]


@pytest.mark.parametrize("op", [CONVOLUTION_BACKWARD_WEIGHT, DECONVOLUTION], ids=lambda op: op.name)
def test_gradients_and_deconvolutions_are_measured(device: OneDevice, op: Any) -> None:
    _slow_tensor_cores(device)
    grad = np.ones((2, 6, 4, 3), np.float16)
    if op is DECONVOLUTION:
        device.run(op, DATA, WEIGHT.transpose(1, 0, 2, 3).copy(), **ATTRS)
    else:
        device.run(op, grad, DATA, **ATTRS, weight_shape=WEIGHT.shape)
    assert _engines(device) == ["plain"]


def test_a_problem_is_measured_once(device: OneDevice) -> None:
    _convolve(device)
    built, launches = _front_end(device).built, device.launches
    _convolve(device)
    assert (_front_end(device).built, device.launches) == (built, launches + 1)


@pytest.mark.parametrize("how", ["variable", "argument", "determinism"])
def test_nothing_is_measured(device: OneDevice, how: str) -> None:
    _slow_tensor_cores(device)
    with (
        MXNET_CUDNN_AUTOTUNE_DEFAULT.override(0 if how == "variable" else 1),
        MXNET_ENFORCE_DETERMINISM.override(how == "determinism"),
    ):
        _convolve(device, **({"cudnn_tune": "off"} if how == "argument" else {}))
    assert _engines(device) == ["tensor cores"]
    assert _front_end(device).built == 1
    assert not _files()


@pytest.mark.parametrize(
    ("variable", "tune", "engine"),
    [
        (1, None, "plain"),
        (2, None, "tensor cores"),
        (0, "fastest", "tensor cores"),
        (2, "limited_workspace", "plain"),
    ],
)
def test_workspace_limits_engines_unless_the_fastest_is_asked_for(
    device: OneDevice, variable: int, tune: str | None, engine: str
) -> None:
    _front_end(device).times.update({"tensor cores": 10.0, "plain": 20.0})
    with MXNET_CUDNN_AUTOTUNE_DEFAULT.override(variable):
        _convolve(device, workspace=0, cudnn_tune=tune)
    assert _engines(device) == [engine]


def test_engines_that_cannot_be_built_are_left_out(device: OneDevice) -> None:
    _slow_tensor_cores(device)
    _front_end(device).broken.add("plain")
    _convolve(device)
    assert _engines(device) == ["tensor cores"]


def test_engines_without_memory_for_a_workspace_are_left_out(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    _front_end(device).times.update({"tensor cores": 10.0, "plain": 20.0})
    alloc, sizes = device.cupy.cuda.alloc, []

    def limited(nbytes: int) -> Any:
        sizes.append(nbytes)
        if len(sizes) == 1:
            raise MemoryError
        return alloc(nbytes)

    monkeypatch.setitem(vars(device.cupy.cuda), "alloc", limited)
    _convolve(device)
    assert sizes == [NCHW_WORKSPACE] * 2
    assert _engines(device) == ["tensor cores"]


def test_no_more_engines_are_built_when_the_time_is_over(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cudnn_trial, "_BUILD_S", -1.0)
    _slow_tensor_cores(device)
    _convolve(device)
    assert _engines(device) == ["tensor cores"]
    assert _front_end(device).built == 2


def test_a_failure_leaves_the_first_engine(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    _slow_tensor_cores(device)

    def fail(*_: Any) -> bool:
        raise RuntimeError("no")

    monkeypatch.setattr(cudnn, "choose", fail)
    want = _convolve(device)
    assert _engines(device) == ["tensor cores"]
    np.testing.assert_array_equal(_convolve(device), want)


def test_threads_meet_a_problem_at_once(machine: Machine) -> None:
    cupy = make_cupy(machine)
    with cupy.cuda.Device(0):
        streams = [machine.new_stream(non_blocking=True) for _ in range(4)]
    found: list[Any] = []

    def run(stream: Any) -> None:
        one = OneDevice.__new__(OneDevice)
        one.cupy, one.machine = cupy, machine
        with cupy.cuda.Device(0), stream:
            found.append(_convolve(one))

    threads = [threading.Thread(target=run, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 4
    for values in found[1:]:
        np.testing.assert_array_equal(values, found[0])


def _network() -> Any:
    net = nn.Conv2D(6, 3, in_channels=4)
    net.initialize(mx.init.Constant(0.1), ctx=mx.gpu(0))
    net.hybridize(static_alloc=True, static_shape=True)
    return net


def test_problems_are_measured_before_a_capture(gpus: Any, machine: Machine) -> None:
    machine.cudnn.times.update({"tensor cores": 30.0, "plain": 20.0})  # type: ignore[attr-defined]
    opened = cudnn.opened(gpus)
    assert opened is not None
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = _network(), nd.ones((2, 4, 6, 5), mx.gpu(0))
        want = net(x).asnumpy()
        for _ in range(4):
            np.testing.assert_array_equal(net(x).asnumpy(), want)
    (plan,) = opened.plans.values()
    assert plan is not None
    assert not plan.trials


def test_a_capture_runs_the_first_engine_and_the_next_call_measures(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    _slow_tensor_cores(device)
    with monkeypatch.context() as patch:
        patch.setattr(cudnn.Plan, "run", lambda *_: None)  # finds the plan only
        _convolve(device)
    built, stream = _front_end(device).built, device.cupy.cuda.get_current_stream()
    stream.begin_capture()
    _convolve(device)
    stream.end_capture()
    assert _engines(device) == ["tensor cores"]
    assert _front_end(device).built == built
    _convolve(device)
    assert _engines(device) == ["plain"]


def _again(device: OneDevice) -> Any:
    """Let a new process meet the problem: return its front end."""
    times = _front_end(device).times
    one = OneDevice(device.machine)
    device.cupy = one.cupy
    _front_end(device).times.update(times)
    return _front_end(device)


def test_the_next_process_loads_what_was_measured(device: OneDevice) -> None:
    _slow_tensor_cores(device)
    want = _convolve(device)
    assert len(_files()) == 1
    front_end = _again(device)
    with device.cupy.cuda.Device(0), device.stream:
        np.testing.assert_array_equal(_convolve(device), want)
    assert (front_end.built, front_end.loaded) == (0, 1)
    assert _engines(device) == ["plain"]


@pytest.mark.parametrize("what", ["device", "driver", "cuDNN", "problem"])
def test_another_device_version_or_problem_measures_for_itself(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    _convolve(device)
    front_end, runtime = _again(device), device.cupy.cuda.runtime
    properties = {"name": b"another", "multiProcessorCount": 132}
    if what == "device":
        monkeypatch.setitem(vars(runtime), "getDeviceProperties", lambda _: properties)
    elif what == "driver":
        monkeypatch.setitem(vars(runtime), "driverGetVersion", lambda: 13010)
    elif what == "cuDNN":
        front_end.backend_version_string = lambda: "9.99.0"
    with device.cupy.cuda.Device(0), device.stream:
        _convolve(device, **({"pad": (1, 1)} if what == "problem" else {}))
    assert front_end.loaded == 0
    assert len(_files()) == 2


@pytest.mark.parametrize("how", ["cut", "changed", "writable", "other content"])
def test_a_damaged_file_is_written_anew(
    device: OneDevice, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    _convolve(device)
    (path,) = _files()
    good = path.read_bytes()
    if how == "cut":
        path.write_bytes(good[:-1])
    elif how == "changed":
        path.write_bytes(good[:-1] + b"?")
    elif how == "writable":
        path.chmod(0o622)
    else:
        disk_cache.save(bytes.fromhex(path.stem), b"something else", "cudnn")
    front_end = _again(device)
    with device.cupy.cuda.Device(0), device.stream, caplog.at_level(logging.WARNING):
        _convolve(device)
    assert front_end.loaded == 0
    assert front_end.built >= 2
    assert len(caplog.messages) == (how == "other content")
    assert _files() == [path]
    front_end = _again(device)
    with device.cupy.cuda.Device(0), device.stream:
        _convolve(device)
    assert front_end.loaded == 1


def test_plans_that_take_long_to_build_are_saved_and_others_are_not(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MXNET_CUDNN_AUTOTUNE_DEFAULT.override(0):
        _convolve(device)
        assert not _files()
        monkeypatch.setattr(cudnn, "_SLOW_S", -1.0)
        _convolve(device, pad=(1, 1))
        assert len(_files()) == 1


def test_the_option_keeps_nothing_and_reads_nothing(device: OneDevice) -> None:
    with GLUONISH_CUDNN_CACHE.override(False):
        _convolve(device)
        assert not _files()
    _convolve(device, pad=(1, 1))
    front_end = _again(device)
    with GLUONISH_CUDNN_CACHE.override(False), device.cupy.cuda.Device(0), device.stream:
        _convolve(device, pad=(1, 1))
    assert front_end.loaded == 0


def test_a_plan_that_cannot_be_serialized_is_used_and_not_saved(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any) -> list[int]:
        raise RuntimeError("not supported")

    graph = type(_front_end(device).pygraph(
        intermediate_data_type=_front_end(device).data_type.FLOAT,
        compute_data_type=_front_end(device).data_type.FLOAT,
        handle=cudnn.opened(device.cupy).handle(device.cupy).raw,  # type: ignore[union-attr]
    ))  # fmt: skip
    monkeypatch.setattr(graph, "serialize", fail)
    want = _convolve(device)
    np.testing.assert_array_equal(_convolve(device), want)
    assert not _files()


def test_the_options_are_observed(gpus: Any) -> None:
    assert CHECKS["MXNET_CUDNN_AUTOTUNE_DEFAULT"]()
    assert CHECKS["GLUONISH_CUDNN_CACHE"]()
