"""Import of weights for networks of timm: names, settings of images, sizes, and what is refused."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError, ParameterError
from gluonish.model_zoo.foreign import convert, import_weights
from gluonish.model_zoo.foreign.timm_weights import resized_kernel, resized_table
from gluonish.model_zoo.pretrained.families import family_of
from gluonish.model_zoo.pretrained.timm import timm_table
from gluonish.model_zoo.registry import get_model
from gluonish.model_zoo.vision import resnet
from gluonish.ndarray import ones
from gluonish.tools import zoo
from tests.golden.foreign_values import values
from tests.model_zoo.foreign.checkpoints import state_of, write_safetensors

GOLDEN = np.load(Path(__file__).parents[2] / "golden" / "timm_networks.npz")
NAME = "mobilenetv3_small_050"
CFG = {"input_size": [3, 64, 64], "mean": [0.5] * 3, "std": [0.25] * 3, "crop_pct": 1.0}
SWIN = {"units": 8, "num_layers": (2, 2), "num_heads": (2, 4), "classes": 3}


def state(net: Any) -> dict[str, Any]:
    """The arrays of a checkpoint of timm for a network."""
    return {name: values(name, t.shape) for name, t in timm_table(net).tensors().items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of timm with a counter of normalization, as its files have."""
    path = tmp_path_factory.mktemp("timm")
    counter = {"bn1.num_batches_tracked": np.zeros((), np.int64)}
    write_safetensors(path / "model.safetensors", state(get_model(NAME, classes=7)) | counter)
    entries = {"architecture": NAME, "num_classes": 7, "pretrained_cfg": CFG}
    (path / "config.json").write_text(json.dumps(entries))
    return path


def test_weights_and_transform_are_those_of_the_folder(folder: Path) -> None:
    for path in (folder, folder / "model.safetensors"):
        conversion = import_weights(NAME, path)
        assert (conversion.classes, conversion.origin, conversion.notes) == (7, "timm", [])
        assert conversion.preprocessing.startswith("RGB / 255, input_size [3, 64, 64], crop_pct 1")
    net: Any = get_model(NAME, classes=7)
    assert list(conversion.arrays) == list(net._collect_params_with_prefix())
    expected = values("classifier.weight", (7, 1024))
    np.testing.assert_array_equal(conversion.arrays["output.weight"], expected)
    conversion.load(net)
    assert net.transform(ones((64, 64, 3), dtype="uint8")).shape == (3, 64, 64)


def test_command_writes_a_file_and_says_how_images_are_prepared(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    zoo.add_parser(parser.add_subparsers())
    words = ["zoo", "import", str(folder), "--network", NAME, "--resize", "--output"]
    arguments = parser.parse_args([*words, str(tmp_path / "x.params")])
    assert arguments.run(arguments) == 0
    assert "mean [0.5, 0.5, 0.5], std [0.25, 0.25, 0.25]" in capsys.readouterr().out
    net = get_model(NAME, classes=7)
    net.load_parameters(tmp_path / "x.params")
    expected = values("conv_stem.weight", (16, 3, 3, 3))
    np.testing.assert_array_equal(net.body.stem.conv.weight.data().asnumpy(), expected)  # type: ignore[attr-defined]  # an PooledClassifier


def test_resnets_take_the_transform_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_safetensors(tmp_path / "model.safetensors", state_of("torchvision resnet18"))
    entries = {"architecture": "resnet18", "pretrained_cfg": CFG}
    (tmp_path / "config.json").write_text(json.dumps(entries))
    conversion = import_weights("resnet18_v1", tmp_path)
    net: Any = resnet.get_resnet(1, 18, classes=conversion.classes)
    assert net.transform is None
    conversion.load(net)
    assert net.transform(ones((64, 64, 3), dtype="uint8")).shape == (3, 64, 64)


def swin(window: int, image: int, **options: Any) -> Any:
    """A small Swin."""
    name = "swin_tiny_patch4_window7_224"
    return get_model(name, window_size=window, image_size=image, **SWIN, **options)


def test_names_of_transformers_are_known(tmp_path: Path) -> None:
    net = swin(4, 32)
    tensors = family_of(net).table(net, "swin.").tensors()
    state = {name: values(name, tensor.shape) for name, tensor in tensors.items()}
    conversion = convert(net, write_safetensors(tmp_path / "x.safetensors", state))
    assert (conversion.origin, conversion.classes) == ("transformers", 3)
    joined = [
        state[f"swin.encoder.layers.1.blocks.0.attention.self.{part}.bias"]
        for part in ("query", "key", "value")
    ]
    found = conversion.arrays["body.stages.1.layers.0.attention.attention.qkv.bias"]
    np.testing.assert_array_equal(found, np.concatenate(joined))


def test_tables_and_kernels_are_resized_on_request(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "x.safetensors", state(swin(4, 32)))
    net = swin(6, 72, patch_size=6)
    with pytest.raises(ParameterError, match=r"bias_table' of shape \(121, 2\), got \(49, 2\)"):
        convert(net, path)
    conversion = convert(net, path, resize=True)
    assert len(conversion.notes) == 5
    assert (
        conversion.notes[0] == "resized patch_embed.proj.weight from (8, 3, 4, 4) to (8, 3, 6, 6)"
    )
    conversion.load(net)


def test_resized_weights_are_those_of_timm() -> None:
    found = resized_table(values("table", (49, 2)), (121, 2))
    np.testing.assert_allclose(found, GOLDEN["resized table"], atol=2e-6)
    for side in (3, 6):
        found = resized_kernel(values("kernel", (2, 3, 4, 4)), (2, 3, side, side))
        np.testing.assert_allclose(found, GOLDEN[f"resized kernel {side}"], atol=2e-5)


def test_what_does_not_fit_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(NotSupportedError, match=f"weights of 'efficientnet_b0', got .*'{NAME}'"):
        import_weights("efficientnet_b0", folder)
    with pytest.raises(ArgumentError, match=f"no epsilon for {NAME}, which has .*, got 1"):
        import_weights(NAME, folder, epsilon=1.0)
    with pytest.raises(ParameterError, match=r"classifier\.weight' of shape \(8, 1024\), got \(7"):
        import_weights(NAME, folder, classes=8)
    arrays = state(get_model(NAME, classes=2))
    del arrays["bn1.bias"]
    arrays["bn1.bais"] = np.zeros(16, np.float32)
    path = write_safetensors(tmp_path / "x.safetensors", arrays)
    with pytest.raises(ParameterError, match=r"'bn1\.bias', got none .*no tensors 'bn1\.bais'"):
        import_weights(NAME, path)
    arrays["bn1.bias"] = np.full(16, np.nan, np.float32)
    path = write_safetensors(tmp_path / "x.safetensors", arrays)
    assert import_weights(NAME, path, ignore_extra=True).notes == [
        "ignored as requested: bn1.bais",
        "not all numbers are finite in body.stem.norm.beta",
    ]
    (tmp_path / "config.json").write_text(json.dumps({"architecture": NAME, "pretrained_cfg": 3}))
    with pytest.raises(FileFormatError, match="'pretrained_cfg' to be an object, got 3"):
        import_weights(NAME, path)
