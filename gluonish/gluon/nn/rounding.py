"""Round the weights of Dense layers in place: they become `WeightOnlyDense`."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import INT8, normalize_dtype
from gluonish.core.errors import ArgumentError, ParameterError
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.block_paths import blocks_by_path
from gluonish.gluon.nn.attention import _JoinedDense
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.weight_only import (
    WeightOnlyDense,
    _check_sizes,
    _JoinedWeightOnlyDense,
    _scale_shape,
    _stored,
)
from gluonish.gluon.parameter.parameter import Parameter
from gluonish.ndarray.creation import array
from gluonish.ops.quantization.weight_only import packed
from gluonish.ops.support.precision import accumulator

# Names of the integers that weights become, and their bits.
BITS = {"int8": 8, "int4": 4}
_LARGEST = {8: 127, 4: 7}  # by bits; integers are symmetric: -128 and -8 are not used


def _rounded(weight: Any, group_size: int | None, bits: int, dtype: Any) -> tuple[Any, Any]:
    """Return stored integers and scales of a floating weight (units, in_units).

    The scale is that of the largest magnitude of a row or group, which becomes 127 or 7.
    """
    largest = _LARGEST[bits]
    units, in_units = weight.shape
    groups = 1 if group_size is None else in_units // group_size
    grouped = weight.reshape(units, groups, in_units // max(1, groups))
    scale = np.abs(grouped).max(axis=-1, initial=0).astype(dtype) / dtype.type(largest)
    scale[scale == 0] = 1
    numbers = np.rint(grouped / scale[..., None]).clip(-largest, largest).astype(INT8)
    numbers = numbers.reshape(units, in_units)
    stored = numbers if bits == 8 else packed(numbers)
    return stored, scale[:, 0] if group_size is None else scale


# The class that a layer becomes.
_CLASSES: dict[type[Dense], type[WeightOnlyDense]] = {
    Dense: WeightOnlyDense,
    _JoinedDense: _JoinedWeightOnlyDense,
}


def check_dense(what: str, layer: Dense, group_size: int | None, bits: int) -> None:
    """Refuse a layer that cannot become a `WeightOnlyDense`.

    Args:
        what: Name of the layer, for messages.
        layer: The layer.
        group_size: As of `WeightOnlyDense`.
        bits: As of `WeightOnlyDense`.

    Raises:
        ArgumentError: The layer is of another class, ``group_size`` does not divide in_units, or
            these are odd with 4 bits.
        ParameterError: Its weight waits for its shape, or is not finite.
    """
    if type(layer) not in _CLASSES:
        raise ArgumentError(f"{what}: expected a Dense layer, got {type(layer).__name__}")
    weight = layer.weight
    _check_sizes(what, group_size, bits, weight.shape[1] if weight.shape else 0)
    if weight._arrays is None and weight._deferred_init:
        raise ParameterError(
            f"{what}: expected an initialized weight, got one that waits for its shape; call the "
            "network once"
        )
    if weight._arrays is not None and not np.isfinite(_values(weight)).all():
        raise ParameterError(f"{what}: expected a finite weight, got nan or inf")


def _values(weight: Parameter) -> Any:
    wide = accumulator(normalize_dtype(weight.dtype))
    return weight.data(weight.list_ctx()[0]).asnumpy().astype(wide)


def rounded_parameters(
    weight: Parameter, group_size: int | None, bits: int, *, shared: bool
) -> tuple[Parameter, Parameter]:
    """Return the parameters of integers and scales that replace a floating weight.

    Args:
        weight: The weight; without values, those of the result are missing as well.
        group_size: As of `WeightOnlyDense`.
        bits: As of `WeightOnlyDense`.
        shared: Whether other layers keep the floating weight, and its name.
    """
    units, in_units = weight.shape or (0, 0)
    wide = accumulator(normalize_dtype(weight.dtype))
    stem = weight._full_name.removesuffix("weight") + (f"int{bits}_" if shared else "")
    stored, kind = _stored(units, in_units, bits)
    numbers = Parameter(
        *(f"{stem}weight", "null", stored, kind), init="zeros", allow_deferred_init=True
    )
    shape = _scale_shape(units, in_units, group_size)
    scale = Parameter(
        *(f"{stem}scale", weight.grad_req, shape, wide), init="ones", allow_deferred_init=True
    )
    if weight._arrays is not None:
        contexts = weight.list_ctx()
        values = _rounded(_values(weight), group_size, bits, wide)
        for parameter, value in zip((numbers, scale), values, strict=True):
            parameter.initialize(ctx=contexts)
            parameter.set_data(array(value, ctx=contexts[0], dtype=value.dtype))
    return numbers, scale


def become_weight_only(
    layer: Dense, weight: Parameter, scale: Parameter, group_size: int | None, bits: int
) -> None:
    """Make a `Dense` layer a `WeightOnlyDense`, in place, so that it keeps its places.

    Args:
        layer: A layer that `check_dense` accepts.
        weight: The parameter of integers.
        scale: The parameter of scales.
        group_size: As of `WeightOnlyDense`.
        bits: As of `WeightOnlyDense`.
    """
    made: Any = layer
    made._group_size, made._bits = group_size, bits
    made._dtype = normalize_dtype(layer.weight.dtype)
    parameters = {"weight": weight, "scale": scale}
    if layer.bias is not None:
        parameters["bias"] = layer.bias
    for name, parameter in list(layer._reg_params.items()):
        del layer._reg_params[name]
        layer.params._params.pop(parameter._full_name, None)
        delattr(layer, name)
    made.__class__ = _CLASSES[type(layer)]
    for name, parameter in parameters.items():
        layer.params._params[parameter._full_name] = parameter
        setattr(layer, name, parameter)


def round_weights(
    what: str,
    network: Block,
    group_size_of: Callable[[Dense], int | None],
    bits: int,
    excluded: Sequence[str] = (),
    patterns: Sequence[str] = (),
) -> list[str]:
    """Make the Dense layers of a network `WeightOnlyDense` in place.

    Args:
        what: Name of the calling function, for messages.
        network: The network.
        group_size_of: Returns the ``group_size`` of a layer.
        bits: Size of the integers, 8 or 4.
        excluded: Attribute paths of layers that stay.
        patterns: Substrings of such paths.

    Returns:
        The attribute paths of the layers that changed.

    Raises:
        ArgumentError: There is no layer, a layer cannot change, or an excluded one is not there.
        ParameterError: A weight waits for its shape, or is not finite.
    """
    blocks = dict(blocks_by_path(network))
    chosen = _chosen(what, blocks, excluded, patterns)
    sizes = {path: group_size_of(layer) for path, layer in chosen.items()}
    for path, layer in chosen.items():
        check_dense(f"{what}: {path or type(layer).__name__}", layer, sizes[path], bits)
    uses = Counter(id(p) for block in blocks.values() for p in block._reg_params.values())
    uses.subtract(id(layer.weight) for layer in chosen.values())
    made: dict[int, tuple[Parameter, Parameter]] = {}
    for path, layer in chosen.items():
        key = id(layer.weight)
        if key not in made:
            made[key] = rounded_parameters(layer.weight, sizes[path], bits, shared=uses[key] > 0)
    for path, layer in chosen.items():
        become_weight_only(layer, *made[id(layer.weight)], sizes[path], bits)
    for block in blocks.values():
        clear = getattr(block, "_clear_cached_op", None)
        if clear is not None:
            clear()
    return list(chosen)


def _chosen(
    what: str, blocks: dict[str, Block], excluded: Sequence[str], patterns: Sequence[str]
) -> dict[str, Dense]:
    """Return the Dense layers that are not excluded and have floating weights, by path."""
    dense = {
        path: block
        for path, block in blocks.items()
        if isinstance(block, Dense) and not isinstance(block, WeightOnlyDense)
    }
    unknown = [name for name in excluded if name not in dense]
    if unknown:
        raise ArgumentError(f"{what}: expected exclude_layers among {list(dense)}, got {unknown}")
    found = {
        path: layer
        for path, layer in dense.items()
        if path not in excluded and not any(pattern in path for pattern in patterns)
    }
    if not found:
        raise ArgumentError(f"{what}: expected a Dense layer to quantize, got {list(dense)}")
    return found


def largest_group(layer: Dense, most: int) -> int | None:
    """Return the largest number of elements, up to a limit, that divides a layer's in_units.

    Multiples of 32, which are fast, come first. None for a layer of unknown in_units.
    """
    in_units = layer.weight.shape[1] if layer.weight.shape else 0
    sizes = [size for size in range(1, min(most, in_units) + 1) if in_units % size == 0]
    return max(sizes, key=lambda size: (size % 32 == 0, size), default=None)
