"""quantize_graph and calib_graph: the steps of quantization, for programs that calibrate by
themselves."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gluonish.contrib.quantization.collectors import collector_of, thresholds_of
from gluonish.contrib.quantization.graph_pass import Choice, quantize
from gluonish.contrib.quantization.parameters import quantize_parameters
from gluonish.contrib.quantization.thresholds import join_ranges, put_thresholds, wanted_names
from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol, load

__all__ = ["calib_graph", "check_names", "loaded", "quantize_graph", "quantize_symbol"]

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
    """Return a list of names; that of None is empty.

    Raises:
        ArgumentTypeError: It is no list of names.
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple | set):
        raise ArgumentTypeError(
            f"{what}: expected {name} as a list of names, got {type(value).__name__} {value!r:.80}"
        )
    return list(value)


def loaded(sym: Any, what: str) -> Symbol:
    """Return a Symbol, from its file if it is a path.

    Raises:
        ArgumentTypeError: It is neither.
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
    """Return the quantized graph of a Symbol, not calibrated.

    Args:
        what: Who asks, for messages.
        sym: The graph, whose layers may be fused.
        params: Names of the variables whose values are known.
        excluded: Names of nodes that stay as they are.
        excluded_operators: Operators that stay as they are.
        quantized_dtype: int8, uint8 or auto.
        quantize_mode: smart or full.
        quantize_granularity: tensor-wise or channel-wise.
        calibrated: Whether ranges will be put in; without, what needs them stays as it is.

    Raises:
        ArgumentError: There is no such dtype, mode or granularity.
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
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray], Any]:
    """Quantize a graph without calibration, and make what collects for it.

    Run the graph before on data, give the collector the outputs that it wants, and call
    `calib_graph`.

    Args:
        sym: The graph, or the path of its file.
        arg_params: Its parameters by name.
        aux_params: Its auxiliary states by name.
        ctx: The device that it will run on.
        excluded_sym_names: Names of nodes that stay as they are.
        excluded_op_names: Names of operators that stay as they are.
        calib_mode: none, naive (smallest and largest values), entropy (least relative entropy) or
            customize.
        quantized_dtype: Of data in bytes: int8, uint8, or auto, which is uint8 where no value is
            below 0.
        quantize_mode: full for all that can be quantized, smart for what lies between layers.
        quantize_granularity: tensor-wise, or channel-wise for a step of each channel of weights.
        LayerOutputCollector: The collector for customize.
        logger: Gets lines about the course of it.

    Returns:
        The quantized graph, its parameters, its auxiliary states and the collector, None for none.

    Raises:
        ArgumentError: An argument is none of these.
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
    """Put the ranges that a collector has found into a quantized graph.

    Args:
        qsym: The graph, or the path of its file, as `quantize_graph` gives it.
        arg_params: Its parameters by name; parameters of the graph before are quantized.
        aux_params: Its auxiliary states by name.
        collector: What has seen the outputs of the graph before.
        calib_mode: naive, entropy or customize.
        quantized_dtype: int8, uint8 or auto.
        logger: Gets lines about the course of it.

    Returns:
        The calibrated graph, its parameters and its auxiliary states.

    Raises:
        ArgumentError: The mode is none of these, or the collector does not fit it.
    """
    what = "calib_graph"
    symbol = loaded(qsym, what)
    if calib_mode is None or calib_mode == "none":
        raise ArgumentError(f"{what}: please set calibration mode to naive or entropy, got none")
    found = thresholds_of(what, collector, calib_mode, quantized_dtype, logger)
    values = join_ranges(put_thresholds(symbol._values, found))
    calibrated = Symbol(values)
    return calibrated, quantize_parameters(calibrated, arg_params), dict(aux_params)
