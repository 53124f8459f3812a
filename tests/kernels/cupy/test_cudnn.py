"""cuDNN's front end: one handle a stream, plans built once, and what happens without either."""

import logging
import os
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy import cudnn, cudnn_convolution
from gluonish.kernels.cupy.cudnn_graph import Problem
from gluonish.kernels.cupy.libraries import MissingLibraryError
from gluonish.ops.nn.convolution import CONVOLUTION
from gluonish.tools.env_checks import CHECKS, NotHereError
from gluonish.tools.env_checks.process import CheckFailedError
from tests.checking.values import spec_of
from tests.kernels.cupy.cudnn_double import Note
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, OneDevice

ATTRS = {"kernel": (3, 3), "num_filter": 4, "no_bias": True}
PROBLEM = Problem(
    kind="forward",
    dtype=np.dtype(np.float32),
    data=(2, 3, 5, 5),
    weight=(4, 3, 3, 3),
    out=(2, 4, 3, 3),
    stride=(),
    dilate=(),
    pad=(),
    last=False,
    has_bias=False,
    has_addend=False,
    activation=None,
    aligned=True,
    tensor_cores=False,
    limit=None,
)


def _inputs(height: int = 5, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    return np.ones((2, 3, height, 5), dtype), np.ones((4, 3, 3, 3), dtype)


def _found(cupy: Any, problem: Problem = PROBLEM) -> Any:
    opened = cudnn.opened(cupy)
    assert opened is not None
    return opened.find(cupy, problem)


def _plans(cupy: Any) -> dict[Any, Any]:
    opened = cudnn.opened(cupy)
    assert opened is not None
    return opened.plans


def test_a_plan_is_built_once_for_all_calls_alike(device: OneDevice) -> None:
    for height in (5, 6, 5, 6, 5):
        device.run(CONVOLUTION, *_inputs(height), **ATTRS)
    assert device.machine.cudnn.built == 2  # type: ignore[attr-defined]


def test_each_stream_has_its_own_handle_and_shares_the_plans(machine: Machine) -> None:
    cupy = make_cupy(machine)
    handles = set()
    with cupy.cuda.Device(0):
        for _ in range(3):
            with machine.new_stream(non_blocking=True):
                for _ in range(2):
                    plan, handle = _found(cupy)
                    handles.add(handle.raw)
    assert len(handles) == 3
    assert list(_plans(cupy).values()) == [plan]


def test_each_device_has_its_own_plans(machine: Machine) -> None:
    cupy = make_cupy(machine)
    for number in (0, 1, 0):
        with cupy.cuda.Device(number), machine.new_stream(non_blocking=True):
            _found(cupy)
    assert sorted(number for number, _ in _plans(cupy)) == [0, 1]


def test_a_forked_child_does_not_meet_the_handles_of_its_parent(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, first = _found(device.cupy)
    assert _found(device.cupy)[1] is first
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert _found(device.cupy)[1] is not first


@pytest.mark.parametrize("cores", [False, True])
def test_engines_that_may_add_in_another_order_are_left_out(device: OneDevice, cores: bool) -> None:
    left: list[set[Note]] = []
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    graph_of = opened._front_end.pygraph

    def logged(**options: Any) -> Any:
        graph = graph_of(**options)
        graph.deselect_numeric_notes = lambda notes: left.append(set(notes))
        return graph

    opened._front_end.pygraph = logged
    assert _found(device.cupy, PROBLEM._replace(tensor_cores=cores)) is not None
    exact = {Note.TENSOR_CORE, Note.DOWN_CONVERT_INPUTS}
    always = {Note.NONDETERMINISTIC, Note.REDUCED_PRECISION_REDUCTION}
    assert left == [always if cores else always | exact]


def test_what_cudnn_has_no_plan_for_is_asked_once(
    device: OneDevice, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = PROBLEM._replace(out=(2, 4, 4, 3))
    with caplog.at_level(logging.DEBUG, "gluonish"):
        assert _found(device.cupy, unknown) is None
        assert _found(device.cupy, unknown) is None
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
    assert "cuDNN has no plan for Problem(kind='forward'" in caplog.text
    assert "CUDNN_STATUS_BAD_PARAM" in caplog.text


def test_arrays_that_engines_could_not_count_are_not_tried(device: OneDevice) -> None:
    large = PROBLEM._replace(data=(1 << 20, 3, 32, 32), out=(1 << 20, 4, 30, 30))
    assert _found(device.cupy, large) is None


def test_nothing_is_made_during_a_capture(device: OneDevice) -> None:
    device.stream.begin_capture()
    with pytest.raises(DeviceError, match="before the capture"):
        _found(device.cupy)
    device.stream.end_capture()
    assert _plans(device.cupy) == {}
    assert _found(device.cupy) is not None


def test_plans_of_captured_graphs_stay_when_others_go(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cudnn, "_MAX_PLANS", 3)
    captured, _ = _found(device.cupy)
    device.stream.begin_capture()
    assert _found(device.cupy)[0] is captured
    device.stream.end_capture()
    for extent in range(4, 8):
        shape = (2, 3, extent, extent)
        out = (2, 4, extent - 2, extent - 2)
        assert _found(device.cupy, PROBLEM._replace(data=shape, out=out)) is not None
        assert len(_plans(device.cupy)) <= 3
    assert _plans(device.cupy)[0, PROBLEM] is captured


def test_a_graph_replays_a_convolution(device: OneDevice) -> None:
    cupy, attrs = device.cupy, CONVOLUTION.schema.parse("Convolution", ATTRS)
    kernel = CONVOLUTION.select_kernel("gpu", [spec_of(x) for x in _inputs()], attrs)
    data, weight = (device.upload(x.astype(np.float16)) for x in _inputs())
    out = device.upload(np.zeros((2, 4, 3, 3), np.float16))
    kernel(cupy, out, data, weight, **attrs)
    workspaces: list[Any] = []  # which a graph needs as long as it lives

    def allocate(nbytes: int) -> Any:
        workspaces.append(cupy.get_default_memory_pool().malloc(nbytes))
        return workspaces[-1]

    with cupy.cuda.using_allocator(allocate):
        device.stream.begin_capture()
        kernel(cupy, out, data, weight, **attrs)
        graph = device.stream.end_capture()
    data._raw[...] = 2
    graph.launch()
    np.testing.assert_array_equal(out._raw, np.full((2, 4, 3, 3), 54))


def test_threads_take_turns_on_a_handle(device: OneDevice) -> None:
    plan, handle = _found(device.cupy)
    inside, most = 0, 0
    pause = threading.Event()

    class Graph:
        def _execute(self, *args: Any) -> None:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            pause.wait(0.05)
            inside -= 1

    plan._graph = Graph()
    threads = [
        threading.Thread(target=lambda: [plan.run(device.cupy, handle, {}) for _ in range(3)])
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert most == 1


def test_a_plan_that_fails_is_a_device_error(device: OneDevice) -> None:
    plan, handle = _found(device.cupy)

    class Graph:
        def _execute(self, *args: Any) -> None:
            raise RuntimeError("CUDNN_STATUS_EXECUTION_FAILED")

    plan._graph = Graph()
    with pytest.raises(DeviceError, match="cuDNN: expected a plan to run, got CUDNN_STATUS_EXEC"):
        plan.run(device.cupy, handle, {})


@COMPILED
def test_without_the_front_end_products_of_matrices_serve(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[int] = []

    def missing(cuda: int) -> Any:
        asked.append(cuda)
        raise MissingLibraryError("cuDNN's front end: expected the package cudnn, got none")

    monkeypatch.setattr(cudnn, "load_front_end", missing)
    device = OneDevice(machine)
    del cudnn._opened[device.cupy]
    with caplog.at_level(logging.DEBUG, "gluonish"), device.cupy.cuda.Device(0), device.stream:
        for _ in range(3):
            device.check(CONVOLUTION, *_inputs(), **ATTRS)
    assert asked == [13]
    (record,) = caplog.records
    assert record.levelname == "DEBUG"
    assert record.getMessage().startswith("Convolutions run without cuDNN: cuDNN's front end:")


def test_the_front_end_is_loaded_at_the_first_convolution(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cupy = make_cupy(machine)
    front_end = machine.cudnn  # type: ignore[attr-defined]
    del cudnn._opened[cupy]
    loaded: list[int] = []

    def load(cuda: int) -> Any:
        loaded.append(cuda)
        return front_end

    monkeypatch.setattr(cudnn, "load_front_end", load)
    assert loaded == []
    with cupy.cuda.Device(0), machine.new_stream(non_blocking=True):
        assert _found(cupy)[0] is _found(cupy)[0]
    assert loaded == [13]


def test_the_check_of_the_variable_finds_that_it_acts(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CHECKS["MXNET_CUDNN_ENABLED"]()
    assert CHECKS["MXNET_CUDNN_ENABLED"]()  # again, with plans that are there
    monkeypatch.setattr(cudnn_convolution, "MXNET_CUDNN_ENABLED", SimpleNamespace(value=True))
    with pytest.raises(CheckFailedError, match=r"a plan of cuDNN with it, none without"):
        CHECKS["MXNET_CUDNN_ENABLED"]()


def test_the_check_of_the_variable_needs_cudnn(gpus: Any) -> None:
    cudnn.adopt(gpus, None)
    with pytest.raises(NotHereError, match="needs cuDNN and its front end"):
        CHECKS["MXNET_CUDNN_ENABLED"]()
