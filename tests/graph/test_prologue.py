"""What follows from parameters only is computed when they change, and at no other call."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.graph.arenas import Arenas
from gluonish.graph.executable import Executable
from gluonish.graph.execution_plan import plan_execution
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.ndarray import empty_like_spec
from gluonish.ops.registry import Operator
from tests.graph.builders import call, inputs

nn, nd = mx.gluon.nn, mx.nd


class Reshaped(mx.gluon.HybridBlock):
    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.reshape(x, self.shape)


class _Counted:
    """An operator that doubles, and counts how often it was run."""

    def __init__(self) -> None:
        self.runs = 0

        def kernel(xp: Any, out: Any, x: Any) -> None:
            self.runs += 1
            xp.add(x, x, out=out)

        self.op = Operator("doubled", lambda x: (x,), kernel, None, doc="2 x.")

    def __call__(self, x: Value) -> Value:
        return Value(Node(self.op, "doubled", (x,), {}, (x.spec,)))


def _executable(
    externals: list[Value], outputs: list[Value], constant_inputs: tuple[int, ...]
) -> Executable:
    nodes = [node for node in topological_order(outputs) if node.op is not None]
    device = device_of(cpu())
    plan = plan_execution(
        nodes,
        externals,
        outputs,
        device,
        segment_size=100,
        constant_inputs=constant_inputs,
    )
    arenas = Arenas(device, keep=True)
    return Executable(plan, device, arenas=arenas, name="net")


def _call(executable: Executable, spec: Any, *arrays: NDArray) -> list[float]:
    result = empty_like_spec(spec, executable.device)
    executable(arrays, [result])
    values: list[float] = result.asnumpy().tolist()
    return values


@pytest.fixture
def made() -> tuple[_Counted, Executable, Any]:
    doubled = _Counted()
    x, weight = inputs((2,), (2,))
    y = call("elemwise_add", x, doubled(weight))
    return doubled, _executable([x, weight], [y], (1,)), y.spec


def test_it_runs_once_while_the_parameter_stays(made: tuple[_Counted, Executable, Any]) -> None:
    doubled, executable, spec = made
    weight = array([1, 2])
    assert _call(executable, spec, array([10, 20]), weight) == [12, 24]
    assert _call(executable, spec, array([0, 1]), weight) == [2, 5]
    assert doubled.runs == 1


def test_a_write_to_the_parameter_runs_it_again(made: tuple[_Counted, Executable, Any]) -> None:
    doubled, executable, spec = made
    weight = array([1, 2])
    _call(executable, spec, array([10, 20]), weight)
    weight[:] = 5
    assert _call(executable, spec, array([10, 20]), weight) == [20, 30]
    weight += 1
    assert _call(executable, spec, array([10, 20]), weight) == [22, 32]
    assert doubled.runs == 3


def test_another_array_in_its_place_runs_it_again(made: tuple[_Counted, Executable, Any]) -> None:
    doubled, executable, spec = made
    _call(executable, spec, array([10, 20]), array([1, 2]))
    assert _call(executable, spec, array([10, 20]), array([3, 4])) == [16, 28]
    assert doubled.runs == 2


def test_an_error_in_it_is_raised_and_leaves_nothing_behind() -> None:
    fails = [True]

    def kernel(xp: Any, out: Any, x: Any) -> None:
        if fails[0]:
            raise ValueError("broken")
        out[...] = x

    op = Operator("fragile", lambda x: (x,), kernel, None, doc="x, if it likes to.")
    x, weight = inputs((2,), (2,))
    y = call("elemwise_add", x, Value(Node(op, "fragile", (weight,), {}, (weight.spec,))))
    executable = _executable([x, weight], [y], (1,))
    arrays = (array([1, 2]), array([3, 4]))
    with pytest.raises(mx.base.MXNetError, match="broken"):
        _call(executable, y.spec, *arrays)
    fails[0] = False
    assert _call(executable, y.spec, *arrays) == [4, 6]


def test_threads_share_it(made: tuple[_Counted, Executable, Any]) -> None:
    doubled, executable, spec = made
    weight = array([1, 2])
    found: list[list[float]] = []

    def work(start: float) -> None:
        for i in range(50):
            values = _call(executable, spec, array([start, i]), weight)
            if values != [start + 2, i + 4]:
                found.append(values)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not found
    assert doubled.runs == 1


def test_a_network_sees_every_change_of_its_parameters() -> None:
    net = mx.gluon.nn.HybridSequential()
    net.add(
        mx.gluon.nn.Conv2D(8, 3, in_channels=4),
        mx.gluon.nn.BatchNorm(in_channels=8),
        mx.gluon.nn.Activation("relu"),
        mx.gluon.nn.Dense(5, in_units=8 * 6 * 6),
    )
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(2, 4, 8, 8))
    random = np.random.default_rng(0)
    for active in ({}, {"static_alloc": True}):
        for parameter in net.collect_params().values():
            values = random.uniform(0.5, 1, parameter.shape)
            net.hybridize(False)
            parameter.set_data(mx.nd.array(values))
            wanted = net(x).asnumpy()
            net.hybridize(True, clear=False, **active)
            for _ in range(2):
                np.testing.assert_allclose(net(x).asnumpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "layers"),
    [
        ((320, 1, 8, 8), lambda: [nn.Flatten(), nn.Dense(64)]),
        ((320, 64), lambda: [Reshaped((-1, 8, 8)), Reshaped((-1, 64)), nn.Dense(64)]),
        ((64, 256), lambda: [Reshaped((-1, 16, 4, 4)), nn.Conv2D(32, 3, padding=1)]),
        ((64, 256), lambda: [Reshaped((-1, 16, 4, 4)), nn.Conv2DTranspose(32, 3)]),
        ((40, 8, 64), lambda: [Reshaped((-1, 64)), nn.Dense(64, activation="relu")]),
    ],
)
def test_weights_are_packed_for_another_shape_of_the_input(
    shape: tuple[int, ...], layers: Callable[[], list[mx.gluon.Block]]
) -> None:
    net = nn.HybridSequential()
    net.add(*layers())
    net.initialize()
    x = nd.random.normal(shape=shape)
    expected = net(x).asnumpy()
    net.hybridize(static_alloc=True)
    for _ in range(2):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)
