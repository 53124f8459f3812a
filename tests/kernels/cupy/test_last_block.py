"""Counters of blocks belong to a stream, and graphs count in those of the stream they run on."""

from gluonish.kernels.cupy.last_block import counters, forget, partial_sums, prepare
from tests.kernels.cupy.one_device import OneDevice


def test_streams_count_apart_and_a_capture_with_the_stream_of_its_graphs(
    device: OneDevice,
) -> None:
    cupy, compute = device.cupy, device.stream
    beside, capturing = (device.machine.new_stream(non_blocking=True) for _ in range(2))
    with capturing:
        prepare(cupy, compute)  # nothing counts yet
    launches = device.launches
    with compute:
        mine = counters(cupy)
        assert counters(cupy) is mine
    assert device.launches == launches + 1
    with beside:
        assert counters(cupy) is not mine
    with capturing:
        prepare(cupy, compute)
        assert counters(cupy) is mine
        forget(cupy, capturing.ptr)
        assert counters(cupy) is not mine


def test_a_capture_makes_counters_that_only_another_stream_has(device: OneDevice) -> None:
    cupy, compute = device.cupy, device.stream
    beside, capturing = (device.machine.new_stream(non_blocking=True) for _ in range(2))
    with beside:
        theirs = counters(cupy)
    with capturing:
        prepare(cupy, compute)
        mine = counters(cupy)
    assert mine is not theirs
    with compute:
        assert counters(cupy) is mine


def test_partial_sums_of_each_level_have_room() -> None:
    assert [partial_sums(n) for n in (1, 2, 32, 33, 528)] == [0, 2, 32, 35, 545]
