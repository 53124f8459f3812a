"""quantize_graph and calib_graph: quantization with a custom calibration loop."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gluonish.contrib.quantization.collectors import collector_of, thresholds_of
from gluonish.contrib.quantization.graph_pass import Choice, quantize
from gluonish.contrib.quantization.parameters import quantize_parameters
from gluonish.contrib.quantization.thresholds import (
    join_ranges,
    put_thresholds,
    wanted_names,
    warn_of_histograms,
)
from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol, load

_DTYPES = ("int8", "uint8", "auto")
_MODES = ("smart", "full")
_GRANULARITIES = ("tensor-wise", "channel-wise")


def _choose(what: str, name: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        known = ", ".join(f"`{choice}`" for choice in choices[:-1])
        raise ArgumentError(
            f"{what}: unknown {name} {value} received, expected {known} or `{choices[-1]}`"
        )


def check_names(what: str, name: str, value: Any) -> list[str]:
    """Return an argument as a list of names; an empty list for None.

    Args:
        what: Name of the calling function, for error messages.
        name: Name of the argument.
        value: The argument.

    Raises:
        ArgumentTypeError: ``value`` is not a list of names.
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple | set):
        raise ArgumentTypeError(
            f"{what}: expected {name} as a list of names, got {type(value).__name__} {value!r:.80}"
        )
    return list(value)


def loaded(sym: Any, what: str) -> Symbol:
    """Return a Symbol, loaded from its file if ``sym`` is a path.

    Args:
        sym: The Symbol, or the path of its file.
        what: Name of the calling function, for error messages.

    Raises:
        ArgumentTypeError: ``sym`` is neither.
    """
    if isinstance(sym, str):
        return load(sym)
    if not isinstance(sym, Symbol):
        raise ArgumentTypeError(f"{what}: expected a Symbol or a path, got {type(sym).__name__}")
    return sym


def quantize_symbol(
    what: str,
    sym: Symbol,
    params: Collection[str],
    excluded: Any,
    excluded_operators: Any,
    quantized_dtype: str,
    quantize_mode: str,
    quantize_granularity: str,
    *,
    calibrated: bool = True,
) -> Symbol:
    """Return the quantized graph of a Symbol, without calibration.

    Args:
        what: Name of the calling function, for error messages.
        sym: The graph, whose layers may be fused.
        params: Names of the variables with known values.
        excluded: Names of nodes that are not quantized.
        excluded_operators: Names of operators that are not quantized.
        quantized_dtype: ``"int8"``, ``"uint8"`` or ``"auto"``.
        quantize_mode: ``"smart"`` or ``"full"``.
        quantize_granularity: ``"tensor-wise"`` or ``"channel-wise"``.
        calibrated: Whether the graph will be calibrated; if not, operators that need ranges are not
            quantized.

    Raises:
        ArgumentError: A dtype, mode or granularity is unknown.
    """
    names = check_names(what, "excluded_sym_names", excluded)
    operators = check_names(what, "excluded_op_names", excluded_operators)
    _choose(what, "quantized_dtype", quantized_dtype, _DTYPES)
    _choose(what, "quantize_mode", quantize_mode, _MODES)
    _choose(what, "quantize_granularity", quantize_granularity, _GRANULARITIES)
    choice = Choice(
        frozenset(names),
        frozenset(operators),
        quantized_dtype,
        quantize_mode == "smart",
        frozenset(params),
        quantize_granularity == "channel-wise",
        calibrated,
    )
    return Symbol(quantize(sym._values, choice))


def quantize_graph(
    sym: Any,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
    ctx: Context = cpu(),  # noqa: B008  # as in MXNet; it does not change
    excluded_sym_names: Any = None,
    excluded_op_names: Any = None,
    calib_mode: str = "entropy",
    quantized_dtype: str = "int8",
    quantize_mode: str = "full",
    quantize_granularity: str = "tensor-wise",
    LayerOutputCollector: Any = None,  # MXNet's name
    logger: logging.Logger | None = None,
    device: Any = None,
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray], Any]:
    """Quantize a graph without calibration, and create a collector for it.

    To calibrate, run the original graph on data, pass the outputs that the collector includes to
    its `collect`, and call `calib_graph`.

    Args:
        sym: The graph, a Symbol or the path of its file.
        arg_params: Parameters by name.
        aux_params: Auxiliary states by name.
        ctx: Device that the graph will run on.
        excluded_sym_names: Names of nodes that are not quantized.
        excluded_op_names: Names of operators that are not quantized.
        calib_mode: How to find ranges: ``"none"`` at each call, ``"naive"`` as minimum and maximum,
            ``"entropy"`` by the least relative entropy, ``"customize"`` by
            ``LayerOutputCollector``.
        quantized_dtype: Dtype of quantized data: ``"int8"``, ``"uint8"``, or ``"auto"``: uint8 for
            data that are never negative, otherwise int8.
        quantize_mode: ``"full"`` quantizes all supported operators, ``"smart"`` only layers and
            operators between them.
        quantize_granularity: ``"tensor-wise"``, or ``"channel-wise"`` for a scale for each channel
            of weights.
        LayerOutputCollector: The collector for ``"customize"``.
        logger: Logs the progress.
        device: ``ctx`` under the name it has in MXNet 2.0.

    Returns:
        The quantized Symbol, its parameters, its auxiliary states, and the collector or None.

    Raises:
        ArgumentError: An argument is not one of those listed.
    """
    what = "quantize_graph"
    symbol = loaded(sym, what)
    arrays = (symbol, arg_params, quantized_dtype, quantize_mode, quantize_granularity)
    qsym = quantize_symbol(
        *(what, arrays[0], arrays[1].keys(), excluded_sym_names, excluded_op_names), *arrays[2:]
    )
    collector = None
    if calib_mode is not None and calib_mode != "none":
        collector = collector_of(
            *(what, calib_mode, quantized_dtype, wanted_names(qsym._values)),
            *(LayerOutputCollector, logger),
        )
    if logger:
        logger.info("quantize_graph: quantized parameters of %s", qsym.list_outputs())
    return qsym, quantize_parameters(qsym, arg_params), dict(aux_params), collector


def calib_graph(
    qsym: Any,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
    collector: Any,
    calib_mode: str = "entropy",
    quantized_dtype: str = "int8",
    logger: Any = logging,
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Insert the ranges that a collector has found into a quantized graph.

    Args:
        qsym: The quantized graph of `quantize_graph`, a Symbol or the path of its file.
        arg_params: Parameters by name; parameters of the original graph are quantized.
        aux_params: Auxiliary states by name.
        collector: Collector that has processed the outputs of the original graph.
        calib_mode: ``"naive"``, ``"entropy"`` or ``"customize"``.
        quantized_dtype: ``"int8"``, ``"uint8"`` or ``"auto"``.
        logger: Logs the progress.

    Returns:
        The calibrated Symbol, its parameters and its auxiliary states.

    Raises:
        ArgumentError: ``calib_mode`` is unknown, or the collector does not match it.
    """
    what = "calib_graph"
    symbol = loaded(qsym, what)
    if calib_mode is None or calib_mode == "none":
        raise ArgumentError(f"{what}: please set calibration mode to naive or entropy, got none")
    found = thresholds_of(what, collector, calib_mode, quantized_dtype, logger)
    if calib_mode == "entropy":
        warn_of_histograms(what, collector.hist_dict, found)
    values = join_ranges(put_thresholds(symbol._values, found))
    calibrated = Symbol(values)
    return calibrated, quantize_parameters(calibrated, arg_params), dict(aux_params)
