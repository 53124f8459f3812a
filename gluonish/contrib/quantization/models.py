"""quantize_model and quantize_model_mkldnn: quantization of a Symbol with parameters."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.contrib.quantization.collectors import (
    batches,
    check_iterable,
    collector_of,
    examples_of,
    limited,
    takes_operator,
    thresholds_of,
    with_bar,
)
from gluonish.contrib.quantization.fusion import fuse
from gluonish.contrib.quantization.graphs import loaded, quantize_symbol
from gluonish.contrib.quantization.parameters import quantize_parameters
from gluonish.contrib.quantization.thresholds import (
    FirstBatches,
    Thresholds,
    join_ranges,
    naive_ranges,
    put_thresholds,
    wanted_names,
    warn_of_outputs,
)
from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import Value, topological_order
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

Arrays = Mapping[str, NDArray]


def calibrate(
    what: str,
    symbol: Symbol,
    qsym: Symbol,
    arrays: Arrays,
    data_names: Sequence[str],
    data: Any,
    *,
    mode: str,
    quantized_dtype: str,
    num_examples: int | None,
    context: Context,
    join: bool = True,
    own: Any = None,
    logger: logging.Logger | None = None,
) -> Symbol:
    """Return a quantized graph with the ranges found on calibration data.

    Args:
        what: Name of the calling function, for error messages.
        symbol: The original graph.
        qsym: The quantized graph.
        arrays: Parameters and auxiliary states of the original graph, by name.
        data_names: Names of the variables that are inputs.
        data: The batches.
        mode: ``"naive"``, ``"entropy"`` or ``"customize"``.
        quantized_dtype: ``"int8"``, ``"uint8"`` or ``"auto"``.
        num_examples: Maximum number of samples to use; None for all.
        context: Device to run on.
        join: Whether layers return quantized or floating-point data directly, without separate
            operators that requantize or dequantize.
        own: The custom collector, for ``"customize"``.
        logger: Logs the progress.
    """
    check_iterable(what, data)
    names = wanted_names(qsym._values)
    collector = collector_of(what, mode, quantized_dtype, names, own, logger)
    run = _Run(what, symbol, names if own is None else None, arrays, data_names, context)
    num_seen = 0
    first_batches = FirstBatches()
    for batch in with_bar(batches(data, num_examples, context), examples_of(data, num_examples)):
        run.collect(collector, batch)
        if mode == "entropy":
            first_batches.add(batch)
        num_seen += batch[0].shape[0]
    if not num_seen:
        raise ArgumentError(f"{what}: expected calib_data with examples, got none")
    if logger:
        logger.info("Collected layer outputs from FP32 model using %d examples", num_seen)
    found = thresholds_of(what, collector, mode, quantized_dtype, logger)

    def made(ranges: Thresholds) -> Symbol:
        values = put_thresholds(qsym._values, ranges)
        return Symbol(join_ranges(values) if join else values)

    calibrated = made(found)
    if mode == "entropy":
        both = (calibrated, made(naive_ranges(collector.hist_dict)))
        warn_of_outputs(what, symbol, both, arrays, data_names, first_batches, context)
    return calibrated


class _Run:
    """Runs the original graph on calibration data, and collects its outputs.

    Args:
        what: Name of the calling function, for error messages.
        symbol: The graph.
        names: Names of outputs to collect; None for all operators' outputs and the data.
        arrays: Parameters and auxiliary states.
        data_names: Names of the variables that are inputs.
        context: The device to run on.
    """

    def __init__(
        self,
        what: str,
        symbol: Symbol,
        names: Sequence[str] | None,
        arrays: Arrays,
        data_names: Sequence[str],
        context: Context,
    ) -> None:
        self._what = what
        self._arrays = arrays
        self._data_names = list(data_names)
        self._context = context
        nodes = topological_order(symbol._values)
        values = [Value(node, i) for node in nodes for i in range(node.num_visible)]
        fed = [name for name in symbol.list_inputs() if name in self._data_names]
        self._names: list[str] = []
        self._operators: dict[str, str] = {}
        chosen: list[Value] = []
        for value, name in zip(values, output_names(values), strict=True):
            is_data = value.node.op is None and name in fed
            if (name in names) if names is not None else (value.node.op is not None or is_data):
                self._names.append(name)
                self._operators[name] = "null" if value.node.op is None else value.node.op.name
                chosen.append(value)
        self._symbol = Symbol(chosen)
        self._executors: dict[Any, Any] = {}

    def collect(self, collector: Any, batch: Sequence[NDArray]) -> None:
        """Run a batch, and pass each output to the collector."""
        if len(batch) < len(self._data_names):
            raise ArgumentError(
                f"{self._what}: expected batches of {len(self._data_names)} arrays, for "
                f"{self._data_names}, got {len(batch)}"
            )
        data = dict(zip(self._data_names, batch, strict=False))
        if not self._names:
            return
        # Outputs that get thresholds may be made of constants and of some inputs only.
        read = set(self._symbol.list_inputs())
        used = {name: array for name, array in data.items() if name in read}
        operators = self._operators if takes_operator(collector) else None
        for name, output in zip(self._names, self._executor(used).forward(**used), strict=True):
            if operators is None:
                collector.collect(name, output)
            else:
                collector.collect(name, operators[name], output)

    def _executor(self, data: Arrays) -> Any:
        key = tuple((x.shape, x.dtype) for x in data.values())
        found = self._executors.get(key)
        if found is None:
            # Copies, as later batches are written into the arrays that are bound.
            symbol = self._symbol
            every = {**self._arrays, **{name: array.copy() for name, array in data.items()}}
            missing = [name for name in symbol.list_inputs() if name not in every]
            if missing:
                raise ArgumentError(
                    f"{self._what}: expected values for all variables, got none for {missing}; "
                    "name those that get calib_data in data_names"
                )
            args = {name: every[name] for name in symbol.list_arguments()}
            aux = {name: every[name] for name in symbol.list_auxiliary_states()}
            found = self._executors[key] = symbol.bind(
                self._context, args, grad_req="null", aux_states=aux
            )
        return found


def _quantized(
    what: str,
    fused: bool,
    sym: Any,
    arg_params: Arrays,
    aux_params: Arrays,
    data_names: Sequence[str],
    ctx: Any,
    excluded_sym_names: Any,
    excluded_op_names: Any,
    calib_mode: str,
    calib_data: Any,
    num_calib_examples: int | None,
    quantized_dtype: str,
    quantize_mode: str,
    quantize_granularity: str,
    logger: logging.Logger | None,
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    if not isinstance(ctx, Context):
        raise ArgumentTypeError(f"{what}: expected ctx as one Context, got {ctx!r:.80}")
    symbol = loaded(sym, what)
    if fused:
        symbol = Symbol(fuse(symbol._values))
    qsym = quantize_symbol(
        *(what, symbol, arg_params.keys(), excluded_sym_names, excluded_op_names),
        *(quantized_dtype, quantize_mode, quantize_granularity),
    )
    if calib_mode is not None and calib_mode != "none":
        if calib_data is None:
            raise ArgumentError(f"{what}: calib_data must be provided when calib_mode={calib_mode}")
        qsym = calibrate(
            *(what, symbol, qsym, {**arg_params, **aux_params}, data_names, calib_data),
            mode=calib_mode,
            quantized_dtype=quantized_dtype,
            num_examples=num_calib_examples,
            context=ctx,
            join=fused,
            logger=logger,
        )
    return qsym, quantize_parameters(qsym, arg_params), dict(aux_params)


def quantize_model(
    sym: Any,
    arg_params: Arrays,
    aux_params: Arrays,
    data_names: Sequence[str] = ("data",),
    label_names: Sequence[str] | None = ("softmax_label",),
    ctx: Any = cpu(),  # noqa: B008  # as in MXNet; it does not change
    excluded_sym_names: Any = None,
    excluded_op_names: Any = None,
    calib_mode: str = "entropy",
    calib_data: Any = None,
    num_calib_examples: int | None = None,
    quantized_dtype: str = "int8",
    quantize_mode: str = "smart",
    quantize_granularity: str = "tensor-wise",
    logger: logging.Logger | None = None,
    device: Any = None,
    num_calib_batches: int | None = None,
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Quantize a graph, operator by operator.

    Args:
        sym: The graph, a Symbol or the path of its file.
        arg_params: Parameters by name.
        aux_params: Auxiliary states by name.
        data_names: Names of the variables that are inputs, in the order of a batch's arrays.
        label_names: Names of the labels; has no effect, calibration needs none.
        ctx: Device to calibrate on.
        excluded_sym_names: Names of nodes that are not quantized.
        excluded_op_names: Names of operators that are not quantized.
        calib_mode: How to find ranges: ``"none"`` at each call; on calibration data ``"naive"`` as
            minimum and maximum, ``"entropy"`` by the least relative entropy.
        calib_data: The batches: a DataIter, a DataLoader, or another iterable of arrays.
        num_calib_examples: Maximum number of samples to use; None for all.
        quantized_dtype: Dtype of quantized data: ``"int8"``, ``"uint8"``, or ``"auto"``: uint8 for
            data that are never negative, otherwise int8.
        quantize_mode: ``"full"`` quantizes all supported operators, ``"smart"`` only layers and
            operators between them.
        quantize_granularity: ``"tensor-wise"``, or ``"channel-wise"`` for a scale for each channel
            of weights.
        logger: Logs the progress.
        device: ``ctx`` under the name it has in MXNet 2.0.
        num_calib_batches: Maximum number of batches to use; None for all.

    Returns:
        The quantized Symbol, its parameters and its auxiliary states.

    Raises:
        ArgumentError: An argument is not one of those listed, or ``calib_data`` is missing.
    """
    ctx = ctx if device is None else device
    calib_data = limited(calib_data, num_calib_batches)
    return _quantized(
        *("quantize_model", False, sym, arg_params, aux_params, data_names, ctx),
        *(excluded_sym_names, excluded_op_names, calib_mode, calib_data, num_calib_examples),
        *(quantized_dtype, quantize_mode, quantize_granularity, logger),
    )


