"""LoRA: low-rank adapters of Dense layers, in the files of Hugging Face's peft.

An adapted layer computes ``activation(x W^T + b + scale (dropout(x) A^T) B^T)`` with A of shape
(rank, in_units) and B of shape (units, rank). B is zero at first. `apply` adds adapters and freezes
all other parameters, `save` and `load` use peft's layout (``adapter_config.json`` and
``adapter_model.safetensors``), and `merge` adds the products to the weights and removes the
adapters.

References:
    E. Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, 2021.
    D. Kalajdzievski, A Rank Stabilization Scaling Factor for Fine-Tuning with LoRA, 2023.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import gluonish.ndarray as nd
from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    NotSupportedError,
    ParameterError,
)
from gluonish.core.files import atomic_write
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.block_paths import blocks_by_path
from gluonish.gluon.nn import Dense
from gluonish.gluon.nn.attention import _JoinedDense
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import Parameter
from gluonish.initializer import Xavier
from gluonish.ndarray import NDArray

__all__ = ["apply", "load", "merge", "save"]

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_PREFIX = "base_model.model."

# Options of peft that change the computation, or the network that the adapters are for, with the
# values that leave these as they are here. fan_in_fan_out is none of them: it says how the network
# stores its own weights, and A and B have the same shapes with it.
_OFF: tuple[Any, ...] = (False, None, [], {})
_UNSUPPORTED: dict[str, tuple[Any, ...]] = {
    "bias": ("none",),
    "init_lora_weights": (True, False, None, "gaussian", "orthogonal", "eva"),
    **dict.fromkeys(
        (
            *("modules_to_save", "use_dora", "lora_bias", "rank_pattern", "alpha_pattern"),
            *("layer_replication", "target_parameters", "trainable_token_indices", "use_qalora"),
            *("alora_invocation_tokens", "arrow_config", "use_bdlora", "kasa_config"),
            "monteclora_config",
        ),
        _OFF,
    ),
}


# Values of ``grad_req`` before `apply` froze the parameters.
_grad_reqs: WeakKeyDictionary[Parameter, str] = WeakKeyDictionary()


class _AdaptedDense(Dense):
    """A Dense layer with an adapter; `apply` turns layers into it, so that they keep their place.

    Inputs and outputs are those of `Dense`.
    """

    _adapter: dict[str, Any]
    lora_a: Parameter
    lora_b: Parameter

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        lora_a: Tensor | None = None,
        lora_b: Tensor | None = None,
    ) -> Any:
        """Compute the layer with its adapter.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: As of `Dense`.
            weight: The parameter ``weight``.
            bias: The parameter ``bias``; None without one.
            lora_a: The adapter's parameter A, (rank, in_units).
            lora_b: The adapter's parameter B, (units, rank).
        """
        return _with_adapter(self, F, x, weight, bias, lora_a, lora_b)


class _AdaptedJoinedDense(_JoinedDense):
    """The joined projections of self-attention with one adapter; see `_AdaptedDense`.

    Inputs and outputs are those of `_JoinedDense`, without ``key`` and ``value``.
    """

    _adapter: dict[str, Any]
    lora_a: Parameter
    lora_b: Parameter

    def hybrid_forward(  # type: ignore[override]  # it has more parameters than the plain layer
        self,
        F: ModuleType,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        weight: Any = None,
        bias: Any = None,
        lora_a: Any = None,
        lora_b: Any = None,
    ) -> Any:
        """Compute the projections with their adapter.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            query: As of `_JoinedDense`.
            key: None.
            value: None.
            weight: The parameter ``weight``.
            bias: The parameter ``bias``; None without one.
            lora_a: The adapter's parameter A, (rank, in_units).
            lora_b: The adapter's parameter B, (units, rank).
        """
        if key is not None or value is not None:
            raise ArgumentError(
                f"{self.name}: expected no key and value, as its adapter is one of self-attention, "
                "got some; make the layer with fused=False"
            )
        return _with_adapter(self, F, query, weight, bias, lora_a, lora_b)


_CLASSES: dict[type[Dense], type[Any]] = {
    Dense: _AdaptedDense,
    _JoinedDense: _AdaptedJoinedDense,
}
_ADAPTED = tuple(_CLASSES.values())


def _with_adapter(
    layer: Any, F: ModuleType, x: Any, weight: Any, bias: Any, lora_a: Any, lora_b: Any
) -> Any:
    """Compute a layer with its adapter."""
    units, flatten, adapter = layer._units, layer._flatten, layer._adapter
    y = F.FullyConnected(x, weight, bias, no_bias=bias is None, num_hidden=units, flatten=flatten)
    if adapter["dropout"]:
        x = F.Dropout(x, p=adapter["dropout"])
    rank = adapter["rank"]
    narrow = F.FullyConnected(x, lora_a, no_bias=True, num_hidden=rank, flatten=flatten)
    more = F.FullyConnected(narrow, lora_b, no_bias=True, num_hidden=units, flatten=False)
    y = y + more * adapter["scale"]
    return y if layer.act is None else layer.act(y)


def _adapted(net: Block) -> dict[str, Any]:
    found = {path: x for path, x in blocks_by_path(net) if isinstance(x, _ADAPTED)}
    if not found:
        raise ParameterError("lora: expected a network with adapters, got one without; call apply")
    return found


def apply(
    net: Block,
    targets: str | Sequence[str],
    rank: int = 8,
    alpha: float = 16.0,
    dropout: float = 0.0,
    use_rslora: bool = False,
) -> list[str]:
    """Add adapters to Dense layers, and freeze all other parameters of a network.

    Args:
        net: The network; it is changed in place.
        targets: Regular expression that the attribute path of a Dense layer must match as a whole,
            such as ``".*(query|value)"``; or a list of names, such as ``["query", "value"]``, for
            layers whose path is one of them or ends in a dot and one of them, as in peft.
        rank: Number of rows of A.
        alpha: Factor of the adapter; the scale is ``alpha / rank``.
        dropout: Probability of zeroing an input of the adapter, in [0, 1).
        use_rslora: Whether the scale is ``alpha / sqrt(rank)``.

    Returns:
        The attribute paths of the adapted layers.

    Raises:
        ArgumentError: No Dense layer matches, a number is out of range, or a layer is adapted.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.HybridSequential()
        >>> net.add(mx.gluon.nn.Dense(4, in_units=3), mx.gluon.nn.Dense(2, in_units=4))
        >>> net.initialize()
        >>> mx.contrib.lora.apply(net, "0", rank=2)
        ['0']
    """
    if rank < 1:
        raise ArgumentError(f"lora.apply: expected rank of 1 or more, got {rank}")
    if not 0 <= dropout < 1:
        raise ArgumentError(f"lora.apply: expected dropout in [0, 1), got {dropout}")
    adapter = _options(rank, alpha, dropout, use_rslora)
    chosen = {
        path: x
        for path, x in blocks_by_path(net)
        if isinstance(x, Dense) and _matches(targets, path)
    }
    if not chosen:
        dense = [path for path, x in blocks_by_path(net) if isinstance(x, Dense)]
        raise ArgumentError(
            f"lora.apply: expected targets that match a Dense layer of {dense}, got {targets!r}"
        )
    for path, layer in chosen.items():
        if type(layer) not in _CLASSES:
            raise ArgumentError(
                f"lora.apply: expected Dense layers, got {type(layer).__name__} at {path}"
            )
    for parameter in net.collect_params().values():
        if not parameter._full_name.endswith(("lora_a", "lora_b")):
            _freeze(parameter)
    for layer in chosen.values():
        _adapt(layer, adapter)
    return list(chosen)


def _options(rank: int, alpha: float, dropout: float, use_rslora: bool) -> dict[str, Any]:
    return {
        "rank": rank,
        "alpha": alpha,
        "dropout": dropout,
        "use_rslora": use_rslora,
        "scale": alpha / (sqrt(rank) if use_rslora else rank),
    }


def _matches(targets: str | Sequence[str], path: str) -> bool:
    """Whether a path is among targets, as in peft."""
    if isinstance(targets, str):
        return re.fullmatch(targets, path) is not None
    return any(path == name or path.endswith(f".{name}") for name in targets)


def _target_modules(net: Block, paths: Sequence[str]) -> list[str] | str:
    """Return paths as peft's targets: a pattern if a list would match more Dense layers."""
    dense = [path for path, x in blocks_by_path(net) if isinstance(x, Dense)]
    if sum(_matches(paths, path) for path in dense) == len(paths):
        return list(paths)
    return "|".join(map(re.escape, paths))


