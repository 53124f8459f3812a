"""SyncBatchNorm on several devices against BatchNorm on one that has the whole batch."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.engine import use_engine
from gluonish.ndarray import rendezvous

pytestmark = pytest.mark.timeout(60)
LONG_S = 30
CHANNELS = 3
Results = dict[str, Any]


def values(shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = np.random.default_rng(seed).normal(3, 2, shape)
    return found.astype(np.float32)


def arrays(data: np.ndarray[Any, Any], dtype: str, ctx: Any) -> list[Any]:
    """Return data, gamma, beta, moving mean and variance; the first three ask for gradients."""
    made = [mx.nd.array(data, ctx=ctx, dtype=dtype)]
    for seed in range(1, 5):
        made.append(mx.nd.array(np.abs(values((CHANNELS,), seed)), ctx=ctx))
    for array in made[:3]:
        array.attach_grad()
    return made


def results(outputs: Sequence[Any], given: Sequence[Sequence[Any]]) -> Results:
    """Gather what devices computed into what one would compute."""
    data, gamma, beta, mean, variance = zip(*given, strict=True)
    for moving in (mean, variance):
        for same in moving:
            np.testing.assert_array_equal(same.asnumpy(), moving[0].asnumpy())
    return {
        "output": np.concatenate([y.asnumpy() for y in outputs]),
        "data": np.concatenate([x.grad.asnumpy() for x in data]),
        "gamma": sum(x.grad.asnumpy() for x in gamma),
        "beta": sum(x.grad.asnumpy() for x in beta),
        "mean": mean[0].asnumpy(),
        "variance": variance[0].asnumpy(),
    }


def alone(data: np.ndarray[Any, Any], heads: Any, dtype: str = "float32", **attrs: Any) -> Results:
    given = arrays(data, dtype, mx.cpu())
    with mx.autograd.record():
        y = mx.nd.BatchNorm(*given, **attrs)
    y.backward(mx.nd.array(heads, dtype=dtype))
    return results([y], [given])


def in_turn(devices: int, *steps: Callable[[int], Any]) -> None:
    for step in steps:
        for i in range(devices):
            step(i)


def in_threads(devices: int, *steps: Callable[[int], Any]) -> None:
    def run(i: int) -> None:
        for step in steps:
            step(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(devices)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)


def together(
    data: Sequence[Any],
    heads: Sequence[Any],
    dtype: str = "float32",
    run: Callable[..., None] = in_turn,
    **attrs: Any,
) -> Results:
    given = [arrays(x, dtype, mx.cpu(i)) for i, x in enumerate(data)]
    outputs: list[Any] = [None] * len(data)

    def forward(i: int) -> None:
        with mx.autograd.record():
            outputs[i] = mx.nd.contrib.SyncBatchNorm(*given[i], ndev=len(data), key="k", **attrs)

    def backward(i: int) -> None:
        outputs[i].backward(mx.nd.array(heads[i], ctx=mx.cpu(i), dtype=dtype))

    run(len(data), forward, backward)
    return results(outputs, given)


def check(found: Results, expected: Results, tolerance: float = 1e-5) -> None:
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, tolerance, tolerance, err_msg=name)


@pytest.mark.parametrize("run", [in_turn, in_threads])
@pytest.mark.parametrize("attrs", [{}, {"fix_gamma": False, "eps": 0.1, "momentum": 0.5}])
@pytest.mark.parametrize("shape", [(8, CHANNELS), (8, CHANNELS, 5), (8, CHANNELS, 4, 3)])
@pytest.mark.parametrize("devices", [2, 4])
def test_devices_together_equal_one(
    devices: int, shape: tuple[int, ...], attrs: dict[str, Any], run: Any
) -> None:
    data, heads = values(shape), values(shape, 9)
    found = together(np.split(data, devices), np.split(heads, devices), run=run, **attrs)
    check(found, alone(data, heads, **attrs))


def test_devices_may_have_batches_of_different_size() -> None:
    data, heads = values((7, CHANNELS, 2)), values((7, CHANNELS, 2), 9)
    found = together([data[:2], data[2:]], [heads[:2], heads[2:]])
    check(found, alone(data, heads))


def test_half_precision_data_have_float32_statistics() -> None:
    data, heads = values((8, CHANNELS, 2)), values((8, CHANNELS, 2), 9)
    found = together(np.split(data, 2), np.split(heads, 2), "float16")
    check(found, alone(data, heads, "float16"), 2e-2)
    assert found["mean"].dtype == np.float32


def test_large_arrays_do_not_make_the_caller_wait() -> None:
    data, heads = values((64, CHANNELS, 64, 64)), values((64, CHANNELS, 64, 64), 9) - 3
    found = together(np.split(data, 2), np.split(heads, 2), fix_gamma=False)
    check(found, alone(data, heads, fix_gamma=False), 2e-3)


def test_mean_and_variance_are_those_of_the_whole_batch() -> None:
    data = values((4, CHANNELS, 2))
    given = [arrays(x, "float32", mx.cpu(i)) for i, x in enumerate(np.split(data, 2))]
    with mx.autograd.train_mode():
        outputs = [
            mx.nd.contrib.SyncBatchNorm(*x, ndev=2, key="k", output_mean_var=True) for x in given
        ]
    for _, mean, variance in outputs:
        np.testing.assert_allclose(mean.asnumpy(), data.mean((0, 2)), 1e-5)
        np.testing.assert_allclose(variance.asnumpy(), data.var((0, 2)), 1e-5)


def test_second_order_gradients_go_through_all_devices() -> None:
    data, heads = values((4, CHANNELS, 2)), values((4, CHANNELS, 2), 9)

    def penalties(parts: Any, weights: Any, normalize: Any) -> Any:
        given = [arrays(x, "float32", mx.cpu(i)) for i, x in enumerate(parts)]
        with mx.autograd.record():
            outputs = [
                (normalize(x) * mx.nd.array(w, ctx=x[0].context)).sum()
                for x, w in zip(given, weights, strict=True)
            ]
            found = mx.autograd.grad(outputs, [x[0] for x in given], create_graph=True)
            squares = [(g * g).sum() for g in found]
        mx.autograd.backward(squares)
        return np.concatenate([x[0].grad.asnumpy() for x in given])

    expected = penalties([data], [heads], lambda x: mx.nd.BatchNorm(*x, fix_gamma=False))
    found = penalties(
        np.split(data, 2),
        np.split(heads, 2),
        lambda x: mx.nd.contrib.SyncBatchNorm(*x, fix_gamma=False, ndev=2, key="k"),
    )
    np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


def test_arrays_of_np_give_arrays_of_np() -> None:
    data, heads = values((4, CHANNELS, 2)), values((4, CHANNELS, 2), 9)
    given = [arrays(x, "float32", mx.cpu(i)) for i, x in enumerate(np.split(data, 2))]
    as_np = [[x.as_np_ndarray() for x in one] for one in given]
    with mx.autograd.record():
        outputs = [mx.nd.contrib.SyncBatchNorm(*x, ndev=2, key="k") for x in as_np]
    assert all(isinstance(y, mx.np.ndarray) for y in outputs)
    found = np.concatenate([y.asnumpy() for y in outputs])
    np.testing.assert_allclose(found, alone(data, heads)["output"], 1e-5, 1e-5)


def test_forgotten_device_is_an_error_and_costs_that_step_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rendezvous, "PATIENCE_S", 0.1)
    data = values((4, CHANNELS, 2))
    given = arrays(data, "float32", mx.cpu())
    with mx.autograd.record():
        y = mx.nd.contrib.SyncBatchNorm(*given, ndev=2, key="k")
    with pytest.raises(mx.base.MXNetError, match=r"SyncBatchNorm: .*expected calls on 2 devices"):
        y.asnumpy()
    np.testing.assert_array_equal(given[3].asnumpy(), np.abs(values((CHANNELS,), 3)))
    check(together(np.split(data, 2), np.split(data, 2)), alone(data, data))


def test_forgotten_backward_pass_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendezvous, "PATIENCE_S", 0.1)
    given = [arrays(values((4, CHANNELS), i), "float32", mx.cpu(i)) for i in range(2)]
    with mx.autograd.record():
        outputs = [mx.nd.contrib.SyncBatchNorm(*x, ndev=2, key="k") for x in given]
    outputs[0].backward()
    with pytest.raises(mx.base.MXNetError, match=r"SyncBatchNorm \(backward\): .*expected calls"):
        given[0][0].grad.asnumpy()


def test_step_that_was_broken_off_does_not_mix_with_the_next() -> None:
    data = values((4, CHANNELS, 2))
    with mx.autograd.record():
        lost = mx.nd.contrib.SyncBatchNorm(
            *arrays(values((2, CHANNELS, 2), 5), "float32", mx.cpu()), ndev=2, key="k"
        )
    del lost
    check(together(np.split(data, 2), np.split(data, 2)), alone(data, data))
    with pytest.raises(mx.base.MXNetError, match="expected calls on 2 devices"):
        mx.nd.waitall()


def test_out_is_refused() -> None:
    given = arrays(values((4, CHANNELS)), "float32", mx.cpu())
    with mx.autograd.train_mode(), pytest.raises(mx.base.MXNetError, match="expected no out"):
        mx.nd.contrib.SyncBatchNorm(*given, ndev=2, key="k", out=given[0])


def test_naive_engine_trains_in_threads() -> None:
    data, heads = values((4, CHANNELS, 2)), values((4, CHANNELS, 2), 9)
    with use_engine("NaiveEngine"):
        found = together(np.split(data, 2), np.split(heads, 2), run=in_threads)
        check(found, alone(data, heads))