def quantize_model_mkldnn(
    sym: Any,
    arg_params: Arrays,
    aux_params: Arrays,
    data_names: Sequence[str] = ("data",),
    label_names: Sequence[str] | None = ("softmax_label",),
    ctx: Any = cpu(),  # noqa: B008  # as in MXNet; it does not change
    excluded_sym_names: Any = None,
    excluded_op_names: Any = None,
    calib_mode: str = "entropy",
    calib_data: Any = None,
    num_calib_examples: int | None = None,
    quantized_dtype: str = "int8",
    quantize_mode: str = "smart",
    quantize_granularity: str = "tensor-wise",
    logger: logging.Logger | None = None,
    device: Any = None,
    num_calib_batches: int | None = None,
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Fuse the layers of a graph with the operators that follow them, and quantize the graph.

    Arguments and results are those of `quantize_model`.

    Raises:
        ArgumentError: An argument is not one of those listed, or ``calib_data`` is missing.
    """
    ctx = ctx if device is None else device
    calib_data = limited(calib_data, num_calib_batches)
    return _quantized(
        *("quantize_model_mkldnn", True, sym, arg_params, aux_params, data_names, ctx),
        *(excluded_sym_names, excluded_op_names, calib_mode, calib_data, num_calib_examples),
        *(quantized_dtype, quantize_mode, quantize_granularity, logger),
    )