def _freeze(parameter: Any) -> None:
    if parameter.grad_req != "null":
        _grad_reqs[parameter] = parameter.grad_req
        parameter.grad_req = "null"


def _adapt(layer: Dense, adapter: Mapping[str, Any]) -> None:
    """Turn a layer into an adapted one, with initialized parameters if it has them."""
    rank, weight = adapter["rank"], layer.weight
    shape = weight.shape
    _set_class(layer, _CLASSES[type(layer)])
    assert isinstance(layer, _ADAPTED)
    layer._adapter = dict(adapter)
    with layer.name_scope():
        declare = partial(layer.params._declare, dtype=weight.dtype)
        # The uniform distribution of peft: up to 1 / sqrt(in_units).
        uniform = Xavier("uniform", "in", 1)
        layer.lora_a = declare("lora_a", (rank, shape[1] if shape else 0), uniform)
        layer.lora_b = declare("lora_b", (layer._units, rank), "zeros")
    if weight._arrays is not None:
        for parameter in _pair(layer):
            parameter.initialize(ctx=weight.list_ctx())
    layer._clear_cached_op()


def _set_class(layer: Any, kind: type[Dense]) -> None:
    """Turn a layer into one of another class, which keeps its place in the network."""
    layer.__class__ = kind


def merge(net: Block) -> list[str]:
    """Add the adapters to the weights, remove them, and let all parameters train again.

    Args:
        net: The network; it is changed in place.

    Returns:
        The attribute paths of the layers.

    Raises:
        ParameterError: The network has no adapters.
    """
    layers = _adapted(net)
    for layer in layers.values():
        a, b = (x.data(x.list_ctx()[0]).astype("float32") for x in _pair(layer))
        weight = layer.weight.data(layer.weight.list_ctx()[0])
        total = weight.astype("float32") + nd.dot(b, a) * layer._adapter["scale"]
        layer.weight.set_data(total.astype(weight.dtype))
        for name in ("lora_a", "lora_b"):
            parameter = layer._reg_params.pop(name)
            layer.params._params.pop(parameter._full_name)
            delattr(layer, name)
        del layer._adapter
        _set_class(layer, next(x for x, adapted in _CLASSES.items() if type(layer) is adapted))
        layer._clear_cached_op()
    for parameter in net.collect_params().values():
        before = _grad_reqs.pop(parameter, None)
        if before is not None:
            parameter.grad_req = before
    return list(layers)


