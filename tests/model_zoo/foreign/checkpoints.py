"""Checkpoints for tests: state dicts with weights from names, as PyTorch's libraries name them, and
the same weights as Keras names and orders them."""

import gzip
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.foreign_values import is_kept_as_made, values

NAMES: dict[str, list[str]] = json.loads(
    gzip.decompress((Path(__file__).parents[2] / "golden" / "foreign.json.gz").read_bytes())
)
_KINDS = {"float16": "F16", "float32": "F32", "int64": "I64"}
_NORM_PARTS = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
}


def state_of(case: str) -> dict[str, Any]:
    """The arrays of a checkpoint, in PyTorch's names and memory order."""
    state = {}
    for line in NAMES[case]:
        name, _, extents = line.partition(" ")
        shape = tuple(map(int, filter(None, extents.split(","))))
        kept = is_kept_as_made(name)
        state[name] = np.zeros(shape, np.int64) if kept else values(name, shape)
    return state


def write_safetensors(path: Path, state: dict[str, Any]) -> Path:
    """Write arrays as the format has it; returns the path."""
    header, at = {}, 0
    for name, array in state.items():
        place = [at, at + array.nbytes]
        kind = _KINDS[array.dtype.name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": place}
        at += array.nbytes
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in state.values():
            file.write(array.tobytes())
    return path


def keras_of(state: dict[str, Any], style: str, epsilon: float, biases: bool) -> dict[str, Any]:
    """The arrays of a Keras model that computes what a PyTorch model computes.

    Args:
        state: Of the PyTorch model, whose normalizations add 1e-5 to the variance.
        style: How layers are named.
        epsilon: What the Keras model's normalizations add.
        biases: Whether its convolutions have biases, which its means make up for.
    """
    keras: dict[str, Any] = {}
    norms = {name.rpartition(".")[0] for name in state if name.endswith("running_mean")}
    for name, array in state.items():
        layer, _, part = name.rpartition(".")
        if is_kept_as_made(name):
            continue
        target = _keras_name(style, layer)
        if layer in norms:
            value = array.astype(np.float64)
            if part == "running_var":
                value = value + 1e-5 - epsilon
            if part == "running_mean" and biases:
                value = value + _bias(layer, array.size)
            keras[f"{target}/{_NORM_PARTS[part]}"] = value
        elif part == "weight":
            keras[f"{target}/kernel"] = _keras_kernel(array, style, layer)
            if array.ndim == 4 and biases:
                # A convolution's normalization has its name but for the word.
                norm = layer.replace("conv", "bn").replace("downsample.0", "downsample.1")
                keras[f"{target}/bias"] = _bias(norm, len(array))
        else:
            keras[f"{target}/bias"] = array
    return keras


def _bias(norm: str, channels: int) -> Any:
    return np.float32(len(norm) % 7) / 4 + np.arange(channels, dtype=np.float32) % 4


def _keras_kernel(array: Any, style: str, layer: str) -> Any:
    if array.ndim == 4:
        return np.moveaxis(array, (0, 1), (3, 2))
    if style == "vgg" and layer == "classifier.0":
        # From maps flattened channels first to maps flattened channels last.
        side = math.isqrt(array.shape[1] // 512)
        maps = array.reshape(len(array), 512, side, side)
        return np.moveaxis(maps, 1, 3).reshape(len(array), -1).T
    return array.T


def _keras_name(style: str, layer: str) -> str:
    if style == "vgg":
        heads = {"classifier.0": "fc1", "classifier.3": "fc2", "classifier.6": "predictions"}
        blocks = {0: "1_1", 3: "2_1", 6: "3_1", 8: "3_2", 11: "4_1", 13: "4_2", 16: "5_1"}
        blocks[18] = "5_2"
        if layer in heads:
            return heads[layer]
        block, number = blocks[int(layer.rpartition(".")[2])].split("_")
        return f"block{block}_conv{number}"
    if style == "densenet":
        return _keras_densenet_name(layer)
    match = re.fullmatch(r"layer(\d)\.(\d+)\.(conv|bn|downsample\.)(\d)", layer)
    old = style == "old resnet"
    if match is None:
        names = {"conv1": "conv1", "bn1": "bn_conv1", "fc": "fc1000"}
        newer = {"conv1": "conv1_conv", "bn1": "conv1_bn", "fc": "predictions"}
        return (names if old else newer)[layer]
    stage, unit, kind, index = match[1], int(match[2]), match[3], int(match[4])
    shortcut = kind == "downsample."
    is_norm = index == 1 if shortcut else kind == "bn"
    if old:
        branch = "1" if shortcut else f"2{'abc'[index - 1]}"
        place = f"{int(stage) + 1}{'abcdef'[unit]}_branch{branch}"
        return f"{'bn' if is_norm else 'res'}{place}"
    place = f"conv{int(stage) + 1}_block{unit + 1}_{0 if shortcut else index}"
    return f"{place}_{'bn' if is_norm else 'conv'}"


def _keras_densenet_name(layer: str) -> str:
    fixed = {
        "features.conv0": "conv1/conv",
        "features.norm0": "conv1/bn",
        "features.norm5": "bn",
        "classifier": "fc1000",
    }
    if layer in fixed:
        return fixed[layer]
    match = re.fullmatch(r"features\.transition(\d)\.(norm|conv)", layer)
    if match is not None:
        return f"pool{int(match[1]) + 1}_{'bn' if match[2] == 'norm' else 'conv'}"
    pattern = r"features\.denseblock(\d)\.denselayer(\d+)\.(norm|conv)(\d)"
    match = re.fullmatch(pattern, layer)
    assert match is not None, layer
    part = {"norm1": "0_bn", "conv1": "1_conv", "norm2": "1_bn", "conv2": "2_conv"}
    return f"conv{int(match[1]) + 1}_block{match[2]}_{part[match[3] + match[4]]}"
