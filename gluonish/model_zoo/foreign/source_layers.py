"""The arrays of a checkpoint as layers: which library's names they have, and their parts by role.

PyTorch calls the parts of a normalization weight and bias, Keras gamma and beta; here they have
Gluon's names: weight, bias, gamma, beta, running_mean, running_var.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gluonish.core.errors import FileFormatError
from gluonish.ndarray.list_file import StoredArray

_KERAS_PARTS = {
    "kernel": "weight",
    "bias": "bias",
    "gamma": "gamma",
    "beta": "beta",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}
_TORCH_NORM_PARTS = {"weight": "gamma", "bias": "beta"}
_STATISTICS = ("running_mean", "running_var")
# Counters of training: they change no output.
_BOOKKEEPING = ("num_batches_tracked", "n_averaged")


@dataclass(frozen=True)
class SourceLayers:
    """The layers of a checkpoint.

    Attributes:
        layers: For each layer its arrays by role, such as ``weight``.
        names: The array's name in the file, by layer and role.
        keras: Whether names and memory layouts are those of Keras; if not, PyTorch's.
    """

    layers: Mapping[str, Mapping[str, StoredArray]]
    names: Mapping[tuple[str, str], str]
    keras: bool

    def name(self, layer: str, part: str) -> str:
        """Return the name in the file of a layer's array.

        Args:
            layer: Name of the layer.
            part: Role of the array, such as ``weight``.
        """
        return self.names[layer, part]


def source_layers(arrays: Mapping[str, StoredArray], path: str) -> SourceLayers:
    """Group arrays into layers.

    Args:
        arrays: Arrays by their names in the file.
        path: Path of the file, for error messages.

    Raises:
        FileFormatError: Two arrays have the same name after prefixes that libraries add are
            removed.
    """
    keras = any(name.removesuffix(":0").endswith("/kernel") for name in arrays)
    split = _keras_names(arrays) if keras else _torch_names(arrays)
    layers: dict[str, dict[str, StoredArray]] = {}
    names: dict[tuple[str, str], str] = {}
    for name, (layer, part) in split.items():
        if part in layers.setdefault(layer, {}):
            raise FileFormatError(
                f"{path}: expected distinct arrays, got {names[layer, part]!r} and {name!r}"
            )
        layers[layer][part] = arrays[name]
        names[layer, part] = name
    return SourceLayers(layers, names, keras)


def _torch_names(arrays: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return layer and part of each name with dots, without bookkeeping."""
    split: dict[str, tuple[str, str]] = {}
    for name in arrays:
        layer, _, part = name.rpartition(".")
        if part not in _BOOKKEEPING:
            split[name] = (layer, part)
    norms = {layer for layer, part in split.values() if part in _STATISTICS}
    return {
        name: (layer, _TORCH_NORM_PARTS.get(part, part) if layer in norms else part)
        for name, (layer, part) in split.items()
    }


def _keras_names(arrays: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return layer and part of each name with slashes.

    ``conv1/conv1/kernel:0``, from the groups of a file, and ``resnet50/conv1/kernel`` are
    ``conv1/kernel``.
    """
    split: dict[str, tuple[list[str], str]] = {}
    for name in arrays:
        *layer, part = name.removesuffix(":0").split("/")
        half = len(layer) // 2
        if half and layer[:half] == layer[half:]:
            layer = layer[:half]
        split[name] = (layer, part)
    # The name of the whole model, before all others.
    while all(len(layer) > 1 for layer, _ in split.values()) and (
        len({layer[0] for layer, _ in split.values()}) == 1
    ):
        split = {name: (layer[1:], part) for name, (layer, part) in split.items()}
    return {
        name: ("/".join(layer), _KERAS_PARTS.get(part, part))
        for name, (layer, part) in split.items()
    }
