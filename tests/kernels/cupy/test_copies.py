"""Copies between strides on a GPU: values, accesses of 16 bytes, launches, and what CuPy keeps."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import GLUONISH_CUDA_COPIES
from gluonish.kernels.cupy import copies
from gluonish.ops.shape.transpose import TRANSPOSE
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, OneDevice, note_launches

pytestmark = COMPILED
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.float16, BFLOAT16, np.float32, np.float64]
Form = Callable[[Any], Any]

# Views of a target and of a source, of arrays whose shapes follow.
COPIES: dict[str, tuple[tuple[int, ...], Form, tuple[int, ...], Form]] = {
    "matrix": ((40, 70), lambda y: y, (70, 40), lambda x: x.T),
    "whole vectors": ((64, 128), lambda y: y, (128, 64), lambda x: x.T),
    "odd matrix": ((33, 65), lambda y: y, (65, 33), lambda x: x.T),
    "one row less": ((64, 63), lambda y: y, (63, 64), lambda x: x.T),
    "images first": ((3, 32, 5, 7), lambda y: y, (3, 5, 7, 32), lambda x: x.transpose(0, 3, 1, 2)),
    "images last": ((3, 5, 8, 16), lambda y: y, (3, 16, 5, 8), lambda x: x.transpose(0, 2, 3, 1)),
    "into columns": ((24, 90), lambda y: y[:, 8:88].T, (80, 24), lambda x: x),
    "few channels": ((2, 3, 6, 6), lambda y: y, (2, 6, 6, 3), lambda x: x.transpose(0, 3, 1, 2)),
    "to few channels": ((2, 6, 6, 3), lambda y: y, (2, 3, 6, 6), lambda x: x.transpose(0, 2, 3, 1)),
    "heads": ((2, 3, 5, 16), lambda y: y, (2, 5, 3, 16), lambda x: x.transpose(0, 2, 1, 3)),
    "odd heads": ((2, 3, 5, 7), lambda y: y, (2, 5, 3, 7), lambda x: x.transpose(0, 2, 1, 3)),
    "slice": ((6, 16), lambda y: y, (6, 40), lambda x: x[:, 8:24]),
    "shifted slice": ((6, 16), lambda y: y, (6, 40), lambda x: x[:, 3:19]),
    "into a slice": ((6, 40), lambda y: y[:, 16:32], (6, 16), lambda x: x),
    "every other": ((6, 40), lambda y: y[:, ::2], (6, 20), lambda x: x),
    "of every other": ((6, 20), lambda y: y, (6, 40), lambda x: x[:, ::2]),
    "backwards": ((6, 32), lambda y: y, (6, 32), lambda x: x[::-1, ::-1]),
    "into backwards": ((6, 32), lambda y: y[::-1, ::-1], (6, 32), lambda x: x),
    "repeated row": ((6, 32), lambda y: y, (32,), lambda x: x),
    "repeated column": ((6, 32), lambda y: y, (6, 1), lambda x: x),
    "one number": ((6, 32), lambda y: y, (1, 1), lambda x: x),
    "one element": ((1, 1), lambda y: y, (4, 4), lambda x: x[2:3, 1:2]),
    "nothing": ((0, 3), lambda y: y, (3, 0), lambda x: x.T),
    "five axes": (
        *((2, 3, 2, 5, 4), lambda y: y),
        *((4, 5, 2, 3, 2), lambda x: x.transpose(4, 3, 2, 1, 0)),
    ),
    "tiles in five axes": (
        *((3, 17, 2, 3, 32), lambda y: y),
        *((32, 3, 3, 2, 17), lambda x: x.transpose(1, 4, 3, 2, 0)),
    ),
}


def _values(shape: tuple[int, ...], dtype: Any, seed: int = 1) -> Any:
    random = np.random.default_rng(seed)
    if np.dtype(dtype) == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    return random.integers(-100, 100, shape).astype(dtype)


def _check(device: OneDevice, name: str, source: Any, target: Any, launches: int = 1) -> None:
    shape, view, source_shape, source_view = COPIES[name]
    wanted, x = _values(shape, target, 2), _values(source_shape, source, 3)
    with np.errstate(all="ignore"):
        given, out = device.upload(x), device.upload(wanted.copy())
        view(wanted)[...] = source_view(x).astype(target)
    before = device.launches
    copies.copy(device.cupy, view(out), source_view(given))
    assert device.launches - before == launches
    np.testing.assert_array_equal(out._raw, wanted)
    np.testing.assert_array_equal(given._raw, x)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.float16, BFLOAT16, np.int32, np.int64])
@pytest.mark.parametrize("name", COPIES)
def test_every_layout_is_copied_by_one_launch(device: OneDevice, name: str, dtype: Any) -> None:
    _check(device, name, dtype, dtype)


@pytest.mark.parametrize(
    ("source", "target"), sorted(copies._CASTS, key=str), ids=lambda dtype: dtype.name
)
@pytest.mark.parametrize("name", ["matrix", "whole vectors", "odd heads", "heads", "into columns"])
def test_floats_are_converted_on_the_way(
    device: OneDevice, name: str, source: Any, target: Any
) -> None:
    _check(device, name, source, target)


@pytest.mark.parametrize("source", [np.int32, np.bool_, np.float64])
def test_other_conversions_are_cupys(device: OneDevice, source: Any) -> None:
    _check(device, "matrix", source, np.float16)


def test_numbers_are_rounded_as_numpy_rounds(device: OneDevice) -> None:
    x = np.random.default_rng(5).standard_normal((64, 96)).astype(np.float32) * 1e-3
    for dtype in (np.float16, BFLOAT16):
        out = device.upload(np.zeros((96, 64), dtype))
        copies.copy(device.cupy, out, device.upload(x).transpose())
        np.testing.assert_array_equal(out._raw, x.T.astype(dtype))


def test_large_arrays_have_several_units_a_thread(device: OneDevice) -> None:
    x = _values((700, 2, 1600), np.uint8)
    out = device.upload(np.zeros((700, 1600), np.uint8))
    copies.copy(device.cupy, out[:, 1:], device.upload(x)[:, 1, 1:])
    np.testing.assert_array_equal(out._raw[:, 1:], x[:, 1, 1:])
    assert (out._raw[:, 0] == 0).all()


def test_overlapping_arrays_are_copied_as_if_one_were_read_first(device: OneDevice) -> None:
    x = np.arange(48, dtype=np.float32).reshape(6, 8)
    for view, source in (
        (lambda a: a[1:], lambda a: a[:-1]),
        (lambda a: a[:, ::2], lambda a: a[:, 4:]),
        (lambda a: a[:6, :6], lambda a: a[:6, :6].T),
    ):
        wanted, given = x.copy(), device.upload(x)
        view(wanted)[...] = source(wanted).copy()
        copies.copy(device.cupy, view(given), source(given))
        np.testing.assert_array_equal(given._raw, wanted)


def test_plans_of_other_addresses_differ(device: OneDevice) -> None:
    x = device.normal(6, 41)
    for first in range(9):
        out = device.upload(np.zeros((6, 32), np.float32))
        copies.copy(device.cupy, out, x[:, first : first + 32])
        np.testing.assert_array_equal(out._raw, x._raw[:, first : first + 32])


def _macros(device: OneDevice, out: Any, source: Any) -> tuple[str, dict[str, int]]:
    plan = copies._plan_of(out, source)
    assert plan is not None
    return plan.function, dict(plan.macros)


@pytest.mark.parametrize("dtype", FLOATS)
def test_accesses_have_16_bytes_where_arrays_allow_it(device: OneDevice, dtype: Any) -> None:
    width = 16 // np.dtype(dtype).itemsize

    def made(shape: tuple[int, ...], view: Form, source: tuple[int, ...], of: Form) -> Any:
        arrays = (device.upload(np.zeros(n, dtype)) for n in (shape, source))
        out, given = arrays
        return _macros(device, view(out), of(given))

    name, macros = made(
        (2, 12, 8, 64), lambda y: y, (2, 8, 12, 64), lambda x: x.transpose(0, 2, 1, 3)
    )
    assert (name, macros["VECTOR"], macros["RANK"]) == ("copy_elements", width, 4)
    name, macros = made((64, 48), lambda y: y, (48, 64), lambda x: x.T)
    assert name == "transpose_tiles"
    assert (macros["IN_VECTOR"], macros["OUT_VECTOR"]) == (width, width)
    name, macros = made((64, 48), lambda y: y, (48, 64 + 1), lambda x: x[:, 1:].T)
    assert (macros["IN_VECTOR"], macros["OUT_VECTOR"]) == (1, width)


def test_far_arrays_have_steps_of_64_bits() -> None:
    class _Far:
        """What a plan asks of an array, without its memory."""

        dtype = np.dtype(np.uint8)
        itemsize = 1

        def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
            self.shape, self.strides = shape, strides
            self.size = int(np.prod(shape, dtype=np.int64))

    out, source = _Far((4, 1 << 20), (1 << 20, 1)), _Far((4, 1 << 20), (1 << 30, 1))
    plan = copies._new_plan(out, source, 16, 16)
    assert plan is not None
    assert dict(plan.macros)["FAR"] == 1
    near = copies._new_plan(out, _Far((4, 1 << 20), (1 << 28, 1)), 16, 16)
    assert near is not None
    assert dict(near.macros)["FAR"] == 0
    many = _Far((1 << 32, 2), (1, 1 << 32)), _Far((1 << 32, 2), (3, 1))
    assert copies._new_plan(*many, 1, 1) is None


@pytest.mark.parametrize("number", [1, 2, 3, 7, 12, 49, 768, 30522, 2**20 + 7, 2**31 - 1])
def test_divisions_are_exact(number: int) -> None:
    factor, shift = copies.division(number)
    assert factor < 2**32
    most = 2**31 - 1
    for n in {0, 1, number - 1, number, 2 * number - 1, most // number * number - 1, most}:
        if 0 <= n <= most:
            assert n * factor >> shift == n // number


def test_the_switch_leaves_copies_to_cupy(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = note_launches(monkeypatch, copies)
    _check(device, "matrix", np.float32, np.float32)
    assert launched == ["transpose_tiles"]
    with GLUONISH_CUDA_COPIES.override(False):
        _check(device, "matrix", np.float32, np.float32)
        device.check(TRANSPOSE, _values((20, 30), np.float32), axes=(1, 0))
    assert launched == ["transpose_tiles"]


def test_dense_arrays_of_equal_layout_are_a_copy_of_memory(device: OneDevice) -> None:
    x, y = device.normal(8, 8), device.normal(8, 8)
    assert copies._plan_of(y, x) is None
    assert copies._plan_of(y.transpose(), x.transpose()) is None
    copies.copy(device.cupy, y, x)
    np.testing.assert_array_equal(y._raw, x._raw)


MOVES: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: nd.transpose(x, axes=(0, 2, 1)),
    "SwapAxis": lambda x: nd.SwapAxis(x, dim1=0, dim2=2),
    "slice": lambda x: nd.slice(x, begin=(None, 4, None), end=(None, 20, None)),
    "slice_axis": lambda x: nd.slice_axis(x, axis=2, begin=16, end=48),
    "split": lambda x: nd.split(x, num_outputs=2, axis=2)[1],
    "Concat": lambda x: nd.concat(x, x, dim=2),
    "stack": lambda x: nd.stack(x, x, axis=1),
    "tile": lambda x: nd.tile(x, reps=(1, 2, 1)),
    "repeat": lambda x: nd.repeat(x, repeats=2, axis=1),
    "reverse": lambda x: nd.reverse(x, axis=1),
    "broadcast_to": lambda x: nd.broadcast_to(x[:, :1], shape=(4, 24, 64)),
    "space_to_depth": lambda x: nd.space_to_depth(x.reshape((1, 4, 24, 64)), block_size=2),
    "Pad": lambda x: nd.pad(
        x.expand_dims(0), mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 8, 8), constant_value=3
    ),
    "np.transpose": lambda x: mx.np.transpose(x.as_np_ndarray(), (2, 0, 1)),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("name", MOVES)
def test_operators_that_move_elements_are_those_of_the_cpu(
    gpus: Any, monkeypatch: pytest.MonkeyPatch, name: str, dtype: str
) -> None:
    launched = note_launches(monkeypatch, copies)
    values = _values((4, 24, 64), dtype)
    want, got = (
        MOVES[name](nd.array(values, ctx, dtype)).asnumpy() for ctx in (mx.cpu(0), mx.gpu(0))
    )
    np.testing.assert_array_equal(got, want)
    assert launched


def test_casts_of_gradients_with_channels_last_are_one_launch(device: OneDevice) -> None:
    x = device.normal(2, 5, 7, 32)
    out = device.upload(np.zeros((2, 32, 5, 7), np.float16))
    before = device.launches
    copies.copy(device.cupy, out, x.transpose(0, 3, 1, 2))
    assert device.launches == before + 1
    np.testing.assert_array_equal(out._raw, x._raw.transpose(0, 3, 1, 2).astype(np.float16))


def test_graphs_copy_anew_in_each_launch(machine: Machine) -> None:
    with gpu_contexts(machine, "ThreadedEnginePerDevice"):

        class _Net(mx.gluon.HybridBlock):
            def hybrid_forward(self, F: Any, x: Any) -> Any:
                return F.transpose(F.tanh(x), axes=(1, 0)) + 1

        net = _Net()
        net.hybridize(static_alloc=True, static_shape=True)
        for seed in range(6):
            values = np.random.default_rng(seed).standard_normal((32, 48)).astype(np.float32)
            y = net(nd.array(values, mx.gpu(0))).asnumpy()
            np.testing.assert_allclose(y, np.tanh(values).T + 1, rtol=1e-5)
        assert machine.counts.graphs > 0
