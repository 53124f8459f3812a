"""Plans how each parameter of a network is computed from arrays of a checkpoint."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.progress import progress_bar
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.model_zoo.foreign.recipes import Identity, LayerMapping
from gluonish.model_zoo.foreign.source_layers import SourceLayers
from gluonish.model_zoo.foreign.torch_file import arranged, arranged_shape
from gluonish.ndarray.list_file import StoredArray

MAX_NAMES = 12  # most names in a list in a message
_NORM_ROLES = ("gamma", "beta", "running_mean", "running_var")


def source_of(mapping: LayerMapping, layers: SourceLayers) -> str | None:
    """Return the checkpoint's name of a layer; None if the checkpoint does not have it."""
    return next((name for name in mapping.sources if name in layers.layers), None)


def listed(names: Sequence[str]) -> str:
    """Join names for a message, at most `MAX_NAMES` of them."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


class Plan:
    """Collects how to compute each parameter of a network from a checkpoint, and problems.

    Args:
        net: The network.
        layers: Layers of the checkpoint.
        epsilon: Epsilon of the origin's batch normalization.
    """

    def __init__(self, net: HybridBlock, layers: SourceLayers, epsilon: float) -> None:
        self._net = net
        self._parameters = net._collect_params_with_prefix()
        self._layers = layers
        self._epsilon = epsilon
        self._values: dict[str, Callable[[], Any]] = {}
        self._used: set[tuple[str, str]] = set()
        self._folded: dict[str, tuple[str, StoredArray]] = {}
        self._lost: list[tuple[str, StoredArray]] = []
        self._epsilons: set[float] = set()
        self._identities: list[str] = []
        self.problems: list[str] = []

    def add(self, step: LayerMapping | Identity) -> None:
        """Plan the parameters of one step of a recipe, or record a problem."""
        if isinstance(step, Identity):
            self._add_identity(step)
            return
        name = source_of(step, self._layers)
        if name is None:
            self.problems.append(f"no {step.sources[0]!r} for {step.target}")
        elif f"{step.target}.running_var" in self._parameters:
            self._add_norm(step, name)
        else:
            self._add_weights(step, name)

    def extra(self, left_out: Iterable[tuple[str, str]]) -> list[str]:
        """Return the names of unused arrays, except layers with a prefix in ``left_out``."""
        prefixes = tuple(prefix for prefix, _ in left_out)
        unused = [key for key in self._layers.names if key not in self._used]
        return [self._layers.name(*key) for key in unused if not key[0].startswith(prefixes)]

    def lost_biases(self) -> list[str]:
        """Return descriptions of the checkpoint's biases for which the network has no parameter."""
        lost = []
        for name, stored in self._lost:
            largest = float(np.abs(stored.read().astype(np.float64)).max(initial=0))
            if largest:
                lost.append(
                    f"the bias {name!r} of up to {largest:.4g}, for which the network has no"
                    " parameter: outputs are exact after adding it (or pass a network whose head"
                    " has a bias to convert())"
                )
        return lost

    def notes(self) -> list[str]:
        """Describe what was folded into other parameters."""
        found = []
        if self._folded:
            found.append(f"folded {len(self._folded)} biases into the means of normalizations")
        differing = sorted(value for value in self._epsilons if value != self._epsilon)
        if differing:
            ours = ", ".join(f"{value:g}" for value in differing)
            found.append(f"folded the epsilon {self._epsilon:g} (here {ours}) into variances")
        if self._identities:
            found.append(f"made {', '.join(self._identities)} an identity")
        return found

    def arrays(self) -> dict[str, Any]:
        """Compute all parameters, in the order of the network."""
        paths = [path for path in self._parameters if path in self._values]
        return {
            path: np.ascontiguousarray(self._values[path](), FLOAT32)
            for path in progress_bar(paths, desc="import", unit="array", leave=False)
        }

    def _use(self, name: str, role: str, target: str) -> StoredArray | None:
        stored = self._layers.layers[name].get(role)
        if stored is None:
            self.problems.append(f"no {role} in {name!r} for {target}")
            return None
        self._used.add((name, role))
        if not is_floating(stored.dtype):
            self.problems.append(f"{self._layers.name(name, role)} of {stored.dtype}, not floats")
            return None
        return stored

    def _check_shape(
        self, path: str, shape: tuple[int, ...] | None, got: StoredArray, name: str
    ) -> bool:
        """Check that values have the shape of a parameter, in which 0 is an unknown size."""
        expected = self._parameters[path].shape or ()
        fits = shape is not None and len(shape) == len(expected)
        if fits and all(
            ours in (0, size) for ours, size in zip(expected, shape or (), strict=True)
        ):
            return True
        self.problems.append(f"{name} of shape {got.shape} for {path} of shape {tuple(expected)}")
        return False

    def _add_weights(self, mapping: LayerMapping, name: str) -> None:
        path = f"{mapping.target}.weight"
        weight = self._use(name, "weight", path)
        if weight is not None:
            rank = len(self._parameters[path].shape or ())
            how = (self._layers.keras, rank, mapping.channels)
            shape = arranged_shape(weight.shape, *how)
            if self._check_shape(path, shape, weight, self._layers.name(name, "weight")):
                self._values[path] = lambda: arranged(weight.read(), *how)
        self._add_bias(mapping, name, None if weight is None else weight)

    def _add_bias(self, mapping: LayerMapping, name: str, weight: StoredArray | None) -> None:
        path = f"{mapping.target}.bias"
        has_bias = "bias" in self._layers.layers[name]
        if path in self._parameters:
            if has_bias or not mapping.norm:
                self._add_as_is(name, "bias", path)
            elif weight is not None:
                channels = weight.shape[-1 if self._layers.keras else 0]
                self._values[path] = partial(np.zeros, channels)
        elif has_bias:
            bias = self._use(name, "bias", path)
            if bias is not None and mapping.norm:
                self._folded[mapping.norm] = (self._layers.name(name, "bias"), bias)
            elif bias is not None:
                self._lost.append((self._layers.name(name, "bias"), bias))

    def _add_as_is(self, name: str, role: str, path: str) -> StoredArray | None:
        stored = self._use(name, role, path)
        if stored is None or not self._check_shape(
            path, stored.shape, stored, self._layers.name(name, role)
        ):
            return None
        self._values[path] = stored.read
        return stored

    def _add_norm(self, mapping: LayerMapping, name: str) -> None:
        stored = {
            role: self._add_as_is(name, role, f"{mapping.target}.{role}") for role in _NORM_ROLES
        }
        variance, mean = stored["running_var"], stored["running_mean"]
        ours = _block_at(self._net, mapping.target)._kwargs["eps"]
        self._epsilons.add(ours)
        if variance is not None and ours != self._epsilon:
            difference = self._epsilon - ours
            self._values[f"{mapping.target}.running_var"] = lambda: (
                variance.read().astype(np.float64) + difference
            )
        if mean is not None and mapping.target in self._folded:
            bias_name, bias = self._folded[mapping.target]
            if self._check_shape(f"{mapping.target}.running_mean", bias.shape, bias, bias_name):
                self._values[f"{mapping.target}.running_mean"] = lambda: (
                    mean.read().astype(np.float64) - bias.read().astype(np.float64)
                )

    def _add_identity(self, step: Identity) -> None:
        shape = self._parameters[f"{step.conv}.weight"].shape
        assert shape is not None
        channels = shape[0]
        epsilon = _block_at(self._net, step.norm)._kwargs["eps"]
        self._identities.append(step.conv)
        self._values[f"{step.conv}.weight"] = lambda: np.eye(channels)[:, :, None, None]
        # Variance + epsilon = 1.
        for role, value in zip(_NORM_ROLES, (1.0, 0.0, 0.0, 1.0 - epsilon), strict=True):
            self._values[f"{step.norm}.{role}"] = partial(np.full, channels, value)


def _block_at(net: HybridBlock, path: str) -> Any:
    block: Any = net
    for name in path.split("."):
        block = block._children[name]
    return block
