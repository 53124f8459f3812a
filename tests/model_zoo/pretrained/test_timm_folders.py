"""Folders of timm: networks, weights and image transforms, both ways."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    MissingFileError,
    NotSupportedError,
    ParameterError,
)
from gluonish.model_zoo import from_pretrained, get_model, save_pretrained
from gluonish.ndarray.array_file import read_arrays
from tests.model_zoo.foreign.checkpoints import write_safetensors

NAME = "mobilenetv3_small_050"
CFG = {
    "input_size": [3, 64, 64],
    "crop_pct": 0.8,
    "interpolation": "bilinear",
    "mean": [0.5, 0.25, 0.5],
    "std": [0.5, 0.25, 0.125],
    "url": "somewhere",
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that `save_pretrained` wrote, whose configuration timm has completed."""
    folder = tmp_path_factory.mktemp("timm")
    net: Any = get_model(NAME, classes=3)
    net.initialize(mx.init.Normal(0.1))
    save_pretrained(net, folder)
    entries = json.loads((folder / "config.json").read_text())
    entries["pretrained_cfg"] |= CFG
    (folder / "config.json").write_text(json.dumps(entries))
    return folder


def changed(saved: Path, folder: Path, **settings: Any) -> Path:
    """Write a folder with other settings and the same weights."""
    entries = json.loads((saved / "config.json").read_text()) | settings
    (folder / "config.json").write_text(json.dumps(entries))
    (folder / "model.safetensors").write_bytes((saved / "model.safetensors").read_bytes())
    return folder


def test_folders_go_both_ways(saved: Path, tmp_path: Path) -> None:
    entries = json.loads((saved / "config.json").read_text())
    assert (entries["architecture"], entries["num_classes"]) == (NAME, 3)
    net: Any = from_pretrained(saved)
    net.hybridize()
    assert net(mx.nd.ones((1, 3, 32, 32))).shape == (1, 3)
    save_pretrained(net, tmp_path)
    assert json.loads((tmp_path / "config.json").read_text()) == entries
    files = [read_arrays(folder / "model.safetensors") for folder in (saved, tmp_path)]
    assert files[0].names == files[1].names
    for first, second in zip(files[0].arrays, files[1].arrays, strict=True):
        assert first.values.tobytes() == second.values.tobytes()


def test_the_configuration_becomes_the_transform(saved: Path) -> None:
    net: Any = from_pretrained(saved)
    image = np.full((100, 120, 3), 51, np.uint8)
    image[:, :60] = 255
    found = net.transform(mx.nd.array(image, dtype="uint8")).asnumpy()
    assert found.shape == (3, 64, 64)
    # Scaled to 80 x 96, from whose columns 16 to 79 are cut out: the edge is at 48 - 16.
    left = found[:, :, :31].transpose(1, 2, 0)
    np.testing.assert_allclose(left, [[[1.0, 3.0, 4.0]] * 31] * 64, 1e-6)
    right = [(0.2 - 0.5) / 0.5, (0.2 - 0.25) / 0.25, (0.2 - 0.5) / 0.125]
    np.testing.assert_allclose(found[:, 10, 33:], np.tile(right, (31, 1)).T, rtol=1e-5)
    assert get_model(NAME).transform is None  # type: ignore[attr-defined]  # an PooledClassifier


@pytest.mark.parametrize(
    ("cfg", "error", "message"),
    [
        (
            {"interpolation": "random"},
            NotSupportedError,
            "'interpolation' among nearest, .* got",
        ),
        ({"crop_mode": "border"}, NotSupportedError, "'crop_mode' among center, squash, got 'bor"),
        ({"mean": [0.5]}, FileFormatError, r"'mean' to be 3 numbers from .* got \[0.5\]"),
        ({"std": [1, 1, 0]}, FileFormatError, r"'std' to be 3 numbers from 1e-06 .* got"),
        ({"crop_pct": "1"}, FileFormatError, "'crop_pct' to be 1 numbers .* got"),
        ({"input_size": [3, 1e9, 9]}, FileFormatError, "'input_size' to be 3 numbers"),
        ({"input_size": [3, 64, 32]}, NotSupportedError, ".* got 64x32"),
    ],
)
def test_other_transforms_are_refused(cfg: Any, error: Any, message: str) -> None:
    from gluonish.model_zoo.pretrained.image_transform import of_timm

    with pytest.raises(error, match=f"here: expected {message}"):
        of_timm(CFG | cfg, "here")


def test_a_new_head_needs_an_initializer(saved: Path) -> None:
    with pytest.raises(ParameterError, match=r"classifier\.weight' of shape \(5, 1024\), got \(3,"):
        from_pretrained(saved, classes=5)
    net = from_pretrained(saved, classes=5, initializer=mx.init.Xavier())
    assert net(mx.nd.ones((2, 3, 32, 32))).shape == (2, 5)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"architecture": "mobilenetv3_small_5"}, NotSupportedError, f"nearest: .*'{NAME}'"),
        ({"architecture": 3}, FileFormatError, "'architecture' of type str, got 3"),
        ({"num_classes": -1}, FileFormatError, "'num_classes' from 1 to"),
        ({"global_pool": "max"}, NotSupportedError, "'global_pool' to be 'avg', got 'max'"),
        ({"pruned": True}, NotSupportedError, "got pruned=True; a setting"),
        ({"model_args": {"act": "relu"}}, NotSupportedError, "model_args: .* got act='relu'"),
        ({"model_args": {"in_chans": 4}}, ParameterError, r"conv_stem\.weight' of shape \(16, 4"),
        ({"model_args": {"drop_rate": 2.0}}, FileFormatError, "dropout in .0, 1., got 2.0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    settings: Any, error: Any, message: str, saved: Path, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        from_pretrained(changed(saved, tmp_path, **settings))


def test_weights_that_do_not_fit_are_refused(saved: Path, tmp_path: Path) -> None:
    changed(saved, tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(MissingFileError, match=r"expected model\.safetensors or"):
        from_pretrained(tmp_path)
    write_safetensors(tmp_path / "model.safetensors", {"bn1.weight": np.zeros(16, np.float32)})
    with pytest.raises(ParameterError, match=r"expected tensors 'conv_stem\.weight'.*and \d+ more"):
        from_pretrained(tmp_path)


def test_what_timm_has_no_name_for_is_not_saved(tmp_path: Path) -> None:
    net: Any = get_model(NAME, in_channels=1, dropout=0.5, drop_path=0.25)
    net.initialize()
    save_pretrained(net, tmp_path)
    options = json.loads((tmp_path / "config.json").read_text())["model_args"]
    assert options == {"in_chans": 1, "drop_rate": 0.5, "drop_path_rate": 0.25}
    assert from_pretrained(tmp_path)(mx.nd.ones((1, 1, 32, 32))).shape == (1, 1000)
    net = get_model(NAME, epsilon=1e-4)
    net.initialize()
    with pytest.raises(NotSupportedError, match=rf"arguments of {NAME} in timm, got epsilon=0"):
        save_pretrained(net, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_no_weights_were_published_by_mxnet() -> None:
    with pytest.raises(ArgumentError, match=f"pretrained model for {NAME} is not available"):
        get_model(NAME, pretrained=True)


def test_an_architecture_is_refused(saved: Path) -> None:
    with pytest.raises(ArgumentError, match=r"expected no architecture for .*, got 'ResNet'"):
        from_pretrained(saved, architecture="ResNet")
