"""``gluonish quantize``: files to files, the table of errors and its picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.quantization import LayerError, layer_errors, quantize_net
from gluonish.gluon import nn
from gluonish.tools.cli import main
from gluonish.tools.quantize.work import layer_table

NUMBERS = np.random.default_rng(2)
IMAGES = NUMBERS.uniform(-1, 1, (6, 3, 8, 8)).astype(np.float32)


def network() -> Any:
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, activation="relu"), nn.MaxPool2D(2), nn.Dense(5))
    net.initialize(mx.init.Xavier(magnitude=2))
    net.hybridize()
    net(mx.nd.array(IMAGES))
    return net


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    symbol, params = network().export(str(tmp_path / "net"))
    data = tmp_path / "data.npy"
    np.save(data, IMAGES)
    return symbol, params, str(data)


def converted(files: tuple[str, str, str], tmp_path: Path, *more: str) -> tuple[str, str]:
    symbol, params, data = files
    output = str(tmp_path / "small")
    given = [symbol, params, "--data", data, "--output", output, "--batch-size", "4", *more]
    assert main(["quantize", "convert", *given]) == 0
    return f"{output}-symbol.json", f"{output}-0000.params"


def test_converted_network_computes_what_the_network_does(
    files: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.warns(UserWarning, match="calib_mode 'naive'"):  # of this small network it is true
        symbol, params = converted(files, tmp_path)
    assert capsys.readouterr().out.splitlines() == [symbol, params]
    x = mx.nd.array(IMAGES)
    expected = mx.gluon.SymbolBlock.imports(files[0], "data", files[1])(x).asnumpy()
    found = mx.gluon.SymbolBlock.imports(symbol, "data", params)(x).asnumpy()
    np.testing.assert_allclose(found, expected, atol=0.05 * np.abs(expected).max())


def test_excluded_layer_stays_float(files: tuple[str, str, str], tmp_path: Path) -> None:
    texts = Path(files[0]).read_text().split('"')
    name = next(text for text in texts if text.endswith("_fwd") and "dense" in text)
    symbol, _ = converted(files, tmp_path, "--exclude", name, "--mode", "naive")
    assert "quantized_sg_mkldnn_fully_connected_0" not in Path(symbol).read_text()


def test_report_has_a_line_for_each_layer_and_a_picture(
    files: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    symbol, params = converted(files, tmp_path, "--mode", "naive")
    capsys.readouterr()
    picture = tmp_path / "errors.png"
    given = [files[0], files[1], "--quantized", symbol, params, "--data", files[2]]
    assert main(["quantize", "report", *given, "--plot", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[1:]] == ["convolution", "Pooling", "dense"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_errors_are_those_of_the_values() -> None:
    net = network()
    quantized = quantize_net(net, calib_data=[IMAGES], calib_mode="naive")
    last = layer_errors(net, quantized, IMAGES)[-1]
    x = mx.nd.array(IMAGES)
    expected = net(x).asnumpy()
    off = np.abs(quantized(x).asnumpy() - expected)
    assert last.max_error == pytest.approx(off.max(), rel=1e-3)
    assert last.mean_error == pytest.approx(off.mean(), rel=1e-3)
    ratio = 10 * np.log10(np.square(expected).sum() / np.square(off).sum())
    assert last.signal_to_noise_db == pytest.approx(ratio, abs=0.01)
    assert (last.low, last.high) == pytest.approx((expected.min(), expected.max()))


def test_uncalibrated_network_has_errors_too() -> None:
    net = network()
    quantized = quantize_net(net, data_shapes=[IMAGES.shape])
    found = layer_errors(net, quantized, [mx.nd.array(IMAGES)])
    assert all(layer.signal_to_noise_db > 20 for layer in found)


def test_exact_layer_is_called_so() -> None:
    layer = LayerError("a", "dense", "int8", 0.0, 1.0, 0.0, 0.0, float("inf"))
    assert layer_table([layer]).splitlines()[1].endswith("exact")


def test_networks_without_a_common_layer_are_refused() -> None:
    quantized = quantize_net(network(), data_shapes=[IMAGES.shape])
    other = nn.HybridSequential()
    other.add(nn.MaxPool2D(2))
    with pytest.raises(ValueError, match="networks without a layer in common"):
        layer_errors(other, quantized, IMAGES)


def test_what_is_no_array_is_refused(
    files: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.npy").write_bytes(b"nothing")
    given = [*files[:2], "--data", files[2], "--output", str(tmp_path / "x")]
    assert main(["quantize", "convert", *given]) == 1
    assert "expected an array as a .npy file" in capsys.readouterr().err
