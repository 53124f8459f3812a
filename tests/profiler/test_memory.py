import gc

import gluonish as mx
from gluonish import profiler
from gluonish.core.device import CPUDevice
from gluonish.profiler.recorder import ALLOCATIONS, MEMORY, recorder
from gluonish.profiler.state import recording


def bytes_on(device: str) -> list[int]:
    mx.nd.waitall()
    gc.collect()
    return [e.value for e in recorder.events() if e.name == f"Memory: {device}"]


def test_arrays_are_counted_where_they_lie() -> None:
    gc.collect()
    with recording():
        x = mx.nd.zeros((1000,), ctx=mx.cpu(1))
        y = mx.nd.zeros((500,), ctx=mx.cpu(2))
        del y
        first, second = bytes_on("cpu/1"), bytes_on("cpu/2")
    assert x.shape == (1000,)
    assert first == [4000]
    assert second == [2000, 0]


def test_views_and_handles_keep_an_array() -> None:
    with recording():
        x = mx.nd.zeros((10, 100), ctx=mx.cpu(3))
        part = x[2:4]
        del x
        assert bytes_on("cpu/3")[-1] == 4000
        del part
        assert bytes_on("cpu/3")[-1] == 0


def test_totals_tell_who_asked_in_which_scope() -> None:
    with recording():
        with profiler.scope("loading"):
            mx.nd.relu(mx.nd.zeros((10,), ctx=mx.cpu(1)))
        mx.nd.waitall()
        totals = recorder.totals()
    found = totals[ALLOCATIONS, "cpu/1 loading:relu"]
    assert (found.count, found.total) == (1, 40)


def test_memory_of_a_block_has_its_name_once() -> None:
    net = mx.gluon.nn.Dense(2, in_units=3, prefix="net_")
    net.initialize()
    net.hybridize()
    with recording():
        with profiler.scope("step"):
            net(mx.nd.ones((4, 3))).wait_to_read()
        owners = [name for category, name in recorder.totals() if category == ALLOCATIONS]
    assert [name for name in owners if "net" in name]
    assert not [name for name in owners if name.count("net") > 1]


def test_table_is_of_mxnets_form() -> None:
    with recording():
        x = mx.nd.zeros((1000,), ctx=mx.cpu(1))
        mx.nd.waitall()
        lines = profiler.dumps().splitlines()
    assert x.shape == (1000,)
    at = lines.index(MEMORY)
    assert lines[at + 2].split("  ")[0] == "Name"
    assert "Max Use  (kB)" in lines[at + 2]
    assert lines[at + 4].split() == ["Memory:", "cpu/1", "1", "4.0000", "4.0000", "4.0000"]


def test_nothing_is_counted_without_the_option() -> None:
    empty = CPUDevice.__dict__["empty"]
    with recording():
        assert CPUDevice.__dict__["empty"] is not empty
        profiler.set_config(profile_memory=False, continuous_dump=False)
        mx.nd.zeros((10,)).wait_to_read()
        assert not [e for e in recorder.events() if e.category == MEMORY]
    assert CPUDevice.__dict__["empty"] is empty
