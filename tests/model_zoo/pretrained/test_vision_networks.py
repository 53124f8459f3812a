"""Networks for images in transformers' folders: outputs, gradients, folders both ways."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  # NumPy reads bfloat16
import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.pretrained.families import body_of, family_of
from gluonish.ndarray.array_file import read_arrays
from tests.golden.vision_network_cases import OTHER_SIZE, TOKENS, images

FOLDERS = Path(__file__).parents[2] / "golden" / "vision_networks"
CASES = sorted(path.name for path in FOLDERS.iterdir())


@cache
def settings(case: str) -> dict[str, Any]:
    """Return config.json."""
    found: dict[str, Any] = json.loads((FOLDERS / case / "config.json").read_text())
    return found


@cache
def network(case: str) -> Any:
    """Return the network of a folder, in float32."""
    return from_pretrained(FOLDERS / case, dtype="float32")


@cache
def expected(case: str) -> dict[str, Any]:
    """Return what transformers computed in float64."""
    with np.load(FOLDERS / case / "expected.npz") as file:
        return dict(file)


def inputs(case: str, size: Any = None) -> list[mx.nd.NDArray]:
    """Return the inputs of a network."""
    entries = settings(case)
    size = size or entries.get("image_size", 8)
    pixels = mx.nd.array(images((size, size) if isinstance(size, int) else tuple(size)))
    tokens = mx.nd.array(TOKENS, dtype="int32")
    if "text_config" in entries:
        return [tokens, pixels]
    return [tokens if "text" in entries["model_type"] else pixels]


def outputs(made: Any) -> list[mx.nd.NDArray]:
    return list(made) if isinstance(made, list | tuple) else [made]


def close(found: Any, want: Any, bound: float, what: str = "") -> None:
    found = found.asnumpy() if isinstance(found, mx.nd.NDArray) else np.asarray(found)
    assert found.shape == want.shape, what
    apart = np.abs(found.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-30)
    assert apart < bound, f"{what}: {apart}"


def check(found: list[Any], case: str, what: str) -> None:
    """Compare outputs, of which there may be further ones."""
    want = [value for name, value in expected(case).items() if name.startswith(what)]
    assert want
    for one, other in zip(found, want, strict=True):
        close(one, other, 2e-5, what)


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_those_of_transformers(case: str) -> None:
    net = network(case)
    for hybridized in (False, True):
        net.hybridize(hybridized)
        check(outputs(net(*inputs(case))), case, "output")


@pytest.mark.parametrize("case", [case for case in CASES if "resized0" in expected(case)])
def test_images_of_another_size_have_interpolated_positions(case: str) -> None:
    net = from_pretrained(FOLDERS / case, dtype="float32")
    net.hybridize()
    net(*inputs(case))
    net.set_image_size(OTHER_SIZE)
    check(outputs(net(*inputs(case, OTHER_SIZE))), case, "resized")


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_transformers(case: str) -> None:
    net, want = network(case), expected(case)
    net.hybridize()
    with mx.autograd.record():
        loss = 0
        for output in outputs(net(*inputs(case))):
            pattern = np.cos(np.arange(output.size)).reshape(output.shape)
            loss = loss + (output * mx.nd.array(pattern)).sum()
    loss.backward()
    prefix = "" if body_of(net) is net else family_of(net).prefix
    found = family_of(net).table(net, prefix).gradients()
    assert {f"gradient {name}" for name in found} == {k for k in want if k[:9] == "gradient "}
    largest = max(values[1] for name, values in want.items() if name.startswith("gradient "))
    for name, gradient in found.items():
        if want[f"gradient {name}"][1] < 1e-6 * largest:  # 0 but for rounding, as of biases of keys
            assert np.linalg.norm(gradient) < 1e-5 * largest, name
            continue
        gradient = gradient.astype(np.float64)
        product = (gradient * np.cos(np.arange(gradient.size)).reshape(gradient.shape)).sum()
        close([product, np.linalg.norm(gradient)], want[f"gradient {name}"], 1e-4, name)


# Settings without an effect here.
UNUSED = {"transformers_version", "encoder_stride", "pooler_act", "pooler_output_size"}
UNUSED |= {"out_features", "out_indices", "stage_names", "reshape_hidden_states"}
UNUSED |= {"logit_scale_init_value", "projection_dim"}


def left_out(was: dict[str, Any], now: dict[str, Any]) -> set[str]:
    """Return the settings that differ or are missing in another file."""
    found = set()
    for name, value in was.items():
        if isinstance(value, dict) and isinstance(now.get(name), dict) and "config" in name:
            found |= left_out(value, now[name])
        elif now.get(name) != value and value:
            found.add(name)
    return found


@pytest.mark.parametrize("case", CASES)
def test_saved_folders_have_the_same_settings_and_weights(case: str, tmp_path: Path) -> None:
    net = from_pretrained(FOLDERS / case)
    save_pretrained(net, tmp_path)
    now = json.loads((tmp_path / "config.json").read_text())
    assert left_out(settings(case), now) <= UNUSED
    files = [read_arrays(folder / "model.safetensors") for folder in (FOLDERS / case, tmp_path)]
    (first, second) = (dict(zip(file.names, file.arrays, strict=True)) for file in files)
    assert first.keys() == second.keys()
    for name, record in first.items():
        assert record.values.tobytes() == second[name].values.tobytes(), name
    again = from_pretrained(tmp_path, dtype="float32")
    made = [outputs(one(*inputs(case))) for one in (again, network(case))]
    for one, other in zip(*made, strict=True):
        assert one.asnumpy().tobytes() == other.asnumpy().tobytes()
