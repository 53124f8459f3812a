"""Cross entropy of class indices on a GPU: the reference's results, one launch, equal bits."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.contrib import amp
from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES, MXNET_ENABLE_CUDA_GRAPHS
from gluonish.core.dtype import BFLOAT16
from gluonish.kernels.cupy import cross_entropy
from gluonish.ops.nn.log_softmax_pick import LOG_SOFTMAX_PICK, LOG_SOFTMAX_PICK_BACKWARD
from tests.kernels.cupy import host_kernels
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = [COMPILED, pytest.mark.timeout(120)]

# Few classes, a warp's and a block's rows, with and without a rest behind whole vectors; a row that
# begins at any address modulo 16.
SHAPES = [(3, 1), (70, 9), (5, 64), (2, 7, 65), (9, 1000), (3, 2049), (2, 30522)]


def calls(shape: Any, dtype: Any, **attrs: Any) -> tuple[list[Any], list[Any]]:
    """Return inputs of the operator and, but for what it saves, of its gradient."""
    random = np.random.default_rng(5)
    data = (3 * random.standard_normal(shape)).astype(dtype)
    axis = attrs.get("axis", -1) % len(shape)
    rows = (*shape[:axis], *shape[axis + 1 :])
    labels = random.integers(-2, shape[axis] + 2, rows).astype(np.float32)
    kind = np.float32 if attrs.get("wide") and data.dtype.itemsize == 2 else dtype
    return [data, labels], [random.standard_normal(rows).astype(kind), data, labels]


def check(device: OneDevice, shape: Any, dtype: Any, **attrs: Any) -> None:
    forward, backward = calls(shape, dtype, **attrs)
    device.check(LOG_SOFTMAX_PICK, *forward, **attrs)
    _, *saved = device.run(LOG_SOFTMAX_PICK, *forward, **attrs)
    device.check(LOG_SOFTMAX_PICK_BACKWARD, *backward, *saved, **attrs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wide", [False, True])
def test_results_equal_the_reference(device: OneDevice, shape: Any, dtype: Any, wide: bool) -> None:
    check(device, shape, dtype, wide=wide, scale=-1.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_other_axes(device: OneDevice, axis: int, dtype: Any, mode: str) -> None:
    check(device, (4, 11, 35), dtype, axis=axis, mode=mode, wide=True)
    forward, _ = calls((4, 11, 35), dtype, axis=axis)
    assert device.launches_of(LOG_SOFTMAX_PICK, *forward, axis=axis) == 1


@pytest.mark.parametrize("kind", [np.float32, np.int32, BFLOAT16])
@pytest.mark.parametrize("wide", [False, True])
def test_one_launch_each(device: OneDevice, wide: bool, kind: Any) -> None:
    attrs = {"wide": wide}
    forward, backward = calls((6, 3000), BFLOAT16, **attrs)
    forward[1] = backward[2] = forward[1].astype(kind)
    assert device.launches_of(LOG_SOFTMAX_PICK, *forward, **attrs) == 1
    _, *saved = device.run(LOG_SOFTMAX_PICK, *forward, **attrs)
    assert device.launches_of(LOG_SOFTMAX_PICK_BACKWARD, *backward, *saved, **attrs) == 1


@pytest.mark.parametrize("classes", [9, 2600])
def test_scores_of_16_bits_give_what_widened_scores_give(device: OneDevice, classes: int) -> None:
    forward, backward = calls((40, classes), BFLOAT16, wide=True)
    data, labels = forward
    narrow = device.run(LOG_SOFTMAX_PICK, *forward, wide=True)
    widened = device.run(LOG_SOFTMAX_PICK, data.astype(np.float32), labels)
    for found, wanted in zip(narrow, widened, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    (grad,) = device.run(LOG_SOFTMAX_PICK_BACKWARD, *backward, *narrow[1:], wide=True)
    inputs = (backward[0], data.astype(np.float32), labels, *widened[1:])
    (exact,) = device.run(LOG_SOFTMAX_PICK_BACKWARD, *inputs)
    assert grad.dtype == BFLOAT16
    # Half a unit of the last place.
    np.testing.assert_allclose(grad.astype(np.float32), exact, rtol=2**-8 * 1.01, atol=1e-12)


@pytest.mark.parametrize(
    "dtype", ["float16", BFLOAT16, "float64", "int8", "uint8", "bool", "int32", "int64"]
)
def test_class_indices_of_all_types(device: OneDevice, dtype: Any) -> None:
    (data, _), _ = calls((100, 9), np.float32)
    labels = np.random.default_rng(3).integers(0, 12, 100).astype(dtype)
    for mode in ("clip", "wrap"):
        device.check(LOG_SOFTMAX_PICK, data, labels, mode=mode)


@pytest.mark.parametrize("classes", [9, 70])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_class_indices_far_outside(device: OneDevice, mode: str, classes: int) -> None:
    (data, _), _ = calls((70, classes), np.float32)
    labels = np.resize(np.array([-7.5, 1e6, -1e6, 8.9, -0.5], np.float32), 70)
    if mode == "clip":  # NaN counts as below all
        labels[5:9] = np.nan, np.inf, -np.inf, 1e19
    with np.errstate(invalid="ignore"):
        device.check(LOG_SOFTMAX_PICK, data, labels, mode=mode)


def test_large_and_infinite_scores(device: OneDevice) -> None:
    (data, _), _ = calls((4, 3000), np.float32)
    data[0, 5], data[1] = 1e30, -np.inf
    data[1, 7], data[2, 2999] = 3.0, -np.inf
    data[3, :] = -3e38
    with np.errstate(all="ignore"):
        device.check(LOG_SOFTMAX_PICK, data, np.array([5, 7, 2999, 1]))
    forward, backward = calls((30, 700), np.float32)
    forward[0] += np.float32(3e4)
    _, *saved = device.run(LOG_SOFTMAX_PICK, *forward)
    device.check(LOG_SOFTMAX_PICK_BACKWARD, backward[0], *forward, *saved)


@pytest.mark.parametrize("axis", [0, 1])
def test_nan_and_rows_of_infinities_stay_in_their_rows(device: OneDevice, axis: int) -> None:
    (data, _), (grad, *_) = calls((100, 9), np.float32)
    data[1, 4], data[2], data[3, 5] = np.nan, -np.inf, np.inf
    labels = np.zeros(100, np.int32)
    data = np.ascontiguousarray(np.moveaxis(data, 1, axis))
    with np.errstate(all="ignore"):
        device.check(LOG_SOFTMAX_PICK, data, labels, axis=axis)
        out, *saved = device.run(LOG_SOFTMAX_PICK, data, labels, axis=axis)
        inputs = (grad, data, labels, *saved)
        (found,) = device.run(LOG_SOFTMAX_PICK_BACKWARD, *inputs, axis=axis)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(out)), [1, 2, 3])
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found).any(axis)), [1, 2, 3])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), [((7, 65), 1), ((3, 4099), 1), ((5, 9, 6), 1)])
def test_the_gradient_may_replace_the_scores(
    device: OneDevice, dtype: Any, shape: Any, axis: int
) -> None:
    attrs = {"axis": axis, "wide": False}
    forward, backward = calls(shape, dtype, **attrs)
    _, *saved = device.run(LOG_SOFTMAX_PICK, *forward, **attrs)
    (wanted,) = device.run(LOG_SOFTMAX_PICK_BACKWARD, *backward, *saved, **attrs)
    grad, data, *rest = (device.upload(x) for x in (*backward, *saved))
    given = LOG_SOFTMAX_PICK_BACKWARD.schema.parse("_log_softmax_pick_backward", attrs)
    cross_entropy._pick_backward(device.cupy, data, grad, data, *rest, **given)
    np.testing.assert_array_equal(data._raw, wanted)


@pytest.mark.parametrize("shift", [1, 3])
def test_scores_at_any_address(device: OneDevice, shift: int) -> None:
    """Scores and results that do not begin at multiples of 16 bytes, alike or not."""
    forward, backward = calls((5, 2100), BFLOAT16, wide=True)
    attrs = LOG_SOFTMAX_PICK_BACKWARD.schema.parse("_log_softmax_pick_backward", {"wide": True})
    _, *saved = device.run(LOG_SOFTMAX_PICK, *forward, wide=True)
    (wanted,) = device.run(LOG_SOFTMAX_PICK_BACKWARD, *backward, *saved, wide=True)

    def shifted(by: int) -> Any:
        return device.upload(np.zeros(5 * 2100 + by, BFLOAT16))[by:].reshape(5, 2100)

    data, results = shifted(shift), (shifted(shift), shifted(0))
    data._raw[...] = forward[0]
    grad, labels, top, log_total = (device.upload(x) for x in (backward[0], forward[1], *saved))
    for result in results:
        inputs = (grad, data, labels, top, log_total)
        cross_entropy._pick_backward(device.cupy, result, *inputs, **attrs)
        np.testing.assert_array_equal(result._raw, wanted)


def test_strided_scores(device: OneDevice) -> None:
    forward, backward = calls((20, 250), np.float32)
    _, *saved = device.run(LOG_SOFTMAX_PICK, *forward)
    (wanted,) = device.run(LOG_SOFTMAX_PICK_BACKWARD, *backward, *saved)
    attrs = LOG_SOFTMAX_PICK_BACKWARD.schema.parse("_log_softmax_pick_backward", {})
    grad, labels, *rest = (device.upload(x) for x in (backward[0], backward[2], *saved))
    wider, target = (device.upload(np.repeat(backward[1], 2, axis=1)) for _ in range(2))
    inputs = (grad, wider[:, ::2], labels, *rest)
    cross_entropy._pick_backward(device.cupy, target[:, ::2], *inputs, **attrs)
    np.testing.assert_array_equal(target._raw[:, ::2], wanted)
    np.testing.assert_array_equal(target._raw[:, 1::2], backward[1])


def test_equal_runs_give_equal_bits_and_indices_of_64_bits_the_same(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward, _ = calls((300, 2100), BFLOAT16, wide=True)
    found = [device.run(LOG_SOFTMAX_PICK, *forward, wide=True) for _ in range(2)]
    monkeypatch.setattr("gluonish.kernels.cupy.rows.LIMIT_32", 1)
    found.append(device.run(LOG_SOFTMAX_PICK, *forward, wide=True))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


class Classifier(gluon.HybridBlock):
    """Scores of many classes, and their cross entropy."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = gluon.nn.Dense(300, in_units=16, flatten=False)
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def hybrid_forward(self, F: Any, x: Any, label: Any) -> Any:
        return self.loss(self.scores(x), label)


