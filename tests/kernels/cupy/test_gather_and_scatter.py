"""Rows at positions on a GPU: gathered, put, and summed in a fixed order without a wait."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import GLUONISH_CUDA_SCATTER
from gluonish.core.errors import OperatorIndexError
from gluonish.kernels.cupy import gather, scatter
from gluonish.ops.indexing.gather_nd import (
    GATHER_ND,
    SCATTER_ADD_ND,
    SCATTER_ND,
    SCATTER_SET_ND,
)
from gluonish.ops.indexing.take import TAKE, TAKE_ADD
from gluonish.ops.nn.embedding import EMBEDDING, EMBEDDING_BACKWARD
from tests.kernels.cupy.host_kernels import backwards
from tests.kernels.cupy.one_device import COMPILED, OneDevice, note_launches

pytestmark = COMPILED
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
POSITIONS = [np.float16, BFLOAT16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.int64]
FLOATS = [np.float16, BFLOAT16, np.float32, np.float64]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that were launched."""
    return note_launches(monkeypatch, gather, scatter)


def _numbers(shape: tuple[int, ...], dtype: Any, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(-60, 60, shape).astype(dtype)


def _positions(shape: tuple[int, ...], low: int, high: int, dtype: Any = np.int32) -> Any:
    return np.random.default_rng(7).integers(low, high, shape).astype(dtype)


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.float16, BFLOAT16, np.float32, np.int64])
@pytest.mark.parametrize("width", [1, 3, 8, 64])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_take_is_numpys(
    device: OneDevice, launched: list[str], mode: str, width: int, kind: Any
) -> None:
    a, where = _numbers((7, width), kind), _positions((5, 6), -20, 20)
    (got,) = device.run(TAKE, a, where, axis=0, mode=mode)
    np.testing.assert_array_equal(got, np.take(a, where, axis=0, mode=mode).astype(kind))
    assert launched == ["gather_rows"]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_take_along_any_axis(device: OneDevice, launched: list[str], axis: int) -> None:
    a, where = _numbers((4, 5, 16), np.float32), _positions((2, 3), -9, 9)
    (got,) = device.run(TAKE, a, where, axis=axis, mode="clip")
    np.testing.assert_array_equal(got, np.take(a, where, axis=axis, mode="clip"))
    (got,) = device.run(TAKE_ADD, got, where, shape=a.shape, axis=axis, mode="wrap")
    wanted = np.zeros_like(a)
    taken = np.take(a, where, axis=axis, mode="clip")
    first = axis % 3
    rows = np.moveaxis(taken, (first, first + 1), (0, 1))
    np.add.at(np.moveaxis(wanted, axis, 0), where % a.shape[axis], rows)
    np.testing.assert_array_equal(got, wanted)
    assert launched == ["gather_rows", "sort_chunks", "sum_segments", "finish_rows"]


@pytest.mark.parametrize("kind", POSITIONS)
def test_positions_have_any_dtype_and_fractions_are_cut_off(device: OneDevice, kind: Any) -> None:
    a = _numbers((9, 8), np.float32)
    where = np.array([0, 3.75, 8, 100, 2], kind)
    (got,) = device.run(TAKE, a, where, axis=0, mode="clip")
    np.testing.assert_array_equal(got, a[[0, 3, 8, 8, 2]])
    if np.dtype(kind).kind != "u":
        (got,) = device.run(TAKE, a, np.array([-1, -10], kind), axis=0, mode="wrap")
        np.testing.assert_array_equal(got, a[[8, 8]])


def test_positions_out_of_range_are_an_error_in_mode_raise(device: OneDevice) -> None:
    a = _numbers((4, 3), np.float32)
    (got,) = device.run(TAKE, a, np.array([3, 0]), axis=0, mode="raise")
    np.testing.assert_array_equal(got, a[[3, 0]])
    with pytest.raises(OperatorIndexError, match=r"take: expected positions in \[0, 4\)"):
        device.run(TAKE, a, np.array([1, 4]), axis=0, mode="raise")
    with pytest.raises(OperatorIndexError, match=r"take: expected positions in \[0, 4\)"):
        device.run(TAKE_ADD, a, np.array([1, 4, 2, 2]), shape=(4, 3), axis=0, mode="raise")


