"""What import folds, refuses, lists and writes; logits are compared in test_imported_logits.py."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    GluonishError,
    MissingFileError,
    NotSupportedError,
    ParameterError,
)
from gluonish.model_zoo.foreign import convert, import_weights, open_checkpoint, save_conversion
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.model_zoo.vision import resnet
from gluonish.ndarray import array
from tests.golden.foreign_values import values
from tests.model_zoo.foreign.checkpoints import keras_of, state_of, write_safetensors

CASE = "torchvision resnet18"
NAME = "resnet18_v1"


@pytest.fixture
def state() -> dict[str, Any]:
    return state_of(CASE)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A state dict of a ResNet-18 with one unit a stage and few channels, which is quick."""
    monkeypatch.setitem(resnet.resnet_spec, 18, ("basic_block", [1, 1], [4, 4, 8]))
    shapes = {
        "conv1.weight": (4, 3, 7, 7),
        "layer1.0.conv1.weight": (4, 4, 3, 3),
        "layer1.0.conv2.weight": (4, 4, 3, 3),
        "layer2.0.conv1.weight": (8, 4, 3, 3),
        "layer2.0.conv2.weight": (8, 8, 3, 3),
        "layer2.0.downsample.0.weight": (8, 4, 1, 1),
        "fc.weight": (5, 8),
        "fc.bias": (5,),
    }
    norms = {"bn1": 4, "layer1.0.bn1": 4, "layer1.0.bn2": 4}
    norms |= {"layer2.0.bn1": 8, "layer2.0.bn2": 8, "layer2.0.downsample.1": 8}
    for name, channels in norms.items():
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{name}.{part}"] = (channels,)
    draw = np.random.default_rng(2)
    return {name: draw.random(shape, np.float32) for name, shape in shapes.items()}