def steps(machine: Machine, kind: str, disabled: frozenset[str] = frozenset()) -> Any:
    """Return the loss, the gradient of two backward passes, and the last step's launches."""
    net: Any = Classifier()
    net.initialize(mx.init.Constant(0.01), ctx=mx.gpu(0))
    random = np.random.default_rng(2)
    net.scores.weight.set_data(nd.array(0.3 * random.standard_normal((300, 16))))
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.array(random.standard_normal((8, 4, 16)), ctx=mx.gpu(0))
    label = nd.array(random.integers(0, 300, (8, 4)), ctx=mx.gpu(0))
    gradients = []
    with MXNET_DISABLED_GRAPH_PASSES.override(disabled):
        for retain in (True, False):
            before = machine.counts.launches
            with autograd.record(), amp.autocast(kind):
                loss = net(x, label)
            for again in (True, False)[not retain :]:
                loss.backward(retain_graph=again)
                gradients.append(net.scores.weight.grad(mx.gpu(0)).asnumpy())
    return loss.asnumpy(), gradients, machine.counts.launches - before


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_mixed_precision_reads_16_bit_scores_and_overwrites_them(
    machine: Machine, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place: list[bool] = []
    call = host_kernels._RawKernel.__call__

    def noted(self: Any, grid: Any, block: Any, args: Any, **given: Any) -> None:
        if self.name == "log_softmax_pick_backward":
            assert args[1].dtype.itemsize == args[5].dtype.itemsize == 2
            in_place.append(args[1].data.ptr == args[5].data.ptr)
        call(self, grid, block, args, **given)

    monkeypatch.setattr(host_kernels._RawKernel, "__call__", noted)
    with (
        MXNET_ENABLE_CUDA_GRAPHS.override(False),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        loss, gradients, launches = steps(machine, kind)
        assert in_place == [False, True, True]  # the first backward pass retains the graph
        plain, plain_gradients, separate = steps(
            machine, kind, frozenset({"fuse_log_softmax_pick"})
        )
    for found in gradients[1:]:
        np.testing.assert_array_equal(found, gradients[0])
    np.testing.assert_allclose(loss, plain, rtol=1e-5)
    tolerance = 2e-2 * abs(plain_gradients[0]).max()
    np.testing.assert_allclose(gradients[0], plain_gradients[0], rtol=0, atol=tolerance)
    assert launches <= separate - 20
