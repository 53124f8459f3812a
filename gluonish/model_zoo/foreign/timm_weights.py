"""Conversion of checkpoints for the networks with names of timm, and timm's settings of images.

The files have the names of timm or of transformers. Tables of offsets and kernels of patches of
another size are resized on request.
"""

import math
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    NotSupportedError,
)
from gluonish.gluon.parameter import Parameter
from gluonish.model_zoo.foreign.checkpoint import Checkpoint
from gluonish.model_zoo.pretrained.config import read_config
from gluonish.model_zoo.pretrained.families import family_of
from gluonish.model_zoo.pretrained.timm import is_unused, timm_network, timm_table
from gluonish.model_zoo.pretrained.timm_vit import is_timm
from gluonish.model_zoo.pretrained.weights import WeightTable
from gluonish.model_zoo.registry import model_names
from gluonish.model_zoo.vision.classifier import PooledClassifier
from gluonish.ndarray.list_file import StoredArray
from gluonish.ops.image.resampling import by_weights

__all__ = ["classes_of", "converted", "resized_kernel", "resized_table", "settings_beside"]

Array = np.ndarray[Any, Any]
_CUBIC = 2
_CONFIG = "config.json"


def settings_beside(
    path: str | os.PathLike[str], network: str
) -> tuple[str | os.PathLike[str], Mapping[str, Any]]:
    """Return the path of the weights, and timm's settings of images in the folder they are in.

    Args:
        path: Path of a checkpoint, or of a folder of timm with ``model.safetensors``.
        network: Name of the network the weights are for.

    Raises:
        FileFormatError: ``config.json`` is not a JSON object.
        NotSupportedError: It names another network of timm.
    """
    folder = Path(path) if os.path.isdir(path) else Path(path).parent
    weights = folder / "model.safetensors" if os.path.isdir(path) else path
    if not (folder / _CONFIG).is_file():
        return weights, {}
    entries = read_config(folder)
    if not is_timm(entries):
        return weights, {}
    named = entries["architecture"]
    if network in model_names("timm") and named != network:
        raise NotSupportedError(
            f"{folder / _CONFIG}: expected weights of {network!r}, got 'architecture' "
            f"{named!r:.60}; import it as that network"
        )
    cfg = entries.get("pretrained_cfg", {})
    if not isinstance(cfg, dict):
        raise FileFormatError(
            f"{folder / _CONFIG}: expected 'pretrained_cfg' to be an object, got {cfg!r:.60}"
        )
    return weights, cfg


def _tables(net: PooledClassifier) -> dict[str, WeightTable]:
    """Return the tables of names that a checkpoint may have, by their library."""
    found = {"timm": timm_table(net)}
    try:
        family = family_of(net)
    except NotSupportedError:
        return found
    return {**found, "transformers": family.table(net, family.prefix)}


def _fitting(net: PooledClassifier, names: Any) -> tuple[str, WeightTable]:
    """Return the library, and its table of names, that has the most names of a checkpoint."""
    tables = _tables(net)
    return max(tables.items(), key=lambda item: len(item[1].names() & set(names)))


def classes_of(net: PooledClassifier, arrays: Mapping[str, StoredArray]) -> int | None:
    """Return the number of classes of a checkpoint; None if it has no last layer."""
    _, table = _fitting(net, arrays)
    name = table.names_of("output.bias")[0]
    shape = arrays[name].shape if name in arrays else ()
    return shape[0] if len(shape) == 1 and shape[0] else None


def converted(
    net: PooledClassifier, checkpoint: Checkpoint, ignore_extra: bool, resize: bool
) -> tuple[str, dict[str, Array], list[str]]:
    """Return the library of a checkpoint's names, float32 arrays by parameter path, and notes.

    Args:
        net: The network.
        checkpoint: The checkpoint.
        ignore_extra: Whether arrays that the network does not have are ignored.
        resize: Whether tables of offsets and kernels of patches of another size are resized.

    Raises:
        ParameterError: Arrays are missing, left over, or of another shape; the message lists them.
    """
    library, table = _fitting(net, checkpoint.arrays)
    stored, notes = dict(checkpoint.arrays), list(checkpoint.notes)
    if resize:
        notes += _resize(table, stored)
    paths = {id(p): path for path, p in net._collect_params_with_prefix().items()}
    arrays: dict[str, Array] = {}
    extra: list[str] = []

    def set_values(parameter: Parameter, values: Array) -> None:
        arrays[paths[id(parameter)]] = np.ascontiguousarray(values, FLOAT32)

    def may_ignore(name: str) -> bool:
        if is_unused(net, name):
            return True
        extra.append(name)
        return ignore_extra

    table.load(stored, checkpoint.path, set_values, lambda _: False, may_ignore)
    if extra:
        notes.append(f"ignored as requested: {', '.join(extra[:12])}"
                     + (f" and {len(extra) - 12} more" if len(extra) > 12 else ""))  # fmt: skip
    bad = [path for path, values in arrays.items() if not np.isfinite(values).all()]
    if bad:
        notes.append(f"not all numbers are finite in {', '.join(bad[:12])}")
    return library, {path: arrays[path] for path in paths.values() if path in arrays}, notes


