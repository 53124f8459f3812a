"""Records of repeated eager calls: equal results, and when they are not used."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd, profiler
from gluonish.core.config import GLUONISH_CUDA_VECTORS, MXNET_CUDA_ALLOW_TENSOR_CORE
from gluonish.core.context import gpu
from gluonish.core.device import device_of
from gluonish.core.errors import OperatorError
from gluonish.engine import use_engine
from gluonish.gluon import HybridBlock
from gluonish.kernels.cupy import launch_records
from gluonish.kernels.cupy.launch_records import LaunchRecord
from gluonish.ndarray import NDArray, eager
from gluonish.ops.registry import find_operator
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.streams import CUDADriverError
from tests.kernels.cupy.test_launch_path import calls_of

CALLS = 5  # the last ones by a record
SEED = int(os.environ.get("FAST_SEED", "0"))
DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "uint8")
SPECIAL = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 3e38, 1e-40, 7.0, 65504.0, 0.1])
MATRICES = {"dot": ((4, 8), (8, 6), (8, 4)), "batch_dot": ((3, 4, 8), (3, 8, 6), (3, 8, 4))}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    # Mixed precision, which another test may have turned on, wraps calls for good.
    monkeypatch.setattr(NDArray, "__apply__", staticmethod(eager.invoke))
    made = Machine(devices=2)
    with gpu_contexts(made, "ThreadedEnginePerDevice"):
        yield made


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call of `LaunchRecord.bind` gave a launch."""
    found: list[bool] = []
    bind = LaunchRecord.bind

    def noted(self: LaunchRecord, *inputs: Any) -> Any:
        result = bind(self, *inputs)
        found.append(result is not None)
        return result

    monkeypatch.setattr(LaunchRecord, "bind", noted)
    return found


def device() -> Any:
    return device_of(gpu())


def bits(array: NDArray) -> bytes:
    values = array.asnumpy()
    # Which NaN a sum gives is not defined.
    return bytes(np.where(values != values, np.float32(7), values).astype(values.dtype).tobytes())


def same(run: Callable[[], NDArray]) -> None:
    first, *others = [bits(run()) for _ in range(CALLS)]
    assert others == [first] * (CALLS - 1)


def values_of(dtype: str, count: int) -> NDArray:
    values = np.resize(SPECIAL, count)
    if dtype in ("int32", "uint8"):
        values = np.nan_to_num(values, nan=3, posinf=100, neginf=5) % 120
    return nd.array(values, dtype=dtype, ctx=gpu())


def attrs_of(name: str) -> dict[str, Any]:
    if name == "Cast":
        return {"dtype": "float16"}
    return {"scalar": 2.5} if name.endswith("_scalar") else {}


@pytest.mark.parametrize("name", sorted(launch_records._EXACT)[SEED % 3 :: 3])
def test_record_gives_the_bits_of_the_first_call(
    machine: Machine, bound: list[bool], name: str
) -> None:
    op = find_operator(name)
    dtype = np.random.default_rng([SEED, len(name)]).choice(DTYPES)
    a, b = values_of(dtype, 24), values_of(dtype, 24)[::-1].copy()
    inputs = [a, b][: len(op.inputs)]
    attrs = op.schema.parse(name, attrs_of(name))
    same(lambda: eager.invoke(op, inputs, attrs))
    served = device().launches[op]
    assert bound.count(True) >= CALLS - 3 or list(served.values()) == [None]


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_product_gives_the_bits_of_the_first_call(
    machine: Machine, bound: list[bool], name: str, dtype: str
) -> None:
    rng = np.random.default_rng(0)
    a, b, c = (nd.array(rng.normal(size=s), dtype=dtype, ctx=gpu()) for s in MATRICES[name])
    same(lambda: getattr(nd, name)(a, b))
    same(lambda: getattr(nd, name)(c, b, transpose_a=True))
    assert bound.count(True) >= 4
    before = len(bound)
    with MXNET_CUDA_ALLOW_TENSOR_CORE.override(False):
        getattr(nd, name)(a, b)
    assert bound[before:] == [False]


