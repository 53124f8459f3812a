"""The stand-in for cuDNN's front end refuses what the real one refuses or dies of."""

from typing import Any

import pytest

from benchmarks.gpu_run.cudnn_plans import Convolution, Plan, convolution_plan, strides_of
from tests.kernels.cupy.cudnn_double import make
from tests.kernels.cupy.machine import Machine

GEOMETRY = Convolution((2, 4, 6, 5), 8, 3, 2, 1)


def plan() -> Plan:
    machine = Machine()
    frontend, stream = make(machine), machine.new_stream(non_blocking=True)
    handle = frontend.create_handle()
    frontend.set_stream(handle=handle, stream=stream.ptr)
    return Plan(frontend, None, handle, "float32")


@pytest.mark.parametrize("kind", ["forward", "data", "filter"])
def test_plan_of_a_convolution_is_valid(kind: str) -> None:
    made = plan()
    numbers = convolution_plan(made, kind, GEOMETRY, "NHWC")
    assert sorted(numbers) == [1, 2, 3]
    made.graph.validate()


def test_gradient_whose_extents_were_not_told_is_refused() -> None:
    graph: Any = plan().graph
    x = graph._make_tensor(dim=[2, 4, 6, 5], stride=strides_of((2, 4, 6, 5), "NCHW"))
    y = graph._make_tensor(dim=[2, 8, 3, 3], stride=strides_of((2, 8, 3, 3), "NCHW"))
    graph.conv_wgrad(image=x, loss=y, padding=[1, 1], stride=[2, 2], dilation=[1, 1])
    with pytest.raises(AssertionError, match="the real one crashes"):
        graph.validate()


def test_argument_that_the_front_end_lacks_is_refused() -> None:
    with pytest.raises(TypeError, match="kernel_size"):
        plan().graph.conv_fprop(image=None, weight=None, kernel_size=3)


def test_plans_are_built_in_order() -> None:
    with pytest.raises(AssertionError, match="support came before"):
        plan().graph.check_support()


def test_strides_of_channels_last() -> None:
    assert strides_of((2, 3, 5, 7), "NHWC") == [105, 1, 21, 3]


def test_extents_of_a_convolution() -> None:
    assert GEOMETRY.output == (2, 8, 3, 3)
    assert GEOMETRY.weight == (8, 4, 3, 3)
    assert GEOMETRY.flops == 2 * (2 * 8 * 3 * 3) * (4 * 3 * 3)