def _resize(table: WeightTable, stored: dict[str, StoredArray]) -> list[str]:
    """Replace arrays of another size that can be resized; return notes."""
    notes = []
    for path, name, shape in table.single_names():
        array = stored.get(name)
        if array is None or array.shape == shape:
            continue
        if path.endswith(".bias_table") and _are_squares(array.shape, shape):
            values = resized_table(array.read(), shape)
        elif path == "body.stem.0.weight" and array.shape[:2] == shape[:2] and len(shape) == 4:
            values = resized_kernel(array.read(), shape)
        else:
            continue
        stored[name] = StoredArray(shape, values.dtype, partial(np.asarray, values))
        notes.append(f"resized {name} from {array.shape} to {shape}")
    return notes


def _are_squares(*shapes: tuple[int, ...]) -> bool:
    """Whether arrays are tables (side * side, heads) of as many heads."""
    same = all(len(shape) == 2 and shape[1] == shapes[0][1] for shape in shapes)
    return same and all(math.isqrt(shape[0]) ** 2 == shape[0] > 0 for shape in shapes)


def resized_table(values: Array, shape: tuple[int, ...]) -> Array:
    """Return a table of biases by offset, (side * side, heads), for windows of another size.

    Args:
        values: The table.
        shape: Shape of the result.
    """
    old, new = math.isqrt(len(values)), math.isqrt(shape[0])
    made = np.empty((new, new, shape[1]))
    by_weights(np, made, values.astype(np.float64).reshape(old, old, -1), _CUBIC)
    return made.reshape(shape).astype(FLOAT32)


def resized_kernel(values: Array, shape: tuple[int, ...]) -> Array:
    """Return kernels of patches (C, channels, height, width) for patches of another size.

    Products of the kernels with resized patches are, as far as they can be, those of the old ones
    (the pseudoinverse of resizing).

    Args:
        values: The kernels.
        shape: Shape of the result.

    References:
        L. Beyer et al., FlexiViT: One Model for All Patch Sizes, 2023.
    """
    old, new = values.shape[2:], shape[2:]
    matrix = np.kron(*(_smoothed(*extents) for extents in zip(old, new, strict=True)))
    inverse = np.linalg.pinv(matrix.T)
    flat = values.astype(np.float64).reshape(-1, math.prod(old))
    return (flat @ inverse.T).reshape(shape).astype(FLOAT32)


def _smoothed(old: int, new: int) -> Array:
    """Return the matrix (new, old) of cubic resizing that averages pixels where it shrinks."""
    scale = max(old / new, 1.0)
    centers = (np.arange(new) + 0.5) * old / new
    d = np.abs(np.arange(old) + 0.5 - centers[:, None]) / scale
    near = (1.5 * d - 2.5) * d * d + 1
    far = ((-0.5 * d + 2.5) * d - 4) * d + 2
    weights = np.where(d < 1, near, np.where(d < 2, far, 0.0))
    made: Array = weights / weights.sum(axis=1, keepdims=True)
    return made


def check_options(epsilon: float | None, net: PooledClassifier) -> None:
    """Refuse an epsilon, which these networks have themselves.

    Raises:
        ArgumentError: ``epsilon`` is given.
    """
    if epsilon is not None:
        raise ArgumentError(
            f"import: expected no epsilon for {net._timm_name}, which has that of timm, got "
            f"{epsilon}"
        )


def is_of_timm(net: object) -> bool:
    """Whether `get_model` made a network by a name of timm's."""
    return isinstance(net, PooledClassifier) and timm_network(net) is not None
