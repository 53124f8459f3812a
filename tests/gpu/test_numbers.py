"""Numbers and formats on a real device: mixed precision, 8 bits, files, DLPack, ONNX."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.contrib import amp
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]


def small_network(context: mx.Context) -> nn.HybridSequential:
    """Return a network with the same numbers on every device."""
    mx.random.seed(5)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(nn.Dense(32, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier(), ctx=mx.cpu())
    net(nd.zeros((2, 1, 8, 8)))
    net.collect_params().reset_ctx(context)
    net.hybridize(static_alloc=True)
    return net


def digits(context: mx.Context, rows: slice) -> tuple[nd.NDArray, nd.NDArray]:
    images, labels = load_digits(train=True)
    shaped = images[rows].reshape(-1, 1, 8, 8)
    return nd.array(shaped, ctx=context), nd.array(labels[rows], ctx=context)


def train(context: mx.Context, dtype: str, steps: int = 56) -> tuple[list[float], float]:
    """Return the losses of training in mixed precision, and the accuracy on other digits."""
    net = small_network(context)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    if dtype == "float16":
        amp.init_trainer(trainer)
    losses = []
    for step in range(steps):
        start = step % 14 * 100
        x, y = digits(context, slice(start, start + 100))
        with mx.autograd.record():
            with amp.autocast(dtype):
                loss = loss_of(net(x), y)
            if dtype == "float16":
                with amp.scale_loss(loss, trainer) as scaled:
                    scaled.backward()
        if dtype != "float16":
            loss.backward()
        trainer.step(100)
        losses.append(loss.mean())
    images, labels = load_digits(train=False)
    found = net(nd.array(images.reshape(-1, 1, 8, 8), ctx=context)).asnumpy().argmax(1)
    return [float(x.asscalar()) for x in losses], float((found == labels).mean())


# The first scales overflow: that is how they are found.
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mixed_precision_trains_as_on_the_cpu(dtype: str) -> None:
    (losses, accuracy), (expected, wanted) = train(mx.gpu(0), dtype), train(mx.cpu(), dtype)
    assert abs(losses[0] - expected[0]) < 0.02 * expected[0]
    assert losses[-1] < losses[0] / 2
    assert wanted > 0.8
    assert abs(accuracy - wanted) < 0.05


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_converted_network_gives_what_float32_gives(dtype: str) -> None:
    net = small_network(mx.gpu(0))
    x, _ = digits(mx.gpu(0), slice(0, 64))
    want = net(x).asnumpy()
    got = amp.convert_hybrid_block(net, dtype, ctx=mx.gpu(0))(x).astype("float32").asnumpy()
    np.testing.assert_allclose(got, want, rtol=0.05, atol=0.05)


def test_8_bit_network_gives_what_it_gives_on_the_cpu() -> None:
    net = small_network(mx.cpu())
    x, _ = digits(mx.cpu(), slice(0, 64))
    quantized = mx.contrib.quantization.quantize_net(
        net, quantized_dtype="auto", calib_data=[x], calib_mode="naive", ctx=mx.cpu()
    )
    want = quantized(x).asnumpy()
    quantized.collect_params().reset_ctx(mx.gpu(0))
    got = quantized(x.as_in_context(mx.gpu(0))).asnumpy()
    # A value between two steps may be rounded to either.
    np.testing.assert_allclose(got, want, atol=0.02 * float(np.abs(want).max()))


@pytest.mark.parametrize("name", ["x.params", "x.safetensors", "x.npz"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_files_keep_what_lies_on_a_gpu(name: str, dtype: str, tmp_path: Path) -> None:
    values = np.random.default_rng(2).normal(size=(33, 7))
    x = nd.array(values, ctx=mx.gpu(0), dtype=dtype)
    nd.save(str(tmp_path / name), {"x": x})
    back = nd.load(str(tmp_path / name))["x"]
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(back.asnumpy(), x.asnumpy())


@pytest.mark.parametrize("name", ["net.params", "net.safetensors"])
def test_parameters_are_loaded_to_a_gpu(name: str, tmp_path: Path) -> None:
    x, _ = digits(mx.gpu(0), slice(0, 8))
    net = small_network(mx.gpu(0))
    want = net(x).asnumpy()
    net.save_parameters(str(tmp_path / name))
    other = small_network(mx.gpu(0))
    for parameter in other.collect_params().values():
        parameter.set_data(parameter.data() + 1)
    other.load_parameters(str(tmp_path / name), ctx=mx.gpu(0))
    np.testing.assert_array_equal(other(x).asnumpy(), want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "int64"])
@pytest.mark.parametrize("capsule", [False, True])
def test_dlpack_shares_memory_of_a_gpu(dtype: str, capsule: bool) -> None:
    x = nd.array([1, 2, 3], ctx=mx.gpu(0), dtype=dtype)
    y = nd.from_dlpack(nd.to_dlpack_for_write(x) if capsule else x)
    assert (y.context, y.dtype) == (mx.gpu(0), x.dtype)
    y += 1
    y.wait_to_read()
    np.testing.assert_array_equal(x.asnumpy().astype("float32"), [2, 3, 4])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64"])
def test_dlpack_with_cupy_both_ways(dtype: str) -> None:
    cupy: Any = pytest.importorskip("cupy")
    x = nd.array([1, 2, 3], ctx=mx.gpu(0), dtype=dtype)
    with cupy.cuda.Device(0), cupy.cuda.Stream(non_blocking=True) as stream:
        theirs = cupy.from_dlpack(x)
        cupy.add(theirs, theirs.dtype.type(1), out=theirs)
        stream.synchronize()
        np.testing.assert_array_equal(x.asnumpy(), [2, 3, 4])
        back = nd.from_dlpack(theirs)
    np.testing.assert_array_equal(back.asnumpy(), [2, 3, 4])


def test_onnx_comes_back_onto_a_gpu(tmp_path: Path) -> None:
    if importlib.util.find_spec("onnx") is None:
        pytest.skip("the extra onnx is not installed")
    net = small_network(mx.cpu())
    x, _ = digits(mx.cpu(), slice(0, 4))
    want = net(x).asnumpy()
    net.export(str(tmp_path / "net"))
    path = str(tmp_path / "net.onnx")
    mx.onnx.export_model(
        str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0000.params"), [x.shape],
        onnx_file_path=path,
    )  # fmt: skip
    there = mx.contrib.onnx.import_to_gluon(path, mx.gpu(0))
    got = there(x.as_in_context(mx.gpu(0))).asnumpy()
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
