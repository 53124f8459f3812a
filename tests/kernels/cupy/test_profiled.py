"""The profiler on GPUs: their lanes are streams, their memory is a pool's."""

from pathlib import Path
from typing import Any

import gluonish as mx
from gluonish import profiler
from gluonish.profiler.recorder import recorder
from gluonish.profiler.state import recording
from tests.profiler.trace_check import checked_trace, process_names


def test_launches_and_copies_are_jobs_of_the_gpus_lanes(gpus: Any) -> None:
    with recording():
        x = mx.nd.ones((4, 8), ctx=mx.gpu(0))
        (x + x).copyto(mx.cpu()).asnumpy()
        found = {job.name: job for job in recorder.jobs()}
    add = found["broadcast_add"]
    assert add.lane == ("gpu", 0, "compute")
    assert [x.shape for x in (*add.inputs, *add.outputs)] == [(4, 8)] * 3
    assert add.outputs[0].nbytes == 128
    assert found["_copyto"].outputs[0].shape == (4, 8)


def test_memory_of_a_gpu_is_counted(gpus: Any) -> None:
    with recording():
        x = mx.nd.zeros((1000,), ctx=mx.gpu(1))
        x.wait_to_read()
        values = [e.value for e in recorder.events() if e.name == "Memory: gpu/1"]
    assert values
    assert values[0] >= 4000


def test_trace_has_a_process_for_each_gpu(gpus: Any, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with recording():
        profiler.set_config(profile_all=True, filename=str(path), continuous_dump=False)
        for ctx in (mx.gpu(0), mx.gpu(1)):
            (mx.nd.ones((3, 3), ctx=ctx) + 1).asnumpy()
        profiler.dump()
    checked_trace(path)
    assert {"python", "gpu/0", "gpu/1"} <= set(process_names(path).values())
