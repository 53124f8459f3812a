"""quantize_net and quantize_net_v2: quantization of a HybridBlock to a SymbolBlock."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from gluonish.contrib.quantization.collectors import first_batch, limited
from gluonish.contrib.quantization.fusion import fuse, layer_nodes
from gluonish.contrib.quantization.graphs import check_names, quantize_symbol
from gluonish.contrib.quantization.models import calibrate
from gluonish.contrib.quantization.parameters import quantize_parameters
from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError, GluonishError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.graph.ir import topological_order
from gluonish.ndarray import NDArray
from gluonish.ndarray.creation import zeros
from gluonish.symbol import Group, Symbol, var


def quantize_net_v2(
    network: HybridBlock,
    quantized_dtype: str = "auto",
    quantize_mode: str = "full",
    quantize_granularity: str = "tensor-wise",
    exclude_layers: Any = None,
    exclude_layers_match: Any = None,
    exclude_operators: Any = None,
    calib_data: Any = None,
    data_shapes: Any = None,
    calib_mode: str = "none",
    num_calib_examples: int | None = None,
    ctx: Context = cpu(),  # noqa: B008  # as in MXNet; it does not change
    LayerOutputCollector: Any = None,  # MXNet's name
    logger: logging.Logger | None = None,
    device: Context | None = None,
    num_calib_batches: int | None = None,
) -> SymbolBlock:
    """Return a quantized copy of a network.

    Args:
        network: The network with its parameters, a HybridBlock; it is not changed.
        quantized_dtype: Dtype of quantized data: ``"int8"``, ``"uint8"``, or ``"auto"``: uint8 for
            data that are never negative, otherwise int8.
        quantize_mode: ``"full"`` quantizes all supported operators, ``"smart"`` only layers and
            operators between them.
        quantize_granularity: ``"tensor-wise"``, or ``"channel-wise"`` for a scale for each channel
            of the weights of dense layers; convolutions always have one.
        exclude_layers: Names of nodes, or of operators in them, that are not quantized.
        exclude_layers_match: Substrings of such names.
        exclude_operators: Names of operators that are not quantized.
        calib_data: The batches: a DataLoader, a DataIter, or another iterable of arrays. Additional
            arrays after the network's inputs, such as labels, are ignored.
        data_shapes: Without ``calib_data`` the shapes of the inputs: a list of DataDesc, of pairs
            (name, shape), or of shapes.
        calib_mode: How to find ranges: ``"none"`` at each call; on calibration data ``"naive"`` as
            minimum and maximum, ``"entropy"`` by the least relative entropy, ``"customize"`` by
            ``LayerOutputCollector``.
        num_calib_examples: Maximum number of samples to use; None for all.
        ctx: Device for calibration and for the quantized network.
        LayerOutputCollector: An object with a method ``collect(name, arr)``, called with each
            output, and a dict ``min_max_dict`` from output name to range. The method may also be
            ``collect(name, op_name, arr)``, as in MXNet 2.0.
        logger: Logs the progress.
        device: ``ctx`` under the name it has in MXNet 2.0.
        num_calib_batches: Maximum number of batches to use; None for all.

    Returns:
        The quantized network, a SymbolBlock. `export` saves it in MXNet's format.

    Raises:
        ArgumentError: An argument is not one of those listed, or ``calib_data`` is missing.
        ArgumentTypeError: ``network`` is not a HybridBlock.

    Example::

        quantized = quantize_net_v2(net, calib_mode="naive", calib_data=validation_loader)
        scores = quantized(x)
    """
    what = "quantize_net"
    ctx = ctx if device is None else device
    calib_data = limited(calib_data, num_calib_batches)
    if not isinstance(network, HybridBlock):
        raise ArgumentTypeError(f"{what}: expected a HybridBlock, got {type(network).__name__}")
    names = _inputs(what, network, calib_data, data_shapes, ctx)
    symbol = Symbol(fuse(traced(network, names)._values))
    params = {p._full_name: p.data(ctx) for p in _parameters(network, ctx)}
    auxiliary = set(symbol.list_auxiliary_states())
    args = {name: value for name, value in params.items() if name not in auxiliary}
    excluded = _excluded(what, symbol, exclude_layers, exclude_layers_match)
    qsym = quantize_symbol(
        *(what, symbol, args.keys(), excluded, exclude_operators),
        *(quantized_dtype, quantize_mode, quantize_granularity),
        calibrated=calib_mode not in (None, "none"),
    )
    if calib_mode is not None and calib_mode != "none":
        if calib_data is None:
            raise ArgumentError(f"{what}: calib_data must be provided when calib_mode={calib_mode}")
        qsym = calibrate(
            *(what, symbol, qsym, params, names, calib_data),
            mode=calib_mode,
            quantized_dtype=quantized_dtype,
            num_examples=num_calib_examples,
            context=ctx,
            own=LayerOutputCollector,
            logger=logger,
        )
    made = quantize_parameters(qsym, args)
    states = {name: params[name] for name in qsym.list_auxiliary_states()}
    return _block(qsym, names, {**made, **states}, ctx)


def quantize_net(
    network: HybridBlock,
    quantized_dtype: str = "auto",
    quantize_mode: str = "full",
    exclude_layers: Any = None,
    exclude_layers_match: Any = None,
    exclude_operators: Any = None,
    calib_data: Any = None,
    data_shapes: Any = None,
    calib_mode: str = "none",
    num_calib_examples: int | None = None,
    ctx: Context = cpu(),  # noqa: B008  # as in MXNet; it does not change
    logger: logging.Logger | None = None,
    quantize_granularity: str = "tensor-wise",
    LayerOutputCollector: Any = None,  # MXNet's name
    device: Context | None = None,
    num_calib_batches: int | None = None,
) -> SymbolBlock:
    """Return a quantized copy of a network; arguments and result are those of `quantize_net_v2`.

    Raises:
        ArgumentError: An argument is invalid, or ``calib_data`` is missing.
        ArgumentTypeError: ``network`` is not a HybridBlock.
    """
    return quantize_net_v2(
        network,
        quantized_dtype,
        quantize_mode,
        quantize_granularity,
        exclude_layers,
        exclude_layers_match,
        exclude_operators,
        calib_data,
        data_shapes,
        calib_mode,
        num_calib_examples,
        ctx,
        LayerOutputCollector,
        logger,
        device,
        num_calib_batches,
    )


def _inputs(
    what: str, network: HybridBlock, calib_data: Any, data_shapes: Any, ctx: Context
) -> list[str]:
    """Return names for the inputs of a network; also call it once, to infer all shapes."""
    if calib_data is None and data_shapes is None:
        raise ArgumentError(f"{what}: expected calib_data or data_shapes, got neither")
    names: list[str] = []
    if calib_data is not None:
        arrays = first_batch(what, calib_data, ctx)
        if hasattr(calib_data, "provide_data"):
            names = [description[0] for description in calib_data.provide_data]
    else:
        pairs = [_described(description) for description in data_shapes]
        arrays = [zeros(shape, ctx=ctx) for _, shape in pairs]
        names = [name for name, _ in pairs if name]
    arrays = _network_inputs(what, network, arrays)
    if len(names) < len(arrays):
        count = len(arrays)
        names = ["data"] if count == 1 else [f"data{i}" for i in range(count)]
    return names[: len(arrays)]


def _described(description: Any) -> tuple[str, tuple[int, ...]]:
    if hasattr(description, "shape"):
        return getattr(description, "name", ""), tuple(description.shape)
    first = description[0] if len(description) else None
    if isinstance(first, str):
        return first, tuple(description[1])
    return "", tuple(description)


def _network_inputs(what: str, network: HybridBlock, arrays: Sequence[NDArray]) -> list[NDArray]:
    """Return the arrays of a batch that a network accepts: the first ones, without labels."""
    failure: Exception | None = None
    for count in range(len(arrays), 0, -1):
        try:
            network(*arrays[:count])
        except (GluonishError, TypeError, ValueError) as error:
            failure = failure or error
        else:
            return list(arrays[:count])
    raise ArgumentError(
        f"{what}: expected data that the network accepts, got arrays of shapes "
        f"{[x.shape for x in arrays]}: {failure}"
    ) from failure


def traced(network: HybridBlock, names: Sequence[str]) -> Symbol:
    """Return the graph of a network.

    Args:
        network: The network.
        names: Names of the variables for its inputs.
    """
    outputs = network(*(var(name) for name in names))
    return outputs if isinstance(outputs, Symbol) else Group(_flat(outputs))


def _flat(outputs: Any) -> list[Symbol]:
    if isinstance(outputs, Symbol):
        return [outputs]
    return [symbol for item in outputs for symbol in _flat(item)]


def _parameters(network: HybridBlock, ctx: Context) -> Iterable[Any]:
    for parameter in network.collect_params().values():
        if parameter._arrays is not None and ctx not in parameter.list_ctx():
            parameter.reset_ctx(ctx)
        if parameter._arrays is not None:
            yield parameter


def _excluded(what: str, symbol: Symbol, layers: Any, matches: Any) -> list[str]:
    """Return the names of the nodes that are not quantized."""
    names = check_names(what, "exclude_layers", layers)
    patterns = check_names(what, "exclude_layers_match", matches)
    for node in topological_order(symbol._values):
        inner = [n.name for n in layer_nodes(node)]
        names += [name for name in inner if any(pattern in name for pattern in patterns)]
    return names


def _block(
    qsym: Symbol, names: Sequence[str], values: dict[str, NDArray], ctx: Context
) -> SymbolBlock:
    block = SymbolBlock(qsym, [var(name) for name in names])
    for name, parameter in block.params.items():
        parameter._load_init(values[name], ctx, cast_dtype=True, dtype_source="saved")
        parameter.grad_req = "null"
    return block
