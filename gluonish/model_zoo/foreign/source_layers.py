"""The arrays of a checkpoint grouped into layers, by role.

Roles have Gluon's names: weight, bias, gamma, beta, running_mean, running_var. PyTorch calls gamma
and beta of a normalization weight and bias.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gluonish.core.errors import FileFormatError
from gluonish.ndarray.list_file import StoredArray

_KERAS_ROLES = {
    "kernel": "weight",
    "bias": "bias",
    "gamma": "gamma",
    "beta": "beta",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}
_TORCH_NORM_ROLES = {"weight": "gamma", "bias": "beta"}
_STATISTICS = ("running_mean", "running_var")
# Training counters, which inference does not use.
_BOOKKEEPING = ("num_batches_tracked", "n_averaged")


@dataclass(frozen=True)
class SourceLayers:
    """The layers of a checkpoint.

    Attributes:
        layers: For each layer its arrays by role, such as ``weight``.
        names: The array's name in the file, by layer and role.
        keras: Whether names and memory layouts are Keras's; if not, PyTorch's.
    """

    layers: Mapping[str, Mapping[str, StoredArray]]
    names: Mapping[tuple[str, str], str]
    keras: bool

    def name(self, layer: str, role: str) -> str:
        """Return the name in the file of a layer's array with a role."""
        return self.names[layer, role]


def source_layers(arrays: Mapping[str, StoredArray], path: str) -> SourceLayers:
    """Group arrays into layers.

    Args:
        arrays: Arrays by their names in the file.
        path: Path of the file, for error messages.

    Raises:
        FileFormatError: Two arrays have the same name after library prefixes are stripped.
    """
    keras = any(name.removesuffix(":0").endswith("/kernel") for name in arrays)
    split = _keras_names(arrays) if keras else _torch_names(arrays)
    layers: dict[str, dict[str, StoredArray]] = {}
    names: dict[tuple[str, str], str] = {}
    for name, (layer, role) in split.items():
        if role in layers.setdefault(layer, {}):
            raise FileFormatError(
                f"{path}: expected distinct arrays, got {names[layer, role]!r} and {name!r}"
            )
        layers[layer][role] = arrays[name]
        names[layer, role] = name
    return SourceLayers(layers, names, keras)


def _torch_names(arrays: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Split dotted names into layer and role, without counters."""
    split: dict[str, tuple[str, str]] = {}
    for name in arrays:
        layer, _, role = name.rpartition(".")
        if role not in _BOOKKEEPING:
            split[name] = (layer, role)
    norms = {layer for layer, role in split.values() if role in _STATISTICS}
    return {
        name: (layer, _TORCH_NORM_ROLES.get(role, role) if layer in norms else role)
        for name, (layer, role) in split.items()
    }


def _keras_names(arrays: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Split names with slashes into layer and role.

    ``conv1/conv1/kernel:0``, from HDF5 groups, and ``resnet50/conv1/kernel`` become
    ``conv1/kernel``.
    """
    split: dict[str, tuple[list[str], str]] = {}
    for name in arrays:
        *layer, role = name.removesuffix(":0").split("/")
        half = len(layer) // 2
        if half and layer[:half] == layer[half:]:
            layer = layer[:half]
        split[name] = (layer, role)
    # Strip the model's name.
    while all(len(layer) > 1 for layer, _ in split.values()) and (
        len({layer[0] for layer, _ in split.values()}) == 1
    ):
        split = {name: (layer[1:], role) for name, (layer, role) in split.items()}
    return {
        name: ("/".join(layer), _KERAS_ROLES.get(role, role))
        for name, (layer, role) in split.items()
    }