def test_points_out_of_range_are_an_error(device: OneDevice) -> None:
    a, wrong = _numbers((4, 3), np.float32), np.array([[0, 1], [1, 3]])
    with pytest.raises(OperatorIndexError, match="gather_nd: expected coordinates"):
        device.run(GATHER_ND, a, wrong)
    with pytest.raises(OperatorIndexError, match="scatter_nd: expected coordinates"):
        device.run(SCATTER_ND, a[0, :2], wrong, shape=(4, 3))


@pytest.mark.parametrize("kind", FLOATS)
def test_embedding_and_its_gradient(device: OneDevice, launched: list[str], kind: Any) -> None:
    table, words = _numbers((50, 24), kind), _positions((6, 20), -3, 60, np.float32)
    attrs = {"input_dim": 50, "output_dim": 24}
    (got,) = device.run(EMBEDDING, words, table, **attrs)
    rows = np.clip(words.astype(np.int64), 0, 49)
    np.testing.assert_array_equal(got, table[rows])
    grad = _numbers((6, 20, 24), kind, 5)
    (got,) = device.run(EMBEDDING_BACKWARD, grad, words, **attrs)
    wanted = np.zeros((50, 24))
    np.add.at(wanted, rows, grad.astype(np.float64))
    np.testing.assert_array_equal(got, wanted.astype(kind))
    assert launched == ["gather_rows", "sort_chunks", "sum_segments", "finish_rows"]


def _in_order(grad: Any, rows: Any, count: int) -> Any:
    """Return sums of rows in order, in the type that 16-bit floats are added in."""
    wide = np.float64 if grad.dtype == np.float64 else np.float32
    total = np.zeros((count, grad.shape[1]), wide)
    np.add.at(total, rows, grad.astype(wide))
    return total.astype(grad.dtype)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("width", [1, 5, 16])
def test_sums_have_the_bits_of_sums_in_order(device: OneDevice, width: int, kind: Any) -> None:
    rows = np.array([3, 1, 3, 3, 0, 3, 1, 6] * 3)  # fewer than a segment
    assert rows.size <= scatter._LEAST_SEGMENT
    grad = np.random.default_rng(3).standard_normal((rows.size, width)).astype(kind)
    (got,) = device.run(TAKE_ADD, grad, rows, shape=(8, width), axis=0, mode="clip")
    np.testing.assert_array_equal(got, _in_order(grad, rows, 8))


