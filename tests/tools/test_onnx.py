from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from gluonish.tools.cli import main


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A small network as files of MXNet's kind."""
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(
            mx.gluon.nn.Dense(4, activation="relu", in_units=3), mx.gluon.nn.Dense(2, in_units=4)
        )
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((2, 3)))
    symbol, params = net.export(str(tmp_path / "net"))
    return symbol, params


def test_an_exported_file_is_checked_and_compared(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "net.onnx")
    assert main(["onnx", "export", *files, "-s", "batch,3", "-o", path]) == 0
    assert main(["onnx", "check", path, "--against", *files]) == 0
    text = capsys.readouterr().out
    assert f"wrote {path}" in text
    assert "input     data float32(batch, 3)" in text
    assert "weights   4 arrays, 26 numbers" in text
    assert "compared  net_dense1_fwd_output: largest difference" in text


def test_another_network_makes_the_check_fail(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "net.onnx")
    main(["onnx", "export", *files, "-s", "2,3", "-o", path])
    weights = dict(mx.nd.load(files[1]))
    name = next(name for name in weights if name.endswith("dense1_bias"))
    weights[name] = mx.nd.array(np.full(2, 5))
    mx.nd.save(files[1], weights)
    assert main(["onnx", "check", path, "--against", *files]) == 1


def test_a_file_of_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.onnx"
    path.write_bytes(b"no network at all")
    assert main(["onnx", "check", str(path)]) == 1
    assert "expected a file that the checker of onnx accepts" in capsys.readouterr().err


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["onnx", "check", str(tmp_path / "none.onnx")]) == 1
    assert "none.onnx" in capsys.readouterr().err


@pytest.mark.parametrize("shape", ["", "1.5,3", "2,,3", "2;3"])
def test_what_is_no_shape_is_refused(
    shape: str, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["onnx", "export", *files, "-s", shape, "-o", str(tmp_path / "x.onnx")]) == 1
    assert "expected --shape N,C,.. of sizes, and names for" in capsys.readouterr().err
    assert not (tmp_path / "x.onnx").exists()


def test_a_wrong_size_is_not_blamed_on_dynamic_axes(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["onnx", "export", *files, "-s", "batch,4", "-o", str(tmp_path / "x.onnx")]) == 1
    text = capsys.readouterr().err
    assert "expected in_shapes that the network takes, got" in text
    assert "when tried with {'data': (2, 4)}; correct the sizes" in text
    assert main(["onnx", "export", *files, "--shape=-5,3", "-o", str(tmp_path / "x.onnx")]) == 1
    assert "expected a size, None or a name, got -5" in capsys.readouterr().err


def test_help_names_all_three_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["onnx", "--help"])
    assert "Export a network to an ONNX file, check an ONNX file, or import one." in (
        " ".join(capsys.readouterr().out.split())
    )
