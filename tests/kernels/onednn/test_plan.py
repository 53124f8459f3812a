import threading
from collections.abc import Callable

import numpy as np
import pytest

from gluonish.kernels.onednn import Backend, OneDNNError
from gluonish.kernels.onednn.batch_norm import batch_norm
from gluonish.kernels.onednn.plan import Builder
from gluonish.kernels.onednn.pooling import pooling_backward
from gluonish.ops.kernel import Array, RefusedError
from gluonish.ops.nn.pooling import POOLING
from gluonish.ops.normalization.batch_norm import BATCH_NORM
from tests.kernels.onednn.planned import parsed, run
from tests.kernels.onednn.products import convolution, convolution_backward_weight, matmul

THREADS = 4
REPEATS = 25
TIMEOUT_S = 60


def _inputs(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((2, 5, 9, 9), dtype=np.float32)
    return data, rng.standard_normal((7, 5, 3, 3), dtype=np.float32)


def _convolution(seed: int) -> list[Array]:
    data, weight = _inputs(seed)
    out = np.empty((2, 7, 7, 7), np.float32)
    convolution(out, data, weight, kernel=(3, 3))
    return [out]


def _convolution_weight(seed: int) -> list[Array]:
    data, weight = _inputs(seed)
    grad = np.repeat(data[:, :1, :7, :7], 7, axis=1)
    out = np.empty_like(weight)
    convolution_backward_weight(out, grad, data, kernel=(3, 3))
    return [out]


def _pooling(seed: int) -> list[Array]:
    data, _ = _inputs(seed)
    out = np.empty_like(data)
    grad = np.ascontiguousarray(data[:, :, :4, :4])
    attrs = parsed(POOLING, kernel=(3, 3), stride=(2, 2), pool_type="max")
    run(pooling_backward, [out], [grad, data, grad], attrs)
    return [out]


def _batch_norm(seed: int) -> list[Array]:
    data, _ = _inputs(seed)
    out, mean, var = np.empty_like(data), np.empty(5, np.float32), np.empty(5, np.float32)
    ones = np.ones(5, np.float32)
    moving = [np.zeros(5, np.float32), np.ones(5, np.float32)]
    inputs = [data, ones, ones, *moving]
    run(batch_norm, [out, mean, var], inputs, parsed(BATCH_NORM))
    return [out, mean, var, *moving]


def _product(seed: int) -> list[Array]:
    data, _ = _inputs(seed)
    rows = data.reshape(-1, 9)
    out = np.empty((rows.shape[0], rows.shape[0]), np.float32)
    matmul(out, rows, rows, transpose_b=True)
    return [out]


KERNELS = (_convolution, _convolution_weight, _pooling, _batch_norm, _product)


def _run_together(jobs: list[Callable[[], None]]) -> None:
    """Start all jobs at once, each in a thread; raise what any of them raised."""
    barrier, errors = threading.Barrier(len(jobs)), []

    def guarded(job: Callable[[], None]) -> None:
        try:
            barrier.wait(TIMEOUT_S)
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
        assert not thread.is_alive()
    for error in errors:
        raise error


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_one_plan_in_four_threads_gives_each_its_own_result(
    kernel: Callable[[int], list[Array]],
) -> None:
    expected = [kernel(seed) for seed in range(THREADS)]

    def job(seed: int) -> None:
        for _ in range(REPEATS):
            for actual, wanted in zip(kernel(seed), expected[seed], strict=True):
                np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-5)

    _run_together([lambda seed=seed: job(seed) for seed in range(THREADS)])


def test_different_plans_in_four_threads_with_a_cache_that_evicts(backend: Backend) -> None:
    backend.plans.capacity = 2
    expected = [kernel(0) for kernel in KERNELS]

    def job(start: int) -> None:
        for turn in range(REPEATS):
            index = (start + turn) % len(KERNELS)
            for actual, wanted in zip(KERNELS[index](0), expected[index], strict=True):
                np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-5)

    _run_together([lambda start=start: job(start) for start in range(THREADS)])
    assert len(backend.plans) <= 2


def test_memory_objects_are_used_again_by_the_next_run(backend: Backend) -> None:
    _product(0)
    (plan,) = backend.plans._plans.values()
    (call,) = plan._idle
    _product(1)
    assert plan._idle == [call]


def test_the_scratch_buffer_grows_and_is_used_again(backend: Backend) -> None:
    thread = backend.engine.thread()
    first = thread.reserve(100)
    assert first % 4096 == 0
    assert thread.reserve(50) == first
    thread.reserve(1 << 20)
    assert thread.nbytes >= 1 << 20
    assert backend.engine.thread() is thread


def test_each_thread_has_its_own_scratch_buffer(backend: Backend) -> None:
    found = []
    _run_together([lambda: found.append(backend.engine.thread())])
    assert found[0] is not backend.engine.thread()


LARGE = 1 << 21  # bytes: more than a thread has of its own


def test_a_large_buffer_goes_from_thread_to_thread(backend: Backend) -> None:
    thread = backend.engine.thread()
    first = thread.reserve(LARGE)
    assert thread.reserve(LARGE - 1) == first
    assert backend.engine.workspaces.nbytes == 0
    thread.run(())
    assert backend.engine.workspaces.nbytes == LARGE
    found = []
    _run_together([lambda: found.append(backend.engine.thread().reserve(LARGE))])
    assert found == [first]


def test_a_run_that_fails_gives_its_buffer_back(backend: Backend) -> None:
    thread = backend.engine.thread()
    thread.reserve(LARGE)
    with pytest.raises(RefusedError):
        thread.run([(0, 0, None, 1)])
    assert backend.engine.workspaces.nbytes == LARGE


def test_a_plan_names_its_implementations_reorders_included(backend: Backend) -> None:
    _convolution(0)
    (plan,) = backend.plans._plans.values()
    assert len(plan.implementations) >= 1
    assert all(plan.implementations)


def test_slots_of_different_shapes_are_refused(backend: Backend) -> None:
    builder = Builder(backend.engine)
    small = builder.operand(backend.engine.describe(np.zeros(3, np.float32)))
    large = builder.operand(backend.engine.describe(np.zeros(4, np.float32)))
    with pytest.raises(RefusedError, match="dnnl_reorder_primitive_desc_create"):
        builder.reorder(small, large)


def test_a_temporary_that_nothing_wrote_cannot_be_read(backend: Backend) -> None:
    builder = Builder(backend.engine)
    target = builder.operand(backend.engine.describe(np.zeros(3, np.float32)))
    with pytest.raises(OneDNNError, match="a temporary that was written"):
        builder.reorder(builder.temporary(), target)


def test_the_wrong_number_of_arrays_is_an_error(backend: Backend) -> None:
    builder = Builder(backend.engine)
    layout = backend.engine.describe(np.zeros(3, np.float32))
    builder.reorder(builder.operand(layout), builder.operand(layout))
    with pytest.raises(ValueError, match="zip"):
        builder.build().run(np.zeros(3, np.float32))
