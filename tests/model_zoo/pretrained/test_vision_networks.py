"""Networks for images in transformers' folders: outputs, gradients, folders both ways."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  # NumPy reads bfloat16
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import FileFormatError, NotSupportedError, OperatorError
from gluonish.model_zoo import from_pretrained, save_pretrained
from gluonish.model_zoo.pretrained.families import body_of, family_of
from gluonish.model_zoo.vision import get_model
from gluonish.ndarray.array_file import read_arrays
from tests.golden.vision_network_cases import MASKED, OTHER_SIZE, TOKENS, images

FOLDERS = Path(__file__).parents[2] / "golden" / "vision_networks"
CASES = sorted(path.name for path in FOLDERS.iterdir())


@cache
def settings(case: str) -> dict[str, Any]:
    """Return config.json."""
    found: dict[str, Any] = json.loads((FOLDERS / case / "config.json").read_text())
    return found


def network(case: str) -> Any:
    """Return the network of a folder on the current device, in float32."""
    return _network(case, mx.current_context())


@cache
def _network(case: str, ctx: mx.Context) -> Any:
    return from_pretrained(FOLDERS / case, ctx, dtype="float32")


@pytest.fixture(autouse=True)
def _on_new_devices() -> None:
    """Forget networks on GPUs, which tests on the double of CuPy have for themselves."""
    if mx.current_context().device_type == "gpu":
        _network.cache_clear()


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
        loss = mx.nd.zeros(1)
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


def stored(folder: Path) -> dict[str, Any]:
    """Return the weights of a folder."""
    file = read_arrays(folder / "model.safetensors")
    records: list[Any] = file.arrays
    return {name: record.values for name, record in zip(file.names, records, strict=True)}


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
    first, second = (stored(folder) for folder in (FOLDERS / case, tmp_path))
    assert first.keys() == second.keys()
    for name, values in first.items():
        assert values.tobytes() == second[name].tobytes(), name
    again = from_pretrained(tmp_path, dtype="float32")
    made = [outputs(one(*inputs(case))) for one in (again, network(case))]
    for one, other in zip(*made, strict=True):
        close(one, other.asnumpy(), 1e-5)  # the other may be hybridized


def test_masked_patches_become_the_mask_token() -> None:
    masked = mx.nd.array(MASKED)
    for hybridized in (False, True):
        net = from_pretrained(FOLDERS / "dinov2_body", dtype="float32")
        net.hybridize(hybridized)
        check([net(*inputs("dinov2_body"), masked)], "dinov2_body", "masked")
    with pytest.raises(mx.MXNetError, match="expected mask_token=True with masked, got False"):
        body_of(network("dinov2"))(*inputs("dinov2"), masked)


# Names of timm for those of transformers' files; weights of queries, keys and values are joined.
TIMM = {
    "embeddings.cls_token": "cls_token",
    "embeddings.distillation_token": "dist_token",
    "embeddings.position_embeddings": "pos_embed",
    "embeddings.patch_embeddings.projection": "patch_embed.proj",
    "encoder.layer.": "blocks.",
    "attention.output.dense": "attn.proj",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
    "layernorm_before": "norm1",
    "layernorm_after": "norm2",
    "mlp.weights_in": "mlp.fc1",
    "mlp.weights_out": "mlp.fc2",
    "layer_scale1.lambda1": "ls1.gamma",
    "layer_scale2.lambda1": "ls2.gamma",
    "distillation_classifier": "head_dist",
    "cls_classifier": "head",
    "classifier": "head",
    "layernorm": "norm",
}
SIZES: dict[str, Any] = {"patch_size": 4, "units": 16, "num_layers": 2, "num_heads": 2}


def write_timm(case: str, folder: Path, **entries: Any) -> None:
    """Write a folder as timm does, with the weights of a case."""
    joined: dict[str, list[Any]] = {}
    prefix = settings(case)["model_type"] + "."
    for part in ("query", "key", "value", ""):
        for name, values in stored(FOLDERS / case).items():
            if f"attention.{part}." in name if part else "attention.attention" not in name:
                name = name.removeprefix(prefix).replace(f"attention.attention.{part}", "attn.qkv")
                for theirs, timm in TIMM.items():
                    name = name.replace(theirs, timm)
                joined.setdefault(name, []).append(values)
    arrays = {name: mx.nd.array(np.concatenate(x).astype(np.float32)) for name, x in joined.items()}
    mx.nd.save(str(folder / "model.safetensors"), arrays)
    (folder / "config.json").write_text(json.dumps({"global_pool": "token", **entries}))


@pytest.mark.parametrize(
    ("case", "name", "changes"),
    [
        ("vit", "vit_tiny_patch16_224", {"image_size": (8, 12), "hidden_units": 24}),
        ("deit_teacher", "deit_tiny_distilled_patch16_224", {"image_size": 8, "hidden_units": 24}),
    ],
)
def test_folders_of_timm_are_read(
    case: str, name: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    classes = len(settings(case)["id2label"])
    write_timm(case, tmp_path, architecture=name, num_classes=classes, num_features=16)
    net = from_pretrained(tmp_path, epsilon=1e-12, **SIZES, **changes)
    check(outputs(net(*inputs(case))), case, "output")


CFG = {
    "input_size": [3, 224, 224],
    "crop_pct": 0.8,
    "interpolation": "bilinear",
    "mean": [0.5, 0.25, 0.5],
    "std": [0.5, 0.25, 0.125],
}
DARK = [(0.2 - 0.5) / 0.5, (0.2 - 0.25) / 0.25, (0.2 - 0.5) / 0.125]  # of bytes 51
BRIGHT = [1.0, 3.0, 4.0]  # of bytes 255


def halves() -> mx.nd.NDArray:
    """Return an image whose left half is bright."""
    image = np.full((100, 120, 3), 51, np.uint8)
    image[:, :60] = 255
    return mx.nd.array(image, dtype="uint8")


def test_settings_of_timm_become_the_transform_of_a_vision_transformer(tmp_path: Path) -> None:
    name, classes = "deit_tiny_distilled_patch16_224", len(settings("deit_teacher")["id2label"])
    entries = {"architecture": name, "num_classes": classes, "pretrained_cfg": CFG}
    write_timm("deit_teacher", tmp_path, **entries)
    net = from_pretrained(tmp_path, image_size=8, hidden_units=24, **SIZES)
    found = net.transform(halves())
    assert net(found.expand_dims(0)).shape == (1, classes)
    # Scaled to 10 x 12, from whose columns 2 to 9 are cut out: the edge is at 6 - 2.
    values = found.asnumpy()
    np.testing.assert_allclose(values[:, :, 0], np.tile(BRIGHT, (8, 1)).T, rtol=1e-5)
    np.testing.assert_allclose(values[:, :, 2], np.tile(BRIGHT, (8, 1)).T, rtol=1e-5)
    np.testing.assert_allclose(values[:, :, 5], np.tile(DARK, (8, 1)).T, rtol=1e-5)
    np.testing.assert_allclose(values[:, :, 7], np.tile(DARK, (8, 1)).T, rtol=1e-5)
    net.set_image_size(16)
    found = net.transform(halves())
    assert found.shape == (3, 16, 16)
    assert net(found.expand_dims(0)).shape == (1, classes)


def test_images_of_two_sides_have_the_transform_too(tmp_path: Path) -> None:
    cfg = {**CFG, "crop_mode": "squash", "crop_pct": 1.0, "interpolation": "nearest"}
    classes = len(settings("vit")["id2label"])
    entries = {"architecture": "vit_tiny_patch16_224", "num_classes": classes}
    write_timm("vit", tmp_path, **entries, pretrained_cfg=cfg)
    net = from_pretrained(tmp_path, image_size=(8, 12), hidden_units=24, **SIZES)
    found = net.transform(halves()).asnumpy()
    assert found.shape == (3, 8, 12)
    rows = [BRIGHT] * 6 + [DARK] * 6
    np.testing.assert_allclose(found, np.tile(rows, (8, 1, 1)).transpose(2, 0, 1), rtol=1e-5)


def test_a_dinov2_of_timm_is_its_body_with_a_transform(tmp_path: Path) -> None:
    entries = {"architecture": "vit_giant_patch14_dinov2", "num_classes": 0}
    write_timm("dinov2_body", tmp_path, **entries, pretrained_cfg=CFG)
    weights: Any = mx.nd.load(str(tmp_path / "model.safetensors"))
    weights.pop("embeddings.mask_token", None)  # which timm leaves out
    mx.nd.save(str(tmp_path / "model.safetensors"), weights)
    given = network("dinov2_body")._arguments
    same = {name: given[name] for name in ("image_size", "mlp_ratio", "epsilon")}
    net = from_pretrained(tmp_path, **{**SIZES, **same, "patch_size": given["patch_size"]})
    want = network("dinov2_body")(*inputs("dinov2_body")).asnumpy()
    close(net(*inputs("dinov2_body")), want, 1e-6)
    assert callable(net.transform)


def test_a_network_without_settings_of_timm_has_no_transform() -> None:
    assert network("vit").transform is None
    assert network("dinov2_body").transform is None


def test_weights_with_names_of_timm_are_read_with_settings_of_transformers(tmp_path: Path) -> None:
    write_timm("dinov2", tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(settings("dinov2")))
    # Their heads take other features.
    body = from_pretrained(tmp_path, architecture="Dinov2Model")
    features = body_of(network("dinov2"))(*inputs("dinov2")).asnumpy()
    close(body(*inputs("dinov2")), features, 1e-6)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"architecture": "vit_tiny_patch16"}, "nearest: 'vit_tiny_patch16_224'"),
        ({"architecture": 3}, "expected 'architecture'"),
        ({"num_classes": "5"}, "expected 'num_classes' from 0 to 16777216, got '5'"),
        ({"num_classes": -1}, "expected 'num_classes' from 0"),
        ({"global_pool": "avg"}, "expected 'global_pool' token, got 'avg'"),
        ({"pretrained_cfg": [3]}, r"expected 'pretrained_cfg' of type dict, got \[3\]"),
        ({"model_args": {"depth": 3}}, "got 'model_args'; a setting that is not understood"),
    ],
)
def test_settings_of_timm_that_are_not_known_are_refused(
    entries: dict[str, Any], message: str, tmp_path: Path
) -> None:
    entries = {"architecture": "vit_tiny_patch16_224", **entries}
    (tmp_path / "config.json").write_text(json.dumps(entries))
    with pytest.raises((FileFormatError, NotSupportedError), match=message):
        from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("case", "changes", "message"),
    [
        ("vit", {"image_size": [8, 0]}, "expected 'image_size' as a number or a list of two"),
        ("vit", {"image_size": [8]}, "expected 'image_size' as a number or a list of two"),
        ("vit", {"image_size": "8"}, "expected 'image_size' of type int, got '8'"),
        ("vit", {"image_size": 3}, "expected image_size of at least a patch 4 x 4, got 3 x 3"),
        ("vit", {"num_attention_heads": 3}, "expected num_heads that divides units 16, got 3"),
        ("vit", {"hidden_dropout_prob": 2}, "expected 'hidden_dropout_prob' from 0.0 to 1.0"),
        ("vit", {"mlp_ratio": 4}, "got mlp_ratio=4; a setting that is not understood"),
        ("vit", {"pooler_output_size": 8}, "expected 'pooler_output_size' to be 16, got 8"),
        ("dinov2", {"apply_layernorm": False}, "expected 'apply_layernorm' to be True"),
        ("clip", {"text_config": 3}, "expected 'text_config' of type dict, got 3"),
        ("clip", {"vision_config": {"depth": 3}}, r"'vision_config': expected settings .*depth=3"),
        ("clip", {"text_config": {"model_type": "bert"}}, "expected 'model_type' to be 'clip_text"),
        ("siglip", {"vision_config": {"vision_use_head": False}}, "got 12 of text and none of"),
    ],
)
def test_settings_out_of_range_are_refused(
    case: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**settings(case), **changes}))
    if "text_config" in settings(case) and "siglip" in case:
        message = message.replace("12", "16")
    with pytest.raises((FileFormatError, NotSupportedError), match=message):
        from_pretrained(tmp_path)


@pytest.mark.parametrize("case", ["vit", "dinov2_body", "clip", "siglip_vision"])
def test_images_of_another_size_are_refused(case: str) -> None:
    *tokens, _ = inputs(case)
    with pytest.raises(OperatorError, match=r"expected images \(N, 3, 8, .*set_image_size"):
        network(case)(*tokens, mx.nd.ones((1, 3, 16, 8)))


def test_positions_are_not_resized_under_a_trainer() -> None:
    net = from_pretrained(FOLDERS / "vit", dtype="float32")
    mx.gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(mx.MXNetError, match="expected set_image_size before a Trainer is made"):
        net.set_image_size(16)


# Parameters as transformers counts them; those of DINOv2 without the mask token.
COUNTS = {
    "vit_tiny_patch16_224": 5717416,
    "vit_base_patch16_224": 86567656,
    "vit_large_patch16_224": 304326632,
    "deit_tiny_distilled_patch16_224": 5910800,
    "vit_small_patch14_dinov2": 22056576 - 384,
    "vit_giant_patch14_dinov2": 1136480768 - 1536,
    "clip_vit_base_patch32": 151277313,
    "clip_vit_large_patch14": 427616513,
    "siglip_base_patch16_224": 203155970,
}


@pytest.mark.parametrize("name", COUNTS)
def test_named_networks_have_the_published_number_of_parameters(name: str) -> None:
    shapes: list[Any] = [p.shape for p in get_model(name).collect_params().values()]
    assert sum(int(np.prod(shape)) for shape in shapes) == COUNTS[name]


def test_names_of_classes_are_kept_unless_their_number_changes(tmp_path: Path) -> None:
    net = from_pretrained(FOLDERS / "deit_teacher", dtype="float32")
    net._extras["id2label"] = {"0": "cat", "1": "dog", "2": "cow"}
    save_pretrained(net, tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text())
    assert saved["id2label"] == {"0": "cat", "1": "dog", "2": "cow"}
    net._extras["id2label"] = {"0": "cat"}
    save_pretrained(net, tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text())
    assert saved["id2label"] == {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}