@pytest.mark.parametrize("kind", [BFLOAT16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("many", "count"), [(33, 1), (100, 2), (300, 3), (1000, 40), (64, 64), (400, 1000)]
)
def test_rows_of_several_segments_are_summed(
    device: OneDevice, many: int, count: int, kind: Any
) -> None:
    rows = _positions((many,), 0, count)
    grad = np.random.default_rng(many).standard_normal((many, 6)).astype(kind)
    calls = [
        device.run(TAKE_ADD, grad, rows, shape=(count, 6), axis=0, mode="clip")[0] for _ in range(2)
    ]
    with backwards():
        calls += device.run(TAKE_ADD, grad, rows, shape=(count, 6), axis=0, mode="clip")
    exact = np.zeros((count, 6))
    np.add.at(exact, rows, grad.astype(np.float64))
    size = np.zeros((count, 6))
    np.add.at(size, rows, np.abs(grad.astype(np.float64)))
    step = {2: 2.0**-8, 4: many * 2.0**-24, 8: many * 2.0**-53}[np.dtype(kind).itemsize]
    assert (np.abs(calls[0].astype(np.float64) - exact) <= step * size + 1e-300).all()
    for other in calls[1:]:  # in any order of blocks
        np.testing.assert_array_equal(other, calls[0])


@pytest.mark.parametrize("rows", ["sorted", "one", "ends", "whole segments"])
def test_every_place_of_a_row_among_segments(device: OneDevice, rows: str) -> None:
    many, size = 128, scatter._segment(128)
    where = {
        "sorted": np.arange(many) // 3,
        "one": np.full(many, 5),
        "ends": np.repeat([1, 2, 4], [size - 1, 2, many - size - 1]),
        "whole segments": np.arange(many) // size,
    }[rows]
    grad = _numbers((many, 4), np.float32)
    count = int(where.max()) + 3
    (got,) = device.run(TAKE_ADD, grad, where, shape=(count, 4), axis=0, mode="clip")
    np.testing.assert_array_equal(got, _in_order(grad, where, count))


@pytest.mark.parametrize("many", [1, 7, 33, 200])
def test_positions_are_sorted_and_equal_ones_keep_their_order(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(scatter, "_CHUNK", 32)
    where = _positions((many,), -2, 12)
    rows, places = scatter.ordered(device.cupy, device.upload(where), 9, "clip")
    clipped = np.clip(where, 0, 8)
    order = np.argsort(clipped, kind="stable")
    np.testing.assert_array_equal(places._raw, order)
    np.testing.assert_array_equal(rows._raw, clipped[order])


def test_chunks_are_merged_in_one_launch_more(
    device: OneDevice, launched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scatter, "_CHUNK", 64)
    rows, grad = _positions((300,), 0, 20), _numbers((300, 8), np.float32)
    (got,) = device.run(TAKE_ADD, grad, rows, shape=(20, 8), axis=0, mode="clip")
    np.testing.assert_array_equal(got, _in_order(grad, rows, 20))
    assert launched == ["sort_chunks", "merge_chunks", "sum_segments", "finish_rows"]


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.uint8])
def test_points_are_gathered_and_put(device: OneDevice, launched: list[str], kind: Any) -> None:
    data = _numbers((5, 6, 8), kind)
    points = np.array([[0, -1, 3, 0], [5, 2, -6, 5]])
    (got,) = device.run(GATHER_ND, data, points)
    np.testing.assert_array_equal(got, data[tuple(points)])
    values = _numbers((4, 8), kind, 9)
    wanted = np.zeros((5, 6, 8), kind)
    wanted[[0, 4, 3], [5, 2, 0]] = values[[3, 1, 2]]  # the last of equal points wins
    (put,) = device.run(SCATTER_ND, values, points, shape=(5, 6, 8))
    np.testing.assert_array_equal(put, wanted)
    (put,) = device.run(SCATTER_SET_ND, data, values, points, shape=(5, 6, 8))
    wanted = data.copy()
    wanted[[0, 4, 3], [5, 2, 0]] = values[[3, 1, 2]]
    np.testing.assert_array_equal(put, wanted)
    put_there = ["flatten_points", "sort_chunks", "put_rows"]
    assert launched == ["flatten_points", "gather_rows", *put_there, *put_there]


def test_gradients_of_points_are_sums(device: OneDevice) -> None:
    points, values = np.array([[0, 1, 0, 1], [2, 0, 2, 1]]), _numbers((4, 3), np.float32)
    wanted = np.zeros((2, 3, 3), np.float32)
    np.add.at(wanted, tuple(points), values)
    (got,) = device.run(SCATTER_ADD_ND, values, points, shape=(2, 3, 3))
    np.testing.assert_array_equal(got, wanted)


def test_the_switch_leaves_rows_to_cupy(device: OneDevice, launched: list[str]) -> None:
    a, where = _numbers((7, 4), np.float32), _positions((5,), 0, 7)
    with GLUONISH_CUDA_SCATTER.override(False):
        (got,) = device.run(TAKE, a, where, axis=0, mode="clip")
        (back,) = device.run(TAKE_ADD, got, where, shape=a.shape, axis=0, mode="clip")
    np.testing.assert_array_equal(got, a[where])
    np.testing.assert_array_equal(back, _in_order(got, where, 7))
    assert launched == []


@pytest.mark.parametrize("graphs", [False, True])
def test_an_embedding_is_trained_in_graphs(gpus: Any, graphs: bool) -> None:
    from gluonish.core.config import MXNET_ENABLE_CUDA_GRAPHS

    def run(ctx: mx.Context, *, hybrid: bool) -> Any:
        net = mx.gluon.nn.Embedding(30, 8)
        net.initialize(mx.init.One(), ctx=ctx)
        if hybrid:
            net.hybridize(static_alloc=True, static_shape=True)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
        for step in range(5):
            words = nd.array(_positions((4, 9), 0, 26) + step, ctx)
            with autograd.record():
                loss = (net(words) * nd.arange(8, ctx=ctx)).sum()
            loss.backward()
            trainer.step(4)
        return net.weight.data(ctx).asnumpy()

    with MXNET_ENABLE_CUDA_GRAPHS.override(graphs):
        got = run(mx.gpu(0), hybrid=True)
    np.testing.assert_allclose(got, run(mx.cpu(0), hybrid=False), rtol=1e-5)