def _pair(layer: Any) -> tuple[Parameter, Parameter]:
    return layer.lora_a, layer.lora_b


def save(net: Block, folder: str | os.PathLike[str], base_model: str | None = None) -> None:
    """Save the adapters in peft's layout: a configuration and a file of weights.

    Args:
        net: The network.
        folder: The folder, which is created.
        base_model: Name or path of the network without adapters, for readers of the file.

    Raises:
        ParameterError: The network has no adapters.
        ArgumentError: The adapters differ in rank, alpha or dropout.
    """
    layers = _adapted(net)
    first = next(iter(layers.values()))._adapter
    for path, layer in layers.items():
        if layer._adapter != first:
            raise ArgumentError(
                f"lora.save: expected adapters of equal rank, alpha and dropout, got {first} and "
                f"{layer._adapter} at {path}"
            )
    arrays: dict[str, NDArray] = {}
    for path, layer in layers.items():
        for word, parameter in zip("AB", _pair(layer), strict=True):
            key = f"{_PREFIX}{path}.lora_{word}.weight"
            arrays[key] = parameter.data(parameter.list_ctx()[0])
    config = {
        "peft_type": "LORA",
        "task_type": None,
        "base_model_name_or_path": base_model,
        "r": first["rank"],
        "lora_alpha": first["alpha"],
        "lora_dropout": first["dropout"],
        "use_rslora": first["use_rslora"],
        "target_modules": _target_modules(net, list(layers)),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
    }
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    nd.save(target / _WEIGHTS, arrays, metadata={"format": "pt"})
    with atomic_write(target / _CONFIG) as file:
        file.write((json.dumps(config, indent=2) + "\n").encode())