def test_zeros_of_either_sign_are_not_confused(machine: Machine) -> None:
    x = nd.array([1.0, -1.0, 2.0, -2.0], ctx=gpu())
    for _ in range(CALLS):
        assert np.signbit((x * 0.0).asnumpy()).tolist() == [False, True] * 2
        assert np.signbit((x * -0.0).asnumpy()).tolist() == [True, False] * 2


def test_result_that_somebody_has_is_not_used_again(machine: Machine, bound: list[bool]) -> None:
    a = nd.ones((4, 4), ctx=gpu())
    holders: list[Callable[[NDArray], Any]] = [
        lambda y: y,
        lambda y: y.reshape((2, 8)),
        lambda y: y.detach(),
        lambda y: y[1:],
        lambda y: y._data,
        lambda y: y._data.T,
        lambda y: y._data.data,
        lambda y: device().xp.ndarray((4, 4), y.dtype, y._data.data),
    ]
    for hold in holders:
        held = [hold(a * 2) for _ in range(CALLS)]
        places = {getattr(getattr(x, "_data", x), "data", x).ptr for x in held}
        assert len(places) == CALLS
    assert bound.count(True) >= CALLS * (len(holders) - 1)


def test_memory_of_a_result_is_used_again(machine: Machine) -> None:
    a = nd.ones((4, 4), ctx=gpu())
    kept = [(a * 2)._data.data.ptr for _ in range(CALLS + 3)]
    assert len(set(kept[3:])) <= 2
    table = device().launches
    assert table.kept > 0
    used = device().memory_info().used
    device().empty_cache()
    assert table.kept == 0
    assert device().memory_info().used < used


def test_values_kept_over_calls_do_not_change(machine: Machine) -> None:
    x = nd.ones((8,), ctx=gpu())
    kept = []
    for i in range(3 * CALLS):
        y = x + x
        if i % 3 == 0:
            kept.append(y)
        x = y * 0.5 + 1 if i % 2 else y * 0.5
    expected, sums = 1.0, []
    for i in range(3 * CALLS):
        if i % 3 == 0:
            sums.append(2 * expected)
        expected += i % 2
    assert [float(y[0].asscalar()) for y in kept] == sums


def test_switch_takes_effect_at_the_next_call(machine: Machine, bound: list[bool]) -> None:
    a = nd.ones((4, 4), ctx=gpu())
    for _ in range(CALLS):
        a + a
    bound.clear()
    with GLUONISH_CUDA_VECTORS.override(False):
        for _ in range(CALLS):
            a + a
    assert bound == [False, *[True] * 2]


def test_other_allocators_are_asked(machine: Machine, bound: list[bool]) -> None:
    a = nd.ones((4, 4), ctx=gpu())
    for _ in range(CALLS):
        a + a
    bound.clear()
    cuda, asked = device().xp.cuda, []

    def allocate(nbytes: int) -> Any:
        asked.append(nbytes)
        return device()._allocator(nbytes)

    with cuda.using_allocator(allocate):
        a + a
    assert bound == [False]
    assert asked == [64]


def test_views_and_odd_addresses_go_the_longer_way(machine: Machine, bound: list[bool]) -> None:
    a = nd.arange(12, ctx=gpu())
    expected = np.arange(1, 12, dtype="float32") * 2
    for _ in range(CALLS):
        assert np.array_equal((a[1:] + a[1:]).asnumpy(), expected)
    assert True not in bound


