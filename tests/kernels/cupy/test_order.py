"""Streams and events: every order that a program needs is enforced, and no more than that."""

from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import gluonish as mx
from gluonish import nd
from gluonish.engine import use_engine
from gluonish.kernels.cupy import DeviceStream
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.programs import (
    computes_in_memory_of_an_upload,
    failures,
    run_program,
    stages_through_pinned_memory,
    uploads_into_used_memory,
)

pytestmark = pytest.mark.timeout(120)


def threaded(gpus: Any) -> bool:
    return type(mx.engine.current_engine()).__name__ != "NaiveEngine"


@pytest.mark.parametrize(
    "program",
    [uploads_into_used_memory, computes_in_memory_of_an_upload, stages_through_pinned_memory],
)
def test_memory_is_used_again_only_when_everybody_is_through(gpus: Any, program: Any) -> None:
    program()
    nd.waitall()


def test_double_finds_an_upload_that_does_not_come_behind_the_kernels(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not threaded(gpus):
        pytest.skip("the naive engine synchronizes after each launch")
    nd.zeros((1,), ctx=mx.gpu(0))
    monkeypatch.setattr(nd.zeros((1,), ctx=mx.gpu(0))._device.upload, "_after", None)  # type: ignore[attr-defined]
    assert "Race" in failures(uploads_into_used_memory)


@pytest.mark.parametrize("program", [computes_in_memory_of_an_upload, stages_through_pinned_memory])
def test_double_finds_memory_that_is_not_kept(
    gpus: Any, monkeypatch: pytest.MonkeyPatch, program: Any
) -> None:
    if not threaded(gpus):
        pytest.skip("the naive engine synchronizes after each launch")
    monkeypatch.setattr(DeviceStream, "keep", lambda self, *used: None)
    assert "Race" in failures(program)


def test_kernels_need_no_events(gpus: Any, machine: Machine) -> None:
    if not threaded(gpus):
        pytest.skip("the naive engine synchronizes after each launch")
    x = nd.ones((8,), ctx=mx.gpu(0))
    machine.log.clear()
    for _ in range(5):
        x = x * 2 + 1
    assert machine.log == []


def test_kernel_waits_for_the_upload_that_it_reads(gpus: Any, machine: Machine) -> None:
    if not threaded(gpus):
        pytest.skip("the naive engine synchronizes after each launch")
    x = nd.ones((8,)).as_in_context(mx.gpu(0))
    upload, compute = x._device.upload.raw._name, x._device.compute.raw._name  # type: ignore[attr-defined]
    machine.log.clear()
    y = x + 1
    assert machine.log[-2:] == [("record", upload), ("wait", compute, upload)]
    np.testing.assert_array_equal(y.asnumpy(), np.full(8, 2))


def test_reading_an_array_waits_for_it_and_not_for_later_kernels(
    gpus: Any, machine: Machine
) -> None:
    if not threaded(gpus):
        pytest.skip("the naive engine synchronizes after each launch")
    x = nd.ones((8,), ctx=mx.gpu(0)) + 1
    x._device.compute.record()
    event = mx.engine.current_engine()._lanes[x._device.lane].event_for(x._var.stream.write[1])
    later = x + 1
    np.testing.assert_array_equal(x.asnumpy(), np.full(8, 2))
    compute = x._device.compute.raw
    assert event.event.done
    assert machine.host[compute._name] < compute._clock[compute._name]
    del later


def test_reading_does_not_wait_on_the_stream_of_kernels(gpus: Any, machine: Machine) -> None:
    x = nd.ones((8,), ctx=mx.gpu(0))
    x.asnumpy()
    down = [entry[1] for entry in machine.log if entry[0] == "d2h"]
    assert down == [x._device.download.raw._name]  # type: ignore[attr-defined]


def test_kept_arrays_go_when_the_stream_has_passed(gpus: Any) -> None:
    device = nd.zeros((1,), ctx=mx.gpu(0))._device
    for _ in range(3):
        nd.ones((8,)).as_in_context(mx.gpu(0)).wait_to_read()
    assert len(device.upload._held) == 1  # type: ignore[attr-defined]  # the last one goes with the next
    mx.gpu(0).empty_cache()
    assert not device.upload._held  # type: ignore[attr-defined]


def test_engine_that_replaces_another_has_the_streams_and_so_has_the_old_one(
    gpus: Any, machine: Machine
) -> None:
    nd.zeros((1,), ctx=mx.gpu(0))
    for kind in ("NaiveEngine", "ThreadedEnginePerDevice"):
        with use_engine(kind) as engine:
            assert ("gpu", 0, "compute") in engine._lanes
            x = nd.ones((3,), ctx=mx.gpu(1 if kind == "NaiveEngine" else 0))
            np.testing.assert_array_equal((x + 1).asnumpy(), [2, 2, 2])
    lanes = mx.engine.current_engine()._lanes
    assert {("gpu", 0, "copy"), ("gpu", 1, "compute")} <= set(lanes)
    np.testing.assert_array_equal(nd.ones((2,), ctx=mx.gpu(1)).asnumpy(), [1, 1])


PLACES = (mx.cpu(0), mx.cpu(1), mx.gpu(0), mx.gpu(1))
ON_CPUS = tuple(
    map(mx.cpu, range(4))
)  # the same places, since moving to the same one moves nothing
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("new", "copy", "move", "add", "scale", "write", "drop", "read")),
        st.integers(0, 5),
        st.integers(0, 5),
        st.integers(0, 3),
    ),
    max_size=40,
)


@hypothesis.settings(
    max_examples=60, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(steps=STEPS)
def test_random_programs_over_devices_give_what_cpus_give(gpus: Any, steps: Any) -> None:
    for got, want in zip(run_program(steps, PLACES), run_program(steps, ON_CPUS), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    nd.waitall()