def load(net: Block, folder: str | os.PathLike[str]) -> list[str]:
    """Load adapters that `save` or peft wrote, with their scale; layers without one get one.

    Args:
        net: The network, with the attribute paths of the file.
        folder: The folder with both files.

    Returns:
        The attribute paths of the layers.

    Raises:
        FileFormatError: A file is not one of LoRA adapters.
        NotSupportedError: The adapters compute otherwise (DoRA, trained biases, ranks by layer), or
            are for another network: the file has modules of its own (``modules_to_save``), or
            changed the network's weights at first (PiSSA).
        ParameterError: The network lacks a layer of the file, or a shape differs.
    """
    path = Path(folder)
    config = _config(path / _CONFIG)
    values = _values(path / _WEIGHTS)
    layers = dict(blocks_by_path(net))
    for name in values:
        if not isinstance(layers.get(name), Dense):
            raise ParameterError(
                f"lora.load: expected a Dense layer at {name}, which {path / _WEIGHTS} adapts, got "
                f"{type(layers.get(name)).__name__}"
            )
    options = (
        config["r"],
        config["lora_alpha"],
        config.get("lora_dropout") or 0.0,
        bool(config.get("use_rslora")),
    )
    new = [name for name in values if not isinstance(layers[name], _ADAPTED)]
    if new:
        apply(net, "|".join(map(re.escape, new)), *options)
    for name, pair in values.items():
        for parameter, value in zip(_pair(layers[name]), pair, strict=True):
            _set(parameter, value, name)
        layer: Any = layers[name]
        if layer._adapter != _options(*options):
            layer._adapter = _options(*options)
            layer._clear_cached_op()
    return list(values)


def _set(parameter: Any, value: NDArray, name: str) -> None:
    known = tuple(n or m for n, m in zip(parameter.shape, value.shape, strict=False))
    if known != value.shape or len(parameter.shape) != len(value.shape):
        raise ParameterError(
            f"lora.load: expected {parameter._full_name} of shape {parameter.shape} at {name}, got "
            f"{value.shape}"
        )
    parameter.shape = value.shape
    parameter.set_data(value.astype(parameter.dtype))


def _config(path: Path) -> dict[str, Any]:
    """Return a configuration that this module computes.

    Raises:
        FileFormatError: The file is no configuration of LoRA.
        NotSupportedError: An option changes the computation.
    """
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        kind, rank, alpha = (config[key] for key in ("peft_type", "r", "lora_alpha"))
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(
            f"{path}: expected a configuration of LoRA with peft_type, r and lora_alpha"
        ) from error
    if kind != "LORA" or not isinstance(rank, int) or not isinstance(alpha, int | float):
        raise FileFormatError(f"{path}: expected peft_type 'LORA', got {kind!r} with r {rank!r}")
    for key, allowed in _UNSUPPORTED.items():
        if key in config and config[key] not in allowed:
            raise NotSupportedError(
                f"{path}: expected {key} {allowed[0]!r}, as plain adapters of Dense layers have, "
                f"got {config[key]!r}"
            )
    return dict(config)


def _values(path: Path) -> dict[str, tuple[NDArray, NDArray]]:
    """Return A and B of each layer in a file, by attribute path."""
    arrays = nd.load(path)
    found: dict[str, dict[str, NDArray]] = {}
    for key, value in arrays.items() if isinstance(arrays, dict) else ():
        match = re.fullmatch(r"base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight", key)
        if match is None:
            raise FileFormatError(
                f"{path}: expected names {_PREFIX}PATH.lora_A.weight or lora_B, got {key}; in "
                "peft, save with save_embedding_layers=False"
            )
        found.setdefault(match[1], {})[match[2]] = value
    if not found or any(len(pair) != 2 for pair in found.values()):
        raise FileFormatError(
            f"{path}: expected lora_A and lora_B of each layer, got {found.keys()}"
        )
    return {name: (pair["A"], pair["B"]) for name, pair in found.items()}