def test_error_of_a_launch_is_raised_at_the_wait(machine: Machine) -> None:
    a = nd.ones((4, 4), ctx=gpu())
    for _ in range(CALLS):
        a + a

    def fail(*args: Any) -> None:
        raise CUDADriverError(401)

    functions = dict(machine.functions)
    machine.functions.update(dict.fromkeys(functions, fail))
    y = a + a
    z = y * 2
    machine.functions.update(functions)
    for failed in (y, z):
        with pytest.raises(OperatorError, match="broadcast_add"):
            failed.wait_to_read()
    assert float((a + a)[0, 0].asscalar()) == 2


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEngine"])
def test_engines_agree(machine: Machine, engine: str) -> None:
    with use_engine(engine):
        a = nd.ones((4, 4), ctx=gpu())
        for _ in range(CALLS):
            a = a + a
        assert float(a[0, 0].asscalar()) == 2**CALLS


def test_second_device_and_new_threads_launch(machine: Machine, bound: list[bool]) -> None:
    arrays = [nd.ones((4, 4), ctx=gpu(i)) for i in range(2)]
    results: list[float] = []

    def work() -> None:
        for _ in range(4 * CALLS):
            for x in arrays:
                results.append(float((x + x)[0, 0].asscalar()))

    work()
    bound.clear()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(results) == {2.0}
    assert all(bound)


def test_uploaded_array_is_read_behind_its_upload(machine: Machine, bound: list[bool]) -> None:
    shape = (256, 256)  # copied on a stream of its own
    for i in range(CALLS):
        x = nd.array(np.full(shape, i, "float32"), ctx=gpu())
        assert float((x + x)[0, 0].asscalar()) == 2 * i
        assert float((x + x)[0, 0].asscalar()) == 2 * i
    assert True in bound


def test_recorded_calls_have_their_gradient(machine: Machine, bound: list[bool]) -> None:
    x, b = (nd.ones((4, 4), ctx=gpu()) for _ in range(2))
    x.attach_grad()
    for _ in range(CALLS):
        with autograd.record():
            y = (x * b + x) * 3
        y.backward()
        assert float(x.grad[0, 0].asscalar()) == 6
    assert True in bound


def test_profiler_sees_every_call(
    machine: Machine, bound: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    a = nd.ones((4, 4), ctx=gpu())
    for _ in range(CALLS):
        a + a
    bound.clear()
    profiler.set_config(profile_all=True, aggregate_stats=True)
    profiler.set_state("run")
    try:
        for _ in range(CALLS):
            a + a
        nd.waitall()
    finally:
        profiler.set_state("stop")
    assert "broadcast_add" in profiler.dumps(reset=True)
    assert bound == []


class _Sums(HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
        return F.softmax((x * 2 + w) * x) * 3 - x


@pytest.mark.parametrize("shared", [False, True])
def test_hybridized_program_launches_on_moved_arrays(machine: Machine, shared: bool) -> None:
    net = _Sums()
    rng = np.random.default_rng(0)
    given = [nd.array(rng.normal(size=(4, 8)), ctx=gpu()) for _ in range(4)]
    w = nd.array(rng.normal(size=(8,)), ctx=gpu())
    expected = [bits(net(x, w)) for x in given]
    net.hybridize(static_alloc=shared)
    for _ in range(3):
        assert [bits(net(x, w)) for x in given] == expected
    # A view with another address, and a switch that chooses another kernel.
    longer = nd.array(np.concatenate([np.zeros(1), given[0].asnumpy().ravel()]), ctx=gpu())
    assert bits(net(longer[1:].reshape((4, 8)), w)) == expected[0]
    with GLUONISH_CUDA_VECTORS.override(False):
        assert bits(net(given[1], w)) == expected[1]
    assert bits(net(given[1], w)) == expected[1]


def test_hybridized_program_needs_few_calls(machine: Machine) -> None:
    net = _Sums()
    x, w = nd.ones((4, 8), ctx=gpu()), nd.ones((8,), ctx=gpu())
    net.hybridize()
    for _ in range(4):
        net(x, w)
    found = calls_of(lambda: net(x, w))
    assert found.count("pointwise.run") == 2
    assert "pointwise._run" not in found
