"""Networks for images of transformers' folders: outputs, gradients, and folders both ways."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  # NumPy reads bfloat16
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import FileFormatError, NotSupportedError, OperatorError, ParameterError
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.pretrained.families import body_of, family_of
from gluonish.ndarray.array_file import read_arrays
from tests.golden.timm_network_cases import images, pattern, summary

FOLDERS = Path(__file__).parents[2] / "golden" / "image_networks"
CASES = sorted(path.name for path in FOLDERS.iterdir())
_LEAST = 1e-3  # scale of gradients that are zero but for rounding, such as of biases of keys
# Settings that follow from others, or have no effect.
UNUSED = {
    *("transformers_version", "image_size", "out_features", "out_indices"),
    *("stage_names", "num_layers", "hidden_size", "encoder_stride"),
}


@cache
def network(case: str) -> Any:
    """Return the network of a folder."""
    return from_pretrained(FOLDERS / case, dtype="float32", drop_path=0.0)


@pytest.fixture(autouse=True)
def _on_new_devices() -> None:
    """Forget networks on GPUs, which tests on the double of CuPy have for themselves."""
    if mx.current_context().device_type == "gpu":
        network.cache_clear()


@cache
def expected(case: str) -> dict[str, Any]:
    """Return what transformers computed in float64."""
    with np.load(FOLDERS / case / "expected.npz") as file:
        return dict(file)


def photos(case: str) -> mx.nd.NDArray:
    side = 36 if case == "swin" else 32
    return mx.nd.array(images((2, 3, side, side)))


def close(found: Any, want: Any, bound: float, what: str = "") -> None:
    found = np.asarray(found, np.float64)
    assert found.shape == want.shape, what
    apart = np.abs(found - want).max() / max(np.abs(want).max(), _LEAST)
    assert apart < bound, f"{what}: {apart}"


@pytest.mark.parametrize("case", CASES)
def test_outputs_and_gradients_are_those_of_transformers(case: str) -> None:
    net, want = network(case), expected(case)
    close(net(photos(case)).asnumpy(), want["output"], 2e-5)
    net.hybridize()
    weights = mx.nd.array(pattern(want["output"]))
    with mx.autograd.record():
        output = net(photos(case))
        loss = (output * weights).sum()
    loss.backward()
    close(output.asnumpy(), want["output"], 2e-5)
    prefix = "" if body_of(net) is net else family_of(net).prefix
    found = sorted(family_of(net).table(net, prefix).gradients().items())
    for (name, gradient), numbers in zip(found, want["gradients"], strict=True):
        close(summary(gradient), numbers, 1e-4, name)


@pytest.mark.parametrize("case", CASES)
def test_saved_folders_have_the_same_settings_and_weights(case: str, tmp_path: Path) -> None:
    net = from_pretrained(FOLDERS / case)
    save_pretrained(net, tmp_path)
    was, now = (
        json.loads((folder / "config.json").read_text()) for folder in (FOLDERS / case, tmp_path)
    )
    for name, value in now.items():
        assert was.get(name, value) == value, name
    assert {name for name in was if name not in now} <= UNUSED
    files = [read_arrays(folder / "model.safetensors") for folder in (FOLDERS / case, tmp_path)]
    (first, second) = (dict(zip(file.names, file.arrays, strict=True)) for file in files)
    assert first.keys() == second.keys()
    for name, record in first.items():
        assert record.values.tobytes() == second[name].values.tobytes(), name


def test_a_new_head_has_its_own_number_of_classes(tmp_path: Path) -> None:
    net: Any = from_pretrained(
        FOLDERS / "convnext_body",
        architecture="ConvNextForImageClassification",
        initializer=mx.init.Normal(0.02),
        classes=7,
    )
    net.cast("float32")
    assert net(photos("convnext")).shape == (2, 7)
    assert net.features is net.body
    save_pretrained(net, tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    assert len(settings["id2label"]) == 7
    with pytest.raises(ParameterError, match=r"classifier\.weight' of shape \(7, 24\), got \(3"):
        from_pretrained(FOLDERS / "convnext", classes=7)


def changed(case: str, folder: Path, **settings: Any) -> Path:
    """Write a folder's config.json with other settings, without weights."""
    entries = json.loads((FOLDERS / case / "config.json").read_text()) | settings
    (folder / "config.json").write_text(json.dumps(entries))
    return folder


@pytest.mark.parametrize(
    ("case", "settings", "message"),
    [
        ("swin", {"depths": [2, "2"]}, r"expected 'depths' to be whole numbers from 1 to 1024"),
        ("swin", {"depths": [2] * 3}, "expected 'depths' with 'num_layers' = 2 numbers, got 3"),
        ("swin", {"depths": 2}, "expected 'depths' of type list, got 2"),
        ("swin", {"num_heads": [3, 4]}, "do not fit each other: .* num_heads"),
        ("swin", {"embed_dim": 1 << 40}, "expected 'embed_dim' from 1 to 16777216"),
        ("convnext", {"num_stages": 4}, "'num_stages' = 4 numbers, got 3"),
        (
            "convnext",
            {"id2label": {"0": "cat", "2": "dog"}},
            "'id2label' with names of classes 0, 1",
        ),
        ("convnext", {"id2label": {}}, "'id2label' with names of classes 0, 1"),
        ("convnext", {"num_labels": 4}, "'id2label' of num_labels 4 classes, got 3"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    case: str, settings: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FileFormatError, match=message):
        from_pretrained(changed(case, tmp_path, **settings))


@pytest.mark.parametrize(
    ("case", "settings", "message"),
    [
        ("swin", {"use_absolute_embeddings": True}, "'use_absolute_embeddings' to be False"),
        ("convnext", {"hidden_act": "relu"}, "'hidden_act' to be 'gelu', got 'relu'"),
        ("convnext", {"dilation": 2}, "got dilation=2"),
    ],
)
def test_settings_that_are_not_supported_are_refused(
    case: str, settings: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(NotSupportedError, match=message):
        from_pretrained(changed(case, tmp_path, **settings))


def test_images_of_another_size_are_refused() -> None:
    with pytest.raises(OperatorError):
        network("swin")(photos("convnext"))
