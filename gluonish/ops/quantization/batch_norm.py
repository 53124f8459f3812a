"""_contrib_quantized_batch_norm: batch normalization of 8-bit data with moving statistics.

Also _contrib_quantized_rnn: recurrent layers on 8-bit data.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT8, UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.quantization.ranges import (
    CALIBRATION,
    OUTPUT_NAMES,
    RANGE,
    WIDE_STEPS,
    calibrated,
    check_quantized,
    check_ranges,
    complete_ranges,
    divisor,
    fill_range,
    fill_rounded,
    magnitude,
)
from gluonish.ops.recurrent.rnn import RNN
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.shape_rules import normalize_axis

_NAME = "_contrib_quantized_batch_norm"


def _infer(
    data: Spec,
    gamma: Spec,
    beta: Spec,
    moving_mean: Spec,
    moving_var: Spec,
    min_data: Spec,
    max_data: Spec,
    **attrs: Any,
) -> tuple[Spec, ...]:
    check_quantized(_NAME, data)
    check_ranges(_NAME, min_data, max_data)
    if calibrated(_NAME, attrs) is None:
        raise OperatorError(f"{_NAME}: expected min_calib_range and max_calib_range, got none")
    channels = data.shape[normalize_axis(_NAME, attrs["axis"], len(data.shape))]
    for spec in (gamma, beta, moving_mean, moving_var):
        if spec != Spec((channels,), FLOAT32):
            raise OperatorError(
                f"{_NAME}: expected float32 gamma, beta, moving_mean and moving_var of shape "
                f"({channels},), got {spec}"
            )
    return Spec(data.shape, INT8), RANGE, RANGE


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    min_data: Any,
    max_data: Any,
    **attrs: Any,
) -> None:
    slope = (1 if attrs["fix_gamma"] else gamma) / xp.sqrt(moving_var + np.float32(attrs["eps"]))
    low, high = attrs["min_calib_range"], attrs["max_calib_range"]
    limit = magnitude(xp, low, high)
    steps = np.float32(WIDE_STEPS[INT8]) / divisor(xp, limit)
    step = magnitude(xp, min_data, max_data) / np.float32(WIDE_STEPS[data.dtype])
    column = [1] * data.ndim
    column[attrs["axis"]] = -1
    offset = ((beta - moving_mean * slope) * steps).reshape(column)
    fill_rounded(xp, out[0], data * (slope * (step * steps)).reshape(column) + offset)
    fill_range(xp, out[1:], low, high)


QUANTIZED_BATCH_NORM = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Normalize a quantized array with the moving statistics, to int8 in the range\n"
            "min_calib_range to max_calib_range, which are required.\n\n"
            "fix_gamma treats gamma as 1. momentum, use_global_stats, output_mean_var and\n"
            "cudnn_off are ignored.\n\n"
            "Shapes: data (N, C, ...), gamma, beta and moving statistics (C,), minimum and\n"
            "maximum (1,), outputs that of data, (1,) and (1,)."
        ),
        inputs=("data", "gamma", "beta", "moving_mean", "moving_var", "min_data", "max_data"),
        schema=Schema(
            eps=number(1e-3),
            momentum=number(0.9),
            fix_gamma=boolean(True),
            use_global_stats=boolean(False),
            output_mean_var=boolean(False),
            axis=integer(1),
            cudnn_off=boolean(False),
            **CALIBRATION,
        ),
        outputs=3,
        output_names=OUTPUT_NAMES,
        execution=Execution(mutates=(3, 4)),  # auxiliary states, as in BatchNorm
        shapes=ShapeFacts(complete=complete_ranges(None)),
    )
)


_RNN = "_contrib_quantized_rnn"
_INPUTS = ("data", "parameters", "state", "state_cell", "data_scale", "data_shift")


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return tuple(name for name in _INPUTS if name != "state_cell" or attrs["mode"] == "lstm")


def _infer_rnn(data: Spec, *rest: Spec, **attrs: Any) -> tuple[Spec, ...]:
    *arrays, scale, shift = rest
    if data.dtype != UINT8 or len(rest) != len(_active_inputs(attrs)) - 1:
        raise OperatorError(
            f"{_RNN}: expected uint8 data and {', '.join(_active_inputs(attrs)[1:])}, got {data} "
            f"and {len(rest)} arrays"
        )
    if attrs["use_sequence_length"]:
        raise OperatorError(f"{_RNN}: expected use_sequence_length to be False, got True")
    check_ranges(_RNN, scale, shift)
    try:
        found = RNN.infer(Spec(data.shape, FLOAT32), *arrays, **attrs)
    except OperatorError as error:
        raise OperatorError(f"{_RNN}: {error}") from error
    return found[: _count(attrs)]


def _count(attrs: Attrs) -> int:
    if not attrs["state_outputs"]:
        return 1
    return 3 if attrs["mode"] == "lstm" else 2


def _kernel_rnn(xp: ModuleType, out: Any, data: Any, *rest: Any, **attrs: Any) -> None:
    *arrays, scale, shift = rest
    real = (data - shift.reshape(-1)[0]) / scale.reshape(-1)[0]
    inputs = [real.astype(FLOAT32), *arrays]
    specs = RNN.infer(*(Spec(x.shape, FLOAT32) for x in inputs), **attrs)
    hidden = [xp.empty(*spec) for spec in specs[len(out) :]]
    RNN.kernel(xp, (*out, *hidden), *inputs, train=False, key=(0, 0), **attrs)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    inputs[0] = PartialSpec(inputs[0].shape, inputs[0].dtype or UINT8)
    for specs, first in ((inputs, 1), (outputs, 0)):
        for i in range(first, len(specs)):
            specs[i] = PartialSpec(specs[i].shape, specs[i].dtype or FLOAT32)


QUANTIZED_RNN = register(
    Operator(
        _RNN,
        _infer_rnn,
        _kernel_rnn,
        None,
        doc=(
            "Apply recurrent layers to data from _contrib_quantize_asym, with its scale and\n"
            "shift.\n\n"
            "Parameters, states and results are float32, and so are the sums; attributes are as\n"
            "in RNN.\n\n"
            "Shapes: as in RNN; data_scale and data_shift (1,)."
        ),
        inputs=_INPUTS,
        active_inputs=_active_inputs,
        schema=RNN.schema,
        outputs=_count,
        output_names=("output", "state_output", "statecell_output"),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)
