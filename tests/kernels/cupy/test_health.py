"""A kernel that ends the CUDA context, on the double: who is named, and what everybody is told."""

import contextlib
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.context import gpu
from gluonish.core.errors import DeviceError, GluonishError
from gluonish.gluon import nn
from gluonish.kernels.cupy.health import Health, Trail
from gluonish.ndarray.ndarray import NDArray
from tests.kernels.cupy.machine import Event, Machine

ILLEGAL_ADDRESS = 700
LOST = r"gpu\(0\): expected kernels that run to their end, got cudaErrorIllegalAddress"

pytestmark = pytest.mark.timeout(60)


def lose(gpus: Any, machine: Machine) -> None:
    """Have every synchronization fail from now on, as after a kernel that left its memory."""
    machine.broken = gpus.cuda.runtime.CUDARuntimeError(ILLEGAL_ADDRESS)


def naive() -> bool:
    return type(mx.engine.current_engine()).__name__ == "NaiveEngine"


def fault(gpus: Any, machine: Machine) -> NDArray:
    """Run an operator whose kernel faults, behind others that are known to have ended."""
    x = nd.ones((4,), ctx=mx.gpu(0)) + 1
    x.wait_to_read()
    x._write(lambda out: lose(gpus, machine), name="bad_kernel")
    return x


@pytest.fixture
def faulty(gpus: Any, machine: Machine) -> Any:
    yield fault(gpus, machine)
    machine.broken = None
    with contextlib.suppress(GluonishError):
        nd.waitall()  # what nobody waited for


def test_error_names_the_operator_that_faulted(faulty: NDArray) -> None:
    with pytest.raises(GluonishError, match=LOST + r".*, in bad_kernel\. The device is lost"):
        faulty.asnumpy()


def test_every_operator_under_way_is_named(gpus: Any, machine: Machine) -> None:
    if naive():
        pytest.skip("the naive engine synchronizes after each launch")
    x = fault(gpus, machine)
    y = x * 2
    with pytest.raises(GluonishError, match=r"in one of .* .bad_kernel, _mul_scalar.*NaiveEngine"):
        y.asnumpy()
    machine.broken = None


def test_operator_of_a_hybridized_block_is_named(gpus: Any, machine: Machine) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=4), nn.LayerNorm(in_channels=3))
    net.initialize(ctx=mx.gpu(0))
    net.hybridize(static_alloc=True)
    x = nd.ones((2, 4), ctx=mx.gpu(0))
    net(x).wait_to_read()
    y = net(x)
    lose(gpus, machine)
    with pytest.raises(GluonishError, match="FullyConnected.*LayerNorm" if not naive() else LOST):
        (y if not naive() else net(x)).asnumpy()
    machine.broken = None


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize(
    "use",
    [
        lambda x: (nd.ones((2,), ctx=mx.gpu(0)) + 1).wait_to_read(),
        lambda x: nd.array(np.ones(3), ctx=mx.gpu(0)).asnumpy(),
        lambda x: nd.array(np.ones((300, 300)), ctx=mx.gpu(0)).asnumpy(),
        lambda x: x.as_in_context(mx.cpu()).asnumpy(),
        lambda x: mx.gpu(0).empty_cache(),
        lambda x: x[0] + 1,
        lambda x: mx.gpu(0).memory_info(),
    ],
)
def test_everything_after_says_that_the_device_is_lost(
    gpus: Any, machine: Machine, use: Any, everything: bool
) -> None:
    before = nd.ones((4,), ctx=mx.gpu(0))
    before.wait_to_read()
    x = fault(gpus, machine)
    with pytest.raises(GluonishError, match="bad_kernel"):
        x.asnumpy()
    if not everything:
        machine.broken = None  # whatever CUDA may say later
    with pytest.raises(GluonishError, match=r"bad_kernel\. The device is lost to this process"):
        use(before).wait_to_read()
    machine.broken = None


def test_waitall_tells_and_ends(faulty: NDArray) -> None:
    with pytest.raises(GluonishError, match="bad_kernel"):
        nd.waitall()


def test_other_device_goes_on(faulty: NDArray, gpus: Any, machine: Machine) -> None:
    with pytest.raises(GluonishError, match="bad_kernel"):
        faulty.asnumpy()
    machine.broken = None
    np.testing.assert_array_equal((nd.ones((2,), ctx=mx.gpu(1)) + 1).asnumpy(), [2, 2])


def test_what_was_kept_for_the_streams_is_let_go(gpus: Any, machine: Machine) -> None:
    x = nd.ones((1 << 16,)).as_in_context(mx.gpu(0))
    lose(gpus, machine)
    with pytest.raises(GluonishError):
        x.asnumpy()
    machine.broken = None
    device: Any = x._device
    with pytest.raises(DeviceError):
        device.ahead.keep(x)
    assert not device.ahead._held


def test_failures_that_leave_the_device_alive_stay_as_they_are(gpus: Any) -> None:
    health = Health(gpu(0), gpus)
    for error in (ValueError("x"), gpus.cuda.runtime.CUDARuntimeError(1)):
        assert health.explained(error) is error
    assert health.lost == ""
    health.check()


def test_failure_is_seen_through_the_error_of_the_operator(gpus: Any) -> None:
    health = Health(gpu(0), gpus)
    error = ValueError("relu failed")
    error.__cause__ = gpus.cuda.driver.CUDADriverError(719)
    assert isinstance(health.explained(error), DeviceError)


def test_trail_forgets_what_has_ended() -> None:
    trail = Trail()
    trail.names += [(1, "a"), (2, "b"), (3, "")]
    assert list(trail.suspects()) == ["a", "b", "an operator without a name"]
    trail.end(2)
    trail.end(1)
    assert list(trail.suspects()) == ["an operator without a name"]


def test_library_that_fails_on_a_lost_device_tells_of_the_device(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = nd.ones((2, 2), ctx=mx.gpu(0))
    x.wait_to_read()

    def refuse(out: Any) -> None:
        def record(self: Any, stream: Any = None) -> None:
            raise gpus.cuda.runtime.CUDARuntimeError(ILLEGAL_ADDRESS)

        monkeypatch.setattr(Event, "record", record)
        raise DeviceError("cublasGemmStridedBatchedEx: CUBLAS_STATUS_EXECUTION_FAILED (13)")

    x._write(refuse, name="product")
    with pytest.raises(GluonishError, match=LOST):
        x.asnumpy()
    with contextlib.suppress(GluonishError):
        nd.waitall()