@pytest.fixture
def bottlenecks(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A state dict of a ResNet-50 with one unit a stage and few channels."""
    monkeypatch.setitem(resnet.resnet_spec, 50, ("bottle_neck", [1, 1], [4, 8, 16]))
    shapes: dict[str, tuple[int, ...]] = {"conv1.weight": (4, 3, 7, 7)}
    norms = {"bn1": 4}
    for stage, inputs, inner in ((1, 4, 2), (2, 8, 4)):
        unit = f"layer{stage}.0"
        sizes = ((inner, inputs, 1, 1), (inner, inner, 3, 3), (4 * inner, inner, 1, 1))
        for index, shape in enumerate(sizes, start=1):
            shapes[f"{unit}.conv{index}.weight"] = shape
            norms[f"{unit}.bn{index}"] = shape[0]
        shapes[f"{unit}.downsample.0.weight"] = (4 * inner, inputs, 1, 1)
        norms[f"{unit}.downsample.1"] = 4 * inner
    shapes |= {"fc.weight": (5, 16), "fc.bias": (5,)}
    for name, channels in norms.items():
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{name}.{part}"] = (channels,)
    return {name: values(name, shape) for name, shape in shapes.items()}


def written(tmp_path: Path, state: dict[str, Any]) -> Path:
    return write_safetensors(tmp_path / "x.safetensors", state)


def test_arrays_are_those_of_the_network_in_its_order(tmp_path: Path, tiny: Any) -> None:
    conversion = import_weights(NAME, written(tmp_path, tiny))
    net = get_model(NAME, classes=5)
    assert list(conversion.arrays) == list(net._collect_params_with_prefix())
    assert conversion.classes == 5
    assert conversion.notes == []
    assert conversion.origin == "torchvision or timm"
    assert conversion.preprocessing.startswith("RGB, (x / 255 - [0.485")
    np.testing.assert_array_equal(conversion.arrays["output.weight"], tiny["fc.weight"])
    np.testing.assert_array_equal(
        conversion.arrays["features.5.0.downsample.1.running_var"],
        tiny["layer2.0.downsample.1.running_var"],
    )


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "model."])
def test_prefix_of_wrappers_is_dropped(tmp_path: Path, tiny: Any, prefix: str) -> None:
    wrapped = {prefix + name: array_ for name, array_ in tiny.items()}
    conversion = import_weights(NAME, written(tmp_path, wrapped))
    assert conversion.notes == [f"dropped the prefix {prefix!r} of all names"]
    np.testing.assert_array_equal(conversion.arrays["output.bias"], tiny["fc.bias"])


def test_half_precision_becomes_float32(tmp_path: Path, tiny: Any) -> None:
    halves = {name: values.astype(np.float16) for name, values in tiny.items()}
    arrays = import_weights(NAME, written(tmp_path, halves)).arrays
    assert {values.dtype for values in arrays.values()} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(arrays["output.bias"], halves["fc.bias"].astype(np.float32))


def test_all_that_does_not_fit_is_listed(tmp_path: Path, tiny: Any) -> None:
    del tiny["layer1.0.conv1.weight"], tiny["bn1.running_mean"]
    tiny["fc.weight"] = np.zeros((5, 9), np.float32)
    tiny["layer1.0.bn2.weight"] = np.zeros(4, np.int64)
    tiny["layer3.0.conv1.weight"] = np.zeros((1, 1, 1, 1), np.float32)
    with pytest.raises(ParameterError) as caught:
        import_weights(NAME, written(tmp_path, tiny))
    message = str(caught.value)
    for expected in (
        "x.safetensors: expected the arrays of a network of torchvision or timm, got ",
        "no 'layer1.0.conv1' for features.4.0.body.0",
        "no running_mean in 'bn1' for features.1.running_mean; ",
        "fc.weight of shape (5, 9) for output.weight of shape (5, 8)",
        "layer1.0.bn2.weight of int64, not floats",
        "no parameters for layer3.0.conv1.weight",
    ):
        assert expected in message


def test_long_lists_are_cut(tmp_path: Path, tiny: Any) -> None:
    tiny |= {f"extra.{i}.weight": np.zeros((1, 1), np.float32) for i in range(40)}
    with pytest.raises(ParameterError, match=r"extra\.11\.weight and 28 more$"):
        import_weights(NAME, written(tmp_path, tiny))


def test_extra_layers_are_left_out_when_asked(tmp_path: Path, tiny: Any) -> None:
    tiny["extra.weight"] = np.zeros((1, 1), np.float32)
    conversion = import_weights(NAME, written(tmp_path, tiny), ignore_extra=True)
    assert conversion.notes == ["ignored as requested: extra.weight"]


def test_missing_layers_are_refused_even_then(tmp_path: Path, tiny: Any) -> None:
    del tiny["fc.bias"]
    with pytest.raises(ParameterError, match=r"no bias in 'fc' for output\.bias"):
        import_weights(NAME, written(tmp_path, tiny), ignore_extra=True)


def test_other_number_of_classes_is_refused(tmp_path: Path, tiny: Any) -> None:
    with pytest.raises(ParameterError, match=r"fc\.weight of shape \(5, 8\) .* \(7, 8\)"):
        import_weights(NAME, written(tmp_path, tiny), classes=7)


def test_head_without_elements_is_refused(tmp_path: Path, tiny: Any) -> None:
    tiny["fc.weight"] = np.zeros((1 << 50, 0), np.float32)
    with pytest.raises(ParameterError, match=r"fc\.weight of shape \(1125899906842624, 0\) for"):
        import_weights(NAME, written(tmp_path, tiny))


def test_checkpoint_of_another_network_is_refused(tmp_path: Path, tiny: Any) -> None:
    with pytest.raises(NotSupportedError, match=r"names of torchvision or timm, such as 'features"):
        import_weights("densenet121", written(tmp_path, tiny))


def test_deeper_network_is_refused_with_a_list(tmp_path: Path, state: Any) -> None:
    with pytest.raises(ParameterError, match=r"no 'layer1\.2\.conv1' for .*; \d+ more"):
        import_weights("resnet34_v1", written(tmp_path, state))


def test_numbers_that_are_not_finite_are_told(tmp_path: Path, tiny: Any) -> None:
    tiny["fc.bias"][0] = np.nan
    notes = import_weights(NAME, written(tmp_path, tiny)).notes
    assert notes == ["not all numbers are finite in output.bias"]


@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-6])
def test_epsilon_is_folded(tmp_path: Path, tiny: Any, epsilon: float) -> None:
    conversion = import_weights(NAME, written(tmp_path, tiny), epsilon=epsilon)
    found = conversion.arrays["features.1.running_var"].astype(np.float64) + 1e-5
    np.testing.assert_allclose(found, tiny["bn1.running_var"] + np.float64(epsilon), rtol=1e-7)
    noted = [f"folded the epsilon {epsilon:g} (here 1e-05) into variances"]
    assert conversion.notes == ([] if epsilon == 1e-5 else noted)


def test_bias_is_folded_into_the_mean(tmp_path: Path, tiny: Any) -> None:
    path = written(tmp_path, tiny)
    plain = import_weights(NAME, path).arrays
    tiny["conv1.bias"] = np.arange(4, dtype=np.float32)
    conversion = import_weights(NAME, written(tmp_path, tiny))
    moved = plain["features.1.running_mean"] - conversion.arrays["features.1.running_mean"]
    np.testing.assert_allclose(moved, [0, 1, 2, 3], atol=1e-6)
    assert conversion.notes == ["folded 1 biases into the means of normalizations"]


def test_stride_of_bottlenecks_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = written(tmp_path, state_of("torchvision resnet50"))
    message = r"stride of a bottleneck in its 3x3 convolution.*--allow-inexact"
    with pytest.raises(NotSupportedError, match=message):
        import_weights("resnet50_v1", path)
    notes = import_weights("resnet50_v1", path, allow_inexact=True).notes
    assert len(notes) == 1
    assert notes[0].startswith("not exact: torchvision and timm have the stride")


def test_bias_without_a_place_is_refused_until_allowed(tmp_path: Path) -> None:
    state = state_of("torchvision mobilenet_v2")
    largest = np.abs(state["classifier.1.bias"]).max()
    path = written(tmp_path, state)
    message = re.escape(f"the bias 'classifier.1.bias' of up to {largest:.4g}, for which")
    with pytest.raises(NotSupportedError, match=message):
        import_weights("mobilenetv2_1.0", path)
    conversion = import_weights("mobilenetv2_1.0", path, allow_inexact=True)
    assert "output.0.bias" not in conversion.arrays
    assert any(re.search(message, note) for note in conversion.notes)


def test_bias_of_zeros_needs_no_place(tmp_path: Path) -> None:
    state = state_of("timm mobilenetv2_100")
    state["classifier.bias"][:] = 0
    conversion = import_weights("mobilenetv2_1.0", written(tmp_path, state))
    assert conversion.notes == ["made features.3.out.0 an identity"]


def test_clipping_of_timm_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(NotSupportedError, match=r"clips activations at 6 \(ReLU6\)"):
        import_weights("mobilenet1.0", written(tmp_path, state_of("timm mobilenetv1_100")))


def test_auxiliary_classifier_is_left_out_and_told(tmp_path: Path) -> None:
    path = written(tmp_path, state_of("torchvision inception_v3"))
    assert import_weights("inceptionv3", path).notes == [
        "left out AuxLogits.*: the auxiliary classifier, which only training uses"
    ]


@pytest.mark.parametrize("name", ["resnet50_v2", "inception_bn", "cifar_resnet20_v1"])
def test_networks_of_no_other_library_are_refused(tmp_path: Path, tiny: Any, name: str) -> None:
    with pytest.raises(NotSupportedError, match="network that fits checkpoints of PyTorch, got "):
        import_weights(name, written(tmp_path, tiny))


def test_every_network_has_a_recipe_or_a_reason(tmp_path: Path) -> None:
    path = written(tmp_path, {"a.weight": np.zeros((1, 1), np.float32)})
    for name in model_names("mxnet"):
        with pytest.raises(NotSupportedError, match=r"expected (the names of|a network that)"):
            import_weights(name, path)


def test_thumbnail_network_is_refused(tmp_path: Path, tiny: Any) -> None:
    net = get_model(NAME, thumbnail=True)
    with pytest.raises(NotSupportedError, match="got ResNetV1"):
        convert(net, written(tmp_path, tiny))


# Keras: the same weights as PyTorch's, whose logits are compared elsewhere.


@pytest.mark.parametrize("names", ["{}", "{}:0", "resnet50/{}:0", "{layer}/{}:0"])
def test_keras_resnet_of_older_names(tmp_path: Path, bottlenecks: Any, names: str) -> None:
    keras = keras_of(bottlenecks, "old resnet", epsilon=1e-3, biases=True)
    renamed = {names.format(k, layer=k.rpartition("/")[0]): v for k, v in keras.items()}
    np.savez(tmp_path / "x.npz", **renamed)
    conversion = import_weights("resnet50_v1", tmp_path / "x.npz")
    expected = import_weights("resnet50_v1", written(tmp_path, bottlenecks), allow_inexact=True)
    check_equal(without_biases(conversion.arrays), expected.arrays)
    assert conversion.kind == "npz"
    assert conversion.preprocessing.startswith("BGR, x - [103.939")
    assert conversion.notes == [
        "folded 5 biases into the means of normalizations",
        "folded the epsilon 0.001 (here 1e-05) into variances",
    ]


def test_keras_resnet_of_newer_names(tmp_path: Path, bottlenecks: Any) -> None:
    keras = keras_of(bottlenecks, "resnet", epsilon=1.001e-5, biases=True)
    np.savez(tmp_path / "x.npz", **keras)
    conversion = import_weights("resnet50_v1", tmp_path / "x.npz")
    expected = import_weights("resnet50_v1", written(tmp_path, bottlenecks), allow_inexact=True)
    check_equal(without_biases(conversion.arrays), expected.arrays)


def test_keras_densenet(tmp_path: Path) -> None:
    state = state_of("torchvision densenet121")
    np.savez(tmp_path / "x.npz", **keras_of(state, "densenet", epsilon=1.001e-5, biases=False))
    conversion = import_weights("densenet121", tmp_path / "x.npz")
    check_equal(conversion.arrays, import_weights("densenet121", written(tmp_path, state)).arrays)


def test_keras_vgg_flattens_channels_last(tmp_path: Path) -> None:
    state = state_of("torchvision vgg11")
    np.savez(tmp_path / "x.npz", **keras_of(state, "vgg", epsilon=0, biases=False))
    conversion = convert(get_model("vgg11", classes=10), tmp_path / "x.npz")
    expected = convert(get_model("vgg11", classes=10), written(tmp_path, state))
    check_equal(conversion.arrays, expected.arrays)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("inceptionv3", "leaves the padding out of the averages"),
        ("mobilenet1.0", "pads below and to the right only"),
        ("mobilenetv2_1.0", "pads below and to the right only"),
        ("resnet50_v2", "whose version 2 is pooled there at once"),
        ("alexnet", "no checkpoint of Keras is known"),
        ("vgg16_bn", "no checkpoint of Keras is known"),
    ],
)
def test_keras_networks_that_differ_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    np.savez(tmp_path / "x.npz", **{"conv/kernel:0": np.zeros((1, 1, 1, 1), np.float32)})
    with pytest.raises(NotSupportedError, match=f"checkpoints of Keras, got .*{reason}"):
        import_weights(name, tmp_path / "x.npz")


def test_two_arrays_for_one_place_are_refused(tmp_path: Path) -> None:
    twice = {"a/kernel:0": np.zeros((1, 1)), "a/kernel": np.zeros((1, 1))}
    np.savez(tmp_path / "x.npz", **twice)
    with pytest.raises(FileFormatError, match="distinct arrays, got 'a/kernel:0' and 'a/kernel'"):
        import_weights("resnet50_v1", tmp_path / "x.npz")


def without_biases(arrays: dict[str, Any]) -> dict[str, Any]:
    """Move the biases that Gluon's 1x1 convolutions have into the means behind them."""
    moved = dict(arrays)
    for path, bias in arrays.items():
        *place, index, part = path.split(".")
        if part == "bias" and "body" in place:
            norm = ".".join((*place, str(int(index) + 1), "running_mean"))
            assert np.abs(bias).max() > 0
            moved[path] = np.zeros_like(bias)
            moved[norm] = arrays[norm] - bias
    return moved


def check_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(found) == list(expected)
    for path, wanted in expected.items():
        np.testing.assert_allclose(found[path], wanted, rtol=1e-6, atol=1e-6, err_msg=path)


# Files.


def test_written_file_has_its_hash_in_its_name(tmp_path: Path, tiny: Any) -> None:
    conversion = import_weights(NAME, written(tmp_path, tiny))
    path, sha1 = save_conversion(conversion, NAME, tmp_path)
    assert path == tmp_path / f"{NAME}-{sha1[:8]}.params"
    net, other = get_model(NAME, classes=5), get_model(NAME, classes=5)
    net.load_parameters(path)
    conversion.load(other)
    x = array(np.random.default_rng(0).standard_normal((1, 3, 32, 32)))
    np.testing.assert_array_equal(net(x).asnumpy(), other(x).asnumpy())


def test_file_may_be_named(tmp_path: Path, tiny: Any) -> None:
    conversion = import_weights(NAME, written(tmp_path, tiny))
    assert save_conversion(conversion, NAME, tmp_path / "y.params")[0] == tmp_path / "y.params"
    with pytest.raises(MissingFileError, match="make the folder first"):
        save_conversion(conversion, NAME, tmp_path / "none" / "y.params")


OTHERS = {
    "hdf5": (b"\x89HDF\r\n\x1a\n", r"got a Keras HDF5 file; save the weights as npz: np\.savez"),
    "tar": (bytes(257) + b"ustar" + bytes(300), "got a tar archive of PyTorch before 0.1.10"),
    "pickle": (b"\x80\x02}.", "got a pickle that is no checkpoint of PyTorch; load it in PyTorch"),
    "params": (b"\x12\x01" + bytes(22), r"got a \.params file, which needs no import"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_formats_are_refused_with_advice(tmp_path: Path, kind: str) -> None:
    content, message = OTHERS[kind]
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(NotSupportedError, match=message), open_checkpoint(tmp_path / "x"):
        pass


def test_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="open_checkpoint: expected an existing file"):
        import_weights(NAME, tmp_path / "none")


def test_unknown_network_is_told(tmp_path: Path, tiny: Any) -> None:
    with pytest.raises(ArgumentError, match="get_model: expected the name of one of"):
        import_weights("resnet18", written(tmp_path, tiny))


# -- Hugging Face's names, and files of other networks ---


def hugging_face(state: dict[str, Any]) -> dict[str, Any]:
    """Rename a ResNet's arrays of torchvision as transformers has them."""
    rules = (
        (r"^conv1\.", "resnet.embedder.embedder.convolution."),
        (r"^bn1\.", "resnet.embedder.embedder.normalization."),
        (r"^fc\.", "classifier.1."),
    )

    def renamed(name: str) -> str:
        for pattern, start in rules:
            if re.match(pattern, name):
                return re.sub(pattern, start, name)
        found = re.match(r"layer(\d)\.(\d+)\.(conv|bn|downsample\.)(\d)\.(\w+)", name)
        assert found is not None
        stage, unit, kind, number, part = found.groups()
        layer = "shortcut" if kind == "downsample." else f"layer.{int(number) - 1}"
        first = kind == "conv" or (kind == "downsample." and number == "0")
        inner = "convolution" if first else "normalization"
        return f"resnet.encoder.stages.{int(stage) - 1}.layers.{unit}.{layer}.{inner}.{part}"

    return {renamed(name): array for name, array in state.items()}


@pytest.mark.parametrize("form", ["one file", "shards", "without resnet."])
def test_hugging_faces_names_give_what_torchvisions_give(form: str, tmp_path: Path) -> None:
    state = state_of(CASE)
    theirs = hugging_face(state)
    if form == "without resnet.":
        theirs = {name.removeprefix("resnet."): array for name, array in theirs.items()}
    path = tmp_path / "model.safetensors"
    if form == "shards":
        path = tmp_path / "model.safetensors.index.json"
        names = list(theirs)
        parts = {"a-00001-of-00002": names[:50], "a-00002-of-00002": names[50:]}
        for file, part in parts.items():
            write_safetensors(tmp_path / f"{file}.safetensors", {n: theirs[n] for n in part})
        places = {n: f"{file}.safetensors" for file, part in parts.items() for n in part}
        path.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    else:
        write_safetensors(path, theirs)
    found = import_weights("resnet18_v1", path)
    assert found.origin == "Hugging Face"
    ours = import_weights("resnet18_v1", write_safetensors(tmp_path / "t.safetensors", state))
    assert list(found.arrays) == list(ours.arrays)
    for name, weight in ours.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], weight)
    if form == "shards":
        with pytest.raises(GluonishError, match="one shard of several: pass the index"):
            import_weights("resnet18_v1", tmp_path / "a-00001-of-00002.safetensors")


@pytest.mark.parametrize("name", ["resnet50_v1", "resnet34_v1", "resnet152_v1", "vgg16"])
@pytest.mark.parametrize("rename", [dict, hugging_face])
def test_a_file_of_another_network_is_told_by_its_layers(
    name: str, rename: Any, tmp_path: Path
) -> None:
    path = write_safetensors(tmp_path / "a.safetensors", rename(state_of(CASE)))
    with pytest.raises(GluonishError, match="it has the layers of resnet18_v1: import it") as error:
        import_weights(name, path)
    wanted = re.search(r"without '(\S+)'", str(error.value))
    assert wanted is None or f"got 41 layers, {wanted[1]!r}" not in str(error.value)
